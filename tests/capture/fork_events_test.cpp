// Processes whose fork would wait for an event to be read: children with a userfaultfd of their own.

#include "parsers/capture/fork_events.h"

#include "tests/catch.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <vector>

using namespace heapsift;

namespace {

/// Could answer the faults of a page of its own, if it may have a userfaultfd.
class Child {
public:
    Child(std::uint64_t features, bool registers) {
        int ends[2] = {-1, -1};
        REQUIRE(::pipe(ends) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            const char said = begin(features, registers) ? 'y' : 'n';
            if (::write(ends[1], &said, 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        REQUIRE(pid_ > 0);
        REQUIRE(::read(ends[0], &said_, 1) == 1);
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool possible() const { return said_ == 'y'; }
    bool waits() const {
        const ProcessFiles files(pid_);
        return fork_waits_for_reader(files, read_mappings(files.read("smaps").value_or("")));
    }

private:
    static bool begin(std::uint64_t features, bool registers) {
        constexpr std::uint64_t size = 4096;
        const auto file = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC));
        uffdio_api api{.api = UFFD_API, .features = features, .ioctls = 0};
        if (file < 0 || ::ioctl(file, UFFDIO_API, &api) != 0) return false;
        void* const page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uffdio_register range{};
        range.range = {.start = reinterpret_cast<std::uint64_t>(page), .len = size};
        range.mode = UFFDIO_REGISTER_MODE_MISSING;
        if (registers && ::ioctl(file, UFFDIO_REGISTER, &range) != 0) return false;
        return true;
    }

    pid_t pid_ = -1;
    char said_ = 'n';
};

}  // namespace

TEST_CASE("fork events: the features are the second number of the line, in hexadecimal", "[capture]") {
    CHECK(userfaultfd_features("pending:\t0\ntotal:\t0\nAPI:\taa:1fe:7f\n") == 0x1feu);
    CHECK(userfaultfd_features("API:\taa:0:7f\n") == 0u);
    CHECK_FALSE(userfaultfd_features("API:\taa:\n"));
    CHECK_FALSE(userfaultfd_features("API:\taa:12\n"));
    CHECK_FALSE(userfaultfd_features("API:\taa:xyz:7f\n"));
    CHECK_FALSE(userfaultfd_features("pos:\t0\nflags:\t02\n"));
    CHECK_FALSE(userfaultfd_features(""));
}

TEST_CASE("fork events: a fork waits only where memory belongs to a userfaultfd that asks for them",
          "[capture]") {
    constexpr std::uint64_t fork_events = UFFD_FEATURE_EVENT_FORK;
    const Child with(fork_events, true), registered(0, true), asks(fork_events, false);
    if (!with.possible() || !registered.possible() || !asks.possible()) return;  // no userfaultfd here
    CHECK(with.waits());
    CHECK_FALSE(registered.waits());
    CHECK_FALSE(asks.waits());
}

TEST_CASE("fork events: of a userfaultfd that cannot be found they are assumed", "[capture]") {
    const ProcessFiles self(::getpid());
    Mapping mapping;
    CHECK_FALSE(fork_waits_for_reader(self, std::vector{mapping}));
    mapping.userfaultfd = true;
    CHECK(fork_waits_for_reader(self, std::vector{mapping}));
}
