// Lookups, reads across borders, and overlaps compared with a slow obvious version.

#include "parsers/elf/address_space.h"
#include "tests/catch.h"

#include <random>

using namespace heapsift;

namespace {

Segment saved(std::uint64_t start, std::string_view bytes) {
    Segment s;
    s.start = Address(start);
    s.size = bytes.size();
    s.data = reinterpret_cast<const std::byte*>(bytes.data());
    s.state = ByteState::in_core;
    return s;
}

Segment hole(std::uint64_t start, std::uint64_t size) {
    Segment s;
    s.start = Address(start);
    s.size = size;
    return s;
}

}  // namespace

TEST_CASE("address space: each byte has one of four states", "[elf][address_space]") {
    Segment file = saved(0x3000, "file");
    file.state = ByteState::from_file;
    const AddressSpace memory({hole(0x2000, 16), file, saved(0x1000, "core")});
    CHECK(memory.state_of(Address(0x1003)) == ByteState::in_core);
    CHECK(memory.state_of(Address(0x1004)) == ByteState::unmapped);
    CHECK(memory.state_of(Address(0x200f)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x3000)) == ByteState::from_file);
    CHECK(memory.state_of(Address(0)) == ByteState::unmapped);
    CHECK(memory.state_of(Address(~0ull)) == ByteState::unmapped);
    CHECK(AddressSpace().find(Address(0)) == nullptr);
}

TEST_CASE("address space: a read that straddles two segments is put together, one that meets a hole fails",
          "[elf][address_space]") {
    const AddressSpace memory({saved(0x1000, "abcd"), saved(0x1004, "efghijkl"), hole(0x100c, 4)});
    CHECK(memory.read<std::uint64_t>(Address(0x1002)) == 0x6a69686766656463);
    CHECK(memory.view(Address(0x1002), 8).empty());
    CHECK(memory.view(Address(0x1004), 8).size() == 8);
    CHECK_FALSE(memory.read<std::uint64_t>(Address(0x1005)));  // the last byte was not saved
    CHECK_FALSE(memory.read<std::uint64_t>(Address(0x0fff)));
    CHECK_FALSE(memory.read_address(Address(~0ull - 3)));
    char nothing;
    CHECK(memory.read_bytes(Address(0x5000), &nothing, 0));
}

TEST_CASE("address space: strings end at their NUL, not at a border and not at the limit",
          "[elf][address_space]") {
    using namespace std::string_view_literals;
    const AddressSpace memory({saved(0x1000, "ab"), saved(0x1002, "cd\0ef"sv), hole(0x1007, 9)});
    CHECK(memory.read_c_string(Address(0x1000)) == "abcd");
    CHECK(memory.read_c_string(Address(0x1000), 4) == "abcd");
    CHECK_FALSE(memory.read_c_string(Address(0x1000), 3));
    CHECK(memory.read_c_string(Address(0x1000), ~std::size_t{0}) == "abcd");
    CHECK(memory.read_c_string(Address(0x1004)) == "");
    CHECK_FALSE(memory.read_c_string(Address(0x1005)));  // runs into bytes that were not saved
}

TEST_CASE("address space: what is learned to have been mapped fills gaps, and changes nothing that was known",
          "[elf][address_space]") {
    AddressSpace memory({saved(0x1000, "core"), hole(0x2000, 16)});
    CHECK(memory.total_bytes() == 20);
    const AddressRange learned[] = {{Address(0x0ff0), Address(0x1010)}, {Address(0x1008), Address(0x1020)}};
    memory.add_not_saved(learned);
    CHECK(memory.total_bytes() == 0x30 + 16);
    CHECK(memory.state_of(Address(0x0fff)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x1003)) == ByteState::in_core);
    CHECK(memory.state_of(Address(0x101f)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x1020)) == ByteState::unmapped);
    CHECK(memory.mapped_bytes(Address(0x0ff8), 100) == 0x28);
    CHECK(memory.saved_bytes(Address(0x0ff8), 100) == 4);
    CHECK(memory.saved_bytes(Address(0x1001), 2) == 2);
    CHECK(memory.saved_bytes(Address(0x5000), 2) == 0);
    CHECK(memory.read<std::uint32_t>(Address(0x1000)) == 0x65726f63);
}

