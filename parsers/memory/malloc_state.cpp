// glibc's malloc_state and tcache_perthread_struct, proved by their shape.
//
// Neither has a symbol that a stripped libc keeps, and distributions carry changes back, so a version says
// little. What stays the same from 2.23 to 2.43 is this: an arena has 127 pairs of pointers, its bins, each the
// head of a ring of chunks; an empty one points at itself. Sixteen bytes before them is the top chunk's address,
// 0x800 behind their start that of the next arena, and 0x818 behind it what the arena has from the kernel. Only
// what lies before the top differs: ten fast bins (none since 2.43) and a word or two of flags. So the bins are
// looked for, and the start of the struct is where the ring of arenas leads back to.
//
// A thread's cache lies in a block of its own, whose address is in libc's thread-local storage, somewhere below
// the thread's fs register. There, sizes and entries must agree: a count above 0 and a list for the same sizes,
// the list as long as the count says, and each block on it of that size.
//
// Links are addresses; since 2.32 they are xor'ed with their own address without its low 12 bits (safe linking).
// Both are tried on all lists of the process, and the one that breaks fewer of them is believed.
//
// Source: glibc's malloc.c and arena.c at the tags 2.23 to 2.42, and at January 2026 (2.43).

#include "parsers/memory/malloc_state.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t flag_bits = 7;
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t bin_count = 127, nearly_all_bins = 120;
// From the first bin.
constexpr std::uint64_t top_before = 0x10, next_behind = 0x800, system_behind = 0x818;
// From the start of malloc_state to the first bin: 2.27 to 2.42, up to 2.26, since 2.43.
constexpr std::array<std::uint64_t, 3> bins_at{0x70, 0x68, 0x18};
constexpr std::uint64_t without_fast_bins = 0x18;
constexpr std::uint64_t fast_bin_count = 10, smallest_chunk = 0x20;
constexpr std::size_t most_arenas = 1 << 16;
constexpr std::uint64_t tls_bytes = 4096;  // below a thread's fs, where libc's part is expected

/// A block's link is at its start in a cache; in a fast bin, where lists are of chunks, 16 bytes after that.
constexpr std::uint64_t link_in_cache = 0, link_in_fast_bin = 0x10;

/// A list of free blocks. `first` is as malloc keeps it, an address of a block or of a chunk.
struct List {
    Address first;
    std::uint64_t link;                   // offset of the next one's address
    std::uint64_t chunk_size;             // of each, its flags apart; 0: any
    std::optional<std::uint64_t> length;  // how many there are said to be
};

class StateSearch {
public:
    StateSearch(const AddressSpace& memory, std::span<const CoreThread> threads)
        : memory_(memory), threads_(threads) {}

    MallocState find() {
        for (const Segment& segment : memory_.segments()) {
            if (segment.state != ByteState::in_core || !segment.writable || segment.module < 0) continue;
            if (find_main_arena(segment)) {
                find_mapped(segment);
                break;
            }
        }
        if (state_.arenas.empty()) return {};
        find_caches();
        follow_lists();
        return std::move(state_);
    }

private:
    std::uint64_t word(Address at) const { return memory_.read<std::uint64_t>(at).value_or(0); }

    /// The bin whose pair of pointers is at `pair`: empty, or its ring goes through it.
    bool is_bin(Address pair) const {
        const Address head = pair - 0x10;  // as if the pair were a chunk's
        const Address first(word(pair)), last(word(pair + 8));
        if (first == head || last == head) return first == last;
        return word(first + 0x18) == head.value && word(last + 0x10) == head.value;
    }

    // --- the arenas

    bool find_main_arena(const Segment& segment) {
        for (std::uint64_t at = 0; at + next_behind <= segment.size; at += 8) {
            std::array<std::uint64_t, 2> pair;
            std::memcpy(pair.data(), segment.data + at, sizeof pair);
            const Address here = segment.start + at;
            if (pair[0] != here.value - 0x10 || pair[1] != pair[0]) continue;
            // Full bins may lie before the first that is empty.
            Address first = here, end = here + 0x10;
            std::uint64_t bins = 1;
            for (; bins < bin_count && is_bin(end); ++bins) end = end + 0x10;
            for (; bins < bin_count && is_bin(first - 0x10); ++bins) first = first - 0x10;
            // One of a process that was stopped in malloc may not read, and what lies before them may look like one.
            for (std::uint64_t more = 0; bins >= nearly_all_bins && more <= bin_count - nearly_all_bins;
                 ++more)
                if (take_ring(first - 0x10 * more) || take_ring(first + 0x10 * more)) return true;
            at = end - segment.start - 8;
        }
        return false;
    }

