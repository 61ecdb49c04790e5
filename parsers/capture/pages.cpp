// Most of what a process has reserved it never touched, and reading an untouched page of it would make the kernel
// allocate one. So the page tables are asked first. PAGEMAP_SCAN walks them inside the kernel, skips what is empty, and
// tells the page of zeros (read, never written) from pages of the process's own; before Linux 6.7 the entries of
// /proc/PID/pagemap are read one by one, and a page that is not exclusively the process's own may be the page of zeros.
//
// Not all that the page tables have can be read. A guard (MADV_GUARD_INSTALL, which C libraries put before threads' stacks)
// is an entry like that of a page in swap, without bytes. The scan tells it since Linux 6.16; guards are known since 6.13,
// and in between what seems to be in swap is tried. And of a file's mapping what lies behind the file's last page is
// refused. Nobody may learn that from the reading alone: a core that is written in order says first which pages it lacks.
//
// A page that is shared through a file need not be in this process's page tables to have bytes. Of such memory
// (multiprocessing's, a memfd) the file itself is asked, which /proc/PID/map_files leads to, if we may; else it is all
// read, as the kernel does.
//
// Source: Linux's Documentation/admin-guide/mm/pagemap.rst, fs/proc/task_mmu.c (pagemap_read, do_pagemap_scan),
// mm/madvise.c (madvise_guard_install), include/uapi/linux/fs.h at 6.16 (older headers lack PAGEMAP_SCAN, so its
// structures are given here).

#include "parsers/capture/pages.h"

#include "parsers/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t chunk_bytes = 1 << 20;

/// A stretch of pages with bytes, as the kernel told it.
struct Stretch {
    std::uint64_t start = 0, end = 0;
    bool own = false;  // anonymous: written to, or swapped out
    bool maybe_zero_page = false;
};

// struct page_region, struct pm_scan_arg
struct ScannedRegion {
    std::uint64_t start, end, categories;
};
struct ScanRequest {
    std::uint64_t size, flags, start, end, walk_end, vector, vector_length, most_pages, inverted, all_of,
        any_of, returned;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanRequest);
constexpr std::uint64_t is_file = 1 << 2, is_present = 1 << 3, is_swapped = 1 << 4, is_zero_page = 1 << 5,
                        is_guard = 1 << 8;

/// The memory of a process, asked whether it has a byte.
class ReadableBytes {
public:
    explicit ReadableBytes(const ProcessFiles& process) : file_(process.open("mem", O_RDONLY)) {}

    bool has(std::uint64_t address) const {
        char byte = 0;
        ssize_t got = 0;
        do got = ::pread(file_.number(), &byte, 1, static_cast<off_t>(address));
        while (got < 0 && errno == EINTR);
        return got == 1;
    }
    /// The first four bytes, or fewer.
    std::string first(Address address) const {
        std::array<char, 4> bytes{};
        const ssize_t got =
            ::pread(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(address.value));
        return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
    }

private:
    Descriptor file_;
};

