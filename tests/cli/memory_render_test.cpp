// Memory and the blocks of C code, as text and in the keys of the contract.

#include "cli/render/memory.h"
#include "cli/render/native.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <string>

using namespace heapsift;
using namespace heapsift::test;

namespace {

MemoryResult leaking() {
    MemoryResult result;
    result.mapped = 6000;
    result.in_use = 1000;
    result.reserved = 5000;
    result.in_core = 900;
    result.rows = {{c_code_row, 800},
                   {"Python objects",
                    200,
                    MemoryUse::in_use,
                    {{"in blocks of pymalloc", 150}, {"in blocks of malloc", 50}}},
                   {"reserved", 5000, MemoryUse::reserved}};
    result.allocators = {
        {.name = "malloc",
         .mapped = 900,
         .in_use = 850,
         .free = 50,
         .blocks = 12,
         .arenas = {{Address(0x7f0000000c60), 600, 580, 8, 12}, {Address(0x7f1000000030), 300, 270, 20, 10}},
         .mapped_blocks = 1,
         .mapped_bytes = 100}};
    result.culprit = NativeCulprit{24, 30, 720, "", Address(0x9000), {30, 0, 0, "", 0, false}};
    return result;
}

}  // namespace

TEST_CASE("render memory: the largest first, what it is, and the rest of the bytes", "[cli][render]") {
    Shown shown;
    const Written answer(render_memory(leaking(), false), shown);
    const std::string text = answer.text(shown.page);
    CHECK(text.substr(0, text.find('\n')) ==
          "800 B of 1000 B in use is C/C++ memory: 720 B of it in 30 blocks of 24 bytes, leaked. Python's "
          "side is 200 B.");
    for (const char* words : {"in blocks of pymalloc", "15.0 %", "main arena", "arena at 0x7f1000000030",
                              "addresses that it was given and never used",
                              "1 block with mappings of their own, 100 B", "next: heapsift native"})
        CHECK(text.find(words) != std::string::npos);
    CHECK(answer.data["mapped"] == 6000);
    CHECK(answer.data["categories"][1]["parts"][0]["bytes"] == 150);
    CHECK(answer.data["allocators"][0]["arenas"][1]["kept"] == 20);
}

TEST_CASE("render memory: how much of it may never have been touched, if that is much", "[cli][render]") {
    Shown shown;
    MemoryResult result = leaking();
    result.zeros = 29;
    CHECK(Written(render_memory(result, false), shown).text(shown.page).find("zeros") == std::string::npos);
    result.zeros = 400;
    const Written answer(render_memory(result, false), shown);
    CHECK(answer.text(shown.page).find("400 B of what is in use is pages of zeros.") != std::string::npos);
    CHECK(answer.data["zeros_in_use"] == 400);
    result.zero_blocks = 500;
    const Written with_blocks(render_memory(result, false), shown);
    CHECK(with_blocks.text(shown.page).find("500 B of large blocks is pages of zeros,") != std::string::npos);
    CHECK(with_blocks.data["zeros_in_large_blocks"] == 500);
}

TEST_CASE("render memory: what mmap objects map, if that is much", "[cli][render]") {
    Shown shown;
    MemoryResult result = leaking();
    CHECK(Written(render_memory(result, false), shown).text(shown.page).find("mmap") == std::string::npos);
    result.mapped_by_objects = {2, 600};
    const Written answer(render_memory(result, false), shown);
    CHECK(answer.text(shown.page).find("heapsift holders --type mmap.mmap    2 mmap objects map 600 B") !=
          std::string::npos);
    CHECK(answer.data["mapped_by_objects"]["bytes"] == 600);
}

TEST_CASE("render memory: each mapping, with a file's name withheld under --redact", "[cli][render]") {
    MemoryResult result = leaking();
    MappingRow mapping{{Address(0x1000), Address(0x3000)}, true, true, false, true};
    mapping.shares[MemoryOwner::files] = 0x1000;
    mapping.shares[MemoryOwner::module_data] = 0x1000;
    result.mappings = {{mapping, "/home/anna/lib.so"}};
    Shown shown, redacted(true);
    const Written answer(render_memory(result, true), shown);
    CHECK(answer.text(shown.page) ==
          "  mapping at    bytes       whose they are\n"
          "  0x1000      8.0 KiB  rw-  /home/anna/lib.so, program files 4.0 KiB, a program's data 4.0 KiB\n"
          "next: heapsift memory    the sums\n");
    CHECK(rows_of(answer)[0]["bytes"]["files"] == 0x1000);
    CHECK(rows_of(answer)[0]["flags"] == "rw-");
    CHECK(Written(render_memory(result, true), redacted).text(redacted.page).find("anna") ==
          std::string::npos);
}

