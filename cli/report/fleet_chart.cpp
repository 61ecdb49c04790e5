#include "cli/report/fleet_chart.h"

#include "cli/units.h"
#include "cli/write/html.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr double chart_width = 1200, chart_height = 220, chart_base = 196, chart_left = 46;
constexpr std::size_t chart_colours = 9;
constexpr std::size_t most_chart_labels = 12;

/// The next of 1, 2, 5, 10, 20, … that is not less.
std::uint64_t round_up_nicely(std::uint64_t count) {
    for (std::uint64_t unit = 1;; unit *= 10)
        for (const std::uint64_t step : {1, 2, 5})
            if (unit * step >= count) return unit * step;
}

}  // namespace

std::string stacked_bars(const std::vector<FleetSeries>& series, const std::vector<std::string>& labels) {
    const std::size_t bars = labels.size();
    std::uint64_t highest = 1;
    for (std::size_t bar = 0; bar < bars; ++bar) {
        std::uint64_t sum = 0;
        for (const FleetSeries& one : series) sum += one.counts[bar];
        highest = std::max(highest, sum);
    }
    const std::uint64_t top = round_up_nicely(highest);
    std::string html = fmt::format(
        R"(<svg class="time" viewBox="0 0 {} {}" role="img"><title>Cores over time, by cause; the table below has the numbers</title>)",
        chart_width, chart_height);
    for (const std::uint64_t part : {top, top / 2}) {
        if (part == 0) continue;
        const double y =
            chart_base - (chart_base - 14) * static_cast<double>(part) / static_cast<double>(top);
        html += fmt::format(
            R"(<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/><text x="{3}" y="{4:.1f}" text-anchor="end">{5}</text>)",
            chart_left, chart_width, y, chart_left - 6, y + 4, grouped(part));
    }
    const double width = (chart_width - chart_left) / static_cast<double>(std::max<std::size_t>(bars, 1));
    for (std::size_t bar = 0; bar < bars; ++bar) {
        double y = chart_base;
        const double x = chart_left + width * static_cast<double>(bar);
        for (std::size_t i = 0; i < series.size(); ++i) {
            const std::uint64_t count = series[i].counts[bar];
            if (count == 0) continue;
            const double height = (chart_base - 14) * static_cast<double>(count) / static_cast<double>(top);
            y -= height;
            html += fmt::format(
                R"(<rect class="c{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {} of {}</title></rect>)",
                std::min(i, chart_colours - 1), x + width * 0.08, y, width * 0.84, height,
                escape_for_html(labels[bar]), grouped(count), escape_for_html(series[i].name));
        }
        if (bar % ((bars + most_chart_labels - 1) / most_chart_labels) == 0)
            html += fmt::format(R"(<text x="{:.1f}" y="{}">{}</text>)", x + width * 0.08, chart_height - 6,
                                escape_for_html(labels[bar]));
    }
    return html + "</svg>\n";
}

std::string series_legend(const std::vector<FleetSeries>& series) {
    std::string html = "<ul class=\"legend\" aria-label=\"Colours\">";
    for (std::size_t i = 0; i < series.size(); ++i)
        html += fmt::format(
            R"(<li><svg class="c{}" viewBox="0 0 9 9" aria-hidden="true"><rect width="9" height="9"/></svg>{}</li>)",
            std::min(i, chart_colours - 1), escape_for_html(series[i].name));
    return html + "</ul>\n";
}

std::string small_bars(const std::vector<std::uint64_t>& counts) {
    const std::uint64_t highest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    if (highest == 0) return {};
    std::string html = fmt::format(
        R"(<svg class="spark" viewBox="0 0 {} 20" preserveAspectRatio="none" aria-hidden="true">)",
        counts.size() * 4);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        const double height =
            std::max(1.0, 20.0 * static_cast<double>(counts[i]) / static_cast<double>(highest));
        html +=
            fmt::format(R"(<rect x="{}" y="{:.1f}" width="3" height="{:.1f}"/>)", i * 4, 20 - height, height);
    }
    return html + "</svg>\n";
}

}  // namespace heapsift
