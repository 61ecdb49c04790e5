// A core of a living process costs it the time that it stands. A debugger stops it, and then writes; here it stands only
// while its memory is compared, or is copied by the kernel.
//
//   copy: All memory is copied into the file while the process runs, torn as that may be, with a hash of each page. If that
//         took long, what changed meanwhile is copied again. Then all threads are stopped, everything is read once more,
//         and pages whose hash differs are put by. The process goes on, and these pages are written into the file. So the
//         core shows one moment, the one at which the process stood.
//   fork: With all threads stopped the process is copied by a fork (process_copy.cpp), and goes on. The copy stands still,
//         and is read at leisure.
//
// In both ways nothing is written, compressed or searched while the process stands.
//
//   still: The process stands until its core is written. That is for one that is about to be killed for want of memory: while
//          it stands it takes no more, and a core is worth more to it than the time.
//
// Measured (2 processors, 1 GiB of objects): see tests/benchmarks/capture.py. A third way would be the kernel's soft-dirty
// bits (/proc/PID/clear_refs), which name the pages that changed without reading them all; distributions' kernels of cloud
// machines often lack them (CONFIG_MEM_SOFT_DIRTY), and so did ours: not built.

#include "parsers/capture/capture.h"

#include "parsers/base/error.h"
#include "parsers/capture/before_others.h"
#include "parsers/capture/fork_events.h"
#include "parsers/capture/page_hashes.h"
#include "parsers/capture/process_copy.h"
#include "parsers/capture/process_notes.h"
#include "parsers/capture/running_program.h"
#include "parsers/capture/stopped_process.h"
#include "parsers/elf/absent_pages.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <utility>

#include <dirent.h>

