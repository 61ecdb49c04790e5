// The kernel gives a process the pages that it touches, and only these count as its memory (RssAnon). A malloc
// arena of a thread is 64 MiB of addresses, of which mostly 132 KiB can be written at all; a thread's stack is
// 8 MiB, of which a few pages are ever used.
//
// The kernel's own core tells them exactly: of a mapping in which nothing was ever written it saves no byte
// (fs/coredump.c, vma_dump_size: without an anon_vma), and of the others it leaves out the pages that are not
// there (dump_skip), which become holes of the file. (A page that was only read is the shared page of zeros, and
// left out too; it takes no memory.) Where such a core was copied without its holes, or compressed, and in
// gdb's cores, which have all zeros, a page of zeros may be either. So it may be where a copy has more holes than the
// core had (cp --sparse=always, and what was unpacked): there no page of zeros is written at all, while any process has
// written some. Of memory that processes share the kernel saves all, and makes pages for what was never touched. (So has what cannot be read, where an
// arena has not grown to: some versions of gdb write its zeros, some leave it out, and then heapsift knows of it
// from the arena's header.)
//
// A core that `heapsift capture` took says it in a note, which no copy loses (parsers/elf/absent_pages.h). It is believed
// of pages of zeros alone: what has other bytes was there, whatever a damaged note says.
//
// A block so large that malloc asks the kernel for a mapping of its own is fresh: the pages of zeros in it are those
// that nobody has touched yet, or that were filled with zeros. The first is far more common (an image that is still
// empty, an array of zeros, a codec's window), so they count as perhaps never touched in C code's blocks and in arrays.
// Python fills buffers itself; and in malloc's heaps calloc clears what was used before: there they count as in use.

#include "parsers/snapshot/untouched_memory.h"

#include "parsers/elf/bytes.h"
#include "parsers/memory/region_map.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace heapsift {
namespace {

bool is_zero_page(const std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word == 0 && std::memcmp(at, at + sizeof word, page_bytes - sizeof word) == 0;
}

/// The pages of zeros, from the first whole page of the segment on. Holes are not read: of a terabyte that was reserved
/// and never touched that would take minutes.
void add_zero_pages(const AddressSpace& memory, const Segment& segment, std::vector<AddressRange>& found) {
    std::uint64_t at = (page_bytes - segment.start.value % page_bytes) % page_bytes;
    const auto add = [&](std::uint64_t from, std::uint64_t to) {
        if (from >= to) return;
        if (!found.empty() && found.back().end == segment.start + from)
            found.back().end = segment.start + to;
        else
            found.push_back({segment.start + from, segment.start + to});
    };
    const auto look = [&](std::uint64_t end) {
        for (; at + page_bytes <= end; at += page_bytes)
            if (is_zero_page(segment.data + at)) add(at, at + page_bytes);
    };
    memory.visit_holes(segment, [&](std::uint64_t from, std::uint64_t to) {
        look(from);
        if (at < from && at + page_bytes <= segment.size) look(at + page_bytes);  // half of it a hole
        if (at >= to) return;
        const std::uint64_t whole = (to - at) / page_bytes * page_bytes;
        add(at, at + whole);
        at += whole;
    });
    look(segment.size);
}

/// The first page of zeros that is no hole, from the first whole page of the segment on.
bool has_written_zeros(const AddressSpace& memory, const Segment& segment) {
    std::uint64_t at = (page_bytes - segment.start.value % page_bytes) % page_bytes;
    bool found = false;
    const auto look = [&](std::uint64_t end) {
        for (; !found && at + page_bytes <= end; at += page_bytes) found = is_zero_page(segment.data + at);
    };
    memory.visit_holes(segment, [&](std::uint64_t from, std::uint64_t to) {
        look(from);
        at = std::max(at, (to + page_bytes - 1) / page_bytes * page_bytes);
    });
    look(segment.size);
    return found;
}

/// What of the segment lies in sorted ranges, as offsets.
template <class F>
void visit_parts(const std::vector<AddressRange>& ranges, const Segment& segment, F&& visit) {
    auto at = std::partition_point(ranges.begin(), ranges.end(),
                                   [&](const AddressRange& range) { return range.end <= segment.start; });
    for (; at != ranges.end() && at->start < segment.end(); ++at)
        visit(std::max(at->start, segment.start) - segment.start,
              std::min(at->end, segment.end()) - segment.start);
}

bool all_zeros(const std::byte* from, std::uint64_t bytes) {
    return bytes == 0 || (*from == std::byte{0} && std::memcmp(from, from + 1, bytes - 1) == 0);
}

/// The pages in sorted ranges of whole pages of which the segment has bytes other than zeros. Holes are not read.
std::vector<AddressRange> pages_with_bytes(const AddressSpace& memory, const Segment& segment,
                                           const std::vector<AddressRange>& ranges) {
    std::vector<AddressRange> found;
    const auto holes = [&] {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found_holes;
        memory.visit_holes(segment,
                           [&](std::uint64_t from, std::uint64_t to) { found_holes.emplace_back(from, to); });
        return found_holes;
    }();
    auto hole = holes.begin();
    visit_parts(ranges, segment, [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t at = from; at < to;) {
            while (hole != holes.end() && hole->second <= at) ++hole;
            if (hole != holes.end() && hole->first <= at) {
                at = std::min(hole->second, to);
                continue;
            }
            const Address page = (segment.start + at).rounded_down(page_bytes);
            std::uint64_t end = std::min(to, page + page_bytes - segment.start);
            if (hole != holes.end()) end = std::min(end, hole->first);
            if (!all_zeros(segment.data + at, end - at) && (found.empty() || found.back().end <= page))
                found.push_back({page, page + page_bytes});
            at = end;
        }
    });
    return found;
}

