// What cores with the same cause have in common, and what must not distinguish them.

#include "analysis/suspects/signature.h"

#include "analysis/suspects/general_numbers.h"
#include "analysis/suspects/pattern.h"
#include "analysis/suspects/renamed_types.h"
#include "analysis/suspects/signature_program.h"
#include "tests/catch.h"
#include "tests/program/suspected.h"
#include "tests/program/suspects_of.h"

#include <csignal>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string program(const std::string& name, const std::string& arguments, bool with_arguments = true,
                    const CommandWords& words = {}) {
    ProcessInfo process;
    process.name = name;
    process.arguments = arguments;
    return program_name(process, words, with_arguments);
}

std::string program_of(const std::string& arguments, const CommandWords& words) {
    return program("python3", arguments.substr(0, 79), true, words);
}

/// As Python has it of these words: from 3.10 on both lists.
CommandWords words_of_script(const std::vector<std::string>& words, std::size_t script, bool original) {
    const std::vector<std::string> arguments(words.begin() + static_cast<std::ptrdiff_t>(script),
                                             words.end());
    return {original ? words : std::vector<std::string>(), arguments, {}};
}

}  // namespace

TEST_CASE("signature: the program is what Python was told to run", "[signature]") {
    CHECK(program("python3", "/usr/bin/python3 -X dev -u /srv/worker.py --id 7 ") == "worker.py");
    CHECK(program("python3", "python3.11 -m app.main serve") == "app.main");
    CHECK(program("python3", "python3 -c import time") == "-c");
    CHECK(program("python3", "python3 -i") == "python3");
    CHECK(program("python3", "python3 -mapp.main worker-a") == "app.main");
    CHECK(program("python3", "python3 -umapp.main q1") == "app.main");
    CHECK(program("python3", "python3 -Bc pass hello") == "-c");
    CHECK(program("python3", "python3 -cpass hello") == "-c");
    CHECK(program("python3", "python3 -uW ignore -Xdev app.py x") == "app.py");
    CHECK(program("python3", "python3 --check-hash-based-pycs always app.py") == "app.py");
    CHECK(program("gunicorn", "gunicorn: worker [shop]") == "gunicorn");
    CHECK(program("worker-48213", "") == "worker-#");
    CHECK(program("x", "/opt/job_20260101_12.bin") == "job_#_12.bin");
}

TEST_CASE("signature: a long command line, or one with blanks, tells its program by sys", "[signature]") {
    const std::string folder = "/home/deploy/applications/shop-production/current/releases/services/backend/";
    for (const bool original : {false, true}) {
        for (const char* script : {"billing.py", "orders.py"}) {
            const std::string path = folder + script;
            CHECK(program_of("/usr/bin/python3 " + path + " --id 7",
                             words_of_script({"/usr/bin/python3", path, "--id", "7"}, 1, original)) ==
                  script);
            // The interpreter's path alone is longer than what a core keeps.
            CHECK(program_of(folder + "bin/python3 " + path,
                             words_of_script({folder + "bin/python3", path}, 1, original)) == script);
        }
        CHECK(program_of("python3 -u /srv/my shop/run now.py a",
                         words_of_script({"python3", "-u", "/srv/my shop/run now.py", "a"}, 2, original)) ==
              "run now.py");
        // gdb knows the program, and no arguments.
        CHECK(program_of("/usr/bin/python3.11", words_of_script({"python3", "/srv/a.py"}, 1, original)) ==
              "a.py");
        // Short ones are as they were.
        CHECK(program_of("python3 -X dev -u /srv/worker.py --id 7",
                         words_of_script({"python3", "-X", "dev", "-u", "/srv/worker.py", "--id", "7"}, 4,
                                         original)) == "worker.py");
        CHECK(program_of("python3 -i", words_of_script({"python3", "-i", ""}, 2, original)) == "python3");
        // A title that the process gave itself.
        CHECK(program("gunicorn", "gunicorn: worker [shop]", true,
                      words_of_script({"python3", "/usr/bin/gunicorn", "shop"}, 1, original)) == "gunicorn");
    }
    const std::string python = folder + "bin/python3";
    CHECK(program_of(python + " -m app.main serve",
                     {{python, "-m", "app.main", "serve"}, {"/srv/app/main.py", "serve"}, "app.main"}) ==
          "app.main");
    CHECK(program_of(python + " -m app serve", {{}, {"/srv/app/__main__.py", "serve"}, "app.__main__"}) ==
          "app");
    CHECK(program_of(python + " -c pass", {{}, {"-c"}, {}}) == "-c");
    CHECK(program_of(python + " /srv/shop.zip", {{}, {"/srv/shop.zip"}, "__main__"}) == "shop.zip");
    CHECK(program_of("python3 -m app.main serve", {{}, {"/srv/app/main.py", "serve"}, "app.main"}) ==
          "app.main");
    // What the program made of sys.argv.
    CHECK(program_of("python3 /srv/worker.py --id 7", {{}, {"prog", "x"}, {}}) == "worker.py");
    CHECK(program_of("python3 /srv/worker.py --id 7", {{"x"}, {}, {}}) == "worker.py");
    CHECK(program_of("python3 /srv/worker.py --id 7", {{""}, {""}, {}}) == "worker.py");
    CHECK(program_of("python3 /srv/worker.py " + std::string(100, 'x'), {{}, {"prog"}, {}}) == "worker.py");
}

