// mimalloc 3 takes memory in arenas of 64 KiB slices. A page is one or more slices: a header, then blocks of one
// size. A block is free if it is in one of its page's lists: `free`, from which it is handed out next, `local_free`,
// and `thread_free` with what other threads gave back (its head has a bit that is a flag). A page that is too large
// for an arena has memory of its own.
//
// A map of two levels leads from each slice to its page. It is found without a symbol: a word of the library's
// static data leads to it, and its first entry leads to the part for the lowest addresses, which lies at its own
// end. Some versions leave pages in the map that are no more; such a page is free, or its header does not read, or
// it lies in the slices of another.
//
// What proves a page: it is in the map for its own first slice; its header says where its memory is from, which is
// where it lies; each link of its lists leads to one of its blocks, none of them twice, and what is free and what is
// in use adds up to its capacity. Slices of an arena that are in no page, nor mimalloc's own, are free.
//
// Links are plain in builds for work; debug and secure builds encode them, so their pages are damage here. Source:
// types.h, page-map.c, arena.c and arena-meta.c of mimalloc 3.0.1 to 3.3.2; offsets by its own compiler. (Since 3.4
// the header is another.)

#include "parsers/memory/mimalloc3.h"

#include "parsers/memory/region_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t slice_size = 64 << 10;
constexpr std::uint64_t os_page = 4096;
// The map: for each 512 MiB of addresses a pointer, to a pointer for each slice.
constexpr std::uint64_t slices_per_part = 1 << 13, least_map = 4096, most_map = 16 << 20;  // bytes
// mi_page_t
constexpr std::uint64_t free_at = 8, used_at = 16, capacity_at = 18, reserved_at = 20, local_free_at = 24,
                        thread_free_at = 32, block_size_at = 40, start_at = 48, memory_at = 96,
                        header_bytes = 120;
constexpr std::uint64_t thread_free_flags = 1;
// mi_memid_t: an arena, and slices in it; or memory of the system
constexpr std::uint64_t index_at = 8, count_at = 12, size_at = 8, kind_at = 16;
constexpr std::uint32_t kind_os = 4, kind_os_huge = 5, kind_os_remap = 6, kind_arena = 7;
// mi_arena_t: how many slices, and how many of them are its own; up to 3.1, and since 3.2
constexpr std::uint64_t slice_counts_at[] = {32, 40};
constexpr std::uint64_t least_block = 8;
constexpr std::size_t most_arenas = 4096, most_maps = 64;

struct Page {
    AddressRange slices;
    Address start, arena;  // arena: null if it has memory of its own
    std::uint64_t block_size = 0, capacity = 0, reserved = 0, used = 0;
    Address free, local_free, thread_free;
};

}  // namespace

class Mimalloc3Finder {
public:
    Mimalloc3Finder(const AddressSpace& memory, std::span<const Module> modules)
        : memory_(memory), modules_(modules), words_left_(memory.total_bytes() / 8) {}

    std::unique_ptr<const Mimalloc3> find() {
        for (const AddressRange& map : maps()) {
            add_pages(map);
            if (proved_ > 0) break;
        }
        if (proved_ == 0) return nullptr;
        add_free_slices();
        found_->damage_.places += runs().finish();
        join_ranges(found_->ranges_);
        return std::move(found_);
    }

private:
    BlockRuns& runs() { return found_->runs_; }
    std::uint64_t word(Address at) const { return memory_.read<std::uint64_t>(at).value_or(0); }

    /// What may be the map. Other structures may begin with an address not far behind them.
    std::vector<AddressRange> maps() const {
        std::vector<AddressRange> maps;
        for (const Segment& segment : memory_.segments()) {
            if (segment.state != ByteState::in_core || !segment.writable || !is_static(segment)) continue;
            for (std::uint64_t at = (8 - segment.start.value % 8) % 8; at + 8 <= segment.size; at += 8) {
                std::uint64_t value = 0;
                std::memcpy(&value, segment.data + at, 8);
                if (value == 0 || value % os_page != 0) continue;
                const std::uint64_t size = word(Address(value)) - value;
                if (size < least_map || size > most_map || !std::has_single_bit(size)) continue;
                const AddressRange map{Address(value), Address(value + size)};
                if (maps.size() < most_maps &&
                    std::none_of(maps.begin(), maps.end(),
                                 [&](const AddressRange& one) { return one.start == map.start; }))
                    maps.push_back(map);
            }
        }
        return maps;
    }

    bool is_static(const Segment& segment) const {
        return std::any_of(modules_.begin(), modules_.end(), [&](const Module& module) {
            return module.start <= segment.start && segment.start < std::max(module.end, module.image_end);
        });
    }

