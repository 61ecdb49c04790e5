// The page of a fleet: lines that are read or skipped, what is counted of them, and what is on the page.

#include "cli/invocation.h"
#include "cli/program.h"
#include "cli/report/fleet_chart.h"
#include "cli/report/fleet_page.h"
#include "cli/report/fleet_tables.h"
#include "cli/report/lines_source.h"
#include "cli/report/read_fleet.h"
#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"
#include "tests/elf/temporary_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct MadeLine {
    std::string identity = "0123", signature = "shop.py; queue; JOBS of dict", host = "web1",
                path = "/cores/core.1";
    std::string stored = "2026-11-20T02:52:47Z", interpreter = "CPython 3.11.2", shop = "2.3.0";
    int exit = 0;
    std::uint64_t in_use = 1 << 20;
    std::string error = {};

    Json json() const {
        Json line;
        line["schema"] = "heapsift.batch/1";
        line["path"] = path;
        line["identity"] = identity.empty() ? Json() : Json(identity);
        line["exit"] = exit;
        if (!error.empty())
            line["error"] = {{"code", error}, {"message", path + ": it is none"}, {"hint", nullptr}};
        line["signature"] = error.empty() ? signature : "not analysed: " + error;
        line["host"] = host.empty() ? Json() : Json(host);
        line["stored"] = stored.empty() ? Json() : Json(stored);
        line["interpreter"] = interpreter;
        line["packages"] = {{"shop", shop}, {"numpy", "1.24.2"}};
        line["in_use"] = in_use;
        line["headline"] = "10 MiB: JOBS";
        line["suspects"] = Json::array(
            {{{"kind", "queue"}, {"pattern", "p"}, {"bytes", 5}, {"cause", "a queue"}, {"fix", "bound it"}},
             {{"kind", "cache"}, {"fix", "no"}}});
        line["overview"] = {{"schema", "deeper"},
                            {"suspects", Json::array({Json::array({Json::array({1})})})}};
        return line;
    }
    std::string text() const { return json_text(json()) + "\n"; }
};

FleetLine read(const std::string& text) {
    FleetLine line;
    CHECK(read_fleet_line(text, line) == FleetLineState::read);
    return line;
}

FleetLineState state_of(const std::string& text) {
    FleetLine line;
    return read_fleet_line(text, line);
}

std::string page_text(const Fleet& fleet, const FleetPageWishes& wishes = {}, bool redact = false) {
    Shown shown(redact);
    shown.page.program = "heapsift";
    Diagnostics notes;
    note_skipped_lines(fleet.skipped(), notes);
    std::string text;
    write_report(fleet_page(fleet, wishes, notes, shown.page), shown.page,
                 [&](std::string_view part) { text += part; });
    return text;
}

Fleet fleet_of(const std::vector<MadeLine>& lines) {
    const auto add_all = [&](Fleet& fleet) {
        fleet.begin_file();
        for (const MadeLine& line : lines) fleet.add(read(line.text()));
    };
    Fleet fleet;
    add_all(fleet);
    std::optional<FleetRepeats> repeats = fleet.repeats();
    if (!repeats) return fleet;
    Fleet again(std::move(*repeats));
    add_all(again);
    CHECK_FALSE(again.repeats());
    CHECK(again.cores() + again.repeated() == lines.size());
    return again;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The code of what is objected to; "" for an answer.
std::string objection_to(const std::vector<std::string>& arguments) {
    try {
        Invocation(arguments, run_program).run();
    } catch (const Error& error) {
        return error.code();
    }
    return {};
}

}  // namespace

