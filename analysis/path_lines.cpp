// A link of a list may be one step or two (`.__dict__`, `['next']`), so runs of a few steps are looked for,
// too.

#include "analysis/path_lines.h"

namespace heapsift {
namespace {

constexpr std::size_t shortest_run = 4, longest_period = 4;

bool alike(const PathLine& a, const PathLine& b) {
    return a.kind == b.kind && a.kind != PathLine::Kind::block && a.names == b.names &&
           a.without_dot == b.without_dot && a.type == b.type;
}

/// Lines that repeat: `period` of them, `times` times.
struct Run {
    std::size_t period = 1, times = 1;
    std::size_t size() const { return period * times; }
};

Run run_at(const std::vector<PathLine>& lines, std::size_t first) {
    for (std::size_t period = 1; period <= longest_period; ++period) {
        std::size_t end = first + period;
        while (end < lines.size() && alike(lines[end], lines[end - period])) ++end;
        const Run run{period, (end - first) / period};
        if (run.times >= shortest_run) return run;
    }
    return {};
}

std::size_t steps_of(const PathLine& line) {
    return line.kind == PathLine::Kind::more       ? line.count * line.names.size()
           : line.kind == PathLine::Kind::left_out ? line.count
                                                   : 1;
}

}  // namespace

std::vector<PathLine> folded_lines(const std::vector<PathLine>& lines, std::size_t limit) {
    std::vector<PathLine> folded;
    for (std::size_t i = 0; i < lines.size();) {
        const Run run = run_at(lines, i);
        if (run.times == 1) {
            folded.push_back(lines[i++]);
            continue;
        }
        PathLine more{.kind = PathLine::Kind::more, .count = run.times - 2};
        for (std::size_t step = 0; step < run.period; ++step) {
            folded.push_back(lines[i + step]);
            for (const ReferenceStep& name : lines[i + step].names) more.names.push_back(name);
        }
        folded.push_back(std::move(more));
        i += run.size();
        for (std::size_t step = run.period; step > 0; --step) folded.push_back(lines[i - step]);
    }
    const std::size_t head = (limit + 1) / 2, tail = limit / 2;
    if (limit == 0 || folded.size() <= limit + 1) return folded;
    std::vector<PathLine> kept(folded.begin(), folded.begin() + static_cast<std::ptrdiff_t>(head));
    PathLine left_out{.kind = PathLine::Kind::left_out};
    for (std::size_t i = head; i + tail < folded.size(); ++i) left_out.count += steps_of(folded[i]);
    kept.push_back(std::move(left_out));
    kept.insert(kept.end(), folded.end() - static_cast<std::ptrdiff_t>(tail), folded.end());
    return kept;
}

}  // namespace heapsift
