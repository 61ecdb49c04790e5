// heapsift report: one page to look at and to send. (What is on it: cli/report/report.h, and for files of lines
// cli/report/fleet_page.h.)

#include "cli/commands/report.h"

#include "analysis/growth/growth.h"
#include "cli/command_options.h"
#include "cli/core_times.h"
#include "cli/exported_inventory.h"
#include "cli/output_file.h"
#include "cli/question.h"
#include "cli/report/fleet_page.h"
#include "cli/report/lines_source.h"
#include "cli/report/read_fleet.h"
#include "cli/report/report.h"
#include "parsers/base/paths.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace heapsift {
namespace {

struct ReportOptions {
    std::string output;
    bool overwrite = false;
};

/// The older core's inventory. Its objects are told from those that the newer one has, where both are one process's.
struct Older {
    Inventory inventory;
    EarlierObjects objects;
    std::optional<CoreTimes> times;  // of no export
};

Older read_older(Session& session, const std::string& path) {
    Older older;
    if (is_export(path)) {
        older.inventory = read_inventory(path);
        return older;
    }
    CommonOptions options = session.options();
    options.core = path;
    options.search.executable.clear();
    Words words;
    words.command = "report";
    words.typed = session.words().typed;
    Session one(options, words, session.console(), session.redactor(), session.program_run(), nullptr);
    one.leave_core_in_use();
    {
        Question question(one, {Need::retained, Need::memory, Need::native});
        question.filled();
        older.inventory = take_inventory(question.work(), whole_identity(question.heap()));
        older.objects.cores.push_back(object_marks(question.heap(), session.progress()));
        older.times = core_times(question.heap(), path);
        one.note_references(question.heap());
        one.finish();
    }
    session.include(one, path);
    return older;
}

/// `newer`: what the core of the question is called.
GrowthResult growth_since(Older older, Question& question, const std::string& newer_name) {
    CoreIdentity identity = whole_identity(question.heap());
    identity.file = newer_name;
    const bool compared = !older.objects.cores.empty() && may_be_same_process(older.inventory, identity);
    Inventory newer =
        take_inventory(question.work(), std::move(identity), compared ? &older.objects : nullptr);
    newer.compared = compared;
    if (compared) {
        const std::uint64_t earlier = older.objects.cores.back().size();
        newer.gone = earlier - std::min(earlier, newer.kept);
    }
    std::vector<Inventory> both;
    both.push_back(std::move(older.inventory));
    both.push_back(std::move(newer));
    return growth(both);
}

Document report_summary(const ReportPage& page, const std::string& path) {
    struct stat facts {};
    const std::uint64_t bytes =
        ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
    Document document{.command = "report"};
    document.data["path"] = FilePath{path};
    document.data["bytes"] = bytes;
    document.data["sections"] =
        Datum::list_of(page.sections, [](const ReportSection& section) { return Datum(section.id); });
    document.say(line(says("{}: {}, {}. Open it in a browser; it needs no network and can be sent as it is.",
                           FilePath{path}, how_many(page.sections.size(), "section"), ByteCount{bytes})));
    return document;
}

/// The files of lines that the words name; none if they name cores. Throws `Error` if they name both.
std::vector<std::string> files_of_lines(Session& session) {
    const Words& words = session.words();
    std::vector<std::string> files;
    if (words.older) files.push_back(*words.older);
    if (words.core) files.push_back(*words.core);
    files.insert(files.end(), words.paths.begin(), words.paths.end());
    std::vector<std::string> others;
    for (const std::string& path : files)
        if (struct stat facts{};
            !holds_batch_lines(path) && (::stat(path.c_str(), &facts) != 0 || facts.st_size > 0))
            others.push_back(path);
    if (others.size() == files.size() || words.process) {
        if (!words.paths.empty()) throw third_core(words.paths.front(), "report");
        return {};
    }
    if (!others.empty())
        throw wrong_usage("not-lines",
                          fmt::format("{} has no lines of a batch", escape_for_terminal(others.front())),
                          "a page is about one core, about two, or about files of lines");
    if (std::none_of(files.begin(), files.end(), holds_batch_lines)) return {};  // all are empty
    return files;
}

ExitCode report_lines(Session& session, const ReportOptions& options, const std::vector<std::string>& files) {
    for (const std::string& path : files) {
        session.redactor().know_path(path);
        std::error_code error;
        if (std::filesystem::equivalent(path, options.output, error))
            throw wrong_usage("output-is-input",
                              escape_for_terminal(options.output) + " has the lines themselves",
                              "name another file");
    }
    OutputFile file(options.output, {.overwrite = options.overwrite});
    const Fleet fleet = read_fleet(files, session.progress());
    session.clear_progress();
    if (fleet.lines() == 0)
        throw cannot_analyse(
            "no-lines",
            fmt::format("{}: none of its lines is of a batch", escape_for_terminal(files.front())),
            command_line("batch /var/crash -o lines.jsonl") + " writes such lines");
    note_skipped_lines(fleet.skipped(), session.diagnostics());
    const Page shown = session.page_of_file();
    const ReportPage page =
        fleet_page(fleet, {.rows = session.options().limit, .output = options.output, .files = files},
                   session.diagnostics(), shown);
    write_report(page, shown, [&](std::string_view text) { file.write(text); });
    file.commit();
    Document document = report_summary(page, options.output);
    document.data["cores"] = fleet.cores();
    document.data["analysed"] = fleet.analysed();
    document.data["in_part"] = fleet.in_part();
    document.data["failed"] = fleet.failed();
    document.data["causes"] = fleet.causes().size();
    document.data["hosts"] = fleet.hosts().count();
    document.data["lines"] = entries(
        {{"read", fleet.lines()}, {"repeated", fleet.repeated()}, {"skipped", fleet.skipped().lines()}});
    return session.write(document);
}

void check_output(const ReportOptions& options) {
    if (options.output.empty())
        throw wrong_usage("no-output", "report needs -o FILE", command_line("report -o heap.html"));
    if (options.output == "-")
        throw wrong_usage("not-a-file", "report: a page is not written to standard output",
                          "name a file: -o heap.html");
}

ExitCode run_report(Session& session, const ReportOptions& options) {
    session.refuse_csv("report", "use --json");
    check_output(options);
    if (const std::vector<std::string> files = files_of_lines(session); !files.empty())
        return report_lines(session, options, files);
    const std::optional<std::string> older_path = session.words().older;
    if (older_path) session.redactor().know_path(*older_path);
    OutputFile file(options.output,
                    {.overwrite = options.overwrite, .protected_path = session.choice().path});
    std::optional<Older> older;
    if (older_path) older = read_older(session, *older_path);
    const auto question = std::make_shared<Question>(session, needs_of_report());
    ReportWishes wishes;
    wishes.rows = session.options().limit;
    question->filled();
    if (older) {
        const std::string newer = session.words().process ? std::to_string(*session.words().process)
                                                          : session.redactor().path(session.choice().path);
        std::tie(wishes.older, wishes.newer) = names_apart(session.redactor().path(*older_path), newer);
        if (wishes.older == wishes.newer) wishes.older += " (older)";
        if (older->times)
            if (const auto doubt =
                    doubt_of_order(*older->times, core_times(question->heap(), session.words().process
                                                                                   ? std::string()
                                                                                   : session.choice().path)))
                session.diagnostics().add("cores-swapped", *doubt);
        older->inventory.file = wishes.older;
        wishes.growth = growth_since(std::move(*older), *question, wishes.newer);
        older.reset();
    }
    const Page shown = page_of_report(session, wishes);
    const ReportPage page = report(session, question, std::move(wishes));
    write_report(page, shown, [&](std::string_view text) { file.write(text); });
    file.commit();
    return session.write(report_summary(page, options.output));
}

constexpr const char* details_of_report =
    R"(FILE is one HTML page without anything else: it loads nothing and sends nothing,
and can be opened in any browser, printed, and read without its script. It has
what fills the memory, the likely causes with their fixes and paths, a treemap
and an icicle of what retains what, the types, holders, threads, tasks, garbage,
arrays, blocks of C code, and what the core lacks. With two cores also what grew
from the older to the newer one; an export (.db) may stand for the older:
)";

