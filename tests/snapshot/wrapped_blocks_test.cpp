// Entries of tables from C++ objects to their Python objects.

#include "parsers/snapshot/wrapped_blocks.h"
#include "tests/catch.h"

#include <array>
#include <cstdint>

using namespace heapsift;

TEST_CASE("wrapped blocks: a pointer beside the object that has the same pointer is an entry", "[native]") {
    constexpr std::uint64_t block = 0x1000, other_block = 0x2000, wrapper = 0x5000, other_wrapper = 0x6000;
    WrappedBlocks wrapped;
    for (int twice = 0; twice < 2; ++twice) {  // in the body, and in the holder behind it
        wrapped.add(Address(other_block), Address(other_wrapper));
        wrapped.add(Address(block), Address(wrapper));
    }
    wrapped.finish();
    const auto is_entry = [&](std::array<std::uint64_t, 4> words, std::size_t index) {
        return wrapped.is_entry(std::as_bytes(std::span(words)), index, Address(words[index]));
    };
    CHECK(is_entry({0, block, wrapper, 0}, 1));
    CHECK(is_entry({0, 0, wrapper, block}, 3));
    CHECK(is_entry({other_block, other_wrapper, block, 1}, 0));
    SECTION("not beside another's object, nor far from its own, nor at the end") {
        CHECK_FALSE(is_entry({0, block, other_wrapper, 0}, 1));
        CHECK_FALSE(is_entry({block, 0, wrapper, 0}, 0));
        CHECK_FALSE(is_entry({0, 0, 0, block}, 3));
        CHECK_FALSE(is_entry({block, 0, 0, 0}, 0));
    }
    SECTION("and without wrappers there is none") {
        WrappedBlocks none;
        none.finish();
        const std::array<std::uint64_t, 2> words{block, wrapper};
        CHECK_FALSE(none.is_entry(std::as_bytes(std::span(words)), 0, Address(block)));
    }
}
