// Sweeps over words, compared with the obvious loop: every aligned word of saved, writable memory, except for
// the ranges left out.

#include "parsers/elf/word_sweep.h"

#include "tests/catch.h"

#include <random>

using namespace heapsift;

namespace {

Segment segment_of(std::uint64_t start, const std::vector<std::uint8_t>& bytes) {
    Segment segment;
    segment.start = Address(start);
    segment.size = bytes.size();
    segment.data = reinterpret_cast<const std::byte*>(bytes.data());
    segment.state = ByteState::in_core;
    segment.writable = true;
    return segment;
}

AddressRange range(std::uint64_t from, std::uint64_t to) { return {Address(from), Address(to)}; }

constexpr std::uint64_t needle = 0x7fffdeadbeef;

/// Bytes in which every word that is aligned in the dumped process is the needle.
std::vector<std::uint8_t> needles(std::uint64_t start, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::uint64_t at = (8 - start % 8) % 8; at + 8 <= size; at += 8)
        std::memcpy(bytes.data() + at, &needle, 8);
    return bytes;
}

std::vector<std::uint64_t> hits(const AddressSpace& memory, const std::vector<AddressRange>& skip) {
    std::vector<std::uint64_t> found;
    sweep_words(memory, AddressSet({needle}), skip, [&](Address at, std::uint64_t word) {
        CHECK(word == needle);
        found.push_back(at.value);
    });
    return found;
}

/// The same in small pieces.
std::vector<std::uint64_t> hits_in_pieces(const AddressSpace& memory, const std::vector<AddressRange>& skip,
                                          std::uint64_t most) {
    std::vector<std::uint64_t> found;
    for (const SweepPiece& piece : pieces_to_sweep(memory, most))
        sweep_words(piece, AddressSet({needle}), skip,
                    [&](Address at, std::uint64_t) { found.push_back(at.value); });
    return found;
}

bool left_out(std::uint64_t at, const std::vector<AddressRange>& skip) {
    for (const AddressRange& r : skip)
        if (Address(at) < r.end && Address(at + 8) > r.start && r.size() > 0) return true;
    return false;
}

std::vector<std::uint64_t> obvious(const AddressSpace& memory, const std::vector<AddressRange>& skip) {
    std::vector<std::uint64_t> found;
    for (const Segment& s : memory.segments()) {
        if (s.state != ByteState::in_core || !s.writable) continue;
        for (std::uint64_t at = (s.start.value + 7) / 8 * 8; at + 8 <= s.end().value; at += 8)
            if (memory.read<std::uint64_t>(Address(at)) == needle && !left_out(at, skip)) found.push_back(at);
    }
    return found;
}

}  // namespace

TEST_CASE("address set: holds what it was given and nothing else", "[elf][word_sweep]") {
    const AddressSet empty(std::vector<std::uint64_t>{});
    CHECK(empty.empty());
    CHECK_FALSE(empty.contains(0));
    const AddressSet set({0x5000, 0x1000, 0x5000, 0xffffffffffffffff});
    CHECK(set.sorted() == std::vector<std::uint64_t>{0x1000, 0x5000, 0xffffffffffffffff});
    for (const std::uint64_t held : {0x1000UL, 0x5000UL, 0xffffffffffffffffUL}) CHECK(set.contains(held));
    // Addresses with the same bit in the filter, and neighbours.
    for (const std::uint64_t other : {0UL, 0xff8UL, 0x1008UL, 0x5001UL, 0x5000UL + (1UL << 40)})
        CHECK_FALSE(set.contains(other));
}

TEST_CASE("word sweep: every aligned word of saved, writable memory", "[elf][word_sweep]") {
    const auto bytes = needles(0x1000, 64);
    auto read_only = segment_of(0x2000, bytes);
    read_only.writable = false;
    auto from_file = segment_of(0x3000, bytes);
    from_file.state = ByteState::from_file;
    const AddressSpace memory({segment_of(0x1000, bytes), read_only, from_file});
    CHECK(hits(memory, {}) ==
          std::vector<std::uint64_t>{0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028, 0x1030, 0x1038});
}

