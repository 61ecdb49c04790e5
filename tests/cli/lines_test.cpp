// `lines` as it is shown: one table, or the sentence that says why there is none.

#include "cli/render/lines.h"
#include "cli/render/source_line.h"
#include "cli/render/type_lines.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// Of the first one, `callers` too.
LinesResult two_lines(bool callers = false) {
    LinesResult result{.tracing = true, .most_frames = 5};
    result.lines = {{.traceback = {{"/srv/run.py", 9}, {"/srv/a\x1b[2J.py", 12}},
                     .count = 1000,
                     .size = 2048000,
                     .largest = Address(0x7f0000001000)},
                    {.traceback = {{"<string>", 0}}, .count = 1, .size = 48, .largest = Address(0x10000)}};
    if (!callers) result.lines[0].traceback.erase(result.lines[0].traceback.begin());
    result.total_lines = 5;
    result.total_count = 1010;
    result.total_size = 2050000;
    result.shown_size = 2048048;
    result.domains = {{0, 1009, 2049000}, {389047, 1, 1000}};
    return result;
}

}  // namespace

TEST_CASE("render lines: text", "[cli][render]") {
    Shown shown;
    CHECK(Written(render_lines(two_lines(), {}), shown).text(shown.page) ==
          "   size ▾  blocks  average  line\n"
          "  2.0 MiB   1,000  2.0 KiB  /srv/a\\x1b[2J.py:12\n"
          "     48 B       1     48 B  <string>\n"
          "… 3 more lines; these 2 are 99 % of the memory. All: heapsift lines -n 0\n"
          "2.0 MiB in 1,010 blocks, from 5 lines; of it domain 389047 1000 B\n"
          "next: heapsift lines --traceback 5    who called these lines\n");
}

TEST_CASE("render lines: with callers, a row is a traceback", "[cli][render]") {
    Shown shown;
    const LinesQuery query{.frames = 9, .sort = LineSort::count};
    const std::string text = Written(render_lines(two_lines(true), query), shown).text(shown.page);
    CHECK_THAT(text, ContainsSubstring("blocks ▾"));
    CHECK_THAT(text, ContainsSubstring("line, and its callers\n"));
    CHECK_THAT(text, ContainsSubstring("2.0 KiB  /srv/a\\x1b[2J.py:12\n"
                                       "                                from /srv/run.py:9\n"));
    CHECK_THAT(text, ContainsSubstring("… 3 more tracebacks; these 2 are 99 % of the memory. All: heapsift "
                                       "lines --traceback 9 --sort count -n 0\n"));
    CHECK_THAT(text,
               ContainsSubstring("tracemalloc kept 5 calls of each traceback; PYTHONTRACEMALLOC=9 keeps"));
    CHECK_THAT(text, ContainsSubstring("next: heapsift show 0x7f0000001000"));
    CHECK_THAT(
        Written(render_lines(two_lines(), {.native_only = true}), shown).text(shown.page),
        ContainsSubstring("All: heapsift lines --native -n 0\n2.0 MiB in 1,010 blocks, from 5 lines: blocks "
                          "that C code asked"));
    shown.page.lower_bounds = true;
    CHECK_THAT(Written(render_lines(two_lines(true), query), shown).text(shown.page),
               ContainsSubstring("≥ 2.0 MiB in 1,010 blocks"));
}

TEST_CASE("render lines: where there is nothing, a sentence says why", "[cli][render]") {
    Shown shown;
    const auto text = [&](const LinesResult& result, const LinesQuery& query = {}) {
        return Written(render_lines(result, query), shown).text(shown.page);
    };
    const std::string off = text(LinesResult());
    CHECK_THAT(off, ContainsSubstring("tracemalloc was off"));
    CHECK_THAT(off, ContainsSubstring("PYTHONTRACEMALLOC=1"));
    CHECK_THAT(off, ContainsSubstring("-X tracemalloc"));
    shown.page.lower_bounds = true;
    CHECK_THAT(text(LinesResult()), ContainsSubstring("it was off, or they are cut off"));
    shown.page.lower_bounds = false;
    CHECK_THAT(text({.available = false}), ContainsSubstring("CPython 2.7 has no tracemalloc"));
    CHECK_THAT(text({.tracing = true}), ContainsSubstring("none of its records can be read"));
    CHECK_THAT(text({.tracing = true}, {.native_only = true}), ContainsSubstring("no block of C code"));
    LinesResult others{.tracing = true};
    others.traced_bytes = 5;
    CHECK_THAT(text(others, {.domain = 7}), ContainsSubstring("No traced block is of domain 7."));
}

