// function and code. The collector does not track code objects, and nothing reports their constants and
// names: hidden references. (Only free-threaded builds have their constants reported.) Up to 3.10 the bytecode is a bytes object; since 3.11 (cpython/code.h) it follows
// the header, in ob_size units of two bytes.

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

void function_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().function;
    visit.named(object.pointer(l.func_code), ".__code__");
    visit.named(object.pointer(l.func_globals), ".__globals__");
    visit.named(object.pointer(l.func_builtins), ".__builtins__");
    visit.named(object.pointer(l.func_module), ".__module__");
    visit.named(object.pointer(l.func_defaults), ".__defaults__");
    visit.named(object.pointer(l.func_kwdefaults), ".__kwdefaults__");
    visit.named(object.pointer(l.func_doc), ".__doc__");
    visit.named(object.pointer(l.func_name), ".__name__");
    visit.named(object.pointer(l.func_dict), ".__dict__");
    visit.named(object.pointer(l.func_closure), ".__closure__");
    visit.named(object.pointer(l.func_annotations), ".__annotations__");
    visit.named(object.pointer(l.func_annotate), ".__annotate__");
    visit.named(object.pointer(l.func_typeparams), ".__type_params__");
    visit.named(object.pointer(l.func_qualname), ".__qualname__");
}

std::string text_of(const ObjectReader& object, LayoutOffset field) {
    return object.heap().unicode_text(object.pointer(field), 200).value_or("?");
}

ShortValue function_describe(const ObjectReader& object, std::size_t) {
    const auto& l = object.layout().function;
    const auto module = object.heap().unicode_text(object.pointer(l.func_module), 200);
    return {ShortValue::Kind::name,
            fmt::format("<function {}{}>", module ? *module + "." : "",
                        text_of(object, l.func_qualname.present() ? l.func_qualname : l.func_name)),
            0};
}

/// _PyObject_VAR_SIZE rounds up to words.
std::uint64_t code_body(const ObjectReader& object) { return (basic_size(object) + 7) / 8 * 8; }

std::uint64_t code_size(const ObjectReader& object) {
    const auto& l = object.layout().code;
    std::uint64_t size = code_body(object);
    if (const Address extra = object.pointer(l.co_extra); !extra.is_null()) {
        // _PyCodeObjectExtra (codeobject.c): a count and that many pointers, the first of which is inside the
        // struct.
        const auto count = object.heap().integer<std::int64_t>(extra);
        if (count > 0 && count < 65536) size += 16 + 8 * (static_cast<std::uint64_t>(count) - 1);
    }
    if (!object.pointer(l.co_opcache_map).is_null() &&
        object.layout().opcache_entry.size.present()) {  // 3.8 to 3.10
        size += static_cast<std::uint64_t>(
                    std::max<std::int64_t>(object.heap().var_size(object.pointer(l.co_code)), 0)) /
                2;
        size += *object.layout().opcache_entry.size * object.integer<std::uint8_t>(l.co_opcache_size);
    }
    if (l.co_cell2arg.present() && !object.pointer(l.co_cell2arg).is_null()) {
        const std::int64_t cells = object.heap().var_size(object.pointer(l.co_cellvars));
        if (cells > 0) size += 8 * static_cast<std::uint64_t>(cells);
    }
    return size;
}

/// A freed code object may keep its names, in a block that another one has now; its constants were freed with
/// it.
bool code_plausible(const ObjectReader& object) {
    const auto& l = object.layout().code;
    const PythonHeap& heap = object.heap();
    auto is_tuple = [&](Address address) {
        if (heap.memory().state_of(address) == ByteState::not_saved) return true;
        const TypeId type = heap.type_of(address);
        return type != no_type && (heap.types()[type].flags & tuple_subclass_flag) != 0 &&
               count_of(heap, address) != 0;
    };
    return heap.unicode(object.pointer(l.co_filename)) && heap.unicode(object.pointer(l.co_name)) &&
           is_tuple(object.pointer(l.co_consts)) && is_tuple(object.pointer(l.co_names));
}

void code_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().code;
    constexpr auto hidden = ReferenceKind::hidden;
    visit.named(object.pointer(l.co_consts), ".co_consts",
                code_reports_constants(object.layout()) ? ReferenceKind::strong : hidden);
    visit.named(object.pointer(l.co_names), ".co_names", hidden);
    visit.named(object.pointer(l.co_exceptiontable), ".co_exceptiontable", hidden);
    visit.named(object.pointer(l.co_localsplusnames), ".<co_localsplusnames>", hidden);
    visit.named(object.pointer(l.co_localspluskinds), ".<co_localspluskinds>", hidden);
    visit.named(object.pointer(l.co_filename), ".co_filename", hidden);
    visit.named(object.pointer(l.co_name), ".co_name", hidden);
    visit.named(object.pointer(l.co_qualname), ".co_qualname", hidden);
    visit.named(object.pointer(l.co_linetable), ".co_linetable", hidden);
    visit.named(object.pointer(l.co_varnames), ".co_varnames", hidden);
    visit.named(object.pointer(l.co_freevars), ".co_freevars", hidden);
    visit.named(object.pointer(l.co_cellvars), ".co_cellvars", hidden);
    visit.named(object.pointer(l.co_code), ".co_code", hidden);
    if (const Address cached = object.pointer(l.co_cached); !cached.is_null()) {
        // _PyCoCached (cpython/code.h, 3.12+): code, varnames, cellvars, freevars, made when first asked for.
        visit.named(object.heap().pointer(cached), ".co_code", hidden);
        visit.named(object.heap().pointer(cached + 8), ".co_varnames", hidden);
        visit.named(object.heap().pointer(cached + 16), ".co_cellvars", hidden);
        visit.named(object.heap().pointer(cached + 24), ".co_freevars", hidden);
    }
}

ShortValue code_describe(const ObjectReader& object, std::size_t) {
    const auto& l = object.layout().code;
    const std::string file = text_of(object, l.co_filename);
    const std::string base = file.substr(file.rfind('/') + 1);
    return {
        ShortValue::Kind::name,
        fmt::format("<code {}, {}:{}>", text_of(object, l.co_qualname.present() ? l.co_qualname : l.co_name),
                    base, object.integer<std::int32_t>(l.co_firstlineno)),
        0};
}

constexpr const char* function_names[] = {"function"};
constexpr const char* code_names[] = {"code"};

}  // namespace

const ObjectKind function_kind = {.name = "function",
                                  .type_names = function_names,
                                  .visit_references = function_references,
                                  .describe = function_describe};
const ObjectKind code_kind = {.name = "code",
                              .type_names = code_names,
                              .size = code_size,
                              .body_size = code_body,
                              .visit_references = code_references,
                              .describe = code_describe,
                              .plausible = code_plausible};

}  // namespace heapsift
