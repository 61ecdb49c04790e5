// What is typed behind --when, --every and -o of a watcher.

#include "cli/watch_conditions.h"

#include "parsers/base/error.h"
#include "tests/catch.h"

using namespace heapsift;

namespace {

std::string why_refused(const std::string& typed) {
    try {
        read_watch_conditions(typed);
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        CHECK(error.code() == "bad-option");
        CHECK_THAT(error.hint(), ContainsSubstring("rss>80%"));
        return error.message();
    }
    return "";
}

}  // namespace

TEST_CASE("watch conditions: measures, sizes, percentages, and one measure for several amounts",
          "[cli][watch]") {
    const auto all = read_watch_conditions("rss>80%|2GiB | growth >= 500M|cgroup>12.5%");
    REQUIRE(all.size() == 4);
    CHECK(all[0].measure == WatchMeasure::resident);
    CHECK(all[0].share == 0.8);
    CHECK(all[0].bytes == 0);
    CHECK(all[1].measure == WatchMeasure::resident);
    CHECK(all[1].bytes == std::uint64_t{2} << 30);
    CHECK(all[2].measure == WatchMeasure::growth);
    CHECK(all[2].bytes == std::uint64_t{500} << 20);
    CHECK(all[3].measure == WatchMeasure::group);
    CHECK(all[3].share == 0.125);
}

TEST_CASE("watch conditions: what is refused, and why", "[cli][watch]") {
    CHECK_THAT(why_refused(""), ContainsSubstring("begins with a measure"));
    CHECK_THAT(why_refused("80%"), ContainsSubstring("begins with a measure"));
    CHECK_THAT(why_refused("vsz>1G"), ContainsSubstring("vsz is not a measure"));
    CHECK_THAT(why_refused(">1G"), ContainsSubstring("nothing is not a measure"));
    CHECK_THAT(why_refused("rss>"), ContainsSubstring("nothing is not a size"));
    CHECK_THAT(why_refused("rss>1G|"), ContainsSubstring("nothing is not a size"));
    CHECK_THAT(why_refused("rss<1G"), ContainsSubstring("begins with a measure"));
    for (const char* typed : {"rss>0", "rss>-1", "rss>1Q", "rss>99999999999T", "rss>>1G"})
        CHECK_THAT(why_refused(typed), ContainsSubstring("is not a size"));
    for (const char* typed : {"rss>0%", "rss>101%", "rss>%", "rss>nan%", "rss>1e1%", "rss>-5%"})
        CHECK_THAT(why_refused(typed), ContainsSubstring("is not a percentage"));
    CHECK_THAT(why_refused("growth>50%"), ContainsSubstring("growth is told as a size"));
    CHECK_THAT(why_refused("rss>80"), ContainsSubstring("80 has no unit: type 'rss>80%' or 'rss>80MiB'"));
    CHECK_THAT(why_refused("rss>80%|2"), ContainsSubstring("2 has no unit: type 'rss>2%' or 'rss>2MiB'"));
    CHECK_THAT(why_refused("cgroup>=500"), ContainsSubstring("500 has no unit: type 'cgroup>500MiB'"));
    CHECK_THAT(why_refused("growth>80"), ContainsSubstring("80 has no unit: type 'growth>80MiB'"));
    CHECK(read_watch_conditions("rss>80B").front().bytes == 80);
    CHECK_THAT(why_refused("\x1b[2J>1"), !ContainsSubstring("\x1b"));
}

TEST_CASE("watch conditions: the words when one is met", "[cli][watch]") {
    WatchEnd end;
    end.measured = std::uint64_t{1700} << 20;
    end.threshold = std::uint64_t{1638} << 20;
    CHECK(condition_words({WatchMeasure::resident, 0, 0.8}, end) ==
          "rss is 1.7 GiB, more than 80 % (1.6 GiB)");
    CHECK(condition_words({WatchMeasure::growth, 7, 0}, end) == "growth is 1.7 GiB, more than 1.6 GiB");
}

TEST_CASE("watch conditions: periods", "[cli][watch]") {
    using std::chrono::seconds;
    CHECK(read_period("--every", "30") == seconds(30));
    CHECK(read_period("--every", "30s") == seconds(30));
    CHECK(read_period("--every", "10m") == seconds(600));
    CHECK(read_period("--every", "2h") == seconds(7200));
    CHECK(read_period("--every", "1d") == seconds(86400));
    for (const char* typed : {"", "m", "0", "0m", "-1", "1w", "1.5h", "400d", "99999999999999999999", "10 m"})
        CHECK_THROWS_AS(read_period("--every", typed), Error);
}

TEST_CASE("core names: what is replaced, and what is refused", "[cli][watch]") {
    const CoreNameParts parts{1234, 1700000000, 7, "a/b", "my/app"};
    CHECK(core_name("core", parts) == "core");
    CHECK(core_name("/d/core.%e.%p.%t.%n.%h.%%", parts) == "/d/core.my!app.1234.1700000000.7.a!b.%");
    CHECK_THROWS_AS(core_name("core.%x", parts), Error);
    CHECK_THROWS_AS(core_name("core.%", parts), Error);
    CHECK(names_differ("core.%p.%t"));
    CHECK(names_differ("%n"));
    CHECK_FALSE(names_differ("core.%p"));
    CHECK_FALSE(names_differ("core.%%t"));
    CHECK_FALSE(names_differ("%"));
}
