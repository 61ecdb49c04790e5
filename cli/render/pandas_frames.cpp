// DataFrames and Series: what each keeps, and what slices keep of those that are gone.

#include "cli/render/pandas_frames.h"

#include "analysis/array_row.h"
#include "analysis/object_paths.h"
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

constexpr std::size_t most_frames = 6;

std::string shape_text(const PandasFrame& frame) {
    if (!frame.shape_known) return "shape unknown";
    return frame.series ? fmt::format("({},)", frame.rows)
                        : fmt::format("({}, {})", frame.rows, frame.columns);
}

/// Column names are what a program stored: names of variables to some, values to others. They are redacted as
/// keys are.
std::string columns_text(const PandasFrame& frame, Redactor& redactor) {
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

std::uint64_t shown_bytes(const Arrays& arrays, const PandasFrame& frame) {
    const HeapReader& heap = arrays.graph().heap();
    std::uint64_t bytes = 0;
    for (const ObjectId array : frame.arrays)
        if (is_array(heap, array)) bytes += array_row(heap, array).nbytes.value_or(0);
    return bytes;
}

std::string expression_text(const ObjectExpressions& expressions, const HeapReader& heap, ObjectId object,
                            Redactor& redactor) {
    const auto found = expressions.of(object);
    const std::string expression = found ? expression_of(found->expression, redactor) : std::string();
    return expression.empty() ? hexadecimal(heap.address_of(object).value) : escape_for_terminal(expression);
}

}  // namespace

std::string short_type(const std::string& name) { return type_text(name.substr(name.rfind('.') + 1)); }

Json frame_json(const Arrays& arrays, const PandasFrame& frame, Redactor& redactor) {
    Json json;
    json["object"] = object_json(object_row(arrays.graph().heap(), frame.object), redactor);
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
    json["arrays"] = frame.arrays.size();
    json["nbytes"] = shown_bytes(arrays, frame);
    json["kept_bytes"] = kept_by_frame(arrays, frame);
    return json;
}

Json dropped_json(const Arrays& arrays, const DroppedFrame& dropped, const std::vector<PandasFrame>& frames,
                  Redactor& redactor) {
    Json json = frame_json(arrays, dropped.frame, redactor);
    json["slices"] = Json::array();
    for (const std::size_t place : dropped.slices)
        json["slices"].push_back(address_json(arrays.graph().heap().address_of(frames[place].object)));
    json["kept_by_slices"] = dropped.kept_by_slices_alone;
    return json;
}

std::string frames_text(const Arrays& arrays, const std::vector<PandasFrame>& frames, const Page& page) {
    if (frames.empty()) return {};
    const HeapReader& heap = arrays.graph().heap();
    std::vector<std::pair<std::uint64_t, const PandasFrame*>> order;
    for (const PandasFrame& frame : frames) order.emplace_back(kept_by_frame(arrays, frame), &frame);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (order.size() > most_frames) order.resize(most_frames);
    std::vector<ObjectId> objects;
    for (const auto& [bytes, frame] : order) objects.push_back(frame->object);
    const ObjectExpressions expressions(arrays.graph(), objects);
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table({{Align::right, "shows"},
                 {Align::right, sorted_heading("keeps", true)},
                 {Align::left, "pandas"},
                 {Align::left, "shape"},
                 {Align::left, "held as", Fit::middle},
                 {Align::left, "columns", Fit::end}});
    for (const auto& [bytes, frame] : order)
        table.add({page.bytes(shown_bytes(arrays, *frame)), page.bytes(bytes), short_type(frame->type_name),
                   shape_text(*frame), expression_text(expressions, heap, frame->object, page.redact()),
                   columns_text(*frame, page.redact())});
    std::string text = table.text(page.width, page.colour);
    if (frames.size() > order.size())
        text += fmt::format("… {} more DataFrames and Series: --json has all\n",
                            grouped(frames.size() - order.size()));
    return text;
}

std::string dropped_text(const Arrays& arrays, const std::vector<PandasFrame>& frames,
                         const std::vector<DroppedFrame>& dropped, const Page& page) {
    if (dropped.empty()) return {};
    const HeapReader& heap = arrays.graph().heap();
    std::vector<std::pair<std::uint64_t, const DroppedFrame*>> order;
    for (const DroppedFrame& frame : dropped) order.emplace_back(kept_by_frame(arrays, frame.frame), &frame);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::uint64_t total = 0;
    for (const auto& [bytes, frame] : order) total += bytes;
    const std::size_t all = order.size();
    if (order.size() > most_frames) order.resize(most_frames);
    std::vector<ObjectId> objects;
    for (const auto& [bytes, frame] : order)
        if (!frame->slices.empty()) objects.push_back(frames[frame->slices.front()].object);
    const ObjectExpressions expressions(arrays.graph(), objects);
    std::string text = wrapped(fmt::format("{} gone, but slices keep all of {}, {}:",
                                           all == 1 ? "1 DataFrame is" : grouped(all) + " DataFrames are",
                                           all == 1 ? "it" : "them", page.bytes(total)),
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
    for (const auto& [bytes, frame] : order) {
        std::uint64_t shown = 0;
        for (const std::size_t place : frame->slices) shown += shown_bytes(arrays, frames[place]);
        table.add(
            {page.bytes(bytes), grouped(frame->slices.size()), page.bytes(shown), shape_text(frame->frame),
             frame->slices.empty()
                 ? std::string()
                 : expression_text(expressions, heap, frames[frame->slices.front()].object, page.redact()),
             columns_text(frame->frame, page.redact())});
    }
    return text + table.text(page.width, page.colour) + "cure: keep copies, frame[10:20].copy()\n";
}

}  // namespace heapsift
