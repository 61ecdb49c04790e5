// Objects by type and line: each belongs to the traced block that holds it.

#include "analysis/type_lines.h"

#include "analysis/native_lines.h"
#include "analysis/traced_lines.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeHeap four_objects() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(0x8010), "app.Node", facts(48, 164), {}, {}},  // its block begins 16 bytes before
        {Address(0x8100), "app.Node", facts(50, 64), {}, {}},
        {Address(0x8200), "dict", facts(64, 80), {}, {}},
        {Address(0x9000), "app.Node", facts(50, 64), {}, {}}};  // not traced
    return heap;
}

/// The first Node at a.py:1, the other and the dict at a.py:2.
TracedMemory blocks_of_four() {
    TracedMemory traced{.tracing = true};
    traced.files = {"a.py"};
    traced.frames = {{0, 1}, {0, 2}, {0, 2}};
    traced.first_frames = {0, 1, 2, 3};
    traced.depths = {1, 1, 9};
    traced.blocks = {{Address(0x8200), 64, 2, 0},
                     {Address(0x8000), 64, 0, 0},
                     {Address(0x8100), 50, 1, 0},
                     {Address(0x9000), 64, 1, 389047},  // another domain's blocks are no objects
                     {Address(0x8f00), 0x100, 1, 0}};   // ends where the last object begins
    return traced;
}

}  // namespace

TEST_CASE("type lines: an object belongs to the line of its block", "[analysis][lines]") {
    const HandmadeReader heap = four_objects().build();
    const TypeLinesResult result = type_lines(heap, blocks_of_four(), {}, SortKey::memory, 0);
    CHECK(result.tracing);
    REQUIRE(result.rows.size() == 3);
    CHECK(result.rows[0].type == "app.Node");
    CHECK(result.rows[0].line.line == 1);
    CHECK(result.rows[0].memory == 164);
    CHECK(result.rows[0].size == 48);
    CHECK(result.rows[0].largest == Address(0x8010));
    CHECK(result.rows[1].type == "dict");
    CHECK(result.rows[2].line.line == 2);
    CHECK(result.total_count == 3);
    CHECK(result.total_memory == 164 + 64 + 80);
    CHECK(result.untraced_count == 1);
    CHECK(result.untraced_memory == 64);
}

TEST_CASE("type lines: of one type, sorted and cut", "[analysis][lines]") {
    const HandmadeReader heap = four_objects().build();
    const TypeId dict = heap.snapshot().type_of(heap.snapshot().find(Address(0x8200)));
    const TypeLinesResult one = type_lines(heap, blocks_of_four(), {dict}, SortKey::count, 0);
    REQUIRE(one.rows.size() == 1);
    CHECK(one.rows[0].type == "dict");
    CHECK(one.untraced_count == 0);
    for (const auto& [sort, type] :
         {std::pair(SortKey::name, "app.Node"), std::pair(SortKey::size, "dict")}) {
        const TypeLinesResult first = type_lines(heap, blocks_of_four(), {}, sort, 1);
        REQUIRE(first.rows.size() == 1);
        CHECK(first.rows[0].type == type);
        CHECK(first.total_rows == 3);
        CHECK(first.shown_memory < first.total_memory);
    }
}

TEST_CASE("type lines: without tracing all objects are untraced", "[analysis][lines]") {
    const HandmadeReader heap = four_objects().build();
    const TypeLinesResult result = type_lines(heap, TracedMemory(), {}, SortKey::memory, 0);
    CHECK_FALSE(result.tracing);
    CHECK(result.rows.empty());
    CHECK(result.untraced_count == 4);
}

TEST_CASE("source lines: a block of a heap that traced nothing has none", "[analysis][lines]") {
    const HandmadeReader heap = four_objects().build();
    CHECK(allocated_at(heap, Address(0x8000)).empty());
    CHECK_FALSE(traced_memory(heap.core(), heap.python_heap()).tracing);
    CHECK(allocated_at(heap, heap.snapshot().find(Address(0x8010))).empty());
    const std::vector<SourceLine> calls = source_lines(blocks_of_four(), 0, 7);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].file == "a.py");
}

TEST_CASE("traced lines: of single addresses", "[analysis][lines]") {
    TracedMemory blocks = blocks_of_four();
    const Address first = blocks.blocks.front().start;
    const std::uint64_t size = blocks.blocks.front().size;
    blocks.blocks.push_back({Address(0x20000), 64, 0, 389047});  // of another domain
    const TracedLines lines(std::move(blocks));
    CHECK(lines.tracing());
    REQUIRE(lines.line_at(first));
    CHECK(lines.line_at(first)->file == "a.py");
    CHECK(lines.line_at(first + (size - 1))->line == lines.line_at(first)->line);
    CHECK_FALSE(lines.line_at(first - 1));
    CHECK_FALSE(lines.line_at(Address(0x20010)));
    CHECK(lines.line_in({first - 16, first + 1}));
    CHECK_FALSE(lines.line_in({first - 16, first}));
    CHECK_FALSE(TracedLines(TracedMemory()).tracing());
}

TEST_CASE("native lines: only blocks that begin inside C code's stay", "[analysis][lines]") {
    HandmadeHeap made = four_objects();
    NativeBlockRow two;  // at 0x8100 and 0x9100
    two.size = 64;
    two.count = 2;
    two.example = Address(0x8100);
    made.native = {two};
    const HandmadeReader heap = made.build();
    TracedMemory traced = blocks_of_four();
    traced.blocks.push_back({Address(0x9110), 32, 0, 0});  // behind what PYTHONMALLOC=debug puts before it
    traced.blocks.push_back({Address(0x9140), 32, 0, 0});
    traced.unread = 3;
    keep_native_blocks(heap, traced);
    REQUIRE(traced.blocks.size() == 2);
    CHECK(traced.blocks[0].start == Address(0x8100));
    CHECK(traced.blocks[1].start == Address(0x9110));
    CHECK(traced.bytes == 82);
    CHECK(traced.unread == 0);
}