TEST_CASE("render lines: JSON has the keys of the contract, csv its columns", "[cli][render]") {
    Shown shown;
    const Written answer(render_lines(two_lines(true), {}), shown);
    CHECK(answer.data["tracing"] == true);
    CHECK(answer.data["frames"] == 5);
    CHECK(answer.data["total"]["size"] == 2050000);
    CHECK(answer.data["domains"][1]["domain"] == 389047);
    CHECK(answer.document.rows_key == "lines");
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0]["line"] == 12);
    CHECK(rows[0]["count"] == 1000);
    CHECK(rows[0]["size"] == 2048000);
    CHECK(rows[0]["average"] == 2048);
    CHECK(rows[0]["traceback"][0]["file"] == "/srv/run.py");
    CHECK(rows[1]["file"] == "<string>");
    CHECK(rows[1]["line"].is_null());
    CHECK_THAT(answer.csv(), Catch::Matchers::StartsWith("file,line,count,size,average,domain,largest\n"));
    Shown redacted(true);
    CHECK(rows_of(Written(render_lines(two_lines(true), {}), redacted))[0]["traceback"][0]["file"] ==
          "run.py");
}

TEST_CASE("render lines: what of the records is missing is a warning", "[cli][render]") {
    const auto codes = [](const TracedMemory& traced) {
        Diagnostics diagnostics;
        note_unread_traces(traced, diagnostics);
        std::string all;
        for (const Diagnostic& one : diagnostics.all())
            all += one.code + (one.severity == Severity::damage ? "!" : "");
        return all;
    };
    TracedMemory traced{.tracing = true};
    CHECK(codes(TracedMemory()).empty());
    CHECK(codes(traced) == "tracemalloc-unread!");
    traced.blocks = {{Address(0x100), 10, 0, 0}};
    traced.bytes = 10;
    CHECK(codes(traced).empty());
    traced.counted_bytes = 10;
    CHECK(codes(traced).empty());
    traced.counted_bytes = 11;
    CHECK(codes(traced) == "tracemalloc-sum");
    traced.unread = 1;
    CHECK(codes(traced) == "tracemalloc-unread!");
}

TEST_CASE("render types by line: text and JSON", "[cli][render]") {
    Shown shown;
    TypeLinesResult result{.tracing = true};
    result.rows = {{.type = "app.Node",
                    .type_address = Address(0x1000),
                    .line = {"/srv/a.py", 7},
                    .count = 3,
                    .size = 144,
                    .memory = 192,
                    .largest = Address(0x10100)}};
    result.total_rows = 2;
    result.total_count = 4;
    result.total_memory = 256;
    result.shown_memory = 192;
    result.untraced_count = 5;
    result.untraced_memory = 320;
    const Written answer(render_type_lines(result, SortKey::memory, " --type 'app.*'"), shown);
    CHECK(
        answer.text(shown.page) ==
        "  objects  memory ▾   size  type      allocated at\n"
        "        3     192 B  144 B  app.Node  /srv/a.py:7\n"
        "… 1 more row; this one is 75 % of the memory. All: heapsift types --by-line --type 'app.*' -n 0\n"
        "4 objects: memory 256 B; 5 more (320 B) were not traced: older than tracing, or part of a program's "
        "data\n"
        "next: heapsift show 0x10100    the largest app.Node of the first line\n");
    CHECK(answer.document.command == "types");
    CHECK(answer.data["total"]["untraced"]["count"] == 5);
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["name"] == "app.Node");
    CHECK(rows[0]["file"] == "/srv/a.py");
    CHECK(rows[0]["memory"] == 192);
    CHECK_THAT(Written(render_type_lines({}, SortKey::memory, ""), shown).text(shown.page),
               ContainsSubstring("tracemalloc was off"));
    CHECK_THAT(Written(render_type_lines({.tracing = true}, SortKey::name, ""), shown).text(shown.page),
               ContainsSubstring("tracemalloc recorded none of these objects."));
}

TEST_CASE("render lines: where a block was allocated, the latest call first", "[cli][render]") {
    Shown shown;
    Document document;
    document.say(line(allocated_words({{"/srv/run.py", 3}, {"/srv/a.py", 9}, {"<string>", 0}})));
    CHECK(written(document, shown.page) == "<string>, called from /srv/a.py:9, /srv/run.py:3\n");
    CHECK(allocated_words({}).empty());
}
