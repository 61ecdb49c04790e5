#include "parsers/cpython/pool_search.h"

#include "parsers/base/in_pieces.h"
#include "parsers/elf/word_sweep.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace heapsift {

namespace {

constexpr std::uint32_t small_request_threshold = 512;

struct PoolHeader {
    std::uint32_t ref_count = 0;
    std::uint64_t freeblock = 0;
    std::uint32_t arenaindex = 0;
    std::uint32_t szidx = 0;
    std::uint32_t nextoffset = 0;
    std::uint32_t maxnextoffset = 0;
};

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

PoolHeader read_header(const Layout& layout, const std::byte* at) {
    const auto& l = layout.pool_header;
    return {load<std::uint32_t>(at + *l.ref_count),  load<std::uint64_t>(at + *l.freeblock),
            load<std::uint32_t>(at + *l.arenaindex), load<std::uint32_t>(at + *l.szidx),
            load<std::uint32_t>(at + *l.nextoffset), load<std::uint32_t>(at + *l.maxnextoffset)};
}

/// Whether the header alone reads as that of a pool with blocks in use. The alignment is 16 or 8.
bool header_plausible(const PoolHeader& h, std::uint32_t pool_size, std::uint32_t header_size,
                      std::uint32_t alignment) {
    if (h.ref_count == 0 || h.szidx >= small_request_threshold / alignment) return false;
    const std::uint32_t size = (h.szidx + 1) * alignment;
    if (h.maxnextoffset != pool_size - size) return false;
    if (h.nextoffset < header_size + size || h.nextoffset > pool_size) return false;
    if ((h.nextoffset - header_size) % size != 0) return false;
    return h.ref_count <= (h.nextoffset - header_size) / size;
}

/// Walks the free list: the number of free blocks, or nothing if a link leaves the grid or the list is longer
/// than the pool.
std::optional<std::uint32_t> free_list_length(const std::byte* data, Address start, const PoolHeader& h,
                                              std::uint32_t header_size, std::uint32_t size) {
    const std::uint32_t carved = (h.nextoffset - header_size) / size;
    std::uint32_t length = 0;
    std::uint64_t block = h.freeblock;
    while (block != 0) {
        const std::uint64_t distance = block - start.value;
        if (distance < header_size || distance >= h.nextoffset) return std::nullopt;
        const auto offset = static_cast<std::uint32_t>(distance);
        if ((offset - header_size) % size != 0) return std::nullopt;
        if (++length > carved) return std::nullopt;
        block = load<std::uint64_t>(data + offset);
    }
    return length;
}

Address start_of(const Pool& pool) { return pool.start; }
Address start_of(const PoolSearch::Found& found) { return found.pool.start; }

/// A pool that a piece begins in was met by the piece before as well.
template <class T>
void append(std::vector<T>& found, std::vector<T>& all) {
    if (!found.empty() && !all.empty() && start_of(found.front()) == start_of(all.back()))
        found.erase(found.begin());
    move_to_end(found, all);
}

}  // namespace

bool pool_header_reads(const Layout& layout) {
    const auto& l = layout.pool_header;
    constexpr std::uint32_t largest = 256;
    if (!l.size.present() || *l.size > largest) return false;
    for (const LayoutOffset field :
         {l.ref_count, l.freeblock, l.arenaindex, l.szidx, l.nextoffset, l.maxnextoffset})
        if (!field.present() || *field > largest) return false;
    return true;
}

std::uint32_t pool_header_size(const Layout& layout, std::uint32_t alignment) {
    return (*layout.pool_header.size + alignment - 1) / alignment * alignment;
}

PoolSearch search_pools(const AddressSpace& memory, const Layout& layout, std::uint32_t pool_size,
                        std::uint32_t header_size, std::uint32_t alignment) {
    const auto look = [&](const SweepPiece& piece, PoolSearch& found) {
        const Segment& segment = *piece.segment;
        std::uint64_t at = (pool_size - segment.start.value % pool_size) % pool_size;
        if (at < piece.from) at += (piece.from - at) / pool_size * pool_size;  // the pool in which it begins
        for (; at < piece.to && at + pool_size <= segment.size; at += pool_size) {
            const std::byte* data = segment.data + at;
            const PoolHeader h = read_header(layout, data);
            if (!header_plausible(h, pool_size, header_size, alignment)) continue;
            const std::uint32_t size = (h.szidx + 1) * alignment;
            const std::uint32_t carved = (h.nextoffset - header_size) / size;
            const auto free = free_list_length(data, segment.start + at, h, header_size, size);
            const Pool pool{segment.start + at, size, carved, std::min(h.ref_count, carved), data};
            const std::uint32_t in_use = free ? carved - *free : 0;
            if (free && in_use == h.ref_count)
                found.pools.push_back({pool, h.arenaindex});
            else if (free && (in_use + 1 == h.ref_count || in_use == h.ref_count + 1))
                found.off_by_one.push_back({pool, h.arenaindex});
            else
                found.damaged.push_back(pool);
        }
    };
    PoolSearch all;
    const std::vector<SweepPiece> pieces = pieces_to_sweep(memory);
    in_pieces<PoolSearch>(
        pieces.size(), [&](std::size_t piece, PoolSearch& found) { look(pieces[piece], found); },
        [&](std::size_t, PoolSearch& found) {
            append(found.pools, all.pools);
            append(found.off_by_one, all.off_by_one);
            append(found.damaged, all.damaged);
        });
    return all;
}

std::size_t whole_pools(const AddressSpace& memory, const Layout& layout) {
    std::size_t most = 0;
    if (!pool_header_reads(layout)) return most;
    for (const std::uint32_t alignment : {16U, 8U})
        for (const std::uint32_t pool_size : {16384U, 4096U})
            most = std::max(
                most, search_pools(memory, layout, pool_size, pool_header_size(layout, alignment), alignment)
                          .pools.size());
    return most;
}

}  // namespace heapsift
