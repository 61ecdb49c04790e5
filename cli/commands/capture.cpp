// heapsift capture: the core of a living process. The file is there when it is whole, and the process goes on in every
// case.

#include "cli/commands/capture.h"

#include "cli/capture_watch.h"
#include "cli/command_options.h"
#include "cli/core_room.h"
#include "cli/help.h"
#include "cli/index_place.h"
#include "cli/output_file.h"
#include "cli/render/capture.h"
#include "cli/units.h"
#include "cli/version.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/process/access.h"
#include "parsers/process/memory_groups.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct CaptureChoices {
    std::string output;
    bool overwrite = false;
    bool fork = false;
    bool full = false;
    bool children = false;
    CaptureWatchOptions watch;
};

/// -o of standard output.
constexpr std::string_view to_standard_output = "-";

pid_t process_asked_for(const Session& session) {
    const std::vector<std::string>& words = session.words().paths;
    const std::string example = command_line("capture 1234 -o core.1234");
    if (words.empty()) throw wrong_usage("no-process", "capture needs the id of a process", example);
    if (words.size() > 1)
        throw wrong_usage("unexpected-word",
                          fmt::format("{}: capture takes one process id", shell_quoted(words[1])), example);
    pid_t pid = 0;
    const std::string& word = words.front();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (error != std::errc() || end != word.data() + word.size() || pid <= 0)
        throw wrong_usage("not-a-process", fmt::format("{} is not a process id", shell_quoted(word)),
                          example);
    return pid;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// core.zst of a child: core.NAME.PID.zst
std::string path_for_child(const std::string& path, const std::string& name, pid_t pid) {
    std::string of_file;
    for (const char c : name) {
        const bool usual = std::string_view("-_.+").find(c) != std::string_view::npos ||
                           (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        of_file += usual ? c : '_';
    }
    const std::string_view ending = ending_of(compression_by_ending(path));
    return fmt::format("{}.{}.{}{}", path.substr(0, path.size() - ending.size()), of_file, pid, ending);
}

OutputFile::Rules file_rules(pid_t pid, const std::string& path, bool overwrite) {
    return {.overwrite = overwrite,
            .seekable = true,
            .nameless = true,
            .for_a_pipe = "a core is written at many places at once; into a pipe goes a compressed one: " +
                          command_line(fmt::format("capture {} -o - > {}", pid, shell_quoted(path)))};
}

/// Why a copy by a fork could be the end of it; empty if it could not.
std::string danger_of_fork(pid_t pid) {
    const auto group = MemoryGroups::of(pid).ended_as_one();
    const auto facts = process_facts(pid);
    if (!group || !facts) return {};
    const std::uint64_t room = group->limit - std::min(group->limit, group->used);
    if (room >= facts->anonymous_bytes.value_or(facts->resident_bytes.value_or(0))) return {};
    return fmt::format(
        "{} has room for {} more, and where that does not do all of it is killed "
        "(memory.oom.group)",
        group->folder, binary_size(room));
}

class Capturing {
public:
    Capturing(Session& session, const CaptureChoices& choices) : session_(session), choices_(choices) {}

    /// `still`: the process is to stand until its core is written.
    void take(pid_t pid, const std::string& path, bool still = false) {
        if (path == to_standard_output) {
            take_to_standard_output(pid, still);
            return;
        }
        session_.redactor().know_path(path);
        OutputFile file(path, file_rules(pid, path, choices_.overwrite));
        const CaptureResult result = capture_unless_dangerous(pid,
                                                              {.descriptor = file.descriptor(),
                                                               .name = file.name(),
                                                               .folder = folder_of(path),
                                                               .compression = compression_by_ending(path)},
                                                              still, [&file] { file.commit(); });
        if (!still) file.commit();
        session_.clear_progress();
        tell(result);
        files_.push_back({path, result});
    }

    CaptureOptions options(bool still) {
        CaptureOptions options;
        options.method = still           ? CaptureMethod::still
                         : choices_.fork ? CaptureMethod::fork
                                         : CaptureMethod::copy;
        options.full = choices_.full;
        options.readers = std::min<std::size_t>(session_.options().jobs.value_or(2), 2);
        options.version = version();
        options.progress = session_.progress();
        return options;
    }

    /// Without a fork, where one was asked for and could be the end of the process.
    CaptureResult capture_unless_dangerous(pid_t pid, const CaptureTarget& target, bool still,
                                           std::function<void()> is_whole = nullptr) {
        CaptureOptions how = options(still);
        how.is_whole = std::move(is_whole);
        const std::string danger = how.method == CaptureMethod::fork ? danger_of_fork(pid) : std::string();
        if (!danger.empty()) how.method = CaptureMethod::copy;
        CaptureResult result = capture(pid, target, how);
        if (!danger.empty()) result.no_fork = danger;
        return result;
    }

    /// Compressed by zstd: a plain core has places that are written when its end is known.
    void take_to_standard_output(pid_t pid, bool still) {
        const auto facts = process_facts(pid);
        // What is put by until the headers are known.
        const std::uint64_t put_by = facts ? facts->resident_bytes.value_or(0) / 2 : 0;
        const CoreRoom room =
            room_for_core(put_by, folders_for_cores(index_directory(session_.options().index_dir)));
        const CaptureResult result = capture_unless_dangerous(pid,
                                                              {.descriptor = STDOUT_FILENO,
                                                               .name = "standard output",
                                                               .folder = room.folder,
                                                               .compression = Compression::zstd,
                                                               .in_order = true},
                                                              still);
        session_.clear_progress();
        tell(result);
        files_.push_back({std::string(to_standard_output), result});
        note_written(files_.back());
    }

    void take_children(pid_t parent, const std::string& path) {
        for (const pid_t child : children_of(parent)) {
            try {
                const auto stat = read_stat(ProcessFiles(child).read("stat").value_or(""));
                take(child, path_for_child(path, stat ? stat->name : "process", child));
            } catch (const Error& error) {
                if (error.code() != "process-ended" && error.code() != "no-such-process" &&
                    error.code() != "zombie")
                    throw;
                session_.note("child-ended",
                              fmt::format("child {} ended before it could be captured", child));
            }
        }
    }

    /// Both, and what was written: for a watcher. With --every each core is noted when it is there, since the answer
    /// comes when all is over.
    std::vector<std::string> take_all(pid_t pid, const std::string& path, bool still) {
        files_.clear();
        take(pid, path, still);
        if (choices_.children) take_children(pid, path);
        std::vector<std::string> paths;
        for (const CapturedFile& file : files_) {
            if (!choices_.watch.every.empty()) note_written(file);
            all_.push_back(file);
            paths.push_back(file.path);
        }
        return paths;
    }

    const std::vector<CapturedFile>& files() const { return files_; }
    /// Those that a watcher has kept.
    std::vector<CapturedFile> files_at(const std::vector<std::string>& paths) const {
        std::vector<CapturedFile> kept;
        for (const CapturedFile& file : all_)
            if (std::find(paths.begin(), paths.end(), file.path) != paths.end()) kept.push_back(file);
        return kept;
    }

private:
    void note_written(const CapturedFile& file) {
        const std::string path =
            file.path == to_standard_output ? "standard output" : escape_for_terminal(file.path);
        session_.console().note(fmt::format("{}: {} of process {}, which stood for {}", path,
                                            binary_size(file.result.disk_bytes), file.result.pid,
                                            duration_text(file.result.stood_nanoseconds)));
    }

    void tell(const CaptureResult& result) {
        if (!result.no_fork.empty())
            session_.note("no-fork", fmt::format("{}: no copy by a fork: {}; captured without", result.pid,
                                                 escape_for_terminal(result.no_fork)));
        if (result.not_in_fork_bytes > 0)
            session_.note("not-in-fork", fmt::format("{}: {} that the process keeps out of a fork "
                                                     "(MADV_DONTFORK or MADV_WIPEONFORK) are not in the "
                                                     "core; without --fork they are",
                                                     result.pid, binary_size(result.not_in_fork_bytes)));
        if (result.shared_bytes > 0)
            session_.note(
                "shared-later",
                fmt::format("{}: {} shared with other processes were read after it went on, and may be "
                            "newer than the rest",
                            result.pid, binary_size(result.shared_bytes)));
    }

    Session& session_;
    const CaptureChoices& choices_;
    std::vector<CapturedFile> files_, all_;
};

/// Nothing but the core may go there.
void check_standard_output(const Session& session, const CaptureChoices& choices, pid_t pid) {
    const std::string example = command_line(fmt::format("capture {} -o - > core.zst", pid));
    if (::isatty(STDOUT_FILENO) != 0)
        throw wrong_usage("output-is-terminal", "-o -: a core is not for a terminal", example);
    if (choices.children || !choices.watch.every.empty())
        throw wrong_usage("bad-option",
                          fmt::format("-o -: standard output takes one core, {} makes several",
                                      choices.children ? "--children" : "--every"),
                          "name a file");
    if (session.options().format != Format::text)
        throw wrong_usage("bad-option",
                          "-o -: standard output takes the core, so there is no room for an answer",
                          "without --json or --format: " + example);
}

ExitCode run_capture(Session& session, const CaptureChoices& choices) {
    if (!session.options().core.empty())
        throw wrong_usage("bad-option", "--core: capture makes a core, and reads none",
                          command_line("capture PID -o FILE"));
    const pid_t pid = process_asked_for(session);
    if (choices.output.empty())
        throw wrong_usage("no-output", "capture needs -o FILE",
                          command_line(fmt::format("capture {} -o core.{}", pid, pid)) + ", or core.zst");
    if (choices.output == to_standard_output) check_standard_output(session, choices, pid);
    if (const auto error = why_no_access(access_facts(pid), session.words().typed, MayBeFile::no))
        throw *error;
    Capturing capturing(session, choices);
    if (choices.watch.given()) {
        const auto take = [&](const std::string& path, bool pressed) {
            return capturing.take_all(pid, path, pressed);
        };
        const auto check = [&](const std::string& path) {
            if (path != to_standard_output) OutputFile(path, file_rules(pid, path, choices.overwrite));
        };
        const auto paths =
            watch_and_capture(session.console(), pid, choices.watch, choices.output, take, check);
        if (choices.output == to_standard_output) return ExitCode::answered;
        return session.write(render_capture(
            capturing.files_at(paths), choices.watch.every.empty() ? CapturesTold::no : CapturesTold::each));
    }
    const std::string path = core_name(choices.output, core_name_parts(pid, 1));
    capturing.take(pid, path);
    if (path == to_standard_output) return ExitCode::answered;
    if (choices.children) capturing.take_children(pid, path);
    return session.write(render_capture(capturing.files()));
}

constexpr std::string_view details = R"(How it is done, and what it costs

  Memory is copied while the process runs. Then all its threads are stopped,
  and what has changed since is copied once more: the process stands for some
  tenths of a second per GiB, and nothing is written meanwhile. The core shows
  that moment.
  capture takes 12 bytes of memory per page (3 MiB per GiB) and the pages that
  changed; of these what exceeds a fourth of the free memory goes to a file
  without a name beside FILE. What is written leaves the page cache at once.

  --fork stops the process for tens of milliseconds per GiB: the kernel copies
  it, and the copy is read. Until the core is written, each page that the
  process writes to is copied by the kernel, in the process's own control
  group: a process near its limit may go over it (the copy is killed first; a
  group that is killed as a whole, memory.oom.group, as kubernetes has it, must
  have room for the process once more, else no copy is made).
  A seccomp filter may forbid that call; then only root can do it. Memory
  that is shared with other processes is read afterwards. What the process
  keeps out of a fork (MADV_DONTFORK, MADV_WIPEONFORK) is not in the core.
  Where no copy can be made, it is captured without --fork, and a note says why:
  a seccomp filter, a limit on processes (RLIMIT_NPROC), a frozen control group,
  or a userfaultfd of the process's own that is told of forks: the fork would
  wait for an answer that its stopped threads cannot give.

  The process is as it was in every case: also if capture is killed, if the
  disk fills, if it was stopped (SIGSTOP). It receives no signal (but SIGCHLD,
  if it calls exec while --fork is at work). As under a debugger, a few calls
  that wait with a time limit (epoll_wait, sigtimedwait, recv with SO_RCVTIMEO)
  end early with EINTR; Python 3.5 and later repeat them, C code and Python 2.7
  may not. Debuggers and strace exclude capture: a process has one tracer.
  If capture itself is killed (SIGKILL), nothing stays; only where the file
  system knows no file without a name (NFS) does a hidden file .NAME.XXXXXX
  stay beside FILE: remove it. A process that calls exec while it is copied
  gives no core (exit 1): capture it again.

  What is saved is what the kernel would save (core(5), coredump_filter):
  memory that was used, and the first page of each program file. --full also
  saves program files, shared files, and what the process asked not to dump.
  Memory of memfd_secret nobody can read: it is named, without its bytes. Of a
  file for which a userfaultfd answers, and of huge pages, only pages are saved
  that the process has: to look at others would make them.
  The core also says which pages the process never touched, and however it is
  copied or compressed, its answers stay the same. A core of gcore, and one of
  the kernel that lost its holes, do not say it: `memory` then counts what is
  zeros by who was given it, and may differ by some of these pages.

  FILE is compressed if its name ends in .zst, .lz4, .gz or .xz: .lz4 is the
  fastest, .zst nearly so and much smaller, .xz the smallest and by far the
  slowest. -o - writes it to standard output, compressed by zstd, and nothing
  else: ssh HOST heapsift capture PID -o - > core.zst. Memory that is reserved
  and was never touched takes 32 KiB per GiB in .zst, and no time; 0.2 MiB in
  .xz, 4 MiB in .gz and .lz4, which also take long to read it again.
  FILE may have %p for the process id, %t for the time in seconds since 1970, %n
  for a number, %e for the program, %h for the host; %% is a %.

  --when waits until one of its conditions is met: rss (what the process has in
  memory), growth (by how much that is more than at first) or cgroup (what all
  in its control group have, without cached files), each > a size or, but for
  growth, a percentage of the smallest limit of its control groups, else of the
  machine's memory. It looks twice a second, and more often the nearer it comes.
  A process that grows so fast that it would be killed before its core is
  written stands meanwhile. --every ends with the process, or with --when.
  Where it is allowed (root), capture goes before other programs of a busy
  machine while it waits, and with or without --when while a process stands.

Exit codes: 0 written; 1 no such process, or it has ended, is frozen, or not
permitted, or the disk is full; 2 FILE exists or cannot be created.
)";

}  // namespace

std::string capture_details() { return std::string(details) + "\n" + help_topic("capture"); }

CommandRunner setup_capture(CommandOptions& declare) {
    auto choices = std::make_shared<CaptureChoices>();
    declare.text("-o,--output", choices->output, "FILE",
                 "the core; FILE.zst compresses; - is standard output", CommandOptions::Repeated::refused,
                 ValueKind::file);
    declare.flag("--fork", choices->fork, "read a copy that a fork makes: stops for milliseconds");
    declare.flag("--full", choices->full, "also save program files and what asks not to be dumped");
    declare.flag("--children", choices->children, "also each child process: FILE.NAME.PID");
    declare_capture_watch(declare, choices->watch);
    declare.flag("-f,--force", choices->overwrite, "overwrite FILE if it exists");
    return [choices](Session& session) { return run_capture(session, *choices); };
}

}  // namespace heapsift