namespace heapsift {
namespace {

using Clock = std::chrono::steady_clock;

CoreFilter filter_of(const ProcessFiles& process, bool full) {
    CoreFilter filter;
    filter.full = full;
    const std::string text = process.read("coredump_filter").value_or("");
    std::from_chars(text.data(), text.data() + text.size(), filter.bits, 16);
    return filter;
}

std::string required_text(const ProcessFiles& process, const std::string& name) {
    int reason = 0;
    auto text = process.read(name, &reason);
    if (text && !text->empty()) return std::move(*text);
    if (reason == EACCES || reason == EPERM)
        throw cannot_analyse("not-permitted",
                             fmt::format("{}: not permitted to read its memory", process.pid()),
                             "as root, or as its user where ptrace is allowed");
    throw cannot_analyse("process-ended", fmt::format("{}: the process has ended", process.pid()));
}

/// Paths as the process itself sees them.
void strip_root(std::vector<PlannedMapping>& mappings, const std::string& root) {
    if (root.size() < 2) return;
    for (PlannedMapping& planned : mappings) {
        std::string& path = planned.mapping.path;
        if (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/')
            path.erase(0, root.size());
    }
}

std::vector<Mapping> mappings_in(const MemoryPlan& plan) {
    std::vector<Mapping> mappings;
    mappings.reserve(plan.mappings.size());
    for (const PlannedMapping& planned : plan.mappings) mappings.push_back(planned.mapping);
    return mappings;
}

std::uint64_t seconds_now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

std::uint64_t memory_for_changed(const CaptureOptions& options) {
    if (options.changed_in_memory > 0) return options.changed_in_memory;
    struct sysinfo facts {};
    constexpr std::uint64_t least = 64 << 20;
    if (::sysinfo(&facts) != 0) return least;
    return std::max<std::uint64_t>(least, std::uint64_t{facts.freeram} * facts.mem_unit / 4);
}

class Capture {
public:
    Capture(pid_t pid, const CaptureTarget& target, const CaptureOptions& options)
        : process_(pid), program_(process_), target_(target), options_(options) {
        require_capturable(process_);
        filter_ = filter_of(process_, options.full);
        result_.pid = pid;
        result_.name = read_stat(process_.read("stat").value_or("")).value_or(ProcessStat{}).name;
        file_ = CoreFileOut::create(target);
    }

    CaptureResult run() {
        const auto began = Clock::now();
        try {
            if (options_.method == CaptureMethod::still)
                by_standing_still();
            else if (options_.method == CaptureMethod::copy || !by_fork())
                by_copy();
        } catch (const Error& error) {
            // If threads or memory have gone by an exec, that is what is to be said.
            if (error.code() != "cannot-write") program_.require_same();
            throw;
        }
        if (result_.method != CaptureMethod::still) take_sizes();
        result_.nanoseconds = static_cast<std::uint64_t>((Clock::now() - began).count());
        return std::move(result_);
    }

private:
    void take_sizes() {
        struct stat facts {};
        if (::fstat(target_.descriptor, &facts) == 0)
            result_.disk_bytes = static_cast<std::uint64_t>(facts.st_blocks) * 512;
        result_.file_bytes = file_->file_bytes();
        if (target_.in_order) result_.disk_bytes = result_.file_bytes;
    }

    void say(std::string_view pass, double done) const {
        if (options_.progress) options_.progress(pass, done);
    }

    void by_copy() {
        const std::vector<Mapping> before = read_mappings(required_text(process_, "smaps"));
        const MemoryPlan first = plan_memory(process_, before, filter_);
        PageHashes hashes(first);
        file_->begin(first);
        const std::uint64_t changing = copy_running(first, hashes);
        records_ = read_records(process_, process_.threads());

        auto changed = std::make_unique<ChangedPages>(changing, memory_for_changed(options_), target_.folder);
        MemoryPlan plan;
        SecondReading reading;
        std::vector<ThreadState> threads;
        {
            const BeforeOthers before_others;
            StoppedProcess stopped(process_);
            seconds_ = seconds_now();
            program_.require_same();
            threads = stopped.registers();
            if (threads.empty())
                throw cannot_analyse("process-ended",
                                     fmt::format("{}: the process has ended", process_.pid()));
            std::vector<Mapping> mappings = read_mappings(required_text(process_, "maps"));
            // Flags are in smaps alone, for which the kernel looks at every page: only if there is something new.
            if (take_over_flags(mappings, before) > 0)
                mappings = read_mappings(required_text(process_, "smaps"));
            plan = plan_memory(process_, std::move(mappings), filter_);
            reading = read_again(process_, plan, hashes, options_.readers, std::move(changed));
            add_thread_numbers(stopped.threads());
            result_.stood_nanoseconds = static_cast<std::uint64_t>(stopped.let_go().count());
        }
        result_.changed_pages = reading.changed->count();
        say("writing what changed", 0);
        const auto is_there = [&](std::uint64_t page) { return reading.pages[page] != PageState::absent; };
        file_->finish(plan, reading, hashes,
                      notes_of(plan, threads, absent_pages_note(pages_without_bytes(plan, is_there))));
        take_counts(plan, threads);
    }

    /// Copies everything; and if that took long, what changed meanwhile, so that less is left for the stop. Returns how
    /// many pages changed during the last round but the first: about as many will have changed at the stop.
    std::uint64_t copy_running(const MemoryPlan& plan, PageHashes& hashes) {
        constexpr std::chrono::milliseconds short_time{300};
        constexpr int most_rounds = 4;
        RemoteMemory memory(process_);
        auto last = std::chrono::nanoseconds::max();
        std::uint64_t changed = 0;
        for (int round = 0; round < most_rounds; ++round) {
            const auto began = Clock::now();
            changed = 0;
            for (std::size_t i = 0; i < plan.chunks.size(); ++i) {
                const Chunk& chunk = plan.chunks[i];
                const ChunkBytes& read = memory.read(plan, chunk);
                const std::uint64_t differ = hashes.take(plan, chunk, read);
                if (differ > 0) file_->keep(plan, chunk, read);
                changed += round > 0 ? differ : 0;
                say(round == 0 ? "copying" : "copying what changed",
                    static_cast<double>(i + 1) / static_cast<double>(plan.chunks.size()));
            }
            program_.require_same();
            const auto took = Clock::now() - began;
            if (took < short_time || took > last / 2) break;
            last = took;
        }
        return changed + changed / 4;
    }

    /// False if no copy can be made.
    bool by_fork() {
        const std::vector<Mapping> before = read_mappings(required_text(process_, "smaps"));
        records_ = read_records(process_, process_.threads());
        std::optional<ProcessCopy> copy;
        try {
            if (fork_waits_for_reader(process_, before))
                throw NoCopy{"a userfaultfd of its own is told of forks, and would hold it for ever"};
            copy.emplace(process_);
        } catch (const NoCopy& no) {
            result_.no_fork = no.reason;
            return false;
        }
        seconds_ = seconds_now();
        result_.method = CaptureMethod::fork;
        result_.stood_nanoseconds = static_cast<std::uint64_t>(copy->stood().count());
        const ProcessFiles files(copy->pid());
        program_.require_same_in(files);
        std::vector<Mapping> mappings = read_mappings(required_text(files, "smaps"));
        for (const Mapping& mapping : before)
            if (mapping.not_in_fork && saving_of(mapping, filter_).saving != Saving::nothing)
                result_.not_in_fork_bytes += mapping.range.size();
        const MemoryPlan plan = plan_memory(files, std::move(mappings), filter_, &process_);
        for (const PlannedMapping& planned : plan.mappings)
            if (planned.mapping.shared) result_.shared_bytes += planned.saved_bytes;
        RemoteMemory memory(files, true);
        const auto read = [&](const Chunk& chunk) -> const ChunkBytes& {
            say("copying",
                static_cast<double>(&chunk - plan.chunks.data()) / static_cast<double>(plan.chunks.size()));
            return memory.read(plan, chunk);
        };
        file_->write_all(plan, notes_of(plan, copy->threads(), planned_absent(plan)), read);
        const auto stat = read_stat(files.read("stat").value_or(""));
        if (!stat || stat->state == 'Z' || stat->state == 'X')  // a zombie still has its files, but no memory
            throw cannot_analyse("copy-ended",
                                 fmt::format("{}: its copy was killed while it was read", process_.pid()),
                                 "for lack of memory? try without --fork");
        take_counts(plan, copy->threads());
        return true;
    }

    void by_standing_still() {
        records_ = read_records(process_, process_.threads());
        StoppedProcess stopped(process_);
        seconds_ = seconds_now();
        program_.require_same();
        const std::vector<ThreadState> threads = stopped.registers();
        if (threads.empty())
            throw cannot_analyse("process-ended", fmt::format("{}: the process has ended", process_.pid()));
        add_thread_numbers(stopped.threads());
        result_.method = CaptureMethod::still;
        const MemoryPlan plan =
            plan_memory(process_, read_mappings(required_text(process_, "smaps")), filter_);
        RemoteMemory memory(process_);
        const auto read = [&](const Chunk& chunk) -> const ChunkBytes& {
            say("copying",
                static_cast<double>(&chunk - plan.chunks.data()) / static_cast<double>(plan.chunks.size()));
            return memory.read(plan, chunk);
        };
        result_.stood_nanoseconds =
            static_cast<std::uint64_t>(stopped.stood().count());  // so far, for the notes
        file_->write_all(plan, notes_of(plan, threads, planned_absent(plan)), read);
        take_sizes();
        if (options_.is_whole) options_.is_whole();
        result_.stood_nanoseconds = static_cast<std::uint64_t>(stopped.let_go().count());
        take_counts(plan, threads);
    }

    /// Of threads that were made since the records were read, if the process is in another namespace.
    void add_thread_numbers(const std::vector<pid_t>& threads) {
        if (records_.own_thread_numbers.empty()) return;
        records_.own_thread_numbers = read_records(process_, threads).own_thread_numbers;
    }

    /// Before anything is read; none if it takes the reading to tell (before Linux 6.7).
    static std::string planned_absent(const MemoryPlan& plan) {
        if (std::any_of(plan.runs.begin(), plan.runs.end(),
                        [](const PageRun& r) { return r.maybe_zero_page; }))
            return {};
        return absent_pages_note(pages_without_bytes(plan, [](std::uint64_t) { return true; }));
    }

    std::string notes_of(const MemoryPlan& plan, const std::vector<ThreadState>& threads,
                         const std::string& absent_pages) {
        CaptureFacts facts;
        facts.version = options_.version;
        facts.seconds = seconds_;
        facts.stood_nanoseconds = result_.stood_nanoseconds;
        facts.by_fork = result_.method == CaptureMethod::fork;
        facts.changed_pages = result_.changed_pages;
        MemoryPlan named;
        named.mappings = plan.mappings;
        strip_root(named.mappings, process_.link("root"));
        return core_notes(records_, threads, mappings_in(named), facts, absent_pages);
    }

    void take_counts(const MemoryPlan& plan, const std::vector<ThreadState>& threads) {
        result_.threads = threads.size();
        result_.pages = plan.pages;
        for (const PlannedMapping& planned : plan.mappings)
            result_.memory_bytes += planned.mapping.range.size();
    }

    ProcessFiles process_;
    RunningProgram program_;
    const CaptureTarget& target_;
    const CaptureOptions& options_;
    CoreFilter filter_;
    std::unique_ptr<CoreFileOut> file_;
    ProcessRecords records_;
    std::uint64_t seconds_ = 0;
    CaptureResult result_;
};

}  // namespace

CaptureResult capture(pid_t pid, const CaptureTarget& target, const CaptureOptions& options) {
    return Capture(pid, target, options).run();
}

std::vector<pid_t> children_of(pid_t pid) {
    std::map<pid_t, pid_t> parents;
    if (DIR* folder = ::opendir("/proc")) {
        while (const dirent* entry = ::readdir(folder)) {
            const std::string_view name = entry->d_name;
            pid_t number = 0;
            if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc()) continue;
            try {
                const auto stat = read_stat(ProcessFiles(number).read("stat").value_or(""));
                if (stat && stat->state != 'Z') parents[number] = static_cast<pid_t>(stat->field(4));
            } catch (const Error&) {  // it has ended
            }
        }
        ::closedir(folder);
    }
    std::vector<pid_t> found{pid};
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const auto& [child, parent] : parents)
            if (parent == found[i] && std::find(found.begin(), found.end(), child) == found.end())
                found.push_back(child);
    found.erase(found.begin());
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace heapsift
