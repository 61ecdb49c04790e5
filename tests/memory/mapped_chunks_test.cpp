// Blocks with mappings of their own, joined to one mapping by the kernel; and pages that only begin like one.

#include "parsers/memory/mapped_chunks.h"

#include "tests/catch.h"

#include <cstring>
#include <vector>

using namespace heapsift;

namespace {

constexpr std::uint64_t page = 4096;
constexpr Address start(0x7ffff0000000);

struct Mapping {
    explicit Mapping(std::uint64_t pages) : bytes(pages * page) {}
    void chunk(std::uint64_t at, std::uint64_t before, std::uint64_t size) {
        std::memcpy(bytes.data() + at, &before, 8);
        std::memcpy(bytes.data() + at + 8, &size, 8);
    }
    std::vector<MappedChunk> found(std::vector<AddressRange> others = {}) const {
        Segment s;
        s.start = start;
        s.size = bytes.size();
        s.data = bytes.data();
        s.state = ByteState::in_core;
        s.writable = true;
        return find_mapped_chunks(AddressSpace({s}), others);
    }
    std::vector<std::byte> bytes;
};

}  // namespace

TEST_CASE("mapped chunks: neighbours in one mapping, each as long as it says", "[malloc]") {
    Mapping mapping(8);
    mapping.chunk(0, 0, (3 * page) | 2);
    mapping.chunk(page, 0, page | 2);  // inside the first
    mapping.chunk(5 * page, 0, (2 * page) | 2);
    const auto chunks = mapping.found();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].start == start + 16);
    CHECK(chunks[0].usable == 3 * page - 16);
    CHECK(chunks[0].pages.size() == 3 * page);
    CHECK(chunks[1].start == start + 5 * page + 16);
    CHECK(mapping.found({{start + 4 * page, start + 6 * page}}).size() == 1);
    CHECK(mapping.found({{start, start + page}}).size() == 2);  // what was inside, and the last
}

TEST_CASE("mapped chunks: an aligned block lies behind the header that was there first", "[malloc]") {
    const std::uint64_t alignment = GENERATE(64, 4096, 8192);
    Mapping mapping(16);
    const std::uint64_t size = 12 * page;
    const std::uint64_t lead = (start.value + 16 + alignment - 1) / alignment * alignment - 16 - start.value;
    mapping.chunk(0, 0, size | 2);
    mapping.chunk(lead, lead, (size - lead) | 2);
    const auto chunks = mapping.found();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].start == start + lead + 16);
    CHECK(chunks[0].usable == size - lead - 16);
    CHECK(chunks[0].pages.end == start + size);
}

TEST_CASE("mapped chunks: since glibc 2.43 a size leaves the header out, and a bit is for huge pages",
          "[malloc]") {
    const std::uint64_t huge = GENERATE(0, 1);
    const std::uint64_t alignment = GENERATE(64, 8192);
    Mapping mapping(16);
    const std::uint64_t size = 10 * page;
    const std::uint64_t lead = (start.value + 16 + alignment - 1) / alignment * alignment - 16 - start.value;
    mapping.chunk(0, huge, (size - 16) | 2);
    mapping.chunk(lead, lead | huge, (size - lead - 16) | 2);
    mapping.chunk(size, huge, (2 * page - 16) | 2);
    const auto chunks = mapping.found();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].start == start + lead + 16);
    CHECK(chunks[0].usable == size - lead - 24);
    CHECK(chunks[0].pages.size() == size);
    CHECK(chunks[1].start == start + size + 16);
    CHECK(chunks[1].usable == 2 * page - 24);
    CHECK(chunks[1].pages.size() == 2 * page);
}

TEST_CASE("mapped chunks: what is larger than the memory, or of no pages, is none", "[malloc]") {
    Mapping mapping(2);
    mapping.chunk(0, 0, (3 * page) | 2);
    mapping.chunk(page, 0, (page + 16) | 2);
    CHECK(mapping.found().empty());
    mapping.chunk(page, 8, page | 2);
    CHECK(mapping.found().empty());
    mapping.chunk(page, 0, page | 3);
    CHECK(mapping.found().empty());
}
