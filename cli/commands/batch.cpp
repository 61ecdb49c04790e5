// heapsift batch: the overview of many cores, one line each, each core in a process of its own.

#include "cli/commands/batch.h"

#include "cli/batch_lines.h"
#include "cli/child_processes.h"
#include "cli/command_options.h"
#include "cli/core_paths.h"
#include "cli/index_place.h"
#include "cli/machine.h"
#include "cli/piped_core.h"
#include "cli/render/batch.h"
#include "cli/units.h"
#include "parsers/base/program_name.h"
#include "parsers/elf/core_key.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t default_timeout = 1800;  // seconds; 100 GiB from a slow disk takes less

struct BatchOptions {
    std::optional<std::size_t> jobs;
    std::optional<std::size_t> timeout;
    std::optional<std::size_t> max_memory;
    std::string output, shard;
    std::vector<std::string> resume;
    bool brief = false, only_cores = false;
};

// A child keeps some bytes per object and reads the core from its mapping: at most nine tenths of the core's
// size, if that is small objects throughout; far less for arrays.
std::size_t default_jobs(const std::vector<std::string>& paths, std::optional<std::size_t> memory,
                         std::optional<std::size_t> each_at_most) {
    std::uint64_t largest = 0;
    for (const std::string& path : paths) {
        struct stat facts {};
        if (::stat(path.c_str(), &facts) == 0)
            largest = std::max(largest, static_cast<std::uint64_t>(facts.st_size));
    }
    const std::uint64_t each = std::min<std::uint64_t>((std::uint64_t{256} << 20) + largest / 10 * 9,
                                                       each_at_most.value_or(SIZE_MAX));
    const std::uint64_t fitting = (memory ? *memory : available_memory().value_or(each)) / each;
    return std::clamp<std::size_t>(fitting, 1, available_processors());
}

/// What a child may take.
struct Share {
    std::size_t threads;
    std::optional<std::size_t> memory;  // bytes, with --memory or --max-memory
};

/// The cores that the words name.
struct CoresToAsk {
    std::vector<std::string> paths;      // to open them
    std::vector<std::string> shown;      // as the lines have them
    Descriptor piped;                    // keeps the core that came on standard input
    std::optional<Error> not_kept = {};  // or why it could not be kept
};

/// Which cores are asked. What a core is, is found when its turn comes, while others are at work: it takes
/// milliseconds, and there may be a million.
class Choice {
public:
    Choice(const CoresToAsk& asked, AnsweredCores answered, const BatchLimits& limits,
           const Redactor& redactor)
        : asked_(asked),
          answered_(std::move(answered)),
          here_(limits),
          limits_(limits),
          redactor_(redactor) {}

    /// Whether the core has no line yet.
    bool wants(std::size_t i) {
        const std::string &path = asked_.paths[i], &shown = asked_.shown[i];
        BatchCore core{shown, core_key(path), {}, 0, limits_};
        struct stat facts {};
        if (::stat(path.c_str(), &facts) == 0) core.file_bytes = static_cast<std::uint64_t>(facts.st_size);
        if (!core.key.empty() && here_.has(core.key, shown, core.file_bytes)) {
            ++copies_;
            return false;
        }
        const bool is_place = shown != "-";  // what comes on standard input is another each time
        if ((is_place || !core.key.empty()) &&
            answered_.has(core.key, path_in_line(redactor_.path(shown)), core.file_bytes)) {
            ++before_;
            return false;
        }
        core.stored = stored_core(path);
        at_work_.emplace(i, std::move(core));
        return true;
    }

    const BatchCore& core(std::size_t i) const { return at_work_.at(i); }
    /// Whether the line is of no copy whose line came while this one was at work. After it the core is forgotten.
    bool keeps(std::size_t i, const Json& line) {
        const BatchCore core = std::move(at_work_.at(i));
        at_work_.erase(i);
        if (core.key.empty()) return true;
        if (here_.has(core.key, core.path, core.file_bytes)) {
            ++copies_;
            return false;
        }
        here_.add_line(line);
        return true;
    }

    std::size_t before() const { return before_; }
    std::size_t copies() const { return copies_; }

private:
    const CoresToAsk& asked_;
    AnsweredCores answered_, here_;  // before, and in this run
    const BatchLimits limits_;
    const Redactor& redactor_;
    std::map<std::size_t, BatchCore> at_work_;
    std::size_t before_ = 0, copies_ = 0;
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
    if (options.search.runtime) arguments.push_back(fmt::format("--interpreter={}", *options.search.runtime));
    add("--sysroot=", options.search.sysroot);
    add("--debug-dir=", options.search.debug_dir);
    add("--index-dir=", options.index_dir);  // where columns lie that find no room in memory
    if (share.memory) arguments.push_back(fmt::format("--memory={}", *share.memory));
    if (options.limit) arguments.push_back(fmt::format("--limit={}", *options.limit));
    if (options.redact) arguments.emplace_back("--redact");
    return arguments;
}

