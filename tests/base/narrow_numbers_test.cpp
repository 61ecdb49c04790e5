// Numbers in two bytes, until one of them needs four: all stay what they were.

#include "parsers/base/narrow_numbers.h"

#include "tests/catch.h"

#include <cstdint>

using namespace heapsift;

TEST_CASE("narrow numbers: what was set comes back, and none where nothing was", "[base]") {
    NarrowNumbers numbers(5);
    CHECK(numbers.size() == 5);
    CHECK(numbers[3] == NarrowNumbers::none);
    numbers.set(0, 0);
    numbers.set(1, 0xfffe);
    numbers.set(2, 7);
    numbers.set(2, NarrowNumbers::none);
    CHECK(numbers[0] == 0);
    CHECK(numbers[1] == 0xfffe);
    CHECK(numbers[2] == NarrowNumbers::none);
    CHECK(NarrowNumbers(3, 0)[2] == 0);
    CHECK(NarrowNumbers().empty());
}

TEST_CASE("narrow numbers: one that needs more room leaves the others as they are", "[base]") {
    const std::uint32_t large = GENERATE(0xffffU, 0x10000U, 0xfffffffeU);
    NarrowNumbers numbers(4, 0);
    numbers.set(0, 0xfffe);
    numbers.set(1, NarrowNumbers::none);
    numbers.set(2, large);
    CHECK(numbers.size() == 4);
    CHECK(numbers[0] == 0xfffe);
    CHECK(numbers[1] == NarrowNumbers::none);
    CHECK(numbers[2] == large);
    CHECK(numbers[3] == 0);
    numbers.set(3, NarrowNumbers::none);
    CHECK(numbers[3] == NarrowNumbers::none);
}
