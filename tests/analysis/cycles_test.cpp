// The replayed collector, states, cycles and reference counts, on small heaps.

#include "analysis/cycles.h"

#include "analysis/collector.h"
#include "analysis/cycle_opening.h"
#include "analysis/gc.h"
#include "analysis/object_states.h"
#include "analysis/refcounts.h"
#include "parsers/cpython/build/object_header.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeObject tracked(std::uint64_t address, std::string type, std::int64_t refcount,
                       std::vector<Reference> references) {
    HandmadeObject object{
        Address(address), std::move(type), facts(40, 48, 0, refcount), {}, std::move(references)};
    object.facts.gc_tracked = true;
    return object;
}

HandmadeObject untracked(std::uint64_t address, std::string type, std::int64_t refcount,
                         std::vector<Reference> references) {
    HandmadeObject object = tracked(address, std::move(type), refcount, std::move(references));
    object.facts.gc_tracked = false;
    return object;
}

// A pair of Nodes that hold each other. One text hangs on the first; another hangs on the second, and on a
// Root that C code holds.
HandmadeHeap pair_of_nodes() {
    HandmadeHeap heap;
    heap.objects = {tracked(0x100, "Node", 1, {reference(0x200, ".other"), reference(0x300, ".text")}),
                    tracked(0x200, "Node", 1, {reference(0x100, ".parent"), reference(0x400, ".text")}),
                    untracked(0x300, "str", 1, {}), untracked(0x400, "str", 2, {}),
                    tracked(0x500, "Root", 2, {reference(0x400, ".text")})};
    return heap;
}

CollectorVerdict verdict(const HeapReader& heap, std::uint64_t address) {
    return replay_collector(heap).of[heap.snapshot().find(Address(address))];
}

/// An extension's object that no traverse reports: references of its kind are hidden.
HandmadeHeap array_of_itself() {
    HandmadeHeap heap;
    heap.objects = {untracked(0x100, "numpy.ndarray", 2,
                              {reference(0x100, "[0]", ReferenceKind::hidden),
                               reference(0x200, "[1]", ReferenceKind::hidden)}),
                    tracked(0x200, "list", 1, {reference(0x100, "[0]")})};
    return heap;
}

}  // namespace

TEST_CASE("collector: a pair that nothing holds is found, with what hangs on it alone",
          "[analysis][collector]") {
    const HandmadeReader heap = pair_of_nodes().build();
    const Collection collection = replay_collector(heap);
    CHECK(verdict(heap, 0x100) == CollectorVerdict::collectable);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::collectable);
    CHECK(verdict(heap, 0x300) == CollectorVerdict::dies);
    CHECK(verdict(heap, 0x400) == CollectorVerdict::not_known);
    CHECK(verdict(heap, 0x500) == CollectorVerdict::kept);
    CHECK(collection.collectable.count == 2);
    CHECK(collection.collectable.size == 80);
    CHECK(collection.freed_count == 3);
    CHECK(collection.freed_bytes == 3 * 48);
    CHECK(collection.certain);
}

TEST_CASE("gc: without lists, what is tracked is counted, immortal objects as well",
          "[analysis][collector][free-threaded]") {
    constexpr std::uint64_t memory = 0x10000, collector = memory + 0x800;
    HandmadeHeap made;
    made.layout = *builtin_layout({3, 13, true, false});
    std::string page(8192, '\0');
    const auto put = [&](std::uint64_t address, std::uint8_t bits) {
        page[address + *made.layout.object.ob_gc_bits - memory] = static_cast<char>(bits);
        made.objects.push_back(tracked(address, "list", 2, {}));
        return &made.objects.back().facts;
    };
    put(memory, gc_bit_tracked);
    put(memory + 0x100, gc_bit_tracked)->immortal = true;
    put(memory + 0x200, gc_bit_tracked | gc_bit_frozen);
    put(memory + 0x300, 0)->gc_tracked = false;
    made.core_bytes =
        CoreWriter().thread(100, 0).process(100, "python3", "python3 app.py").load(memory, page).bytes();
    made.interpreters.emplace_back();
    made.interpreters.back().gc = Address(collector);
    const HandmadeReader heap = made.build();
    const GcResult result = gc(heap, 10, false);
    REQUIRE(result.interpreters.size() == 1);
    REQUIRE(result.interpreters[0].state);
    CHECK(result.interpreters[0].state->generations[0].objects == 2);
    CHECK(result.interpreters[0].state->frozen.objects == 1);
}

