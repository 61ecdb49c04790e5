// Waiting for a threshold: how often it looks, and what ends it.

#include "parsers/process/memory_watch.h"

#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;
using Seconds = WatchPace::Duration;

namespace {

constexpr std::uint64_t watched_mib = 1 << 20;

/// By how much the threshold is passed when a process grows so fast, in parts of the limit a second, from a
/// start.
double passed_by(double start, double threshold, double speed) {
    constexpr std::uint64_t limit = 1000 * watched_mib;
    WatchPace pace(limit);
    double at = start;
    Seconds elapsed{0};
    for (int look = 0; look < 100000; ++look) {
        if (at > threshold) return at - threshold;
        elapsed = pace.next(static_cast<std::uint64_t>((threshold - at) * limit), elapsed);
        at += speed * elapsed.count();
    }
    return 1;
}

struct WatchedProcess {
    TemporaryDirectory directory;
    std::string proc = directory.path() + "/proc";

    explicit WatchedProcess(std::uint64_t resident) {
        directory.write("proc/7/stat",
                        "7 (python3) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 4242 9 9\n");
        directory.write("proc/7/status",
                        "Name:\tpython3\nState:\tS (sleeping)\nTgid:\t7\nPid:\t7\nVmRSS:\t4 kB\n");
        directory.write("proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1000 kB\nMemAvailable: 524288 kB\n");
        set(resident);
    }
    void set(std::uint64_t resident) const {
        directory.write("proc/7/statm", "999999 " + std::to_string(resident / 4096) + " 1 1 0 1 0\n");
    }
};

}  // namespace

TEST_CASE("watch pace: a growth under a tenth a second passes the threshold by less than a thousandth",
          "[process][watch]") {
    for (const double speed : {0.0001, 0.001, 0.01, 0.05, 0.1})
        for (const double start : {0.0, 0.5, 0.79}) CHECK(passed_by(start, 0.8, speed) < 0.001);
    CHECK(passed_by(0.1, 0.8, 1.0) < 0.02);  // ten times as fast
}

TEST_CASE("watch pace: far away two looks a second, near never more than 200", "[process][watch]") {
    WatchPace pace(1000 * watched_mib);
    CHECK(pace.next(900 * watched_mib, Seconds(0)) == Seconds(0.5));
    CHECK(pace.next(0, Seconds(1)) == Seconds(0.005));
    // What stands still just below is looked at some tens of times a second, once the growth is forgotten.
    Seconds rest{0.005};
    for (int i = 0; i < 50; ++i) rest = pace.next(10 * watched_mib, rest);
    CHECK(rest > Seconds(0.04));
    CHECK(WatchPace(0).next(0, Seconds(0)) == Seconds(0.005));
    CHECK(WatchPace(UINT64_MAX).next(UINT64_MAX, Seconds(0)) == Seconds(0.5));
}

TEST_CASE("watch pace: the speed is that of a while, not of the last looks", "[process][watch]") {
    constexpr Seconds look{0.005};
    WatchPace pace(1000 * watched_mib);
    double left = 200 * watched_mib;
    const auto grow = [&](double speed) {
        left -= speed * watched_mib * look.count();
        pace.next(static_cast<std::uint64_t>(left), look);
    };
    for (int i = 0; i < 200; ++i) grow(20);
    CHECK(pace.speed() > 19 * watched_mib);
    for (int i = 0; i < 40; ++i) grow(0);  // it had no processor for a fifth of a second
    CHECK(pace.speed() > 15 * watched_mib);
    for (int i = 0; i < 1000; ++i) grow(0);
    CHECK(pace.speed() < watched_mib);
    grow(200);  // a megabyte at once
    CHECK(pace.speed() < 5 * watched_mib);
}