TEST_CASE("fleet line: its columns are read, and not those of an overview in it", "[cli][fleet]") {
    const FleetLine line = read(MadeLine{}.text());
    CHECK(line.signature == "shop.py; queue; JOBS of dict");
    CHECK(line.identity == "0123");
    CHECK(line.host == "web1");
    CHECK(line.kind == "queue");
    CHECK(line.fix == "bound it");
    CHECK(line.in_use == 1u << 20);
    CHECK(line.exit == 0);
    CHECK(line.packages ==
          std::vector<std::pair<std::string, std::string>>{{"shop", "2.3.0"}, {"numpy", "1.24.2"}});
    CHECK(line.hour == hour_of("2026-11-20T02:00:00Z"));
    CHECK(day_text(*line.hour) == "2026-11-20");
    CHECK(hour_text(*line.hour) == "11-20 02h");
}

TEST_CASE("fleet line: what is no line of a batch is told apart, and nothing crashes", "[cli][fleet]") {
    CHECK(state_of("") == FleetLineState::no_json);
    CHECK(state_of("{\"schema\":\"heapsift.batch/1\",\"path\":\"/c") == FleetLineState::no_json);
    CHECK(state_of("not json at all") == FleetLineState::no_json);
    CHECK(state_of("{\"schema\":\"heapsift.batch/1\"} x") == FleetLineState::no_json);
    CHECK(state_of("{\"schema\":\"heapsift.batch/1\",\"host\":\"\xff\"}") == FleetLineState::no_json);
    CHECK(state_of("{\"schema\":\"heapsift.batch/2\"}") == FleetLineState::other_schema);
    CHECK(state_of("[{\"schema\":\"heapsift.batch/1\"}]") == FleetLineState::other_schema);
    CHECK(state_of("{}") == FleetLineState::other_schema);
    CHECK(state_of("7") == FleetLineState::other_schema);
    CHECK(state_of("{\"schema\":[\"heapsift.batch/1\"]}") == FleetLineState::other_schema);
    const std::string deep = std::string(200'000, '['), out = std::string(200'000, ']');
    CHECK(state_of("{\"schema\":\"heapsift.batch/1\",\"overview\":" + deep + out + "}") ==
          FleetLineState::read);
    CHECK(state_of("{\"schema\":\"heapsift.batch/1\",\"overview\":" + deep) == FleetLineState::no_json);
    // Columns of other types than they should be.
    const FleetLine odd = read(
        R"({"schema":"heapsift.batch/1","path":7,"exit":"x","in_use":-5,"suspects":{"0":{"kind":"k"}},)"
        R"("packages":["a","b"],"host":{"a":"b"},"error":"e","stored":"2026-13-45T99","signature":null})");
    CHECK(odd.path.empty());
    CHECK(odd.kind.empty());
    CHECK(odd.packages.empty());
    CHECK(odd.error_code.empty());
    CHECK_FALSE(odd.in_use);
    CHECK_FALSE(odd.hour);
}

TEST_CASE("fleet line: long names are cut, and stay apart", "[cli][fleet]") {
    MadeLine a, b;
    a.signature = std::string(10'000, 'x') + "a";
    b.signature = std::string(10'000, 'x') + "b";
    const FleetLine first = read(a.text()), second = read(b.text());
    CHECK(first.signature.size() < 700);
    CHECK(first.signature != second.signature);
    b.host = std::string(199, 'h') + "\u00e9\u00e9";
    const std::string host = read(b.text()).host;
    CHECK(host.starts_with(std::string(199, 'h') + "…"));
}

TEST_CASE("fleet line: a time is of this century, or none", "[cli][fleet]") {
    CHECK(hour_of("1970-01-01T00:00:00Z") == std::nullopt);
    CHECK(hour_of("9999-01-01T00:00:00Z") == std::nullopt);
    CHECK(hour_of("2026-02-30T00:00:00Z") == std::nullopt);
    CHECK(hour_of("2026-02-03") == std::nullopt);
    CHECK(hour_of("2000-01-01T05:00:00Z") == 262968 + 5);
    CHECK(hours_of_bar(0, 30) == 1);
    CHECK(hours_of_bar(0, 24 * 20) == 24);
    CHECK(hours_of_bar(0, 24 * 300) == 168);
    for (const std::int64_t last : {47, 48, 1400, 9000, 100'000, 800'000})
        CHECK((last / hours_of_bar(0, last)) + 2 <= 61);
}

TEST_CASE("fleet: a core counts once, by the last line that was answered, else the last", "[cli][fleet]") {
    MadeLine good, again, killed, lost, slow;
    again.host = "elsewhere";
    killed.error = lost.error = "killed";
    slow.error = "timed-out";
    killed.exit = lost.exit = slow.exit = 1;
    lost.identity = slow.identity = "9";
    MadeLine unnamed;
    unnamed.identity.clear();
    unnamed.path = "/cores/text";
    unnamed.error = "not-a-core";
    unnamed.exit = 1;
    const Fleet fleet = fleet_of({killed, lost, good, again, killed, lost, slow, unnamed, unnamed});
    CHECK(fleet.cores() == 3);
    CHECK(fleet.analysed() == 1);
    CHECK(fleet.failed() == 2);
    CHECK(fleet.repeated() == 6);
    CHECK(fleet.failures().size() == 2);
    CHECK(fleet.failures().at("timed-out").cores == 1);
    CHECK(fleet.failures().at("not-a-core").path == "/cores/text");
    REQUIRE(fleet.hosts().count() == 1);
    CHECK(fleet.hosts().text(0) == "elsewhere");
}

TEST_CASE("fleet: a failure without an identity is of the core that its path leads to", "[cli][fleet]") {
    MadeLine failed, answered, slow, other;
    failed.identity.clear();
    failed.error = "not-copied";
    slow.error = "timed-out";
    failed.exit = slow.exit = 1;
    other.identity = "7";
    other.path = "/cores/core.7";
    for (const bool failed_first : {true, false}) {
        const Fleet fleet =
            failed_first ? fleet_of({failed, answered, other}) : fleet_of({answered, other, failed});
        CHECK(fleet.analysed() == 2);
        CHECK(fleet.failed() == 0);
        CHECK(fleet.repeated() == 1);
    }
    const Fleet fleet = fleet_of({failed, slow, failed});
    CHECK(fleet.cores() == 1);
    CHECK(fleet.failures().count("timed-out") == 1);
}

TEST_CASE("fleet: lines that come once each are read once", "[cli][fleet]") {
    MadeLine first, second, failed;
    second.identity = "2";
    second.path = failed.path = "/cores/core.2";
    failed.identity = "3";
    failed.error = "killed";
    failed.exit = 1;
    Fleet fleet;
    fleet.begin_file();
    for (const MadeLine& line : {first, second, failed}) fleet.add(read(line.text()));
    CHECK_FALSE(fleet.repeats());
    CHECK(fleet.cores() == 3);
    fleet.add(read(failed.text()));  // one that does not count
    CHECK(fleet.repeats());
}

TEST_CASE("fleet: keys are kept apart, whatever they are", "[cli][fleet]") {
    FleetKeys keys;
    for (std::uint64_t i = 1; i <= 20'000; ++i) {
        CHECK(keys.insert(i << 40));
        CHECK(keys.insert(i));
    }
    CHECK(keys.count() == 40'000);
    CHECK_FALSE(keys.insert(77));
    CHECK(keys.has(std::uint64_t{20'000} << 40));
    CHECK_FALSE(keys.has(20'001));
}

TEST_CASE("fleet: counts are kept by number", "[cli][fleet]") {
    FleetCounts counts;
    CHECK(counts.of(7) == 0);
    counts.fetch(7);
    constexpr std::uint32_t many = 5000, apart = 65'536;
    for (std::uint32_t i = 0; i < many; ++i) counts.add(i * apart, i + 1);
    counts.add(0);
    counts.add(3 * apart, 5);
    CHECK(counts.size() == many);
    CHECK(counts.of(0) == 2);
    CHECK(counts.of(3 * apart) == 9);
    CHECK(counts.of(1) == 0);
    std::uint64_t sum = 0;
    std::size_t entries = 0;
    counts.each([&](std::uint32_t number, std::uint32_t count) {
        CHECK(count == counts.of(number));
        sum += count;
        ++entries;
    });
    CHECK(entries == many);
    CHECK(sum == many * (many + 1ULL) / 2 + 6);
}

TEST_CASE("fleet: names and causes have an end", "[cli][fleet]") {
    FleetNames names(3);
    CHECK(names.number_of("a") == 0);
    CHECK(names.number_of("b") == 1);
    CHECK(names.number_of("c") == 2);
    CHECK(names.number_of("d") == names.number_of("e"));
    CHECK(names.text(names.number_of("f")) == "others");
    CHECK(names.number_of("b") == 1);
    CHECK(names.number_of("others") == names.number_of("d"));
    FleetNames thousands(100'000);
    for (std::uint32_t i = 0; i < 5000; ++i) CHECK(thousands.number_of("n" + std::to_string(i)) == i);
    CHECK(thousands.number_of("n4321") == 4321);
    CHECK(thousands.text(77) == "n77");
    CHECK(thousands.count() == 5000);
    Fleet fleet;
    FleetLine line;
    for (std::size_t i = 0; i < Fleet::most_causes + 50; ++i) {
        line.identity = std::to_string(i);
        line.signature = "s" + std::to_string(i);
        fleet.add(line);
    }
    line.signature = "new release";
    for (std::size_t i = 0; i < 100; ++i) {
        line.identity = "n" + std::to_string(i);
        fleet.add(line);
    }
    const auto causes = fleet.causes();
    CHECK(causes.size() <= Fleet::most_causes);
    CHECK(causes.front()->signature == "new release");  // which had come last, to a full table
    CHECK(causes.front()->cores == 100);
    CHECK(causes.back()->signature == "other signatures");
    CHECK(causes.back()->is_rest());
    CHECK(causes.back()->cores == Fleet::most_causes / 2);
    std::uint64_t all = 0;
    for (const FleetCause* cause : causes) all += cause->cores;
    CHECK(all == Fleet::most_causes + 150);
}

TEST_CASE("fleet: the example of a cause is a whole core before a cut one, then the largest",
          "[cli][fleet]") {
    MadeLine cut, small, large;
    cut.exit = 3;
    cut.in_use = 1u << 30;
    cut.path = "/cut";
    small.identity = "2";
    large.identity = "3";
    large.in_use = 1 << 22;
    large.path = "/large";
    const Fleet fleet = fleet_of({cut, small, large});
    const FleetCause& cause = *fleet.causes().front();
    CHECK(cause.example.path == "/large");
    CHECK(cause.in_part == 1);
    CHECK(cause.most_in_use == 1u << 30);
    CHECK(cause.dated() == 3);
}

TEST_CASE("fleet page: causes, over time, versions, hosts, and what was not analysed", "[cli][fleet]") {
    std::vector<MadeLine> lines;
    for (int i = 0; i < 20; ++i) {
        MadeLine line;
        line.identity = std::to_string(i);
        line.stored = fmt::format("2026-11-{:02}T02:52:47Z", i + 1);
        line.host = "web" + std::to_string(i % 4);
        if (i >= 14) {
            line.signature = "shop.py; closures; HANDLERS of function";
            line.host = "db7";
            line.shop = "2.4.0";
        }
        if (i == 19) {
            line.error = "not-a-core";
            line.exit = 1;
        }
        lines.push_back(line);
    }
    const Fleet fleet = fleet_of(lines);
    const std::string text = page_text(fleet);
    CHECK(has(text, "<title>20 cores, 2 causes</title>"));
    CHECK(has(text, "14 of 20 cores have one cause: shop.py; queue; JOBS of dict"));
    CHECK(has(text, "from 2026-11-01 to 2026-11-19"));
    CHECK(has(text, "New in the last seven days: shop.py; closures; HANDLERS of function"));
    for (const char* id : {"causes", "time", "versions", "hosts", "examples", "failures"})
        CHECK(has(text, fmt::format("<section id=\"{}\"", id)));
    CHECK(has(text, "shop 2.4.0"));          // goes with the second cause
    CHECK_FALSE(has(text, "numpy 1.24.2"));  // all have it
    CHECK(has(text, "A cause that one host has most of"));
    CHECK(has(text, "<td class=\"n\" data-v=\"1\">1</td><td>not-a-core</td>"));
    CHECK(has(text, "heapsift report -o /cores/core.1.html /cores/core.1"));
    CHECK(has(text, "CPython 3.11.2"));
    CHECK(has(text, "<svg class=\"time\""));
    CHECK_FALSE(has(text, "id=\"areas\""));
}

TEST_CASE("fleet page: without a time, a host, or a core that was analysed", "[cli][fleet]") {
    MadeLine bare;
    bare.stored = bare.host = bare.interpreter = "";
    const std::string text = page_text(fleet_of({bare}));
    CHECK(has(text, "No line has a time"));
    CHECK(has(text, "not known"));
    MadeLine failed;
    failed.error = "crashed";
    failed.exit = 1;
    const std::string none = page_text(fleet_of({failed}));
    CHECK(has(none, "No core was analysed"));
    CHECK(has(none, "crashed"));
}

TEST_CASE("fleet page: names of lines are text, whatever is in them", "[cli][fleet]") {
    constexpr const char* hostile = "</script><img src=x onerror=\"alert(1)\">&'\x1b[2J\xe2\x80\xae";
    MadeLine line;
    line.signature = line.host = line.interpreter = line.shop = line.path = hostile;
    MadeLine failed = line;
    failed.identity = "2";
    failed.error = hostile;
    failed.exit = 1;
    const std::string plain = page_text(fleet_of({MadeLine{}})), text = page_text(fleet_of({line, failed}));
    const auto scripts = [](const std::string& page) {
        std::size_t count = 0;
        for (std::size_t at = page.find("</script>"); at != std::string::npos;
             at = page.find("</script>", at + 1))
            ++count;
        return count;
    };
    CHECK(scripts(text) == scripts(plain));
    CHECK_FALSE(has(text, "<img"));
    CHECK_FALSE(has(text, "\x1b"));
    CHECK_FALSE(has(text, "\xe2\x80\xae"));
}

TEST_CASE("fleet page: what may not leave the machine is left out", "[cli][fleet]") {
    MadeLine line, failed;
    line.signature = "s3cret.py; queue; JOBS of dict";
    line.host = "s3cret-host";
    line.path = failed.path = "/s3cret/core.1";
    failed.identity = "2";
    failed.error = "not-a-core";
    failed.exit = 1;
    const std::string text = page_text(fleet_of({line, failed}), {}, true);
    CHECK_FALSE(has(text, "s3cret"));
    CHECK_FALSE(has(text, "10 MiB: JOBS"));
    CHECK(has(text, "‹program #1›; queue; JOBS of dict"));
    CHECK(has(text, "‹host #1›"));
    CHECK(has(text, "heapsift report -o core.1.html core.1"));
}

TEST_CASE("fleet page: a report that lies beside a core is linked, and nothing else", "[cli][fleet]") {
    const TemporaryDirectory directory;
    const std::string core = directory.path() + "/core 1.zst";
    CHECK(report_beside(core, "").empty());
    directory.write("core 1.zst.html", "<p>no report");
    CHECK(report_beside(core, "").empty());
    directory.write("core 1.html", "<!DOCTYPE html>\n<meta name=\"generator\" content=\"heapsift 1\">");
    CHECK(report_beside(core, "") == directory.path() + "/core 1.html");
    CHECK(report_beside("core 1.zst", directory.path() + "/lines.jsonl") ==
          directory.path() + "/core 1.html");
    CHECK(report_beside("s3://core 1.zst", "").empty());
    CHECK(report_beside("-", "").empty());
    MadeLine line;
    line.path = core;
    const std::string text = page_text(
        fleet_of({line}), {.rows = {}, .output = directory.path() + "/pages/fleet.html", .files = {}});
    CHECK(has(text, "<a href=\"./../core%201.html\">its report</a>"));
    const std::string beside = page_text(
        fleet_of({line}), {.rows = {}, .output = directory.path() + "/fleet.html", .files = {}}, true);
    CHECK(has(beside, "<a href=\"./core%201.html\">its report</a>"));
    const std::string elsewhere = page_text(
        fleet_of({line}), {.rows = {}, .output = directory.path() + "/pages/fleet.html", .files = {}}, true);
    CHECK_FALSE(has(elsewhere, "its report"));
}

TEST_CASE("lines: a file is told by its content, and read line by line", "[cli][fleet]") {
    const TemporaryDirectory directory;
    const std::string good = directory.write("core.1", MadeLine{}.text());
    CHECK(holds_batch_lines(good));
    CHECK_FALSE(holds_batch_lines(directory.write("elf.jsonl", std::string("\x7f") + "ELF\n{}\n")));
    CHECK_FALSE(holds_batch_lines(directory.write("db.jsonl", "SQLite format 3\n{}\n")));
    CHECK_FALSE(holds_batch_lines(directory.write("empty.jsonl", "")));
    CHECK_FALSE(holds_batch_lines(directory.path()));
    CHECK_FALSE(holds_batch_lines(directory.path() + "/none"));
    CHECK(holds_batch_lines(directory.write("first_cut.jsonl", "ath\":\"x\"}\n{\"schema\"")));
    const std::string long_line = std::string(LinesSource::longest_line + (3 << 20), 'x');
    LinesSource source(
        directory.write("lines", "{}\n\nabc\n" + long_line + "\nlast\n" + long_line + "\nend"));
    std::vector<std::string> found;
    std::string_view text;
    for (LinesSource::Got got = source.next(text); got != LinesSource::Got::end; got = source.next(text))
        found.push_back(got == LinesSource::Got::too_long ? "long" : std::string(text));
    CHECK(found == std::vector<std::string>{"{}", "", "abc", "long", "last", "long", "end"});
}

TEST_CASE("report: lines that are none are counted, and make the answer one in part", "[cli][fleet]") {
    const TemporaryDirectory directory;
    const std::string lines =
        directory.write("a.jsonl", MadeLine{}.text() + "no json\n{\"schema\":\"other/1\"}\n\n" +
                                       MadeLine{}.text() + "{\"sch");
    const Fleet fleet = read_fleet({lines}, {});
    CHECK(fleet.skipped().no_json == 1);
    CHECK(fleet.skipped().other_schema == 1);
    CHECK(fleet.skipped().unended == 1);
    CHECK(fleet.lines() == 2);
    CHECK(fleet.repeated() == 1);
    Diagnostics notes;
    note_skipped_lines(fleet.skipped(), notes);
    CHECK_FALSE(notes.complete());
    Diagnostics after_kill;
    note_skipped_lines({.unended = 1}, after_kill);
    CHECK(after_kill.complete());
    CHECK(has(page_text(fleet), "1 line is no JSON, and was skipped"));
}

TEST_CASE("report: what the words of a command line about lines may be", "[cli][fleet]") {
    const TemporaryDirectory directory;
    const std::string lines = directory.write("a.jsonl", MadeLine{}.text()),
                      others = directory.write("b.jsonl", "{}\n"),
                      core = directory.write("core.1",
                                             "\x7f"
                                             "ELF"),
                      page = directory.path() + "/page.html";
    CHECK(objection_to({"report", lines, core, "-o", page}) == "not-lines");
    CHECK(objection_to({"report", core, core, core, "-o", page}) == "two-cores");
    CHECK(objection_to({"report", others, "-o", page}) == "no-lines");
    CHECK(objection_to({"report", lines, "-f", "-o", lines}) == "output-is-input");
    struct stat facts {};
    CHECK(::stat(page.c_str(), &facts) != 0);
}