TEST_CASE("collector: one count that no traverse explains keeps the whole of a cycle",
          "[analysis][collector]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[1].facts.refcount = 2;
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::kept);
    CHECK(replay_collector(heap).collectable.count == 0);
}

TEST_CASE("collector: references count as often as they are reported, hidden and weak ones do not",
          "[analysis][collector]") {
    HandmadeHeap made;
    made.objects = {
        tracked(0x100, "list", 3,
                {reference(0x100, "[0]"), reference(0x100, "[1]"), reference(0x100, "[2]")}),
        tracked(0x200, "list", 2, {reference(0x200, "[0]"), reference(0x200, "<>", ReferenceKind::hidden)}),
        tracked(0x300, "list", 1, {reference(0x300, "()", ReferenceKind::weak)}),
        tracked(0x400, "list", 1, {reference(0x400, "['x']", ReferenceKind::reported)})};
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::collectable);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::kept);
    CHECK(verdict(heap, 0x300) == CollectorVerdict::kept);
    CHECK(verdict(heap, 0x400) == CollectorVerdict::collectable);
}

TEST_CASE("collector: immortal objects are not looked at", "[analysis][collector]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[0].facts.immortal = true;
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::not_known);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::kept);
}

TEST_CASE("collector: what counts less than is reported wraps, and is kept with all it leads to",
          "[analysis][collector]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[0].references.push_back(reference(0x200, ".again"));
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::kept);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::kept);
    CHECK(replay_collector(heap).short_of_counts == std::vector{heap.snapshot().find(Address(0x200))});
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    REQUIRE(result.cycles.size() == 1);
    CHECK_THAT(result.reason(result.cycles[0]),
               ContainsSubstring("never: more references were found than it counts"));
}

TEST_CASE("collector: where a guess decides, it is doubtful and said to be", "[analysis][collector]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[0].references[0].kind = ReferenceKind::guess;
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::doubtful);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::doubtful);
    CHECK_FALSE(replay_collector(heap).certain);
}

TEST_CASE("gc and cycles: what rests on guesses is garbage for both, and both say on what it rests",
          "[analysis][collector]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[0].references[0].kind = ReferenceKind::guess;
    const HandmadeReader heap = made.build();
    const Collection collection = replay_collector(heap);
    CHECK(collection.doubtful.count == 2);
    CHECK(collection.freed_count == 3);  // with the text of the first
    CHECK(collection.found(heap.snapshot().find(Address(0x100))));
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    CHECK(result.waiting.cycles == 1);
    CHECK(result.waiting.objects == collection.doubtful.count);
    CHECK(result.guessed == 1);
    CHECK_FALSE(result.certain);
}

namespace {

/// A type in the memory of the small core, with all slots set.
HandmadeHeap with_slots_set(HandmadeHeap made) {
    TypeInfo type;
    type.name = "Handle";
    type.address = Address(0x10000);
    type.heap_type = true;
    type.has_gc = true;
    made.types = {type};
    made.objects[0].type = "Handle";
    return made;
}

}  // namespace

TEST_CASE("collector: what a legacy finalizer's object leads to is not freed either",
          "[analysis][collector]") {
    HandmadeHeap made = with_slots_set(pair_of_nodes());
    made.layout.type.tp_del = 8;
    const HandmadeReader heap = made.build();
    CHECK(verdict(heap, 0x100) == CollectorVerdict::uncollectable);
    CHECK(verdict(heap, 0x200) == CollectorVerdict::uncollectable);
    CHECK(replay_collector(heap).freed_count == 0);
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    REQUIRE(result.cycles.size() == 1);
    CHECK(result.cycles[0].state == ObjectState::uncollectable);
    CHECK(result.reason(result.cycles[0]) == "never: Handle has a legacy finalizer (tp_del)");
}

