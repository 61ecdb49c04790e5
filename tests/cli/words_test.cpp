// Words in any order, and the line that helps if one fits nowhere.

#include "cli/words.h"

#include "cli/arguments.h"
#include "parsers/base/error.h"
#include "tests/catch.h"

#include <set>

using namespace heapsift;

namespace {

const std::vector<WordShape> commands = {{.name = "overview"},
                                         {.name = "types"},
                                         {.name = "show", .takes_address = true},
                                         {.name = "help", .takes_core = false, .takes_topics = true},
                                         {.name = "batch", .takes_core = false, .takes_paths = true},
                                         {.name = "report", .takes_older = true},
                                         {.name = "pages", .takes_older = true, .takes_lines = true},
                                         {.name = "query", .takes_sql = true}};

Words read(const std::vector<std::string>& words, const std::set<std::string>& files = {"core.1"},
           bool core_given = false) {
    return read_words(words, {commands, "overview", core_given,
                              [&](const std::string& path) { return files.contains(path); }});
}

struct Objection {
    std::string code, message, hint;
};

Objection objection(const std::vector<std::string>& words, const std::set<std::string>& files = {"core.1"},
                    bool core_given = false) {
    try {
        read(words, files, core_given);
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        CHECK(error.message().find('\n') == std::string::npos);
        return {error.code(), error.message(), error.hint()};
    }
    return {"none", "", ""};
}

}  // namespace

TEST_CASE("words: a file alone is the overview of that core", "[cli][words]") {
    const Words words = read({"core.1"});
    CHECK(words.command == "overview");
    CHECK(words.core == "core.1");
}

TEST_CASE("words: batch takes every word as a path, and the one before it", "[cli][words][batch]") {
    CHECK(read({"batch", "core.1", "types", "0x1234", "-", "gone"}).paths ==
          std::vector<std::string>{"core.1", "types", "0x1234", "-", "gone"});
    const Words words = read({"core.1", "batch", "core.2"});
    CHECK(words.paths == std::vector<std::string>{"core.1", "core.2"});
    CHECK_FALSE(words.core.has_value());
}

TEST_CASE("words: of two cores that report takes, the first is the older one; also a process after it",
          "[cli][words][report]") {
    const std::set<std::string> files = {"core.1", "core.2", "core.3"};
    for (const auto& order : {std::vector<std::string>{"report", "core.1", "core.2"},
                              std::vector<std::string>{"core.1", "report", "core.2"}}) {
        const Words words = read(order, files);
        CHECK(words.older == "core.1");
        CHECK(words.core == "core.2");
    }
    CHECK_FALSE(read({"report", "core.1"}, files).older.has_value());
    const Words living = read({"report", "core.1", "4711"}, files);
    CHECK(living.older == "core.1");
    CHECK(living.process == 4711);
    CHECK(objection({"report", "core.1", "core.2", "core.3"}, files).message == "core.3: a third core");
    const Words several = read({"pages", "core.1", "core.2", "core.3", "core.1"}, files);
    CHECK(several.older == "core.1");
    CHECK(several.core == "core.2");
    CHECK(several.paths == std::vector<std::string>{"core.3", "core.1"});
}

TEST_CASE("words: the command before or after the core", "[cli][words]") {
    for (const auto& order :
         {std::vector<std::string>{"types", "core.1"}, std::vector<std::string>{"core.1", "types"}}) {
        const Words words = read(order);
        CHECK(words.command == "types");
        CHECK(words.core == "core.1");
    }
}

TEST_CASE("words: core and address in either order", "[cli][words]") {
    for (const auto& order : {std::vector<std::string>{"show", "core.1", "0x10"},
                              std::vector<std::string>{"show", "0x10", "core.1"},
                              std::vector<std::string>{"core.1", "show", "0x10"}}) {
        const Words words = read(order);
        CHECK(words.command == "show");
        CHECK(words.core == "core.1");
        CHECK(words.address == "0x10");
    }
}

TEST_CASE("words: an expression is the address, beside the core and without one",
          "[cli][words][expression]") {
    for (const char* text :
         {"app", "app.CACHE", "core.cache", "app.CACHE['k']", "app.CACHE['/x']", "func().x", "0x10.x"}) {
        CHECK(read({"show", text}).address == text);
        CHECK_FALSE(read({"show", text}).core.has_value());
        for (const auto& order : {std::vector<std::string>{"show", "core.1", text},
                                  std::vector<std::string>{"show", text, "core.1"},
                                  std::vector<std::string>{"core.1", "show", text}}) {
            const Words words = read(order);
            CHECK(words.core == "core.1");
            CHECK(words.address == text);
        }
    }
    // a folder is named like the package in it
    CHECK(read({"show", "core.1", "app"}, {"core.1", "app"}).address == "app");
    CHECK(read({"show", "core1", "core.1"}).address == "core1");
    CHECK(objection({"show", "dump.core"}).code == "no-such-file");
    CHECK(objection({"show", "core.1", "core.2"}, {"core.1", "core.2"}).code == "two-cores");
    CHECK(objection({"app.CACHE['k']", "core.1"}).hint ==
          "did you mean: heapsift show \"app.CACHE['k']\" core.1");
}

