// Code of a core, run on its memory: what it visits, and what becomes of code that means harm.

#include "tests/catch.h"
#include "tests/emulation/small_code.h"

#include <ctime>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using Words = std::vector<std::uint64_t>;
const Words failed{~std::uint64_t{0}};

}  // namespace

TEST_CASE("traverse: visits in order and as often, of thousands of objects at once", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    const Address slots = process.function(Code().slot(16).slot(32).slot(24));
    const Address list = process.function(Code().items(16, 24));
    const Address none = process.function(Code());
    std::vector<Traverse::Call> calls;
    std::vector<Words> expected;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        calls.push_back({slots, process.object({i, 0, 7 * i})});
        expected.push_back(i == 0 ? Words{} : Words{i, 7 * i});
    }
    const Address items = process.object({11, 12, 11});
    for (int i = 0; i < 3000; ++i) {
        calls.push_back({list, process.object({3, items.value + 16})});
        expected.push_back({11, 12, 11});
        calls.push_back({none, items});
        expected.push_back({});
    }
    process.start();
    REQUIRE(process.traverse);
    CHECK(process.run(calls) == expected);
    CHECK(process.traverse->failures().faults == 0);
}

TEST_CASE("traverse: code that reads or runs what is not there costs its own object, and no other",
          "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    const auto heap = [](int byte) { return static_cast<int>(SmallProcess::heap >> 8 * byte & 0xff); };
    const Code::Bytes load_heap_address = {0x48,    0xb8,    0,       0, heap(2),
                                           heap(3), heap(4), heap(5), 0, 0};  // mov rax
    const Address good = process.function(Code().slot(16));
    const Address bad[] = {
        process.function(Code().raw({0x48, 0x31, 0xc0, 0x48, 0x8b, 0x00})),       // reads at 0
        process.function(Code().raw({0x31, 0xc0, 0xff, 0xe0})),                   // runs 0
        process.function(Code().raw(load_heap_address).raw({0xff, 0xe0})),        // runs data
        process.function(Code().raw(load_heap_address).raw({0x48, 0x89, 0x00})),  // writes to the heap
        process.function(Code().raw({0x48, 0x89, 0x1d, 0, 0, 0, 0})),             // writes to its own code
        process.function(Code().raw({0xe8, 0xfb, 0xff, 0xff, 0xff})),             // calls itself for ever
        process.function(Code().raw({0xf4})),                                     // hlt
        process.function(Code().raw({0xcc})),                                     // int3
        process.function(Code().raw({0xcd, 0x80})),                               // int 0x80
        process.function(Code().raw({0x0f, 0x0b})),                               // ud2
        process.function(Code().slot(16).raw({0xeb, 0xf2})),                      // visits for ever
        Address(0x123456789),                                                     // no code at all
    };
    const Address object = process.object({0x77});
    process.start();
    REQUIRE(process.traverse);
    std::vector<Traverse::Call> calls;
    std::vector<Words> expected;
    for (const Address function : bad) {
        calls.insert(calls.end(), {{good, object}, {function, object}, {good, object}});
        expected.insert(expected.end(), {{0x77}, failed, {0x77}});
    }
    CHECK(process.run(calls) == expected);
    // What never ends fills the room for visits, or is stopped by the clock where the machine is busy.
    const auto& failures = process.traverse->failures();
    CHECK(failures.faults + failures.endless == std::size(bad));
    CHECK(failures.endless <= 2);
    CHECK_FALSE(failures.first.empty());
}

TEST_CASE("traverse: code without an end is stopped, and its function is given up after three times",
          "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    const Address good = process.function(Code().slot(16)),
                  endless = process.function(Code().raw({0xeb, 0xfe}));
    const Address object = process.object({0x77});
    process.start();
    REQUIRE(process.traverse);
    std::vector<Traverse::Call> calls(200, {endless, object});
    std::vector<Words> expected(200, failed);
    calls.push_back({good, object});
    expected.push_back({0x77});
    CHECK(process.run(calls) == expected);
    CHECK(process.traverse->failures().endless == 3);
    CHECK(process.traverse->failures().not_tried == 197);
}

TEST_CASE("traverse: for code that takes long, or is asked often, all its time is limited", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    const Address endless = process.function(Code().raw({0xeb, 0xfe})), object = process.object({0x77});
    // mov ecx, 20000000; dec ecx; jnz -4: some tenths of a second, then visit(slot 16)
    const Address slow =
        process.function(Code().raw({0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc}).slot(16));
    process.start();
    REQUIRE(process.traverse);
    process.traverse->set_seconds(0.5);
    const auto cpu = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    const double began = cpu();
    SECTION("asked") {
        for (int i = 0; i < 2000; ++i) CHECK_FALSE(process.traverse->ask(endless, object));
    }
    SECTION("run") {
        const std::vector<Traverse::Call> calls(2000, {slow, object});
        const auto seen = process.run(calls);
        CHECK(seen.front() == Words{0x77});
        CHECK(seen.back() == failed);
    }
    CHECK(cpu() - began < 10);
}

TEST_CASE("traverse: a function that always fails is given up", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    const Address bad = process.function(Code().raw({0x0f, 0x0b}));
    const Address object = process.object({});
    process.start();
    REQUIRE(process.traverse);
    CHECK(process.run(std::vector<Traverse::Call>(5000, {bad, object})) == std::vector<Words>(5000, failed));
    CHECK(process.traverse->failures().not_tried > 4900);
}

TEST_CASE("traverse: a system call is answered with ENOSYS; POPCNT counts", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    SmallProcess process;
    // mov eax, 39 (getpid); syscall; neg rax; visit(rax)
    const Address asks = process.function(
        Code().raw({0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x48, 0xf7, 0xd8, 0x48, 0x89, 0xc7, 0x41, 0xff, 0xd4}));
    // popcnt rdi, [rbx+16]; visit(rdi)
    const Address counts = process.function(Code().raw({0xf3, 0x48, 0x0f, 0xb8, 0x7b, 16, 0x41, 0xff, 0xd4}));
    const Address answers = process.function(std::string("\xb8\x2a\0\0\0\xc3", 6));  // mov eax, 42; ret
    const Address object = process.object({0xf0f0f0f0f0f0f0ff});
    process.start();
    REQUIRE(process.traverse);
    CHECK(process.run({{asks, object}, {counts, object}, {counts, object}}) ==
          std::vector<Words>{{38}, {36}, {36}});
    INFO(process.traverse->failures().first);
    CHECK(process.traverse->ask(answers, object) == 42);
    CHECK_FALSE(process.traverse->ask(object, object));  // data
}

TEST_CASE("without Unicorn nothing is started", "[emulation]") {
    SmallProcess process;
    process.start();
    CHECK((process.traverse != nullptr) == can_emulate());
    CHECK(emulator_name().empty() != can_emulate());
}
