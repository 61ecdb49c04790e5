// What is torn or overwritten in a heap is reported and counted, costs no more than itself, and never makes a
// number absurd.

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/reference_graph.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Opened {
    /// `cut`: so many bytes are missing at the core's end.
    explicit Opened(SmallCore& core, std::size_t cut = 0)
        : reader(CoreHeap::open(
              CoreFile::open(directory.write("core", without_end(core.bytes(), cut)), {}, diagnostics),
              all_columns, diagnostics)) {}

    static std::string without_end(std::string bytes, std::size_t cut) {
        bytes.resize(bytes.size() - cut);
        return bytes;
    }

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreHeap reader;

    ObjectFacts facts(Address address) const { return reader.facts(reader.snapshot().find(address)); }
    bool told(const std::string& code) const {
        const auto& all = diagnostics.all();
        return std::any_of(all.begin(), all.end(), [&](const Diagnostic& d) { return d.code == code; });
    }
};

}  // namespace

TEST_CASE("damage: a good heap has none", "[snapshot][damaged]") {
    SmallCore core;
    const Opened opened(core);
    CHECK(opened.diagnostics.complete());
    for (ObjectId id{0}; id < opened.reader.snapshot().object_count(); ++id) {
        INFO(opened.reader.snapshot().type_info(id).name << " at " << std::hex
                                                         << opened.reader.snapshot().address_of(id).value);
        CHECK_FALSE(opened.reader.facts(id).damaged);
    }
}

TEST_CASE("damage: a list that claims more than its block has the bytes that are there",
          "[snapshot][damaged]") {
    SmallCore core;
    const auto claim = GENERATE(std::int64_t{4}, std::int64_t{1} << 20, std::int64_t{1} << 40,
                                std::int64_t{1} << 61, std::int64_t{-2});
    core.heap.set(core.items, core.heap.layout().list.allocated, claim);
    const Opened opened(core);
    const ObjectFacts facts = opened.facts(core.items);
    CHECK(facts.damaged);
    CHECK(facts.memory <= 56 + 24);
    CHECK(facts.size <= 56 + 24 + 16);
}

TEST_CASE("damage: a reference to what is no object is counted, and the first one can be looked at",
          "[snapshot][damaged]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    const Address items = core.heap.heap().pointer(core.items + *l.list.ob_item);
    core.heap.put(items + 8, core.text + 8);
    core.heap.put(core.module + *l.module.md_dict, core.number + 8);
    const Opened opened(core);
    const ReferenceGraph& references = *opened.reader.snapshot().references;
    CHECK(references.dangling() == 2);
    REQUIRE(references.first_dangling());
    const ObjectId first =
        std::min(opened.reader.snapshot().find(core.items), opened.reader.snapshot().find(core.module));
    CHECK(references.first_dangling()->source == first);
    CHECK(references.first_dangling()->target ==
          (first == opened.reader.snapshot().find(core.items) ? core.text : core.number) + 8);
}

TEST_CASE("damage: in a core that is cut, what nothing proves any more is not called overwritten",
          "[snapshot][damaged]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    const Address items = core.heap.heap().pointer(core.items + *l.list.ob_item);
    const Address late = core.heap.map(Address(0x7e0000000000), 4096);  // the last in the core
    SECTION("an object that would be found in a whole core") {
        core.heap.put(items + 8, core.text + 8);
        CHECK(Opened(core).reader.snapshot().references->dangling() == 1);
        CHECK(Opened(core, 100).reader.snapshot().references->dangling() == 0);
    }
    SECTION("what can be none") {
        core.heap.put(items, core.text + 4);
        core.heap.put(items + 8, late + 8192);
        CHECK(Opened(core).reader.snapshot().references->dangling() == 2);
        CHECK(Opened(core, 100).reader.snapshot().references->dangling() == 2);
    }
}

TEST_CASE("damage: a count of entries, of items or of references that cannot be is damage",
          "[snapshot][damaged]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    core.heap.set(core.module_dict, l.dict.ma_used, std::uint64_t{1} << 50);
    core.heap.put(core.items, std::int64_t{-3});
    const Opened opened(core);
    CHECK(opened.facts(core.module_dict).damaged);
    CHECK(opened.facts(core.items).damaged);
    CHECK_FALSE(opened.facts(core.text).damaged);
}

TEST_CASE("damage: a torn link of the collector's list costs one object", "[snapshot][damaged]") {
    SmallCore core;
    const std::uint64_t header = *core.heap.layout().gc_head.size;
    core.heap.put(core.items - header, std::uint64_t{0x123456789000});
    const Opened opened(core);
    CHECK(opened.told("collector-lists-broken"));
    CHECK_FALSE(opened.diagnostics.complete());
    for (const Address address : {core.items, core.module_dict, core.type, core.instance})
        CHECK(opened.reader.snapshot().find(address) != no_object);
}

TEST_CASE("damage: an object of the collector's whose type does not read is counted", "[snapshot][damaged]") {
    SmallCore core;
    core.heap.put(core.items + 8, std::uint64_t{0x123456789000});
    const Opened opened(core);
    CHECK(opened.told("types-unreadable"));
    CHECK(opened.reader.snapshot().find(core.items) == no_object);
    CHECK(opened.reader.snapshot().find(core.module_dict) != no_object);
}

TEST_CASE("damage: a runtime that says it is free-threaded is read as what its objects are",
          "[snapshot][damaged]") {
    SmallCore core;
    core.heap.put(core.runtime + 16, std::uint64_t{1});  // _Py_DebugOffsets.free_threaded
    const Opened opened(core);
    CHECK_FALSE(opened.reader.python_heap().runtime().free_threaded);
    CHECK(opened.told("free-threading-contradicted"));
    for (const Address object : {core.items, core.text, core.kept_float, core.instance})
        CHECK(opened.reader.snapshot().find(object) != no_object);
}