TEST_CASE("address space: a segment that would wrap around the end of memory is shortened",
          "[elf][address_space]") {
    const AddressSpace memory({hole(0x1000, 0x10), hole(~0ull - 0xff, ~0ull)});
    REQUIRE(memory.segments().size() == 2);
    CHECK(memory.segments()[1].end() == Address(~0ull));
    CHECK(memory.state_of(Address(0x1000)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x0)) == ByteState::unmapped);
}

TEST_CASE("address space: overlaps go to the earlier segment of the input, as byte by byte",
          "[elf][address_space]") {
    std::mt19937 random(7);
    const std::string bytes(64, 'x');
    for (int round = 0; round < 300; ++round) {
        std::vector<Segment> input;
        const int count = 1 + static_cast<int>(random() % 12);
        for (int i = 0; i < count; ++i) {
            Segment s = random() % 2 ? saved(random() % 64, bytes.substr(0)) : hole(random() % 64, 0);
            s.data = s.data ? reinterpret_cast<const std::byte*>(bytes.data()) : nullptr;
            s.size = random() % 40;
            s.module = i;
            input.push_back(s);
        }
        const AddressSpace memory(input);
        for (std::uint64_t at = 0; at < 110; ++at) {
            const auto holds = [&](const Segment& s) {
                return at >= s.start.value && at - s.start.value < s.size;
            };
            const auto expected = std::find_if(input.begin(), input.end(), holds);
            const Segment* found = memory.find(Address(at));
            REQUIRE((found != nullptr) == (expected != input.end()));
            if (!found) continue;
            REQUIRE(found->module == expected->module);
            if (found->data)
                REQUIRE(found->data + (Address(at) - found->start) ==
                        expected->data + (Address(at) - expected->start));
        }
        const auto segments = memory.segments();
        for (std::size_t i = 1; i < segments.size(); ++i) REQUIRE(segments[i - 1].end() <= segments[i].start);
    }
}

TEST_CASE("address space: what was never written is left out of sweeps, and reads as zero", "[elf]") {
    std::vector<std::byte> bytes(640 * 4096, std::byte{7});
    Segment segment;
    segment.start = Address(0x10000);
    segment.size = bytes.size();
    segment.data = bytes.data();
    segment.state = ByteState::in_core;
    AddressSpace space({segment});
    const auto stretches = [&] {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        space.visit_written(space.segments().front(),
                            [&](std::uint64_t from, std::uint64_t to) { found.emplace_back(from, to); });
        return found;
    };
    using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    CHECK(stretches() == Stretches{{0, 640 * 4096}});
    // Two holes, one of them at the end, one that is too small to be worth a visit, and a hole of another file.
    const std::vector<std::byte> other(4096);
    std::vector<std::span<const std::byte>> holes = {std::span(bytes).subspan(4096, 64 * 4096),
                                                     std::span(bytes).subspan(100 * 4096, 8192),
                                                     std::span(bytes).subspan(400 * 4096)};
    holes.insert(std::less<const std::byte*>{}(other.data(), bytes.data()) ? holes.begin() : holes.end(),
                 std::span(other));
    space.set_holes(holes, 64 * 4096);
    CHECK(stretches() == Stretches{{0, 4096 + 7}, {65 * 4096, 400 * 4096 + 7}});
    Stretches skipped;
    space.visit_holes(space.segments().front(),
                      [&](std::uint64_t from, std::uint64_t to) { skipped.emplace_back(from, to); });
    CHECK(skipped == Stretches{{4096, 65 * 4096}, {100 * 4096, 102 * 4096}, {400 * 4096, 640 * 4096}});
    space.set_holes({std::span<const std::byte>(bytes)});
    CHECK(stretches().empty());
    CHECK(space.read<std::uint8_t>(Address(0x10000)) == 7);
}