TEST_CASE("words: a word with a slash is a file, whether or not it is there", "[cli][words]") {
    CHECK(read({"types", "/no/such/core"}).core == "/no/such/core");
    CHECK(read({"./types"}).command == "overview");
    CHECK(read({"./types"}).core == "./types");
}

TEST_CASE("words: a command's name wins over a file of that name, and says so", "[cli][words]") {
    const Words words = read({"types"}, {"types"});
    CHECK(words.command == "types");
    CHECK_FALSE(words.core.has_value());
    REQUIRE(words.notes.size() == 1);
    CHECK_THAT(words.notes[0], ContainsSubstring("./types"));
    CHECK(read({"types"}).notes.empty());
    CHECK(read({"types", "types"}, {"types"}).core == "types");
}

TEST_CASE("words: with --core no word is taken for a file", "[cli][words]") {
    CHECK(read({"show", "0x10"}, {"0x10"}, true).address == "0x10");
    CHECK(objection({"core.1"}, {"core.1"}, true).code == "unknown-command");
    CHECK(objection({"types", "core.1"}, {"core.1"}, true).code == "unexpected-word");
}

TEST_CASE("words: none at all", "[cli][words]") { CHECK(read({}).command.empty()); }

TEST_CASE("words: help takes one word, whatever it is", "[cli][words]") {
    CHECK(read({"help", "core.1"}).topics == std::vector<std::string>{"core.1"});
    CHECK(objection({"help", "types", "show"}).code == "unexpected-word");
    CHECK(objection({"help", "types", "show"}).hint == "heapsift help types");
}

TEST_CASE("words: an unknown word gets the nearest command", "[cli][words]") {
    CHECK(objection({"tpyes"}).hint == "did you mean: heapsift types");
    CHECK(objection({"core.1", "shwo"}).hint == "did you mean: heapsift show");
    CHECK(objection({"qqqqqq"}).hint == "heapsift --help lists the commands");
    CHECK(objection({"core.2"}).code == "unknown-command");
}

TEST_CASE("words: a word that fits nowhere is never dropped", "[cli][words]") {
    CHECK(objection({"types", "core.2"}).code == "no-such-file");
    CHECK(objection({"types", "core.1", "more"}).code == "unexpected-word");
    CHECK(objection({"show", "core.2"}).code == "no-such-file");
    CHECK(objection({"show", "0x10", "0x20"}).code == "unexpected-word");
    CHECK_THAT(objection({"show", "core2", "0x20"}).message, ContainsSubstring("core2"));
    CHECK_THAT(objection({"show", "foo", "0x20"}).message, ContainsSubstring("foo"));
}

TEST_CASE("words: a process id stands where a core may", "[cli][words][live]") {
    for (const auto& order :
         {std::vector<std::string>{"4711", "types"}, std::vector<std::string>{"types", "4711"}}) {
        const Words words = read(order);
        CHECK(words.command == "types");
        CHECK(words.process == 4711);
        CHECK_FALSE(words.core.has_value());
    }
    CHECK(read({"4711"}).command == "overview");
    for (const auto& order :
         {std::vector<std::string>{"show", "4711", "0x10"}, std::vector<std::string>{"show", "0x10", "4711"},
          std::vector<std::string>{"4711", "show", "0x10"}}) {
        CHECK(read(order).process == 4711);
        CHECK(read(order).address == "0x10");
    }
    CHECK(read({"show", "4711", "app.CACHE"}).address == "app.CACHE");
    CHECK(read({"show", "4711"}).process == 4711);
    // Eight digits are an address, and beside a core a number is whatever the command makes of it.
    CHECK(read({"show", "12345678"}).address == "12345678");
    CHECK(read({"show", "core.1", "4711"}).address == "4711");
    CHECK(read({"show", "4711", "core.1"}).address == "4711");
    CHECK(read({"batch", "4711"}).paths == std::vector<std::string>{"4711"});
    CHECK(objection({"4711", "core.1"}).code == "two-cores");
    CHECK(objection({"types", "4711", "core.1"}).code == "two-cores");
    CHECK(objection({"types", "core.1", "4711"}).code == "two-cores");
    CHECK(objection({"types", "4711", "4712"}).code == "two-cores");
    CHECK(objection({"4711"}, {}, true).code == "unknown-command");
    CHECK(objection({"types", "4711"}, {}, true).code == "unexpected-word");
    CHECK(objection({"4711", "tpyes"}).hint == "did you mean: heapsift types");
}

