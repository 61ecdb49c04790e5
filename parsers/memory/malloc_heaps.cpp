#include "parsers/memory/malloc_heaps.h"

// Chunks, without symbols.
//
// The word before a block is its chunk's size (low bits: 1 the previous chunk is in use, 2 it has its own
// mapping, 4 it is not in the main arena). The next chunk begins where this one ends, and says whether this
// one is in use. So a heap is a chain that can be walked from its first byte: the brk heap begins
// with a chunk, a later heap of an arena with heap_info, an arena's first heap with heap_info and the arena's
// state. A stretch is believed to be a heap if the chain runs to the end of the mapping, or to a top chunk
// that ends on a page. The core may lack the end of the top: gdb's gcore leaves out a mapping without a page
// of its own (linux-tdep.c: smaps says "Anonymous: 0 kB"), and madvise() may have made one of what the
// program has not yet touched (numpy asks for huge pages). Then the arena says which chunk is its top, and
// the heap ends with what is there. Walking matters: memory inside the top or a merged chunk still holds old
// headers that agree with each other. Blocks that a thread's cache or a fast bin keeps look in use; malloc's
// own lists tell which they are (malloc_state.h), and where these are not found, what free() leaves in them.
// Source: glibc 2.36 malloc.c and arena.c; offsets of the first chunk measured for 2.28 to 2.41.

#include "parsers/memory/region_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heapsift {

namespace {

constexpr std::uint64_t flag_bits = 7;
constexpr std::uint64_t prev_in_use = 1;
constexpr std::uint64_t is_mmapped = 2;
constexpr std::uint64_t min_chunk = 32;
constexpr std::uint64_t page = 4096;
// The largest sizes that a thread's cache (malloc.c, tcache_max_bytes, MAX_TCACHE_SIZE) and a fast bin
// (MAX_FAST_SIZE) keep.
constexpr std::uint64_t largest_cached = 1032, largest_in_fast_bin = 168;
constexpr std::uint64_t enough_chunks = 256;  // in a chain: too many to be a coincidence

std::uint64_t load(const std::byte* at) {
    std::uint64_t v;
    std::memcpy(&v, at, 8);
    return v;
}

struct Walk {
    std::uint64_t end = 0;  // offset past the last chunk (the top)
    bool breaks = false;    // an impossible size, after so many chunks that this is a heap
    std::uint64_t chunks = 0, in_use = 0, free = 0;
};

/// Where the first chunk may lie: at the start (brk heap), after heap_info (a later heap of an arena), or
/// after heap_info and malloc_state.
constexpr std::uint64_t first_chunk_offsets[] = {0, 0x20, 0x30, 0x8b0, 0x8c0, 0x8d0, 0x870, 0x880};

/// Follows chunks from `first` (the offset of a chunk's header); nothing if the chain breaks early.
/// `cut_tops`, in order: see `cut_tops_of`.
std::optional<Walk> walk(const Segment& segment, std::uint64_t first, std::uint64_t* bits,
                         std::span<const Address> cut_tops = {}) {
    Walk result;
    std::uint64_t at = first;
    // Before the first chunk there is nothing that could be free. (Without this check, a row of CPython's
    // stack chunks, 3.11 and later, would read as malloc's.)
    if (at + 16 > segment.size || !(load(segment.data + at + 8) & prev_in_use)) return std::nullopt;
    while (at + 16 <= segment.size) {
        const std::uint64_t word = load(segment.data + at + 8);
        const std::uint64_t size = word & ~flag_bits;
        if (size > segment.size - at &&
            std::binary_search(cut_tops.begin(), cut_tops.end(), segment.start + at)) {
            ++result.chunks;
            result.free += segment.size - at;
            at = segment.size;
            break;
        }
        if (size < min_chunk || size % 16 != 0 || size > segment.size - at || (word & is_mmapped)) {
            // The last heap of an arena ends in fence posts of size 16 or 0.
            if (result.chunks > 2 && (size == 16 || size == 0) && !(word & is_mmapped)) break;
            if (result.chunks < enough_chunks) return std::nullopt;
            result.breaks = true;
            break;
        }
        const std::uint64_t next = at + size;
        const bool last = next + 16 > segment.size;
        const bool used = !last && (load(segment.data + next + 8) & prev_in_use) != 0;
        ++result.chunks;
        (used ? result.in_use : result.free) += size;
        if (used && bits) bits[(at + 16) / 16 / 64] |= std::uint64_t{1} << ((at + 16) / 16 % 64);
        at = next;
        // The top chunk ends on a page; the rest of the mapping may be something else.
        if (!used && at % page == 0 && at + 16 <= segment.size) {
            const std::uint64_t follower = load(segment.data + at + 8) & ~flag_bits;
            if (follower < min_chunk || follower > segment.size - at) break;
        }
    }
    result.end = at;
    return result;
}

/// Whether the adjoining mapping `next` continues the heap in `segment`. It does not if a heap begins there:
/// each arena's heaps are separate mappings, and may lie side by side.
bool follows(const Segment& segment, const Segment& next) {
    for (const std::uint64_t start : first_chunk_offsets) {
        if (const auto own = walk(next, start, nullptr); own && own->chunks >= 3 && !own->breaks)
            return false;
    }
    for (const std::uint64_t start : first_chunk_offsets) {
        const auto first = walk(segment, start, nullptr);
        if (first && first->chunks >= 3) return first->breaks;
    }
    return false;
}

/// The top chunks whose ends the core does not have, in order: of a size that their arena can have.
std::vector<Address> cut_tops_of(const MallocState& state, const AddressSpace& memory) {
    std::vector<Address> tops;
    for (const MallocArena& arena : state.arenas) {
        const std::uint64_t size = memory.read<std::uint64_t>(arena.top + 8).value_or(0) & ~flag_bits;
        if (size <= arena.system_bytes && memory.saved_bytes(arena.top, size) < size)
            tops.push_back(arena.top);
    }
    std::sort(tops.begin(), tops.end());
    return tops;
}

}  // namespace

