// Exceptions: what they say, and where they were raised.
//
// repr() writes the class and `args`, whatever the class (exceptions.c, BaseException_repr). The traceback begins
// with the frame that caught the exception; its last entry is where it was raised. Since 3.12 an entry has its
// line only after somebody asked; before, it has the instruction (traceback.c, tb_create_raw), and the line is
// computed from it.

#include "parsers/base/text.h"
#include "parsers/cpython/code_lines.h"
#include "parsers/cpython/interpreter_frames.h"
#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

constexpr int most_entries = 10000;
constexpr std::size_t most_arguments = 8;
constexpr std::int64_t longest_line_table = 1 << 16;

Address traceback_code(const PythonHeap& heap, Address frame) {
    const auto& l = heap.layout().frame;
    Address code;
    if (l.f_code.present())
        code = heap.pointer(frame + *l.f_code);
    else if (l.f_frame.present())
        code = interpreter_frame_code(heap, heap.pointer(frame + *l.f_frame));
    return heap.types().is(heap.type_of(code), KnownType::code) ? code : Address();
}

std::int32_t traceback_line(const PythonHeap& heap, Address entry, Address code) {
    const LayoutOffset line_field = heap.layout().traceback.tb_lineno;
    const auto known = heap.integer<std::int32_t>(entry + *line_field);
    if (known > 0) return known;
    const auto instruction = heap.integer<std::int32_t>(entry + *line_field - 4);
    const LayoutOffset table = heap.layout().code.co_linetable;
    if (instruction < 0 || !table.present() ||
        heap.var_size(heap.pointer(code + *table)) > longest_line_table)
        return 0;
    return CodeLines(heap, code).line_at(instruction);
}

/// "raised in load(), app.py:22"; empty without a traceback.
std::string where_raised(const PythonHeap& heap, Address traceback) {
    Address last;
    for (int i = 0; i < most_entries && heap.types().is(heap.type_of(traceback), KnownType::traceback); ++i) {
        last = traceback;
        traceback = heap.pointer(traceback + *heap.layout().traceback.tb_next);
    }
    if (last.is_null()) return {};
    const Address code = traceback_code(heap, heap.pointer(last + *heap.layout().traceback.tb_frame));
    if (code.is_null()) return {};
    const auto& l = heap.layout().code;
    const auto name =
        str_value(heap, heap.pointer(code + *(l.co_qualname.present() ? l.co_qualname : l.co_name)));
    const auto file = str_value(heap, heap.pointer(code + *l.co_filename));
    if (!name || !file) return {};
    const std::int32_t line = traceback_line(heap, last, code);
    const std::string function = name->starts_with('<') ? *name : *name + "()";
    return fmt::format("raised in {}, {}{}", function, base_name(*file),
                       line > 0 ? fmt::format(":{}", line) : "");
}

ShortValue exception(const Describing& of) {
    const auto& l = of.object.layout().exception;
    const Address arguments = of.object.pointer(l.args);
    if (!of.heap().types().is(of.heap().type_of(arguments), KnownType::tuple)) return {};
    const std::string name = short_name(of.object.type().name);
    ValueText value(of, name + "(");
    const FirstItems first = first_items(of.heap(), arguments, most_arguments);
    for (const Address item : first.items) {
        if (!value.next()) break;
        value.part(item);
    }
    if (first.count > first.items.size() && !value.cut()) value.leave_out_the_rest();
    std::string where;
    if (of.depth == 0) where = where_raised(of.heap(), of.object.pointer(l.traceback));
    if (where.empty()) return std::move(value).literal();
    return std::move(value).literal(") " + where, name + " " + where);
}

constexpr ValueRow exception_rows[] = {{"BaseException", exception}};

}  // namespace

std::span<const ValueRow> exception_values() { return exception_rows; }

}  // namespace heapsift
