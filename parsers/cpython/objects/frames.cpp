// frame, generator, coroutine, asynchronous generator.
//
// Since 3.11 (pycore_frame.h) what runs is an interpreter frame, which is not an object. It lies on the
// thread's data stack, inside its generator, or, once its call has returned and somebody still has the frame
// object, inside that. The object that it lies in reports what it holds: its function, code, locals and value
// stack. The value stack is known only while the frame is not running. Up to 3.10 the frame object itself has
// all of this.

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/interpreter_frames.h"
#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint8_t owned_by_frame_object = 2;

// pycore_code.h: what a slot is for
constexpr std::uint8_t hidden_local = 0x10, cell_or_free = 0x40 | 0x80;

/// How Python reaches what an interpreter frame holds, starting at the object that contains it.
struct FrameNames {
    FieldName locals;  // f_locals follows
    FieldName code;
};

struct GeneratorNames {
    FieldName code, frame;
    FrameNames inner;
};

constexpr FrameNames frame_object_names = {".", ".f_code"};
constexpr GeneratorNames reached_from_generator = {".gi_code", ".gi_frame", {".gi_frame.", ".gi_code"}};
constexpr GeneratorNames reached_from_coroutine = {".cr_code", ".cr_frame", {".cr_frame.", ".cr_code"}};
constexpr GeneratorNames reached_from_async_generator = {".ag_code", ".ag_frame", {".ag_frame.", ".ag_code"}};

struct CodeShape {
    std::uint64_t slots = 0;  // locals, cells, free variables, value stack
    std::uint64_t localsplus = 0;
    Address names, kinds;
};

CodeShape code_shape(const PythonHeap& heap, Address code) {
    const auto& l = heap.layout().code;
    CodeShape shape;
    if (code.is_null() || !l.co_nlocalsplus.present()) return shape;
    const auto localsplus = heap.integer<std::int32_t>(code + *l.co_nlocalsplus);
    const auto stack = heap.integer<std::int32_t>(code + *l.co_stacksize);
    if (localsplus < 0 || localsplus > (1 << 20) || stack < 0 || stack > (1 << 20)) return shape;
    shape.localsplus = static_cast<std::uint64_t>(localsplus);
    shape.slots = shape.localsplus + static_cast<std::uint64_t>(stack);
    shape.names = heap.pointer(code + *l.co_localsplusnames);
    if (l.co_localspluskinds.present()) shape.kinds = heap.pointer(code + *l.co_localspluskinds);
    return shape;
}

/// f_locals shows a cell's content, never the cell, and no variables of a comprehension that was inlined into
/// a class or module.
ReferenceName slot_name(const PythonHeap& heap, const CodeShape& shape, std::uint64_t slot, Address target,
                        FieldName locals) {
    const Address name = heap.pointer(shape.names + *heap.layout().tuple.ob_item + 8 * slot);
    const auto kind = shape.kinds.is_null()
                          ? 0
                          : heap.integer<std::uint8_t>(shape.kinds + *heap.layout().bytes.ob_sval + slot);
    if (kind & hidden_local) return {ReferenceName::Form::hidden_local, "", slot, name};
    if (kind & cell_or_free) {
        if (heap.types().is(heap.type_of(target), KnownType::cell))
            return {ReferenceName::Form::cell, "", slot, name};
    }
    return {ReferenceName::Form::local, locals, slot, name};
}

/// Since 3.14 a word of a frame may refer to an object without counting it, because a caller's variable keeps
/// it. traverse reports that as well.
ReferenceKind kind_of_word(Address word, ReferenceKind of_counted) {
    if ((word.value & reference_tags) != tagged_uncounted) return of_counted;
    return of_counted == ReferenceKind::strong ? ReferenceKind::reported : ReferenceKind::weak;
}