TEST_CASE("collector: a finalizer that has not run is marked, one that has is not", "[analysis][collector]") {
    HandmadeHeap made = with_slots_set(pair_of_nodes());
    made.layout.type.tp_finalize = 16;
    made.layout.type.tp_del = {};
    CHECK(replay_collector(made.build()).finalizers.size() == 1);
    made.objects[0].finalized = true;
    CHECK(replay_collector(made.build()).finalizers.empty());
}

TEST_CASE("collector: against subtraction done slowly, on random heaps", "[analysis][collector]") {
    std::mt19937 random(1976);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % 12);
        HandmadeHeap made;
        std::vector<std::vector<std::uint32_t>> targets(count);
        std::vector<std::int64_t> counts(count, 0);
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t e = static_cast<std::uint32_t>(random() % 3); e-- > 0;) {
                targets[i].push_back(static_cast<std::uint32_t>(random() % count));
                ++counts[targets[i].back()];
            }
        std::vector<bool> kept(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            kept[i] = random() % 6 == 0;
            std::vector<Reference> references;
            for (const std::uint32_t target : targets[i])
                references.push_back(reference(0x100 * (target + 1), ".x"));
            made.objects.push_back(tracked(0x100 * (i + 1), "Node", counts[i] + kept[i], references));
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::uint32_t i = 0; i < count; ++i)
                for (const std::uint32_t target : targets[i])
                    if (kept[i] && !kept[target]) kept[target] = changed = true;
        }
        const HandmadeReader heap = made.build();
        const Collection collection = replay_collector(heap);
        for (std::uint32_t i = 0; i < count; ++i)
            REQUIRE(collection.of[i] == (kept[i] ? CollectorVerdict::kept : CollectorVerdict::collectable));
    }
}

TEST_CASE("states: waiting, held, invisible", "[analysis][states]") {
    HandmadeHeap made = pair_of_nodes();
    const HandmadeHeap blind = array_of_itself();
    for (HandmadeObject object : blind.objects) {
        object.address = object.address + 0x1000;
        for (Reference& each : object.references) each.target = each.target + 0x1000;
        made.objects.push_back(object);
    }
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ObjectStates states = object_states(graph);
    const auto state = [&](std::uint64_t address) {
        return states.of(heap.snapshot().find(Address(address)));
    };
    CHECK(state(0x100) == ObjectState::waiting);
    CHECK(state(0x300) == ObjectState::waiting);
    CHECK(state(0x400) == ObjectState::held);
    CHECK(state(0x500) == ObjectState::held);
    CHECK(state(0x1100) == ObjectState::invisible);
    CHECK(state(0x1200) == ObjectState::invisible);
    CHECK(states.count(ObjectState::invisible) == 2);
}

TEST_CASE("cycles: equal ones are one kind, and say what closes them", "[analysis][cycles]") {
    HandmadeHeap made;
    for (const std::uint64_t base : {0x100, 0x300, 0x500}) {
        made.objects.push_back(tracked(base, "Node", 1, {reference(base + 0x80, ".other")}));
        made.objects.push_back(tracked(base + 0x80, "Node", 1, {reference(base, ".parent")}));
    }
    made.objects.push_back(tracked(0x900, "list", 1, {reference(0x900, "[0]")}));
    const HandmadeReader heap = made.build();
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    REQUIRE(result.cycles.size() == 4);
    REQUIRE(result.kinds.size() == 2);
    CHECK(result.kinds[0].cycles == 3);
    CHECK(result.kinds[0].objects == 6);
    CHECK(result.cycles[0].id == 1);
    CHECK(result.cycles[0].equal_to == 0);
    CHECK(result.cycles[2].equal_to == 1);
    const CyclePath path = cycle_path(work.graph(), result.members, result.cycles[0].component, 4);
    CHECK(path.length == 2);
    REQUIRE(path.steps.size() == 2);
    CHECK(notation(path.steps[0].name) == ".other");
    CHECK(notation(path.steps[1].name) == ".parent");
    const CycleDetails details =
        cycle_row(work, result, result.cycles[0], {.limit = 0, .opening = true}).details;
    CHECK(details.edge_count == 2);
    CHECK(details.opening_is_smallest);
    REQUIRE(details.opening.size() == 1);
    CHECK(details.opening[0].reference.name() == ".parent");
}

