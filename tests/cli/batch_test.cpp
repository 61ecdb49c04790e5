// Many cores: each job has its own process, whatever becomes of it; the line that each core gets; which paths
// the words mean.

#include "cli/render/batch.h"
#include "cli/child_processes.h"
#include "cli/console.h"
#include "cli/core_paths.h"
#include "cli/invocation.h"
#include "cli/json_envelope.h"
#include "cli/program.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

using namespace heapsift;
using namespace heapsift::test;

namespace {

void say(int descriptor, const std::string& text) {
    [[maybe_unused]] const auto n = ::write(descriptor, text.data(), text.size());
}

std::vector<ChildEnd> run(std::size_t count, const ChildRules& rules,
                          const std::function<int(std::size_t)>& job) {
    std::vector<ChildEnd> ends;
    run_in_children(count, rules, job, [&](std::size_t i, const ChildEnd& end) {
        CHECK(i == ends.size());  // in order
        ends.push_back(end);
    });
    return ends;
}

Json line_of(const ChildEnd& end, bool redact = false) {
    return batch_line("/cores/core.1", end, Redactor(redact));
}

ChildEnd ended(int exit, std::string output, std::string errors = {}) {
    ChildEnd end;
    end.exit = exit;
    end.output = std::move(output);
    end.errors = std::move(errors);
    return end;
}

bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

constexpr const char* good =
    R"({"schema":"heapsift.overview/1","heapsift":"0.1.0","complete":true,"certain":true,"warnings":[],)"
    R"("core":{"path":"/cores/core.1","chosen_by":"option","pid":5},"data":{"headline":"x","signature":"s"}})";

}  // namespace

TEST_CASE("children: each is told in the order of the jobs, however many run at a time", "[cli][batch]") {
    const std::size_t at_once = GENERATE(1, 2, 5, 40);
    const auto ends = run(12, {at_once, std::chrono::seconds(0)}, [](std::size_t i) {
        ::usleep(static_cast<useconds_t>((12 - i) * 2000));
        say(STDOUT_FILENO, std::to_string(i) + std::string(100000, '.'));
        say(STDERR_FILENO, "warning");
        return static_cast<int>(i);
    });
    REQUIRE(ends.size() == 12);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        CHECK(ends[i].output == std::to_string(i) + std::string(100000, '.'));
        CHECK(ends[i].errors == "warning");
        CHECK(ends[i].exit == static_cast<int>(i));
        CHECK(ends[i].signal == 0);
    }
    CHECK(no_children());
}

TEST_CASE("children: one that crashes, is killed or hangs harms no other", "[cli][batch]") {
    const auto ends = run(4, {2, std::chrono::seconds(1)}, [](std::size_t i) {
        if (i == 0) ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV);
        if (i == 1) ::raise(SIGKILL);
        if (i == 2)
            for (;;) ::pause();
        say(STDOUT_FILENO, "well");
        return 0;
    });
    REQUIRE(ends.size() == 4);
    CHECK(ends[0].signal == SIGSEGV);
    CHECK(ends[1].signal == SIGKILL);
    CHECK_FALSE(ends[1].timed_out);
    CHECK(ends[2].timed_out);
    CHECK(ends[3].output == "well");
    CHECK(no_children());
}

TEST_CASE("children: what the reader of the lines throws ends them all", "[cli][batch]") {
    const auto job = [](std::size_t i) {
        while (i > 0) ::pause();
        return 0;
    };
    CHECK_THROWS_AS(run_in_children(3, {3, std::chrono::seconds(0)}, job,
                                    [](std::size_t, const ChildEnd&) { throw OutputClosed{}; }),
                    OutputClosed);
    CHECK(no_children());
}

TEST_CASE("children: they end when nobody reads standard output any more", "[cli][batch]") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const int kept = ::dup(STDOUT_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    ::close(ends[0]);
    bool closed = false;
    try {
        run_in_children(
            1, {},
            [](std::size_t) {
                for (;;) ::pause();
                return 0;
            },
            [](std::size_t, const ChildEnd&) {});
    } catch (const OutputClosed&) {
        closed = true;
    }
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
    CHECK(closed);
    CHECK(no_children());
}

