// What the machine does itself: POPCNT in all its forms, as GNU as encodes them; functions of the C library;
// memory.

#include "parsers/emulation/in_child.h"
#include "parsers/emulation/libc_functions.h"
#include "parsers/emulation/popcnt.h"
#include "tests/catch.h"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

using namespace heapsift;

namespace {

std::optional<Popcnt> decode(std::vector<std::uint8_t> bytes) { return decode_popcnt(bytes); }

std::optional<std::uint64_t> run(GuestMemory& memory, std::string_view name, std::uint64_t a, std::uint64_t b,
                                 std::uint64_t c = 0) {
    const auto functions = libc_functions();
    const auto one =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    REQUIRE(one != functions.end());
    return one->run(memory, {a, b, c});
}

}  // namespace

TEST_CASE("popcnt: registers and memory", "[emulation]") {
    const auto registers = decode({0xf3, 0x4c, 0x0f, 0xb8, 0xc9});  // popcnt r9, rcx
    REQUIRE(registers);
    CHECK(registers->length == 5);
    CHECK(registers->width == 8);
    CHECK(registers->destination == 9);
    CHECK(registers->source == 1);
    CHECK_FALSE(registers->in_memory);

    const auto indexed = decode({0xf3, 0x42, 0x0f, 0xb8, 0x44, 0xab, 0x80});  // popcnt eax, [rbx+r13*4-128]
    REQUIRE(indexed);
    CHECK(indexed->length == 7);
    CHECK(indexed->width == 4);
    CHECK(indexed->in_memory);
    CHECK((indexed->has_base && indexed->source == 3));
    CHECK((indexed->has_index && indexed->index == 13 && indexed->scale == 4));
    CHECK(indexed->displacement == -128);

    const auto relative = decode({0xf3, 0x48, 0x0f, 0xb8, 0x05, 0x10, 0, 0, 0});  // popcnt rax, [rip+16]
    REQUIRE(relative);
    CHECK((relative->from_next && !relative->has_base && relative->displacement == 16 &&
           relative->length == 9));

    const auto narrow = decode({0x66, 0xf3, 0x0f, 0xb8, 0xd0});  // popcnt dx, ax
    REQUIRE(narrow);
    CHECK(narrow->width == 2);
}

TEST_CASE("popcnt: other instructions, and bytes that end too soon", "[emulation]") {
    CHECK_FALSE(decode({0x0f, 0xb8, 0xc1}));        // without the prefix
    CHECK_FALSE(decode({0xf3, 0x0f, 0xbc, 0xc1}));  // tzcnt
    CHECK_FALSE(decode({0xc5, 0xf8, 0x77}));        // vzeroupper
    CHECK_FALSE(decode({0xf3, 0x0f, 0xb8}));
    CHECK_FALSE(decode({0xf3, 0x0f, 0xb8, 0x84, 0x24}));  // its displacement is missing
    CHECK_FALSE(decode({}));
}

TEST_CASE("libc functions: as the C library has them, within what is there", "[emulation]") {
    static char text[0x2000] = "a bc b";
    Segment segment;
    segment.start = Address(0x10000);
    segment.size = sizeof text;
    segment.data = reinterpret_cast<const std::byte*>(text);
    segment.state = ByteState::in_core;
    text[sizeof text - 2] = 'x';
    text[sizeof text - 1] = 'y';
    const AddressSpace process({segment});
    const auto memory = GuestMemory::of(process);
    REQUIRE(memory);
    const std::uint64_t at = 0x10000, end = at + sizeof text;
    CHECK(run(*memory, "strlen", at, 0) == 6);
    CHECK(run(*memory, "strnlen", at, 4) == 4);
    CHECK(run(*memory, "strchr", at, 'b') == at + 2);
    CHECK(run(*memory, "strrchr", at, 'b') == at + 5);
    CHECK(run(*memory, "strchr", at, 'z') == 0);
    CHECK(run(*memory, "strchr", at, 0) == at + 6);
    CHECK(run(*memory, "strchrnul", at, 'z') == at + 6);
    CHECK(run(*memory, "memchr", at, 'c', 4) == at + 3);
    CHECK(run(*memory, "memchr", at, 'c', 3) == 0);
    CHECK(run(*memory, "memrchr", at, 'b', 6) == at + 5);
    CHECK(run(*memory, "strcmp", at, at + 2) == static_cast<std::uint32_t>('a' - 'b'));
    CHECK(run(*memory, "strncmp", at + 2, at + 5, 1) == 0);
    CHECK(run(*memory, "memcmp", at, at, 6) == 0);
    // No end, nothing there, nothing to be written.
    CHECK_FALSE(run(*memory, "strlen", end - 2, 0));
    CHECK_FALSE(run(*memory, "strlen", 0, 0));
    CHECK_FALSE(run(*memory, "memcpy", at, at + 2, 3));
    CHECK_FALSE(run(*memory, "memset", at, 0, 1));
    const std::uint64_t own = memory->room().ends.value;
    CHECK(run(*memory, "memcpy", own, at, 7) == own);
    CHECK(run(*memory, "strcmp", own, at) == 0);
    CHECK(run(*memory, "mempcpy", own, at + 2, 2) == own + 2);
    CHECK(run(*memory, "memset", own, 'z', 4) == own);
    CHECK(run(*memory, "strchr", own, 'z') == own);
    CHECK_FALSE(run(*memory, "memcpy", own, at, std::uint64_t{1} << 40));
}

