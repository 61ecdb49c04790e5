#include "cli/report/fleet_tables.h"

#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace heapsift {
namespace {

using FleetAlign = TextColumn::Align;
constexpr std::size_t most_interpreters = 16;  // columns; further ones are one
constexpr std::uint64_t fewest_that_differ = 5, fewest_of_package = 2;

TextColumn fleet_number(const char* heading, bool sorted = false) {
    return {.align = FleetAlign::right, .heading = heading, .sorted = sorted};
}
TextColumn fleet_words(Text heading) { return {.heading = std::move(heading)}; }

/// As a number that is sorted as one; none is hardly seen.
Text count_cell(std::uint64_t count) { return count == 0 ? Text(Count{0}).faint() : Text(Count{count}); }

std::vector<std::pair<std::uint32_t, std::uint64_t>> most_frequent(const FleetCounts& counts) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sorted;
    sorted.reserve(counts.size());
    counts.each([&](std::uint32_t number, std::uint64_t count) { sorted.emplace_back(number, count); });
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return sorted;
}

Block fleet_table(std::vector<TextColumn> columns, std::vector<TableRow> rows, std::size_t most,
                  const char* what) {
    const std::size_t all = rows.size();
    if (rows.size() > most) rows.resize(most);
    TableBlock table{.columns = std::move(columns), .rows = rows_of(std::move(rows))};
    if (all > most)
        table.rest =
            TableRest{.rows = all, .singular = what, .all = CommandLine{"report -n 0 -o fleet.html LINES"}};
    return {std::move(table)};
}

std::string date_of(std::int64_t hour, bool with_year) {
    constexpr std::int64_t hours_a_day = 24;
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(hour / hours_a_day))};
    const auto month = static_cast<unsigned>(date.month()), day = static_cast<unsigned>(date.day());
    return with_year ? fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()), month, day)
                     : fmt::format("{:02}-{:02}", month, day);
}

}  // namespace

std::string day_text(std::int64_t hour, bool with_year) { return date_of(hour, with_year); }
std::string hour_text(std::int64_t hour) { return fmt::format("{} {:02}h", date_of(hour, false), hour % 24); }

FleetTables::FleetTables(const Fleet& fleet, const std::vector<const FleetCause*>& causes, const Page& page)
    : fleet_(fleet), causes_(causes), page_(page) {
    for (const FleetCause* cause : causes)
        programs_.try_emplace(cause->signature.substr(0, cause->signature.find("; ")), programs_.size() + 1);
}

Text FleetTables::signature(const FleetCause& cause) const {
    const std::size_t end = cause.signature.find("; ");
    if (!page_.redact().active() || end == std::string::npos) return cause.signature;
    return fmt::format("‹program #{}›{}", programs_.at(cause.signature.substr(0, end)),
                       cause.signature.substr(end));
}

Text FleetTables::host(std::uint32_t number) const {
    const std::string& name = fleet_.hosts().text(number);
    if (name.empty()) return Text("not known").faint();
    return page_.redact().active() ? Text(fmt::format("‹host #{}›", number + 1)) : Text(name);
}

Text FleetTables::facts(const FleetCause& cause, std::size_t hosts) const {
    Text text;
    if (!cause.hours.empty()) {
        const std::string first = day_text(cause.first_hour), last = day_text(cause.last_hour);
        text += first == last ? says("On {}", first) : says("First on {}, last on {}", first, last);
        text += "; ";
    }
    std::vector<Text> named;
    const auto sorted = most_frequent(cause.hosts);
    for (std::size_t i = 0; i < std::min(hosts, sorted.size()); ++i)
        named.push_back(host(sorted[i].first) + says(" ({})", Count{sorted[i].second}));
    text += says("{}: {}{}", how_many(sorted.size(), "host"), joined(std::move(named), ", "),
                 sorted.size() > hosts ? ", …" : "");
    std::vector<Text> signals;
    for (const auto& [signal, count] : most_frequent(cause.signals))
        signals.push_back(says("{} ({})", fleet_.signals().text(signal), Count{count}));
    if (!signals.empty()) text += says("; ended by {}", joined(std::move(signals), ", "));
    if (cause.measured > 0)
        text += says(
            "; in use {} on average, {} at most",
            ByteCount{static_cast<std::uint64_t>(cause.sum_in_use / static_cast<double>(cause.measured))},
            ByteCount{cause.most_in_use});
    if (cause.in_part > 0) text += says("; {} of cut or damaged cores", Count{cause.in_part});
    return text;
}

