// The clock of passes, on a source of time that the test controls.

#include "parsers/base/passes.h"

#include "tests/catch.h"

using namespace heapsift;

namespace {

struct Source {
    Spent now{100, 2, 1000};  // the wall clock starts anywhere, the other two with the process

    void spend(double seconds, double cpu_seconds, std::uint64_t peak_bytes) {
        now.seconds += seconds;
        now.cpu_seconds += cpu_seconds;
        now.peak_bytes += peak_bytes;
    }
    PassClock clock() {
        return PassClock([this] { return now; });
    }
};

}  // namespace

TEST_CASE("passes: what is spent belongs to the pass that was entered last, and all of it to one",
          "[base][passes]") {
    Source source;
    PassClock clock = source.clock();
    source.spend(1, 0.5, 100);
    clock.enter("objects");
    source.spend(2, 1.5, 0);
    clock.enter("references");
    source.spend(4, 4, 50);
    const std::vector<Pass> passes = clock.passes();
    REQUIRE(passes.size() == 3);
    CHECK(passes[0].name == "start");
    CHECK(passes[0].seconds == 1);
    CHECK(passes[0].cpu_seconds == 2.5);  // with what the process had spent before
    CHECK(passes[0].peak_bytes == 1100);
    CHECK(passes[1].name == "objects");
    CHECK(passes[1].seconds == 2);
    CHECK(passes[1].cpu_seconds == 1.5);
    CHECK(passes[1].peak_bytes == 0);
    CHECK(passes[2].seconds == 4);
    CHECK(passes[2].peak_bytes == 50);
    double cpu_seconds = 0;
    std::uint64_t bytes = 0;
    for (const Pass& pass : passes) {
        cpu_seconds += pass.cpu_seconds;
        bytes += pass.peak_bytes;
    }
    CHECK(cpu_seconds == source.now.cpu_seconds);
    CHECK(bytes == source.now.peak_bytes);
}

TEST_CASE("passes: one that is entered again goes on in its row", "[base][passes]") {
    Source source;
    PassClock clock = source.clock();
    clock.enter("lists");
    source.spend(1, 1, 0);
    clock.enter("lists");
    source.spend(1, 1, 0);
    clock.enter("blocks");
    source.spend(4, 4, 0);
    clock.enter("lists");
    source.spend(2, 2, 0);
    const std::vector<Pass> passes = clock.passes();
    REQUIRE(passes.size() == 3);
    CHECK(passes[1].name == "lists");
    CHECK(passes[1].seconds == 4);
    CHECK(passes[2].seconds == 4);
}

TEST_CASE("passes: asked in between, the clock goes on, and a peak never falls", "[base][passes]") {
    Source source;
    PassClock clock = source.clock();
    clock.enter("work");
    source.spend(1, 1, 500);
    CHECK(clock.passes().back().seconds == 1);
    source.now.peak_bytes -= 300;  // a kernel that says less than before
    source.spend(1, 1, 0);
    const std::vector<Pass> passes = clock.passes();
    CHECK(passes.back().seconds == 2);
    CHECK(passes.back().peak_bytes == 500);
}

TEST_CASE("passes: the system's clocks run forward", "[base][passes]") {
    const Spent before = Spent::now();
    volatile std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 1000000; ++i) sum = sum + i;
    const Spent after = Spent::now();
    CHECK(after.seconds > before.seconds);
    CHECK(after.cpu_seconds > before.cpu_seconds);
    CHECK(after.peak_bytes >= before.peak_bytes);
    CHECK(before.peak_bytes > 0);
}
