// DataFrames and Series: what each keeps, and what slices keep of those that are gone.

#include "cli/render/pandas_frames.h"

#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

std::string shape_text(const FrameRow& frame) {
    if (!frame.shape_known) return "shape unknown";
    return frame.series ? fmt::format("({},)", frame.rows)
                        : fmt::format("({}, {})", frame.rows, frame.columns);
}

/// Column names are what a program stored: names of variables to some, values to others. They are redacted as
/// keys are.
std::string columns_text(const FrameRow& frame, Redactor& redactor) {
    std::vector<std::string> names;
    for (const std::string& name : frame.column_names)
        names.push_back(
            redactor.active()
                ? redactor.value({ShortValue::Kind::literal, "'" + name + "'", name.size()}, "str")
                : name);
    std::string text = fmt::format("{}", fmt::join(names, ", "));
    if (frame.column_count > names.size())
        text += fmt::format(", … {} more", grouped(frame.column_count - names.size()));
    return escape_for_terminal(text);
}

std::string held_text(const PathExpression& expression, Address address, Redactor& redactor) {
    const std::string text = expression_of(expression, redactor);
    return text.empty() ? hexadecimal(address.value) : escape_for_terminal(text);
}

}  // namespace

Json frame_json(const FrameRow& frame, Redactor& redactor) {
    Json json;
    json["object"] = object_json(frame.object, redactor);
    json["kind"] = frame.series ? "Series" : "DataFrame";
    json["shape"] = nullptr;
    if (frame.shape_known)
        json["shape"] = frame.series ? Json::array({frame.rows}) : Json::array({frame.rows, frame.columns});
    json["columns"] = Json::array();
    for (const std::string& name : frame.column_names)
        json["columns"].push_back(
            redactor.active()
                ? redactor.value({ShortValue::Kind::literal, "'" + name + "'", name.size()}, "str")
                : name);
    json["column_count"] = frame.column_count;
    json["arrays"] = frame.arrays;
    json["nbytes"] = frame.nbytes;
    json["kept_bytes"] = frame.kept_bytes;
    return json;
}

Json dropped_json(const DroppedRow& row, Redactor& redactor) {
    Json json = frame_json(row.frame, redactor);
    json["slices"] = Json::array();
    for (const Address slice : row.slices) json["slices"].push_back(address_json(slice));
    json["kept_by_slices"] = row.kept_by_slices_alone;
    return json;
}

std::string frames_text(const std::vector<FrameRow>& rows, std::uint64_t count, const Page& page) {
    if (rows.empty()) return {};
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table({{Align::right, "shows"},
                 {Align::right, sorted_heading("keeps", true)},
                 {Align::left, "pandas"},
                 {Align::left, "shape"},
                 {Align::left, "held as", Fit::middle},
                 {Align::left, "columns", Fit::end}});
    for (const FrameRow& row : rows)
        table.add({page.bytes(row.nbytes), page.bytes(row.kept_bytes),
                   type_text(short_type_name(row.object.type)), shape_text(row),
                   held_text(row.expression, row.object.address, page.redact()),
                   columns_text(row, page.redact())});
    std::string text = table.text(page.width, page.colour);
    if (count > rows.size())
        text +=
            fmt::format("… {} more DataFrames and Series: --json has all\n", grouped(count - rows.size()));
    return text;
}

std::string dropped_text(const DroppedFrames& dropped, const Page& page) {
    if (dropped.rows.empty()) return {};
    std::string text =
        wrapped(
            fmt::format("{} gone, but slices keep all of {}, {}:",
                        dropped.count == 1 ? "1 DataFrame is" : grouped(dropped.count) + " DataFrames are",
                        dropped.count == 1 ? "it" : "them", page.bytes(dropped.kept_bytes)),
            page.width, 2) +
        "\n";
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table({{Align::right, sorted_heading("keeps", true)},
                 {Align::right, "slices"},
                 {Align::right, "they show"},
                 {Align::left, "shape"},
                 {Align::left, "kept by", Fit::middle},
                 {Align::left, "columns", Fit::end}});
    for (const DroppedRow& row : dropped.rows)
        table.add({page.bytes(row.frame.kept_bytes), grouped(row.slices.size()), page.bytes(row.slices_show),
                   shape_text(row.frame),
                   row.slices.empty() ? std::string()
                                      : held_text(row.expression, row.slices.front(), page.redact()),
                   columns_text(row.frame, page.redact())});
    return text + table.text(page.width, page.colour) + "cure: keep copies, frame[10:20].copy()\n";
}

}  // namespace heapsift