void visit_interpreter_frame(const ObjectReader& object, Address frame, const FrameNames& names,
                             ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    const auto& l = heap.layout().interpreter_frame;
    const auto named = [&](Address word, FieldName name) {
        visit.named(untagged(word), name, kind_of_word(word, ReferenceKind::strong));
    };
    const Address code = interpreter_frame_code(heap, frame);
    named(heap.pointer(frame + *l.f_funcobj), ".<function>");
    named(heap.pointer(frame + *l.f_executable), names.code);
    visit.named(heap.pointer(frame + *l.f_locals), ".<f_locals>");
    const CodeShape shape = code_shape(heap, code);
    const FramePlaces places = interpreter_frame_places(heap, frame, code);
    // While it runs the depth of its stack is in a register, and traverse stops here.
    const auto kind = places.running ? ReferenceKind::hidden : ReferenceKind::strong;
    const Address first = frame + *l.localsplus;
    const std::int64_t live = places.running ? places.locals : places.used;
    for (std::uint64_t i = 0; i < object.readable_items(first, live); ++i) {
        const Address word = heap.pointer(first + 8 * i);
        const Address target = untagged(word);
        if (target.is_null()) continue;
        const ReferenceKind of_word = kind_of_word(word, kind);
        if (i < shape.localsplus)
            visit.visit(target, of_word, slot_name(heap, shape, i, target, names.locals));
        else
            visit.named(target, ".<value stack>", of_word);
    }
}

/// The bytes of an interpreter frame's header, before its slots.
std::uint64_t frame_header(const Layout& l) { return *l.interpreter_frame.localsplus; }

std::uint64_t slots_of(const ObjectReader& object, Address code) {
    const auto& l = object.layout().code;
    if (l.co_framesize.present() && !code.is_null()) {  // 3.12+: in words, including the frame's header
        const auto words = object.heap().integer<std::int32_t>(code + *l.co_framesize);
        const std::int64_t slots = words - static_cast<std::int64_t>(frame_header(object.layout()) / 8);
        if (slots >= 0 && slots < (1 << 21)) return static_cast<std::uint64_t>(slots);
    }
    return code_shape(object.heap(), code).slots;
}

Address frame_code(const ObjectReader& object) {
    const Layout& l = object.layout();
    if (!l.frame.f_frame.present()) return object.pointer(l.frame.f_code);
    return interpreter_frame_code(object.heap(), object.pointer(l.frame.f_frame));
}

/// Up to 3.10 (frameobject.c, frame_sizeof). The header includes one slot.
std::uint64_t old_frame_size(const ObjectReader& object) {
    const auto& l = object.layout().code;
    const PythonHeap& heap = object.heap();
    const Address code = object.pointer(object.layout().frame.f_code);
    if (code.is_null()) return basic_size(object);
    auto length = [&](LayoutOffset tuple) {
        return std::clamp<std::int64_t>(heap.var_size(heap.pointer(code + *tuple)), 0, 1 << 20);
    };
    const std::int64_t slots = std::clamp(heap.integer<std::int32_t>(code + *l.co_stacksize), 0, 1 << 20) +
                               std::clamp(heap.integer<std::int32_t>(code + *l.co_nlocals), 0, 1 << 20) +
                               length(l.co_cellvars) + length(l.co_freevars);
    return object.type().basicsize + 8 * static_cast<std::uint64_t>(slots) - 8;
}

std::uint64_t frame_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    if (!l.frame.f_frame_data.present()) return old_frame_size(object);
    // sys.getsizeof counts the slots even if the frame's data lies outside the object (frameobject.c,
    // frame_sizeof).
    const CodeShape shape = code_shape(object.heap(), frame_code(object));
    return *l.frame.f_frame_data + frame_header(l) + 8 * shape.slots;
}

bool owns_data(const ObjectReader& object) {
    const Layout& l = object.layout();
    return object.heap().integer<std::uint8_t>(object.pointer(l.frame.f_frame) +
                                               *l.interpreter_frame.owner) == owned_by_frame_object;
}

/// Up to 3.10: whether the frame's function is running, or in a call. (3.9: no top of the stack; 3.10: its
/// state is FRAME_EXECUTING, 0. In 2.7 its thread tells.)
bool runs(const ObjectReader& object) {
    const auto& l = object.layout().frame;
    if (l.f_state.present()) return object.integer<std::int8_t>(l.f_state) == 0;
    if (!l.f_executing.present()) return object.heap().is_running_frame(object.address());  // 2.7
    return l.f_stacktop.present() && object.pointer(l.f_stacktop).is_null() &&
           object.integer<std::int8_t>(l.f_executing) != 0;
}