TEST_CASE("cycles: what is shown changes no number", "[analysis][cycles]") {
    HandmadeHeap made = array_of_itself();  // never freed
    made.objects.push_back(tracked(0x900, "list", 1, {reference(0x900, "[0]")}));
    made.objects.push_back(tracked(0xa00, "Node", 2, {reference(0xa00, ".me")}));
    for (std::uint64_t base = 0x1000; base < 0x1400; base += 0x100) {
        made.objects.push_back(tracked(base, "Node", 1, {reference(base + 0x80, ".other")}));
        made.objects.push_back(tracked(base + 0x80, "Node", 1, {reference(base, ".parent")}));
    }
    const HandmadeReader heap = made.build();
    Work work(heap);
    const auto ids = [&](const CyclesQuery& query) {
        const CyclesResult result = cycles(work, query);
        std::map<std::uint64_t, std::array<std::uint32_t, 2>> found;  // by the first member
        for (const Cycle& cycle : result.cycles)
            if (result.shown(cycle))
                found[heap.snapshot().address_of(result.members_of(cycle).front()).value] = {cycle.id,
                                                                                             cycle.equal_to};
        CHECK(found.size() == result.shown_count);
        for (const CycleKind& row : result.kinds) {
            CHECK(result.shown(result.cycles[row.example - 1]));
            CHECK(result.cycles[row.example - 1].equal_to == 0);
        }
        return found;
    };
    const auto garbage = ids({});
    CHECK(garbage.size() == 6);
    const auto waiting = ids({.unreachable = true, .uncollectable = false});
    const auto never = ids({.unreachable = false, .uncollectable = true});
    CHECK(never.size() == 1);
    CHECK(never.at(0x100)[0] > 1);
    const auto all = ids({.reachable = true});
    CHECK(all.size() == 7);
    CHECK(all.at(0xa00)[0] == 7);
    for (const auto* some : {&waiting, &never, &garbage})
        for (const auto& [address, id] : *some) CHECK(all.at(address) == id);
}

TEST_CASE("cycles: those that only a reference which was not found holds are counted, and are no garbage",
          "[analysis][cycles]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects[1].facts.refcount = 2;
    const HandmadeReader heap = made.build();
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    CHECK(result.cycles.empty());
    CHECK(result.held.cycles == 1);
    CHECK(result.held.objects == 2);
    CHECK(result.held.bytes == 2 * 48);
    CHECK(cycles(work, {.reachable = true}).held.cycles == 0);
}

TEST_CASE("cycles: two kinds with the same shortest way say how they differ", "[analysis][cycles]") {
    HandmadeHeap made = pair_of_nodes();
    made.objects.push_back(tracked(0x1100, "Node", 1, {reference(0x1200, ".other")}));
    made.objects.push_back(
        tracked(0x1200, "Node", 2, {reference(0x1100, ".parent"), reference(0x1300, ".error")}));
    made.objects.push_back(tracked(0x1300, "frame", 1, {reference(0x1200, ".f_locals['self']")}));
    made.objects.push_back(tracked(0x2100, "Node", 2, {reference(0x2200, ".other")}));
    made.objects.push_back(
        tracked(0x2200, "Node", 1, {reference(0x2100, ".parent"), reference(0x2100, ".owner")}));
    const HandmadeReader heap = made.build();
    Work work(heap);
    const CyclesResult result = cycles(work, {});
    const auto with = [&](std::uint64_t address) {
        for (const Cycle& cycle : result.cycles)
            for (const ObjectId member : result.members_of(cycle))
                if (heap.snapshot().address_of(member) == Address(address)) return cycle.component;
        return CycleMembers::none;
    };
    const auto unlike = [&](std::uint64_t one, std::uint64_t other) {
        return cycle_unlike(work.graph(), result.members, with(one), with(other));
    };
    REQUIRE(result.kinds.size() == 3);
    CHECK(unlike(0x1100, 0x100) == "with frame");
    CHECK(unlike(0x100, 0x1100) == "without frame");
    CHECK(unlike(0x2100, 0x100) == "also by .owner");
    CHECK(unlike(0x100, 0x2100) == "not by .owner");
}

