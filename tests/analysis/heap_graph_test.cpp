// What keeps objects alive: named roots, references that were not found, and garbage, which holds nothing
// that is alive.

#include "analysis/holding/heap_graph.h"

#include "analysis/holding/retained.h"
#include "tests/analysis/random_heap.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t first = 0x10000;
std::uint64_t at(std::size_t object) { return random_address(object); }

/// Objects that refer to each other, with counts that their references explain.
HandmadeHeap heap_of(std::size_t objects,
                     const std::vector<std::pair<std::size_t, std::size_t>>& references) {
    HandmadeHeap heap;
    for (std::size_t i = 0; i < objects; ++i)
        heap.objects.push_back({Address(at(i)), "app.Node", facts(48, 64, 0, 0), {}, {}});
    for (const auto& [source, target] : references) {
        heap.objects[source].references.push_back(reference(at(target), ".next"));
        ++heap.objects[target].facts.refcount;
    }
    return heap;
}

void hold_by_c_code(HandmadeHeap& heap, std::size_t object) {
    Reference native = reference(at(object), "<block of C code>", ReferenceKind::native);
    native.word = Address(0x20000 + 8 * heap.natives.size());
    heap.natives.push_back(native);
    ++heap.objects[object].facts.refcount;
}

std::vector<Reach> reaches(const HeapGraph& graph) {
    std::vector<Reach> result;
    for (ObjectId object{0}; object < graph.object_count(); ++object) result.push_back(graph.reach(object));
    return result;
}

std::set<ObjectId> roots_of_kind(const HeapGraph& graph, RootKind kind) {
    std::set<ObjectId> result;
    for (const HeapGraph::PlacedRoot& placed : graph.roots())
        if (placed.root.kind == kind) result.insert(placed.root.object);
    return result;
}

std::set<NodeId> below(const HeapGraph& graph, GroupId group) {
    const auto targets = graph.targets(graph.node_of(group));
    return {targets.begin(), targets.end()};
}

constexpr Reach named = Reach::named, held = Reach::held, unreachable = Reach::unreachable;

}  // namespace

TEST_CASE("heap graph: reachable from C code, held by what was not found, or garbage", "[analysis][graph]") {
    HandmadeHeap made = heap_of(6, {{0, 1}, {2, 3}, {4, 5}});
    hold_by_c_code(made, 0);
    ++made.objects[2].facts.refcount;
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(reaches(graph) == std::vector{named, named, held, held, unreachable, unreachable});
    CHECK(graph.unreachable_count() == 2);
    CHECK(roots_of_kind(graph, RootKind::native) == std::set<ObjectId>{ObjectId(0)});
    CHECK(roots_of_kind(graph, RootKind::native_unseen) == std::set<ObjectId>{ObjectId(2)});
    CHECK(below(graph, graph.unreachable_group()) == std::set<NodeId>{NodeId(4)});
    CHECK(graph.roots_of(ObjectId(2)).size() == 1);
    CHECK(graph.roots_of(ObjectId(3)).empty());
}

TEST_CASE("heap graph: an excess count on what is reached makes no root", "[analysis][graph]") {
    HandmadeHeap made = heap_of(2, {{0, 1}});
    hold_by_c_code(made, 0);
    made.objects[1].facts.refcount += 5;
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(reaches(graph) == std::vector{named, named});
    CHECK(roots_of_kind(graph, RootKind::native_unseen).empty());
    CHECK(RetainedLookup(graph, retained_sizes(graph)).dominator(ObjectId(1)) == NodeId(0));
}

TEST_CASE("heap graph: of held objects that lead to each other, as few as hold all", "[analysis][graph]") {
    HandmadeHeap made = heap_of(7, {{1, 0}, {2, 3}, {3, 2}, {4, 5}});
    for (const std::size_t object : {0, 1, 2, 3, 4, 5}) ++made.objects[object].facts.refcount;
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(reaches(graph) == std::vector{held, held, held, held, held, held, unreachable});
    // 1 leads to 0, 4 to 5; one member of a ring is enough.
    const std::set<ObjectId> roots = roots_of_kind(graph, RootKind::native_unseen);
    CHECK(roots.size() == 3);
    CHECK(roots.contains(ObjectId(1)));
    CHECK(roots.contains(ObjectId(4)));
    CHECK(roots.contains(ObjectId(2)) != roots.contains(ObjectId(3)));
}

TEST_CASE("heap graph: garbage takes nothing from those that live", "[analysis][graph]") {
    HandmadeHeap made = heap_of(5, {{0, 1}, {2, 1}, {2, 3}, {3, 0}, {2, 4}});
    hold_by_c_code(made, 0);
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(reaches(graph) == std::vector{named, named, unreachable, unreachable, unreachable});
    CHECK(graph.follows(ObjectId(0), ObjectId(1)));
    CHECK_FALSE(graph.follows(ObjectId(2), ObjectId(1)));
    CHECK_FALSE(graph.follows(ObjectId(3), ObjectId(0)));
    CHECK(graph.follows(ObjectId(2), ObjectId(3)));
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    CHECK(retained.dominator(ObjectId(1)) == NodeId(0));
    CHECK(retained.memory(ObjectId(0)) == 128);
    CHECK(retained.memory(ObjectId(2)) == 192);
    CHECK(retained.memory(graph.node_of(graph.unreachable_group())) == 192);
}

