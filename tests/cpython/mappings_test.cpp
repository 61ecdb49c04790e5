// dict and its relatives: combined tables with entries as up to 3.10 (a hash in each) and since 3.11 (a hash
// only if keys are not all str), tables split between instances, deleted entries, and the order that
// OrderedDict keeps beside them.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;
constexpr auto hidden = ReferenceKind::hidden;

/// sys.getsizeof of a dict with its first table of eight slots and room for five entries, without the
/// collector's header.
std::uint64_t eight_slots(const Layout& l, bool general) {
    const bool has_hash = l.dict_keys.dk_size.present() || general;
    return 48 + (l.dict_keys.dk_size.present() ? 40 : 32) + 8 + 5 * (has_hash ? 24 : 16);
}

}  // namespace

TEST_CASE("dict: values are referents, str keys are held but not reported", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.str("a");
    const Address b = heap.str("b");
    const Address one = heap.integer(1);
    const Address dict = heap.dict({{a, one}, {b, one}});
    const auto key = hidden;
    CHECK(references(heap, dict) ==
          std::vector<Seen>{
              {a, "key a", key}, {one, "['a']", strong}, {b, "key b", key}, {one, "['b']", strong}});
    CHECK(text_of(heap, dict) == "dict of 2");
}

TEST_CASE("dict: a general table reports its keys as well", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address key = heap.integer(5);
    const Address value = heap.none();
    const Address dict = heap.dict({{key, value}}, {.general = true});
    CHECK(referents(heap, dict) == std::vector{key, value});
}

TEST_CASE("dict: a deleted entry is no reference", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address key = heap.str("kept");
    const Address value = heap.integer(2);
    const Address dict = heap.dict({{Address(), Address()}, {key, value}, {Address(), Address()}});
    const auto seen = references(heap, dict);
    REQUIRE(seen.size() == 2);
    CHECK(seen[1] == Seen{value, "['kept']", strong});
    CHECK(heap.heap().dict_value(dict, "kept") == value);
    CHECK(heap.heap().dict_value(dict, "gone").is_null());
    CHECK(heap.heap().dict(dict)->used == 1);
    CHECK(heap.heap().dict(dict)->entry_count == 3);
}

TEST_CASE("dict: the keys object counts while no other dict shares it", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address value = heap.none();
    const Address dict = heap.dict({{heap.str("a"), value}});
    const Address general = heap.dict({{heap.integer(1), value}}, {.general = true});
    const Address borrowed = heap.dict({{heap.str("a"), value}}, {.refcount = 2});
    CHECK(size_of(heap, dict) == eight_slots(*layout, false));
    CHECK(size_of(heap, general) == eight_slots(*layout, true));
    CHECK(size_of(heap, borrowed) == 48);
    const Address keys = heap.heap().pointer(dict + *layout->dict.ma_keys);
    CHECK(buffers(heap, dict) == std::vector<SeenBuffer>{{keys, eight_slots(*layout, false) - 48, false}});
    CHECK(buffers(heap, borrowed).empty());
    // No single dict owns the keys of a shared table.
    CHECK(references(heap, borrowed) == std::vector<Seen>{{value, "['a']", strong}});
}

TEST_CASE("dict: indices grow to two bytes at 256 slots", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    Entries entries;
    for (int i = 0; i < 130; ++i) entries.emplace_back(heap.str("k" + std::to_string(i)), heap.integer(i));
    const Address dict = heap.dict(entries, {.log2_size = 8});
    const auto facts = heap.heap().dict(dict);
    REQUIRE(facts);
    CHECK(facts->capacity == 170);
    const bool old = layout->dict_keys.dk_size.present();
    CHECK(facts->keys_size == (old ? 40 + 512 + 170 * 24 : 32 + 512 + 170 * 16));
    CHECK(heap.heap().dict_value(dict, "k129") == entries.back().second);
}

