// mimalloc takes memory in segments that begin at a multiple of 32 MiB: a header, then slices of 64 KiB. A page is
// one or more slices, cut into blocks of one size; the header has a description of each. No block has a header of
// its own. A block is free if it is in one of its page's lists: `free`, from which it is handed out next,
// `local_free`, and `thread_free` with what other threads gave back (its head has two bits of flags). Blocks that
// other threads gave back to a full page wait in a list of the heap that the page is part of. A request above
// 16 MiB has a segment to itself. A segment whose thread ended is nobody's, with all its blocks in place.
//
// Nothing names the segments, so each address where one could begin is looked at. What proves one: its pages and
// its free slices follow each other to its end, and there are as many pages as it says. And its cookie is its own
// address xor'ed with a secret number of that copy of mimalloc, the same in all segments. A page is proved by its
// lists: each link leads to one of its blocks, none of them twice, and what is free and what is in use adds up to
// its capacity.
//
// Links are plain in builds for work; those of debug and secure builds are encoded, and their pages are larger, so
// their segments do not read. CPython has a 2.1.2 inside since 3.13 (Objects/mimalloc), which PYTHONMALLOC=mimalloc
// uses; its builds with the GIL lay out segments and pages as that version does. Free-threaded builds have all their
// objects there, in four heaps for each thread, and longer descriptions of pages: when a page may be used again, while
// other threads may still read it. What is in a page that waits for that is free.
// Source: types.h, segment.c, page.c, alloc.c and free.c of mimalloc 2.0.9 to 2.4.1; offsets by its own compiler.

#include "parsers/memory/mimalloc.h"

#include <algorithm>
#include <array>
#include <span>

namespace heapsift {
namespace {

constexpr std::uint64_t segment_size = 32 << 20, slice_size = 64 << 10;
constexpr std::uint64_t slices_per_segment = segment_size / slice_size;
constexpr std::uint64_t normal_kind = 0, huge_kind = 1;
constexpr std::uint64_t flag_bits = 3;  // of thread_free
constexpr std::uint64_t least_block = 8;
constexpr std::size_t most_doubles = 1 << 16;
constexpr std::uint64_t most_slices = std::uint64_t{1} << 31;  // 128 TiB

/// Where the fields are, in bytes.
struct MimallocLayout {
    // mi_segment_t
    std::uint64_t used, cookie, segment_slices, info_slices, kind, slice_entries, slices;
    // mi_page_t, whose slice_count, slice_offset, capacity, reserved and free are at the same places in all
    std::uint64_t page_bytes, used_blocks, used_blocks_bytes, local_free, block_size, block_size_bytes;
    std::uint64_t page_start;  // 0: it has none
    std::uint64_t thread_free, heap;
    // mi_heap_t
    std::uint64_t delayed_free;
};
constexpr std::uint64_t slice_count_at = 0, slice_offset_at = 4, capacity_at = 10, reserved_at = 12,
                        free_at = 16;

constexpr MimallocLayout layouts[] = {
    // 2.0.9 to 2.1.2
    {208, 216, 224, 232, 240, 248, 264, 80, 24, 4, 32, 28, 4, 0, 40, 48, 2840},
    // 2.1.2 of CPython's free-threaded builds
    {208, 216, 224, 232, 240, 248, 264, 96, 24, 4, 32, 28, 4, 0, 40, 48, 2840},
    // 2.1.4 to 2.1.7
    {208, 216, 224, 232, 240, 248, 264, 96, 32, 2, 24, 40, 8, 48, 56, 64, 8},
    // 2.1.8 to 2.4.1
    {216, 224, 248, 256, 264, 272, 288, 96, 32, 2, 24, 40, 8, 48, 56, 64, 8},
};

/// How far into its slices a page's first block is, where no field tells: 2.0.9, and 2.1.0 to 2.1.2.
enum class StartRule { same_for_small, by_block };

std::uint64_t start_offset(StartRule rule, std::uint64_t block_size) {
    if (rule == StartRule::same_for_small) return block_size >= 8 && block_size <= 1024 ? 3 * 128 : 0;
    if (block_size < 8) return 0;
    return block_size <= 64 ? 3 * block_size : block_size <= 512 ? block_size : 0;
}

struct Page {
    AddressRange slices;
    Address start;  // of the first block
    std::uint64_t block_size = 0, capacity = 0, reserved = 0, used = 0;
    Address free, local_free, thread_free, heap;
};

struct FoundSegment {
    Address start;
    const MimallocLayout* layout;
    std::uint64_t slices, info_slices, entries, cookie;
    bool huge, whole;  // whole: its slices add up