TEST_CASE("watch: the condition that is met, and with what", "[process][watch]") {
    const WatchedProcess process(100 * watched_mib);
    MemoryWatch watch(7,
                      {{WatchMeasure::resident, 900 * watched_mib, 0},
                       {WatchMeasure::resident, 0, 0.2},
                       {WatchMeasure::growth, 50 * watched_mib, 0}},
                      process.proc, false);
    CHECK(watch.limit().bytes == 1024 * watched_mib);
    CHECK(watch.limit().folder.empty());
    CHECK(watch.wait(MemoryWatch::Clock::now()).reason == WatchEnd::Reason::due);
    process.set(151 * watched_mib);
    WatchEnd end = watch.wait(MemoryWatch::Clock::now());
    CHECK(end.reason == WatchEnd::Reason::met);
    CHECK(end.condition == 2);
    CHECK(end.measured == 51 * watched_mib);
    CHECK(end.threshold == 50 * watched_mib);
    CHECK(end.headroom == 512 * watched_mib);
    process.set(250 * watched_mib);
    end = watch.wait();
    CHECK(end.condition == 1);
    CHECK(end.threshold == static_cast<std::uint64_t>(0.2 * 1024 * watched_mib));
}

TEST_CASE("watch: without a group's limit the machine's memory counts", "[process][watch]") {
    const WatchedProcess process(watched_mib);
    CHECK(MemoryWatch(7, {{WatchMeasure::group, 0, 0.49}}, process.proc, false)
              .wait(MemoryWatch::Clock::now())
              .reason == WatchEnd::Reason::met);
    CHECK(MemoryWatch(7, {{WatchMeasure::group, 0, 0.51}}, process.proc, false)
              .wait(MemoryWatch::Clock::now())
              .reason == WatchEnd::Reason::due);
}

TEST_CASE("watch: the limit of the group in which it is now", "[process][watch]") {
    const WatchedProcess process(100 * watched_mib);
    const std::string top = process.directory.path() + "/cg";
    process.directory.write("proc/self/mountinfo", "30 24 0:26 / " + top + " rw - cgroup2 cgroup2 rw\n");
    process.directory.write("proc/7/cgroup", "0::/wide\n");
    for (const auto& [name, limit] :
         {std::pair("wide", 500u), std::pair("narrow", 110u), std::pair("new", 120u)}) {
        process.directory.write(std::string("cg/") + name + "/memory.max",
                                std::to_string(limit * watched_mib) + "\n");
        process.directory.write(std::string("cg/") + name + "/memory.current", "1\n");
    }
    MemoryWatch watch(7, {{WatchMeasure::resident, 0, 0.8}}, process.proc, false);
    const auto now = MemoryWatch::Clock::now();
    CHECK(watch.wait(now).reason == WatchEnd::Reason::due);
    CHECK(watch.limit().bytes == 500 * watched_mib);
    const std::string other = GENERATE("narrow", "new");  // moved there, or renamed
    process.directory.write("proc/7/cgroup", "0::/" + other + "\n");
    const WatchEnd end = watch.wait(now);
    CHECK(end.reason == WatchEnd::Reason::met);
    CHECK(watch.limit().folder == top + "/" + other);
    process.directory.write("cg/" + other + "/memory.max", "max\n");  // and is limited no more
    CHECK(watch.wait(now).reason == WatchEnd::Reason::due);
}

TEST_CASE("watch: a process that has gone, or another with its number", "[process][watch]") {
    WatchedProcess process(watched_mib);
    MemoryWatch watch(7, {{WatchMeasure::resident, watched_mib * 500, 0}}, process.proc, false);
    process.directory.write("proc/7/stat",
                            "7 (python3) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 9999 9 9\n");
    CHECK(watch.wait().reason == WatchEnd::Reason::gone);
    CHECK_THROWS_AS(MemoryWatch(8, {}, process.proc, false), Error);
}

TEST_CASE("watch: the end of a real process ends the wait at once", "[process][watch]") {
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    MemoryWatch watch(static_cast<std::int32_t>(child),
                      {{WatchMeasure::resident, std::uint64_t{1} << 50, 0}});
    std::thread killer([child] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ::kill(child, SIGKILL);
    });
    const auto before = MemoryWatch::Clock::now();
    const WatchEnd end = watch.wait();
    const Seconds took = MemoryWatch::Clock::now() - before;
    killer.join();
    ::waitpid(child, nullptr, 0);
    CHECK(end.reason == WatchEnd::Reason::gone);
    CHECK(took < Seconds(0.9));
}