TEST_CASE("word sweep: ranges are left out at the start, in the middle and at the end", "[elf][word_sweep]") {
    const auto bytes = needles(0x1000, 64);
    const AddressSpace memory({segment_of(0x1000, bytes)});
    CHECK(hits(memory, {range(0x1000, 0x1030)}) == std::vector<std::uint64_t>{0x1030, 0x1038});
    CHECK(hits(memory, {range(0x1008, 0x1038)}) == std::vector<std::uint64_t>{0x1000, 0x1038});
    CHECK(hits(memory, {range(0x1010, 0x1040)}) == std::vector<std::uint64_t>{0x1000, 0x1008});
    CHECK(hits(memory, {range(0x0, 0x9000)}).empty());
    CHECK(hits(memory, {range(0x0, 0x1000), range(0x1040, 0x9000)}).size() == 8);
    CHECK(hits(memory, {range(0x1000, 0x1008), range(0x1010, 0x1018), range(0x1018, 0x1038)}) ==
          std::vector<std::uint64_t>{0x1008, 0x1038});
}

TEST_CASE("word sweep: a word that a range cuts is left out", "[elf][word_sweep]") {
    const auto bytes = needles(0x1000, 32);
    const AddressSpace memory({segment_of(0x1000, bytes)});
    CHECK(hits(memory, {range(0x100c, 0x1010)}) == std::vector<std::uint64_t>{0x1000, 0x1010, 0x1018});
    CHECK(hits(memory, {range(0x1008, 0x1011)}) == std::vector<std::uint64_t>{0x1000, 0x1018});
}

TEST_CASE("word sweep: a segment that starts between words is read at the words", "[elf][word_sweep]") {
    const auto bytes = needles(0x1004, 60);
    const AddressSpace memory({segment_of(0x1004, bytes)});
    CHECK(hits(memory, {}).size() == 7);
    CHECK(hits(memory, {}).front() == 0x1008);
    CHECK(hits(memory, {range(0x1010, 0x1020)}) ==
          std::vector<std::uint64_t>{0x1008, 0x1020, 0x1028, 0x1030, 0x1038});
}

TEST_CASE("word sweep: an address that was removed is met no more, others are", "[elf][word_sweep]") {
    AddressSet set({0x5000, 0x6000, 0x7000});
    const std::uint64_t words[] = {0x5000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x7000, 0x6000, 0x5000};
    const auto* data = reinterpret_cast<const std::byte*>(words);
    CHECK(set.next_in(data, 0, sizeof words) == 0);
    set.remove(0x5000);
    CHECK(set.next_in(data, 0, sizeof words) == 80);
    CHECK(set.next_in(data, 88, sizeof words) == 88);
    CHECK(set.next_in(data, 96, sizeof words) == sizeof words);
}

TEST_CASE("word sweep: as the obvious loop, on random segments and ranges", "[elf][word_sweep]") {
    std::mt19937 random(20240607);
    auto below = [&](unsigned n) { return static_cast<std::uint64_t>(random() % n); };
    for (int round = 0; round < 500; ++round) {
        std::vector<std::vector<std::uint8_t>> bytes;
        std::vector<Segment> segments;
        std::uint64_t at = 0x1000 + below(8);
        for (std::uint64_t n = 1 + below(4); n > 0; --n) {
            bytes.push_back(needles(at, below(80)));
            segments.push_back(segment_of(at, bytes.back()));
            at += bytes.back().size() + below(2) * below(40);
        }
        std::vector<AddressRange> skip;
        std::uint64_t from = 0x1000 + below(40);
        for (std::uint64_t n = below(4); n > 0; --n) {
            const std::uint64_t to = from + 1 + below(60);
            skip.push_back(range(from, to));
            from = to + below(30);
        }
        const AddressSpace memory(segments);
        CHECK(hits(memory, skip) == obvious(memory, skip));
        for (const std::uint64_t most : {8, 24, 100, 4096})
            CHECK(hits_in_pieces(memory, skip, most) == obvious(memory, skip));
    }
}

TEST_CASE("word sweep: small pieces go together in batches, and none is lost", "[elf][word_sweep]") {
    std::vector<SweepPiece> pieces;
    CHECK(batches_of(pieces, 10) == std::vector<std::size_t>{0});
    for (const std::uint64_t size : {3, 3, 3, 3, 20, 1, 1}) pieces.push_back({nullptr, 100, 100 + size});
    CHECK(batches_of(pieces, 10) == std::vector<std::size_t>{0, 4, 5, 7});
    CHECK(batches_of(pieces, 1) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(batches_of(pieces, 1000) == std::vector<std::size_t>{0, 7});
}
