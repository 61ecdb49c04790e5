// One level of the dominator tree, and the largest objects of a type.

#include "analysis/largest_children.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A list with `count` items, the one numbered i of 16 · (i % 7 + 1) bytes; C code holds it.
HandmadeHeap list_of(std::size_t count) {
    HandmadeHeap heap;
    HandmadeObject list{Address(0x10000), "list", facts(56, 64), {}, {}};
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t at = 0x20000 + 0x100 * i;
        list.references.push_back(reference(at, "[" + std::to_string(i) + "]"));
        heap.objects.push_back({Address(at), "app.Item", facts(48, 16 * (i % 7 + 1)), {}, {}});
    }
    heap.objects.push_back(list);
    Reference native = reference(0x10000, "<block of C code>", ReferenceKind::native);
    native.word = Address(0x8000);
    heap.natives.push_back(native);
    return heap;
}

}  // namespace

TEST_CASE("largest_children: as many as are asked for are those that a full sort puts first",
          "[analysis][browse]") {
    const HandmadeReader heap = list_of(100).build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ModuleNodes modules(graph);
    const NodeId list = HeapGraph::node_of(heap.snapshot().find(Address(0x10000)));
    const std::vector<NodeId> all = shown_children(retained, modules, list);
    REQUIRE(all.size() == 100);
    for (const std::size_t most :
         {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{100}, std::size_t{1000}}) {
        const LargestChildren found = largest_children(retained, modules, list, most);
        CHECK(found.nodes ==
              std::vector<NodeId>(
                  all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(most, 100))));
        CHECK(found.total == 100);
        CHECK(found.total_retained == retained.memory(list) - 64);
    }
    const LargestChildren first = largest_children(retained, modules, list, 2);
    const std::vector<ReferenceStep> names = names_of_children(retained, modules, first.nodes);
    REQUIRE(names.size() == 2);
    CHECK(names[0].known());
    CHECK_FALSE(
        names_of_children(retained, modules, std::vector{list}).front().known());  // C code calls it nothing
}

TEST_CASE("largest_of_type: by what they retain, and how many there are", "[analysis][browse]") {
    const HandmadeReader heap = list_of(50).build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const TypeId type = heap.snapshot().type_of(heap.snapshot().find(Address(0x20000)));
    const LargestOfType found = largest_of_type(retained, type, 9);
    CHECK(found.count == 50);
    REQUIRE(found.objects.size() == 9);
    for (std::size_t i = 0; i < 7; ++i) CHECK(retained.memory(found.objects[i]) == 16 * 7);
    CHECK(retained.memory(found.objects[8]) == 16 * 6);
    CHECK(std::is_sorted(found.objects.begin(), found.objects.begin() + 7));
}
