// Three manners. --when waits for one of its conditions, takes a core and is done. --every takes a core at
// once and then at each period, and removes the oldest of its own beyond --keep; it ends when the process
// does. With both, it takes cores by the clock until a condition is met: then the last one, so that there are
// two to compare.
//
// What a signal ends is left as it is: cores that were written stay, an unfinished one has no name yet.

#include "cli/capture_watch.h"

#include "cli/command_options.h"
#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/capture/before_others.h"
#include "parsers/capture/frame_packer.h"
#include "parsers/process/access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <deque>
#include <optional>

namespace heapsift {
namespace {

class CaptureWatcher {
public:
    CaptureWatcher(Console& console, std::int32_t pid, const CaptureWatchOptions& options,
                   const std::string& pattern, const TakeCore& take)
        : console_(console),
          pid_(pid),
          options_(options),
          pattern_(pattern),
          take_(take),
          conditions_(options.when.empty() ? std::vector<WatchCondition>()
                                           : read_watch_conditions(options.when)),
          watch_(pid, conditions_) {
        const auto facts = process_facts(pid);
        who_ = facts ? process_words(*facts) : fmt::format("process {}", pid);
    }

    std::vector<std::string> run() {
        const bool by_the_clock = !options_.every.empty();
        const std::chrono::seconds period =
            by_the_clock ? read_period("--every", options_.every) : std::chrono::seconds(0);
        if (!conditions_.empty()) say_what_is_awaited();
        auto due = MemoryWatch::Clock::now();
        for (;;) {
            // On a machine at work it would look too late.
            std::optional<BeforeOthers> before_others;
            if (!conditions_.empty()) before_others.emplace();
            const WatchEnd end = watch_.wait(by_the_clock ? std::optional(due) : std::nullopt);
            if (end.reason == WatchEnd::Reason::gone) return ended(end);
            if (end.reason == WatchEnd::Reason::met) {
                console_.note(fmt::format("{}: {}", who_, condition_words(conditions_[end.condition], end)));
                const bool pressed = is_pressed(end);
                if (!pressed) before_others.reset();
                take(pressed);
                return all_files();
            }
            before_others.reset();
            take_by_the_clock(period);
            due = std::max(due + period, MemoryWatch::Clock::now());  // what was missed meanwhile is left out
        }
    }

private:
    std::vector<std::string> all_files() const {
        std::vector<std::string> all;
        for (const auto& files : files_) all.insert(all.end(), files.begin(), files.end());
        return all;
    }

    void say_what_is_awaited() const {
        const WatchLimit limit = watch_.limit();
        const std::string of = limit.folder.empty()
                                   ? "the machine's memory; no control group limits it"
                                   : fmt::format("the limit of {}{}", escape_for_terminal(limit.folder),
                                                 limit.slows_down ? " (memory.high)" : "");
        console_.note(fmt::format("{}: waiting for {}; rss is {} now; 100 % is {}, {}", who_,
                                  escape_for_terminal(options_.when), binary_size(watch_.resident_at_start()),
                                  binary_size(limit.bytes), of));
    }

    /// Whether the growth may end the process before its core is written, on a slow disk or a busy machine,
    /// unless it stands meanwhile.
    bool is_pressed(const WatchEnd& end) const {
        constexpr double written_in_a_second = 100 << 20, least_seconds = 10;
        const double seconds = static_cast<double>(watch_.resident_bytes()) / written_in_a_second;
        return end.speed > 0 &&
               static_cast<double>(end.headroom) / end.speed < std::max(4 * seconds, least_seconds);
    }

    void take(bool pressed) {
        const std::string path = core_name(pattern_, core_name_parts(pid_, number_ + 1));
        files_.push_back(take_(path, pressed));
        ++number_;
        while (options_.keep && files_.size() > *options_.keep) {
            for (const std::string& file : files_.front()) ::unlink(file.c_str());
            files_.pop_front();
        }
    }

    /// A disk that is full now need not be when the next core is due. (That the process has ended is seen
    /// next.)
    void take_by_the_clock(std::chrono::seconds period) {
        try {
            take(false);
        } catch (const Error& error) {
            if (error.exit() == ExitCode::wrong_usage) throw;
            console_.note(fmt::format("{}; the next core is due in {} s", error.message(), period.count()));
        }
    }

    std::vector<std::string> ended(const WatchEnd& end) const {
        const std::string how =
            end.killed_for_memory ? "was ended by the OOM killer, as it seems," : "has ended";
        if (!files_.empty()) {
            console_.note(fmt::format("{} {} after {}", who_, how, counted(number_, "core")));
            return all_files();
        }
        throw cannot_analyse("process-ended", fmt::format("{} {} before there was a core of it", who_, how),
                             end.killed_for_memory ? "a lower threshold leaves more time" : "");
    }

    Console& console_;
    std::int32_t pid_;
    const CaptureWatchOptions& options_;
    const std::string& pattern_;
    const TakeCore& take_;
    std::vector<WatchCondition> conditions_;
    MemoryWatch watch_;
    std::string who_;
    std::uint64_t number_ = 0;
    std::deque<std::vector<std::string>> files_;  // of each time
};

}  // namespace

void declare_capture_watch(CommandOptions& declare, CaptureWatchOptions& options) {
    declare.text_of_parts("--when", options.when, "CONDITION",
                          "wait until 'rss>80%|2GiB', 'cgroup>90%' or 'growth>500MiB'", watch_beginnings());
    declare.text("--every", options.every, "TIME",
                 "a core now and each 30s, 10m, 2h; with --when until that is met");
    declare.number("--keep", options.keep, "with --every: keep the newest N cores", 1);
}

CoreNameParts core_name_parts(std::int32_t pid, std::uint64_t number) {
    CoreNameParts parts;
    parts.pid = pid;
    parts.time = static_cast<std::int64_t>(std::time(nullptr));
    parts.number = number;
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) parts.host = host.data();
    if (const auto facts = process_facts(pid)) parts.program = facts->name;
    return parts;
}

std::vector<std::string> watch_and_capture(Console& console, std::int32_t pid,
                                           const CaptureWatchOptions& options, const std::string& pattern,
                                           const TakeCore& take, const CheckPlace& check) {
    if (options.keep && options.every.empty())
        throw wrong_usage("bad-option", "--keep: without --every there is only one core", "add --every 10m");
    if (!options.every.empty()) {
        read_period("--every", options.every);
        const std::size_t ending = ending_of(compression_by_ending(pattern)).size();
        const std::string before_ending = pattern.substr(0, pattern.size() - ending);
        if (!names_differ(pattern))
            throw wrong_usage("bad-option",
                              fmt::format("-o {}: each core needs a name of its own", shell_quoted(pattern)),
                              fmt::format("put the time or a number into it: -o {0}.%t{1} or {0}.%n{1}",
                                          shell_quoted(before_ending), pattern.substr(before_ending.size())));
    }
    // What is wrong with it, and that no core can be written there, is said now, not when it is needed.
    const std::string first = core_name(pattern, core_name_parts(pid, 1));
    CaptureWatcher watcher(console, pid, options, pattern, take);
    check(first);
    return watcher.run();
}

}  // namespace heapsift
