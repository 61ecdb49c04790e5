// Whole runs, from the words of a command line to its exit code, on small cores in files: the commands that make a page,
// ask in SQL, draw pictures and compare, and that every command's JSON is a document of its own.

#include "cli/json.h"
#include "cli/program.h"
#include "cli/query/query_help.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace heapsift;

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What one run wrote, and its exit code.
struct WholeRun {
    int exit = -1;
    std::string out, error;
    Json json() const { return Json::parse(out); }
};

/// A folder with a core, and runs in it that leave nothing outside of it.
class SmallCases {
public:
    SmallCases() {
        ::setenv("HEAPSIFT_STATE", "off", 1);
        ::setenv("XDG_CACHE_HOME", directory.below("cache").c_str(), 1);
        core = directory.write("core.1", small.bytes());
    }
    ~SmallCases() {
        ::unsetenv("HEAPSIFT_STATE");
        ::unsetenv("XDG_CACHE_HOME");
    }
    SmallCases(const SmallCases&) = delete;
    SmallCases& operator=(const SmallCases&) = delete;

    /// A later core of the same process: the first item of a list is one of so many floats.
    std::string grown(int count) {
        std::vector<Address> floats;
        for (int i = 0; i < count; ++i) floats.push_back(small.heap.real(i));
        const Address rows = small.heap.list(floats);
        const auto items =
            small.heap.heap().integer<std::uint64_t>(small.items + *small.heap.layout().list.ob_item);
        small.heap.put(Address(items), rows);
        return directory.write("core.2", small.bytes());
    }

    WholeRun run(std::vector<std::string> words) const {
        const std::string out = directory.below("out"), error = directory.below("error");
        std::fflush(stdout);
        std::fflush(stderr);
        const int kept[] = {::dup(STDOUT_FILENO), ::dup(STDERR_FILENO)};
        const auto lead = [](int to, const std::string& path) {
            const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            ::dup2(file, to);
            ::close(file);
        };
        lead(STDOUT_FILENO, out);
        lead(STDERR_FILENO, error);
        WholeRun done;
        words.emplace_back("--no-index");
        done.exit = run_program(std::move(words));
        std::fflush(stdout);
        std::fflush(stderr);
        for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
            ::dup2(kept[to - STDOUT_FILENO], to);
            ::close(kept[to - STDOUT_FILENO]);
        }
        done.out = content_of(out);
        done.error = content_of(error);
        return done;
    }

    test::TemporaryDirectory directory;
    test::SmallCore small;
    std::string core;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("whole run: every command answers with a document of its own", "[cli][run]") {
    const SmallCases cases;
    for (const char* command :
         {"overview", "types", "holders", "objects", "suspects", "dominators", "cycles", "gc", "refcounts",
          "arrays", "memory", "native", "threads", "tasks", "lines", "duplicates", "waste", "doctor"}) {
        CAPTURE(command);
        const WholeRun text = cases.run({command, cases.core});
        CHECK(text.exit == 0);
        CHECK_FALSE(text.out.empty());
        const WholeRun done = cases.run({command, cases.core, "--json"});
        REQUIRE(done.exit == 0);
        const Json document = done.json();
        CHECK(document["schema"] == std::string("heapsift.") + command + "/1");
        CHECK(document["complete"] == true);
        CHECK(document["data"].is_object());
    }
    const WholeRun objects = cases.run({"objects", cases.core, "--json"});
    const std::string address = objects.json()["data"]["objects"][0]["address"];
    for (const char* command : {"show", "why", "referrers", "referents", "retained"}) {
        CAPTURE(command);
        CHECK(cases.run({command, address, cases.core}).exit == 0);
        CHECK(cases.run({command, address, cases.core, "--json"}).exit == 0);
    }
}

TEST_CASE("whole run: report writes one page, readable by its owner alone, and overwrites none",
          "[cli][run][report]") {
    const SmallCases cases;
    const std::string page = cases.directory.below("heap.html");
    const WholeRun done = cases.run({"report", cases.core, "-o", page, "--json"});
    REQUIRE(done.exit == 0);
    const std::string html = content_of(page);
    CHECK(html.starts_with("<!DOCTYPE html>"));
    const Json answer = done.json();
    CHECK(answer["data"]["bytes"] == html.size());
    for (const Json& section : answer["data"]["sections"]) {
        CAPTURE(section.get<std::string>());
        CHECK(has(html, "<section id=\"" + section.get<std::string>() + "\""));
    }
    CHECK(has(html, "Point"));
    CHECK_FALSE(has(html, "id=\"growth\""));
    CHECK((std::filesystem::status(page).permissions() & std::filesystem::perms::others_read) ==
          std::filesystem::perms::none);
    CHECK(cases.run({"report", cases.core, "-o", page}).exit == 2);
    CHECK(cases.run({"report", cases.core, "-o", page, "-f", "-n", "1"}).exit == 0);
    CHECK(content_of(page).size() < html.size());
    CHECK(cases.run({"report", cases.core}).exit == 2);
    CHECK(cases.run({"report", cases.core, "-o", "-"}).exit == 2);
    CHECK(cases.run({"report", cases.core, "-o", page, "-f", "--format", "csv"}).exit == 2);
    CHECK(cases.run({"report", cases.core, "-o", page, "-f", "--redact"}).exit == 0);
    CHECK(has(html, "a line of text"));
    CHECK_FALSE(has(content_of(page), "a line of text"));
}