TEST_CASE("signature: up to 3.9 the main module's file tells a script with blanks, whatever sys.argv is now",
          "[signature]") {
    const auto of = [](const std::string& line, const std::vector<std::string>& arguments,
                       const std::string& file, const std::string& module = "") {
        return program_of(line, {{}, arguments, module, file});
    };
    CHECK(of("python3 a b/my app.py x y", {"x", "y"}, "a b/my app.py") == "my app.py");
    CHECK(of("python3 a b/my app.py x y", {"other", "x", "y"}, "/srv/a b/my app.py") == "my app.py");
    CHECK(of("python3 -u -X dev ../b/my app.py", {"other"}, "/srv/b/my app.py") == "my app.py");
    CHECK(of("python3 a b/my app.py 1", {"a b/my app.py", "1"}, "a b/my app.py", "evil") == "my app.py");
    const std::string deep = std::string(60, 'd') + "/" + std::string(60, 'e') + "/app.py";
    CHECK(of("python3 " + deep + " cmd", {"cmd"}, deep) == "app.py");
    CHECK(of("python3 " + deep + " cmd", {"run", "--x"}, deep) == "app.py");
    CHECK(of("python3 " + deep + " cmd", {"run", "--x"}, "/srv/" + deep) == "app.py");  // 3.9
    CHECK(of("python3 my app/ 1", {"my app/", "1"}, "my app/__main__.py", "__main__") == "my app");
    // What is not the script.
    CHECK(of("python3 -m tool.run /srv/app.py", {"/t/tool/run.py", "/srv/app.py"}, "/srv/app.py",
             "tool.run") == "tool.run");
    CHECK(of("python3 tool.py /srv/app.py", {"tool.py", "/srv/app.py"}, "/srv/app.py") == "tool.py");
    CHECK(of("python3 -c pass app.py", {"-c", "app.py"}, "app.py") == "-c");
    CHECK(of("python3 wrapp.py", {"x"}, "/srv/app.py") == "wrapp.py");
}