    /// visit(offset, word) for the words of a range that are not zero, as far as it was saved. In all no more words
    /// than there are: parts of a map that lies may be one and the same.
    template <class Visit>
    void visit_words(const AddressRange& range, Visit&& visit) {
        for (Address at = range.start; at < range.end;) {
            const Segment* segment = memory_.find(at);
            if (!segment || !at.aligned(8)) return;
            const std::uint64_t from = at - segment->start,
                                to = std::min(range.end, segment->end()) - segment->start;
            if (segment->data)
                memory_.visit_written(*segment, [&](std::uint64_t first, std::uint64_t last) {
                    first = std::max(first, from);
                    first += (8 - (segment->start + first).value % 8) % 8;
                    last = std::min(last, to);
                    for (std::uint64_t offset = first; offset + 8 <= last && words_left_ > 0; offset += 8) {
                        --words_left_;
                        std::uint64_t value = 0;
                        std::memcpy(&value, segment->data + offset, 8);
                        if (value != 0) visit(segment->start + offset - range.start, value);
                    }
                });
            at = segment->end();
        }
    }

    void add_pages(const AddressRange& map) {
        Address end;
        visit_words(map, [&](std::uint64_t offset, std::uint64_t part) {
            const std::uint64_t first = offset / 8 * slices_per_part;
            visit_words({Address(part), Address(part) + 8 * slices_per_part},
                        [&](std::uint64_t entry, std::uint64_t value) {
                            const Address slice((first + entry / 8) * slice_size);
                            if (slice.is_null() || slice < end || value != slice.value) return;
                            const std::optional<Page> page = page_at(slice);
                            if (!page) return;
                            end = page->slices.end;
                            add(*page);
                        });
        });
    }

    std::optional<Page> page_at(Address at) const {
        const AddressSpace::Window fields(memory_, at, header_bytes);
        const auto block_size = fields.read<std::uint64_t>(block_size_at);
        const auto kind = fields.read<std::uint32_t>(memory_at + kind_at);
        if (!block_size || !kind || *block_size < least_block) return std::nullopt;
        Page page;
        page.block_size = *block_size;
        page.start = fields.pointer(start_at);
        page.used = fields.read<std::uint16_t>(used_at).value_or(0);
        page.capacity = fields.read<std::uint16_t>(capacity_at).value_or(0);
        page.reserved = fields.read<std::uint16_t>(reserved_at).value_or(0);
        page.free = fields.pointer(free_at);
        page.local_free = fields.pointer(local_free_at);
        page.thread_free = Address(fields.pointer(thread_free_at).value & ~thread_free_flags);
        const Address from = fields.pointer(memory_at);
        std::uint64_t bytes = 0;
        if (*kind == kind_arena) {
            page.arena = from;
            const std::uint64_t index = fields.read<std::uint32_t>(memory_at + index_at).value_or(0);
            bytes = fields.read<std::uint32_t>(memory_at + count_at).value_or(0) * slice_size;
            if (page.arena + index * slice_size != at) return std::nullopt;
        } else if (*kind == kind_os || *kind == kind_os_huge || *kind == kind_os_remap) {
            const Address end = from + fields.read<std::uint64_t>(memory_at + size_at).value_or(0);
            if (from > at || end <= at) return std::nullopt;
            bytes = end - at;
        } else {
            return std::nullopt;
        }
        page.slices = {at, at + bytes};
        if (bytes < header_bytes || page.slices.end < at || page.start < at + header_bytes ||
            page.start >= page.slices.end)
            return std::nullopt;
        const std::uint64_t room = page.slices.end - page.start;
        const bool plausible = page.reserved > 0 && page.capacity <= page.reserved &&
                               page.used <= page.capacity && page.block_size <= room &&
                               page.reserved <= room / page.block_size &&
                               memory_.mapped_bytes(at, bytes) == bytes;
        return plausible ? std::optional<Page>(page) : std::nullopt;
    }

    void add(const Page& page) {
        if (page.arena.is_null()) {
            found_->ranges_.push_back(page.slices);
        } else {
            pages_.push_back(page.slices);
            add_arena(page.arena);
        }
        const std::size_t run = runs().add(page.start, page.block_size, page.capacity, true);
        const std::uint64_t carved = page.capacity * page.block_size;
        if (page.reserved > page.capacity)
            runs().add(page.start + carved, (page.reserved - page.capacity) * page.block_size, 1, false);
        std::uint64_t free = 0, of_threads = 0;
        const bool whole = follow(page, run, page.free, free) && follow(page, run, page.local_free, free) &&
                           follow(page, run, page.thread_free, of_threads);
        if (whole && free + page.used == page.capacity && of_threads <= page.used) {
            ++proved_;
            return;
        }
        ++found_->damage_.places;
        found_->damage_.bytes += page.slices.size();
    }