/// Whether this kernel knows guards: it is asked to make one in a page of our own.
bool kernel_has_guards() {
    constexpr int guard_install = 102;  // MADV_GUARD_INSTALL
    void* const page =
        ::mmap(nullptr, captured_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool has = ::madvise(page, captured_page, guard_install) == 0;
    ::munmap(page, captured_page);
    return has;
}

class PageTables {
public:
    PageTables(const ProcessFiles& process, const ReadableBytes& memory)
        : memory_(memory), file_(process.open("pagemap", O_RDONLY)) {
        if (!file_.is_open())
            throw errno == EACCES || errno == EPERM
                ? cannot_analyse("not-permitted",
                                 fmt::format("{}: not permitted to read its memory", process.pid()),
                                 "as root, or as its user where ptrace is allowed")
                : cannot_analyse("process-ended", fmt::format("{}: the process has ended", process.pid()));
    }

    /// Adds the pages of `range` that are there, and, of those that have an entry and no bytes, their stretches.
    void find(const AddressRange& range, std::vector<Stretch>& found, std::vector<AddressRange>& guards) {
        if (!can_scan_ || !scan(range, found, guards)) look_up(range, found);
    }

private:
    bool scan(const AddressRange& range, std::vector<Stretch>& found, std::vector<AddressRange>& guards) {
        std::uint64_t at = range.start.value;
        while (at < range.end.value) {
            ScanRequest request{};
            request.size = sizeof request;
            request.start = at;
            request.end = range.end.value;
            request.vector = reinterpret_cast<std::uintptr_t>(regions_.data());
            request.vector_length = regions_.size();
            request.any_of = is_present | is_swapped;
            request.returned =
                is_present | is_swapped | is_file | is_zero_page | (tells_guards_ ? is_guard : 0);
            const int count = ::ioctl(file_.number(), pagemap_scan, &request);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && tells_guards_) {
                tells_guards_ = false;
                tries_swapped_ = kernel_has_guards();
                continue;
            }
            if (count < 0) {
                can_scan_ = false;
                return false;
            }
            for (int i = 0; i < count; ++i) {
                const ScannedRegion& region = regions_[static_cast<std::size_t>(i)];
                const std::uint64_t start = std::max(region.start, at);
                if (start >= region.end) continue;
                at = region.end;
                if (region.categories & is_zero_page) continue;
                const Stretch stretch{start, region.end, !(region.categories & is_file), false};
                if (region.categories & is_guard)
                    add_guard({Address(start), Address(region.end)}, guards);
                else if (tries_swapped_ && !(region.categories & is_present))
                    try_each(stretch, found, guards);
                else
                    found.push_back(stretch);
            }
            // Of more than 512 regions, where walk_end says that it stopped it may have gone on (6.18).
            if (static_cast<std::size_t>(count) < regions_.size()) break;
            at = std::max(at, request.walk_end);
        }
        return true;
    }

    static void add_guard(const AddressRange& range, std::vector<AddressRange>& guards) {
        if (!guards.empty() && guards.back().end == range.start)
            guards.back().end = range.end;
        else
            guards.push_back(range);
    }

    void try_each(const Stretch& stretch, std::vector<Stretch>& found,
                  std::vector<AddressRange>& guards) const {
        for (std::uint64_t at = stretch.start; at < stretch.end; at += captured_page) {
            if (!memory_.has(at))
                add_guard({Address(at), Address(at + captured_page)}, guards);
            else if (!found.empty() && found.back().end == at && found.back().own == stretch.own)
                found.back().end += captured_page;
            else
                found.push_back({at, at + captured_page, stretch.own, false});
        }
    }

    void look_up(const AddressRange& range, std::vector<Stretch>& found) {
        constexpr std::uint64_t present = 1ull << 63, swapped = 1ull << 62, file = 1ull << 61,
                                exclusive = 1ull << 56;
        std::uint64_t at = range.start.value;
        while (at < range.end.value) {
            const std::uint64_t wanted =
                std::min<std::uint64_t>(entries_.size(), (range.end.value - at) / captured_page);
            const ssize_t got = ::pread(file_.number(), entries_.data(), wanted * sizeof(std::uint64_t),
                                        static_cast<off_t>(at / captured_page * sizeof(std::uint64_t)));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return;
            for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(std::uint64_t);
                 ++i, at += captured_page) {
                const std::uint64_t entry = entries_[i];
                if (!(entry & (present | swapped))) continue;
                const bool unsure = !(entry & (exclusive | swapped | file));
                const bool own = !(entry & file) && !unsure;
                if (!found.empty() && found.back().end == at && found.back().own == own &&
                    found.back().maybe_zero_page == unsure)
                    found.back().end += captured_page;
                else
                    found.push_back({at, at + captured_page, own, unsure});
            }
        }
    }

    const ReadableBytes& memory_;
    Descriptor file_;
    bool can_scan_ = true, tells_guards_ = true, tries_swapped_ = false;
    std::vector<ScannedRegion> regions_ = std::vector<ScannedRegion>(4096);
    std::vector<std::uint64_t> entries_ = std::vector<std::uint64_t>(1 << 14);
};

class Planner {
public:
    Planner(const ProcessFiles& process, const CoreFilter& filter, const ProcessFiles* original)
        : process_(process), filter_(filter), memory_(process), tables_(process, memory_) {
        if (original) original_tables_.emplace(*original, memory_);
    }