TEST_CASE("signature: a child of multiprocessing is of its parent's program",
          "[signature][multiprocessing]") {
    const std::string spawned =
        "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)";
    for (const std::string python :
         {"python3", "/opt/a/long/path/to/an/interpreter/of/a/virtual/environment/bin/python3"}) {
        for (const bool original : {false, true}) {
            const auto of = [&](const std::vector<std::string>& arguments, const std::string& module,
                                const std::string& file, bool copied, const std::string& command) {
                const std::vector<std::string> words = {python, "-c", command, "--multiprocessing-fork"};
                return program_of(
                    python + " -c " + command + " --multiprocessing-fork",
                    {original ? words : std::vector<std::string>(), arguments, module, file, copied});
            };
            CHECK(of({"app.py", "arg"}, "", "/srv/app.py", true, spawned) == "app.py");
            CHECK(of({"changed"}, "", "/srv/app.py", true, spawned) == "app.py");
            CHECK(of({"/srv/pkg/mod.py"}, "pkg.mod", "/srv/pkg/mod.py", true, spawned) == "pkg.mod");
            CHECK(of({"app.py"}, "", "/srv/app.py", true,
                     "from multiprocessing.forkserver import main; main(5, 6, ['__main__'])") == "app.py");
            if (python.size() > 70 && !original) continue;  // then nothing tells
            CHECK(of({"/srv/pkg/__main__.py", "x"}, "", "", false, spawned) == "pkg");
            CHECK(of({"-c"}, "", "", false, spawned) == "-c");
        }
    }
    // What the child was told is so, whatever the parent's sys.argv was by then.
    const auto told = [&](const std::string& of_parent, const std::vector<std::string>& arguments,
                          const std::string& package = "") {
        CommandWords words{{}, arguments, "", "", false};
        words.of_parent = of_parent;
        words.package = package;
        return program_of("python3 -c " + spawned, words);
    };
    CHECK(told("pkg.sub.__main__", {"x"}) == "pkg.sub");
    CHECK(told("pkg.__main__", {"/srv/pkg/__main__.py"}) == "pkg");
    CHECK(told("", {"-c", "x"}) == "-c");
    CHECK(told("", {"x"}) == "-c");
    CHECK(told("", {"/usr/bin/ipython3"}) == "ipython3");
    CHECK(told("", {"/lib/IPython/__main__.py"}) == "IPython");
    CHECK(told("/usr/bin/ipython", {"x"}) == "ipython");
    CHECK(told("__main__", {"my app"}) == "my app");
    CHECK(told("", {"/srv/pkg/sub/__main__.py"}, "pkg.sub") == "pkg.sub");
    CHECK(told("", {""}) == "-c");  // of a prompt: its own command line
    // Joblib's processes.
    const auto of_loky = [](const std::vector<std::string>& arguments, const std::string& package = "") {
        const std::string module = "joblib.externals.loky.backend.popen_loky_posix";
        CommandWords words{{}, arguments, module, "/lib/popen_loky_posix.py", false};
        words.package = package;
        return program_of("/usr/bin/python3 -m " + module + " --process-name LokyProcess-1 --pipe 14", words);
    };
    CHECK(of_loky({"/srv/app.py", "x"}) == "app.py");
    CHECK(of_loky({"-c"}) == "-c");
    CHECK(of_loky({"/srv/pkg/sub/__main__.py"}) == "sub");
    CHECK(of_loky({"/srv/pkg/sub/__main__.py"}, "pkg.sub") == "pkg.sub");
    // A title that the child gave itself.
    CHECK(program("worker", "worker: mail", true, {{}, {"app.py"}, "", "/srv/app.py", true}) == "worker");
}