TEST_CASE("dict: a split table has the keys of its class and values of its own", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address x = heap.str("x");
    const Address y = heap.str("y");
    const Address shared = heap.keys({{x, Address()}, {y, Address()}}, {.refcount = 3});
    const Address value = heap.integer(9);
    const Address dict = heap.split_dict(shared, {Address(), value}, 5);
    CHECK(references(heap, dict) == std::vector<Seen>{{value, "['y']", strong}});
    CHECK(heap.heap().dict_value(dict, "y") == value);
    CHECK(heap.heap().dict_value(dict, "x").is_null());
    // Room for five values; the shared keys are not counted.
    CHECK(size_of(heap, dict) == 48 + 5 * 8);
}

TEST_CASE("dict: the values of a split table are one block, from what precedes them on", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address shared = heap.keys({{heap.str("x"), Address()}}, {.refcount = 3});
    Address first;
    const Address block = heap.values({heap.none()}, 5, first);
    const Address dict = heap.object("dict");
    heap.set(dict, layout->dict.ma_used, std::uint64_t{1});
    heap.set(dict, layout->dict.ma_keys, shared);
    heap.set(dict, layout->dict.ma_values, layout->dict_values.embedded.present() ? block : first);
    const auto found = buffers(heap, dict);
    REQUIRE(found.size() == 1);
    CHECK(found[0].start == block);
    CHECK(found[0].bytes >= (first - block) + 5 * 8);
    if (!layout->dict_values.embedded.present()) return;
    // 3.13: values inside the instance belong to it.
    heap.set(block, layout->dict_values.embedded, std::uint8_t{1});
    CHECK(buffers(heap, dict).empty());
}

TEST_CASE("defaultdict: its factory, then its entries", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address factory = heap.builtin("list");
    const Address value = heap.list({});
    const Address dict = heap.dict_of_type(heap.builtin("collections.defaultdict"),
                                           {{heap.integer(1), value}}, {.general = true});
    heap.set(dict, layout->defaultdict.default_factory, factory);
    CHECK(reference(heap, dict, ".default_factory").target == factory);
    CHECK(referents(heap, dict).back() == value);
    // dict.__sizeof__ uses the basicsize of the type: 56.
    CHECK(size_of(heap, dict) == eight_slots(*layout, true) + 8);
}

namespace {

struct Ordered {
    Address object;
    std::vector<Address> nodes;
};

Ordered make_ordered(PythonHeapBuilder& heap, const Entries& entries) {
    const Layout& l = heap.layout();
    Ordered ordered;
    ordered.object = heap.dict_of_type(heap.builtin("collections.OrderedDict"), entries);
    for (const auto& [key, value] : entries) {
        ordered.nodes.push_back(heap.allocate(*l.ordered_dict_node.size));
        heap.set(ordered.nodes.back(), l.ordered_dict_node.key, key);
    }
    for (std::size_t i = 0; i + 1 < ordered.nodes.size(); ++i)
        heap.set(ordered.nodes[i], l.ordered_dict_node.next, ordered.nodes[i + 1]);
    if (!ordered.nodes.empty()) heap.set(ordered.object, l.ordered_dict.od_first, ordered.nodes[0]);
    heap.set(ordered.object, l.ordered_dict.od_fast_nodes, heap.allocate(64));
    heap.set(ordered.object, l.ordered_dict.od_fast_nodes_size, std::uint64_t{8});
    return ordered;
}

}  // namespace

TEST_CASE("OrderedDict: nodes in their order hold the keys, and count", "[cpython][dict]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.str("a");
    const Address b = heap.str("b");
    const Address value = heap.none();
    const Ordered ordered = make_ordered(heap, {{a, value}, {b, value}});
    const auto seen = references(heap, ordered.object);
    REQUIRE(seen.size() >= 2);
    CHECK(seen[0] == Seen{a, "key a", strong});
    CHECK(seen[1] == Seen{b, "key b", strong});
    CHECK(reference(heap, ordered.object, "['b']").target == value);
    // odict_sizeof: a dict's, eight bytes for each slot of fast nodes, and the nodes.
    const std::uint64_t as_dict = eight_slots(*layout, false) - 48 + *layout->ordered_dict.size;
    CHECK(size_of(heap, ordered.object) == as_dict + 8 * 8 + 2 * *layout->ordered_dict_node.size);
    CHECK(buffers(heap, ordered.object).size() == 4);  // keys, fast nodes, two nodes
}