    Address end() const { return start + slices * slice_size; }
    std::uint64_t secret() const { return cookie ^ start.value; }
};

std::uint64_t number(const AddressSpace::Window& window, std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 2) return window.read<std::uint16_t>(at).value_or(0);
    if (bytes == 4) return window.read<std::uint32_t>(at).value_or(0);
    return window.read<std::uint64_t>(at).value_or(0);
}

}  // namespace

class MimallocFinder {
public:
    explicit MimallocFinder(const AddressSpace& memory) : memory_(memory) {}

    std::unique_ptr<const Mimalloc> find() {
        collect();
        if (segments_.empty()) return nullptr;
        for (const FoundSegment& segment : segments_) add(segment);
        found_->damage_.places += runs().finish();
        free_delayed();
        return std::move(found_);
    }

private:
    BlockRuns& runs() { return found_->runs_; }

    /// The segments of copies of mimalloc of which one segment at least adds up.
    void collect() {
        std::vector<FoundSegment> candidates;
        std::vector<Copy> copies;
        for (const Segment& mapping : memory_.segments()) {
            if (mapping.state != ByteState::in_core || !mapping.writable || mapping.module >= 0) continue;
            // Each look at a hole would have the kernel read around it.
            memory_.visit_written(mapping, [&](std::uint64_t from, std::uint64_t to) {
                for (Address at = (mapping.start + from).rounded_up(segment_size);
                     at >= mapping.start && at - mapping.start < to; at = at + segment_size)
                    for (const MimallocLayout& layout : layouts) {
                        const std::optional<FoundSegment> segment = header_at(at, layout);
                        if (!segment) continue;
                        candidates.push_back(*segment);
                        if (segment->whole)
                            copies.push_back({segment->secret(), &layout, pages_that_read(*segment)});
                    }
            });
        }
        const auto by_secret = [](const Copy& a, const Copy& b) { return a.secret < b.secret; };
        choose_layouts(copies);
        Address end;
        for (const FoundSegment& segment : candidates) {
            const auto copy =
                std::lower_bound(copies.begin(), copies.end(), Copy{segment.secret(), nullptr, 0}, by_secret);
            if (segment.start < end || copy == copies.end() || copy->secret != segment.secret() ||
                copy->layout != segment.layout)
                continue;
            segments_.push_back(segment);
            end = segment.end();
            found_->segments_.push_back({segment.start, end});
        }
    }

    /// A copy of mimalloc, by its secret number; and how many pages of its segments read in that layout.
    struct Copy {
        std::uint64_t secret;
        const MimallocLayout* layout;
        std::uint64_t pages;
    };

