// process_vm_readv copies straight from page to page: 5 to 8 GB/s where /proc/PID/mem, which goes through a page of its
// own, makes 2 to 3. But it respects the rights of a mapping, and the kernel's core does not: memory that is PROT_NONE
// has bytes too. So what it refuses is asked of /proc/PID/mem page by page. What that refuses as well has no bytes: a
// guard of a stack (MADV_GUARD_INSTALL), a file that was cut below its mapping, memory that has gone.
//
// A page that two processes share since a fork is another matter: process_vm_readv pins it, and the kernel first makes a
// copy of a page that is pinned (since Linux 5.19, mm/gup.c, gup_must_unshare). To read a copy of a process that way takes
// as much memory as the process has, in its control group. /proc/PID/mem does not pin.

#include "parsers/capture/remote_memory.h"

#include "parsers/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::size_t most_parts = 512;  // of one call; the kernel takes 1024

bool all_zero_page(const std::byte* page) {
    std::uint64_t words = 0;
    for (std::size_t i = 0; i < captured_page; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, page + i, sizeof word);
        words |= word;
    }
    return words == 0;
}

}  // namespace

RemoteMemory::RemoteMemory(const ProcessFiles& process, bool shared_by_fork)
    : pid_(process.pid()),
      shared_by_fork_(shared_by_fork),
      memory_(process.open("mem", O_RDONLY)),
      buffer_(1 << 20) {
    if (memory_.is_open()) return;
    throw errno == EACCES || errno == EPERM
        ? cannot_analyse("not-permitted", fmt::format("{}: not permitted to read its memory", pid_),
                         "as root, or as its user where ptrace is allowed")
        : cannot_analyse("process-ended", fmt::format("{}: the process has ended", pid_));
}

const ChunkBytes& RemoteMemory::read(const MemoryPlan& plan, const Chunk& chunk) {
    const std::span runs(plan.runs.data() + chunk.first_run, chunk.end_run - chunk.first_run);
    const std::uint64_t size = chunk.range.size();
    std::uint64_t pages = 0;
    for (const PageRun& run : runs) pages += run.pages;
    const bool has_gaps = pages * captured_page < size;
    if (dirty_ && has_gaps) std::memset(buffer_.data(), 0, size);
    dirty_ = true;
    result_.there.assign(pages, true);
    result_.bytes = {buffer_.data(), size};
    read_runs(runs, chunk);
    return result_;
}

/// Returns how many bytes of the runs were read from their start on.
std::size_t RemoteMemory::read_at_once(std::span<const PageRun> runs, const Chunk& chunk) {
    if (shared_by_fork_) {
        std::size_t all = 0;
        for (const PageRun& run : runs) {
            const std::size_t bytes = run.pages * captured_page;
            const ssize_t got = ::pread(memory_.number(), buffer_.data() + (run.start - chunk.range.start),
                                        bytes, static_cast<off_t>(run.start.value));
            if (got > 0) all += static_cast<std::size_t>(got);
            if (got != static_cast<ssize_t>(bytes)) break;
        }
        return all;
    }
    std::array<iovec, most_parts> here, there;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::uint64_t bytes = runs[i].pages * captured_page;
        here[i] = {buffer_.data() + (runs[i].start - chunk.range.start), bytes};
        there[i] = {reinterpret_cast<void*>(runs[i].start.value), bytes};
    }
    const ssize_t got = ::process_vm_readv(pid_, here.data(), runs.size(), there.data(), runs.size(), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool RemoteMemory::read_page(std::uint64_t address, std::byte* to) const {
    if (::pread(memory_.number(), to, captured_page, static_cast<off_t>(address)) ==
        static_cast<ssize_t>(captured_page))
        return true;
    std::memset(to, 0, captured_page);
    return false;
}

void RemoteMemory::read_runs(std::span<const PageRun> runs, const Chunk& chunk) {
    // A page's number is its place in `there`.
    std::size_t page = 0;
    std::size_t run = 0;
    std::uint64_t in_run = 0;  // pages of the run that are done
    while (run < runs.size()) {
        std::array<PageRun, most_parts> batch;
        std::size_t count = 0;
        std::uint64_t wanted = 0;
        for (std::size_t i = run; i < runs.size() && count < batch.size(); ++i) {
            const std::uint64_t done = i == run ? in_run : 0;
            batch[count] = {runs[i].start + done * captured_page, runs[i].pages - done, false};
            wanted += batch[count++].pages * captured_page;
        }
        std::size_t done_pages = read_at_once({batch.data(), count}, chunk) / captured_page;
        bool failed = done_pages * captured_page < wanted;
        for (std::size_t i = 0; i < count && done_pages + failed > 0; ++i) {
            const std::uint64_t from_run = std::min<std::uint64_t>(done_pages, batch[i].pages);
            done_pages -= from_run;
            page += from_run;
            in_run += from_run;
            if (from_run < batch[i].pages) {  // this page was refused
                const std::uint64_t address = batch[i].start.value + from_run * captured_page;
                result_.there[page] =
                    read_page(address, buffer_.data() + (Address(address) - chunk.range.start));
                ++page;
                ++in_run;
                failed = false;
            }
            if (in_run == runs[run].pages) {
                ++run;
                in_run = 0;
            } else {
                break;
            }
        }
    }
    page = 0;
    for (const PageRun& one : runs) {
        for (std::uint64_t i = 0; i < one.pages; ++i, ++page)
            if (one.maybe_zero_page &&
                all_zero_page(buffer_.data() + (one.start - chunk.range.start) + i * captured_page))
                result_.there[page] = false;
    }
}

}  // namespace heapsift