MallocHeaps MallocHeaps::find(const AddressSpace& memory, std::span<const CoreThread> threads,
                              std::span<const AddressRange> others) {
    MallocHeaps result;
    result.memory_ = &memory;
    result.state_ = find_malloc_state(memory, threads);
    const std::vector<Address> cut_tops = cut_tops_of(result.state_, memory);
    std::vector<std::uint64_t>& bits = result.bits_.fill();
    const auto& segments = memory.segments();
    const auto may_be_heap = [&](const Segment& s) {
        const auto above = std::upper_bound(others.begin(), others.end(), s.start,
                                            [](Address a, const AddressRange& r) { return a < r.start; });
        const bool is_others = above != others.begin() && (above - 1)->contains(s.start);
        return s.state == ByteState::in_core && s.writable && s.module < 0 && !is_others;
    };
    for (std::size_t i = 0; i < segments.size(); ++i) {
        Segment segment = segments[i];
        if (!may_be_heap(segment)) continue;
        // madvise() splits a mapping into several, and a heap continues across the border; its bytes are
        // contiguous in the core, too.
        while (i + 1 < segments.size() && may_be_heap(segments[i + 1]) &&
               segments[i + 1].start == segment.end() &&
               segments[i + 1].data == segment.data + segment.size && follows(segment, segments[i + 1]))
            segment.size += segments[++i].size;
        if (segment.size < page || !segment.start.aligned(16)) continue;
        for (const std::uint64_t start : first_chunk_offsets) {
            auto tried = walk(segment, start, nullptr, cut_tops);
            if (!tried || tried->chunks < 3) continue;
            const std::uint64_t first_word = bits.size();
            bits.resize(first_word + words_for(tried->end));
            walk(segment, start, bits.data() + first_word, cut_tops);
            result.broken_heaps_ += tried->breaks ? 1 : 0;
            result.heaps_.push_back(
                {{segment.start, segment.start + tried->end},
                 tried->in_use,
                 tried->free,
                 0,
                 tried->chunks,
                 start,
                 segment.data,
                 start == 0 ? Address() : Address(load(segment.data)),  // heap_info's ar_ptr
                 first_word});
            break;
        }
    }
    result.bits_.filled();
    result.free_kept(result.state_.cached);
    result.free_kept(result.state_.in_fast_bins);
    std::vector<AddressRange> known(others.begin(), others.end());
    for (const Heap& heap : result.heaps_) known.push_back(heap.range);
    join_ranges(known);
    result.mapped_ = find_mapped_chunks(memory, known);
    return result;
}

