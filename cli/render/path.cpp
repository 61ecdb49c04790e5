// A path is read from above: the root, then a line for each step, a little further in. Only what a person
// would write is a line; a run of equal steps (a linked list) is its first, how many more, and its last.

#include "cli/render/path.h"

#include "cli/render/edges.h"
#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t deepest_indent = 12, shortest_run = 4, longest_period = 4;
constexpr std::size_t widest_value = 60;  // of a line; what is longer says no more of who holds whom

struct Line {
    std::string name;
    const ObjectRow* object = nullptr;
    std::uint64_t retained = 0;
    std::string remark;
};

std::vector<std::string> cells(const Line& line, std::size_t depth, const Page& page) {
    const std::string value = shortened_at_the_end(value_text(*line.object, page.redact()), widest_value);
    std::string what = type_text(line.object->type);
    if (!value.empty())
        what = value.starts_with("<" + what) || value.starts_with(what) ? value : what + " " + value;
    std::string remark = escape_for_terminal(line.remark);
    return {std::string(2 * std::min(depth, deepest_indent), ' ') + line.name, what,
            hexadecimal(line.object->address.value), remark, page.bytes(line.retained)};
}

Table path_table() {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    return Table({{Align::left, "", Fit::middle},
                  {Align::left, "", Fit::end},
                  {Align::left, ""},
                  {Align::left, "", Fit::end},
                  {Align::right, "retained"}});
}

bool alike(const Line& a, const Line& b) { return a.name == b.name && a.object->type == b.object->type; }

/// Lines from some place on that repeat: `period` of them, `times` over. A link of a list may be one step, or
/// two (`.__dict__`, `['next']`).
struct Run {
    std::size_t period = 1, times = 1;
    std::size_t size() const { return period * times; }
};

Run run_at(const std::vector<Line>& lines, std::size_t first) {
    for (std::size_t period = 1; period <= longest_period; ++period) {
        std::size_t end = first + period;
        while (end < lines.size() && alike(lines[end], lines[end - period])) ++end;
        const Run run{period, (end - first) / period};
        if (run.times >= shortest_run) return run;
    }
    return {};
}

/// A run is its first link, how many more, and its last. Where still more than `limit` lines are left, the
/// middle goes.
void add_lines(Table& table, const std::vector<Line>& lines, std::size_t limit, const Page& page) {
    struct Row {
        const Line* line;    // or
        std::string folded;  // words in its place
        std::size_t steps;
    };
    std::vector<Row> rows;
    const auto add = [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) rows.push_back({&lines[i], {}, 1});
    };
    for (std::size_t i = 0; i < lines.size();) {
        const Run run = run_at(lines, i);
        if (run.times == 1) {
            add(i++, 1);
            continue;
        }
        add(i, run.period);
        std::string names;
        for (std::size_t step = 0; step < run.period; ++step) names += lines[i + step].name;
        rows.push_back({nullptr, fmt::format("× {} more {}", grouped(run.times - 2), names),
                        run.size() - 2 * run.period});
        i += run.size();
        add(i - run.period, run.period);
    }
    const std::size_t head = (limit + 1) / 2, tail = limit / 2;
    const bool cut = limit != 0 && rows.size() > limit + 1;
    std::size_t depth = 1, left_out = 0;
    const auto in_place = [&](const std::string& words) {
        table.add({std::string(2 * std::min(depth++, deepest_indent), ' ') + words, "", "", "", ""});
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (cut && i >= head && i + tail < rows.size()) {
            left_out += rows[i].steps;
            if (i + tail + 1 == rows.size())
                in_place(fmt::format("… {} more steps; all: add{}", grouped(left_out), all_rows));
        } else if (rows[i].line) {
            table.add(cells(*rows[i].line, depth++, page));
        } else {
            in_place(rows[i].folded);
        }
    }
}

}  // namespace

std::string expression_of(const PathExpression& expression, Redactor& redactor) {
    std::string text = expression.root;
    for (std::size_t i = expression.first; i < expression.steps.size(); ++i)
        text += redactor.reference_name(expression.steps[i].name);
    return text;
}

Json steps_json(const std::vector<WhyStep>& steps, Redactor& redactor) {
    Json json = Json::array();
    for (const WhyStep& step : steps) {
        Json edge = edge_json(step.edge, redactor);
        edge["retained"] = step.retained;
        if (!step.remark.empty()) edge["remark"] = step.remark;
        json.push_back(std::move(edge));
    }
    return json;
}

Json path_json(const WhyPath& path, Redactor& redactor) {
    Json json;
    json["root"] = {{"kind", name_of(path.root.kind)},
                    {"name", path.root_words},
                    {"address", address_json(path.root_address)}};
    json["group"] = path.group;
    json["expression"] = expression_of(path.expression, redactor);
    Json steps = Json::array();
    if (path.first) {
        Json edge = edge_json(*path.first, redactor);
        edge["retained"] = path.root_retained;
        steps.push_back(std::move(edge));
    }
    for (Json& step : steps_json(path.steps, redactor)) steps.push_back(std::move(step));
    json["steps"] = std::move(steps);
    json["disjoint"] = path.disjoint;
    return json;
}

std::string path_text(const WhyPath& path, std::size_t limit, const Page& page) {
    Table table = path_table();
    std::vector<Line> lines;
    const auto row_of = [&](std::size_t object) {
        return object == 0 ? &path.at_root : &path.steps[object - 1].edge.target;
    };
    const bool root_is_shown = path.expression.steps.empty() || path.expression.steps.front().leads_to != 0;
    // A module and a frame are said by the line above; other roots are objects of their own.
    if (root_is_shown && path.root.kind != RootKind::module && path.root.kind != RootKind::frame)
        lines.push_back({"", row_of(0), path.root_retained, ""});
    if (lines.empty() && path.expression.steps.empty())
        lines.push_back({"", row_of(0), path.root_retained, ""});
    for (const PrintedStep& step : path.expression.steps) {
        const std::string name = reference_text(step.name, page.redact());
        const std::size_t at = step.leads_to;
        const bool local = lines.empty() && path.root.kind == RootKind::frame && is_dotted(step.name);
        lines.push_back({local ? name.substr(1) : name, row_of(at),
                         at == 0 ? path.root_retained : path.steps[at - 1].retained,
                         at == 0 ? "" : path.steps[at - 1].remark});
    }
    lines.back().remark = lines.back().remark.empty() ? "<- asked" : lines.back().remark + "  <- asked";
    add_lines(table, lines, limit, page);
    std::string root = escape_for_terminal(path.root_words);
    const bool foreign = path.group_kind && path.group_kind != GroupKind::thread &&
                         path.group_kind != GroupKind::native && path.root.kind != RootKind::module;
    if (foreign) root += "  (" + escape_for_terminal(path.group) + ")";
    return "  " + bold(root, page.colour) + "\n" + table.text(page.width, page.colour);
}

std::string steps_text(const ObjectRow& start, const std::vector<WhyStep>& steps, std::size_t limit,
                       const Page& page) {
    Table table = path_table();
    std::vector<Line> lines;
    for (const WhyStep& step : steps)
        lines.push_back({reference_text(step.edge.reference.step, page.redact()), &step.edge.target,
                         step.retained, step.remark});
    std::vector<std::string> first = cells({"", &start, 0, ""}, 0, page);
    first.back() = "";
    first.front() = "this";
    table.add(first);
    add_lines(table, lines, limit, page);
    return table.text(page.width, page.colour);
}

}  // namespace heapsift
