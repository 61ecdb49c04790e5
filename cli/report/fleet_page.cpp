#include "cli/report/fleet_page.h"

#include "cli/report/fleet_chart.h"
#include "cli/report/fleet_tables.h"
#include "cli/write/html.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace heapsift {
namespace {

constexpr std::size_t causes_in_colour = 8;  // the rest is the ninth colour
constexpr std::size_t causes_in_full = 50;   // with an article each
constexpr std::size_t rows_of_fleet = 500;
constexpr std::size_t hosts_named = 5;
constexpr std::uint16_t longest_in_legend = 60;  // columns
constexpr std::int64_t hours_of_day = 24, hours_of_week = 168, most_bars = 60;

bool is_report(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    std::string start(2048, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(in.gcount()));
    return start.starts_with("<!DOCTYPE html>") && start.find("content=\"heapsift ") != std::string::npos;
}

std::string percent_encoded(std::string_view path) {
    std::string text;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("/._-~").find(c) != std::string_view::npos;
        text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return text;
}

class FleetWriter {
public:
    FleetWriter(const Fleet& fleet, const FleetPageWishes& wishes, const Page& page)
        : fleet_(fleet),
          wishes_(wishes),
          page_(page),
          causes_(fleet.causes()),
          tables_(fleet, causes_, page) {
        find_bars();
    }

    ReportPage write(const Diagnostics& notes) {
        ReportPage made;
        add_head(made, notes);
        made.sections.push_back(causes_section());
        made.sections.push_back(time_section());
        made.sections.push_back(versions_section());
        made.sections.push_back(hosts_section());
        if (!causes_.empty()) made.sections.push_back(examples_section());
        made.sections.push_back(failures_section());
        return made;
    }

private:
    std::size_t rows(std::size_t usual) const {
        const std::size_t most = wishes_.rows.value_or(usual);
        return most == 0 ? SIZE_MAX : most;
    }

    void find_bars() {
        for (const FleetCause* cause : causes_) {
            if (cause->hours.empty()) continue;
            const std::int64_t begin = cause->first_hour, end = cause->last_hour;
            first_ = any_dated_ ? std::min(first_, begin) : begin;
            last_ = any_dated_ ? std::max(last_, end) : end;
            any_dated_ = true;
        }
        if (!any_dated_) return;
        bar_ = hours_of_bar(first_, last_);
        begin_ = first_ / bar_ * bar_;
        const bool several_years = day_text(begin_).substr(0, 4) != day_text(last_).substr(0, 4);
        for (std::int64_t at = begin_; at <= last_; at += bar_)
            labels_.push_back(bar_ < hours_of_day ? hour_text(at) : day_text(at, several_years));
    }

    std::vector<std::uint64_t> bars_of(const FleetCause& cause) const {
        std::vector<std::uint64_t> bars(labels_.size());
        cause.hours.each([&](std::int64_t hour, std::uint32_t count) {
            bars[static_cast<std::size_t>((hour - begin_) / bar_)] += count;
        });
        return bars;
    }

    void add_head(ReportPage& made, const Diagnostics& notes) const {
        const Text cores = how_many(fleet_.cores(), "core"), causes = how_many(causes_.size(), "cause");
        made.title = plain(says("{}, {}", cores, causes), page_);
        Text period;
        if (any_dated_)
            period = day_text(first_) == day_text(last_)
                         ? says(", of {}", day_text(first_))
                         : says(", from {} to {}", day_text(first_), day_text(last_));
        std::string head =
            "<h1>A fleet of cores</h1>\n<p class=\"who\">" +
            html_of(says("{} on {}{}", cores, how_many(fleet_.known_hosts(), "host"), period), page_) +
            "</p>\n<p>" +
            html_of(says("{} analysed, {} of them in part; {} not", Count{fleet_.analysed()},
                         Count{fleet_.in_part()}, Count{fleet_.failed()}),
                    page_) +
            "</p>\n";
        made.head.push_back(std::move(head));
        if (!causes_.empty() && !causes_.front()->is_rest()) {
            const FleetCause& first = *causes_.front();
            made.head.push_back("<p class=\"headline\">" +
                                html_of(says("{} of {} have one cause: {}", Count{first.cores}, cores,
                                             tables_.signature(first)),
                                        page_) +
                                "</p>\n");
        }
        if (const std::vector<const FleetCause*> fresh = new_causes(); !fresh.empty()) {
            std::vector<Text> names;
            for (std::size_t i = 0; i < std::min<std::size_t>(fresh.size(), 3); ++i)
                names.push_back(tables_.signature(*fresh[i]));
            if (fresh.size() > names.size())
                names.push_back(says("and {} more", Count{fresh.size() - names.size()}));
            made.head.push_back(
                "<p>" +
                html_of(says("New in the last seven days: {}", joined(std::move(names), "  ·  ")), page_) +
                "</p>\n");
        }
        if (std::string list = report_notes(notes, page_); !list.empty())
            made.head.push_back(std::move(list));
    }

