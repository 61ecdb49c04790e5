// What grew, as text and in the keys of the contract; and limits of growth.

#include "cli/render/diff.h"
#include "cli/database/database.h"
#include "cli/exported_inventory.h"
#include "cli/growth_limits.h"
#include "cli/write/spans.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

using namespace heapsift;
using namespace heapsift::test;

namespace {

GrowthResult grown() {
    GrowthResult result;
    result.cores = {{.file = "core.1",
                     .python = "CPython 3.11.2",
                     .command = "python3 app.py",
                     .pid = 7,
                     .objects = 100,
                     .in_use = 1 << 20},
                    {.file = "core.2",
                     .python = "CPython 3.11.2",
                     .command = "python3 app.py",
                     .pid = 7,
                     .objects = 900,
                     .in_use = 3 << 20}};
    result.same_process = true;
    result.cause = GrowthResult::Cause::place;
    result.whole = 2 << 20;
    GrownPlace place;
    place.holder = "app";
    place.place = "REGISTRY";
    place.expression = "app.REGISTRY[*]";
    place.example = Address(0x7f0000001000);
    place.bytes = {1000, 1000 + (2 << 20)};
    place.growth = place.believed = 2 << 20;
    place.units = 8;
    place.parts = {{"app.Session", 8, 1000, 1, false, true},
                   {"app.Tensor", 72'000, 2 << 19, 9000, false, true},
                   {"dict", 8, 1 << 19, 1, true, false},
                   {"app.Graph", 8, 500, 1, false, true}};
    result.places.push_back(place);
    result.types.push_back({"app.Session", {{{1, 50, 64, 0, 0}, {9, 450, 576, 0, 0}}}, {100, 900}, 0});
    result.memories.push_back({"Python objects", {1 << 20, 3 << 20}, false, false});
    return result;
}

}  // namespace

TEST_CASE("render diff: the place first, what each unit has, and the path to one", "[cli][render]") {
    Shown shown;
    const Written answer(
        render_diff(
            grown(),
            {.table = DiffTable::summary, .rows = 20, .newest = "core.2", .command = "diff core.1 core.2"}),
        shown);
    const std::string text = answer.text(shown.page);
    for (const char* words : {"process 7 of CPython 3.11.2, at two times",
                              "app.REGISTRY grew by 2.0 MiB, 100 % of what grew: 8 more app.Session, each "
                              "with 1 app.Graph and 9,000 app.Tensor.",
                              "+800", "+512 B", "next: heapsift why 0x7f0000001000 core.2"}) {
        INFO(text);
        CHECK(text.find(words) != std::string::npos);
    }
    CHECK(answer.data["cause"] == "place");
    CHECK(answer.data["cores"][1]["in_use"] == 3 << 20);
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["count_before"] == 1);
    CHECK(rows[0]["count_delta"] == 8);
    CHECK(rows[0]["retained_delta"] == 800);
}

TEST_CASE("render diff: three cores step by step, and sorted otherwise", "[cli][render]") {
    Shown shown;
    GrowthResult result = grown();
    result.cores.push_back(result.cores.back());
    result.memories.front().bytes.push_back(4 << 20);
    result.places.front().bytes = {1000, 1000 + (1 << 20), 1000 + (3 << 20)};
    result.types.push_back({"app.Part", {{{1, 50, 64, 0, 0}, {2000, 450, 500, 0, 0}}}, {}, 0});
    result.types.back().retained = {std::nullopt, std::nullopt};
    const Written answer(render_diff(result, {.table = DiffTable::summary,
                                              .sort = GrowthSort::count,
                                              .rows = 20,
                                              .newest = "core.3",
                                              .command = "diff core.1 core.2 core.3"}),
                         shown);
    const std::string text = answer.text(shown.page);
    INFO(text);
    CHECK(text.find("by steps") != std::string::npos);
    CHECK(text.find("+1.0 MiB +2.0 MiB") != std::string::npos);
    CHECK(text.find("objects ▾") != std::string::npos);
    CHECK(rows_of(answer)[0]["name"] == "app.Part");
    std::vector<Json> places;
    for (const Document::Table& table : answer.document.more_tables)
        if (table.key == "places")
            table.rows(
                [&](const Datum& row) { places.push_back(Json::parse(json_text(row, answer.redactor))); });
    REQUIRE(places.size() == 1);
    CHECK(places[0]["bytes"] == Json({1000, 1000 + (1 << 20), 1000 + (3 << 20)}));
}