Block FleetTables::causes(std::size_t most) const {
    std::vector<TableRow> rows;
    for (const FleetCause* cause : causes_) {
        const bool dated = !cause->hours.empty();
        rows.push_back(
            {.cells = cells_of(Count{cause->cores}, Share{cause->cores, fleet_.analysed(), true},
                               Bar{cause->cores, fleet_.analysed()}, Count{cause->hosts.size()},
                               dated ? Text(day_text(cause->first_hour)) : Text(Nothing{}),
                               dated ? Text(day_text(cause->last_hour)) : Text(Nothing{}),
                               cause->measured > 0 ? Text(ByteCount{cause->most_in_use}) : Text(Nothing{}),
                               cause->kind, signature(*cause))});
    }
    return fleet_table({fleet_number("cores", true), fleet_number("share"), fleet_words({}),
                        fleet_number("hosts"), fleet_number("first"), fleet_number("last"),
                        fleet_number("most in use"), fleet_words("kind"), fleet_words("signature")},
                       std::move(rows), most, "more cause");
}

Block FleetTables::by_time(const std::vector<std::string>& labels,
                           const std::vector<std::vector<std::uint64_t>>& counts) const {
    std::vector<TextColumn> columns{fleet_words("signature"), fleet_number("all", true)};
    for (const std::string& label : labels) columns.push_back({.align = FleetAlign::right, .heading = label});
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        TableRow row{.cells = cells_of(signature(*causes_[i]), Count{causes_[i]->cores})};
        for (const std::uint64_t count : counts[i]) row.cells.push_back(count_cell(count));
        rows.push_back(std::move(row));
    }
    return fleet_table(std::move(columns), std::move(rows), SIZE_MAX, "");
}

Block FleetTables::by_interpreter(std::size_t most) const {
    FleetCounts sums;
    for (const FleetCause* cause : causes_)
        cause->interpreters.each(
            [&](std::uint32_t version, std::uint32_t count) { sums.add(version, count); });
    std::vector<std::uint32_t> shown;
    for (const auto& [version, count] : most_frequent(sums))
        if (shown.size() < most_interpreters) shown.push_back(version);
    std::sort(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
        return fleet_.interpreters().text(a) < fleet_.interpreters().text(b);
    });
    std::vector<TextColumn> columns{fleet_words("signature"), fleet_number("cores", true)};
    for (const std::uint32_t version : shown) {
        const std::string& name = fleet_.interpreters().text(version);
        columns.push_back({.align = FleetAlign::right, .heading = name.empty() ? "not known" : name});
    }
    const bool others = shown.size() < sums.size();
    if (others) columns.push_back(fleet_number("others"));
    std::vector<TableRow> rows;
    for (const FleetCause* cause : causes_) {
        TableRow row{.cells = cells_of(signature(*cause), Count{cause->cores})};
        std::uint64_t rest = cause->cores;
        for (const std::uint32_t version : shown) {
            const std::uint64_t count = cause->interpreters.of(version);
            rest -= std::min(rest, count);
            row.cells.push_back(count_cell(count));
        }
        if (others) row.cells.push_back(count_cell(rest));
        rows.push_back(std::move(row));
    }
    return fleet_table(std::move(columns), std::move(rows), most, "more cause");
}

