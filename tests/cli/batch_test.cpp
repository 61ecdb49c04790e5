// Many cores: each job has its own process, whatever becomes of it; the line that each core gets; which paths
// the words mean.

#include "cli/render/batch.h"
#include "cli/batch_lines.h"
#include "cli/child_processes.h"
#include "cli/console.h"
#include "cli/core_paths.h"
#include "cli/invocation.h"
#include "cli/json_envelope.h"
#include "cli/piped_core.h"
#include "cli/program.h"
#include "parsers/elf/core_key.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
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
    return batch_line({"/cores/core.1", "0123", {}}, end, Redactor(redact), false);
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

TEST_CASE("children: a job that is not wanted is neither run nor told of, and is asked about in its turn",
          "[cli][batch]") {
    const std::size_t at_once = GENERATE(1, 3);
    std::vector<std::size_t> asked, told;
    ChildRules rules{at_once, std::chrono::seconds(0)};
    rules.wanted = [&](std::size_t i) {
        asked.push_back(i);
        return i % 3 != 1;
    };
    run_in_children(
        10, rules,
        [](std::size_t i) {
            ::usleep(static_cast<useconds_t>((10 - i) * 1000));
            return static_cast<int>(i);
        },
        [&](std::size_t i, const ChildEnd& end) {
            CHECK(end.exit == static_cast<int>(i));
            told.push_back(i);
            // One at a time, nothing is asked about before those in front of it have been told of.
            if (at_once == 1) CHECK(asked.size() <= i + 2);
        });
    CHECK(asked == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(told == std::vector<std::size_t>{0, 2, 3, 5, 6, 8, 9});
    rules.wanted = [](std::size_t) { return false; };
    run_in_children(
        10, rules, [](std::size_t) { return 0; },
        [](std::size_t, const ChildEnd&) { FAIL("none is wanted"); });
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
    CHECK(line["schema"] == "heapsift.batch/1");
    CHECK(line["identity"] == "0123");
    CHECK(line["signature"] == "s");
    CHECK(line["headline"] == "x");
    CHECK(line["pid"] == 5);
    CHECK(line["complete"] == true);
    CHECK(line["overview"] == Json::parse(R"({"headline":"x","signature":"s"})"));
    CHECK(line["core"] == Json::parse(R"({"pid":5})"));
    CHECK(line_of(ended(3, good))["exit"] == 3);
    CHECK(line_of(ended(0, good), true)["path"] == "core.1");
    const Json brief = batch_line({"/cores/core.1", "", {}}, ended(0, good), Redactor(false), true);
    CHECK_FALSE(brief.contains("overview"));
    CHECK_FALSE(brief.contains("core"));
    CHECK(brief["identity"].is_null());
}

TEST_CASE("batch: each line has the same columns", "[cli][batch]") {
    const auto names = [](const Json& line) {
        std::set<std::string> all;
        for (const auto& [name, value] : line.items())
            if (name != "error" && name != "overview") all.insert(name);
        return all;
    };
    ChildEnd killed;
    killed.signal = SIGKILL;
    CHECK(names(line_of(ended(0, good))) == names(line_of(killed)));
}

TEST_CASE("batch: columns from an overview, and from whoever stored the core", "[cli][batch]") {
    const char* document =
        R"({"complete":true,"certain":true,"warnings":[],"core":{"path":"p","pid":5,"command":"python3 a.py",)"
        R"("python":{"version":"3.11.2","debug":true,"free_threaded":false}},"data":{"process":{"ended":"e",)"
        R"("signal_name":"SIGKILL","threads":2},"program":{"host":"pod-1","container":null,"started":null,)"
        R"("packages":{"numpy":"1.24.2"}},"memory":{"mapped":9,"in_use":7},"types":{"total":{"count":3,)"
        R"("memory":4,"array_data":0}},"garbage":1,"suspects":[{"kind":"k","pattern":"p","bytes":2,"share":0.5,)"
        R"("object":{}}],"signature":"s"}})";
    BatchCore core{"/cores/core.1", "0123", {}};
    Json line = batch_line(core, ended(0, document), Redactor(false), true);
    CHECK(line["host"] == "pod-1");
    CHECK(line["interpreter"] == "CPython 3.11.2, debug");
    CHECK(line["packages"]["numpy"] == "1.24.2");
    CHECK(line["in_use"] == 7);
    CHECK(line["objects"] == 3);
    CHECK(line["suspects"][0]["pattern"] == "p");
    CHECK_FALSE(line["suspects"][0].contains("object"));
    core.stored = {"node-7", "0123456789abcdef0123456789abcdef", "/sbin/init", 1700000000.5};
    line = batch_line(core, ended(0, document), Redactor(false), true);
    CHECK(line["host"] == "node-7");
    CHECK(line["container"] == "container");
    CHECK(line["stored"] == "2023-11-14T22:13:20Z");
    CHECK(batch_line(core, ended(0, document), Redactor(true), true)["host"].is_null());
}

TEST_CASE("batch: what systemd-coredump's names say", "[cli][batch]") {
    const StoredName name =
        stored_name("core.python3\\x2e11.1000.0123456789abcdef0123456789abcdef.77.1700000000500000.zst");
    CHECK(name.boot == "0123456789abcdef0123456789abcdef");
    CHECK(name.microseconds == 1700000000500000);
    CHECK(stored_name("core.1234").boot.empty());
    CHECK(stored_name("core.a.1000.0123.77.17").boot.empty());
    CHECK(stored_name("").microseconds == 0);
}

TEST_CASE("batch: a file of lines is gone on with, without what was not finished", "[cli][batch]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/lines";
    const std::string one = R"({"schema":"heapsift.batch/1","path":"a","identity":"1"})";
    {
        LinesFile file(path, false);
        file.write(one + "\n");
        CHECK_THROWS_AS(LinesFile(path, true), Error);  // in use
    }
    CHECK_THROWS_AS(LinesFile(path, false), Error);  // exists
    { std::ofstream(path, std::ios::app) << R"({"schema":"heapsift.ba)"; }
    AnsweredCores answered;
    answered.add_lines(path);
    CHECK(answered.has("1", "elsewhere"));
    CHECK_FALSE(answered.has("2", "a"));
    CHECK_FALSE(answered.has("", "a"));
    CHECK(answered.skipped() == 1);
    { LinesFile(path, true).write("x\n"); }
    std::ifstream in(path);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    CHECK(all == one + "\nx\n");
    answered.add_lines(directory.path() + "/none");
    AnsweredCores some;
    some.add_line(
        Json::parse(R"({"schema":"heapsift.batch/1","path":"a","identity":"3","error":{"code":"killed"}})"));
    some.add_line(Json::parse(
        R"({"schema":"heapsift.batch/1","path":"b","identity":null,"error":{"code":"no-core"}})"));
    CHECK_FALSE(some.has("3", "a"));
    CHECK(some.has("", "b"));
    CHECK_FALSE(some.has("4", "b"));
}

TEST_CASE("batch: what a limit ended is asked again where that is larger now", "[cli][batch]") {
    BatchCore core{"/cores/core.1", "0123", {}, 0, {60, 1 << 30}};
    ChildEnd end;
    end.signal = SIGKILL;
    end.timed_out = true;
    const Json slow = batch_line(core, end, Redactor(false), true);
    CHECK(slow["limits"] == Json::parse(R"({"timeout":60,"max_memory":1073741824})"));
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 30}) {
        const BatchCore large{"/cores/core.1", "0123", {}, 0, {60, limit}};
        const Json failed =
            batch_line(large, ended(1, R"({"error":{"code":"out-of-memory","message":"m","hint":"h"}})"),
                       Redactor(false), true);
        CHECK((failed["error"]["hint"] == "h") == (limit == 0));
        CHECK_THAT(failed["error"]["hint"].get<std::string>(),
                   ContainsSubstring(limit == 0 ? "h" : "--max-memory"));
    }
    const Json large = batch_line(
        core, ended(1, R"({"core":null,"data":null,"error":{"code":"out-of-memory","message":"m"}})"),
        Redactor(false), true);
    const auto answered = [](const Json& line, BatchLimits limits) {
        AnsweredCores cores(limits);
        cores.add_line(line);
        return cores.has("0123", "x");
    };
    CHECK(answered(slow, {60, 2U << 30}));
    CHECK(answered(slow, {10, 0}));
    CHECK_FALSE(answered(slow, {61, 1}));
    CHECK_FALSE(answered(slow, {0, 1}));
    CHECK(answered(large, {0, 1 << 30}));
    CHECK(answered(large, {0, 1 << 29}));
    CHECK_FALSE(answered(large, {1, (1 << 30) + 1}));
    CHECK_FALSE(answered(large, {1, 0}));
    Json old = slow;
    old.erase("limits");
    CHECK(answered(old, {0, 0}));
    core.limits = {};
    CHECK(answered(batch_line(core, end, Redactor(false), true), {0, 0}));
    CHECK(answered(batch_line(core, ended(0, good), Redactor(false), true), {0, 0}));
    AnsweredCores both({100, 0});
    both.add_line(slow);
    both.add_line(batch_line({"/cores/core.1", "0123", {}, 0, {100, 0}}, end, Redactor(false), true));
    CHECK(both.has("0123", "x"));
}