    /// Fills in the arenas, if one of them has its first bin at `bins` and their ring closes.
    bool take_ring(Address bins) {
        for (const std::uint64_t offset : bins_at) {
            const Address main = bins - offset;
            std::vector<MallocArena> ring;
            Address at = main;
            do {
                const Address pairs = at + offset;
                if (!is_bin(pairs + 0x10) || !add_arena(at, pairs, ring)) break;
                at = Address(word(pairs + next_behind));
            } while (at != main && !at.is_null() && at.aligned(8) && ring.size() < most_arenas);
            if (at != main || ring.empty()) continue;
            state_.arenas = std::move(ring);
            bins_offset_ = offset;
            return true;
        }
        return false;
    }

    /// False if the top cannot be one: it ends on a page.
    bool add_arena(Address state, Address pairs, std::vector<MallocArena>& ring) const {
        const Address top(word(pairs - top_before));
        const std::uint64_t size = word(top + 8) & ~flag_bits;
        const std::uint64_t system = word(pairs + system_behind);
        if (top.is_null() || !top.aligned(16) || (top.value + size) % page != 0 || system % page != 0)
            return false;
        ring.push_back({state, top, system, 0, 0});
        return true;
    }

    /// mp_, in the same data: n_mmaps, n_mmaps_max (65536 unless it was set), max_n_mmaps, no_dyn_threshold;
    /// mmapped_mem, max_mmapped_mem; up to 2.23 max_total_mem; sbrk_base.
    void find_mapped(const Segment& segment) {
        constexpr std::uint32_t usual_most = 65536;
        for (std::uint64_t at = 0; at + 48 <= segment.size; at += 8) {
            std::array<std::uint32_t, 4> counts;
            std::array<std::uint64_t, 4> words;
            std::memcpy(counts.data(), segment.data + at, sizeof counts);
            if (counts[1] != usual_most || counts[0] > counts[2] || counts[2] > usual_most || counts[3] > 1)
                continue;
            std::memcpy(words.data(), segment.data + at + sizeof counts, sizeof words);
            const bool sums =
                words[0] % page == 0 && words[0] <= words[1] && (counts[0] == 0) == (words[0] == 0);
            if (!sums || !(is_heap_start(Address(words[2])) || is_heap_start(Address(words[3])))) continue;
            state_.mapped = {counts[0], words[0]};
            return;
        }
    }

    /// True if a first chunk may lie there: the heap that brk has made.
    bool is_heap_start(Address at) const {
        if (at.is_null() || !at.aligned(16)) return false;
        const Segment* segment = memory_.find(at);
        return segment && segment->writable && segment->module < 0 && (word(at + 8) & 1) != 0;
    }

    // --- the lists

    void find_caches() {
        for (const CoreThread& thread : threads_) {
            const Address fs(thread.fs_base());
            if (fs.value < tls_bytes || !fs.aligned(8)) continue;
            for (std::uint64_t below = 8; below <= tls_bytes; below += 8) {
                const Address cache(word(fs - below));
                if (cache.is_null() || !cache.aligned(16) || !take_cache(cache)) continue;
                ++state_.caches;
                break;
            }
        }
        state_.all_caches = !threads_.empty() && state_.caches == threads_.size();
    }