    /// Leaves each copy one layout, the one in which most of its pages read: some differ in their pages' fields alone.
    /// Sorted by secret.
    static void choose_layouts(std::vector<Copy>& copies) {
        std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
            return a.secret != b.secret ? a.secret < b.secret : a.layout < b.layout;
        });
        std::vector<Copy> chosen;
        for (std::size_t i = 0; i < copies.size();) {
            Copy sum = copies[i];
            for (++i; i < copies.size() && copies[i].secret == sum.secret && copies[i].layout == sum.layout;
                 ++i)
                sum.pages += copies[i].pages;
            if (chosen.empty() || chosen.back().secret != sum.secret)
                chosen.push_back(sum);
            else if (sum.pages > chosen.back().pages)
                chosen.back() = sum;
        }
        copies = std::move(chosen);
    }

    std::uint64_t pages_that_read(const FoundSegment& segment) const {
        std::uint64_t pages = 0;
        visit_slices(segment, [&](std::uint64_t index, std::uint64_t count, bool used) {
            if (!used) return;
            Page page = read_page(segment, index, count);
            if (segment.layout->page_start == 0) page.start = page.slices.start;  // by either rule
            pages += is_plausible(page);
        });
        return pages;
    }

    std::optional<FoundSegment> header_at(Address at, const MimallocLayout& layout) const {
        const AddressSpace::Window header(memory_, at, layout.slices);
        FoundSegment segment{at,
                             &layout,
                             number(header, layout.segment_slices, 8),
                             number(header, layout.info_slices, 8),
                             number(header, layout.slice_entries, 8),
                             number(header, layout.cookie, 8),
                             false,
                             false};
        const std::uint64_t kind = number(header, layout.kind, 4);
        segment.huge = kind == huge_kind;
        if (kind > huge_kind || segment.cookie == 0 || segment.slices < 2 || segment.slices > most_slices ||
            segment.info_slices == 0 || segment.info_slices >= segment.slices ||
            segment.entries != std::min(segment.slices, slices_per_segment) ||
            (kind == normal_kind && segment.slices != slices_per_segment))
            return std::nullopt;
        const std::uint64_t bytes = segment.slices * slice_size;
        if (bytes > ~at.value || (segment.huge && memory_.mapped_bytes(at, bytes) != bytes))
            return std::nullopt;
        std::uint64_t pages = 0;
        segment.whole =
            visit_slices(segment, [&](std::uint64_t, std::uint64_t, bool used) { pages += used; }) &&
            pages == number(header, layout.used, 8);
        return segment;
    }

    /// visit(index, slices, in use) for each page and each stretch of free slices behind the header. False if they do
    /// not follow each other to the end.
    template <class Visit>
    bool visit_slices(const FoundSegment& segment, Visit&& visit) const {
        for (std::uint64_t index = 0; index < segment.entries;) {
            const AddressSpace::Window page = page_at(segment, index);
            const std::uint64_t count = number(page, slice_count_at, 4);
            if (count == 0 || number(page, slice_offset_at, 4) != 0 || count > segment.slices - index)
                return false;
            if (index == 0 && count != segment.info_slices) return false;
            if (index > 0)
                visit(index, count,
                      number(page, segment.layout->block_size, segment.layout->block_size_bytes) > 0);
            index += count;
            if (index >= segment.entries) return segment.huge || index == segment.entries;
        }
        return false;
    }

    AddressSpace::Window page_at(const FoundSegment& segment, std::uint64_t index) const {
        const MimallocLayout& layout = *segment.layout;
        return {memory_, segment.start + layout.slices + index * layout.page_bytes, layout.page_bytes};
    }

    Page read_page(const FoundSegment& segment, std::uint64_t index, std::uint64_t count) const {
        const MimallocLayout& layout = *segment.layout;
        const AddressSpace::Window fields = page_at(segment, index);
        Page page;
        page.slices.start = segment.start + index * slice_size;
        page.slices.end = page.slices.start + count * slice_size;
        page.block_size = number(fields, layout.block_size, layout.block_size_bytes);
        page.capacity = number(fields, capacity_at, 2);
        page.reserved = number(fields, reserved_at, 2);
        page.used = number(fields, layout.used_blocks, layout.used_blocks_bytes);
        page.free = fields.pointer(free_at);
        page.local_free = fields.pointer(layout.local_free);
        page.thread_free = Address(fields.pointer(layout.thread_free).value & ~flag_bits);
        page.heap = fields.pointer(layout.heap);
        // 32 bits cannot say how large the block of a huge segment is.
        if (segment.huge && layout.block_size_bytes == 4) page.block_size = page.slices.size();
        page.start = layout.page_start != 0 ? fields.pointer(layout.page_start)
                                            : page.slices.start + start_offset(rule_, page.block_size);
        return page;
    }

    static bool is_plausible(const Page& page) {
        if (page.block_size < least_block || page.start < page.slices.start || page.start >= page.slices.end)
            return false;
        const std::uint64_t room = page.slices.end - page.start;
        return page.reserved > 0 && page.capacity <= page.reserved && page.block_size <= room &&
               page.reserved <= room / page.block_size && page.used <= page.capacity;
    }

    void add(const FoundSegment& segment) {
        if (segment.layout->page_start == 0) choose_rule(segment);
        const bool whole = visit_slices(segment, [&](std::uint64_t index, std::uint64_t count, bool used) {
            const Address start = segment.start + index * slice_size;
            if (!used)
                runs().add(start, std::min(count * slice_size, segment.end() - start), 1, false);
            else
                add(read_page(segment, index, count), *segment.layout);
        });
        if (whole) return;
        // Which of its slices follow the last that reads is not known.
        Address end = segment.start + segment.info_slices * slice_size;
        visit_slices(segment, [&](std::uint64_t index, std::uint64_t count, bool) {
            end = segment.start + (index + count) * slice_size;
        });
        if (end < segment.end()) add_unknown({end, segment.end()});
    }

    void add_unknown(const AddressRange& range) {
        runs().add(range.start, range.size(), 1, true);
        ++found_->damage_.places;
        found_->damage_.bytes += range.size();
    }

    void add(const Page& page, const MimallocLayout& layout) {
        if (!is_plausible(page)) return add_unknown(page.slices);
        const std::size_t run = runs().add(page.start, page.block_size, page.capacity, true);
        const std::uint64_t carved = page.capacity * page.block_size;
        if (page.reserved > page.capacity)
            runs().add(page.start + carved, (page.reserved - page.capacity) * page.block_size, 1, false);
        std::uint64_t free = 0, of_threads = 0;
        const bool whole = follow(page, run, page.free, free) && follow(page, run, page.local_free, free) &&
                           follow(page, run, page.thread_free, of_threads);
        if (!whole || free + page.used != page.capacity || of_threads > page.used) {
            ++found_->damage_.places;
            found_->damage_.bytes += page.slices.size();
        }
        if (!page.heap.is_null()) delayed_.push_back(page.heap + layout.delayed_free);
        if (delayed_.size() > most_doubles) forget_doubles();
    }

    /// Marks the blocks of a list as free, and counts them. False if it leads out of the page, or to one twice.
    bool follow(const Page& page, std::size_t run, Address at, std::uint64_t& count) {
        while (!at.is_null()) {
            const std::uint64_t offset = at - page.start;
            if (at < page.start || offset / page.block_size >= page.capacity ||
                offset % page.block_size != 0 || !runs().set_free(run, offset / page.block_size))
                return false;
            ++count;
            const auto next = memory_.read_address(at);
            if (!next) return false;
            at = *next;
        }
        return true;
    }

    /// The rule that fits more of the segment's pages.
    void choose_rule(const FoundSegment& segment) {
        std::array<std::uint64_t, 2> fits{};
        for (const StartRule rule : {StartRule::same_for_small, StartRule::by_block}) {
            rule_ = rule;
            visit_slices(segment, [&](std::uint64_t index, std::uint64_t count, bool used) {
                if (!used) return;
                const Page page = read_page(segment, index, count);
                if (!is_plausible(page) || page.reserved != (page.slices.end - page.start) / page.block_size)
                    return;
                for (const Address block : {page.free, page.local_free, page.thread_free})
                    if (!block.is_null() &&
                        (block < page.start || (block - page.start) % page.block_size != 0))
                        return;
                ++fits[static_cast<std::size_t>(rule)];
            });
        }
        rule_ = fits[0] >= fits[1] ? StartRule::same_for_small : StartRule::by_block;
    }

    void forget_doubles() {
        std::sort(delayed_.begin(), delayed_.end());
        delayed_.erase(std::unique(delayed_.begin(), delayed_.end()), delayed_.end());
    }

    /// What other threads gave back to full pages, which their heaps keep.
    void free_delayed() {
        forget_doubles();
        for (const Address list : delayed_) {
            Address at = memory_.read_address(list).value_or(Address());
            while (!at.is_null()) {
                const auto place = runs().place_of(at);
                if (!place || place->start != at || !runs().set_free(*place)) {
                    ++found_->damage_.places;
                    break;
                }
                at = memory_.read_address(at).value_or(Address());
            }
        }
    }

    const AddressSpace& memory_;
    std::unique_ptr<Mimalloc> found_ = std::make_unique<Mimalloc>();
    std::vector<FoundSegment> segments_;
    StartRule rule_ = StartRule::same_for_small;
    std::vector<Address> delayed_;  // heads of lists, in heaps that pages name
};

std::unique_ptr<const Mimalloc> Mimalloc::find(const AddressSpace& memory) {
    return MimallocFinder(memory).find();
}

}  // namespace heapsift
