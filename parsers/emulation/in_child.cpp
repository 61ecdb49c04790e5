#include "parsers/emulation/in_child.h"

// Unicorn ends its process when it meets code that it cannot translate ("tcg fatal error": a random address
// inside a function is enough), and a core may bring any code. So whatever emulates runs in a copy of the
// process; if that dies, it is known what it worked at, and the answer goes on without. What it sends is read
// as if a stranger had sent it.
//
// A copy of a process with several threads has the locks that the others held, and nobody who will open them. glibc sees
// to its own; of others' (an allocator that was preloaded, a sanitizer's) nobody knows. So one that waits for ever is
// ended as well.

#include "parsers/base/descriptor.h"
#include "parsers/base/in_pieces.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace heapsift {
namespace {

constexpr std::uint32_t no_mark = 0xffffffff;
constexpr rlim_t most_seconds = 300;

/// What a child sends, as long as it does something.
class ChildInput {
public:
    ChildInput(int pipe, pid_t child, int most_idle_seconds)
        : pipe_(pipe), child_(child), most_idle_seconds_(most_idle_seconds) {
        if (::clock_getcpuclockid(child, &clock_) != 0) most_idle_seconds_ = 0;
    }

    bool read_all(void* to, std::size_t bytes) {
        auto* at = static_cast<std::byte*>(to);
        while (bytes > 0) {
            wait();
            const ssize_t got = ::read(pipe_, at, bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            at += got;
            bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }

private:
    /// Until there is something to read, or the end. It is counted in waits of a second: where this process is stopped with
    /// its child, neither is late.
    void wait() {
        timespec before{};
        for (int idle = 0; most_idle_seconds_ > 0;) {
            pollfd pipe{pipe_, POLLIN, 0};
            if (const int ready = ::poll(&pipe, 1, 1000); ready > 0 || (ready < 0 && errno != EINTR)) return;
            timespec now{};
            if (::clock_gettime(clock_, &now) != 0) return;
            idle = now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec ? idle + 1 : 0;
            before = now;
            if (idle < most_idle_seconds_) continue;
            ::kill(child_, SIGKILL);
            return;
        }
    }

    int pipe_;
    pid_t child_;
    clockid_t clock_{};
    int most_idle_seconds_;  // 0: it cannot be told
};

/// Its own errors are nobody's business: no core, no words, and it does not outlive us.
void become_quiet() {
    const rlimit no_core{0, 0}, time{most_seconds, most_seconds};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &time);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT})
        ::signal(signal, SIG_DFL);
    set_threads(1);  // another thread may have held what these are started with
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

}  // namespace

void ChildOutput::write(std::span<const std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    const auto put = [&](const void* from, std::size_t count) {
        const auto* at = static_cast<const std::byte*>(from);
        while (count > 0) {
            const ssize_t done = ::write(pipe_, at, count);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) ::_exit(1);
            at += done;
            count -= static_cast<std::size_t>(done);
        }
    };
    put(&size, sizeof size);
    put(bytes.data(), bytes.size());
}

ChildResult run_in_child(const std::function<void(ChildOutput&)>& work, int most_idle_seconds) {
    ChildResult result;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return result;
    const Descriptor out(ends[0]);
    Descriptor in(ends[1]);
    void* const shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return result;
    auto* const mark = static_cast<volatile std::uint32_t*>(shared);
    *mark = no_mark;
    const pid_t child = ::fork();
    if (child == 0) {
        become_quiet();
        try {
            ChildOutput output(in.number(), mark);
            work(output);
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    in.close();
    if (child > 0) {
        constexpr std::size_t at_once = std::size_t{16} << 20;  // a size is believed as far as bytes follow
        ChildInput input(out.number(), child, most_idle_seconds);
        std::uint64_t size = 0;
        while (input.read_all(&size, sizeof size)) {
            std::vector<std::byte>& part = result.parts.emplace_back();
            bool whole = true;
            while (whole && part.size() < size) {
                const std::size_t before = part.size(),
                                  more = std::min<std::uint64_t>(at_once, size - before);
                part.resize(before + more);
                whole = input.read_all(part.data() + before, more);
            }
            if (!whole) break;
        }
        int status = 0;
        pid_t ended = 0;
        do ended = ::waitpid(child, &status, 0);
        while (ended < 0 && errno == EINTR);
        result.finished = ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (*mark != no_mark) result.mark = *mark;
    }
    ::munmap(shared, 4096);
    return result;
}

}  // namespace heapsift