TEST_CASE("heap graph: below the group of garbage are whole components that no other garbage leads to",
          "[analysis][graph]") {
    // a chain; a ring that leads to one more; one that refers to itself
    const HandmadeHeap made = heap_of(8, {{0, 1}, {1, 2}, {3, 4}, {4, 3}, {4, 5}, {6, 6}, {6, 7}});
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(graph.unreachable_count() == 8);
    CHECK(below(graph, graph.unreachable_group()) ==
          std::set<NodeId>{NodeId(0), NodeId(3), NodeId(4), NodeId(6)});
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    CHECK(retained.dominator(ObjectId(3)) == graph.node_of(graph.unreachable_group()));
    CHECK(retained.dominator(ObjectId(5)) == NodeId(4));
    CHECK(retained.dominator(ObjectId(2)) == NodeId(1));
}

TEST_CASE("heap graph: immortal objects that nothing reaches are alive", "[analysis][graph]") {
    HandmadeHeap made = heap_of(4, {{0, 1}, {2, 3}});
    made.objects[0].facts.immortal = true;
    made.objects[3].facts.immortal = true;
    hold_by_c_code(made, 2);
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK(reaches(graph) == std::vector{named, named, named, named});
    CHECK(roots_of_kind(graph, RootKind::immortal) == std::set<ObjectId>{ObjectId(0)});
}

TEST_CASE("heap graph: a reference into a static type is not followed, and the type is a root",
          "[analysis][graph]") {
    HandmadeHeap made = heap_of(3, {{0, 1}, {0, 2}});
    TypeInfo type;
    type.address = Address(at(1));
    type.name = "static";
    made.types = {type};
    hold_by_c_code(made, 0);
    const HeapReader heap = made.build();
    const HeapGraph graph(heap);
    CHECK_FALSE(graph.follows(ObjectId(0), ObjectId(1)));
    CHECK(graph.follows(ObjectId(0), ObjectId(2)));
    CHECK(roots_of_kind(graph, RootKind::static_type) == std::set<ObjectId>{ObjectId(1)});
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    CHECK(graph.kind(retained.dominator(ObjectId(1))) == NodeKind::group);
    CHECK(retained.memory(ObjectId(0)) == 128);
}

namespace {

/// For each object, whether it is reached from `start` (itself included) where `in` holds.
template <class In>
std::vector<bool> reached_from(const HandmadeHeap& heap, const std::vector<std::size_t>& start, In in) {
    std::vector<bool> reached(heap.objects.size());
    std::vector<std::size_t> pending;
    const auto enter = [&](std::size_t object) {
        if (reached[object] || !in(object)) return;
        reached[object] = true;
        pending.push_back(object);
    };
    for (const std::size_t object : start) enter(object);
    while (!pending.empty()) {
        const std::size_t object = pending.back();
        pending.pop_back();
        for (const Reference& r : heap.objects[object].references) enter((r.target.value - first) / 16);
    }
    return reached;
}

/// For each object, computed directly from the definition.
std::vector<Reach> expected_reaches(const HandmadeHeap& heap) {
    std::vector<std::int64_t> found(heap.objects.size());
    for (const auto& object : heap.objects)
        for (const Reference& r : object.references) ++found[(r.target.value - first) / 16];
    std::vector<std::size_t> native, excess, immortal;
    for (const Reference& r : heap.natives) {
        ++found[(r.target.value - first) / 16];
        native.push_back((r.target.value - first) / 16);
    }
    for (std::size_t i = 0; i < heap.objects.size(); ++i) {
        if (heap.objects[i].facts.immortal) immortal.push_back(i);
        if (!heap.objects[i].facts.immortal && heap.objects[i].facts.refcount > found[i]) excess.push_back(i);
    }
    std::vector<Reach> result(heap.objects.size(), unreachable);
    std::vector<bool> met(heap.objects.size());
    const auto mark = [&](const std::vector<std::size_t>& roots, Reach reach) {
        const std::vector<bool> now =
            reached_from(heap, roots, [&](std::size_t object) { return !met[object]; });
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i]) {
                met[i] = true;
                result[i] = reach;
            }
    };
    mark(native, named);
    mark(excess, held);
    mark(immortal, named);
    return result;
}

}  // namespace

TEST_CASE("heap graph: a thousand random heaps, against the definition", "[analysis][graph]") {
    std::mt19937 random(20261121);
    for (int i = 0; i < 1000; ++i) {
        const HandmadeHeap made = random_heap(random, 25);
        const HeapReader heap = made.build();
        const HeapGraph graph(heap);
        const std::vector<Reach> reach = reaches(graph);
        REQUIRE(reach == expected_reaches(made));
        REQUIRE(graph.preorder().reached() + 3 >= graph.node_count());  // all but groups without members
        // Garbage that hangs below the group: everything that leads to it is also reached from it.
        std::set<NodeId> expected;
        const auto garbage = [&](std::size_t object) { return reach[object] == unreachable; };
        std::vector<std::vector<bool>> leads_to;
        for (std::size_t object = 0; object < reach.size(); ++object)
            leads_to.push_back(reached_from(made, {object}, garbage));
        for (std::size_t object = 0; object < reach.size(); ++object) {
            bool source = garbage(object);
            for (std::size_t other = 0; other < reach.size(); ++other)
                source = source && (!leads_to[other][object] || leads_to[object][other]);
            if (source) expected.insert(static_cast<NodeId>(object));
        }
        REQUIRE(below(graph, graph.unreachable_group()) == expected);
        // No held root leads to another.
        const std::set<ObjectId> roots = roots_of_kind(graph, RootKind::native_unseen);
        for (const ObjectId root : roots) {
            const auto others =
                reached_from(made, {root}, [&](std::size_t object) { return reach[object] == held; });
            for (const ObjectId other : roots) REQUIRE((other == root || !others[other]));
        }
    }
}
