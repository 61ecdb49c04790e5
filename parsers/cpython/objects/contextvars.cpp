// Contexts, their variables, and the trie in which a context keeps its values. A variable only borrows its
// last value. (context.c, hamt.c)

#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::int64_t max_pair_words = 1 << 24;

constexpr const char* context_names[] = {"Context", "_contextvars.Context"};
constexpr const char* context_variable_names[] = {"ContextVar", "_contextvars.ContextVar"};
constexpr const char* context_token_names[] = {"Token", "_contextvars.Token"};
constexpr const char* hamt_names[] = {"hamt"};
constexpr const char* hamt_iterator_names[] = {"keys", "values", "items"};

constexpr ReferenceField<context_layout> context_fields[] = {{&context_layout::ctx_prev, ".<previous>"},
                                                             {&context_layout::ctx_vars, ".<values>"}};
constexpr ReferenceField<context_variable_layout> context_variable_fields[] = {
    {&context_variable_layout::var_name, ".name"},
    {&context_variable_layout::var_default, ".<default>"},
    {&context_variable_layout::var_cached, ".<cached>", ReferenceKind::weak}};
constexpr ReferenceField<context_token_layout> context_token_fields[] = {
    {&context_token_layout::tok_ctx, ".<context>"},
    {&context_token_layout::tok_var, ".var"},
    {&context_token_layout::tok_oldval, ".old_value"}};
constexpr ReferenceField<hamt_layout> hamt_fields[] = {{&hamt_layout::h_root, ".<root>"}};
constexpr ReferenceField<hamt_iterator_layout> hamt_iterator_fields[] = {
    {&hamt_iterator_layout::hi_obj, ".<hamt>"}};

/// Pairs of either a key and its value, or null and a node.
void visit_pairs(const ObjectReader& object, LayoutOffset array, ReferenceVisitor& visit) {
    const Address items = object.at(*array);
    const std::uint64_t count =
        object.readable_items(items, std::min<std::int64_t>(object.var_size(), max_pair_words));
    for (std::uint64_t i = 0; i + 1 < count; i += 2) {
        const Address key = object.heap().pointer(items + 8 * i);
        const Address value = object.heap().pointer(items + 8 * (i + 1));
        if (key.is_null()) {
            visit.named(value, ".<node>");
            continue;
        }
        visit.visit(key, ReferenceKind::strong, {ReferenceName::Form::key, "", 0, key});
        if (!value.is_null())
            visit.visit(value, ReferenceKind::strong, {ReferenceName::Form::item, "", 0, key});
    }
}

void bitmap_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_pairs(object, object.layout().hamt_bitmap_node.b_array, visit);
}

void collision_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_pairs(object, object.layout().hamt_collision_node.c_array, visit);
}

void array_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().hamt_array_node;
    for (std::uint64_t offset = *l.a_array; offset + 8 <= *l.a_count; offset += 8)
        visit.named(object.heap().pointer(object.at(offset)), ".<node>");
}

constexpr const char* bitmap_names[] = {"hamt_bitmap_node"};
constexpr const char* collision_names[] = {"hamt_collision_node"};
constexpr const char* array_names[] = {"hamt_array_node"};

const ObjectKind kinds_of_contextvars[] = {
    {.name = "hamt bitmap node", .type_names = bitmap_names, .visit_references = bitmap_references},
    {.name = "hamt collision node", .type_names = collision_names, .visit_references = collision_references},
    {.name = "hamt array node",
     .type_names = array_names,
     .visit_references = array_references,
     .struct_size = struct_size<&Layout::hamt_array_node>},
    fields_kind<&Layout::context, context_fields>("Context", context_names),
    fields_kind<&Layout::context_variable, context_variable_fields>("ContextVar", context_variable_names),
    fields_kind<&Layout::context_token, context_token_fields>("Token", context_token_names),
    fields_kind<&Layout::hamt, hamt_fields>("hamt", hamt_names),
    fields_kind<&Layout::hamt_iterator, hamt_iterator_fields>("hamt iterator", hamt_iterator_names),
};

}  // namespace

std::span<const ObjectKind> contextvars_kinds() { return kinds_of_contextvars; }

}  // namespace heapsift