TEST_CASE("OrderedDict: nodes that form a ring do not hold up a walk, whatever the count says",
          "[cpython][dict][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.str("a");
    const Ordered ordered = make_ordered(heap, {{a, a}, {heap.str("b"), a}});
    heap.set(ordered.nodes[1], layout->ordered_dict_node.next, ordered.nodes[0]);
    heap.set(ordered.object, layout->dict.ma_used, ~std::uint64_t{0});
    CHECK(all_references(heap, ordered.object).count <= 6);
    ask_everything(heap, ordered.object);
}

TEST_CASE("dict: tables that cannot be are not read", "[cpython][dict][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address dict = heap.dict({{heap.str("a"), heap.none()}});
    const Address keys = heap.heap().pointer(dict + *layout->dict.ma_keys);
    SECTION("more entries than there is room for") {
        heap.set(keys, layout->dict_keys.dk_nentries, std::int64_t{6});
    }
    SECTION("a negative number of entries") {
        heap.set(keys, layout->dict_keys.dk_nentries, std::int64_t{-1});
    }
    SECTION("a table larger than any memory") {
        heap.set(keys, layout->dict_keys.dk_size, std::int64_t{1} << 60);
        heap.set(keys, layout->dict_keys.dk_log2_size, std::uint8_t{60});
    }
    SECTION("a size that is no power of two, a kind that does not exist") {
        heap.set(keys, layout->dict_keys.dk_size, std::int64_t{9});
        heap.set(keys, layout->dict_keys.dk_kind, std::uint8_t{7});
    }
    SECTION("no keys") { heap.set(dict, layout->dict.ma_keys, Address()); }
    SECTION("keys in unmapped memory") { heap.set(dict, layout->dict.ma_keys, Address(0x1234567890)); }
    SECTION("values in unmapped memory") { heap.set(dict, layout->dict.ma_values, Address(0x1234567890)); }
    CHECK_FALSE(heap.heap().dict(dict));
    CHECK(references(heap, dict).empty());
    CHECK(size_of(heap, dict) == 48);
    ask_everything(heap, dict);
}

TEST_CASE("dict: entries that begin in one mapping and end in another far away are not walked",
          "[cpython][dict][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address dict = heap.dict({{heap.str("a"), heap.none()}});
    const Address keys = heap.map(Address(0x600000000000), 4096);
    const std::uint64_t slots = std::uint64_t{1} << 40;
    const std::uint64_t entry = layout->dict_keys.dk_size.present() ? 24 : 16;
    const std::uint64_t index_bytes = slots * (layout->dict_keys.dk_size.present() ? 8 : 1);
    const std::uint64_t count = (slots << 1) / 3;
    heap.set(keys, layout->dict_keys.dk_refcnt, std::int64_t{1});
    heap.set(keys, layout->dict_keys.dk_size, slots);
    heap.set(keys, layout->dict_keys.dk_log2_size, std::uint8_t{40});
    heap.set(keys, layout->dict_keys.dk_log2_index_bytes, std::uint8_t{40});
    heap.set(keys, layout->dict_keys.dk_kind, std::uint8_t{1});
    heap.set(keys, layout->dict_keys.dk_nentries, count);
    const Address last = keys + *layout->dict_keys.dk_indices + index_bytes + count * entry - 8;
    heap.map(last.rounded_down(4096), 8192);
    heap.set(dict, layout->dict.ma_keys, keys);
    CHECK(references(heap, dict).empty());
}