constexpr const char* details_of_lines_page =
    R"(
Of many cores, from files of lines that `batch` wrote (also compressed; whatever
their names: a file is told by its content): causes, by signature, over time, by
version of the interpreter and of packages, and by host, with an example each,
its report linked where one lies beside it, as core.1.html beside core.1:
)";

constexpr const char* details_of_page =
    R"(
A core of which several lines tell counts once, the first time. Lines are not
kept: what is, is a number for each cause, hour, host and version, and 16 bytes
a core. Lines that are none of a batch are skipped, counted, and exit is 3.

-n N rows in each table (0: all), in place of up to 1000. The page has values
that the program stored, its arguments and paths; --redact leaves them out.

FILE appears when it is complete, readable by you alone; after Ctrl-C or an
error there is none. Exit codes: 0 written; 3 written, but the core is cut or
damaged; 2 FILE exists or cannot be created; 1 the core cannot be analysed.
)";

}  // namespace

std::string report_details() {
    return details_of_report + std::string("  ") + command_line("report -o grown.html old.db core.2") + "\n" +
           details_of_lines_page + "  " + command_line("report -o fleet.html lines.jsonl more.jsonl.zst") +
           "\n" + details_of_page;
}

CommandRunner setup_report(CommandOptions& declare) {
    auto options = std::make_shared<ReportOptions>();
    declare.text("-o,--output", options->output, "FILE", "the page", CommandOptions::Repeated::refused,
                 ValueKind::file);
    declare.flag("-f,--force", options->overwrite, "overwrite FILE if it exists");
    return [options](Session& session) { return run_report(session, *options); };
}

}  // namespace heapsift
