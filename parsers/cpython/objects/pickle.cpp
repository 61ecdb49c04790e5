// Picklers and unpicklers. Their memos are tables of their own, reported since 3.11.7 and 3.12.1. Nobody
// reports what an unpickler has on its stack. (_pickle.c)

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t largest_pickle_count = std::uint64_t{1} << 40;

std::uint64_t pickle_count(const ObjectReader& object, LayoutOffset field) {
    const auto n = object.integer<std::int64_t>(field);
    return n > 0 && n < static_cast<std::int64_t>(largest_pickle_count) ? static_cast<std::uint64_t>(n) : 0;
}

std::uint64_t pickle_text_size(const ObjectReader& object, LayoutOffset field) {
    const auto text = object.heap().memory().read_c_string(object.pointer(field), 1 << 20);
    return text ? text->size() + 1 : 0;
}

std::uint64_t bytes_size(const ObjectReader& object, Address bytes) {
    return *object.layout().bytes.ob_sval + 1 +
           static_cast<std::uint64_t>(std::max<std::int64_t>(object.heap().var_size(bytes), 0));
}

/// A field that comes after one which only some builds of this version have: the type's own size tells how
/// far it moved. (3.13.0 to 3.13.x: Pickler and Unpickler lost and regained the word after persistent_id and
/// persistent_load.)
LayoutOffset moved(const ObjectReader& object, LayoutOffset field, LayoutOffset struct_size) {
    const TypeInfo* at = &object.type();
    while (at->python_class && at->base != no_type) at = &object.heap().types()[at->base];
    return static_cast<std::uint32_t>(*field + at->basicsize - *struct_size);
}

std::uint64_t memo_entries(const ObjectReader& object, Address memo) {
    return memo.is_null()
               ? 0
               : std::min(
                     object.heap().integer<std::uint64_t>(memo + *object.layout().pickler_memo.mt_allocated),
                     largest_pickle_count);
}

std::uint64_t pickler_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    std::uint64_t size = object.type().basicsize;
    const Address memo = object.pointer(l.pickler.memo);
    if (!memo.is_null()) size += *l.pickler_memo.size + 16 * memo_entries(object, memo);
    const Address output = object.pointer(moved(object, l.pickler.output_buffer, l.pickler.size));
    if (!output.is_null()) size += bytes_size(object, output);
    return size;
}

void pickler_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Layout& l = object.layout();
    const Address memo = object.pointer(l.pickler.memo);
    if (memo.is_null()) return;
    visit.visit(memo, *l.pickler_memo.size, false);
    visit.visit(object.heap().pointer(memo + *l.pickler_memo.mt_table), 16 * memo_entries(object, memo),
                false);
}

std::uint64_t unpickler_size(const ObjectReader& object) {
    const auto& l = object.layout().unpickler;
    std::uint64_t size = object.type().basicsize;
    if (!object.pointer(l.memo).is_null()) size += 8 * pickle_count(object, l.memo_size);
    const LayoutOffset marks = moved(object, l.marks, l.size);
    if (!object.pointer(marks).is_null())
        size += 8 * pickle_count(object, moved(object, l.marks_size, l.size));
    for (const LayoutOffset field : {l.input_line, l.encoding, l.errors}) {
        const LayoutOffset here = moved(object, field, l.size);
        if (!object.pointer(here).is_null()) size += pickle_text_size(object, here);
    }
    return size;
}

/// The marks are positions on its stack. The first of them makes room for 20 (load_mark in _pickle.c), and all
/// but it keep what was there before.
void unpickler_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().unpickler;
    if (const Address memo = object.pointer(l.memo); !memo.is_null())
        visit.visit(memo, 8 * pickle_count(object, l.memo_size), false);
    if (const Address marks = object.pointer(moved(object, l.marks, l.size)); !marks.is_null())
        visit.visit(marks, 8 * pickle_count(object, moved(object, l.marks_size, l.size)), false);
    for (const LayoutOffset field : {l.input_line, l.encoding, l.errors})
        if (const Address text = object.pointer(moved(object, field, l.size)); !text.is_null())
            visit.visit(text, pickle_text_size(object, moved(object, field, l.size)), false);
}

ReferenceKind memo_kind(const ObjectReader& object) {
    return pickler_reports_memo(object.heap().runtime().version) ? ReferenceKind::strong
                                                                 : ReferenceKind::hidden;
}