TEST_CASE("guest memory: whole pages, joined where they continue, and room that the process leaves",
          "[emulation]") {
    static const std::byte bytes[0x3800]{};
    const auto piece = [&](std::uint64_t start, std::uint64_t offset, std::uint64_t size) {
        Segment segment;
        segment.start = Address(start);
        segment.size = size;
        segment.data = bytes + offset;
        segment.state = ByteState::in_core;
        return segment;
    };
    const AddressSpace process(
        {piece(0x10000, 0, 0x1000), piece(0x11000, 0x1000, 0x2800), piece(0x20000, 0, 0x1000)});
    const auto memory = GuestMemory::of(process);
    REQUIRE(memory);
    const auto region = memory->region_at(Address(0x11008));
    REQUIRE(region);
    CHECK(region->start == Address(0x10000));
    CHECK(region->size == 0x3000);
    CHECK(region->bytes == bytes);
    CHECK_FALSE(region->writable);
    CHECK_FALSE(memory->region_at(Address(0x13004)));  // a page of which half was saved
    CHECK_FALSE(memory->region_at(Address(0x14000)));
    const auto& room = memory->room();
    for (const Address own : {room.code, room.calls, room.ends, room.visits, room.copy}) {
        CHECK(process.state_of(own) == ByteState::unmapped);
        CHECK(memory->region_at(own));
    }
    CHECK_FALSE(memory->region_at(room.stack_end));
    CHECK_FALSE(memory->write(Address(0x10000), bytes, 8));
    CHECK_FALSE(memory->write(room.calls, bytes, 8));
}

TEST_CASE("in a child: what it sends arrives whole; one that dies has told what it worked at",
          "[emulation]") {
    const std::vector<std::byte> large(300'000, std::byte{7}), none;
    const ChildResult sent = run_in_child([&](ChildOutput& output) {
        output.mark(5);
        output.write(large);
        output.write(none);
    });
    CHECK(sent.finished);
    CHECK(sent.mark == 5U);
    CHECK(sent.parts == std::vector<std::vector<std::byte>>{large, none});

    const ChildResult died = run_in_child([&](ChildOutput& output) {
        output.mark(9);
        output.write(large);
        std::abort();
    });
    CHECK_FALSE(died.finished);
    CHECK(died.mark == 9U);
    CHECK_FALSE(run_in_child([](ChildOutput&) { throw 1; }).finished);
}

TEST_CASE("in a child: one that stands still is ended, and one that is slow is not", "[emulation]") {
    const ChildResult stands = run_in_child(
        [&](ChildOutput& output) {
            output.mark(4);
            for (;;) ::pause();
        },
        1);
    CHECK_FALSE(stands.finished);
    CHECK(stands.mark == 4U);

    const ChildResult slow = run_in_child(
        [&](ChildOutput& output) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
            while (std::chrono::steady_clock::now() < end) continue;
            output.write(std::vector<std::byte>(3));
        },
        2);
    CHECK(slow.finished);
    CHECK(slow.parts.size() == 1);
}
