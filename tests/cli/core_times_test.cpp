// Whether two cores were given in the wrong order, by what each says of its time.

#include "cli/core_times.h"

#include "tests/catch.h"

using namespace heapsift;

namespace {

CoreTimes core(std::string name, std::int32_t pid, std::optional<double> taken, std::optional<double> started,
               std::optional<double> written) {
    CoreTimes times;
    times.name = std::move(name);
    times.pid = pid;
    times.taken = taken;
    times.started = started;
    times.written = written;
    return times;
}

}  // namespace

TEST_CASE("core times: when both were taken is all that counts where it is known", "[cli][times]") {
    const CoreTimes first = core("core.1", 7, 1000, 900, 5000), second = core("core.2", 7, 1001, 900, 4000);
    CHECK_FALSE(doubt_of_order(first, second));
    CHECK(doubt_of_order(second, first) ==
          "core.1 is given after core.2, and was taken before it: the older core comes first");
}

TEST_CASE("core times: of two processes the start, of one the time of the file", "[cli][times]") {
    const CoreTimes early = core("core.1", 7, {}, 900, 5000), late = core("core.2", 8, {}, 950, 4000);
    CHECK_FALSE(doubt_of_order(early, late));
    CHECK(doubt_of_order(late, early) ==
          "core.1 is given after core.2, and its process began earlier: the older core comes first");
    const CoreTimes same = core("core.\x1b", 7, {}, 900, 4000);  // as `early`, by its start
    CHECK(doubt_of_order(early, same) ==
          "core.\\x1b is given after core.1, and its file was written earlier: the older core comes first");
    CHECK_FALSE(doubt_of_order(same, early));
}

TEST_CASE("core times: where nothing tells, nothing is said", "[cli][times]") {
    CHECK_FALSE(doubt_of_order(core("a", 1, {}, {}, {}), core("b", 2, {}, {}, {})));
    CHECK_FALSE(doubt_of_order(core("a", 1, 5, {}, {}), core("b", 2, {}, {}, 3)));
    CHECK_FALSE(doubt_of_order(core("a", 1, {}, {}, 10), core("b", 2, {}, {}, 9.5)));  // a moment
    CHECK(doubt_of_order(core("a", 1, {}, {}, 10), core("b", 2, {}, {}, 8)));
}
