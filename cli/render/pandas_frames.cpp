// DataFrames and Series: what each keeps alive, and what slices keep of those that are gone.

#include "cli/render/pandas_frames.h"

#include "cli/render/object.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string shape_words(const PandasFrameRow& frame) {
    if (!frame.shape_known) return "shape unknown";
    return frame.series ? fmt::format("({},)", frame.rows)
                        : fmt::format("({}, {})", frame.rows, frame.columns);
}

/// Column names are values that the program stored, even where they look like names of variables: they are
/// redacted as keys are.
GivenName column_name(const std::string& name) { return {.name = name, .as_key = true}; }

Text columns_words(const PandasFrameRow& frame) {
    std::vector<Text> names;
    for (const std::string& name : frame.column_names) names.emplace_back(column_name(name));
    Text text = joined(std::move(names), ", ");
    if (const std::uint64_t more = frame.column_count - frame.column_names.size();
        frame.column_count > frame.column_names.size())
        text += says(", … {} more", Count{more});
    return text;
}

Text expression_or_address(const PathExpression& path, Address address) {
    const Expression expression = expression_of(path);
    return expression.empty() ? Text(address) : Text(expression);
}

}  // namespace

Datum frame_data(const PandasFrameRow& frame) {
    Datum shape;
    if (frame.shape_known) {
        shape = Datum::list();
        shape.push_back(frame.rows);
        if (!frame.series) shape.push_back(frame.columns);
    }
    return entries(
        {{"object", object_data(frame.object)},
         {"kind", frame.series ? "Series" : "DataFrame"},
         {"shape", std::move(shape)},
         {"columns", Datum::list_of(frame.column_names,
                                    [](const std::string& name) { return Datum(column_name(name)); })},
         {"column_count", frame.column_count},
         {"arrays", frame.arrays},
         {"nbytes", frame.nbytes},
         {"kept_bytes", frame.kept_bytes}});
}

Datum dropped_data(const DroppedRow& row) {
    Datum data = frame_data(row.frame);
    data["slices"] = Datum::list_of(row.slices, [](Address slice) { return Datum(slice); });
    data["kept_by_slices"] = row.kept_by_slices_alone;
    return data;
}

void say_frames(const std::vector<PandasFrameRow>& frames, std::uint64_t count, Document& document) {
    using Fit = TextColumn::Fit;
    if (frames.empty()) return;
    TableBlock table;
    table.columns = {right("shows"), right("keeps", true),         left("pandas"),
                     left("shape"),  left("held as", Fit::middle), left("columns", Fit::end)};
    std::vector<TableRow> rows;
    for (const PandasFrameRow& row : frames)
        rows.push_back(
            {.cells = {ByteCount{row.nbytes}, ByteCount{row.kept_bytes},
                       TypeName{short_type_name(row.object.type)}, shape_words(row),
                       expression_or_address(row.expression, row.object.address), columns_words(row)}});
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (count > frames.size())
        document.say(
            line(says("… {} more DataFrames and Series: --json has all", Count{count - frames.size()})));
}

void say_dropped(const DroppedFrames& dropped, Document& document) {
    using Fit = TextColumn::Fit;
    if (dropped.rows.empty()) return;
    const bool one = dropped.count == 1;
    document.say(sentence(says("{} that your code dropped {} still in memory, kept by slices ({}):",
                               how_many(dropped.count, "DataFrame"), one ? "is" : "are",
                               ByteCount{dropped.kept_bytes})));
    TableBlock table;
    table.columns = {right("keeps", true),         right("slices"),
                     right("they show"),           left("shape"),
                     left("kept by", Fit::middle), left("columns", Fit::end)};
    std::vector<TableRow> rows;
    for (const DroppedRow& row : dropped.rows)
        rows.push_back(
            {.cells = {
                 ByteCount{row.frame.kept_bytes}, Count{row.slices.size()}, ByteCount{row.slices_show},
                 shape_words(row.frame),
                 row.slices.empty() ? Text() : expression_or_address(row.expression, row.slices.front()),
                 columns_words(row.frame)}});
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    document.say(line("fix: keep copies, not slices: frame[10:20].copy()"));
}

}  // namespace heapsift