/// Up to 3.10: the name of the n-th cell. The function's own variables come first, then those of its
/// surroundings.
Address cell_name(const PythonHeap& heap, Address code, std::uint64_t n) {
    const auto& l = heap.layout().code;
    for (const LayoutOffset names : {l.co_cellvars, l.co_freevars}) {
        if (!names.present()) return {};
        const Address tuple = heap.pointer(code + *names);
        const auto count =
            static_cast<std::uint64_t>(std::clamp<std::int64_t>(heap.var_size(tuple), 0, 1 << 20));
        if (n < count) return heap.pointer(tuple + *heap.layout().tuple.ob_item + 8 * n);
        n -= count;
    }
    return {};
}

/// Up to 3.10 the frame object has it all: locals, cells and free variables from f_localsplus on, then the
/// value stack. The stack's depth is known only while the frame is not running (frameobject.c,
/// frame_traverse).
void visit_old_frame(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    const auto& l = object.layout().frame;
    const auto& code_layout = object.layout().code;
    const Address code = object.pointer(l.f_code);
    visit.named(code, ".f_code");
    visit.named(object.pointer(l.f_builtins), ".f_builtins");
    visit.named(object.pointer(l.f_globals), ".f_globals");
    visit.named(object.pointer(l.f_locals), ".<f_locals>");
    const Address stack = object.pointer(l.f_valuestack);
    const Address first = object.at(*l.f_localsplus);
    if (code.is_null() || stack < first) return;
    const Address names = heap.pointer(code + *code_layout.co_varnames);
    const std::int64_t named =
        std::clamp<std::int64_t>(heap.integer<std::int32_t>(code + *code_layout.co_nlocals), 0,
                                 std::max<std::int64_t>(heap.var_size(names), 0));
    const std::uint64_t locals = object.readable_items(
        first, std::min<std::int64_t>(static_cast<std::int64_t>((stack - first) / 8), 1 << 20));
    for (std::uint64_t i = 0; i < locals; ++i) {
        const Address target = heap.pointer(first + 8 * i);
        if (target.is_null()) continue;
        if (i < static_cast<std::uint64_t>(named))
            visit.visit(target, ReferenceKind::strong,
                        {ReferenceName::Form::local, ".", i,
                         heap.pointer(names + *heap.layout().tuple.ob_item + 8 * i)});
        else
            visit.visit(target, ReferenceKind::strong,
                        {ReferenceName::Form::cell, "", i,
                         cell_name(heap, code, i - static_cast<std::uint64_t>(named))});
    }
    std::int64_t depth = object.integer<std::int32_t>(l.f_stackdepth);
    if (const Address top = object.pointer(l.f_stacktop); top > stack)
        depth = static_cast<std::int64_t>((top - stack) / 8);
    depth = std::min<std::int64_t>(depth,
                                   std::max(heap.integer<std::int32_t>(code + *code_layout.co_stacksize), 0));
    for (std::uint64_t i = 0; i < object.readable_items(stack, depth); ++i)
        visit.named(heap.pointer(stack + 8 * i), ".<value stack>");
    if (!runs(object)) return;
    // Only the interpreter's registers know what, and how much, is on the stack of a running frame.
    const std::int64_t most =
        std::clamp<std::int64_t>(heap.integer<std::int32_t>(code + *code_layout.co_stacksize), 0, 1 << 20);
    for (std::uint64_t i = 0; i < object.readable_items(stack, most); ++i)
        if (const Address target = heap.pointer(stack + 8 * i);
            target.aligned(8) && heap.type_of(target) != no_type)
            visit.visit(target, ReferenceKind::guess, {ReferenceName::Form::text, ".<value stack>", i, {}});
}

void frame_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().frame;
    visit.named(object.pointer(l.f_back), ".f_back");
    visit.named(object.pointer(l.f_trace), ".f_trace");
    // Up to 3.6: the exception that was handled when the frame began to handle one of its own.
    visit.named(object.pointer(l.f_exc_type), ".<exception type>");
    visit.named(object.pointer(l.f_exc_value), ".<exception>");
    visit.named(object.pointer(l.f_exc_traceback), ".<exception traceback>");
    visit.named(object.pointer(l.f_extra_locals), ".<extra locals>");
    visit.named(object.pointer(l.f_locals_cache), ".<locals cache>");
    visit.named(object.pointer(l.f_overwritten_fast_locals), ".<overwritten locals>");
    if (l.f_frame.present() && owns_data(object))
        visit_interpreter_frame(object, object.pointer(l.f_frame), frame_object_names, visit);
    if (l.f_valuestack.present()) visit_old_frame(object, visit);
}