TEST_CASE("batch: what is no file of lines is not gone on with", "[cli][batch]") {
    const TemporaryDirectory directory;
    CHECK(may_be_lines(directory.below("not there")));
    CHECK(may_be_lines(directory.write("empty", "")));
    CHECK(may_be_lines(directory.write("lines", "{\"schema\":\"heapsift.batch/1\"}\n")));
    CHECK(may_be_lines(directory.write("half a line", "{\"sch")));
    CHECK_FALSE(may_be_lines(directory.write("core",
                                             "\x7f"
                                             "ELF\n")));
}

TEST_CASE("batch: a file that is gone on with loses no line at its end that a person wrote", "[cli][batch]") {
    const TemporaryDirectory directory;
    const auto after = [&](const std::string& before) {
        const std::string path = directory.write("lines", before);
        LinesFile(path, true).write("{}\n");
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string line = "{\"schema\":\"heapsift.batch/1\",\"path\":\"a\"}";
    CHECK(after(line + "\n") == line + "\n{}\n");
    CHECK(after(line) == line + "\n{}\n");  // an editor that writes no end of the last line
    CHECK(after(line + "\n" + line.substr(0, 20)) == line + "\n{}\n");
    CHECK(after(line + "\n{\"sch") == line + "\n{}\n");
    CHECK(after(line + "\n# seen, Ann") == line + "\n# seen, Ann\n{}\n");
    CHECK(after("") == "{}\n");
}

TEST_CASE("batch: a path that is not UTF-8 is known again by its line", "[cli][batch]") {
    CHECK(path_in_line("/cores/größe 1") == "/cores/größe 1");
    CHECK(path_in_line("") == "");
    CHECK(path_in_line("a\xff\xe2\x82z") == "a\\xff\\xe2\\x82z");
    const ChildEnd end = ended(1, R"({"error":{"code":"no-such-file","message":"x","hint":null}})");
    const Json line =
        Json::parse(json_text(batch_line({"/c/\xff\xfe", "", {}, 0, {}}, end, Redactor(false), true)));
    CHECK(line["path"] == "/c/\\xff\\xfe");
    AnsweredCores answered;
    answered.add_line(line);
    CHECK(answered.has("", path_in_line("/c/\xff\xfe")));
    CHECK_FALSE(answered.has("", path_in_line("/c/\xfe\xff")));
}

TEST_CASE("batch: a folder, or a device, has no lines to go on with", "[cli][batch]") {
    const TemporaryDirectory directory;
    const auto code_of = [](const std::string& path) {
        try {
            AnsweredCores().add_lines(path);
        } catch (const Error& error) {
            return error.code() + fmt::format(" {}", static_cast<int>(error.exit()));
        }
        return std::string();
    };
    CHECK(code_of(directory.path()) == "no-lines 2");
    CHECK(code_of("/dev/full") == "no-lines 2");
    CHECK(code_of("/dev/null").empty());
    CHECK(code_of(directory.below("not there")).empty());
}

TEST_CASE("batch: a core that is cut is another than the whole one, and than one that was cut elsewhere",
          "[cli][batch]") {
    CHECK(cut_core_key("0123", 77) == "0123-cut-77");
    CHECK(cut_core_key("0123-cut-5", 77) == "0123-cut-5");
    CHECK(cut_core_key("", 77).empty());
    std::string cut = good;
    cut.replace(cut.find("\"warnings\":[]"), 13,
                R"("warnings":[{"code":"stream-cut","message":"x","count":1}])");
    const Json line = batch_line({"/cores/core.1", "0123", {}, 77}, ended(3, cut), Redactor(false), true);
    CHECK(line["identity"] == "0123-cut-77");
    CHECK(batch_line({"/cores/core.1", "", {}, 77}, ended(3, cut), Redactor(false), true)["identity"]
              .is_null());
    AnsweredCores answered;
    answered.add_line(line);
    CHECK(answered.has("0123", "elsewhere", 77));
    CHECK_FALSE(answered.has("0123", "/cores/core.1", 99));
    CHECK(answered.has("0123-cut-77", "plain", 1000));
}

TEST_CASE("batch: each path is in one part", "[cli][batch]") {
    const Shard all = shard_of("1/1");
    CHECK(all.has("x"));
    std::size_t most = 0;
    for (std::size_t part = 1; part <= 4; ++part) {
        const Shard shard = shard_of(std::to_string(part) + "/4");
        std::size_t has = 0;
        for (int i = 0; i < 1000; ++i) has += shard.has("core." + std::to_string(i));
        most += has;
        CHECK(has > 150);
    }
    CHECK(most == 1000);
    for (const char* wrong : {"", "0/4", "5/4", "1", "1/", "/4", "a/4", "1/4x", "1/999999999"})
        CHECK_THROWS_AS(shard_of(wrong), Error);
}

TEST_CASE("batch: what cannot be read in a folder is asked, and says so itself", "[cli][batch]") {
    const TemporaryDirectory directory;
    directory.write("cores/text", "no core, but long enough to be one");
    const std::string folder = directory.path() + "/cores", link = folder + "/core.1";
    REQUIRE(::symlink("/nonexistent/core", link.c_str()) == 0);
    REQUIRE(::mkfifo((folder + "/fifo").c_str(), 0600) == 0);
    std::istringstream nothing;
    const std::vector<std::string> words = {folder};
    CHECK(find_core_paths(words, nothing).paths == std::vector<std::string>{link});
    if (::geteuid() == 0) return;  // who may read everything
    ::chmod((folder + "/text").c_str(), 0);
    CHECK(find_core_paths(words, nothing).paths == std::vector<std::string>{link, folder + "/text"});
    ::chmod(folder.c_str(), 0);
    CHECK(find_core_paths(words, nothing).paths == words);
    ::chmod(folder.c_str(), 0700);
}

TEST_CASE("batch: a core on standard input, or a list", "[cli][batch]") {
    const TemporaryDirectory directory;
    const std::string bytes = CoreWriter().thread(1, 6).load(0x10000, std::string(4096, 'a')).bytes();
    const auto piped = [&](const std::string& content) {
        const std::string path = directory.write("input", content);
        const Descriptor file(::open(path.c_str(), O_RDONLY));
        return read_piped_input(file.number(), directory.path());
    };
    const PipedInput core = piped(bytes);
    REQUIRE(core.core.is_open());
    CHECK(core_key(core.core_path()) == core_key(directory.write("core", bytes)));
    CHECK(core.text.empty());
    const PipedInput list = piped("a\nb\n");
    CHECK_FALSE(list.core.is_open());
    CHECK(list.text == "a\nb\n");
    CHECK(piped("").core.is_open());  // its line says that it is empty
    CHECK(piped(std::string("\x01\x02\x03\xff\xfe\n\x90zz", 9)).core.is_open());
    CHECK(piped(std::string(5000, '\0')).core.is_open());
    const std::string odd = directory.write("core.\x01\xff", bytes);
    CHECK(piped(odd + "\n").text == odd + "\n");
    CHECK(piped("\xff\xfe\x01\n.\n\xfe\xff").core.is_open());  // of which one line is a folder
    CHECK(piped("/nowhere/core.1\n/nowhere/core.2").text.size() == 31);
    CHECK_FALSE(piped("\n\n").core.is_open());
    CHECK(piped("(\xb5/\xfd").core.is_open());  // the start of a compressed file
    CHECK(piped("/nowhere/\xc3\xa9").text == "/nowhere/\xc3\xa9");
}

TEST_CASE("batch: a core on standard input that finds no room says so", "[cli][batch]") {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("input", CoreWriter().thread(1, 6).load(0x10000, std::string(4096, 'a')).bytes());
    const Descriptor file(::open(path.c_str(), O_RDONLY));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto as_usual = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{100, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &little);
    const PipedInput input = read_piped_input(file.number(), directory.path());
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, as_usual);
    REQUIRE(input.failure);
    CHECK(input.failure->code() == "cannot-write");
    CHECK_FALSE(input.core.is_open());
    CHECK(::access(input.core_path().c_str(), F_OK) != 0);
}

