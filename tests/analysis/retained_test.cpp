// What would be freed, by definition: a set is taken away, and what the root no longer reaches is freed with
// it.

#include "analysis/holding/retained.h"

#include "tests/analysis/random_heap.h"
#include "tests/catch.h"

#include <algorithm>
#include <numeric>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// For each node, whether the root reaches it without going through `taken`.
std::vector<bool> reached_without(const HeapGraph& graph, const std::vector<bool>& taken) {
    std::vector<bool> reached(graph.node_count());
    std::vector<NodeId> pending{graph.root()};
    reached[graph.root()] = true;
    while (!pending.empty()) {
        const NodeId source = pending.back();
        pending.pop_back();
        for (const NodeId target : graph.targets(source)) {
            if (reached[target] || taken[target] || !graph.follows(source, target)) continue;
            reached[target] = true;
            pending.push_back(target);
        }
    }
    return reached;
}

std::vector<ObjectId> freed_by_definition(const HeapGraph& graph, const std::vector<NodeId>& members) {
    std::vector<bool> taken(graph.node_count());
    for (const NodeId member : members) taken[member] = true;
    const std::vector<bool> reached = reached_without(graph, taken);
    std::vector<ObjectId> freed;
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        if (!reached[object]) freed.push_back(object);
    return freed;
}

SetRetained sum_of(const HeapReader& heap, const std::vector<ObjectId>& objects) {
    SetRetained sum;
    for (const ObjectId object : objects) {
        ++sum.objects;
        sum.memory += heap.facts(object).memory;
    }
    return sum;
}

std::uint64_t size_of(const HeapReader& heap, const std::vector<ObjectId>& objects) {
    std::uint64_t size = 0;
    for (const ObjectId object : objects) size += heap.facts(object).size;
    return size;
}

bool same(const SetRetained& a, const SetRetained& b) {
    return a.objects == b.objects && a.memory == b.memory;
}

}  // namespace

TEST_CASE("referrers: of each object of a thousand random heaps, by looking at all references",
          "[analysis][retained]") {
    std::mt19937 random(5);
    for (int i = 0; i < 1000; ++i) {
        const HandmadeHeap made = random_heap(random, 60);
        const HandmadeReader heap = made.build();
        const ReferenceGraph& references = *heap.snapshot().references;
        for (ObjectId target{0}; target < references.object_count(); ++target) {
            std::vector<ObjectId> sources;
            for (ObjectId source{0}; source < references.object_count(); ++source) {
                const auto row = references.targets(source);
                if (std::find(row.begin(), row.end(), target) != row.end()) sources.push_back(source);
            }
            REQUIRE(references.sources_of(target) == sources);
        }
    }
}

TEST_CASE("retained: each node of a thousand random heaps, by taking it away", "[analysis][retained]") {
    std::mt19937 random(20261121);
    for (int i = 0; i < 1000; ++i) {
        HandmadeHeap made = random_heap(random, 25);
        if (i % 3 == 0)  // more than 4 GiB, alone or together
            for (HandmadeObject& object : made.objects) object.facts.memory += (random() % 5) << (29 + i % 4);
        const HandmadeReader heap = made.build();
        const HeapGraph graph(heap);
        const RetainedSizes sizes = retained_sizes(graph);
        const RetainedLookup retained(graph, sizes);
        for (NodeId node{0}; node < graph.node_count(); ++node) {
            if (graph.preorder().position(node) == Preorder::none || node == graph.root()) continue;
            const std::vector<ObjectId> freed = freed_by_definition(graph, {node});
            const SetRetained sum = sum_of(heap, freed);
            REQUIRE(retained.memory(node) == sum.memory);
            REQUIRE(retained.count(node) == sum.objects);
            std::vector<ObjectId> dominated = retained.dominated(node);
            std::sort(dominated.begin(), dominated.end());
            REQUIRE(dominated == freed);
            REQUIRE(retained.size(node) == size_of(heap, freed));
            for (ObjectId object{0}; object < graph.object_count(); ++object)
                REQUIRE(retained.dominates(node, graph.node_of(object)) ==
                        std::binary_search(freed.begin(), freed.end(), object));
            const NodeId above = retained.dominator(node);
            REQUIRE(retained.child_towards(above, node) == node);
            const std::vector<NodeId> children = retained.children(above);
            REQUIRE(std::find(children.begin(), children.end(), node) != children.end());
        }
        std::vector<ObjectId> all(graph.object_count());
        std::iota(all.begin(), all.end(), ObjectId(0));
        REQUIRE(retained.memory(graph.root()) == sum_of(heap, all).memory);
    }
}

