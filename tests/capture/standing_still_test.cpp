// A process that stands until its core is written.

#include "parsers/capture/capture.h"

#include "parsers/capture/process_files.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

TEST_CASE("capture, still: the core is whole, and can have its name, before the process goes on") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/core";
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    REQUIRE(child > 0);
    const auto state = [&] {
        return read_stat(ProcessFiles(child).read("stat").value_or("")).value_or(ProcessStat{}).state;
    };
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    CaptureOptions options;
    options.method = CaptureMethod::still;
    char then = '?';
    off_t bytes = 0;
    options.is_whole = [&] {
        then = state();
        bytes = ::lseek(file, 0, SEEK_END);
        ::close(file);  // as whoever gives it its name does
    };
    const CaptureResult result =
        capture(child, {.descriptor = file, .name = path, .folder = directory.path()}, options);
    CHECK(then == 't');
    CHECK(bytes > 0);
    CHECK(result.disk_bytes > 0);
    CHECK(result.file_bytes == static_cast<std::uint64_t>(bytes));
    CHECK(state() != 't');
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}
