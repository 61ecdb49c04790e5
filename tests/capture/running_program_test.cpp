// A child that calls exec: whoever reads it must notice.

#include "parsers/capture/running_program.h"

#include "parsers/base/error.h"
#include "tests/catch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

using namespace heapsift;

namespace {

/// Waits for a byte, and then becomes `program`.
class ChildToReplace {
public:
    explicit ChildToReplace(const char* program) {
        REQUIRE(::pipe(ends_) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            char byte = 0;
            while (::read(ends_[0], &byte, 1) != 1) {
            }
            ::execl(program, program, "600", nullptr);
            ::_exit(1);
        }
        REQUIRE(pid_ > 0);
    }
    ~ChildToReplace() { end(); }

    pid_t pid() const { return pid_; }
    void replace(const std::string& name) {
        REQUIRE(::write(ends_[1], "x", 1) == 1);
        const ProcessFiles files(pid_);
        for (int i = 0; i < 1000; ++i) {
            const auto stat = read_stat(files.read("stat").value_or(""));
            if (stat && stat->name == name) return;
            ::usleep(10000);
        }
        FAIL("it did not call exec");
    }
    void end() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

private:
    int ends_[2] = {-1, -1};
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("running program: an exec is noticed, the end is another matter", "[capture]") {
    ChildToReplace child("/bin/sleep");
    const ProcessFiles files(child.pid());
    const RunningProgram program(files);
    program.require_same();
    program.require_same_in(files);
    child.replace("sleep");
    try {
        program.require_same();
        FAIL("it was not noticed");
    } catch (const Error& error) {
        CHECK(error.code() == "program-replaced");
        CHECK(error.exit() == ExitCode::cannot_analyse);
        CHECK_THAT(error.message(), ContainsSubstring("called exec") && ContainsSubstring("runs sleep"));
    }
    CHECK_THROWS_AS(program.require_same_in(files), Error);
    const RunningProgram later(files);
    later.require_same();
    child.end();
    program.require_same();  // nothing is said of a process that has ended
}