TEST_CASE("signature: numbers in names of files and dates are no part of it", "[signature]") {
    CHECK(general_numbers("job_20261127.py", digits_of_files) == "job_#.py");
    CHECK(general_numbers("job_2026-11-27.py", digits_of_files) == "job_#.py");
    CHECK(general_numbers("job_7.12.2026_3.py", digits_of_files) == "job_#_3.py");
    CHECK(general_numbers("sha256.py", digits_of_files) == "sha256.py");
    CHECK(general_numbers("v1.2.3-12-2026.py", digits_of_files) == "v1.2.#.py");
    CHECK(general_numbers("12-34-56", digits_of_files) == "12-34-56");
    CHECK(general_numbers("2026-11", digits_of_files) == "#-11");
    CHECK(general_numbers("2026-11-", digits_of_files) == "#-11-");
    CHECK(general_numbers("", 3).empty());
    // By chance.
    CHECK(general_numbers("job-f47ac10b-58cc-4372-a567-0e02b2c3d479.py", digits_of_files) == "job-#.py");
    CHECK(general_numbers("f47ac10b-58cc-4372-a567-0e02b2c3d479", digits_of_files) == "#");
    CHECK(general_numbers("f47ac10b-58cc-4372-a567", digits_of_files) == "f47ac10b-58cc-#-a567");
    CHECK(general_numbers("cell_c329c7c45a3f.py", digits_of_files) == "cell_#.py");
    CHECK(general_numbers("aaaaaaaaaaaaaaaa1.py", digits_of_files) == "aaaaaaaaaaaaaaaa1.py");
    CHECK(general_numbers("deadbeefcafe.py", digits_of_files) == "deadbeefcafe.py");
    CHECK(general_numbers("sec329c7c45a3f.py", digits_of_files) == "sec329c7c45a3f.py");
    CHECK(general_numbers("tmp0_x8k2ab.py", digits_of_files) == "tmp#.py");
    CHECK(general_numbers("tmpabcdefgh", digits_of_files) == "tmp#");
    CHECK(general_numbers("tmp_reports.py", digits_of_files) == "tmp#.py");
    CHECK(general_numbers("tmpabcdefghi.py", digits_of_files) == "tmpabcdefghi.py");
    CHECK(general_numbers("tmp_app.py", digits_of_files) == "tmp_app.py");
    CHECK(general_numbers("tmp", digits_of_files) == "tmp");
    // Code without a file.
    CHECK(general_numbers("<ipython-input-3-c329c7c45a3f>", digits_of_files) == "<ipython-input-#-#>");
    CHECK(general_numbers("<ipython-input-12-012345678901>", digits_of_files) == "<ipython-input-#-#>");
    CHECK(general_numbers("<python-input-0>", digits_of_files) == "<stdin>");
    CHECK(general_numbers("<stdin>-12", digits_of_files) == "<stdin>");
    CHECK(general_numbers("<stdin-12>", digits_of_files) == "<stdin>");
    CHECK(general_numbers("<stdin>", digits_of_files) == "<stdin>");
    CHECK(general_numbers("<a>-x1", digits_of_files) == "<a>-x1");
    CHECK(general_numbers("<a>-", digits_of_files) == "<a>-");
    CHECK(general_numbers("<a", digits_of_files) == "<a");
    CHECK(general_numbers("<doctest shop.cart2[13]>", digits_of_files) == "<doctest shop.cart2[#]>");
    CHECK(general_numbers("<attrs generated init a.B_2>", digits_of_files) == "<attrs generated init a.B_2>");
    CHECK(general_numbers("<wrapper 0x7f12abcd>", digits_of_files) == "<wrapper #>");
    CHECK(general_numbers("<string>", digits_of_files) == "<string>");
    CHECK(general_numbers("<>", digits_of_files) == "<>");
    CHECK(general_call("f(), <ipython-input-3-c329c7c45a3f>") == "f(), <ipython-input-#-#>");
    CHECK(general_call("serve.<locals>.work(), job_20261127.py") == "work(), job_#.py");
    CHECK(general_call("work()") == "work()");
    CHECK(program("python3", "python3 run_2026-11-27.py") == "run_#.py");
    CHECK(program("python3", "python3 /tmp/tmpx3k_9ab0.py") == "tmp#.py");
}

TEST_CASE("signature: a type of the standard library has one name, whatever Python calls it", "[signature]") {
    CHECK(general_type_name("pathlib._local.PosixPath") == "pathlib.PosixPath");
    CHECK(general_type_name("pathlib.PosixPath") == "pathlib.PosixPath");
    CHECK(general_type_name("_ast.Module") == "ast.Module");
    CHECK(general_type_name("Struct") == "_struct.Struct");
    CHECK(general_type_name("weakref") == "weakref.ReferenceType");
    CHECK(general_type_name("__main__.Struct") == "__main__.Struct");
    CHECK(general_type_name("socket.timeout") == "socket.timeout");  // no TimeoutError before 3.10
    CHECK(general_type_name("").empty());
    CHECK(general_type_name("zzz") == "zzz");
    OverviewResult result;
    result.memory = {{"Python objects", 5}};
    result.dominant_types = {"Context", "dict"};
    CHECK(signature(result, {}, {}, "", "app.py") ==
          "app.py; no suspect; Python objects: _contextvars.Context, dict");
}

