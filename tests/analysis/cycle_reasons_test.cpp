// Why garbage is still there: each reason is given for the collector whose lists hold it, and only if it is
// true.

#include "analysis/cycle_reasons.h"

#include "analysis/cycles.h"
#include "analysis/overview.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t memory_start = 0x10000;

/// Two interpreters, each with an enabled collector that has counted 5 of 701 allocations, and nodes that
/// refer to themselves.
struct TwoCollectors {
    TwoCollectors() {
        heap.layout = *builtin_layout({3, 11, false, false});
        for (std::uint64_t i = 0; i < 2; ++i) {
            PythonInterpreter interpreter;
            interpreter.id = static_cast<std::int64_t>(i);
            interpreter.gc = Address(collector(i));
            heap.interpreters.push_back(interpreter);
            set_enabled(i, 1);
            for (std::uint64_t generation = 0; generation < 4; ++generation) list(i, generation, {});
            set_young(i, 700, 5);
        }
    }
    static std::uint64_t collector(std::uint64_t interpreter) { return memory_start + 0x400 * interpreter; }
    static std::uint64_t node(std::uint64_t number) { return memory_start + 0x1000 + 0x100 * number; }

    void set_enabled(std::uint64_t interpreter, std::int32_t enabled) {
        put(collector(interpreter) + *heap.layout.gc_state.enabled, enabled);
    }
    void set_young(std::uint64_t interpreter, std::int32_t threshold, std::int32_t count) {
        set_generation(interpreter, 0, threshold, count);
    }
    void set_generation(std::uint64_t interpreter, std::uint64_t generation, std::int32_t threshold,
                        std::int32_t count) {
        put(head(interpreter, generation) + *heap.layout.gc_generation.threshold, threshold);
        put(head(interpreter, generation) + *heap.layout.gc_generation.count, count);
    }
    void set_long_lived(std::uint64_t interpreter, std::int64_t total, std::int64_t pending) {
        put(collector(interpreter) + *heap.layout.gc_state.long_lived_total, total);
        put(collector(interpreter) + *heap.layout.gc_state.long_lived_pending, pending);
    }
    void set_collecting(std::uint64_t interpreter, std::int32_t collecting) {
        put(collector(interpreter) + *heap.layout.gc_state.collecting, collecting);
    }
    void set_debug(std::uint64_t interpreter, std::int32_t flags) {
        put(collector(interpreter) + *heap.layout.gc_state.debug, flags);
    }
    /// Makes the nodes. Generation 3 is the frozen one.
    void list(std::uint64_t interpreter, std::uint64_t generation,
              const std::vector<std::uint64_t>& numbers) {
        const std::uint64_t first = head(interpreter, generation);
        std::uint64_t previous = first;
        for (const std::uint64_t number : numbers) {
            HandmadeObject object{
                Address(node(number)), "Node", facts(40, 48), {}, {reference(node(number), ".me")}};
            object.facts.gc_tracked = true;
            heap.objects.push_back(object);
            put(previous, node(number) - 16);
            put(node(number) - 8, previous);
            previous = node(number) - 16;
        }
        put(previous, first);
        put(first + 8, previous);
    }
    /// A list with these in it, as gc.garbage.
    void garbage_list(std::uint64_t interpreter, const std::vector<std::uint64_t>& numbers) {
        HandmadeObject object{Address(node(40 + interpreter)), "list", facts(56, 64), {}, {}};
        for (const std::uint64_t number : numbers)
            object.references.push_back(reference(node(number), "[0]"));
        for (HandmadeObject& each : heap.objects)
            for (const std::uint64_t number : numbers)
                each.facts.refcount += each.address == Address(node(number));
        heap.objects.push_back(object);
        heap.natives.push_back(reference(node(40 + interpreter), "<interpreter>"));
        put(collector(interpreter) + *heap.layout.gc_state.garbage, node(40 + interpreter));
    }
    HandmadeReader build() {
        heap.core_bytes =
            CoreWriter().thread(100, 0).process(100, "python3", "python3").load(memory_start, bytes).bytes();
        return heap.build();
    }
    std::string reason(std::uint64_t number) {
        const HandmadeReader built = build();
        const HeapGraph graph(built);
        const ObjectStates states = object_states(graph);
        const HeapSnapshot& columns = built.snapshot();
        const ObjectId object = columns.find(Address(node(number)));
        const CycleReasons reasons = cycle_reasons(built);
        return reason_words(columns, reasons, reason_of(columns, states, reasons, {&object, 1}));
    }
    std::string most_common() {
        const HandmadeReader built = build();
        const HeapGraph graph(built);
        const ObjectStates states = object_states(graph);
        return most_common_reason(built, states, cycle_reasons(built), [](ObjectId) { return true; });
    }