std::string function_name(const ObjectReader& object, Address code) {
    const auto& l = object.layout().code;
    return object.heap()
        .unicode_text(object.heap().pointer(code + *(l.co_qualname.present() ? l.co_qualname : l.co_name)),
                      200)
        .value_or("?");
}

ShortValue frame_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::name, "<frame of " + function_name(object, frame_code(object)) + "()>", 0};
}

Address generator_frame(const ObjectReader& object) {
    return object.at(*object.layout().generator.gi_iframe);
}

Address generator_code(const ObjectReader& object) {
    const Layout& l = object.layout();
    if (l.generator.gi_code.present()) return object.pointer(l.generator.gi_code);
    return interpreter_frame_code(object.heap(), generator_frame(object));
}

/// Whether the frame still has its data.
bool frame_is_alive(const ObjectReader& object) {
    return !is_cleared_state(object.layout(),
                             object.integer<std::int8_t>(object.layout().generator.gi_frame_state));
}

std::uint64_t generator_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    if (!l.generator.gi_iframe.present()) return basic_size(object);
    return *l.generator.gi_iframe + frame_header(l) + 8 * slots_of(object, generator_code(object));
}

void generator_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().generator;
    const bool coroutine = object.type().known == KnownType::coroutine,
               async_generator = object.type().known == KnownType::async_generator;
    const GeneratorNames& names = coroutine         ? reached_from_coroutine
                                  : async_generator ? reached_from_async_generator
                                                    : reached_from_generator;
    visit.named(object.pointer(l.gi_code), names.code);
    visit.named(object.pointer(l.gi_name), ".__name__");
    visit.named(object.pointer(l.gi_qualname), ".__qualname__");
    visit.named(object.pointer(l.gi_frame), names.frame);
    if (l.gi_iframe.present() && frame_is_alive(object)) {
        visit.named(
            object.heap().pointer(generator_frame(object) + *object.layout().interpreter_frame.frame_obj),
            names.frame);
        visit_interpreter_frame(object, generator_frame(object), names.inner, visit);
    } else if (!l.gi_code.present()) {
        // Kept even though the frame is cleared.
        visit.named(generator_code(object), names.code,
                    reports_code_of_ended(object.layout()) ? ReferenceKind::strong : ReferenceKind::hidden);
    }
    visit.named(object.pointer(l.gi_exc_type), ".<exception type>");
    visit.named(object.pointer(l.gi_exc_value), ".<exception>");
    visit.named(object.pointer(l.gi_exc_traceback), ".<traceback>");
    // A plain generator never writes this word: it is left over from the block's previous owner.
    if (coroutine)
        visit.named(object.pointer(object.layout().coroutine.cr_origin), ".cr_origin", ReferenceKind::hidden);
    if (async_generator)
        visit.named(object.pointer(object.layout().async_generator.ag_finalizer), ".<finalizer>");
}

ShortValue generator_describe(const ObjectReader& object, std::size_t) {
    const LayoutOffset qualname = object.layout().generator.gi_qualname;
    const std::string name = qualname.present()
                                 ? object.heap().unicode_text(object.pointer(qualname), 200).value_or("?")
                                 : function_name(object, generator_code(object));
    return {ShortValue::Kind::name, fmt::format("<{} {}>", object.type().name, name), 0};
}

constexpr const char* frame_names[] = {"frame"};
constexpr const char* generator_names[] = {"generator", "coroutine", "async_generator"};

}  // namespace

const ObjectKind frame_kind = {
    .name = "frame",
    .type_names = frame_names,
    .size = frame_size,
    .body_size = [](const ObjectReader& o) -> std::uint64_t { return o.type().basicsize; },
    .visit_references = frame_references,
    .describe = frame_describe,
    .exact = [](const ObjectReader& o) { return !o.layout().frame.f_valuestack.present() || !runs(o); },
    .no_var_size = true};
const ObjectKind generator_kind = {
    .name = "generator",
    .type_names = generator_names,
    .size = generator_size,
    .body_size = [](const ObjectReader& o) -> std::uint64_t { return o.type().basicsize; },
    .visit_references = generator_references,
    .describe = generator_describe,
    .no_var_size = true};

}  // namespace heapsift