TEST_CASE("signature: the program is escaped, and not longer than a line", "[signature]") {
    CHECK(program("python3", "python3 /srv/a\x1b[2J.py").find('\x1b') == std::string::npos);
    const std::string a = "python3 " + std::string(300, 'a'), b = a + "b";
    const auto long_name = [](const std::string& path) {
        return program_of("python3 " + path, {{"python3", path}, {path}, {}});
    };
    const std::string first = long_name(std::string(300, 'a') + "1.py"),
                      second = long_name(std::string(300, 'a') + "2.py");
    CHECK(first.size() < 140);
    CHECK(first != second);
}

TEST_CASE("signature: sys.argv and the module that -m ran are read, if they are what they should be",
          "[signature]") {
    ProgramHeap program;
    const auto texts = [&](const std::vector<std::string>& words) {
        std::vector<Address> items;
        for (const std::string& word : words) items.push_back(program.heap.str(word));
        return program.list(items);
    };
    const bool odd = GENERATE(false, true);
    const Address spec = program.python_class("Spec", {"name", "origin"});
    program.module("sys", "",
                   {{"orig_argv", texts({"python3", "-m", "app.main"})},
                    {"argv", odd ? program.list({program.heap.str("a"), program.heap.none()})
                                 : texts({"/srv/app/main.py"})}});
    program.module(
        "__main__", "/srv/app/main.py",
        {{"Spec", spec},
         {"__spec__", odd ? program.heap.none()
                          : program.instance(spec, {program.heap.str("app.main"), program.heap.none()})}});
    const Analysed analysed(program);
    const CommandWords words = command_words(analysed.heap);
    CHECK(words.original == std::vector<std::string>{"python3", "-m", "app.main"});
    CHECK(words.arguments ==
          (odd ? std::vector<std::string>() : std::vector<std::string>{"/srv/app/main.py"}));
    CHECK(words.module == (odd ? "" : "app.main"));
    CHECK(words.file == "/srv/app/main.py");
    CHECK_FALSE(words.of_multiprocessing);
}

TEST_CASE("signature: the copy of the parent's main module is found", "[signature][multiprocessing]") {
    ProgramHeap program;
    program.module("sys", "", {{"argv", program.list({program.heap.str("app.py")})}});
    program.module("__mp_main__", "/srv/app.py", {});
    const Analysed analysed(program);
    const CommandWords words = command_words(analysed.heap);
    CHECK(words.of_multiprocessing);
    CHECK(words.file == "/srv/app.py");
    CHECK(words.arguments == std::vector<std::string>{"app.py"});
}

TEST_CASE("signature: what multiprocessing told a child of its parent is found",
          "[signature][multiprocessing]") {
    const auto [key, value, file, told] =
        GENERATE(table<std::string, std::string, std::string, std::optional<std::string>>(
            {{"init_main_from_name", "pkg.__main__", "/lib/multiprocessing/spawn.py", "pkg.__main__"},
             {"init_main_from_path", "/srv/app.py", "/lib/multiprocessing/spawn.py", "/srv/app.py"},
             {"sys_argv", "x", "/lib/multiprocessing/spawn.py", ""},
             {"init_main_from_name", "pkg.__main__", "/srv/app/spawn.py", std::nullopt}}));
    const bool is_dict = GENERATE(true, false);
    ProgramHeap program;
    const Address text = program.heap.str(value);
    program.call("_main", {{"preparation_data", is_dict ? program.dict({{key, text}}) : text}}, file);
    program.call("work", {});
    const Analysed analysed(program);
    CHECK(command_words(analysed.heap).of_parent == (is_dict ? told : std::nullopt));
}