TEST_CASE("batch: the line of an overview", "[cli][batch]") {
    const Json line = line_of(ended(0, good));
    CHECK(json_text(line) ==
          R"({"path":"/cores/core.1","exit":0,"overview":{"headline":"x","signature":"s"},"signature":"s",)"
          R"("complete":true,"certain":true,"warnings":[],"core":{"pid":5}})");
    CHECK(line_of(ended(3, good))["exit"] == 3);
    CHECK(line_of(ended(0, good), true)["path"] == "core.1");
}

TEST_CASE("batch: failures are lines too", "[cli][batch]") {
    const Json line = line_of(
        ended(1, R"({"core":null,"data":null,"error":{"code":"not-cpython","message":"m","hint":"h"}})"));
    CHECK(line["exit"] == 1);
    CHECK(line["error"]["code"] == "not-cpython");
    CHECK(line["signature"] == "not analysed: not-cpython");
    CHECK_FALSE(line.contains("overview"));

    ChildEnd end;
    const auto code = [&] {
        const Json json = line_of(end);
        CHECK(json["exit"] == 1);
        CHECK_THAT(json["error"]["message"].get<std::string>(), ContainsSubstring("/cores/core.1"));
        return json["error"]["code"].get<std::string>();
    };
    CHECK(code() == "no-answer");
    end.signal = SIGSEGV;
    CHECK(code() == "crashed");
    CHECK_THAT(line_of(end)["error"]["message"].get<std::string>(), ContainsSubstring("SIGSEGV"));
    end.signal = SIGKILL;
    CHECK(code() == "killed");
    end.output = good;  // it was killed before it ended
    CHECK(code() == "killed");
    end.timed_out = true;
    CHECK(code() == "timed-out");
    end = {};
    end.not_started = EAGAIN;
    CHECK(code() == "not-started");
    CHECK(line_of(ended(
              1, "", "heapsift: warning: x\nheapsift: the core could not be read\n"))["error"]["message"] ==
          "the core could not be read");
    CHECK(line_of(ended(0, "{\"cut"))["error"]["code"] == "no-answer");
}

TEST_CASE("batch: words are files, folders with cores, and lists", "[cli][batch]") {
    const TemporaryDirectory directory;
    const std::string core = CoreWriter().thread(1, 6).load(0x10000, std::string(4096, 'a')).bytes();
    const std::string second = directory.write("cores/b", core), first = directory.write("cores/a", core);
    directory.write("cores/text", "no core, but long enough to be one");
    directory.write("cores/empty", "");
    directory.write("cores/deeper/c", core);
    std::istringstream nothing;
    const std::vector<std::string> words = {directory.path() + "/cores", "/nonexistent", first, first};
    const CorePaths found = find_core_paths(words, nothing);
    CHECK(found.paths == std::vector<std::string>{first, second, "/nonexistent", first, first});
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0] ==
          directory.path() + "/cores: 2 cores; left out: 2 files that are no cores, 1 folder");

    const std::vector<std::string> dash = {"-"};
    std::istringstream lines("a b\n\nc\n"), nul(std::string("a\nb\0c\0", 6)), unfinished("last");
    CHECK(find_core_paths(dash, lines).paths == std::vector<std::string>{"a b", "c"});
    CHECK(find_core_paths(dash, nul).paths == std::vector<std::string>{"a\nb", "c"});
    CHECK(find_core_paths(dash, unfinished).paths == std::vector<std::string>{"last"});
}

TEST_CASE("batch: wrong command lines", "[cli][batch][invocation]") {
    const auto code = [](std::vector<std::string> arguments) -> std::string {
        try {
            Invocation(std::move(arguments), run_program).run();
        } catch (const Error& error) {
            CHECK(error.exit() == ExitCode::wrong_usage);
            return error.code();
        }
        return "none";
    };
    CHECK(code({"batch"}) == "no-paths");
    CHECK(code({"batch", "--core", "x", "y"}) == "bad-option");
    CHECK(code({"batch", "-j", "0", "y"}) == "bad-option");
    CHECK(code({"batch", "--format", "csv", "y"}) == "bad-option");
}