TEST_CASE("words: a script, two cores, an address", "[cli][words]") {
    CHECK(objection({"train.py"}).code == "script");
    CHECK(objection({"train.py"}, {"train.py"}).code == "script");
    CHECK(objection({"types", "./train.py"}).code == "script");
    CHECK(objection({"core.1", "core.2"}, {"core.1", "core.2"}).code == "two-cores");
    CHECK(objection({"types", "core.1", "core.2"}, {"core.1", "core.2"}).code == "two-cores");
    CHECK(objection({"0x7f31c2a4d5e0"}).hint == "did you mean: heapsift show 0x7f31c2a4d5e0");
    CHECK(objection({"core.1", "7f31c2a4d5e0"}).hint == "did you mean: heapsift show 7f31c2a4d5e0 core.1");
    CHECK(objection({"0x7f31c2a4d5e0", "core.1"}).hint ==
          "did you mean: heapsift show 0x7f31c2a4d5e0 core.1");
    CHECK(objection({"types", "0x7f31c2a4d5e0", "a b/core"}).hint ==
          "did you mean: heapsift show 0x7f31c2a4d5e0 'a b/core'");
}

TEST_CASE("words: a file named like a number is a file", "[cli][words]") {
    CHECK(read({"4711"}, {"4711"}).core == "4711");
    CHECK_FALSE(read({"4711"}, {"4711"}).process.has_value());
}

namespace {

OptionShape shape(const std::string& name) {
    if (name == "--limit" || name == "-n" || name == "--core") return OptionShape::value;
    if (name == "--json" || name == "-q") return OptionShape::flag;
    return OptionShape::unknown;
}

Arguments split(const std::vector<std::string>& arguments) { return split_arguments(arguments, shape); }

}  // namespace

TEST_CASE("arguments: options stand anywhere, values in every spelling", "[cli][arguments]") {
    for (const auto& arguments : {std::vector<std::string>{"types", "-n", "5", "core.1"},
                                  {"types", "-n5", "core.1"},
                                  {"-n=5", "types", "core.1"},
                                  {"types", "core.1", "-qn5"}}) {
        const Arguments result = split(arguments);
        CHECK(result.words == std::vector<std::string>{"types", "core.1"});
        CHECK(result.options.back().name == "-n");
        CHECK(result.options.back().value == "5");
    }
    CHECK(split({"--limit=5"}).options[0].value == "5");
    CHECK(split({"--limit", "-5"}).options[0].value == "-5");
}

TEST_CASE("arguments: a statement may begin with a comment", "[cli]") {
    const Arguments result =
        split({"query", "-- which?\nSELECT a=1", "--types\nSELECT 1", "--json", "--json=x\ny"});
    CHECK(result.words == std::vector<std::string>{"query", "-- which?\nSELECT a=1", "--types\nSELECT 1"});
    CHECK(result.options.size() == 2);
}

TEST_CASE("arguments: two dashes end the options, one dash is a word", "[cli][arguments]") {
    const Arguments result = split({"--json", "--", "-n", "--json"});
    CHECK(result.options.size() == 1);
    CHECK(result.words == std::vector<std::string>{"-n", "--json"});
    CHECK(split({"-"}).words == std::vector<std::string>{"-"});
}

TEST_CASE("arguments: what is unknown or lacks its value is marked", "[cli][arguments]") {
    CHECK_FALSE(split({"--limt", "3"}).options[0].known);
    CHECK(split({"-qx"}).options[0].name == "-qx");
    CHECK_FALSE(split({"-qx"}).options[0].known);
    CHECK(split({"--limit"}).options[0].missing_value);
    CHECK(split({"--core", "--json"}).options[0].missing_value);
    CHECK(split({"--core", "--json"}).options[1].name == "--json");
    CHECK(split({"--core", "--other"}).options[0].value == "--other");
}

TEST_CASE("words: query takes a statement, which may have slashes and digits, before or after its core",
          "[cli][words][query]") {
    for (const auto& order : {std::vector<std::string>{"query", "SELECT size/1024 FROM object", "core.1"},
                              {"query", "core.1", "SELECT size/1024 FROM object"},
                              {"core.1", "query", "SELECT size/1024 FROM object"}}) {
        const Words words = read(order);
        CHECK(words.sql == "SELECT size/1024 FROM object");
        CHECK(words.core == "core.1");
    }
    CHECK(read({"query", "-"}).sql == "-");
    CHECK(read({"query", "VALUES(1)", "4711"}).process == 4711);
    CHECK_FALSE(read({"query", "core.1"}).sql.has_value());
    CHECK(read({"query", "SELECT 1"}, {"core.1"}, true).sql == "SELECT 1");
    CHECK(objection({"query", "SELECT", "1"}).code == "no-such-file");
    CHECK(objection({"query", "SELECT 1", "SELECT 2"}).code == "no-such-file");
    CHECK(read({"query", "SELECT 1", "folder/gone"}).core == "folder/gone");
}
