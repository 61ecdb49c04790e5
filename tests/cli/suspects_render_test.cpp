// The list of suspects, for people and programs.

#include "analysis/suspects/suspects.h"
#include "cli/render/overview.h"
#include "cli/render/suspects.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeHeap heap_of_one_array() {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100),
                     "numpy.ndarray",
                     facts(112, 1049600, 1048576),
                     {ShortValue::Kind::summary, "(131072,) float64", 0},
                     {}}};
    heap.memory = {{"array data", 3072}, {"Python objects", 1024}};
    return heap;
}

/// `count` suspects of the first holder of a small heap, each with a cause and a fix.
SuspectsResult some_suspects(const OverviewResult& overview, std::size_t count) {
    SuspectsResult result;
    for (std::size_t i = 0; i < count; ++i) {
        Suspect suspect;
        suspect.holder = overview.holders.front();
        suspect.bytes = 2048 - i;
        suspect.cause = {.kind = "lru-cache",
                         .words = words("cause ", std::to_string(i), ": ", CauseWords::count(5000),
                                        " entries, ", CauseWords::size(4096)),
                         .fix = "fix number " + std::to_string(i)};
        result.suspects.push_back(suspect);
        result.bytes += suspect.bytes;
    }
    result.total = count;
    return result;
}

TEST_CASE("render suspects: who keeps it, why, and what to do; then the next command", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = heap_of_one_array().build();
    Work work(heap);
    const OverviewResult found = overview(work, 2);
    const Written answer(render_suspects(some_suspects(found, 1), found), shown);
    CHECK(answer.text(shown.page) ==
          "1 suspect explains 2.0 KiB of the 4.0 KiB in use.\n"
          "\n"
          "retained   share  What keeps it, the likely cause, and the fix\n"
          " 2.0 KiB  50.0 %  the numpy.ndarray at 0x10100, numpy.ndarray (131072,) float64\n"
          "                    cause 0: 5,000 entries, 4.0 KiB\n"
          "                    fix: fix number 0\n"
          "next: heapsift why 0x10100\n");
    const Json& suspect = answer.data["suspects"][0];
    CHECK(suspect["kind"] == "lru-cache");
    CHECK(suspect["bytes"] == 2048);
    CHECK(suspect["share"] == 0.5);
    CHECK(suspect["cause"] == "cause 0: 5,000 entries, 4.0 KiB");
    CHECK(suspect["fix"] == "fix number 0");
    CHECK(suspect["next"] == "why 0x10100");
    CHECK(suspect["object"]["address"] == "0x10100");
    CHECK(answer.data["total"]["suspects"] == 1);
}

TEST_CASE("render suspects: the functions that use its name stand above the fix", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = heap_of_one_array().build();
    Work work(heap);
    const OverviewResult found = overview(work, 2);
    SuspectsResult result = some_suspects(found, 1);
    Suspect& suspect = result.suspects.front();
    const auto said = [&] { return Written(render_suspects(result, found), shown).text(shown.page); };
    suspect.used_in = {{"submit", "shop.py", 15}};
    CHECK_THAT(said(), ContainsSubstring("4.0 KiB\n                    used in submit(), shop.py:15\n"
                                         "                    fix: fix number 0\n"));
    suspect.used_in.push_back({"<module>", "shop.py", 1});
    CHECK_THAT(said(), ContainsSubstring("used in submit(), shop.py:15 and the body of shop.py\n"));
    suspect.more_used_in = 4;
    CHECK_THAT(said(), ContainsSubstring("used in submit(), shop.py:15, the body of shop.py, and 4 more\n"));
    suspect.used_in.back().line = 31;
    CHECK_THAT(said(),
               ContainsSubstring("used in submit(), shop.py:15, the body of shop.py:31, and 4 more\n"));
    suspect.used_in.back().line = 1;
    const Written answer(render_suspects(result, found), shown);
    const Json& places = answer.data["suspects"][0]["used_in"];
    REQUIRE(places.size() == 2);
    CHECK(places[0]["function"] == "submit");
    CHECK(places[0]["file"] == "shop.py");
    CHECK(places[0]["line"] == 15);
}

TEST_CASE("render suspects: none is a sentence", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = heap_of_one_array().build();
    Work work(heap);
    const OverviewResult found = overview(work, 2);
    const Written answer(render_suspects({}, found), shown);
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("No suspect"));
    CHECK(answer.data["suspects"].empty());
}

TEST_CASE("render overview: on a short screen suspects lose causes first, then fixes, the first none",
          "[cli][render]") {
    Shown shown;
    shown.page.width = 100;
    const HandmadeReader heap = heap_of_one_array().build();
    Work work(heap);
    const OverviewResult found = overview(work, 2);
    const OverviewCore core = overview_core(heap.core(), heap.snapshot().python);
    const SuspectsResult suspects = some_suspects(found, 4);
    const auto text_on = [&](std::size_t height) {
        shown.page.height = height;
        return Written(render_overview(found, core, suspects), shown).text(shown.page);
    };
    const auto has = [](const std::string& text, const std::string& words) {
        return text.find(words) != std::string::npos;
    };
    const std::string whole = text_on(0), shortest = text_on(1);
    for (int i = 0; i < 4; ++i) {
        CHECK(has(whole, "cause " + std::to_string(i)));
        CHECK(has(whole, "fix number " + std::to_string(i)));
        CHECK(has(shortest, "cause " + std::to_string(i)) == (i < 1));
        CHECK(has(shortest, "fix number " + std::to_string(i)) == (i < 1));
    }
    bool between = false;
    for (std::size_t height = 1; height < 60; ++height) {
        const std::string text = text_on(height);
        if (!has(text, "cause 3") && has(text, "fix number 3")) between = true;
        CHECK_FALSE((has(text, "cause 3") && !has(text, "fix number 3")));
        CHECK_FALSE((has(text, "cause 3") && !has(text, "cause 2")));
    }
    CHECK(between);
}

}  // namespace