    HandmadeHeap heap;

private:
    template <class T>
    void put(std::uint64_t at, T value) {
        put_at(bytes, at - memory_start, value);
    }
    std::uint64_t head(std::uint64_t interpreter, std::uint64_t generation) const {
        return collector(interpreter) +
               (generation == 3 ? *heap.layout.gc_state.permanent_generation
                                : *heap.layout.gc_state.generations +
                                      generation * std::uint64_t{*heap.layout.gc_generation.size});
    }
    std::string bytes = std::string(0x4000, '\0');
};

constexpr const char* young = "young: 5 of the 701 allocations that start a collection (interpreter 0)";

}  // namespace

TEST_CASE("reasons: each interpreter's garbage waits for its own collector", "[analysis][cycles]") {
    TwoCollectors made;
    made.set_enabled(0, 0);
    made.list(0, 0, {0, 1});
    made.list(1, 0, {2});
    CHECK(made.reason(0) == "the collector is disabled (interpreter 0)");
    CHECK(made.reason(2) == "young: 5 of the 701 allocations that start a collection (interpreter 1)");
    const HandmadeReader built = made.build();
    Work work(built);
    CHECK(cycles(work, {}).kinds.size() == 2);
}

TEST_CASE("reasons: garbage is frozen only where it is frozen itself", "[analysis][cycles][overview]") {
    TwoCollectors made;
    made.list(0, 3, {0});
    made.list(0, 0, {1, 2});
    made.heap.objects[0].facts.refcount = 2;  // in use, as what Python 3.12 freezes when it starts
    CHECK(made.reason(1) == young);
    CHECK(made.most_common() == young);
    made.list(1, 3, {3, 4, 5, 6});
    CHECK(made.reason(3).starts_with("frozen: gc.freeze()"));
    CHECK(made.most_common().starts_with("frozen: gc.freeze()"));
}

TEST_CASE("reasons: DEBUG_SAVEALL explains what gc.garbage holds, and nothing else",
          "[analysis][cycles][overview]") {
    TwoCollectors made;
    made.set_debug(0, gc_debug_saveall);
    made.list(0, 2, {0, 1});
    made.list(0, 0, {2});
    made.garbage_list(0, {0, 1});
    CHECK(made.reason(0) == "in gc.garbage: DEBUG_SAVEALL is set, and the collector keeps what it finds");
    CHECK(made.reason(2) == young);
    const HandmadeReader built = made.build();
    Work work(built);
    const OverviewResult result = overview(work, 5);
    CHECK(result.garbage_remark ==
          (result.garbage_memory > 0 && result.garbage_memory >= result.in_use_bytes / 100 ? young : ""));
    made.set_debug(0, 0);
    CHECK(made.reason(0) == "in gc.garbage: the collector found it and did not free it");
}

TEST_CASE("reasons: a threshold below 0 does not stop the collector, 0 does", "[analysis][cycles]") {
    TwoCollectors made;
    made.list(0, 0, {0});
    made.set_young(0, -1, 3);
    CHECK(made.reason(0) == "young: a collection is due (interpreter 0)");
    made.set_young(0, 0, 3);
    CHECK(made.reason(0) == "the collector never starts: its first threshold is 0 (interpreter 0)");
    made.heap.interpreters.pop_back();
    CHECK(made.reason(0) == "the collector never starts: its first threshold is 0");
    made.set_young(0, 700, 5);
    CHECK(made.reason(0) == "young: 5 of the 701 allocations that start a collection");
}

TEST_CASE("reasons: what has survived waits for a collection of its generation", "[analysis][cycles]") {
    TwoCollectors made;
    made.heap.interpreters.pop_back();
    made.list(0, 1, {0});
    made.list(0, 2, {1});
    made.set_generation(0, 1, 10, 4);
    made.set_generation(0, 2, 10, 7);
    CHECK(made.reason(0) == "middle-aged: 4 of the 11 young collections that start one of its generation");
    CHECK(made.reason(1) == "old: 7 of the 11 collections that start a full one");
    made.set_generation(0, 1, 10, 11);
    made.set_generation(0, 2, 10, 11);
    CHECK(made.reason(0) == "middle-aged: one of its generation is due");
    CHECK(made.reason(1) == "old: a full one is due");
    made.set_long_lived(0, 40000, 3000);  // a quarter must be new
    CHECK(made.reason(1) == "old: a full collection waits for 10000 new objects, and 3000 have come");
    made.set_long_lived(0, 40000, 10000);
    CHECK(made.reason(1) == "old: a full one is due");
    made.set_collecting(0, 1);
    CHECK(made.reason(1) == "a collection was under way");
}

TEST_CASE("reasons: what no list has hangs on other garbage, and is not asked for the most common reason",
          "[analysis][cycles][overview]") {
    TwoCollectors made;
    made.list(0, 0, {0});
    made.heap.objects[0].references.push_back(reference(TwoCollectors::node(9), ".text"));
    made.heap.objects.push_back({Address(TwoCollectors::node(9)), "str", facts(1000, 1008), {}, {}});
    CHECK(made.reason(9) == "other garbage holds it, and waits for the collector");
    CHECK(made.most_common() == young);
}
