// Between a question and a living process stands a core that nobody keeps: everything that reads a core works
// on it, and the process stands only for the moment that `capture` needs, not for the time of the answer.
//
// Program files are looked for below /proc/PID/root, if the process sees another root than heapsift does (a
// container, a chroot, a mount namespace), else by their own paths, which say more to a reader; and those
// that were deleted or replaced since they were loaded below /proc/PID/map_files.

#include "cli/live_process.h"

#include "cli/output_file.h"
#include "cli/render/capture.h"
#include "cli/units.h"
#include "cli/version.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/process/access.h"
#include "parsers/process/process_root.h"
#include "parsers/process/python_traces.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace heapsift {
namespace {

/// What a core of it may take: memory of its own, and a little for headers and pages of files that were
/// written to.
std::uint64_t most_core_bytes(const ProcessFacts& facts) {
    constexpr std::uint64_t headers = std::uint64_t{16} << 20;
    return facts.anonymous_bytes.value_or(facts.resident_bytes.value_or(0)) + facts.shared_bytes.value_or(0) +
           facts.swapped_bytes.value_or(0) + headers;
}

}  // namespace

LiveProcess::~LiveProcess() = default;

LiveProcess::LiveProcess(std::int32_t pid, LiveProcessOptions options, const std::string& again)
    : pid_(pid), options_(std::move(options)) {
    AccessFacts access = access_facts(pid);
    if (const auto error = why_no_access(access, again)) throw *error;
    facts_ = std::move(*access.process);
    if (python_traces(pid) == PythonTraces::none)
        throw cannot_analyse(
            "not-python",
            fmt::format("{} is no Python: none of its program files has an interpreter in it",
                        process_words(facts_)),
            "pgrep -af python lists the Pythons; " +
                command_line(fmt::format("capture {} -o core.{}", pid, pid)) +
                " takes a core of any program");
    if (options_.keep.empty()) return;
    if (compression_by_ending(options_.keep) != Compression::none)
        throw wrong_usage(
            "bad-option",
            fmt::format("--keep {}: a core that is asked at once is kept as it is, not compressed",
                        shell_quoted(options_.keep)),
            command_line(fmt::format("capture {} -o {}", pid, shell_quoted(options_.keep))) + " compresses");
    file_ =
        std::make_unique<OutputFile>(options_.keep, OutputFile::Rules{.seekable = true, .nameless = true});
}

std::string LiveProcess::name() const { return fmt::format("process {}", pid_); }

std::string LiveProcess::words() const {
    return options_.keep.empty() ? std::to_string(pid_) : options_.keep;
}

FileSearch LiveProcess::search(FileSearch given) const {
    if (given.sysroot.empty()) given.sysroot = process_root(pid_);
    given.map_files = fmt::format("/proc/{}/map_files", pid_);
    return given;
}

void LiveProcess::take(const ProgressCallback& progress) {
    CaptureOptions options;
    options.version = version();
    options.progress = progress;
    CaptureTarget target;
    if (file_) {
        const std::string folder = std::filesystem::path(options_.keep).parent_path().string();
        target = {.descriptor = file_->descriptor(),
                  .name = file_->name(),
                  .folder = folder.empty() ? "." : folder};
    } else {
        room_ = room_for_core(most_core_bytes(facts_), folders_for_cores(options_.index_directory));
        target = {.descriptor = room_.file.number(), .name = "the core of " + name(), .folder = room_.folder};
    }
    CaptureResult result = capture(pid_, target, options);
    if (file_) file_->commit();
    result_ = std::move(result);
}

std::string LiveProcess::path() const {
    return options_.keep.empty() ? fmt::format("/proc/self/fd/{}", room_.file.number()) : options_.keep;
}

std::string LiveProcess::how_it_was_taken() const {
    const std::string inside = facts_.namespace_pids.size() > 1
                                   ? fmt::format(", {} in its container,", facts_.namespace_pids.back())
                                   : std::string();
    return fmt::format("{}{} stood for {} while its memory was copied ({} in {})", process_words(facts_),
                       inside, duration_text(result_->stood_nanoseconds), binary_size(result_->disk_bytes),
                       duration_text(result_->nanoseconds));
}

void LiveProcess::describe(Json& core) const {
    core["path"] = options_.keep.empty() ? Json(nullptr) : core["path"];
    core["live"] = true;
    core["stood_ns"] = result_ ? Json(result_->stood_nanoseconds) : Json(nullptr);
    core["live_pid"] = pid_;  // `pid` is what the process itself has, in its namespace
}

}  // namespace heapsift
