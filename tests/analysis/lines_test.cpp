// Traced blocks, grouped by the calls that allocated them.

#include "analysis/lines.h"

#include "tests/catch.h"

using namespace heapsift;

namespace {

/// app.py:1 from run.py:9, app.py:1 from run.py:8, lib.py:5: 10 and 20 bytes, 30 bytes, 100 bytes; one of NumPy's.
TracedMemory few_blocks() {
    TracedMemory traced{.tracing = true};
    traced.files = {"run.py", "app.py", "lib.py"};
    traced.frames = {{1, 1}, {0, 9}, {1, 1}, {0, 8}, {2, 5}};
    traced.first_frames = {0, 2, 4, 5};
    traced.depths = {2, 2, 1};
    traced.blocks = {{Address(0x100), 10, 0, 0},
                     {Address(0x200), 20, 0, 0},
                     {Address(0x300), 30, 1, 0},
                     {Address(0x400), 100, 2, 0},
                     {Address(0x500), 7, 2, 389047}};
    traced.bytes = 167;
    return traced;
}

}  // namespace

TEST_CASE("lines: blocks are added up by their most recent call, largest first", "[analysis][lines]") {
    const LinesResult result = lines(few_blocks(), {});
    REQUIRE(result.lines.size() == 2);
    CHECK(result.lines[0].line().file == "lib.py");
    CHECK(result.lines[0].line().line == 5);
    CHECK(result.lines[0].size == 107);
    CHECK(result.lines[0].count == 2);
    CHECK(result.lines[0].largest == Address(0x400));
    CHECK(result.lines[1].line().file == "app.py");
    CHECK(result.lines[1].size == 60);
    CHECK(result.lines[1].count == 3);
    CHECK(result.lines[1].average() == 20);
    CHECK(result.total_lines == 2);
    CHECK(result.total_count == 5);
    CHECK(result.total_size == 167);
    REQUIRE(result.domains.size() == 2);
    CHECK(result.domains[1].domain == 389047);
    CHECK(result.domains[1].size == 7);
}

TEST_CASE("lines: by traceback, callers part what one line allocated; the most recent call is the last",
          "[analysis][lines]") {
    const LinesResult result = lines(few_blocks(), {.frames = 5});
    REQUIRE(result.lines.size() == 3);
    CHECK(result.lines[1].size == 30);
    REQUIRE(result.lines[1].traceback.size() == 2);
    // Equal sizes: the larger count comes first.
    CHECK(result.lines[1].count == 2);
    CHECK(result.lines[1].traceback[0].line == 9);
    CHECK(result.lines[1].line().line == 1);
    CHECK(result.lines[2].traceback[0].line == 8);
}

TEST_CASE("lines: by domain, and of one domain", "[analysis][lines]") {
    const LinesResult apart = lines(few_blocks(), {.by_domain = true});
    REQUIRE(apart.lines.size() == 3);
    CHECK(apart.lines[0].size == 100);
    CHECK(apart.lines[0].domain == 0);
    CHECK(apart.lines[2].domain == 389047);
    const LinesResult one = lines(few_blocks(), {.domain = 389047});
    REQUIRE(one.lines.size() == 1);
    CHECK(one.lines[0].size == 7);
    CHECK_FALSE(one.lines[0].domain);
    CHECK(lines(few_blocks(), {.domain = 3}).lines.empty());
}

TEST_CASE("lines: sorted by what is asked for, and cut", "[analysis][lines]") {
    LinesQuery query{.sort = LineSort::count, .limit = 1};
    CHECK(lines(few_blocks(), query).lines.at(0).line().file == "app.py");
    CHECK(lines(few_blocks(), query).shown_size == 60);
    CHECK(lines(few_blocks(), query).total_size == 167);
    query.sort = LineSort::average;
    CHECK(lines(few_blocks(), query).lines.at(0).line().file == "lib.py");
    query.sort = LineSort::name;
    CHECK(lines(few_blocks(), query).lines.at(0).line().file == "app.py");
}

TEST_CASE("lines: nothing was traced", "[analysis][lines]") {
    const LinesResult result = lines(TracedMemory(), {});
    CHECK_FALSE(result.tracing);
    CHECK(result.lines.empty());
    CHECK(result.total_size == 0);
}
