#include "analysis/pandas_rows.h"

#include "analysis/array_lists.h"
#include "analysis/array_row.h"
#include "analysis/object_paths.h"

#include <algorithm>
#include <numeric>

namespace heapsift {
namespace {

constexpr std::size_t most_frames = 6;

std::uint64_t bytes_shown(const HeapReader& heap, const PandasFrame& frame) {
    std::uint64_t bytes = 0;
    for (const ObjectId array : frame.arrays)
        if (is_array(heap.snapshot(), array)) bytes += array_row(heap, array).nbytes.value_or(0);
    return bytes;
}

PandasFrameRow frame_row(const HeapReader& heap, const PandasFrame& frame, std::uint64_t kept_bytes) {
    PandasFrameRow row;
    row.object = object_row(heap, frame.object);
    row.series = frame.series;
    row.rows = frame.rows;
    row.columns = frame.columns;
    row.shape_known = frame.shape_known;
    row.column_names = frame.column_names;
    row.column_count = frame.column_count;
    row.arrays = frame.arrays.size();
    row.nbytes = bytes_shown(heap, frame);
    row.kept_bytes = kept_bytes;
    return row;
}

/// Indices sorted by what is kept, largest first, cut to the number shown; with `every`, all in their own
/// order.
std::vector<std::size_t> places_shown(const std::vector<std::uint64_t>& kept, bool every) {
    std::vector<std::size_t> places(kept.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (every) return places;
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return kept[a] > kept[b]; });
    places.resize(std::min(places.size(), most_frames));
    return places;
}

}  // namespace

std::vector<PandasFrameRow> frame_rows(const HeapGraph& graph, const ArrayTable& table,
                                       const std::vector<PandasFrame>& frames, bool every) {
    std::vector<std::uint64_t> kept;
    for (const PandasFrame& frame : frames) kept.push_back(kept_by_frame(table, frame));
    std::vector<PandasFrameRow> rows;
    std::vector<ObjectId> objects;
    for (const std::size_t place : places_shown(kept, every)) {
        rows.push_back(frame_row(graph.heap(), frames[place], kept[place]));
        objects.push_back(frames[place].object);
    }
    if (every || rows.empty()) return rows;
    const ExpressionFinder expressions(graph, objects);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (auto found = expressions.of(objects[i])) rows[i].expression = std::move(found->expression);
    return rows;
}

DroppedFrames dropped_rows(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped,
                           bool every) {
    const HeapReader& heap = graph.heap();
    DroppedFrames result;
    std::vector<std::uint64_t> kept;
    for (const DroppedFrame& one : dropped) kept.push_back(kept_by_frame(table, one.frame));
    result.count = dropped.size();
    result.kept_bytes = std::accumulate(kept.begin(), kept.end(), std::uint64_t{0});
    std::vector<ObjectId> firsts;  // slices
    for (const std::size_t place : places_shown(kept, every)) {
        const DroppedFrame& one = dropped[place];
        DroppedRow& row = result.rows.emplace_back();
        row.frame = frame_row(heap, one.frame, kept[place]);
        row.kept_by_slices_alone = one.kept_by_slices_alone;
        for (const std::size_t slice : one.slices) {
            row.slices.push_back(heap.snapshot().address_of(frames[slice].object));
            if (!every) row.slices_show += bytes_shown(heap, frames[slice]);
        }
        firsts.push_back(one.slices.empty() ? no_object : frames[one.slices.front()].object);
    }
    std::vector<ObjectId> wanted = firsts;
    std::erase(wanted, no_object);
    if (every || wanted.empty()) return result;
    const ExpressionFinder expressions(graph, wanted);
    for (std::size_t i = 0; i < result.rows.size(); ++i)
        if (auto found = firsts[i] == no_object ? std::nullopt : expressions.of(firsts[i]))
            result.rows[i].expression = std::move(found->expression);
    return result;
}

}  // namespace heapsift
