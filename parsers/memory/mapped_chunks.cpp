// Such a chunk begins on a page and is as long as its mapping, but the kernel joins neighbours to one mapping of
// many. Its first word is 0, the second its size with the flag for "mapped". An aligned request moves the block
// up: the header before it has what lies below as its first word and the rest as its size, and the old header
// stays where it was (malloc.c, _int_memalign).

#include "parsers/memory/mapped_chunks.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t flag_bits = 7, is_mapped = 2;
constexpr std::uint64_t page = 4096, header = 16;
constexpr std::uint64_t least_alignment = 32, most_alignment = std::uint64_t{1} << 30;

struct Header {
    std::uint64_t before, size;
};

/// The block of an aligned request in the chunk of `size` bytes at `start`; `start` if there is none.
Address aligned_chunk(const AddressSpace& memory, Address start, std::uint64_t size) {
    for (std::uint64_t alignment = least_alignment; alignment <= most_alignment && alignment < size;
         alignment *= 2) {
        const std::uint64_t block = (start.value + header + alignment - 1) / alignment * alignment;
        for (const std::uint64_t at : {block, block + alignment}) {
            const Address chunk(at - header);
            const std::uint64_t lead = chunk - start;
            if (lead == 0 || lead + header >= size) continue;
            const auto inner = memory.read<Header>(chunk);
            if (inner && inner->before == lead && inner->size == ((size - lead) | is_mapped)) return chunk;
        }
    }
    return start;
}

/// Those of one stretch of memory, `at` to `end`, on pages; a chunk may go on to `limit`. Returns where the last one
/// ends.
Address add_chunks(const AddressSpace& memory, Address at, Address end, Address limit,
                   std::vector<MappedChunk>& chunks) {
    while (at.value + header <= end.value) {
        const auto words = memory.read<Header>(at);
        const std::uint64_t size = words ? words->size & ~flag_bits : 0;
        if (!words || words->before != 0 || (words->size & flag_bits) != is_mapped || size == 0 ||
            size % page != 0 || size > limit - at) {
            at = at + page;
            continue;
        }
        const Address chunk = aligned_chunk(memory, at, size);
        chunks.push_back({{at, at + size}, chunk + header, size - (chunk - at) - header});
        at = at + size;
    }
    return at;
}

/// Writable memory that is nobody's file.
bool is_own(const Segment& segment) {
    return segment.state == ByteState::in_core && segment.writable && segment.module < 0;
}

}  // namespace

std::vector<MappedChunk> find_mapped_chunks(const AddressSpace& memory,
                                            std::span<const AddressRange> others) {
    std::vector<MappedChunk> chunks;
    auto other = others.begin();
    const auto segments = memory.segments();
    Address at, limit;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (!is_own(segments[i])) continue;
        // One of a chunk's pages may have been given other flags, and then it is several mappings.
        if (limit <= segments[i].start) {
            limit = segments[i].end();
            for (std::size_t k = i + 1;
                 k < segments.size() && is_own(segments[k]) && segments[k].start == limit; ++k)
                limit = segments[k].end();
        }
        // What was never written has no header. (A hundred GiB of it would take a minute to read.)
        memory.visit_written(segments[i], [&](std::uint64_t from, std::uint64_t to) {
            at = std::max(at, (segments[i].start + from).rounded_up(page));
            const Address end = segments[i].start + to;
            while (at < end) {
                while (other != others.end() && other->end <= at) ++other;
                const Address next = other == others.end() ? end : std::min(end, std::max(at, other->start));
                const Address bound =
                    other == others.end() ? limit : std::min(limit, std::max(at, other->start));
                at = add_chunks(memory, at, next, bound, chunks);
                if (other == others.end() || other->start >= end) break;
                at = std::max(at, other->end).rounded_up(page);
            }
        });
    }
    return chunks;
}

}  // namespace heapsift