    /// Three shapes, told by the size of their block: counts of a byte (2.26 to 2.29), of two bytes (2.30 to 2.41),
    /// and how many more a list may take (2.42).
    bool take_cache(Address cache) {
        const std::uint64_t chunk = word(cache - 8) & ~flag_bits;
        const bool counts_left = chunk == 0x300;
        const std::uint64_t sizes = counts_left ? 76 : 64;
        const std::uint64_t width = chunk == 0x250 ? 1 : 2;
        if (chunk != 0x250 && chunk != 0x290 && !counts_left) return false;
        const std::uint64_t entries = (sizes * width + 7) / 8 * 8;
        const auto there = memory_.view(cache, entries + sizes * 8);
        if (there.empty()) return false;
        std::vector<std::uint64_t> counts(sizes);
        for (std::uint64_t i = 0; i < sizes; ++i) std::memcpy(&counts[i], there.data() + i * width, width);
        if (counts_left) {
            const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
            for (std::uint64_t& count : counts) count = most - count;
        }
        std::vector<List> lists;
        for (std::uint64_t i = 0; i < sizes; ++i) {
            std::uint64_t first = 0;
            std::memcpy(&first, there.data() + entries + i * 8, 8);
            if ((first != 0) != (counts[i] != 0) || first % 16 != 0) return false;
            constexpr std::uint64_t of_one_size = 64;  // the lists behind these have blocks of several sizes
            if (first != 0)
                lists.push_back({Address(first), link_in_cache, i < of_one_size ? smallest_chunk + 16 * i : 0,
                                 counts[i]});
        }
        cache_lists_.insert(cache_lists_.end(), lists.begin(), lists.end());
        return true;
    }

    void follow_lists() {
        struct FastBin {
            std::size_t arena;
            List list;
        };
        std::vector<FastBin> fast;
        if (bins_offset_ != without_fast_bins)
            for (std::size_t arena = 0; arena < state_.arenas.size(); ++arena) {
                const Address first =
                    state_.arenas[arena].state + bins_offset_ - top_before - 8 * fast_bin_count;
                for (std::uint64_t i = 0; i < fast_bin_count; ++i)
                    if (const Address head(word(first + 8 * i)); !head.is_null())
                        fast.push_back(
                            {arena, {head, link_in_fast_bin, smallest_chunk + 16 * i, std::nullopt}});
            }
        std::array<std::uint64_t, 2> broken{};
        for (const bool mixed : {false, true}) {
            const auto count = [&](const List& list) {
                broken[mixed] += follow(list, mixed, [](Address) {}) ? 0 : 1;
            };
            for (const List& list : cache_lists_) count(list);
            for (const FastBin& bin : fast) count(bin.list);
        }
        const bool mixed = broken[1] < broken[0];
        state_.broken_lists = broken[mixed];
        for (const List& list : cache_lists_)
            follow(list, mixed, [&](Address block) { state_.cached.push_back(block); });
        for (const FastBin& bin : fast)
            follow(bin.list, mixed, [&](Address chunk) {
                state_.in_fast_bins.push_back(chunk + 0x10);
                ++state_.arenas[bin.arena].fast_blocks;
                state_.arenas[bin.arena].fast_bytes += bin.list.chunk_size;
            });
        for (auto* blocks : {&state_.cached, &state_.in_fast_bins}) {
            std::sort(blocks->begin(), blocks->end());
            blocks->erase(std::unique(blocks->begin(), blocks->end()), blocks->end());
        }
    }

    /// False if the list breaks off: an entry of another size or at no possible place, a ring, or not as many as
    /// there should be.
    template <class Take>
    bool follow(const List& list, bool mixed, Take take) const {
        Address at = list.first, mark = at;
        std::uint64_t steps = 0, mark_again = 64;
        while (!at.is_null()) {
            const std::uint64_t size_at = list.link == link_in_cache ? at.value - 8 : at.value + 8;
            const auto size = memory_.read<std::uint64_t>(Address(size_at));
            const auto link = memory_.read<std::uint64_t>(at + list.link);
            if (!at.aligned(16) || !size || !link) return false;
            if (list.chunk_size != 0 && (*size & ~flag_bits) != list.chunk_size) return false;
            if (list.length && steps == *list.length) return false;
            take(at);
            if (++steps ==
                mark_again) {  // Brent: a ring comes back to a place that is remembered ever less often
                mark = at;
                mark_again *= 2;
            }
            at = Address(mixed ? *link ^ ((at.value + list.link) >> 12) : *link);
            if (at == mark) return false;
        }
        return !list.length || steps == *list.length;
    }

    const AddressSpace& memory_;
    std::span<const CoreThread> threads_;
    MallocState state_;
    std::uint64_t bins_offset_ = 0;
    std::vector<List> cache_lists_;
};

}  // namespace

MallocState find_malloc_state(const AddressSpace& memory, std::span<const CoreThread> threads) {
    return StateSearch(memory, threads).find();
}

}  // namespace heapsift