TEST_CASE("render native: classes and sizes, who holds them, and what leaked", "[cli][render]") {
    Shown shown;
    NativeResult result;
    CHECK(Written(render_native(result, {}, {}), shown).text(shown.page) ==
          "No block of C code was found in malloc's memory.\n");
    const NativeHeld held{10, 0, 20, "lxml.etree._Element", 20, true}, leaked{2, 0, 0, "", 0, false};
    result.sizes = {{24, 30, 720, Address(0x9000), "shapes::Circle", "", held},
                    {8, 2, 16, Address(0x9100), "", "text", leaked}};
    result.classes = {{"shapes::Circle", "libshapes.so", true, 30, 720, 24, 24, Address(0x9000), held}};
    result.size_count = 2;
    result.class_count = 1;
    result.count = 32;
    result.bytes = 736;
    result.of_classes = 720;
    result.leaked_count = 12;
    result.leaked_bytes = 256;
    result.python_bytes = 480;
    const Written answer(render_native(result, {}, {}), shown);
    const std::string text = answer.text(shown.page);
    CHECK(text.substr(0, text.find('\n')) ==
          "736 B in 32 blocks of C code; from Python's memory one gets to 480 B. 256 B of it in 12 blocks "
          "leaked: no word of the "
          "memory that may be a pointer leads there.");
    for (const char* words :
         {"10 leaked, 20 by lxml.etree._Element", "  leaked\n", "text", "next: heapsift native --leaked"})
        CHECK(text.find(words) != std::string::npos);
    CHECK(answer.data["classes"][0]["leaked"] == 10);
    CHECK(answer.data["classes"][0]["holder_count"] == 20);
    CHECK(rows_of(answer)[1]["holder"].is_null());
    CHECK(rows_of(answer)[0]["size"] == 24);
    CHECK(answer.data["total"]["leaked_bytes"] == 256);
    CHECK(answer.csv().find("24,30,720,shapes::Circle,,0x9000,10,0,20,lxml.etree._Element,true,20") !=
          std::string::npos);
    CHECK(Written(render_native(result, {}, {.leaked_only = true}), shown)
              .text(shown.page)
              .starts_with("256 B in 12 leaked blocks of C code."));
    result.sizes[1].held.by_number = 2;
    CHECK(Written(render_native(result, {}, {}), shown)
              .text(shown.page)
              .find("leaked, unless ints are handles (2)") != std::string::npos);
}

TEST_CASE("render memory: numbers that equal addresses hide no leak", "[cli][render]") {
    Shown shown;
    const auto words = [&](std::uint64_t leaked, std::uint64_t by_number) {
        Document document;
        NativeCulprit culprit;
        culprit.size = 3000;
        culprit.count = 60'000;
        culprit.bytes = 180'000'000;
        culprit.held.leaked = leaked;
        culprit.held.by_number = by_number;
        document.say(line(culprit_words(culprit)));
        return written(document, shown.page);
    };
    CHECK(words(60'000, 0) == "60,000 blocks of 3,000 bytes, leaked\n");
    CHECK(words(59'999, 0) == "60,000 blocks of 3,000 bytes, 59,999 of them leaked\n");
    CHECK(words(60'000, 10'000) == "60,000 blocks of 3,000 bytes, 50,000 of them leaked\n");
    CHECK(words(60'000, 55'000) ==
          "60,000 blocks of 3,000 bytes, 60,000 of them leaked, unless ints are handles (55,000)\n");
    CHECK(words(10'000, 0) == "60,000 blocks of 3,000 bytes\n");
    NativeCulprit mixed;
    mixed.mixed = true;
    mixed.count = mixed.held.leaked = 207'001;
    mixed.of_class = "Circle";
    mixed.largest_count = 100'000;
    Document document;
    document.say(line(culprit_words(mixed)));
    CHECK(written(document, shown.page) == "207,001 blocks that leaked, the largest part 100,000 Circle\n");
}

TEST_CASE("render native: in a cut core no leak is claimed; without leaks it says so", "[cli][render]") {
    Shown shown;
    NativeResult result;
    result.sizes = {{8, 2, 16, Address(0x9100), "", "text", {2, 0, 0, "", 0, false}}};
    result.count = result.leaked_count = 2;
    result.tells_leaks = false;
    const Written cut(render_native(result, {}, {}), shown);
    CHECK(cut.text(shown.page).find("Which of it leaked cannot be told") != std::string::npos);
    CHECK(cut.text(shown.page).find("by nothing that is here") != std::string::npos);
    CHECK(rows_of(cut)[0]["leaked"].is_null());
    CHECK(cut.data["total"]["leaked_count"].is_null());
    CHECK(Written(render_native(result, {}, {.leaked_only = true}), shown)
              .text(shown.page)
              .starts_with("This core is cut."));
    result.tells_leaks = true;
    result.sizes.clear();
    CHECK(Written(render_native(result, {}, {.leaked_only = true}), shown).text(shown.page) ==
          "No block of C code leaked, as far as words tell.\n");
}