/// Fields after those that only some releases of 3.13 have move with them (see `moved`).
void pickler_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    const auto& p = l.pickler;
    auto field = [&](LayoutOffset offset, FieldName name, ReferenceKind kind = ReferenceKind::strong) {
        if (offset.present()) visit.named(object.pointer(moved(object, offset, p.size)), name, kind);
    };
    visit.named(object.pointer(p.pers_func), ".persistent_id");
    visit.named(object.pointer(p.persistent_id), ".persistent_id");
    if (moved(object, p.size, p.size) == p.size)
        visit.named(object.pointer(p.persistent_id_attr), ".<persistent_id>");
    field(p.dispatch_table, ".dispatch_table");
    field(p.reducer_override, ".reducer_override");
    field(p.write, ".<write>");
    field(p.fast_memo, ".<fast memo>");
    field(p.buffer_callback, ".<buffer callback>");
    field(p.output_buffer, ".<output>", ReferenceKind::hidden);
    const Address memo = object.pointer(p.memo);
    if (memo.is_null()) return;
    const Address table = object.heap().pointer(memo + *l.pickler_memo.mt_table);
    const std::uint64_t step = *l.pickler_memo_entry.size;
    const auto words = static_cast<std::int64_t>(memo_entries(object, memo) * step / 8);
    const std::uint64_t there = object.readable_items(table, words) * 8 / step;
    for (std::uint64_t i = 0; i < there; ++i)
        visit.named(object.heap().pointer(table + i * step + *l.pickler_memo_entry.me_key), ".<memo>",
                    memo_kind(object));
}

void unpickler_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& u = object.layout().unpickler;
    auto field = [&](LayoutOffset offset, FieldName name, ReferenceKind kind = ReferenceKind::strong) {
        if (offset.present()) visit.named(object.pointer(moved(object, offset, u.size)), name, kind);
    };
    visit.named(object.pointer(u.stack), ".<stack>");
    visit.named(object.pointer(u.pers_func), ".persistent_load");
    visit.named(object.pointer(u.persistent_load), ".persistent_load");
    if (moved(object, u.size, u.size) == u.size)
        visit.named(object.pointer(u.persistent_load_attr), ".<persistent_load>");
    field(u.read, ".<read>");
    field(u.readinto, ".<readinto>");
    field(u.readline, ".<readline>");
    field(u.peek, ".<peek>");
    field(u.buffers, ".<buffers>");
    field(u.buffer, ".<input>", ReferenceKind::hidden);
    const Address memo = object.pointer(u.memo);
    const std::uint64_t entries =
        object.readable_items(memo, static_cast<std::int64_t>(pickle_count(object, u.memo_size)));
    for (std::uint64_t i = 0; i < entries; ++i)
        visit.named(object.heap().pointer(memo + 8 * i), ".<memo>", memo_kind(object));
}

void stack_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address items = object.pointer(object.layout().pickler_stack.data);
    const std::uint64_t count = object.readable_items(items, object.var_size());
    for (std::uint64_t i = 0; i < count; ++i)
        visit.indexed(object.heap().pointer(items + 8 * i), i, ReferenceKind::hidden, ".<items>");
}

std::uint64_t stack_body(const ObjectReader& object) { return object.type().basicsize; }

constexpr const char* pickler_names[] = {"_pickle.Pickler"};
constexpr const char* unpickler_names[] = {"_pickle.Unpickler"};
constexpr const char* stack_names[] = {"_pickle.Pdata"};

constexpr const char* pickler_memo_proxy_names[] = {"_pickle.PicklerMemoProxy"};
constexpr const char* unpickler_memo_proxy_names[] = {"_pickle.UnpicklerMemoProxy"};

constexpr VersionedField<pickler_memo_proxy_layout> pickler_memo_proxy_fields[] = {
    {&pickler_memo_proxy_layout::pickler, ".<Pickler>"}};
constexpr VersionedField<unpickler_memo_proxy_layout> unpickler_memo_proxy_fields[] = {
    {&unpickler_memo_proxy_layout::unpickler, ".<Unpickler>"}};

const ObjectKind kinds_of_pickle[] = {
    {.name = "Pickler",
     .type_names = pickler_names,
     .size = pickler_size,
     .visit_buffers = pickler_buffers,
     .visit_references = pickler_references,
     .size_counts_others = true},
    {.name = "Unpickler",
     .type_names = unpickler_names,
     .size = unpickler_size,
     .visit_buffers = unpickler_buffers,
     .visit_references = unpickler_references,
     .buffers_of_data = true},
    {.name = "stack of an Unpickler",
     .type_names = stack_names,
     .body_size = stack_body,
     .visit_references = stack_references,
     .struct_size = struct_size<&Layout::pickler_stack>},
    versioned_kind<&Layout::pickler_memo_proxy, pickler_memo_proxy_fields>("memo of a Pickler",
                                                                           pickler_memo_proxy_names),
    versioned_kind<&Layout::unpickler_memo_proxy, unpickler_memo_proxy_fields>("memo of an Unpickler",
                                                                               unpickler_memo_proxy_names),
};

}  // namespace

std::span<const ObjectKind> pickle_kinds() { return kinds_of_pickle; }

}  // namespace heapsift
