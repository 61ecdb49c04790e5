// A path is read from above: the root, then one line for each step, indented a little further.

#include "cli/render/path.h"

#include "cli/render/edges.h"
#include "cli/render/native_end.h"
#include "cli/render/object.h"

namespace heapsift {
namespace {

constexpr std::size_t deepest_indent = 12;
constexpr std::uint16_t widest_value = 60;  // columns; a longer value says no more about who holds whom

/// What a line of a path says about its object.
struct OnPath {
    const ObjectRow& object;
    std::uint64_t retained = 0;
    std::string remark;
};

TableRow object_line(Text name, const OnPath& on_path, std::size_t depth) {
    Value value = typed_value(on_path.object);
    value.widest = widest_value;
    return {.cells = {std::move(name), std::move(value), on_path.object.address, on_path.remark,
                      ByteCount{on_path.retained}},
            .depth = depth};
}

Text line_words(const PathLine& line) {
    std::vector<Text> names;
    for (const ReferenceStep& name : line.names) names.emplace_back(Notation{name, line.without_dot});
    if (line.kind == PathLine::Kind::more)
        return says("× {} more {}", Count{line.count}, joined(std::move(names), ""));
    if (line.kind == PathLine::Kind::left_out)
        return says("… {} more steps; all: add", Count{line.count}) + all_rows;
    return joined(std::move(names), "");
}

TableBlock path_table() {
    TableBlock table;
    table.columns = {left("", TextColumn::Fit::middle), left("", TextColumn::Fit::end), left(""),
                     left("", TextColumn::Fit::end), right("retained")};
    table.columns.front().tree = true;
    table.deepest = deepest_indent;
    return table;
}

/// One row for each line; `at` gives the object of a line.
template <class At>
void add_lines(std::vector<TableRow>& rows, const std::vector<PathLine>& lines, bool asked, const At& at,
               const std::vector<WhyBlock>& blocks = {}) {
    std::size_t depth = 1;
    for (const PathLine& line : lines) {
        if (line.kind == PathLine::Kind::block) {
            const WhyBlock& block = blocks[line.place];
            rows.push_back(
                {.cells = {"", end_words(block.block), block.block.address, "", ByteCount{block.retained}},
                 .depth = depth++});
            continue;
        }
        if (line.kind != PathLine::Kind::object) {
            rows.push_back({.cells = {line_words(line), "", "", "", ""}, .depth = depth++});
            continue;
        }
        OnPath on_path = at(line.place);
        if (asked && &line == &lines.back())
            on_path.remark += on_path.remark.empty() ? "<- this object" : "  <- this object";
        rows.push_back(object_line(line_words(line), on_path, depth++));
    }
}

}  // namespace

Datum steps_data(const std::vector<WhyStep>& steps) {
    return Datum::list_of(steps, [](const WhyStep& step) {
        Datum edge = edge_data(step.edge);
        edge["retained"] = step.retained;
        if (!step.remark.empty()) edge["remark"] = step.remark;
        return edge;
    });
}

Datum path_data(const WhyPath& path) {
    Datum data;
    data["root"] = entries(
        {{"kind", name_of(path.root.kind)}, {"name", path.root_words}, {"address", path.root_address}});
    data["group"] = path.group;
    data["expression"] = expression_of(path.expression);
    Datum steps = Datum::list();
    if (path.first) {
        Datum edge = edge_data(*path.first);
        edge["retained"] = path.root_retained;
        steps.push_back(std::move(edge));
    }
    const Datum below = steps_data(path.steps);
    for (const Datum& step : below.items()) steps.push_back(step);
    data["steps"] = std::move(steps);
    if (!path.blocks.empty())
        data["blocks"] = Datum::list_of(path.blocks, [&](const WhyBlock& block) {
            return entries({{"address", block.block.address},
                            {"bytes", block.block.bytes},
                            {"class", or_null(block.block.words)},
                            {"retained", block.retained},
                            {"left_out_before", block.left_out},
                            {"holds", block.place == 0 ? path.at_root.address
                                                       : path.steps[block.place - 1].edge.target.address}});
        });
    data["disjoint"] = path.disjoint;
    return data;
}

void say_path(const WhyPath& path, Document& document) {
    Text root = path.root_words;
    const bool foreign = path.group_kind && path.group_kind != GroupKind::thread &&
                         path.group_kind != GroupKind::native && path.group_kind != GroupKind::callbacks &&
                         path.root.kind != RootKind::module;
    if (foreign) root += "  (" + path.group + ")";
    document.say(line(std::move(root).bold(), 1));
    TableBlock table = path_table();
    std::vector<TableRow> rows;
    add_lines(
        rows, path.lines, true,
        [&](std::size_t place) -> OnPath {
            if (place == 0) return {path.at_root, path.root_retained, {}};
            const WhyStep& step = path.steps[place - 1];
            return {step.edge.target, step.retained, step.remark};
        },
        path.blocks);
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
}

Block steps_table(const ObjectRow& start, const std::vector<WhyStep>& steps,
                  const std::vector<PathLine>& lines) {
    TableBlock table = path_table();
    std::vector<TableRow> rows{object_line("this", {start, 0, {}}, 0)};
    rows.front().cells.back() = Text();
    add_lines(rows, lines, false, [&](std::size_t place) -> OnPath {
        const WhyStep& step = steps[place - 1];
        return {step.edge.target, step.retained, step.remark};
    });
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

}  // namespace heapsift
