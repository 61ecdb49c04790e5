// Wrong command lines: each is an error of exit 2 with a stable code, before any core is opened.

#include "cli/invocation.h"

#include "cli/command_list.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/program.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <unistd.h>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

struct Refusal {
    std::string code, message, hint;
};

Refusal refusal(const std::vector<std::string>& arguments) {
    try {
        Invocation(arguments, run_program).run();
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        CHECK((error.message() + error.hint()).find('\n') == std::string::npos);
        return {error.code(), error.message(), error.hint()};
    }
    return {"none", "", ""};
}

}  // namespace

TEST_CASE("command line: unknown options get the nearest one", "[cli][invocation]") {
    CHECK(refusal({"types", "--limt", "3"}).hint == "did you mean --limit");
    CHECK(refusal({"types", "-json"}).hint == "did you mean --json");
    CHECK(refusal({"types", "-limit=3"}).code == "unknown-option");
    CHECK(refusal({"types", "-j", "0"}).code == "bad-option");
    CHECK(refusal({"types", "-jx"}).code == "bad-option");
    CHECK(refusal({"--nonsense"}).code == "unknown-option");
    CHECK(refusal({"types", "--where", "size>1"}).message == "--where: types has no such option");
    CHECK_THAT(refusal({"types", "--top", "types"}).hint, ContainsSubstring("heapsift CORE --top types"));
}

TEST_CASE("command line: values that are missing, too many, or wrong", "[cli][invocation]") {
    CHECK(refusal({"types", "-n"}).code == "missing-value");
    CHECK(refusal({"types", "--core="}).code == "missing-value");
    CHECK(refusal({"types", "--core", "--json"}).code == "missing-value");
    CHECK(refusal({"types", "--json=1"}).code == "unexpected-value");
    CHECK(refusal({"types", "-n", "-5"}).code == "bad-option");
    CHECK(refusal({"types", "-n", "many"}).code == "bad-option");
    CHECK(refusal({"types", "--format", "yaml"}).hint == "choose text, json, jsonl, csv");
    CHECK(refusal({"types", "--sort", "weight"}).code == "bad-option");
    CHECK(refusal({"objects", "--where", "size"}).code == "bad-where");
}

TEST_CASE("command line: a table that is not built is not promised", "[cli][invocation]") {
    CHECK(refusal({"--top", "native"}).code == "not-built");
    CHECK(refusal({"--top", "typos"}).code == "bad-option");
}

TEST_CASE("command line: csv is for tables", "[cli][invocation]") {
    CHECK(refusal({"show", "0x10", "--format", "csv"}).code == "not-a-table");
    CHECK(refusal({"doctor", "--format", "csv"}).code == "not-a-table");
    CHECK(refusal({"gc", "--format", "csv"}).hint == "add --list, or use --json");
    CHECK(refusal({"why", "0x1000", "--format", "csv"}).code == "not-a-table");
    CHECK(refusal({"cycles", "--id", "1", "--format", "csv"}).code == "not-a-table");
}

TEST_CASE("command line: each command takes each format, or says that it is no table", "[cli][invocation]") {
    const TemporaryDirectory directory;
    const std::string core = directory.write("core.1", "no core");
    for (const Command& command : all_commands()) {
        if (command.own_format || !command.words.takes_core) continue;
        for (const char* format : {"text", "json", "jsonl", "csv"}) {
            std::vector<std::string> line{command.words.name, "--core", core, "--format", format};
            if (command.words.takes_address) line.emplace_back("0x1000");
            if (command.words.takes_sql) line.emplace_back("SELECT 1");
            if (command.words.takes_older) line.push_back("--output=" + core + ".html");
            INFO(command.words.name << " " << format);
            try {
                Invocation(line, run_program).run();
                FAIL("it takes what is no core");
            } catch (const Error& error) {
                if (!command.is_table && std::string_view(format) == "csv")
                    CHECK(error.code() == "not-a-table");
                else if (error.code() != "not-a-table" && error.code() != "not-a-terminal")  // browse
                    CHECK(error.code() == "not-a-core");
            }
        }
    }
}

TEST_CASE("command line: an address is needed, and is checked before the core is opened",
          "[cli][invocation]") {
    CHECK(refusal({"show"}).code == "no-address");
    CHECK(refusal({"show", "app.CACHE['x'"}).code == "bad-address");
}

TEST_CASE("command line: query needs SQL, and a limit of time of at least a second",
          "[cli][invocation][query]") {
    CHECK(refusal({"query"}).code == "no-sql");
    CHECK(refusal({"query", "SELECT 1", "--timeout", "0"}).code == "bad-option");
}

TEST_CASE("command line: export knows its format, and where not to write", "[cli][invocation][export]") {
    const TemporaryDirectory directory;
    const std::string there = directory.write("heap.db", "old"), core = directory.write("core.1", "bytes");
    const auto code = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"export", "--core", core});
        return refusal(arguments).code;
    };
    CHECK(code({}) == "no-output");
    CHECK(code({"-o", "heap.csv"}) == "unknown-ending");
    CHECK(refusal({"export", "--core", core, "-o", "heap"}).hint ==
          "end it in .db, .jsonl, .heapsnapshot, .folded, .dot, .svg, or add "
          "--format db|jsonl|heapsnapshot|folded|dot|svg");
    CHECK(refusal({"export", "-o", "x", "--format", "csv"}).hint ==
          "choose db, jsonl, heapsnapshot, folded, dot, svg");
    CHECK(code({"-o", there}) == "output-exists");
    CHECK(code({"-o", core, "--format", "db", "-f"}) == "output-is-core");
    CHECK(code({"-o", directory.path() + "/no/heap.db"}) == "cannot-create");
    CHECK(code({"-o", "-", "--format", "db"}) == "not-a-file");
    CHECK(code({"-o", "-", "--json"}) == "two-answers");
    CHECK(code({"-o", "heap.db", "-n", "3"}) == "bad-option");
}