Block FleetTables::by_package(std::size_t most) const {
    struct Found {
        const FleetCause* cause;
        std::uint32_t version;
        std::uint64_t with, of, elsewhere, of_elsewhere;
        double difference;
    };
    std::vector<Found> found;
    for (const FleetCause* cause : causes_) {
        FleetCounts of_package;
        cause->packages.each([&](std::uint32_t version, std::uint32_t count) {
            of_package.add(fleet_.package_of(version), count);
        });
        cause->packages.each([&](std::uint32_t version, std::uint32_t count) {
            const std::uint32_t package = fleet_.package_of(version);
            const std::uint64_t of = of_package.of(package);
            const std::uint64_t of_elsewhere = fleet_.cores_of_package(package) - of;
            const std::uint64_t elsewhere = fleet_.cores_of_version(version) - count;
            if (count < fewest_of_package || of_elsewhere == 0) return;
            const double here = static_cast<double>(count) / static_cast<double>(of);
            const double there = static_cast<double>(elsewhere) / static_cast<double>(of_elsewhere);
            if (here >= 2 * there && here >= 0.5)
                found.push_back({cause, version, count, of, elsewhere, of_elsewhere, here - there});
        });
    }
    std::sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
        if (a.difference != b.difference) return a.difference > b.difference;
        if (a.with != b.with) return a.with > b.with;
        if (a.cause != b.cause) return a.cause->signature < b.cause->signature;
        return fleet_.packages().text(a.version) < fleet_.packages().text(b.version);
    });
    std::vector<TableRow> rows;
    for (const Found& one : found)
        rows.push_back({.cells = cells_of(Count{one.with}, Share{one.with, one.of, true},
                                          Share{one.elsewhere, one.of_elsewhere, true},
                                          fleet_.packages().text(one.version), signature(*one.cause))});
    return fleet_table({fleet_number("cores"), fleet_number("of this cause", true), fleet_number("of others"),
                        fleet_words("package"), fleet_words("signature")},
                       std::move(rows), most, "more version");
}

Block FleetTables::by_host(std::size_t most) const {
    struct OfHost {
        std::uint64_t cores = 0, causes = 0, first_cores = 0;
        const FleetCause* first = nullptr;
    };
    std::vector<OfHost> hosts(fleet_.hosts().count());
    for (const FleetCause* cause : causes_)
        cause->hosts.each([&](std::uint32_t number, std::uint32_t count) {
            OfHost& of = hosts[number];
            of.cores += count;
            ++of.causes;
            if (count > of.first_cores) {
                of.first_cores = count;
                of.first = cause;
            }
        });
    std::vector<std::pair<std::uint32_t, OfHost>> sorted;
    for (std::uint32_t number = 0; number < hosts.size(); ++number)
        if (hosts[number].cores > 0) sorted.emplace_back(number, hosts[number]);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.cores > b.second.cores; });
    std::vector<TableRow> rows;
    for (const auto& [number, of] : sorted)
        rows.push_back({.cells = cells_of(Count{of.cores}, Bar{of.cores, fleet_.analysed()}, host(number),
                                          Count{of.causes}, Count{of.first_cores}, signature(*of.first))});
    return fleet_table(
        {fleet_number("cores", true), fleet_words({}), fleet_words("host"), fleet_number("causes"),
         fleet_number("of the most frequent"), fleet_words("its most frequent cause")},
        std::move(rows), most, "more host");
}

Block FleetTables::hosts_that_differ(std::size_t most) const {
    std::vector<TableRow> rows;
    for (const FleetCause* cause : causes_) {
        if (cause->cores < fewest_that_differ || fleet_.hosts().count() < 2) continue;
        const auto sorted = most_frequent(cause->hosts);
        const auto& [number, count] = sorted.front();
        if (2 * count <= cause->cores || fleet_.hosts().text(number).empty()) continue;
        rows.push_back({.cells = cells_of(Count{count}, Share{count, cause->cores, true}, host(number),
                                          signature(*cause))});
    }
    return fleet_table({fleet_number("cores", true), fleet_number("of all with it"), fleet_words("host"),
                        fleet_words("signature")},
                       std::move(rows), most, "more cause");
}

Block FleetTables::failures() const {
    std::vector<TableRow> rows;
    for (const auto& [code, failure] : fleet_.failures())
        rows.push_back(
            {.cells = cells_of(Count{failure.cores}, code,
                               failure.path.empty() ? Text(Nothing{}) : Text(FilePath{failure.path}),
                               failure.message.empty() ? Text(Nothing{}) : Text(Message{failure.message}))});
    std::stable_sort(rows.begin(), rows.end(), [](const TableRow& a, const TableRow& b) {
        return std::get<Count>(a.cells[0].spans()[0].content).number >
               std::get<Count>(b.cells[0].spans()[0].content).number;
    });
    return fleet_table({fleet_number("cores", true), fleet_words("code"), fleet_words("an example"),
                        fleet_words("what it says")},
                       std::move(rows), SIZE_MAX, "");
}

}  // namespace heapsift
