// A function knows its code, and the code its file and first line. What raised an exception is the last entry of
// its traceback; from 3.11 on that entry may not have computed its line yet (tb_lineno is -1), and then its
// position in the bytecode and the line table tell it, as Python itself would (traceback.c, tb_lineno_get).

#include "analysis/source_places.h"

#include "parsers/base/text.h"
#include "parsers/cpython/code_lines.h"
#include "parsers/cpython/object_kind.h"
#include "parsers/cpython/threads.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

constexpr int longest_traceback = 1000;
constexpr std::int64_t most_variables = 1000;

Address field(const PythonHeap& heap, Address object, LayoutOffset offset) {
    return offset.present() && !object.is_null() ? heap.pointer(object + *offset) : Address();
}

std::string text(const PythonHeap& heap, Address str, std::size_t limit = 200) {
    return str.is_null() ? std::string() : heap.unicode_text(str, limit).value_or("");
}

/// Null if it has none.
Address code_of_frame(const HeapReader& heap, ObjectId frame) {
    const PythonHeap& python = heap.python_heap();
    Address code;
    heap.visit_references(frame, [&](const Reference& reference) {
        if (code.is_null() && python.types().is(python.type_of(reference.target), KnownType::code))
            code = reference.target;
    });
    return code;
}

}  // namespace

std::string words_of(const SourcePlace& place) {
    if (!place.known()) return {};
    if (place.file.empty()) return place.function + "()";
    if (place.line <= 0) return fmt::format("{}(), {}", place.function, place.file);
    return fmt::format("{}(), {}:{}", place.function, place.file, place.line);
}

SourcePlace place_of_code(const PythonHeap& heap, Address code) {
    const auto& l = heap.layout().code;
    SourcePlace place;
    if (!heap.types().is(heap.type_of(code), KnownType::code)) return place;
    place.function = text(heap, field(heap, code, l.co_qualname));
    if (place.function.empty()) place.function = text(heap, field(heap, code, l.co_name));
    constexpr std::size_t longest_path = 4096;  // of Linux
    place.file = base_name(text(heap, field(heap, code, l.co_filename), longest_path));
    if (l.co_firstlineno.present()) place.line = heap.integer<std::int32_t>(code + *l.co_firstlineno);
    return place;
}

SourcePlace place_of_function(const PythonHeap& heap, Address function) {
    const auto& l = heap.layout().function;
    if (!heap.types().is(heap.type_of(function), KnownType::function)) return {};
    const Address code = field(heap, function, l.func_code);
    SourcePlace place = place_of_code(heap, code);
    // functools.wraps gives a function the name of another one; since 3.11 its code has its own.
    if (!text(heap, field(heap, code, heap.layout().code.co_qualname)).empty()) return place;
    if (std::string name = text(heap, field(heap, function, l.func_qualname)); !name.empty())
        place.function = std::move(name);
    return place;
}

SourcePlace place_of_frame(const HeapReader& heap, ObjectId frame) {
    const Address code = code_of_frame(heap, frame);
    return code.is_null() ? SourcePlace() : place_of_code(heap.python_heap(), code);
}

Address code_of_suspended(const HeapReader& heap, ObjectId object) {
    const KnownType known = heap.snapshot().type_info(object).known;
    if (known == KnownType::frame) return code_of_frame(heap, object);
    if (!has_own_frame(known)) return {};
    const auto frame = generator_frame(heap.python_heap(), heap.snapshot().address_of(object));
    return frame ? frame->code : Address();
}