TEST_CASE("retained: sets of objects of a thousand random heaps, by taking them away",
          "[analysis][retained]") {
    std::mt19937 random(7);
    for (int i = 0; i < 1000; ++i) {
        const HandmadeHeap made = random_heap(random, 40);
        const HandmadeReader heap = made.build();
        const HeapGraph graph(heap);
        // more than fit in one word, and in one byte
        const std::size_t sets = i % 100 == 0 ? 400 : i % 50 == 0 ? 150 : 1 + random() % 6;
        std::vector<std::int32_t> set_of(graph.object_count());
        std::vector<std::vector<NodeId>> members(sets);
        for (ObjectId object{0}; object < graph.object_count(); ++object) {
            set_of[object] = static_cast<std::int32_t>(random() % (sets + 1)) - 1;
            if (set_of[object] >= 0)
                members[static_cast<std::size_t>(set_of[object])].push_back(graph.node_of(object));
        }
        const std::vector<SetRetained> found =
            retained_by_sets(graph, sets, [&](ObjectId object) { return set_of[object]; });
        REQUIRE(found.size() == sets);
        for (std::size_t set = 0; set < sets; ++set) {
            const std::vector<ObjectId> freed = freed_by_definition(graph, members[set]);
            REQUIRE(same(found[set], sum_of(heap, freed)));
            REQUIRE(retained_by(graph, members[set]).objects == freed);
        }
    }
}

TEST_CASE("retained: two registries hold the same objects, nothing alone and everything together",
          "[analysis][retained]") {
    HandmadeHeap made;
    for (std::size_t i = 0; i < 12; ++i)
        made.objects.push_back(
            {Address(random_address(i)), "app.Node", facts(48, 100, 0, i < 2 ? 1 : 2), {}, {}});
    for (std::size_t registry = 0; registry < 2; ++registry) {
        for (std::size_t i = 2; i < 12; ++i)
            made.objects[registry].references.push_back(
                reference(random_address(i), "[" + std::to_string(i) + "]"));
        Reference native = reference(random_address(registry), "<block of C code>", ReferenceKind::native);
        native.word = Address(0x20000 + 8 * registry);
        made.natives.push_back(native);
    }
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    CHECK(retained.memory(ObjectId(0)) == 100);
    CHECK(retained.memory(ObjectId(1)) == 100);
    CHECK(retained_by(graph, std::vector<NodeId>{NodeId(0), NodeId(1)}).objects.size() == 12);
    const auto sets = retained_by_sets(graph, 1, [](ObjectId object) { return object < 2 ? 0 : -1; });
    CHECK(sets[0].memory == 1200);
    CHECK(retained.group(ObjectId(5)) != no_group);  // both are C code's
}

TEST_CASE("retained: a group that nothing hangs below retains nothing", "[analysis][retained]") {
    HandmadeHeap made;
    made.objects = {{Address(0x100), "app.Node", facts(48, 64), {}, {}}};
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const NodeId garbage = graph.node_of(graph.unreachable_group());
    CHECK(graph.unreachable_count() == 0);
    CHECK(retained.memory(garbage) == 0);
    CHECK(retained.size(garbage) == 0);
    CHECK(retained.count(garbage) == 0);
    CHECK(retained.children(garbage).empty());
    CHECK(retained.dominator(garbage) == Preorder::none);
}