TEST_CASE("whole run: a page about two cores says first what grew", "[cli][run][report][growth]") {
    SmallCases cases;
    const std::string newer = cases.grown(9000), page = cases.directory.below("heap.html");
    REQUIRE(cases.run({"report", cases.core, newer, "-o", page}).exit == 0);
    const std::string html = content_of(page);
    const std::size_t headline = html.find("<p class=\"headline\">");
    REQUIRE(headline != std::string::npos);
    CHECK(has(html.substr(headline, 300), " grew by "));
    CHECK(has(html, "In the newer core: "));
    CHECK(html.find("<section id=\"growth\"") < html.find("<section id=\"suspects\""));
    CHECK_FALSE(has(html, "the older core comes first"));
    // The older one was written long before, and is given as the newer one.
    std::filesystem::last_write_time(cases.core,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    const WholeRun swapped = cases.run({"report", newer, cases.core, "-o", page, "-f"});
    CHECK(swapped.exit == 0);
    CHECK(has(swapped.error, "core.1 is given after core.2"));
    CHECK(has(content_of(page), "the older core comes first"));
    CHECK(has(cases.run({"diff", newer, cases.core}).error, "core.1 is given after core.2"));
    const WholeRun right = cases.run({"diff", cases.core, newer});
    CHECK_FALSE(has(right.error, "given after"));
    CHECK(has(right.out, " grew by "));
    // An export stands for the older core, and tells nothing of its time.
    const std::string old = cases.directory.below("old.db");
    REQUIRE(cases.run({"export", cases.core, "-o", old}).exit == 0);
    CHECK(cases.run({"report", old, newer, "-o", page, "-f"}).exit == 0);
    CHECK(has(content_of(page), "<section id=\"growth\""));
}

TEST_CASE("whole run: query answers what help asks, refuses to write, and ends at its limit",
          "[cli][run][query]") {
    const SmallCases cases;
    for (const QueryExample& example : query_examples()) {
        CAPTURE(example.question);
        const WholeRun done = cases.run({"query", example.sql, cases.core, "--json"});
        CHECK(done.exit == 0);
        CHECK_FALSE(done.json()["data"]["columns"].empty());
    }
    const WholeRun count = cases.run({"query", "SELECT count(*) FROM object", cases.core, "--json"});
    const WholeRun objects = cases.run({"objects", cases.core, "--json"});
    CHECK(count.json()["data"]["rows"][0][0] == objects.json()["data"]["total"]["count"]);
    CHECK(cases.run({"query", "DELETE FROM object", cases.core}).exit == 2);
    CHECK(cases.run({"query", "SELECT nothing FROM nowhere", cases.core}).exit == 2);
    CHECK(cases
              .run({"query",
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                    cases.core, "--timeout", "1"})
              .exit == 4);
    const WholeRun found = cases.run({"query", "SELECT value FROM string WHERE value LIKE '%line of text%'",
                                      cases.core, "--format", "csv"});
    CHECK(has(found.out, "a line of text"));
    // By address, from the objects that refer to it, and none at an address that has none.
    const WholeRun joined =
        cases.run({"query",
                   "SELECT count(*) FROM reference r JOIN object o ON o.address = r.target JOIN "
                   "string s ON s.address = o.address LEFT JOIN array a ON a.address = s.address",
                   cases.core, "--json"});
    CHECK(joined.json()["data"]["rows"][0][0] > 0);
    const WholeRun none =
        cases.run({"query", "SELECT count(*) FROM string WHERE address = 16", cases.core, "--json"});
    CHECK(none.json()["data"]["rows"][0][0] == 0);
}

TEST_CASE("whole run: export writes each form, and pictures of one object", "[cli][run][export]") {
    const SmallCases cases;
    for (const char* ending : {"db", "svg", "dot", "folded", "jsonl", "heapsnapshot"}) {
        CAPTURE(ending);
        const std::string path = cases.directory.below(std::string("heap.") + ending);
        CHECK(cases.run({"export", cases.core, "-o", path}).exit == 0);
        CHECK(content_of(path).size() > 100);
        CHECK(cases.run({"export", cases.core, "-o", path}).exit == 2);
    }
    const std::string map = cases.directory.below("map.svg");
    CHECK(cases.run({"export", cases.core, "-o", map, "--treemap"}).exit == 0);
    CHECK(content_of(map).starts_with("<"));
    const WholeRun objects = cases.run({"objects", cases.core, "--json", "--type", "str"});
    const std::string address = objects.json()["data"]["objects"][0]["address"];
    const std::string path = cases.directory.below("why.svg");
    CHECK(cases.run({"why", address, cases.core, "--svg", path}).exit == 0);
    CHECK(has(content_of(path), "<svg"));
}

TEST_CASE("whole run: browse needs a terminal, and says what to type instead", "[cli][run][browse]") {
    const SmallCases cases;
    const WholeRun done = cases.run({"browse", cases.core});
    CHECK(done.exit == 2);
    CHECK(has(done.error, "browse needs a terminal"));
    CHECK(has(done.error, "heapsift overview"));
    CHECK(cases.run({"browse", cases.core, "--json"}).exit == 2);
}
