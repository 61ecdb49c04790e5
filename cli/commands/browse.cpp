// heapsift browse: the lists of a heap on a terminal (cli/browse/browser.h).

#include "cli/commands/browse.h"

#include "analysis/cycles.h"
#include "analysis/memory.h"
#include "analysis/native.h"
#include "analysis/overview_core.h"
#include "cli/address_lookup.h"
#include "cli/browse/browser.h"
#include "cli/browse/kept_keys.h"
#include "cli/browse/screen.h"
#include "cli/browse/terminal.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/cycles.h"
#include "cli/render/memory.h"
#include "cli/render/native.h"
#include "cli/write/spans.h"
#include "cli/write/text.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

/// Of the commands to which some suspects lead.
Document answer_of(Question& question, Place::Command command) {
    const HeapReader& heap = question.filled();
    if (command == Place::Command::cycles) {
        CyclesQuery query;
        query.unreachable = query.uncollectable = true;
        query.kinds = rows_for_people;
        query.garbage_list = 1;
        auto result = std::make_shared<const CyclesResult>(cycles(question.work(), query));
        const CycleCode code = cycle_code(question.work(), *result);
        return render_cycles(
            result, [](const std::function<void(const CycleRow&)>&) {}, code);
    }
    if (command == Place::Command::native) {
        const NativeQuery query{.limit = rows_for_people, .leaked_only = false};
        return render_native(native(heap, query),
                             {.list = {},
                              .row = {},
                              .contents = [&heap, query] { return native_contents(heap, query); },
                              .line = {}},
                             {.leaked_only = false, .blocks = false});
    }
    return render_memory(memory(heap, false, rows_for_people, question.answers()), false);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    }
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

/// "core.views   1.1 GiB in use   CPython 3.11.2   python3 views.py": what may be long comes last.
std::string identity_of(const OverviewResult& found, const OverviewCore& core, const Page& page) {
    return plain(says("{}   {}{} in use{}   {}   {}", core.file_name, at_least(),
                      ByteCount{found.in_use_bytes}, core.extent.cut() ? " (the core is cut)" : "",
                      core.python, ProcessCall{core.process.name, core.process.arguments}),
                 page);
}

/// What long work reports: on the terminal's last line, at most ten times a second, after a moment.
class Watch {
public:
    explicit Watch(ProgressCallback before) : before_(std::move(before)) {}

    /// `early`: asked before there is a terminal to draw on.
    void begin(EarlyKeys& early) { early_ = &early; }
    void begin(Terminal& terminal) {
        early_ = nullptr;
        terminal_ = &terminal;
    }
    void end() {
        early_ = nullptr;
        terminal_ = nullptr;
    }
    void key_was_pressed() { began_ = shown_ = Clock::now(); }

    void report(std::string_view pass, double done) {
        if (!terminal_) {
            if (early_) early_->look();
            if (before_) before_(pass, done);
            return;
        }
        const Clock::time_point now = Clock::now();
        if (now - shown_ < std::chrono::milliseconds(100)) return;
        shown_ = now;
        const std::chrono::duration<double> seconds = now - began_;
        terminal_->show_progress(progress_line(pass, done, seconds.count()));
    }

private:
    using Clock = std::chrono::steady_clock;
    ProgressCallback before_;
    EarlyKeys* early_ = nullptr;
    Terminal* terminal_ = nullptr;
    Clock::time_point began_ = Clock::now(), shown_ = began_;
};

/// Until a person quits.
void browse(Browser& browser, Terminal& terminal, Watch& watch, const std::string& identity) {
    while (!browser.is_done()) {
        terminal.show(drawn(browser, identity, terminal.width(), terminal.height()));
        Key key = terminal.read();
        do {
            watch.key_was_pressed();
            browser.press(key);
            if (std::string text = browser.take_copy(); !text.empty()) terminal.copy(text);
            key = terminal.waiting();
        } while (key.kind != Key::Kind::none && !browser.is_done());
    }
}

/// Reads the core, and browses it. Throws Interrupted if a person quits meanwhile.
void browse_core(Session& session, Watch& watch, EarlyKeys& early) {
    Question question(session, {Need::memory, Need::native, Need::retained, Need::states});
    Page page = session.page();
    page.height = 0;
    HeapLists lists(question.work(), [&](Place::Command command) {
        Page of_list = page;
        of_list.width = terminal_width(STDOUT_FILENO) - 3;  // a cursor stands before each line
        of_list.colour = false;
        return lines_of(written(answer_of(question, command), of_list));
    });
    const HeapReader& heap = question.heap();
    session.note_references(heap);
    // Now, since nobody knows how the terminal will be left.
    session.finish();
    const std::string identity =
        identity_of(lists.overview(), overview_core(heap.core(), heap.snapshot().python), page);
    {
        Browser browser(lists, page, [&](const std::string& typed) {
            return find_object(heap, parse_address(typed), session.redactor()).object;
        });
        early.look();
        early.end();
        Terminal terminal(use_colour(session.options().colour, STDOUT_FILENO), early.take());
        watch.begin(terminal);
        browse(browser, terminal, watch, identity);
        watch.end();
    }
}

ExitCode run_browse(Session& session) {
    if (session.options().format != Format::text)
        throw wrong_usage("not-a-table", "browse is for a person at a terminal; it has no --format",
                          "other commands have: " + command_line("overview --json"));
    require_terminal(command_line("overview") + " says the same in text");
    Watch watch(session.progress());
    session.watch_progress([&watch](std::string_view pass, double done) { watch.report(pass, done); });
    EarlyKeys early;
    watch.begin(early);
    try {
        browse_core(session, watch, early);
    } catch (const Interrupted&) {  // q while it was read
        watch.end();
    }
    session.finish();
    for (const Diagnostic& diagnostic : session.diagnostics().all()) session.console().warning(diagnostic);
    return session.exit_code();
}

}  // namespace

CommandRunner setup_browse(CommandOptions&) { return run_browse; }

}  // namespace heapsift