RaisedIn where_raised(const HeapReader& heap, ObjectId exception) {
    const PythonHeap& python = heap.python_heap();
    const auto& l = python.layout().traceback;
    const auto is_traceback = [&](Address at) {
        return !at.is_null() && python.types().is(python.type_of(at), KnownType::traceback);
    };
    Address at = field(python, heap.snapshot().address_of(exception), python.layout().exception.traceback);
    if (!is_traceback(at)) return {};
    for (int steps = 0; steps < longest_traceback; ++steps) {
        const Address next = field(python, at, l.tb_next);
        if (!is_traceback(next)) break;
        at = next;
    }
    const Address frame = field(python, at, l.tb_frame);
    RaisedIn raised;
    raised.frame = heap.snapshot().find(frame);
    if (raised.frame == no_object) return raised;
    const Address code = code_of_frame(heap, raised.frame);
    if (code.is_null()) return raised;
    raised.place = place_of_code(python, code);
    const auto line = l.tb_lineno.present() ? python.integer<std::int32_t>(at + *l.tb_lineno) : 0;
    if (line > 0) raised.place.line = line;
    if (line < 0 && l.tb_lasti.present()) {
        const auto position = python.integer<std::int32_t>(at + *l.tb_lasti);
        if (const std::int32_t found = CodeLines(python, code).line_at(position); found > 0)
            raised.place.line = found;
    }
    return raised;
}

namespace {

/// `count` items of a tuple from the one with the index `first` on.
std::vector<std::string> names_of_tuple(const PythonHeap& heap, Address tuple, std::int64_t first,
                                        std::int64_t count) {
    std::vector<std::string> found;
    if (count <= 0 || count > most_variables || first < 0) return found;
    for (std::int64_t i = 0; i < count; ++i)
        found.push_back(text(heap, heap.pointer(tuple + *heap.layout().tuple.ob_item +
                                                8 * static_cast<std::uint64_t>(first + i))));
    return found;
}

std::vector<std::string> names_of_tuple(const PythonHeap& heap, Address tuple) {
    if (!heap.types().is(heap.type_of(tuple), KnownType::tuple)) return {};
    return names_of_tuple(heap, tuple, 0, heap.var_size(tuple));
}

/// The last `count` names; 0: as many as the code says.
std::vector<std::string> last_names(const PythonHeap& heap, Address code, std::int64_t count) {
    const auto& l = heap.layout();
    // From 3.11 on they are the last of all names of local variables.
    const bool all_names = l.code.co_localsplusnames.present();
    const Address names = field(heap, code, all_names ? l.code.co_localsplusnames : l.code.co_freevars);
    if (names.is_null()) return {};
    if (count == 0)
        count = !all_names                      ? heap.var_size(names)
                : l.code.co_nfreevars.present() ? heap.integer<std::int32_t>(code + *l.code.co_nfreevars)
                                                : 0;
    const std::int64_t first = heap.var_size(names) - count;
    if (!all_names && first != 0) return {};
    return names_of_tuple(heap, names, first, count);
}

}  // namespace

std::vector<std::string> free_variables(const PythonHeap& heap, Address function) {
    const auto& l = heap.layout().function;
    const Address code = field(heap, function, l.func_code);
    const Address closure = field(heap, function, l.func_closure);
    if (code.is_null() || closure.is_null() || heap.var_size(closure) <= 0) return {};
    return last_names(heap, code, heap.var_size(closure));
}

std::vector<std::string> free_variables_of_code(const PythonHeap& heap, Address code) {
    return last_names(heap, code, 0);
}

std::vector<std::string> local_variables_of_code(const PythonHeap& heap, Address code) {
    const auto& l = heap.layout().code;
    return names_of_tuple(
        heap, field(heap, code, l.co_localsplusnames.present() ? l.co_localsplusnames : l.co_varnames));
}

std::vector<std::string> cell_variables_of_code(const PythonHeap& heap, Address code) {
    const auto& l = heap.layout().code;
    if (l.co_localsplusnames.present()) return {};
    return names_of_tuple(heap, field(heap, code, l.co_cellvars));
}

std::string name_of_cell(const PythonHeap& heap, Address function, Address cell) {
    const std::vector<std::string> names = free_variables(heap, function);
    const Address closure = field(heap, function, heap.layout().function.func_closure);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (heap.pointer(closure + *heap.layout().tuple.ob_item + 8 * i) == cell) return names[i];
    return {};
}

}  // namespace heapsift
