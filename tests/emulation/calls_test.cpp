// Single calls, which may write: what they return, that nothing stays of what they wrote, and what stops them.

#include "parsers/emulation/calls.h"
#include "tests/catch.h"
#include "tests/emulation/small_code.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string code(std::initializer_list<int> bytes) {
    std::string text;
    for (const int byte : bytes) text += static_cast<char>(byte);
    return text;
}

/// PyObject* get(self): a counted reference to what is at `offset`, or null.
std::string getter(int offset) {
    return code({0x48, 0x8b, 0x47, offset, 0x48, 0x85, 0xc0, 0x74, 0x05, 0x48, 0x83, 0x00, 0x01, 0xc3, 0x31,
                 0xc0, 0xc3});
}

struct Calling {
    SmallProcess process;
    std::unique_ptr<Calls> calls;

    void start() {
        process.start();
        calls = Calls::start(process.core());
        REQUIRE(calls);
    }
    std::uint64_t word(Address at) const { return *process.core().memory().read<std::uint64_t>(at); }
};

}  // namespace

TEST_CASE("calls: a getter returns what it read, and its count is taken back", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Calling calling;
    const Address get = calling.process.function(getter(24));
    const Address value = calling.process.object({}), object = calling.process.object({5, value.value}),
                  empty = calling.process.object({5, 0});
    calling.start();
    CHECK(calling.calls->call(get, object, {}) == value.value);
    CHECK(calling.word(value) == 2);  // it has the reference now
    REQUIRE_FALSE(calling.calls->trace().empty());
    CHECK(calling.calls->trace().front().address == object + 24);
    CHECK(calling.calls->trace().front().bytes == 8);
    calling.calls->take_back();
    CHECK(calling.word(value) == 1);
    for (int i = 0; i < 100; ++i) CHECK(calling.calls->call(get, object, {}) == value.value);
    CHECK(calling.word(value) == 2);
    CHECK(calling.calls->call(get, empty, {}) == 0);
    CHECK(calling.word(value) == 1);
    CHECK(calling.word(object + 24) == value.value);
}

TEST_CASE("calls: the second argument is given, and copies of objects are read and written", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Calling calling;
    const Address second = calling.process.function(code({0x48, 0x89, 0xf0, 0xc3}));  // mov rax, rsi
    const Address writes =
        calling.process.function(code({0x48, 0x89, 0x77, 0x10, 0xc3}));  // self->a = closure
    const Address get = calling.process.function(getter(24));
    const Address value = calling.process.object({}), object = calling.process.object({5, value.value});
    calling.start();
    CHECK(calling.calls->call(second, object, Address(0x1234)) == 0x1234);
    const Address copy = calling.calls->memory().room().copy;
    const auto room = calling.calls->memory().own(copy, 64);
    REQUIRE(room.size() == 64);
    std::memcpy(room.data() + 24, &value.value, 8);
    CHECK(calling.calls->call(get, copy, {}) == value.value);
    REQUIRE(calling.calls->trace().size() >= 1);
    CHECK(calling.calls->trace().front().address == copy + 24);
    CHECK(calling.calls->call(writes, copy, Address(7)).has_value());
    CHECK(room[16] == std::byte{7});
    CHECK(calling.calls->call(writes, object, Address(7)).has_value());
    CHECK(room[16] == std::byte{0});
    CHECK(calling.word(object + 16) == 7);
    calling.calls->take_back();
    CHECK(calling.word(object + 16) == 5);
}

TEST_CASE("calls: code that does harm costs its own call, and leaves no trace", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Calling calling;
    const Address good = calling.process.function(getter(24));
    const Address bad[] = {
        calling.process.function(code({0xeb, 0xfe})),                          // runs for ever
        calling.process.function(code({0x48, 0xff, 0x47, 0x10, 0xeb, 0xfa})),  // counts for ever
        calling.process.function(
            code({0x48, 0x89, 0x3f, 0x48, 0x83, 0xc7, 0x08, 0xeb, 0xf7})),           // writes on and on
        calling.process.function(code({0x48, 0x89, 0x3d, 0, 0, 0, 0, 0xc3})),        // writes to its own code
        calling.process.function(code({0x48, 0x31, 0xc0, 0x48, 0x89, 0x00, 0xc3})),  // writes at 0
        calling.process.function(code({0xff, 0xe7})),                                // runs the object
        calling.process.function(code({0x0f, 0x0b})),                                // ud2
        Address(0x123456789),
    };
    const Address value = calling.process.object({}), object = calling.process.object({5, value.value});
    calling.process.object({1, 2, 3, 4});
    calling.start();
    std::vector<std::byte> before(0x2000), after(0x2000);
    const Address heap(SmallProcess::heap);
    REQUIRE(calling.process.core().memory().read_bytes(heap, before.data(), before.size()));
    for (const Address function : bad) {
        CHECK_FALSE(calling.calls->call(function, object, {}));
        CHECK(calling.calls->call(good, object, {}) == value.value);
        calling.calls->take_back();
        REQUIRE(calling.process.core().memory().read_bytes(heap, after.data(), after.size()));
        CHECK(before == after);
    }
}

TEST_CASE("calls: all together have a limit that does not depend on time", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Calling calling;
    const Address endless = calling.process.function(code({0xeb, 0xfe})),
                  good = calling.process.function(getter(24));
    const Address object = calling.process.object({5, 6});
    calling.start();
    int made = 0;
    while (!calling.calls->exhausted() && made < 100'000) {
        CHECK_FALSE(calling.calls->call(endless, object, {}));
        ++made;
    }
    CHECK(made > 1000);
    CHECK(made < 10'000);
    CHECK_FALSE(calling.calls->call(good, object, {}));
}