    MemoryPlan plan(std::vector<Mapping> mappings) {
        for (Mapping& mapping : mappings) add(std::move(mapping));
        return plan_.take();
    }

private:
    void add(Mapping mapping) {
        const SavingRule rule = saving_of(mapping, filter_);
        const std::uint64_t size = mapping.range.size();
        stretches_.clear();
        guards_.clear();
        Saving saving = rule.saving;
        if (saving == Saving::if_written) {
            tables_.find(mapping.range, stretches_, guards_);
            const bool written = std::any_of(stretches_.begin(), stretches_.end(),
                                             [](const Stretch& s) { return s.own || s.maybe_zero_page; });
            saving = written ? Saving::whole : rule.otherwise;
            // Of a file's private mapping what was not written to is saved with the rest.
            if (saving == Saving::whole && has_more(mapping)) take_readable(mapping.range);
        } else if (saving == Saving::whole) {
            if (mapping.path == "[vdso]")
                take_all(mapping.range);  // the kernel's own pages, there before they are looked at
            else
                tables_of(mapping).find(mapping.range, stretches_, guards_);
            if (has_more(mapping)) take_file(mapping);
        }
        if (saving == Saving::first_page && begins_as_elf(mapping))
            take_all({mapping.range.start, mapping.range.start + captured_page});
        else if (saving != Saving::whole)
            stretches_.clear();
        const std::uint64_t saved = saving == Saving::whole ? (stretches_.empty() ? 0 : size)
                                    : !stretches_.empty()   ? captured_page
                                                            : 0;
        plan_.add(std::move(mapping), saved, runs_of_stretches());
    }

    /// Whether there may be bytes that the page tables do not have: of a file. But an untouched huge page is made by
    /// looking at it, and of memory with a userfaultfd the look waits for whoever answers, perhaps a thread that stands.
    static bool has_more(const Mapping& mapping) {
        return mapping.of_file && !mapping.huge_pages && !mapping.userfaultfd;
    }

    /// A fork leaves out the page tables of shared memory: a fault fills them. Of huge pages nothing else tells which there are.
    PageTables& tables_of(const Mapping& mapping) {
        return original_tables_ && mapping.shared && mapping.huge_pages ? *original_tables_ : tables_;
    }

    /// The stretches, but for guards that lie in them.
    std::span<const PageRun> runs_of_stretches() {
        runs_.clear();
        auto guard = guards_.begin();
        for (const Stretch& stretch : stretches_) {
            const auto add_run = [&](std::uint64_t from, std::uint64_t to) {
                if (from < to)
                    runs_.push_back({Address(from), (to - from) / captured_page, stretch.maybe_zero_page});
            };
            std::uint64_t at = stretch.start;
            while (guard != guards_.end() && guard->end.value <= at) ++guard;
            for (; guard != guards_.end() && guard->start.value < stretch.end; ++guard) {
                add_run(at, guard->start.value);
                at = guard->end.value;
                if (at > stretch.end) break;  // it reaches into the next
            }
            add_run(at, stretch.end);
        }
        return runs_;
    }

    void take_all(const AddressRange& range) {
        stretches_ = {{range.start.value, range.end.value, false, false}};
    }

    /// What a file's mapping has up to the file's last page. `stretches_` and `guards_`: those of its page tables. Cost: one
    /// byte is read, of a mapping that goes beyond the file some twenty.
    void take_readable(const AddressRange& range) {
        const std::uint64_t start = range.start.value;
        // Up to `below` the file goes: pages that were written are not behind its end.
        std::uint64_t below = start;
        for (const Stretch& stretch : stretches_)
            if (stretch.own) below = stretch.end;
        std::uint64_t refused = range.end.value;  // from here on it does not; or the mapping's end
        if (const AddressRange* guard = guard_at(refused - captured_page))
            refused = std::max(below, guard->start.value);
        if (below < refused && memory_.has(refused - captured_page)) below = refused;
        while (below < refused) {
            std::uint64_t middle = below + (refused - below) / 2 / captured_page * captured_page;
            if (const AddressRange* guard = guard_at(middle)) {  // it tells nothing
                if (guard->start.value <= below) {
                    below = std::min(guard->end.value, refused);
                    continue;
                }
                middle = guard->start.value - captured_page;
            }
            if (memory_.has(middle))
                below = middle + captured_page;
            else
                refused = middle;
        }
        stretches_.clear();
        if (below > start) stretches_.push_back({start, below, false, false});
    }

    const AddressRange* guard_at(std::uint64_t address) const {
        const auto next =
            std::partition_point(guards_.begin(), guards_.end(),
                                 [&](const AddressRange& guard) { return guard.start.value <= address; });
        return next != guards_.begin() && (next - 1)->contains(Address(address)) ? &*(next - 1) : nullptr;
    }