    /// Where there is something older.
    std::vector<const FleetCause*> new_causes() const {
        std::vector<const FleetCause*> fresh;
        if (!any_dated_ || last_ - first_ <= hours_of_week) return fresh;
        for (const FleetCause* cause : causes_)
            if (!cause->hours.empty() && cause->first_hour > last_ - hours_of_week) fresh.push_back(cause);
        return fresh;
    }

    std::string part(Block block, std::string_view caption) const {
        return report_part({std::move(block)}, page_, caption);
    }

    ReportSection causes_section() const {
        ReportSection made{
            "causes", "Causes", "",
            "Cores with one signature have one cause: the program, the kind, and who holds what. “heapsift "
            "help fleet” has more questions to the same lines."};
        if (causes_.empty()) made.parts.push_back("<p>No core was analysed.</p>\n");
        made.parts.push_back(part(tables_.causes(rows(rows_of_fleet)), "Causes"));
        return made;
    }

    ReportSection examples_section() const {
        ReportSection made{
            "examples", "One of each", "",
            "What each cause is, what to change, and the core to ask further: one that was answered in "
            "full before others, then the largest."};
        const std::size_t most = std::min(rows(causes_in_full), causes_.size());
        for (std::size_t i = 0; i < most; ++i) made.parts.push_back(article(*causes_[i], i + 1));
        if (most < causes_.size())
            made.parts.push_back("<p class=\"rest\">" +
                                 html_of(says("The {} most frequent of {}. All: {}", Count{most},
                                              how_many(causes_.size(), "cause"),
                                              CommandLine{"report -n 0 -o fleet.html LINES"}),
                                         page_) +
                                 "</p>\n");
        return made;
    }

    std::string article(const FleetCause& cause, std::size_t number) const {
        std::string html = "<article class=\"suspect\">\n";
        html += report_heading(says("{}. {}  ", std::to_string(number), how_many(cause.cores, "core")) +
                                   tables_.signature(cause),
                               page_);
        const FleetExample& example = cause.example;
        const bool redacted = page_.redact().active();
        if (!example.cause.empty()) html += "<p>" + html_of(Message{example.cause}, page_) + "</p>\n";
        if (!example.headline.empty() && !redacted)
            html += "<p>" + html_of(says("In the example: {}", example.headline), page_) + "</p>\n";
        if (!example.fix.empty())
            html += "<p class=\"fix\">" + html_of(Message{example.fix}, page_) + "</p>\n";
        if (cause.hours.size() > 1) html += small_bars(bars_of(cause));
        html += "<p>" + html_of(tables_.facts(cause, hosts_named), page_) + "</p>\n";
        return html + example_html(cause) + "</article>\n";
    }

    /// The report of an example, or how it is made.
    std::string example_html(const FleetCause& cause) const {
        const FleetExample& example = cause.example;
        if (example.path.empty()) return {};
        const std::string shown_path =
            escape_for_html(escape_for_terminal(page_.redact().path(example.path)));
        std::string html = "<p class=\"next\">example: <code>" + shown_path + "</code>";
        const std::string lines =
            example.file < wishes_.files.size() ? wishes_.files[example.file] : std::string();
        if (const std::string link = link_to(report_beside(example.path, lines)); !link.empty())
            return html + " — <a href=\"" + escape_for_html(link) + "\">its report</a></p>\n";
        if (example.path == "-" || example.path.find("://") != std::string::npos) return html + "</p>\n";
        const std::string core = page_.redact().path(example.path);
        return html + "<br><code>" +
               escape_for_html(
                   page_.command("report -o " + shell_quoted(core + ".html") + " " + shell_quoted(core))) +
               "</code></p>\n";
    }

    /// From the page's folder, so that both can be moved together. Under --redact only to what lies in that folder.
    std::string link_to(const std::string& report) const {
        if (report.empty()) return {};
        std::error_code error;
        const std::filesystem::path there = std::filesystem::absolute(report, error).lexically_normal();
        const std::filesystem::path here =
            std::filesystem::absolute(wishes_.output, error).lexically_normal().parent_path();
        if (error) return {};
        const std::string link = there.lexically_relative(here).string();
        if (link.empty() || (page_.redact().active() && link.find('/') != std::string::npos)) return {};
        return "./" + percent_encoded(link);
    }