TEST_CASE("signature: the package of a __main__.py is told by the nearest that is loaded",
          "[signature][multiprocessing]") {
    const std::string main_file = GENERATE("/srv/shop/cart/jobs/__main__.py", "/srv/shopping/__main__.py",
                                           "/srv/shop/__main__.py", "/srv/app.py");
    ProgramHeap program;
    program.module("sys", "", {{"argv", program.list({program.heap.str(main_file)})}});
    program.module("shop", "/srv/shop/__init__.py", {});
    program.module("shop.cart", "/srv/shop/cart/__init__.py", {});
    program.module("shop.cart.work", "/srv/shop/cart/work.py", {});
    const Analysed analysed(program);
    const std::string package = command_words(analysed.heap).package;
    CHECK(package == (main_file.find("jobs") != std::string::npos ? "shop.cart.jobs"
                      : main_file.starts_with("/srv/shop/")       ? "shop"
                                                                  : ""));
}

TEST_CASE("signature: without arguments programs are told apart, and not named", "[signature][redact]") {
    const std::string first = program("python3", "python3 /home/ann/secret.py", false),
                      second = program("python3", "python3 /home/ann/other.py", false);
    CHECK(first.starts_with("python3 #"));
    CHECK(first.size() == std::string("python3 #01234567").size());
    CHECK(first != second);
    CHECK(first == program("python3", "python3 -u /srv/secret.py 5", false));
    CHECK(program("gunicorn", "gunicorn: worker [shop]", false) == "gunicorn");
    CHECK(program("python3", "", false) == "python3");
}

TEST_CASE("signature: without arguments the program's file has no name either", "[signature][redact]") {
    CommandWords words;
    CHECK(without_program_file("python3 #1; SIGSEGV in f(), app.py", words) ==
          "python3 #1; SIGSEGV in f(), app.py");
    words.file = "/srv/app.py";
    const std::string crash = without_program_file("python3 #1; SIGSEGV in f(), app.py", words);
    CHECK(crash.starts_with("python3 #1; SIGSEGV in f(), #"));
    CHECK(crash.size() == std::string("python3 #1; SIGSEGV in f(), #01234567").size());
    const std::string held =
        without_program_file("p; holder; f(), app.py, local app.py of str, g(), app.python", words);
    CHECK(held.ends_with(", local app.py of str, g(), app.python"));
    CHECK(held.starts_with("p; holder; f(), #"));
    words.file = "/srv/job_20261127.py";
    CHECK(without_program_file("f(), job_#.py of str", words).find("job") == std::string::npos);
}

TEST_CASE("signature: numbers in threads' names are no part of it", "[signature]") {
    const char* name = GENERATE("Thread-4 (rec)", "Thread-17 (rec)");
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    program.start_thread(name);
    for (int i = 0; i < 250; ++i) program.call("rec", {{"rows", list_of(program, 4000)}});
    SuspectsOf of(program);
    const std::vector<Suspect> suspects = of.suspects();
    REQUIRE(suspects.size() == 1);
    CHECK(suspects[0].pattern == "in thread Thread-N (rec)");
}

TEST_CASE("signature: which thread runs a function is no part of it", "[signature]") {
    const bool several = GENERATE(false, true);
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    const Address box = program.python_class("Box", {"rows"});
    program.call("serve", {{"box", program.instance(box, {list_of(program, much)})}});
    if (several) {
        program.start_thread("worker-17");
        program.call("serve", {});
    }
    SuspectsOf of(program);
    const std::vector<Suspect> suspects = of.suspects();
    REQUIRE_FALSE(suspects.empty());
    CHECK(suspects[0].pattern.find("thread") == std::string::npos);
}

TEST_CASE("signature: closures of different functions are different causes", "[signature]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {{"CALLBACKS", list_of_closures(program, much)}});
    CHECK(SuspectsOf(program).row("closures").pattern == "CALLBACKS of function on_paid()");
}

TEST_CASE("signature: a notebook's result has no number", "[signature]") {
    const std::string name = GENERATE("Out", "_1", "_12", "_");
    ProgramHeap program;
    const Address results = list_of(program, much);
    program.module("__main__", "/srv/app/run.py", {{name, results}, {"_oh", program.list({})}});
    program.module("IPython", "/srv/env/lib/python3.13/site-packages/IPython/__init__.py", {});
    CHECK(SuspectsOf(program).row("notebook-results").pattern.starts_with("Out[*] of "));
}

