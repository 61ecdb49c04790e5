// dict, defaultdict, OrderedDict: a keys object (shared between the instances of a class, or the dict's own),
// and for a split table an array of values. No traverse reports string keys, so these references are hidden;
// the dict owns them only if the keys are its own. Values inside an instance may be reported by that
// (instance.cpp). In 2.7 there is a table of hashes, keys and values, and traverse reports both. The table of interned strings counts neither its keys nor its values. OrderedDict keeps its
// order in nodes beside the table. (dictobject.c, odictobject.c, _collectionsmodule.c)

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

bool owns_keys(const DictFacts& facts) { return facts.keys_refcount == 1; }

std::uint64_t dict_size(const ObjectReader& object) {
    std::uint64_t size = object.type().basicsize;
    const auto& facts = object.dict();
    if (!facts) return size;
    size += facts->values_size;
    if (owns_keys(*facts)) size += facts->keys_size;
    return size;
}

void dict_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& facts = object.dict();
    if (!facts) return;
    if (owns_keys(*facts) && facts->keys_size > 0) visit.visit(facts->keys, facts->keys_size, false);
    if (facts->values.is_null() || facts->values_embedded) return;
    const Layout& l = object.layout();
    if (l.dict_values.embedded.present()) {
        visit.visit(facts->values - *l.dict_values.values, *l.dict_values.values + facts->values_size, false);
    } else if (l.dict_keys.dk_log2_size
                   .present()) {  // 3.11, 3.12: a prefix before the values, its size in the byte before them
        const auto prefix = object.heap().integer<std::uint8_t>(facts->values - 1);
        visit.visit(facts->values - prefix, prefix + facts->values_size, false);
    } else {
        visit.visit(facts->values, facts->values_size, false);
    }
}

/// Whether the table can be read, has room for what is in it, and no more entries are in use than were ever
/// made. (Null while a dict is being made.)
bool dict_reads(const ObjectReader& object) {
    const auto& l = object.layout().dict;
    if (object.pointer(l.ma_keys.present() ? l.ma_keys : l.ma_table).is_null()) return true;
    const auto& facts = object.dict();
    return facts && facts->used <= facts->entry_count &&
           (facts->keys_refcount > 0 || is_immortal_table_count(object.layout(), facts->keys_refcount));
}

/// 2.7: an entry that was deleted counts the dummy, a str, in the place of its key, and nothing reports that.
void visit_deleted_entries(const ObjectReader& object, const DictFacts& facts, ReferenceVisitor& visit) {
    if (!object.layout().dict.ma_table.present()) return;
    const AddressSpace::Window entries(object.heap().memory(), facts.entries,
                                       facts.entry_count * facts.entry_size);
    for (std::uint64_t i = 0; i < facts.entry_count; ++i) {
        const std::uint64_t at = i * facts.entry_size;
        if (entries.pointer(at + 16).is_null())
            visit.named(entries.pointer(at + 8), ".<deleted>", ReferenceKind::hidden);
    }
}

void dict_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& facts = object.dict();
    if (!facts) return;
    const bool keys_are_ours = owns_keys(*facts);
    const bool counted = !object.heap().is_interned_table(object.address());
    const bool in_instance = facts->values_embedded && !object.heap().runtime().instance_reports_dict;
    const auto value_kind =
        !counted ? (reports_interned_strings(object.layout()) ? ReferenceKind::reported : ReferenceKind::weak)
        : in_instance ? ReferenceKind::hidden
                      : ReferenceKind::strong;
    const auto key_kind = !counted              ? ReferenceKind::weak
                          : facts->unicode_keys ? ReferenceKind::hidden
                                                : ReferenceKind::strong;
    visit_deleted_entries(object, *facts, visit);
    object.heap().visit_dict(*facts, [&](Address key, Address value) {
        // A general table reports its keys. A table of str does not, but holds them too.
        if (keys_are_ours) visit.visit(key, key_kind, {ReferenceName::Form::key, "", 0, key});
        visit.visit(value, value_kind, {ReferenceName::Form::item, "", 0, key});
    });
}

ShortValue dict_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary,
            fmt::format("dict of {}", object.integer<std::uint64_t>(object.layout().dict.ma_used)), 0};
}

void defaultdict_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().defaultdict.default_factory), ".default_factory");
    dict_references(object, visit);
}

template <class F>
void visit_nodes(const ObjectReader& object, F&& visit) {
    const Layout& l = object.layout();
    Address node = object.pointer(l.ordered_dict.od_first);
    // There are as many nodes as live entries, so never follow more than the table has, wherever the links
    // lead.
    const auto& facts = object.dict();
    const std::uint64_t most = facts ? std::min(facts->used, facts->entry_count) : 0;
    for (std::uint64_t n = 0; !node.is_null() && n < most; ++n) {
        visit(node);
        node = object.heap().pointer(node + *l.ordered_dict_node.next);
    }
}

std::uint64_t ordered_dict_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    const auto absurd = std::uint64_t{1} << 56;  // a larger count is not believed, and must not wrap
    const auto used = std::min(object.integer<std::uint64_t>(l.dict.ma_used), absurd);
    return dict_size(object) +
           8 * std::min(object.integer<std::uint64_t>(l.ordered_dict.od_fast_nodes_size), absurd) +
           (object.pointer(l.ordered_dict.od_first).is_null() ? 0 : *l.ordered_dict_node.size * used);
}

void ordered_dict_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Layout& l = object.layout();
    dict_buffers(object, visit);
    const Address fast = object.pointer(l.ordered_dict.od_fast_nodes);
    if (!fast.is_null())
        visit.visit(fast, 8 * object.integer<std::uint64_t>(l.ordered_dict.od_fast_nodes_size), false);
    visit_nodes(object, [&](Address node) { visit.visit(node, *l.ordered_dict_node.size, false); });
}

void ordered_dict_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.ordered_dict.od_inst_dict), ".__dict__");
    visit_nodes(object, [&](Address node) {
        const Address key = object.heap().pointer(node + *l.ordered_dict_node.key);
        if (!key.is_null()) visit.visit(key, ReferenceKind::strong, {ReferenceName::Form::key, "", 0, key});
    });
    dict_references(object, visit);
}

constexpr const char* dict_names[] = {"dict", "frozendict"};
constexpr const char* defaultdict_names[] = {"collections.defaultdict"};
constexpr const char* ordered_dict_names[] = {"collections.OrderedDict"};

}  // namespace

const ObjectKind dict_kind = {.name = "dict",
                              .type_names = dict_names,
                              .size = dict_size,
                              .visit_buffers = dict_buffers,
                              .visit_references = dict_references,
                              .describe = dict_describe,
                              .reads = dict_reads};
const ObjectKind defaultdict_kind = {.name = "defaultdict",
                                     .type_names = defaultdict_names,
                                     .size = dict_size,
                                     .visit_buffers = dict_buffers,
                                     .visit_references = defaultdict_references,
                                     .describe = dict_describe,
                                     .reads = dict_reads};
const ObjectKind ordered_dict_kind = {.name = "OrderedDict",
                                      .type_names = ordered_dict_names,
                                      .size = ordered_dict_size,
                                      .visit_buffers = ordered_dict_buffers,
                                      .visit_references = ordered_dict_references,
                                      .describe = dict_describe,
                                      .reads = dict_reads};

}  // namespace heapsift