bool MallocHeaps::attach(const AddressSpace& memory, bool whole) {
    memory_ = &memory;
    for (Heap& heap : heaps_) {
        const Segment* segment = memory.find(heap.range.start);
        if (!segment || !segment->data) return false;
        heap.data = segment->data + (heap.range.start - segment->start);
        // A heap may span several segments, whose bytes are then contiguous.
        while (segment->end() < heap.range.end) {
            const Segment* const next = memory.find(segment->end());
            if (!next || next->data != segment->data + segment->size) return false;
            segment = next;
        }
        if (whole && !sizes_read(heap)) return false;
    }
    return std::all_of(mapped_.begin(), mapped_.end(), [&](const MappedChunk& chunk) {
        const auto above = std::upper_bound(heaps_.begin(), heaps_.end(), chunk.pages.end,
                                            [](Address a, const Heap& h) { return a <= h.range.start; });
        return above == heaps_.begin() || (above - 1)->range.end <= chunk.pages.start;
    });
}

/// Whether each block in use of the heap has a size in front of it, and ends in the heap.
bool MallocHeaps::sizes_read(const Heap& heap) const {
    const std::span<const std::uint64_t> bits = bits_of(heap);
    for (std::size_t word = 0; word < bits.size(); ++word)
        for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
            const std::uint64_t at = 16 * (64 * word + static_cast<unsigned>(std::countr_zero(left)));
            if (at < heap.first_chunk + 16 || at >= heap.range.size()) return false;
            const std::uint64_t size = load(heap.data + at - 8) & ~flag_bits;
            if (size < min_chunk || size % 16 != 0 || size > heap.range.size() - (at - 16)) return false;
        }
    return true;
}