    /// Marks the blocks of a list as free, and counts them. False if it leads out of the page, or to one twice.
    bool follow(const Page& page, std::size_t run, Address at, std::uint64_t& count) {
        for (; !at.is_null(); ++count) {
            const std::uint64_t offset = at - page.start;
            if (at < page.start || offset / page.block_size >= page.capacity ||
                offset % page.block_size != 0 || !runs().set_free(run, offset / page.block_size))
                return false;
            const auto next = memory_.read_address(at);
            if (!next) return false;
            at = *next;
        }
        return true;
    }

    struct Arena {
        AddressRange range;
        std::uint64_t own_slices;
    };

    void add_arena(Address at) {
        if ((!arenas_.empty() && arenas_.back().range.start == at) || arenas_.size() == most_arenas) return;
        if (std::any_of(arenas_.begin(), arenas_.end(),
                        [&](const Arena& one) { return one.range.start == at; }))
            return;
        Arena arena{{at, at}, 0};
        for (const std::uint64_t offset : slice_counts_at) {
            const std::uint64_t slices = word(at + offset), own = word(at + offset + 8);
            if (slices == 0 || own == 0 || own >= slices || slices > memory_.total_bytes() / slice_size)
                continue;
            if (memory_.mapped_bytes(at, slices * slice_size) != slices * slice_size) continue;
            arena = {{at, at + slices * slice_size}, own};
            break;
        }
        arenas_.push_back(arena);
    }

    /// Slices of arenas that are in no page.
    void add_free_slices() {
        std::sort(arenas_.begin(), arenas_.end(),
                  [](const Arena& a, const Arena& b) { return a.range.start < b.range.start; });
        const std::size_t pages = pages_.size();
        Address end;
        for (Arena& arena : arenas_) {
            if (arena.range.start < end) arena.range.end = arena.range.start;
            end = std::max(end, arena.range.end);
            add_own_slices(arena, pages);
        }
        std::vector<AddressRange>& taken = pages_;
        std::sort(taken.begin(), taken.end(),
                  [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
        auto next = taken.begin();
        for (const Arena& arena : arenas_) {
            Address at = arena.range.start + arena.own_slices * slice_size;
            while (at < arena.range.end) {
                while (next != taken.end() && next->end <= at) ++next;
                const Address stop =
                    next == taken.end() ? arena.range.end : std::min(arena.range.end, next->start);
                if (stop > at) runs().add(at, stop - at, 1, false);
                at = next == taken.end() ? stop : std::max(stop, next->end);
            }
            found_->ranges_.push_back(arena.range);
        }
        found_->ranges_.insert(found_->ranges_.end(), taken.begin(),
                               taken.end());  // whose arena does not read
    }

    /// Slices with the states of threads are mimalloc's own. One begins with a link, and says where it lies; it was
    /// written to. `pages`: how many pages there are.
    void add_own_slices(const Arena& arena, std::size_t pages) {
        std::size_t page = 0;
        for (Address at = arena.range.start; at < arena.range.end;) {
            const Segment* segment = memory_.find(at);
            if (!segment) return;
            if (segment->data)
                memory_.visit_written(*segment, [&](std::uint64_t from, std::uint64_t to) {
                    Address slice = std::max(segment->start + from, at).rounded_up(slice_size);
                    for (; slice < std::min(segment->start + to, arena.range.end);
                         slice = slice + slice_size) {
                        while (page < pages && pages_[page].end <= slice) ++page;
                        if (page < pages && pages_[page].start <= slice) continue;
                        if (word(slice + 8) == arena.range.start.value &&
                            memory_.read<std::uint32_t>(slice + 8 + index_at) ==
                                (slice - arena.range.start) / slice_size)
                            pages_.push_back({slice, slice + slice_size});
                    }
                });
            at = segment->end();
        }
    }

    const AddressSpace& memory_;
    std::span<const Module> modules_;
    std::unique_ptr<Mimalloc3> found_ = std::make_unique<Mimalloc3>();
    std::uint64_t words_left_;         // to be looked at
    std::uint64_t proved_ = 0;         // pages
    std::vector<AddressRange> pages_;  // in arenas
    std::vector<Arena> arenas_;
};

std::unique_ptr<const Mimalloc3> Mimalloc3::find(const AddressSpace& memory,
                                                 std::span<const Module> modules) {
    return Mimalloc3Finder(memory, modules).find();
}

}  // namespace heapsift
