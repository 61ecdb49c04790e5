// heapsift batch: the overview of many cores, one line each, each core in a process of its own.

#include "cli/commands/batch.h"

#include "cli/child_processes.h"
#include "cli/command_options.h"
#include "cli/core_paths.h"
#include "cli/machine.h"
#include "cli/render/batch.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t default_timeout = 1800;  // seconds; 100 GiB from a slow disk takes less

struct BatchOptions {
    std::optional<std::size_t> jobs;
    std::optional<std::size_t> timeout;
};

// A child keeps some bytes per object and reads the core from its mapping: at most nine tenths of the core's
// size, if that is small objects throughout; far less for arrays.
std::size_t default_jobs(const std::vector<std::string>& paths, std::optional<std::size_t> memory) {
    std::uint64_t largest = 0;
    for (const std::string& path : paths) {
        struct stat facts {};
        if (::stat(path.c_str(), &facts) == 0)
            largest = std::max(largest, static_cast<std::uint64_t>(facts.st_size));
    }
    const std::uint64_t each = (std::uint64_t{256} << 20) + largest / 10 * 9;
    const std::uint64_t fitting = (memory ? *memory : available_memory().value_or(each)) / each;
    return std::clamp<std::size_t>(fitting, 1, available_processors());
}

/// What a child may take.
struct Share {
    std::size_t threads;
    std::optional<std::size_t> memory;  // bytes, with --memory
};

std::vector<std::string> arguments_for(const std::string& path, const CommonOptions& options,
                                       const Share& share) {
    std::vector<std::string> arguments = {"overview",         "--json",
                                          "--progress=never", "--no-index",
                                          "--core=" + path,   fmt::format("--jobs={}", share.threads)};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) arguments.push_back(name + value);
    };
    add("--executable=", options.search.executable);
    add("--sysroot=", options.search.sysroot);
    add("--debug-dir=", options.search.debug_dir);
    if (share.memory) arguments.push_back(fmt::format("--memory={}", *share.memory));
    if (options.limit) arguments.push_back(fmt::format("--limit={}", *options.limit));
    if (options.redact) arguments.emplace_back("--redact");
    return arguments;
}

// In the child: it must not change which core is in use.
int answer(const std::string& path, const Session& session, const Share& share) {
    ::setenv("HEAPSIFT_STATE", "off", 1);
    return session.program_run()(arguments_for(path, session.options(), share),
                                 session.ends_process() ? ::_exit : nullptr);
}

struct Tally {
    std::size_t answered = 0, in_part = 0, failed = 0;

    void add(const Json& line) {
        const int exit = line["exit"].get<int>();
        ++(exit == 0 ? answered : line.contains("overview") ? in_part : failed);
    }
    std::size_t done() const { return answered + in_part + failed; }
    double share(std::size_t count) const { return static_cast<double>(done()) / static_cast<double>(count); }
    std::string text(std::size_t count) const {
        return fmt::format("{} of {} cores done, {} of them not analysed,", done(), count, failed);
    }
    ExitCode exit() const {
        if (in_part + failed == 0) return ExitCode::answered;
        return answered + in_part == 0 ? ExitCode::cannot_analyse : ExitCode::answered_in_part;
    }
};

void check(const Session& session, const BatchOptions& options) {
    if (!session.options().core.empty())
        throw wrong_usage("bad-option", "--core: batch takes its cores as arguments",
                          command_line("batch core.1 core.2"));
    if (session.words().paths.empty())
        throw wrong_usage("no-paths", "batch needs a core or a folder with cores",
                          command_line("batch /var/crash") + ", or core.*");
    if (options.jobs && (*options.jobs == 0 || *options.jobs > most_jobs))
        throw wrong_usage("bad-option",
                          fmt::format("-j {}: a number from 1 to {} is needed", *options.jobs, most_jobs));
}

ExitCode run_batch(Session& session, const BatchOptions& options) {
    check(session, options);
    const CorePaths cores = find_core_paths(session.words().paths, std::cin);
    for (const std::string& path : cores.paths) session.redactor().know_path(path);
    for (const std::string& word : session.words().paths) session.redactor().know_directory(word);
    for (const std::string& note : cores.notes) session.console().note(note);
    const std::size_t count = cores.paths.size();
    if (count == 0) session.console().note("no core found");
    constexpr std::size_t longest = 1 << 30;
    const ProgressCallback progress = session.progress();
    Output output;
    Tally tally;
    ChildRules rules;
    rules.at_once = std::min(options.jobs.value_or(default_jobs(cores.paths, session.options().memory)),
                             std::max<std::size_t>(count, 1));
    rules.timeout = std::chrono::seconds(std::min(options.timeout.value_or(default_timeout), longest));
    if (progress) rules.tick = [&] { progress(tally.text(count), tally.share(count)); };
    Share share{std::clamp<std::size_t>(available_processors() / rules.at_once, 1, most_jobs), {}};
    if (const auto memory = session.options().memory)
        share.memory = std::max<std::size_t>(*memory / rules.at_once, 1);
    const auto job = [&](std::size_t i) { return answer(cores.paths[i], session, share); };
    const auto done = [&](std::size_t i, const ChildEnd& end) {
        const Json line = batch_line(cores.paths[i], end, session.redactor());
        tally.add(line);
        session.clear_progress();
        output.write(json_text(line) + "\n");
        output.flush();
    };
    run_in_children(count, rules, job, done);
    session.clear_progress();
    return tally.exit();
}

constexpr const char* details_of_lines =
    R"(PATH is a core, a folder (every core directly in it, recognised by content,
compressed or not), or - to read paths from standard input, one per line or as
find -print0 writes them. Each core is read in its own process. The lines come
in the order of the paths. As in overview --json, or what went wrong:

  {"path", "exit", "overview", "signature", "complete", "certain",
   "warnings", "core"}
  {"path", "exit", "error": {"code", "message", "hint"}, "signature",
   "warnings", "core"}

A crash ("crashed"), a core that takes longer than --timeout ("timed-out") and
a process killed for lack of memory ("killed") are errors of that line only.
Cores with the same cause have the same signature, as far as a heap can tell:
interpreter, program, how it ended, the largest part of the memory, the
dominating types. To count them:
)";

constexpr const char* details_of_exit =
    "Exit codes: 0 all cores analysed; 3 some only in part, or not at all; 1 none.\n";

}  // namespace

std::string batch_details() {
    const std::string to_count =
        command_line("batch /var/crash") + " | jq -r .signature | sort | uniq -c | sort -rn";
    return fmt::format("{}\n  {}\n\n{}", details_of_lines, to_count, details_of_exit);
}

CommandRunner setup_batch(CommandOptions& declare) {
    auto options = std::make_shared<BatchOptions>();
    declare.number("-j,--jobs", options->jobs, "cores at a time (default: as processors and memory allow)");
    declare.number("--timeout", options->timeout, "seconds for one core; 0 for no limit (default 1800)");
    declare.choice(
        "--format", {"jsonl", "json"}, [](std::size_t) {},
        "one line of JSON per core; both mean the same here");
    return [options](Session& session) { return run_batch(session, *options); };
}

}  // namespace heapsift
