// One object, with its references in both directions.

#include "analysis/show.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

Reference refused(Reference guess) {
    guess.followed = false;
    return guess;
}

// A list holds a Node twice; a dict holds the list and a static type; a weak reference, an accepted guess and
// a rejected one point at the Node too.
HandmadeHeap list_of_node() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(0x100),
         "app.Node",
         facts(48, 64, 0, 3),
         {},
         {reference(0x600, ".left"), reference(0x999, ".lost")}},
        {Address(0x200),
         "list",
         facts(72, 80),
         {ShortValue::Kind::summary, "list of 2", 0},
         {reference(0x100, "[0]"), reference(0x100, "[1]")}},
        {Address(0x300),
         "weakref.ReferenceType",
         facts(72, 80),
         {},
         {reference(0x100, "()", ReferenceKind::weak)}},
        {Address(0x400),
         "c.Thing",
         facts(72, 80),
         {},
         {reference(0x100, "<+24>", ReferenceKind::guess),
          refused(reference(0x100, "<+32>", ReferenceKind::guess))}},
        {Address(0x500), "dict", facts(72, 80), {}, {reference(0x200, "['x']"), reference(0x10, "['m']")}},
        {Address(0x600), "NoneType", facts(16, 0), {ShortValue::Kind::name, "None", 0}, {}},
        {Address(0x10), "type", facts(400, 0), {}, {}},
    };
    TypeInfo made_by_c;
    made_by_c.name = "c.Static";
    made_by_c.address = Address(0x10);
    heap.types = {made_by_c};
    return heap;
}

ShowResult shown(const HeapReader& heap, Address address, std::size_t limit) {
    return show(heap, heap.snapshot().find(address), limit);
}

}  // namespace

TEST_CASE(
    "show: references found are counted with multiplicity, weak ones and guesses that were refused are not",
    "[analysis][show]") {
    const HandmadeReader heap = list_of_node().build();
    const ShowResult result = shown(heap, Address(0x100), 0);
    CHECK(result.referrers.owned == 3);
    CHECK(result.referrers.total == 5);
    CHECK(result.referrers.guesses);
    REQUIRE(result.referrers.edges.size() == 5);
    CHECK(result.referrers.edges[0].source.type == "list");
    CHECK(result.referrers.edges[0].reference.name() == "[0]");
    CHECK(result.referrers.edges[0].followed);
    CHECK(result.referrers.edges[2].reference.name() == "<+24>");
    CHECK(result.referrers.edges[2].followed);
    CHECK(result.referrers.edges[3].reference.kind == ReferenceKind::weak);
    CHECK_FALSE(result.referrers.edges[3].followed);
    CHECK_FALSE(result.referrers.edges[4].followed);
}

TEST_CASE("show: a referent that is no object keeps its address", "[analysis][show]") {
    const HandmadeReader heap = list_of_node().build();
    const ShowResult result = shown(heap, Address(0x100), 0);
    REQUIRE(result.referents.edges.size() == 2);
    CHECK(result.referents.edges[0].target.type == "NoneType");
    CHECK(result.referents.edges[1].target.address == Address(0x999));
    CHECK(result.referents.edges[1].target.type.empty());
    CHECK_FALSE(result.referents.edges[1].followed);
}

TEST_CASE("show: a limit cuts the lists, not the counts", "[analysis][show]") {
    const HandmadeReader heap = list_of_node().build();
    const ShowResult result = shown(heap, Address(0x100), 1);
    CHECK(result.referents.edges.size() == 1);
    CHECK(result.referents.total == 2);
    CHECK(result.referrers.edges.size() == 1);
    CHECK(result.referrers.total == 5);
    CHECK(result.referrers.owned == 3);
}

TEST_CASE("show: what it retains and what holds it are added where they are asked for", "[analysis][show]") {
    const HandmadeReader heap = list_of_node().build();
    ShowResult result = shown(heap, Address(0x200), 0);
    CHECK_FALSE(result.holder_computed);
    CHECK_FALSE(result.object.retained);
    CHECK_FALSE(result.object.state);
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    add_holder(result, RetainedLookup(graph, sizes), object_states(graph));
    CHECK(result.holder_computed);
    CHECK(result.object.retained == 80);  // the Node has another holder
    CHECK(result.retained_size == 72);
    CHECK(result.object.state.has_value());
    REQUIRE(result.dominator);
    CHECK(result.dominator->address == Address(0x500));
    CHECK(result.dominator->retained == 160);
}

TEST_CASE("show: a reference to a static type is shown and not followed", "[analysis][show]") {
    const HandmadeReader heap = list_of_node().build();
    const ShowResult result = shown(heap, Address(0x500), 0);
    CHECK(result.referents.edges[0].followed);
    CHECK_FALSE(result.referents.edges[1].followed);
}
