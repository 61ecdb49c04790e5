// The note of pages that were never there: what is written is read, and what cannot be is refused.

#include "parsers/elf/absent_pages.h"

#include "tests/catch.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace heapsift;

namespace {

Bytes bytes_of_note(const std::string& note) {
    return {reinterpret_cast<const std::byte*>(note.data()), note.size()};
}

AddressRange pages(std::uint64_t first, std::uint64_t count) {
    return {Address(first * 4096), Address((first + count) * 4096)};
}

using Numbers = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Numbers numbers(const std::vector<AddressRange>& ranges) {
    Numbers all;
    for (const AddressRange& range : ranges) all.emplace_back(range.start.value, range.end.value);
    return all;
}

std::optional<Numbers> read(const std::string& note) {
    const auto ranges = read_absent_pages(bytes_of_note(note));
    return ranges ? std::optional(numbers(*ranges)) : std::nullopt;
}

}  // namespace

TEST_CASE("absent pages: what is written is read", "[elf]") {
    CHECK(read(absent_pages_note({}))->empty());
    std::vector<AddressRange> all = {pages(0, 1), pages(3, 127), pages(131, 128),
                                     pages(0x7f0000000, 1 << 28)};
    CHECK(read(absent_pages_note(all)) == numbers(all));
    std::mt19937 random(5);
    std::uint64_t at = 0x500000;
    all.clear();
    for (int i = 0; i < 10000; ++i) {
        const std::uint64_t first = at + random() % (i % 7 == 0 ? 1u << 20 : 9u), count = 1 + random() % 300;
        all.push_back(pages(first, count));
        at = first + count;
    }
    const std::string note = absent_pages_note(all);
    CHECK(read(note) == numbers(all));
    CHECK(note.size() < 40000);
}

TEST_CASE("absent pages: a note that would be too long is none", "[elf]") {
    std::vector<AddressRange> all;
    for (std::uint64_t i = 0; i < 3'000'000; ++i) all.push_back(pages(2 * i, 1));
    CHECK(absent_pages_note(all).empty());
}

TEST_CASE("absent pages: what is cut, of another form or beyond all addresses does not read", "[elf]") {
    CHECK_FALSE(read(""));
    CHECK_FALSE(read("\x02"));
    CHECK_FALSE(read("\x01\x05"));                                      // no count
    CHECK_FALSE(read(std::string("\x01\x05\x00", 3)));                  // of nothing
    CHECK_FALSE(read("\x01\x85"));                                      // half a number
    CHECK_FALSE(read("\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01"));  // more than there is
    CHECK_FALSE(read("\x01\x01\xff\xff\xff\xff\xff\xff\xff\x07"));
    CHECK(read("\x01\x01\xff\xff\xff\xff\xff\xff\x7f"));
    CHECK_FALSE(read("\x01\xff\xff\xff\xff\xff\xff\xff\x07\xff\xff\xff\xff\xff\xff\xff\x07"));
    CHECK_FALSE(read(std::string(5 << 20, '\x01')));
}