/// Blocks that are free although their chunks look in use.
void MallocHeaps::free_kept(std::span<const Address> blocks) {
    for (const Address block : blocks) {
        if (!block_starting_at(block) || !heap_at(block)) continue;
        Heap& heap = heaps_[static_cast<std::size_t>(heap_at(block) - heaps_.data())];
        const std::uint64_t slot = (block - heap.range.start) / 16;
        bits_.fill()[heap.first_word + slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        const std::uint64_t bytes = load(heap.data + (block - heap.range.start) - 8) & ~flag_bits;
        heap.in_use_bytes -= bytes;
        heap.kept_bytes += bytes;
    }
}

std::vector<AddressRange> MallocHeaps::ranges() const {
    std::vector<AddressRange> ranges;
    for (const Heap& heap : heaps_) ranges.push_back(heap.range);
    const auto heaps = static_cast<std::ptrdiff_t>(ranges.size());
    for (const MappedChunk& chunk : mapped_) ranges.push_back(chunk.pages);
    std::inplace_merge(ranges.begin(), ranges.begin() + heaps, ranges.end(),
                       [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    return ranges;
}

// Finding the heap has walked the chain to its end, so all sizes up to there are valid; that of a top without
// its end leads behind it.
template <class Visit>
void MallocHeaps::visit_chunks(const Heap& heap, std::uint64_t first, Visit visit) const {
    const std::uint64_t end = heap.range.size();
    const std::span<const std::uint64_t> bits = bits_of(heap);
    for (std::uint64_t at = first; at + 16 <= end;) {
        const std::uint64_t size = std::min(load(heap.data + at + 8) & ~flag_bits, end - at);
        if (size < min_chunk) return;
        const std::uint64_t slot = (at + 16) / 16;
        const bool in_use = (bits[slot / 64] >> (slot % 64) & 1) != 0;
        const Address start = heap.range.start + at + (in_use ? 16 : 8);
        const Address last = heap.range.start + std::min(at + size + 8, end);
        if (!visit(MemoryBlock{start, last - start, in_use})) return;
        at += size;
    }
}

const NonzeroWords& MallocHeaps::starts() const {
    std::call_once(starts_->once, [&] { starts_->words = NonzeroWords({bits_.data(), bits_.size()}); });
    return starts_->words;
}

std::optional<Address> MallocHeaps::last_in_use(const Heap& heap, Address address) const {
    const std::uint64_t slot = (address - heap.range.start) / 16;
    std::size_t word = heap.first_word + slot / 64;
    std::uint64_t found = bits_[word] & (~std::uint64_t{0} >> (63 - slot % 64));
    if (found == 0) {
        const auto before = starts().last_below(word);
        if (!before || *before < heap.first_word) return std::nullopt;
        word = *before;
        found = bits_[word];
    }
    const std::size_t bit =
        (word - heap.first_word) * 64 + 63 - static_cast<std::size_t>(std::countl_zero(found));
    return heap.range.start + bit * 16;
}

std::optional<MemoryBlock> MallocHeaps::block_at(Address address) const {
    const Heap* heap = heap_at(address);
    if (!heap) {
        const auto above = std::upper_bound(mapped_.begin(), mapped_.end(), address,
                                            [](Address a, const MappedChunk& c) { return a < c.start; });
        if (above == mapped_.begin() || address - (above - 1)->start >= (above - 1)->usable)
            return std::nullopt;
        return MemoryBlock{(above - 1)->start, (above - 1)->usable, true};
    }
    // From the chunk in use before it, if there is one, it is a step or two.
    const auto before = last_in_use(*heap, address);
    const std::uint64_t first = before ? *before - heap->range.start - 16 : heap->first_chunk;
    std::optional<MemoryBlock> block;
    visit_chunks(*heap, first, [&](const MemoryBlock& at) {
        if (at.range().contains(address)) block = at;
        return at.start + at.bytes <= address;
    });
    return block;
}

void MallocHeaps::visit_blocks(const BlockVisitor& visit) const {
    constexpr std::size_t at_once = 512;
    std::vector<MemoryBlock> blocks;
    auto mapped = mapped_.begin();
    const auto visit_mapped = [&](Address before) {
        for (; mapped != mapped_.end() && mapped->start < before; ++mapped) {
            const MemoryBlock block{mapped->start, mapped->usable, true};
            visit({&block, 1});
        }
    };
    for (const Heap& heap : heaps_) {
        visit_mapped(heap.range.start);
        visit_chunks(heap, heap.first_chunk, [&](const MemoryBlock& block) {
            blocks.push_back(block);
            if (blocks.size() == at_once) {
                visit(blocks);
                blocks.clear();
            }
            return true;
        });
        if (!blocks.empty()) visit(blocks);
        blocks.clear();
    }
    visit_mapped(Address(~std::uint64_t{0}));
}

const MallocHeaps::Heap* MallocHeaps::heap_at(Address address) const {
    auto it = std::upper_bound(heaps_.begin(), heaps_.end(), address,
                               [](Address a, const Heap& h) { return a < h.range.start; });
    if (it == heaps_.begin()) return nullptr;
    --it;
    return it->range.contains(address) ? &*it : nullptr;
}

std::optional<AddressRange> MallocHeaps::mapping_by_header(Address start) const {
    if (!start.aligned(16) || start.value < 16 || heap_at(start)) return std::nullopt;
    const Address chunk = start - 16;
    const auto lead = memory_->read<std::uint64_t>(chunk), word = memory_->read<std::uint64_t>(chunk + 8);
    if (!lead || !word || !(*word & is_mmapped)) return std::nullopt;
    // The chunk, with what an aligned request left before it, begins and ends on a page. Since 2.43 the size leaves
    // the header out, and the lowest bit of what lies before is a flag (mapped_chunks.cpp).
    const std::uint64_t size = *word & ~flag_bits;
    for (const bool since_2_43 : {false, true}) {
        const std::uint64_t before = since_2_43 ? *lead & ~std::uint64_t{1} : *lead;
        const Address end = chunk + (since_2_43 ? size + 16 : size);
        if (before <= chunk.value && (chunk.value - before) % page == 0 && end.value % page == 0 &&
            end > start)
            return AddressRange{chunk - before, end};
    }
    return std::nullopt;
}

std::optional<MallocBlock> MallocHeaps::block_starting_at(Address start) const {
    if (!memory_ || !start.aligned(16) || start.value < 16) return std::nullopt;
    const auto word = memory_->read<std::uint64_t>(start - 8);
    if (!word) return std::nullopt;
    const std::uint64_t size = *word & ~flag_bits;
    if (size < min_chunk || size % 16 != 0) return std::nullopt;
    if (const Heap* heap = heap_at(start)) {
        const std::uint64_t slot = (start - heap->range.start) / 16;
        const std::span<const std::uint64_t> bits = bits_of(*heap);
        if (!(bits[slot / 64] >> (slot % 64) & 1)) return std::nullopt;
        return MallocBlock{start, size - 8, false};
    }
    const Address chunk = start - 16;
    if (*word & is_mmapped) {
        const auto mapping = mapping_by_header(start);
        if (!mapping || memory_->mapped_bytes(chunk, mapping->end - chunk) != mapping->end - chunk)
            return std::nullopt;
        return MallocBlock{start, mapping->end == chunk + size ? size - 16 : size - 8, true};
    }
    const auto next = memory_->read<std::uint64_t>(chunk + size + 8);
    if (!next || !(*next & prev_in_use) || memory_->mapped_bytes(chunk, size) != size) return std::nullopt;
    const std::uint64_t next_size = *next & ~flag_bits;
    if (next_size < 16 || next_size % 16 != 0 || next_size > (std::uint64_t{1} << 46)) return std::nullopt;
    return MallocBlock{start, size - 8, false};
}

bool MallocHeaps::is_fast_bin_link(Address at) const {
    const auto link = memory_->read<std::uint64_t>(at);
    if (!heap_at(at) || !link) return false;
    const std::uint64_t next = *link ^ (at.value >> 12);
    if (next == 0 || (next % 16 == 0 && heap_at(Address(next)) != nullptr)) return true;
    return leads_to_equal(at, 16, largest_in_fast_bin);
}

bool MallocHeaps::is_free_list_link(Address at) const {
    return is_fast_bin_link(at) || leads_to_equal(at, 0, largest_cached);
}

bool MallocHeaps::leads_to_equal(Address start, std::uint64_t header, std::uint64_t largest) const {
    const auto block = heap_at(start) ? block_starting_at(start) : std::nullopt;
    if (!block || block->usable > largest) return false;
    Address at = start;
    for (const bool first : {true, false}) {
        const auto link = memory_->read_address(at);
        if (!link) return false;
        if (link->is_null()) return !first;
        at = *link + header;
        const auto next = heap_at(at) ? block_starting_at(at) : std::nullopt;
        if (!next || next->usable != block->usable) return false;
    }
    return true;
}

bool MallocHeaps::is_cached(const MallocBlock& block) const {
    if (block.usable > largest_cached || !heap_at(block.start)) return false;
    // All lists were walked, so that what they keep counts as free. By its words alone a live block may look as if it
    // were in one: where the upper bits of its address end in zeros, any pointer to a block reads as a link.
    if (!state_.arenas.empty() && state_.all_caches && state_.broken_lists == 0) return false;
    // In 2.32 to 2.41 the link to the next block is xor'ed with its own place; for the last block it is that
    // place alone.
    if (is_fast_bin_link(block.start)) return true;
    // 2.29 to 2.33: the second word is the address of the thread's cache, a chunk with a size of its own.
    const auto next = memory_->read<std::uint64_t>(block.start);
    if (!next || *next % 16 != 0 || (*next != 0 && !heap_at(Address(*next)))) return false;
    const auto key = memory_->read<std::uint64_t>(block.start + 8);
    if (!key || !heap_at(Address(*key)) || *key % 16 != 0) return false;
    const auto cache = block_starting_at(Address(*key));
    return cache && (cache->usable == 0x288 || cache->usable == 0x248);
}

std::optional<MallocBlock> MallocHeaps::block_containing(Address address) const {
    const Heap* heap = heap_at(address);
    if (!heap) return std::nullopt;
    const auto start = last_in_use(*heap, address);
    if (!start) return std::nullopt;
    const auto block = block_starting_at(*start);
    if (!block || address - block->start >= block->usable) return std::nullopt;
    return block;
}

}  // namespace heapsift