/// What a captured core's note calls absent, but for pages that have bytes.
void add_absent(const AddressSpace& memory, const Segment& segment, const std::vector<AddressRange>& absent,
                UntouchedMemory& untouched) {
    const std::vector<AddressRange> with_bytes = pages_with_bytes(memory, segment, absent);
    untouched.contradicted_pages += with_bytes.size();
    auto page = with_bytes.begin();
    visit_parts(absent, segment, [&](std::uint64_t from, std::uint64_t to) {
        Address at = segment.start + from;
        const Address end = segment.start + to;
        for (; page != with_bytes.end() && page->start < end; ++page) {
            if (at < page->start) untouched.never.push_back({at, page->start});
            at = page->end;
        }
        if (at < end) untouched.never.push_back({at, end});
    });
}

/// Whether the file's holes are the pages that were never there.
bool holes_tell(const CoreFile& core) {
    const AddressSpace& memory = core.memory();
    if (!memory.has_holes() || core.process().from_gcore) return false;
    return std::any_of(memory.segments().begin(), memory.segments().end(), [&](const Segment& segment) {
        return segment.state == ByteState::in_core && has_written_zeros(memory, segment);
    });
}

}  // namespace

bool is_shared_memory(std::string_view path) {
    for (const std::string_view name : {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero"})
        if (path.starts_with(name)) return true;
    return false;
}

UntouchedMemory untouched_memory(const CoreFile& core) {
    const AddressSpace& memory = core.memory();
    std::vector<AddressRange> files, shared;
    for (const MappedFile& file : core.mapped_files()) {
        files.push_back(file.range);
        if (is_shared_memory(file.path)) shared.push_back(file.range);
    }
    join_ranges(files);
    join_ranges(shared);
    const auto is_in = [](const std::vector<AddressRange>& ranges, Address at) {
        const auto above =
            std::upper_bound(ranges.begin(), ranges.end(), at,
                             [](Address a, const AddressRange& range) { return a < range.start; });
        return above != ranges.begin() && (above - 1)->contains(at);
    };
    const auto is_of_file = [&](Address at) { return is_in(files, at); };
    const auto& absent = core.absent_pages();
    const bool tells = absent || holes_tell(core);
    UntouchedMemory untouched;
    for (const Segment& segment : memory.segments()) {
        if (segment.state == ByteState::not_saved && !segment.cut && !is_of_file(segment.start))
            untouched.never.push_back({segment.start, segment.end()});
        const bool own = segment.writable || (segment.module < 0 && !is_of_file(segment.start));
        if (segment.state != ByteState::in_core || !own) continue;
        const auto add_never = [&](std::uint64_t from, std::uint64_t to) {
            untouched.never.push_back({segment.start + from, segment.start + to});
        };
        if (!tells || is_in(shared, segment.start))
            add_zero_pages(memory, segment, untouched.zeros);
        else if (segment.module < 0 && absent)
            add_absent(memory, segment, *absent, untouched);
        else if (segment.module < 0)
            memory.visit_holes(segment, add_never);
    }
    join_ranges(untouched.never);
    join_ranges(untouched.zeros);
    return untouched;
}

}  // namespace heapsift