// In the child: it must not change which core is in use.
int answer(const CoresToAsk& asked, std::size_t i, Session& session, const Share& share) {
    ::setenv("HEAPSIFT_STATE", "off", 1);
    if (asked.shown[i] == "-" && asked.not_kept) {
        Output output;
        output.write(json_text(Json{{"error", error_json(*asked.not_kept, session.redactor())}}) + "\n");
        output.flush();
        return static_cast<int>(ExitCode::cannot_analyse);
    }
    std::string path = asked.paths[i];
    // By this name messages speak of it.
    if (asked.shown[i] == "-" && asked.piped.is_open() && ::dup2(asked.piped.number(), STDIN_FILENO) >= 0 &&
        ::access("/dev/stdin", R_OK) == 0)
        path = "/dev/stdin";
    return session.program_run()(arguments_for(path, session.options(), share),
                                 session.ends_process() ? ::_exit : nullptr);
}

struct Tally {
    std::size_t answered = 0, in_part = 0, failed = 0;

    void add(const Json& line) {
        const int exit = line["exit"].get<int>();
        ++(exit == 0 ? answered : !line.contains("error") ? in_part : failed);
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

/// The cores that the words name, without those of other parts.
CoresToAsk find_cores(Session& session, const BatchOptions& options) {
    CoresToAsk asked;
    const std::vector<std::string>& words = session.words().paths;
    PipedInput input;
    if (std::find(words.begin(), words.end(), "-") != words.end())
        input = read_piped_input(STDIN_FILENO, index_directory(session.options().index_dir));
    std::istringstream list(input.text);
    const std::string piped = input.core.is_open() || input.failure ? input.core_path() : "";
    const CorePaths found = find_core_paths(words, list, piped, options.only_cores);
    for (const std::string& note : found.notes) session.console().note(note);
    const Shard shard = options.shard.empty() ? Shard() : shard_of(options.shard);
    for (const std::string& path : found.paths) {
        std::string shown = path == piped && !piped.empty() ? "-" : path;
        if (!shard.has(shown)) continue;
        asked.shown.push_back(std::move(shown));
        asked.paths.push_back(path);
    }
    if (found.paths.empty()) session.console().note("no core found");
    asked.piped = std::move(input.core);
    asked.not_kept = std::move(input.failure);
    return asked;
}

BatchLimits limits_of(const BatchOptions& options) {
    constexpr std::size_t longest = 1 << 30;
    return {std::min(options.timeout.value_or(default_timeout), longest), options.max_memory.value_or(0)};
}

AnsweredCores read_answered(Session& session, const BatchOptions& options) {
    AnsweredCores answered(limits_of(options));
    for (const std::string& lines : options.resume) answered.add_lines(lines);
    if (answered.skipped() > 0)
        session.console().note(fmt::format("--resume: {} skipped, which {} no line of a batch",
                                           counted(answered.skipped(), "line", "lines"),
                                           answered.skipped() == 1 ? "is" : "are"));
    return answered;
}

ExitCode run_batch(Session& session, const BatchOptions& options) {
    check(session, options);
    for (const std::string& word : session.words().paths) session.redactor().know_directory(word);
    std::optional<LinesFile> file;
    const bool goes_on =
        std::find(options.resume.begin(), options.resume.end(), options.output) != options.resume.end();
    if (goes_on && !may_be_lines(options.output))
        throw wrong_usage("no-lines",
                          fmt::format("-o {}: it is there, and is no file of lines; nothing was written",
                                      escape_for_terminal(options.output)));
    if (!options.output.empty() && options.output != "-") file.emplace(options.output, goes_on);
    const CoresToAsk asked = find_cores(session, options);
    for (const std::string& path : asked.paths) session.redactor().know_path(path);
    const BatchLimits limits = limits_of(options);
    Choice choice(asked, read_answered(session, options), limits, session.redactor());
    const std::size_t count = asked.paths.size();
    const ProgressCallback progress = session.progress();
    Output output;
    Tally tally;
    ChildRules rules;
    const auto memory = options.max_memory ? std::optional<std::size_t>() : session.options().memory;
    rules.at_once = std::min(options.jobs.value_or(default_jobs(asked.paths, memory, options.max_memory)),
                             std::max<std::size_t>(count, 1));
    rules.timeout = std::chrono::seconds(limits.seconds);
    rules.most_memory = limits.memory;
    rules.wanted = [&](std::size_t i) { return choice.wants(i); };
    const auto left = [&] { return count - choice.before() - choice.copies(); };
    if (progress)
        rules.tick = [&] { progress(tally.text(left()), tally.share(std::max<std::size_t>(left(), 1))); };
    Share share{std::clamp<std::size_t>(available_processors() / rules.at_once, 1, most_jobs), {}};
    if (memory) share.memory = std::max<std::size_t>(*memory / rules.at_once, 1);
    if (options.max_memory) share.memory = *options.max_memory / 4 * 3;  // the rest: what is no column
    const auto job = [&](std::size_t i) { return answer(asked, i, session, share); };
    const auto done = [&](std::size_t i, const ChildEnd& end) {
        const Json line = batch_line(choice.core(i), end, session.redactor(), options.brief);
        if (!choice.keeps(i, line)) return;
        tally.add(line);
        session.clear_progress();
        const std::string text = json_text(line) + "\n";
        if (file) return file->write(text);
        output.write(text);
        output.flush();
    };
    run_in_children(count, rules, job, done);
    session.clear_progress();
    if (choice.before() > 0)
        session.console().note(
            fmt::format("{} answered before", counted(choice.before(), "core was", "cores were")));
    if (choice.copies() > 0)
        session.console().note(fmt::format("{} of a core that has a line",
                                           counted(choice.copies(), "file is a copy", "files are copies")));
    return tally.exit();
}

constexpr const char* details_of_lines =
    R"(PATH is a core, a folder (every core directly in it, recognised by content,
compressed or not, and what cannot be read), or -: on standard input comes a
core, as the kernel pipes it, or a list of paths, one per line or as find
-print0 writes them; nothing at all is a core that is empty. Each core is read in its own process. The lines come in the
order of the paths. What went wrong is a line too: a file that is no core or
cannot be read, a crash ("crashed"), a core that takes longer than --timeout
("timed-out") or more than --max-memory ("too-little-memory", "out-of-memory"),
a process killed for lack of memory ("killed").

Each line has these columns, of the schema heapsift.batch/1, null where the core
does not tell:

  schema, path   bytes of a path that are not UTF-8 are written as \xff
  identity       of the core, wherever a copy lies, compressed or not; of a cut
                 one with "-cut-" and the bytes of its file behind it
  exit           0 analysed, 3 in part, 1 not; then error {code, message, hint}
  signature      equal for the same cause: program, kind, who holds what; no
                 address, count, line, host or version of Python is in it. In
                 names of files # stands for dates, numbers of four digits,
                 UUIDs, digests and what `tempfile` makes up, in the program's
                 for numbers of three; of a prompt or notebook for any. Of a
                 child process that multiprocessing or joblib started the
                 program is its parent's. Types of
                 the standard library have one name, however Python moved them.
                 Without a suspect it is "no suspect; most in" and the largest
                 holder of 1 MiB and a tenth of what is in use. With --redact a
                 number stands for the names of the program and its file
  host           as systemd-coredump noted it, else HOSTNAME of the process
  boot           id of the machine's boot (systemd-coredump)
  container      "kubernetes", or what the variable `container` says
  pid, started   when it began (when it imported `logging`)
  stored         when the core was taken, else when its file was written; of one
                 from standard input, when it came
  command, interpreter
  packages       {name: version} of imported packages that say their version
  ended, signal, threads
  mapped, in_use, objects, object_memory, array_data, garbage    bytes; objects
                 is a count
  headline       the first screen's sentence
  suspects       [{kind, pattern, expression, bytes, share, cause, fix}]
  complete, certain, warnings
  limits         {timeout, max_memory} that it had, in seconds and bytes
  seconds        that it took
  overview       as in overview --json; not with --brief
  core           as in the other answers; not with --brief

Of copies of one core the first has a line; so has a cut one, unless the whole
one has. A long batch that may be killed writes a file and goes on with it;
cores that have a line there are known by their identity and skipped. Asked
again are those over which heapsift was killed or not started, and those that a
limit ended which is larger now. So a core may have several lines: the last one
that was answered counts, else the last:

)";

constexpr const char* details_of_exit =
    "Exit codes: 0 all cores analysed; 3 some only in part, or not at all; 1 none.\n";

}  // namespace

std::string batch_details() {
    const std::string to_go_on = command_line("batch /var/crash -o lines.jsonl --resume lines.jsonl");
    const std::string to_count =
        command_line("batch /var/crash") + " | jq -r .signature | sort | uniq -c | sort -rn";
    return fmt::format("{}  {}\n\nTo count causes:\n\n  {}\n\n{}", details_of_lines, to_go_on, to_count,
                       details_of_exit);
}

CommandRunner setup_batch(CommandOptions& declare) {
    auto options = std::make_shared<BatchOptions>();
    declare.number("-j,--jobs", options->jobs, "cores at a time (default: as processors and memory allow)");
    declare.number("--timeout", options->timeout, "seconds for one core; 0 for no limit (default 1800)");
    declare.number("--max-memory", options->max_memory, "bytes that the analysis of one core may take (8G)",
                   std::size_t{64} << 20);
    declare.text("-o,--output", options->output, "FILE", "append each line to FILE as soon as it is there",
                 ValueKind::file);
    declare.texts("--resume", options->resume, "FILE", "skip cores that have a line in FILE");
    declare.text("--shard", options->shard, "I/N", "only the I-th of N parts of the paths");
    declare.flag("--only-cores", options->only_cores, "no line of a file that is no core, as in a folder");
    declare.flag("--brief", options->brief, "without the columns `overview` and `core`");
    declare.choice(
        "--format", {"jsonl", "json"}, [](std::size_t) {},
        "one line of JSON per core; both mean the same here");
    return [options](Session& session) { return run_batch(session, *options); };
}

}  // namespace heapsift