    /// The parts of a shared file that have data, if it may be asked; else all of it that can be read.
    void take_file(const Mapping& mapping) {
        const Descriptor file =
            mapping.shared ? process_.open(fmt::format("map_files/{:x}-{:x}", mapping.range.start.value,
                                                       mapping.range.end.value),
                                           O_RDONLY)
                           : Descriptor();
        if (!file.is_open()) return take_readable(mapping.range);
        stretches_.clear();
        const auto end = static_cast<off_t>(mapping.file_offset + mapping.range.size());
        auto at = static_cast<off_t>(mapping.file_offset);
        while (at < end) {
            const off_t data = ::lseek(file.number(), at, SEEK_DATA);
            if (data < 0 && errno == ENXIO) return;  // holes up to its end
            if (data < 0) return take_all(mapping.range);
            if (data >= end) return;
            off_t hole = ::lseek(file.number(), data, SEEK_HOLE);
            if (hole < 0) return take_all(mapping.range);
            hole = std::min(hole, end);
            const auto address = [&](off_t offset) {
                return mapping.range.start.value + (static_cast<std::uint64_t>(offset) - mapping.file_offset);
            };
            stretches_.push_back({address(data) & ~(captured_page - 1),
                                  (address(hole) + captured_page - 1) & ~(captured_page - 1), false, false});
            at = hole;
        }
    }

    bool begins_as_elf(const Mapping& mapping) const {
        return memory_.first(mapping.range.start) ==
               "\x7f"
               "ELF";
    }

    const ProcessFiles& process_;
    const CoreFilter& filter_;
    ReadableBytes memory_;
    PageTables tables_;  // refers to it
    std::optional<PageTables> original_tables_;
    std::vector<Stretch> stretches_;
    std::vector<AddressRange> guards_;  // of the mapping's page tables, ascending
    std::vector<PageRun> runs_;
    PlanBuilder plan_;
};

}  // namespace

void PlanBuilder::add(Mapping mapping, std::uint64_t saved_bytes, std::span<const PageRun> runs) {
    const Address begin = mapping.range.start;
    const Address end = begin + saved_bytes;
    Address planned = begin;  // below this there are runs already, or none
    for (const PageRun& run : runs) {
        Address at = std::max(run.start, planned);
        const Address run_end = std::min(run.start + run.pages * captured_page, end);
        while (at < run_end) {
            const Address grid = at.rounded_down(chunk_bytes);
            const Address chunk_start = std::max(begin, grid);
            const Address chunk_end = std::min(end, grid + chunk_bytes);
            if (plan_.chunks.empty() || plan_.chunks.back().range.start != chunk_start)
                plan_.chunks.push_back(
                    {{chunk_start, chunk_end}, plan_.runs.size(), plan_.runs.size(), plan_.pages});
            const std::uint64_t pages = (std::min(run_end, chunk_end) - at) / captured_page;
            plan_.runs.push_back({at, pages, run.maybe_zero_page});
            plan_.chunks.back().end_run = plan_.runs.size();
            plan_.pages += pages;
            at = at + pages * captured_page;
        }
        planned = std::max(planned, at);
    }
    plan_.mappings.push_back({std::move(mapping), saved_bytes});
}

std::vector<AddressRange> pages_without_bytes(const MemoryPlan& plan,
                                              const std::function<bool(std::uint64_t)>& is_there) {
    std::vector<AddressRange> absent;
    const auto add = [&](Address from, Address to) {
        if (from >= to) return;
        if (!absent.empty() && absent.back().end == from)
            absent.back().end = to;
        else
            absent.push_back({from, to});
    };
    std::uint64_t page = 0;
    auto run = plan.runs.begin();
    for (const PlannedMapping& planned : plan.mappings) {
        Address done = planned.mapping.range.start;
        const Address end = (done + planned.saved_bytes).rounded_up(captured_page);
        for (; run != plan.runs.end() && run->start < end; ++run)
            for (std::uint64_t i = 0; i < run->pages; ++i, ++page) {
                if (!is_there(page)) continue;
                const Address at = run->start + i * captured_page;
                add(done, at);
                done = at + captured_page;
            }
        add(done, end);
    }
    return absent;
}

MemoryPlan plan_memory(const ProcessFiles& process, std::vector<Mapping> mappings, const CoreFilter& filter,
                       const ProcessFiles* original) {
    return Planner(process, filter, original).plan(std::move(mappings));
}

}  // namespace heapsift