namespace {

bool has_cycle(std::uint32_t members, const std::vector<MemberEdge>& edges, const std::vector<bool>& cut) {
    std::vector<std::vector<std::uint32_t>> reach(members);
    std::vector<bool> reached(std::size_t{members} * members);
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (!cut[i]) reached[edges[i].source * members + edges[i].target] = true;
    for (std::uint32_t k = 0; k < members; ++k)
        for (std::uint32_t i = 0; i < members; ++i)
            for (std::uint32_t j = 0; j < members; ++j)
                if (reached[i * members + k] && reached[k * members + j]) reached[i * members + j] = true;
    for (std::uint32_t i = 0; i < members; ++i)
        if (reached[i * members + i]) return true;
    return false;
}

}  // namespace

TEST_CASE("cycles: what opens one opens it, nothing can be left out, and no smaller set does it",
          "[analysis][cycles]") {
    std::mt19937 random(42);
    for (int round = 0; round < 400; ++round) {
        const bool small = round % 2 == 0;
        const std::uint32_t members = small ? 1 + static_cast<std::uint32_t>(random() % 5)
                                            : 13 + static_cast<std::uint32_t>(random() % 8);
        std::vector<MemberEdge> edges;
        for (std::uint32_t i = static_cast<std::uint32_t>(random() % (small ? 10 : 60)); i-- > 0;)
            edges.push_back({static_cast<std::uint32_t>(random() % members),
                             static_cast<std::uint32_t>(random() % members),
                             static_cast<std::uint8_t>(random() % 10)});
        const CycleOpening opening = open_cycle(members, edges);
        REQUIRE(opening.smallest == small);
        std::vector<bool> cut(edges.size());
        for (const std::size_t edge : opening.edges) cut[edge] = true;
        REQUIRE_FALSE(has_cycle(members, edges, cut));
        for (const std::size_t edge : opening.edges) {
            cut[edge] = false;
            REQUIRE(has_cycle(members, edges, cut));
            cut[edge] = true;
        }
        if (!small) continue;
        for (std::uint32_t set = 0; set < (1U << edges.size()); ++set) {
            std::vector<bool> other(edges.size());
            std::size_t size = 0;
            for (std::size_t i = 0; i < edges.size(); ++i) size += other[i] = set >> i & 1;
            if (size < opening.edges.size()) REQUIRE(has_cycle(members, edges, other));
        }
    }
}

TEST_CASE("cycles: a ring of a million is opened by one reference", "[analysis][cycles]") {
    constexpr std::uint32_t length = 1'000'000;
    std::vector<MemberEdge> ring;
    for (std::uint32_t i = 0; i < length; ++i)
        ring.push_back({i, (i + 1) % length, static_cast<std::uint8_t>(i == 500 ? 0 : 2)});
    const CycleOpening opening = open_cycle(length, ring);
    CHECK(opening.edges == std::vector<std::size_t>{500});
    CHECK_FALSE(opening.smallest);
}

TEST_CASE("refcounts: what is counted beyond the references found, and what is found beyond the count",
          "[analysis][refcounts]") {
    HandmadeHeap made;
    made.objects = {untracked(0x100, "Leaked", 2, {}), untracked(0x200, "Clean", 1, {}),
                    untracked(0x300, "Short", 1, {}),
                    tracked(0x400, "list", 0,
                            {reference(0x100, "[0]"), reference(0x200, "[1]"), reference(0x300, "[2]"),
                             reference(0x300, "[3]")}),
                    untracked(0x500, "Never", 7, {})};
    made.objects[4].facts.immortal = true;
    const HandmadeReader heap = made.build();
    const RefcountsResult result = refcounts(heap, {});
    REQUIRE(result.rows.size() == 1);
    CHECK(result.rows[0].object.type == "Leaked");
    CHECK(result.rows[0].accounted == 1);
    CHECK(result.rows[0].excess == 1);
    REQUIRE(result.deficits.size() == 1);
    CHECK(result.deficits[0].object.type == "Short");
    CHECK(result.deficits[0].excess == -1);
    CHECK(result.immortal == 1);
    CHECK(result.balanced == 2);
    const RefcountsResult of_one =
        refcounts(heap, {.types = heap.snapshot().types.named("Clean"), .limit = 0});
    CHECK(of_one.checked == 1);
    CHECK(of_one.rows.empty());
}