TEST_CASE("command line: two cores, two formats", "[cli][invocation]") {
    CHECK(refusal({"types", "--core", "a", "--core=b"}).code == "two-cores");
    CHECK(refusal({"types", "--core", "a", "--core=b"}).message == "two cores given, a and b");
    for (const char* format : {"text", "jsonl", "csv"}) {
        CHECK(refusal({"types", "--json", "--format", format}).code == "two-formats");
        CHECK(refusal({"types", "--format", format, "--json"}).code == "two-formats");
    }
}

TEST_CASE("command line: files and directories that are not there, or are something else",
          "[cli][invocation]") {
    const TemporaryDirectory directory;
    const std::string file = directory.write("file", "bytes"), nothing = directory.path() + "/no thing";
    for (const char* option : {"--executable", "--sysroot", "--debug-dir"}) {
        const Refusal missing = refusal({"types", "--core", file, option, nothing});
        CHECK(missing.code == "no-such-file");
        CHECK_THAT(missing.message, ContainsSubstring(std::string(option) + " '" + nothing + "': no such "));
    }
    CHECK(refusal({"types", "--core", file, "--sysroot", file}).code == "not-a-directory");
    CHECK(refusal({"types", "--core", file, "--debug-dir", file}).code == "not-a-directory");
    CHECK(refusal({"types", "--core", file, "--executable", directory.path()}).code == "not-a-regular-file");
}

TEST_CASE("command line: --help does not hide what is wrong", "[cli][invocation]") {
    CHECK(refusal({"types", "--help", "extra"}).code == "no-such-file");
    CHECK(refusal({"--help", "typs"}).code == "unknown-command");
    CHECK(refusal({"types", "--help", "--limt"}).code == "unknown-option");
    CHECK(refusal({"help", "types", "objects"}).code == "unexpected-word");
}

TEST_CASE("command line: three dashes are no option; what counts once is refused twice",
          "[cli][invocation]") {
    CHECK(refusal({"types", "---limit=5"}).code == "unknown-option");
    const auto twice = refusal({"export", "-o", "a.db", "--output=b.db"});
    CHECK(twice.code == "bad-option");
    CHECK(twice.message == "--output is given twice");
    CHECK(refusal({"why", "0x10", "--paths", "0"}).message ==
          "--paths 0: a number from 1 to 10000 is needed");
    CHECK(refusal({"why", "0x10", "--paths", "10001"}).message ==
          "--paths 10001: a number from 1 to 10000 is needed");
    CHECK(refusal({"why", "0x10", "--exclude", "frame,,weak"}).code == "bad-exclude");
}

TEST_CASE("command line: of a living process, or of one that is not there", "[cli][invocation][live]") {
    const std::string nobody = "4194304";  // PID_MAX_LIMIT: no process can have it
    for (const auto& line :
         {std::vector<std::string>{nobody}, {"types", nobody}, {"capture", nobody, "-o", "/nowhere/core"}})
        CHECK_THROWS_AS(Invocation(line, run_program).run(), Error);
    CHECK(refusal({"index", nobody}).message == "index: of a living process no index is kept");
    CHECK(refusal({"types", "--core", "core.1", "--keep", "kept"}).message ==
          "--keep FILE: it keeps the core of a living process, and none is named");
    const std::string self = std::to_string(::getpid());
    const auto watching = [&](const std::string& option, const std::string& value,
                              const std::string& file = "/nowhere/core") {
        return refusal({"capture", self, "-o", file, option, value});
    };
    CHECK_THAT(watching("--when", "rss").hint, ContainsSubstring("rss>80%"));
    CHECK_THAT(watching("--every", "0").hint, ContainsSubstring("--every 30s"));
    CHECK_THAT(watching("--every", "1m").hint, ContainsSubstring("/nowhere/core.%t"));
    CHECK_THAT(watching("--keep", "2").hint, ContainsSubstring("--every"));
    CHECK_THAT(watching("--when", "rss>1K", "/nowhere/%x").hint, ContainsSubstring("%p is the process id"));
}

TEST_CASE("command line: unknown help", "[cli][invocation]") {
    CHECK(refusal({"help", "captur"}).hint == "did you mean: heapsift help capture");
    CHECK(refusal({"help", "nothing"}).code == "no-such-topic");
}

TEST_CASE("help: every command is listed with what it takes, every topic has its text", "[cli][help]") {
    const CommandOptions options("types", "objects grouped by type");
    const std::string help = general_help(all_commands(), options);
    for (const Command& command : all_commands())
        CHECK_THAT(help, ContainsSubstring("  " + command.words.name + " " + command.usage));
    for (const std::string& topic : help_topics()) CHECK_FALSE(help_topic(topic).empty());
    CHECK(help_topic("nothing").empty());
    CHECK_THAT(help_topic("capture"), ContainsSubstring("/proc/PID/root"));
    CHECK_THAT(first_words("/cores/core.1"), ContainsSubstring("The core in use is /cores/core.1"));
    CHECK_THAT(first_words(""), ContainsSubstring("No core is in use yet"));
}