TEST_CASE("render diff: nothing, C code's blocks, free memory", "[cli][render]") {
    Shown shown;
    const auto text_of = [&](const GrowthResult& result) {
        return Written(render_diff(result, {.table = DiffTable::summary,
                                            .rows = 20,
                                            .newest = "core.2",
                                            .command = "diff core.1 core.2"}),
                       shown)
            .text(shown.page);
    };
    GrowthResult result = grown();
    result.cause = GrowthResult::Cause::nothing;
    CHECK(text_of(result).find("Nothing grew by much: 1.0 MiB in use before, 3.0 MiB after; the most, 2.0 "
                               "MiB, is in app.REGISTRY.") != std::string::npos);
    result.cause = GrowthResult::Cause::native;
    result.natives.push_back({{"", 3000, 20, 60'000, 20, "", Address()}, {10, 20}, {30'000, 60'000}});
    result.native_causes = {result.natives.front()};
    CHECK(text_of(result).find("10 more blocks of 3,000 bytes, 29.3 KiB (") != std::string::npos);
    CHECK(text_of(result).find("; all of them leaked: nothing leads to them.") != std::string::npos);
    result.native_causes.front().now.leaked = 0;
    result.native_causes.front().now.held_by = "libfoo.so kept";
    CHECK(text_of(result).find("; found from libfoo.so kept.") != std::string::npos);
    result.native_causes.push_back({{"shapes::Circle", 24, 5, 120, 5, "", Address()}, {0, 5}, {0, 120}});
    result.native_causes.front().now.of_class = "shapes::Label";
    CHECK(text_of(result).find("10 more shapes::Label, 5 more shapes::Circle, ") != std::string::npos);
    result.cause = GrowthResult::Cause::memory;
    result.memories.front().is_free = true;
    CHECK(text_of(result).find("No object's memory grew as much as what is free") != std::string::npos);
    result.memories.front().is_free = false;
    CHECK(text_of(result).find("Python objects grew by 2.0 MiB") != std::string::npos);
    result.cause = GrowthResult::Cause::place;
    result.places.front().kind = HeldRow::Kind::unseen;
    CHECK(text_of(result).find("What only a leaked reference, or C code that was not found, holds grew by") !=
          std::string::npos);
    CHECK(text_of(result).find("next: heapsift refcounts core.2") != std::string::npos);
    result.places.front().kind = HeldRow::Kind::object;
    result.places.front().parts[1].beside = true;
    CHECK(text_of(result).find("app.REGISTRY (app.REGISTRY[*]) grew by 2.0 MiB, 100 % of what grew: 8 more "
                               "app.Session, each with 1 app.Graph; beside them 72,000 app.Tensor.") !=
          std::string::npos);
    result.cut = true;
    result.same_process = false;
    CHECK(text_of(result).find("As far as a cut core tells, app.REGISTRY") != std::string::npos);
    CHECK(text_of(result).find("whether of one process cannot be told") != std::string::npos);
    result.places.front().kind = HeldRow::Kind::garbage;
    CHECK(text_of(result).find("Garbage that was not freed yet grew by") != std::string::npos);
    result.same_program = false;
    CHECK(plain(growth_headline(result), shown.page)
              .starts_with("These are cores of different programs: what follows is how they differ, not "
                           "growth. As far"));
}

TEST_CASE("render diff: a number of bytes objects is no size", "[cli][render]") {
    Shown shown;
    GrowthResult result = grown();
    result.places.front().parts = {{"bytes", 8, 1000, 1, false, true},
                                   {"shop.Minutes", 72'000, 2 << 19, 9000, false, true}};
    CHECK(plain(growth_headline(result), shown.page)
              .find("8 more bytes objects, each with 9,000 shop.Minutes objects.") != std::string::npos);
}

TEST_CASE("render diff: each table alone", "[cli][render]") {
    Shown shown;
    for (const DiffTable table :
         {DiffTable::types, DiffTable::holders, DiffTable::arrays, DiffTable::native, DiffTable::memory}) {
        GrowthResult result = grown();
        if (table != DiffTable::types) {
            HeldRow row;
            row.type = "app.Session";
            row.holder = "app";
            row.attribute = "REGISTRY[*]";
            result.held.push_back({row, {{{1, 50, 64, 0, 0}, {9, 450, 576, 0, 0}}}, 512});
            result.arrays.push_back({"<f8 (*, 3)", {{{1, 50, 64, 24, 0}, {9, 450, 576, 216, 0}}}, {}, 0});
            result.natives.push_back(
                {{"Widget", 64, 9, 576, 0, "libw.so all", Address()}, {1, 9}, {64, 576}});
        }
        const Written answer(
            render_diff(std::move(result),
                        {.table = table, .rows = 0, .newest = "core.2", .command = "diff core.1 core.2"}),
            shown);
        CHECK(answer.text(shown.page).find('+') != std::string::npos);
        CHECK(answer.csv().find('\n') != std::string::npos);
        CHECK(rows_of(answer).size() == 1);
    }
    GrowthResult empty = grown();
    empty.types.clear();
    CHECK(Written(render_diff(std::move(empty),
                              {.table = DiffTable::types, .rows = 20, .newest = "b", .command = "diff a b"}),
                  shown)
              .text(shown.page) == "Nothing of that changed.\n");
}

TEST_CASE("growth limits: read, compared, and refused", "[cli]") {
    const GrowthLimit tenth = parse_growth_limit("--max-growth", "10%");
    CHECK_FALSE(tenth.exceeded(100, 110));
    CHECK(tenth.exceeded(100, 111));
    CHECK_FALSE(tenth.exceeded(100, 50));
    CHECK(tenth.exceeded(0, 1));
    const GrowthLimit size = parse_growth_limit("--max-growth", "2K");
    CHECK_FALSE(size.exceeded(0, 2048));
    CHECK(size.exceeded(0, 2049));
    for (const char* wrong : {"", "%", "many", "-5", "5%%", "1X"})
        CHECK_THROWS_AS(parse_growth_limit("--max-growth", wrong), Error);

    const GrowthRule rule = parse_growth_rule("retained(app.CACHE['a>b)'])>10%");
    CHECK(rule.of == GrowthRule::Of::retained);
    CHECK(rule.argument == "app.CACHE['a>b)']");
    CHECK(rule.limit.percent);
    CHECK(parse_growth_rule("count(app.Session) > 8").of == GrowthRule::Of::count);
    CHECK(parse_growth_rule("memory(dict)>50M").limit.number == 50.0 * (1 << 20));
    for (const char* wrong : {"", "retained", "retained()>1", "retained(x)", "retained(x)>", "size(x)>1",
                              "count(*)>1", "retained(x)y>1", ")(>1"})
        CHECK_THROWS_AS(parse_growth_rule(wrong), Error);

    const GrowthResult result = grown();
    const std::vector<GrowthRule> rules{rule, parse_growth_rule("count(app.Session)>7"),
                                        parse_growth_rule("memory(app.Session)>1K")};
    const auto exceeded = exceeded_limits(result, tenth, rules, {{std::nullopt, 5}, {}, {}});
    REQUIRE(exceeded.size() == 3);
    CHECK(exceeded[0] == "what is in use grew from 1.0 MiB to 3.0 MiB");
    CHECK(exceeded[1].find("from 0 B to 5 B") != std::string::npos);
    CHECK(exceeded[2] == "count(app.Session)>7: from 1 to 9");
    CHECK_THROWS_AS(exceeded_limits(result, std::nullopt, {rule}, {{std::nullopt, std::nullopt}}), Error);
}

namespace {

/// An empty file, gone at the end.
struct TemporaryFile {
    std::string path = "/tmp/heapsift-diff-XXXXXX";
    TemporaryFile() { ::close(::mkstemp(path.data())); }
    ~TemporaryFile() { ::unlink(path.c_str()); }
};

void run_sql(const std::string& path, const char* sql) {
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
    sqlite3_close(database);
}

}  // namespace

TEST_CASE("exported inventory: read back as it was, and refused where it is damaged", "[cli]") {
    Inventory written;
    written.file = "core.1";
    written.pid = 7;
    written.modules = {{"libc.so.6", Address(0x5000)}};
    written.objects = 12;
    written.held.resize(2);
    written.held[1].type = "app.Session";
    written.held[1].above = {{0, 3}};
    written.types.push_back({"app.Session", {3, 4, 5, 6, 7}, 8, 0});
    const TemporaryFile file;
    {
        Database database(file.path, "heap.db");
        database.execute("PRAGMA application_id = 1751474544");
        write_inventory(database, written);
        database.commit();
    }
    CHECK(is_export(file.path));
    CHECK_FALSE(is_export("/dev/null"));
    const Inventory read = read_inventory(file.path);
    CHECK(read.file == "core.1");
    CHECK(read.pid == 7);
    CHECK(read.modules.front().start == Address(0x5000));
    CHECK(read.objects == 12);
    REQUIRE(read.held.size() == 2);
    CHECK(read.held[1].above.front().count == 3);
    CHECK(read.types.front().retained == 8);

    for (const char* sql :
         {"UPDATE inventory SET part = substr(part, 1, 40)", "UPDATE inventory SET part = x'00'",
          "UPDATE inventory SET form = 'another'", "DELETE FROM inventory", "DROP TABLE inventory"}) {
        run_sql(file.path, sql);
        CHECK_THROWS_AS(read_inventory(file.path), Error);
    }
}