TEST_CASE("signature: a holder that would be a suspect in a larger process is named, and called no suspect",
          "[signature]") {
    const auto answer = [](int bytes) {
        ProgramHeap program;
        program.module("app", "/srv/app/app.py", {{"ROWS", list_of(program, bytes)}});
        SuspectsOf of(program);
        return suspects(of.work, of.overview, 0);
    };
    ProcessInfo process;
    const OverviewResult nothing;
    const SuspectsResult small = answer(a_little), tiny = answer(a_little / 2), large = answer(much);
    CHECK(small.suspects.empty());
    REQUIRE(small.small);
    REQUIRE(large.suspects.size() == 1);
    CHECK_FALSE(large.small);
    const std::string of_large = signature(nothing, large, process, "", "app.py");
    CHECK(of_large.starts_with("app.py; module-container; ROWS of "));
    CHECK(signature(nothing, small, process, "", "app.py") ==
          "app.py; no suspect; most in " + of_large.substr(of_large.find("ROWS of ")));
    CHECK_FALSE(tiny.small);
    CHECK(signature(nothing, tiny, process, "", "app.py").starts_with("app.py; no suspect; "));
    process.signal = SIGABRT;
    process.signal_code = SI_TKILL;
    CHECK(signature(nothing, small, process, "f(), a.py", "app.py") == "app.py; SIGABRT in f(), a.py");
}

TEST_CASE("signature: what a program has in hand is no cause, however small the process", "[signature]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    program.call("work", {{"text", payload(program, 2 << 20)}});
    SuspectsOf of(program);
    const SuspectsResult result = suspects(of.work, of.overview, 0);
    for (const Suspect& suspect : result.suspects) CHECK(suspect.bytes > 1 << 20);
    CHECK_FALSE(result.small);
}

TEST_CASE("signature: the largest suspect, and nothing of how the process ended", "[signature]") {
    OverviewResult result;
    result.memory = {{"array data", 10}, {"Python objects", 5}};
    result.dominant_types = {"dict", "numpy.ndarray"};
    ProcessInfo process;
    process.name = "python3";
    process.signal = SIGKILL;
    CHECK(signature(result, {}, process, "f(), a.py", "shop.py") ==
          "shop.py; no suspect; array data: dict, numpy.ndarray");
    SuspectsResult suspects;
    suspects.suspects.resize(1);
    suspects.suspects[0].cause.kind = "lru-cache";
    suspects.suspects[0].pattern = "render of str";
    const std::string leak = "shop.py; lru-cache; render of str";
    CHECK(signature(result, suspects, process, "f(), a.py", "shop.py") == leak);
    process.signal = SIGTRAP;
    process.from_gcore = true;
    CHECK(signature(result, suspects, process, "f(), a.py", "shop.py") == leak);
    suspects.suspects[0].cause.kind.clear();
    CHECK(signature(result, suspects, process, "", "shop.py") == "shop.py; holder; render of str");
}

TEST_CASE("signature: of a crash, where it was", "[signature]") {
    SuspectsResult suspects;
    suspects.suspects.resize(1);
    suspects.suspects[0].pattern = "CACHE of str";
    ProcessInfo process;
    process.name = "python3";
    process.signal = SIGSEGV;
    process.signal_code = SEGV_MAPERR;
    CHECK(signature({}, suspects, process, "decode(), image.py", "shop.py") ==
          "shop.py; SIGSEGV in decode(), image.py");
    CHECK(signature({}, suspects, process, "", "shop.py") == "shop.py; SIGSEGV");
    process.signal_code = SI_USER;  // somebody sent it
    CHECK(signature({}, suspects, process, "", "shop.py") == "shop.py; holder; CACHE of str");
    process.signal = SIGABRT;
    process.signal_code = SI_TKILL;
    CHECK(signature({}, suspects, process, "f(), a.py", "shop.py") == "shop.py; holder; CACHE of str");
    CHECK(signature({}, {}, process, "f(), a.py", "shop.py") == "shop.py; SIGABRT in f(), a.py");
}
