// The first screen, and the doctor.

#include "analysis/overview.h"

#include "analysis/doctor.h"
#include "tests/analysis/handmade_arrays.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;
using Kind = OverviewHeadline::Kind;

namespace {

TypeRow row(const std::string& name, std::uint64_t memory, std::uint64_t array_data = 0) {
    TypeRow made;
    made.name = name;
    made.memory = memory;
    made.array_data = array_data;
    return made;
}

}  // namespace

TEST_CASE("headline: array data, and the type that owns it", "[analysis][overview]") {
    const auto headline = choose_headline({{"array data", 600}, {"Python objects", 300}}, 1000,
                                          {row("numpy.ndarray", 610, 600), row("dict", 200)});
    CHECK(headline.kind == Kind::array_data);
    CHECK(headline.bytes == 600);
    CHECK(headline.type->name == "numpy.ndarray");
    CHECK(headline.all_in_type);
}

TEST_CASE("headline: array data of several types", "[analysis][overview]") {
    const auto headline =
        choose_headline({{"array data", 600}}, 1000, {row("a", 400, 400), row("b", 200, 200)});
    CHECK(headline.type->name == "a");
    CHECK_FALSE(headline.all_in_type);
}

TEST_CASE("headline: one type of objects where arrays are less", "[analysis][overview]") {
    const auto headline = choose_headline({{"Python objects", 700}, {"array data", 100}}, 1000,
                                          {row("app.Job", 500), row("numpy.ndarray", 110, 100)});
    CHECK(headline.kind == Kind::objects);
    CHECK(headline.type->name == "app.Job");
    CHECK(headline.bytes == 500);
}

TEST_CASE("headline: memory that no type of object has", "[analysis][overview]") {
    const auto headline =
        choose_headline({{"C/C++ memory", 900}, {"Python objects", 100}}, 1000, {row("dict", 50)});
    CHECK(headline.kind == Kind::other_memory);
    CHECK(headline.region == "C/C++ memory");
    CHECK_FALSE(headline.type.has_value());
}

TEST_CASE("headline: nothing is known of an empty core", "[analysis][overview]") {
    CHECK(choose_headline({}, 0, {}).bytes == 0);
}

TEST_CASE("overview: memory largest first, types cut, totals of all", "[analysis][overview]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x100), "a", facts(10, 10), {}, {}},
                    {Address(0x200), "b", facts(20, 20), {}, {}}};
    heap.memory = {{"small", 96}, {"large", 3000}, {"reserved", 1000, MemoryUse::reserved}};
    const HandmadeReader built = heap.build();
    Work work(built);
    const OverviewResult result = overview(work, 1);
    CHECK(result.memory.front().name == "large");
    CHECK(result.memory.back().name == "reserved");
    CHECK(result.mapped_bytes == 4096);
    CHECK(result.in_use_bytes == 3096);
    CHECK(result.reserved_bytes == 1000);
    REQUIRE(result.types.types.size() == 1);
    CHECK(result.types.types[0].name == "b");
    CHECK(result.types.total_types == 2);
}

TEST_CASE("doctor: objects by how they were found, guessed types with the most objects first",
          "[analysis][doctor]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x100), "a", facts(10, 10), {}, {}},
                    {Address(0x200), "b", facts(20, 20), {}, {}, FoundBy::malloc},
                    {Address(0x300), "c", facts(20, 20), {}, {}},
                    {Address(0x400), "c", facts(20, 20), {}, {}}};
    for (std::size_t i = 1; i < 4; ++i) heap.objects[i].facts.references_exact = false;
    const DoctorResult result = doctor(heap.build());
    CHECK(result.references_written == 1);
    CHECK(result.references_guessed == 3);
    REQUIRE(result.guessed.size() == 2);
    CHECK(result.guessed[0].name == "c");
    CHECK(result.guessed[0].objects == 2);
    CHECK(result.guessed[0].memory == 40);
    REQUIRE(result.found_by.size() == 2);
    CHECK(result.found_by[0].second == 3);
    CHECK(result.segments.in_core == 4096);
    CHECK_FALSE(result.cannot_tell.empty());
}

TEST_CASE("doctor: missing files are named once, in order", "[analysis][doctor]") {
    std::vector<Module> modules(5);
    const std::vector<std::pair<const char*, ModuleFileState>> files = {
        {"/lib/b.so", ModuleFileState::missing},
        {"/lib/a.so", ModuleFileState::mismatch},
        {"/lib/b.so", ModuleFileState::missing},
        {"/lib/c.so", ModuleFileState::found},
        {"[vdso]", ModuleFileState::not_needed}};
    for (std::size_t i = 0; i < files.size(); ++i) {
        modules[i].path = files[i].first;
        modules[i].file_state = files[i].second;
    }
    CHECK(missing_files(modules) == std::vector<std::string>{"/lib/a.so", "/lib/b.so"});
}

TEST_CASE("overview: slices that pin most of the memory are the headline, with who holds them",
          "[analysis][overview]") {
    using handmade_arrays::data_start;
    ArrayHeap made;
    const std::uint64_t whole = made.array(data_start, {8000}, {8});
    const std::uint64_t slice = made.array(data_start, {10}, {8}, whole);
    made.object("app.Cache", {{".head", slice}});
    const HandmadeReader heap = made.build();
    Work work(heap);
    const OverviewResult result = overview(work, 5);
    CHECK(result.pinned_owners == 1);
    CHECK(result.pinned_bytes == 7990 * 8);
    REQUIRE(result.pinned);
    CHECK(result.pinned->holder == "app.Cache");
    CHECK(result.pinned->attribute == "head");
    CHECK(result.headline.kind == OverviewHeadline::Kind::pinned);
    CHECK(result.headline.bytes == 7990 * 8);
}

TEST_CASE("overview: a slice that pins little is no headline", "[analysis][overview]") {
    using handmade_arrays::data_start;
    ArrayHeap made;
    const std::uint64_t whole = made.array(data_start, {20}, {8});
    made.list({made.array(data_start, {10}, {8}, whole)});
    const HandmadeReader heap = made.build();
    Work work(heap);
    const OverviewResult result = overview(work, 5);
    CHECK(result.pinned_bytes == 80);
    CHECK_FALSE(result.pinned);
    CHECK(result.headline.kind != OverviewHeadline::Kind::pinned);
}
