// Whether a process may be Python, and where its files lie.

#include "parsers/process/python_traces.h"

#include "parsers/process/process_root.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

/// Process 7, which has one file of code mapped.
struct Mapped {
    TemporaryDirectory directory;
    std::string proc = directory.path() + "/proc";

    PythonTraces traces(const std::string& maps) const {
        directory.write("proc/7/maps", maps);
        return python_traces(7, proc);
    }
};

constexpr const char* code_line =
    "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234                       /opt/app\n";
constexpr const char* vdso_line =
    "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]\n";

}  // namespace

TEST_CASE("python traces: found, none, and unknown where a file cannot be read", "[process][python]") {
    const Mapped process;
    CHECK(process.traces(std::string(code_line) + vdso_line) ==
          PythonTraces::unknown);  // the file is not there
    process.directory.write("proc/7/root/opt/app", std::string(5000, 'x'));
    CHECK(process.traces(std::string(code_line) + vdso_line) == PythonTraces::none);
    process.directory.write("proc/7/root/opt/app",
                            std::string(5000, 'x') + "PYTHONHOME" + std::string(10, '\0'));
    CHECK(process.traces(std::string(vdso_line) + code_line) == PythonTraces::found);
}

TEST_CASE("python traces: the file that is mapped goes before the one that has its name now",
          "[process][python]") {
    const Mapped process;
    process.directory.write("proc/7/root/opt/app", "new");
    process.directory.write("proc/7/map_files/7f0000000000-7f0000001000", "PYTHONHOME");
    CHECK(process.traces(code_line) == PythonTraces::found);
}

TEST_CASE("python traces: code without a file may be anything", "[process][python]") {
    const Mapped process;
    process.directory.write("proc/7/root/opt/app", "x");
    CHECK(process.traces(std::string(code_line) + "7f0000002000-7f0000003000 rwxp 00000000 00:00 0 \n") ==
          PythonTraces::unknown);
    CHECK(process.traces("") == PythonTraces::unknown);
    CHECK(process.traces("no map\n\n-\n") == PythonTraces::unknown);
    CHECK(process.traces("7f0000000000-7f0000001000 r--p 00000000 08:01 1234 /opt/app\n") ==
          PythonTraces::unknown);
    CHECK(python_traces(8, process.proc) == PythonTraces::unknown);
}

TEST_CASE("python traces, root: of real processes", "[process][python]") {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl("/bin/sleep", "sleep", "100", nullptr);
        ::_exit(1);
    }
    ::usleep(200000);
    CHECK(python_traces(static_cast<std::int32_t>(child)) == PythonTraces::none);
    CHECK(process_root(static_cast<std::int32_t>(child)).empty());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(process_root(INT32_MAX) == "/proc/2147483647/root");
}
