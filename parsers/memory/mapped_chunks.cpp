// Such a chunk begins on a page and is as long as its mapping, but the kernel joins neighbours to one mapping of
// many. Its first word is 0, the second its size with the flag for "mapped". An aligned request moves the block
// up: the header before it has what lies below as its first word and the rest as its size, and the old header
// stays where it was (malloc.c, _int_memalign).
//
// Since 2.43 (mmap_set_chunk) the size leaves the header out, and so the mapping is 16 bytes longer than the chunk;
// and the lowest bit of the first word says that the pages are huge ones. Of one process all chunks have one form.

#include "parsers/memory/mapped_chunks.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t flag_bits = 7, is_mapped = 2;
constexpr std::uint64_t page = 4096, header = 16;
constexpr std::uint64_t huge_pages = 1;  // in the first word, since 2.43
constexpr std::uint64_t least_alignment = 32, most_alignment = std::uint64_t{1} << 30;

struct Header {
    std::uint64_t before, size;
};

/// How long the mapping is of a chunk that begins on a page with `words`, and how much longer than the chunk; 0 if
/// none does.
struct Extent {
    std::uint64_t bytes = 0, beyond = 0;
};
Extent extent_of(const Header& words) {
    const std::uint64_t size = words.size & ~flag_bits;
    if ((words.size & flag_bits) != is_mapped || size == 0 || size > std::uint64_t{1} << 47) return {};
    if (words.before == 0 && size % page == 0) return {size, 0};
    if (words.before <= huge_pages && (size + header) % page == 0) return {size + header, header};
    return {};
}

/// The block of an aligned request in the chunk at `start`; `start` if there is none.
Address aligned_chunk(const AddressSpace& memory, Address start, const Extent& extent, std::uint64_t huge) {
    const std::uint64_t size = extent.bytes;
    for (std::uint64_t alignment = least_alignment; alignment <= most_alignment && alignment < size;
         alignment *= 2) {
        const std::uint64_t block = (start.value + header + alignment - 1) / alignment * alignment;
        for (const std::uint64_t at : {block, block + alignment}) {
            const Address chunk(at - header);
            const std::uint64_t lead = chunk - start;
            if (lead == 0 || lead + header >= size) continue;
            const auto inner = memory.read<Header>(chunk);
            if (inner && inner->before == (lead | huge) &&
                inner->size == ((size - lead - extent.beyond) | is_mapped))
                return chunk;
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
        const Extent extent = words ? extent_of(*words) : Extent{};
        if (extent.bytes == 0 || extent.bytes > limit - at) {
            at = at + page;
            continue;
        }
        const Address chunk = aligned_chunk(memory, at, extent, words->before);
        // malloc_usable_size is 8 bytes less than it might be since 2.43.
        chunks.push_back({{at, at + extent.bytes},
                          chunk + header,
                          extent.bytes - (chunk - at) - header - extent.beyond / 2});
        at = at + extent.bytes;
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
