// Handmade entries that run out of their unit: the smallest sound .debug_info, with one damage at a time.

#include "parsers/dwarf/entry_check.h"

#include <cstdint>
#include <string>

#include "tests/catch.h"

namespace {

using namespace heapsift;

std::string u32(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
std::string bytes(std::initializer_list<int> values) { return {values.begin(), values.end()}; }

/// Abbreviation 1: any tag, no children, the given attribute forms. Then the end of the table.
std::string abbreviation(std::initializer_list<int> forms) {
    std::string table = bytes({1, 0x34, 0});
    for (const int form : forms) table += bytes({0x03, form});
    return table + bytes({0, 0, 0});
}

/// A DWARF 5 compilation unit with 32-bit offsets and 8-byte addresses.
std::string unit(const std::string& entries) {
    const std::string rest = bytes({5, 0, 1, 8}) + u32(0) + entries;
    return u32(static_cast<std::uint32_t>(rest.size())) + rest;
}

constexpr int data4 = 0x06, block1 = 0x0a, exprloc = 0x18, string = 0x08, indirect = 0x16;

}  // namespace

TEST_CASE("entry check: sound units pass", "[dwarf]") {
    const std::string table = abbreviation({data4, block1, string});
    const std::string entry = bytes({1}) + u32(7) + bytes({2, 0, 0, 'a', 0});
    CHECK(damage_in_entries("", "", false).empty());
    CHECK(damage_in_entries(unit(""), table, false).empty());
    CHECK(damage_in_entries(unit(entry + entry + bytes({0})) + unit(entry), table, false).empty());
}

TEST_CASE("entry check: a unit longer than its section, or of no known version, is damage", "[dwarf]") {
    const std::string table = abbreviation({});
    const std::string sound = unit(bytes({1}));
    REQUIRE(damage_in_entries(sound, table, false).empty());
    CHECK_THAT(damage_in_entries(u32(100) + sound.substr(4), table, false),
               ContainsSubstring("header of the unit at offset 0"));
    CHECK_FALSE(
        damage_in_entries(u32(0xffffffff) + std::string(8, '\xff') + sound.substr(4), table, false).empty());
    CHECK_FALSE(damage_in_entries(sound + bytes({1}), table, false).empty());
    std::string version = sound;
    version[4] = 9;
    CHECK_FALSE(damage_in_entries(version, table, false).empty());
}

TEST_CASE("entry check: an attribute that ends outside its unit is damage, even where another unit follows",
          "[dwarf]") {
    const std::string long_block = unit(bytes({1, 100}));
    CHECK_THAT(damage_in_entries(long_block + std::string(200, '\0'), abbreviation({block1}), false),
               ContainsSubstring("entries"));
    CHECK_FALSE(damage_in_entries(unit(bytes({1, 0, 0})), abbreviation({data4}), false).empty());
    CHECK_FALSE(damage_in_entries(unit(bytes({1, 'a'})), abbreviation({string}), false).empty());
    // A length of almost 2^64, which wraps when added.
    const std::string wraps = bytes({1}) + std::string(9, '\xff') + bytes({1});
    CHECK_FALSE(damage_in_entries(unit(wraps), abbreviation({exprloc}), false).empty());
    CHECK_FALSE(damage_in_entries(unit(bytes({1}) + std::string(20, '\xff')), abbreviation({exprloc}), false)
                    .empty());
}

TEST_CASE("entry check: an unknown abbreviation or form, and a table that does not end, are damage",
          "[dwarf]") {
    CHECK_FALSE(damage_in_entries(unit(bytes({2})), abbreviation({data4}), false).empty());
    CHECK_FALSE(
        damage_in_entries(unit(bytes({1, data4, 0, 0, 0, 0})), abbreviation({indirect}), false).empty());
    CHECK_THAT(damage_in_entries(unit(bytes({1})), bytes({1, 0x34, 0, 3}), false),
               ContainsSubstring("abbreviations"));
    CHECK_FALSE(damage_in_entries(unit(bytes({1})), "", false).empty());
}