    ReportSection time_section() const {
        ReportSection made{"time", "Over time", "",
                           "When cores were taken (UTC), by cause. A time that is not known is that of the "
                           "process's start."};
        if (!any_dated_) {
            made.parts.push_back("<p>No line has a time.</p>\n");
            return made;
        }
        std::vector<FleetSeries> series;
        for (std::size_t i = 0; i < causes_.size(); ++i) {
            const std::vector<std::uint64_t> bars = bars_of(*causes_[i]);
            if (i < causes_in_colour) {
                series.push_back(
                    {plain(Text(tables_.signature(*causes_[i])).at_most(longest_in_legend), page_), bars});
                continue;
            }
            if (i == causes_in_colour)
                series.push_back({"all others", std::vector<std::uint64_t>(bars.size())});
            for (std::size_t bar = 0; bar < bars.size(); ++bar) series.back().counts[bar] += bars[bar];
        }
        made.parts.push_back(series_legend(series) + "<figure>" + stacked_bars(series, labels_) +
                             "</figure>\n");
        std::vector<std::vector<std::uint64_t>> counts;
        for (std::size_t i = 0; i < std::min(causes_.size(), rows(causes_in_full)); ++i)
            counts.push_back(bars_of(*causes_[i]));
        made.parts.push_back(part(tables_.by_time(labels_, counts), "Cores of each cause over time"));
        if (fleet_.undated() > 0)
            made.parts.push_back(
                "<p>" +
                html_of(says("{} of no known time: not shown here", how_many(fleet_.undated(), "core")),
                        page_) +
                "</p>\n");
        return made;
    }

    ReportSection versions_section() const {
        ReportSection made{"versions", "Versions", "",
                           "Of the interpreter: a cause that comes with one version alone may be its. Of "
                           "packages: the versions "
                           "that a cause has far more often than other cores have them."};
        made.parts.push_back(
            part(tables_.by_interpreter(rows(causes_in_full)), "Cores of each cause by interpreter"));
        made.parts.push_back(report_heading("Versions of packages that go with a cause", page_));
        const std::string packages =
            part(tables_.by_package(rows(rows_of_fleet / 2)), "Versions of packages that go with a cause");
        made.parts.push_back(packages.empty()
                                 ? "<p>No package has two versions, of which a cause prefers one.</p>\n"
                                 : packages);
        return made;
    }

    ReportSection hosts_section() const {
        ReportSection made{"hosts", "Hosts", "",
                           "What each host left, and where one differs from the others."};
        made.parts.push_back(part(tables_.by_host(rows(rows_of_fleet)), "Hosts"));
        const std::string differ =
            part(tables_.hosts_that_differ(rows(rows_of_fleet / 5)), "Hosts that differ");
        if (!differ.empty())
            made.parts.push_back(report_heading("A cause that one host has most of", page_) + differ);
        return made;
    }

    ReportSection failures_section() const {
        ReportSection made{"failures", "Not analysed", "",
                           "Cores without an answer, by code, and those answered in part."};
        if (fleet_.failures().empty()) made.parts.push_back("<p>All cores were analysed.</p>\n");
        for (const auto& [code, failure] : fleet_.failures()) page_.redact().know_path(failure.path);
        made.parts.push_back(part(tables_.failures(), "Cores that were not analysed"));
        made.parts.push_back(
            "<p>" +
            html_of(
                says(
                    "{} answered in part: cut or damaged cores, of which sums are less than the process had.",
                    fleet_.in_part() == 1 ? "1 core was" : fmt::format("{} cores were", fleet_.in_part())),
                page_) +
            "</p>\n<p>" +
            html_of(
                says("From {} of {}{}.", how_many(fleet_.lines(), "line"), how_many(fleet_.files(), "file"),
                     fleet_.repeated() == 0
                         ? Text()
                         : says("; {} told of a core again, which counts once", Count{fleet_.repeated()})),
                page_) +
            "</p>\n");
        return made;
    }

    const Fleet& fleet_;
    const FleetPageWishes& wishes_;
    const Page& page_;
    std::vector<const FleetCause*> causes_;
    FleetTables tables_;
    bool any_dated_ = false;
    std::int64_t first_ = 0, last_ = 0, begin_ = 0, bar_ = hours_of_day;
    std::vector<std::string> labels_;
};

}  // namespace

std::int64_t hours_of_bar(std::int64_t first, std::int64_t last) {
    const std::int64_t hours = last - first + 1;
    if (hours <= 2 * hours_of_day) return 1;
    for (const std::int64_t bar : {hours_of_day, hours_of_week})
        if (hours / bar + 2 <= most_bars) return bar;
    return ((hours / hours_of_week + 2) / most_bars + 1) * hours_of_week;
}

std::string report_beside(const std::string& core, const std::string& lines) {
    if (core.empty() || core == "-" || core.find("://") != std::string::npos) return {};
    std::vector<std::string> places{core};
    if (core.front() != '/')
        if (const std::size_t slash = lines.rfind('/'); slash != std::string::npos)
            places.push_back(lines.substr(0, slash + 1) + core);
    for (const std::string& place : places) {
        if (is_report(place + ".html")) return place + ".html";
        for (const std::string_view ending : {".zst", ".gz", ".xz", ".lz4"})
            if (place.ends_with(ending))
                if (const std::string path = place.substr(0, place.size() - ending.size()) + ".html";
                    is_report(path))
                    return path;
    }
    return {};
}

ReportPage fleet_page(const Fleet& fleet, const FleetPageWishes& wishes, const Diagnostics& notes,
                      const Page& page) {
    return FleetWriter(fleet, wishes, page).write(notes);
}

}  // namespace heapsift