TEST_CASE("batch: the key of a core is its own, wherever it lies", "[cli][batch]") {
    const TemporaryDirectory directory;
    const std::string core = CoreWriter().thread(1, 6).load(0x10000, std::string(4096, 'a')).bytes();
    const std::string key = core_key(directory.write("a", core));
    CHECK(key.size() == 32);
    CHECK(core_key(directory.write("b", core)) == key);
    CHECK(core_key(directory.write("c", core.substr(0, core.size() - 100))) ==
          key + "-cut-" + std::to_string(core.size() - 100));
    CHECK(core_key(directory.write(
              "d", CoreWriter().thread(2, 6).load(0x10000, std::string(4096, 'a')).bytes())) != key);
    for (std::size_t cut : {0, 1, 5, 17, 63, 64, 100, 200})
        CHECK(core_key(directory.write("e", core.substr(0, cut))).find(key) == std::string::npos);
    CHECK(core_key(directory.path()).empty());
    CHECK(core_key("/nonexistent").empty());
    std::string lies = core;
    for (std::size_t at = 32; at < 40; ++at) lies[at] = '\xff';  // e_phoff
    CHECK(core_key(directory.write("f", lies)).empty());
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

    CHECK(find_core_paths(words, nothing, "", true).paths ==
          std::vector<std::string>{first, second, "/nonexistent", first, first});
    const std::vector<std::string> text = {directory.path() + "/cores/text"};
    CHECK(find_core_paths(text, nothing).paths == text);
    const CorePaths left_out = find_core_paths(text, nothing, "", true);
    CHECK(left_out.paths.empty());
    CHECK(left_out.notes == std::vector<std::string>{"left out: 1 file that is no core"});

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
