// The types that make up most of a heap: part of what distinguishes causes where there is no suspect.

#include "analysis/dominant_types.h"

#include "analysis/overview.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

TypeRow type(const std::string& name, std::uint64_t memory) {
    TypeRow row;
    row.name = name;
    row.memory = memory;
    return row;
}

}  // namespace

TEST_CASE("dominant types: those with a quarter of the memory, those of one name together", "[types]") {
    using Names = std::vector<std::string>;
    CHECK(dominant_types({type("dict", 50), type("app.Node", 30), type("str", 20)}, 100) ==
          Names{"app.Node", "dict"});
    CHECK(dominant_types({type("str", 24), type("app.Row", 13), type("app.Row", 13)}, 100) ==
          Names{"app.Row"});
    CHECK(dominant_types({type("b", 20), type("a", 20), type("c", 10)}, 1000) == Names{"a"});
    CHECK(dominant_types({}, 0).empty());
}

TEST_CASE("dominant types: a shorter table of types does not change them", "[types]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "dict", facts(64, 640), {}, {}},
                    {Address(0x10200), "str", facts(64, 600), {}, {}}};
    heap.memory = {{"Python objects", 1240}};
    const HandmadeReader reader = heap.build();
    Work work(reader);
    CHECK(overview(work, 1).dominant_types == std::vector<std::string>{"dict", "str"});
    CHECK(overview(work, 1).dominant_types == overview(work, 0).dominant_types);
}
