// While the process stands, nothing may be done that takes longer than reading its memory: no writing, no compressing,
// no searching. So the pages that were copied before are known by 64 bits each (page_hash.h), and only those that differ are kept. With 64 bits one changed page in 2^64 is taken for unchanged.
//
// What is kept lies in a stretch of addresses that is reserved beforehand. For as many pages as changed in the last round of
// copying memory is taken at once, before the process stands: that takes longer than to fill it. Beyond the limit pages go
// to a file without a name, and from there to the disk.

#include "parsers/capture/page_hashes.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/capture/nameless_file.h"
#include "parsers/capture/page_hash.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t unknown = 0;
constexpr std::uint64_t gone = 1;  // was kept, and was no longer there when it was looked at again

std::uint64_t hash_of(const std::byte* page) {
    const std::uint64_t hash = hash_of_page(page);
    return hash <= gone ? hash + 2 : hash;
}

}  // namespace

PageHashes::PageHashes(const MemoryPlan& plan) {
    for (const PageRun& run : plan.runs) {
        const std::uint64_t first = hashes_.size();
        runs_.push_back({run.start.value, first, run.pages});
        hashes_.resize(first + run.pages, unknown);
    }
}

std::uint64_t PageHashes::take(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read) {
    std::uint64_t differ = 0;
    std::size_t page = 0;
    for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i) {
        const PageRun& run = plan.runs[i];
        const std::byte* bytes = read.bytes.data() + (run.start - chunk.range.start);
        for (std::uint64_t n = 0; n < run.pages; ++n, ++page) {
            std::uint64_t& hash = hashes_[runs_[i].first_hash + n];
            const std::uint64_t now = read.there[page]  ? hash_of(bytes + n * captured_page)
                                      : hash == unknown ? unknown
                                                        : gone;
            differ += hash != now;
            hash = now;
        }
    }
    return differ;
}

bool PageHashes::equals(std::uint64_t address, const std::byte* page, std::size_t& hint) const {
    const auto after = [&](const Run& run) { return run.start > address; };
    if (hint >= runs_.size() || after(runs_[hint]) || (hint + 1 < runs_.size() && !after(runs_[hint + 1]))) {
        const auto next =
            std::partition_point(runs_.begin(), runs_.end(), [&](const Run& run) { return !after(run); });
        if (next == runs_.begin()) return false;
        hint = static_cast<std::size_t>(next - runs_.begin()) - 1;
    }
    const Run& run = runs_[hint];
    const std::uint64_t number = (address - run.start) / captured_page;
    if (number >= run.pages) return false;
    const std::uint64_t hash = hashes_[run.first_hash + number];
    return hash > gone && hash == hash_of(page);
}

std::uint64_t PageHashes::count(const AddressRange& range) const {
    auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& r) {
        return r.start + r.pages * captured_page <= range.start.value;
    });
    std::uint64_t kept = 0;
    for (; run != runs_.end() && run->start < range.end.value; ++run) {
        const std::uint64_t from = std::max(run->start, range.start.value) - run->start;
        const std::uint64_t to =
            std::min(run->start + run->pages * captured_page, range.end.value) - run->start;
        for (std::uint64_t page = from / captured_page; page < to / captured_page; ++page)
            kept += hashes_[run->first_hash + page] != unknown;
    }
    return kept;
}

ChangedPages::ChangedPages(std::uint64_t expected, std::uint64_t limit_bytes, std::string folder)
    : in_memory_(limit_bytes / captured_page), folder_(std::move(folder)) {
    if (in_memory_ == 0) return;
    void* const reserved = ::mmap(nullptr, in_memory_ * captured_page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        in_memory_ = 0;
        return;
    }
    memory_ = static_cast<std::byte*>(reserved);
    ::madvise(memory_, in_memory_ * captured_page, MADV_HUGEPAGE);  // fewer faults while the process stands
    constexpr int populate_write =
        23;  // MADV_POPULATE_WRITE, Linux 5.14; it may fail, and is only a matter of time
    if (const std::uint64_t now = std::min(expected, in_memory_); now > 0)
        ::madvise(memory_, now * captured_page, populate_write);
}

ChangedPages::~ChangedPages() {
    if (memory_) ::munmap(memory_, in_memory_ * captured_page);
}

int ChangedPages::file() {
    if (const int there = file_; there >= 0) return there;
    static std::mutex one_at_a_time;
    const std::lock_guard guard(one_at_a_time);
    if (file_ < 0) {
        nameless_ = nameless_file_in(folder_);
        file_ = nameless_.number();
    }
    return file_;
}

std::uint32_t ChangedPages::add(const std::byte* page) {
    const std::uint32_t place = next_++;
    if (place < in_memory_) {
        std::memcpy(memory_ + place * captured_page, page, captured_page);
        return place;
    }
    const auto at = static_cast<off_t>((place - in_memory_) * captured_page);
    if (::pwrite(file(), page, captured_page, at) != static_cast<ssize_t>(captured_page))
        throw cannot_analyse("cannot-write",
                             fmt::format("{}: no room for the pages that changed meanwhile: {}",
                                         folder_.empty() ? "memory" : folder_, system_reason(errno)),
                             "the process goes on; --fork needs no such room");
    return place;
}

void ChangedPages::read(std::uint32_t place, std::byte* to) const {
    if (place < in_memory_) {
        std::memcpy(to, memory_ + place * captured_page, captured_page);
        return;
    }
    const auto at = static_cast<off_t>((place - in_memory_) * captured_page);
    if (::pread(file_, to, captured_page, at) != static_cast<ssize_t>(captured_page))
        throw cannot_analyse("cannot-read", "the pages that changed meanwhile could not be read again");
}

SecondReading read_again(const ProcessFiles& process, const MemoryPlan& plan, const PageHashes& before,
                         std::size_t readers, std::unique_ptr<ChangedPages> changed) {
    SecondReading reading;
    reading.pages.resize(plan.pages, PageState::absent);
    reading.changed = std::move(changed);
    std::atomic<std::size_t> next = 0;
    constexpr std::size_t at_a_time = 8;  // chunks
    std::vector<std::exception_ptr> failures(std::max<std::size_t>(readers, 1));
    const auto work = [&](std::size_t reader) {
        try {
            RemoteMemory memory(process);
            std::size_t hint = 0;
            for (;;) {
                const std::size_t from = next.fetch_add(at_a_time);
                if (from >= plan.chunks.size()) return;
                for (std::size_t c = from; c < std::min(from + at_a_time, plan.chunks.size()); ++c) {
                    const Chunk& chunk = plan.chunks[c];
                    const ChunkBytes& read = memory.read(plan, chunk);
                    std::size_t in_chunk = 0;
                    for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i) {
                        const PageRun& run = plan.runs[i];
                        const std::byte* bytes = read.bytes.data() + (run.start - chunk.range.start);
                        for (std::uint64_t n = 0; n < run.pages; ++n, ++in_chunk, bytes += captured_page) {
                            if (!read.there[in_chunk]) continue;
                            const bool same = before.equals(run.start.value + n * captured_page, bytes, hint);
                            reading.pages[chunk.first_page + in_chunk] =
                                same ? PageState::as_copied : PageState{reading.changed->add(bytes)};
                        }
                    }
                }
            }
        } catch (...) {
            failures[reader] = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < failures.size(); ++i) others.emplace_back(work, i);
    } catch (const std::system_error&) {  // no more threads (RLIMIT_NPROC): those that there are do it
    }
    work(0);
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return reading;
}

}  // namespace heapsift
