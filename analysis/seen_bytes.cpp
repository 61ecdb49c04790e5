// An array is a series of runs of adjacent bytes, spaced by the strides of its outer dimensions. Dimensions
// of one element or of stride 0 show nothing new; a negative stride is a positive one from the other end. In
// order of their strides, smallest first, a dimension whose stride is no longer than the run so far makes the
// run longer. The remaining ones are outer dimensions. Their runs are written down one by one, up to a number
// beyond which the extent of the array counts as what it shows, as an upper bound: a column of a table of a
// hundred million rows shows an eighth of it, and a list of its runs would be too long. But a single view
// whose runs do not touch is simply counted; nearly all are like that.

#include "analysis/seen_bytes.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_runs_of_one = 1 << 20;
constexpr std::size_t most_runs = 1 << 21;
constexpr std::uint64_t farthest = std::uint64_t{1} << 62;

struct Dimension {
    std::uint64_t count, stride;
};

struct Runs {
    std::uint64_t begin = 0, length = 0;  // length 0: nothing is shown
    std::uint64_t number = 1;             // how many, including repeated ones
    std::uint64_t extent = 0;             // from the first byte to the end of the last run
    bool apart = true;                    // none overlaps or touches another
    std::vector<Dimension> outer;         // smallest stride first
};

bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
    return !__builtin_mul_overflow(a, b, &product) && product < farthest;
}

Runs runs_of(const ArrayElements& array) {
    Runs runs;
    std::uint64_t begin = array.data;
    std::vector<Dimension> dimensions;
    for (std::size_t i = 0; i < std::min(array.shape.size(), array.strides.size()); ++i) {
        if (array.shape[i] <= 0) return {};
        if (array.shape[i] == 1 || array.strides[i] == 0) continue;
        const auto count = static_cast<std::uint64_t>(array.shape[i]);
        const auto stride = array.strides[i] < 0 ? 0 - static_cast<std::uint64_t>(array.strides[i])
                                                 : static_cast<std::uint64_t>(array.strides[i]);
        std::uint64_t back = 0;
        if (!multiply(count - 1, stride, back)) return {};
        if (array.strides[i] < 0) {
            if (back > begin) return {};
            begin -= back;
        }
        dimensions.push_back({count, stride});
    }
    std::sort(dimensions.begin(), dimensions.end(),
              [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
    std::uint64_t length = array.itemsize;
    std::uint64_t extent = 0;
    for (const Dimension& dimension : dimensions) {
        std::uint64_t reach = 0;
        multiply(dimension.count - 1, dimension.stride, reach);
        if (runs.outer.empty() && dimension.stride <= length) {
            length += reach;
        } else if (!runs.outer.empty() && runs.outer.back().stride == dimension.stride) {
            runs.outer.back().count += dimension.count - 1;
        } else {
            runs.apart = runs.apart && dimension.stride > (runs.outer.empty() ? length : extent);
            runs.outer.push_back(dimension);
        }
        extent = (runs.outer.empty() ? length : std::max(extent, length) + reach);
        if (extent >= farthest) return {};
    }
    for (const Dimension& dimension : runs.outer)
        if (!multiply(runs.number, dimension.count, runs.number)) return {};
    runs.begin = begin;
    runs.length = length;
    runs.extent = std::max(extent, length);
    if (runs.begin + runs.extent < runs.begin) return {};
    return runs;
}

}  // namespace

ByteRange extent_of(const ArrayElements& array) {
    const Runs runs = runs_of(array);
    return {runs.begin, runs.length == 0 ? runs.begin : runs.begin + runs.extent};
}

void SeenBytes::add_run(std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, owner_.begin);
    end = std::min(end, owner_.end);
    if (begin >= end) return;
    if (!runs_.empty() && runs_.back().begin <= begin && begin <= runs_.back().end)
        runs_.back().end = std::max(runs_.back().end, end);
    else
        runs_.push_back({begin, end});
}

void SeenBytes::add(const ArrayElements& array) {
    const Runs runs = runs_of(array);
    if (runs.length == 0) return;
    if (counted_ > 0) {  // it is not alone
        exact_ = false;
        counted_ = 0;
        add_run(of_counted_.begin, of_counted_.end);
    }
    const ByteRange whole{runs.begin, runs.begin + runs.extent};
    if (runs.number == 1) return add_run(whole.begin, whole.end);
    const bool inside = whole.begin >= owner_.begin && whole.end <= owner_.end;
    if (runs.number > most_runs_of_one && runs_.empty() && runs.apart && inside) {
        counted_ = runs.number * runs.length;
        of_counted_ = whole;
        return;
    }
    if (runs.number > most_runs_of_one) {
        exact_ = false;
        return add_run(whole.begin, whole.end);
    }
    std::vector<std::uint64_t> at(runs.outer.size(), 0);
    for (std::uint64_t i = 0; i < runs.number; ++i) {
        std::uint64_t begin = runs.begin;
        for (std::size_t d = 0; d < at.size(); ++d) begin += at[d] * runs.outer[d].stride;
        add_run(begin, begin + runs.length);
        for (std::size_t d = 0; d < at.size() && ++at[d] == runs.outer[d].count; ++d) at[d] = 0;
    }
    if (runs_.size() > most_runs) {
        merge();
        if (runs_.size() <= most_runs) return;
        exact_ = false;
        runs_ = {{runs_.front().begin, runs_.back().end}};
    }
}

void SeenBytes::merge() {
    std::sort(runs_.begin(), runs_.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs_.size(); ++i) {
        if (runs_[i].begin <= runs_[last].end)
            runs_[last].end = std::max(runs_[last].end, runs_[i].end);
        else
            runs_[++last] = runs_[i];
    }
    if (!runs_.empty()) runs_.resize(last + 1);
}

std::uint64_t SeenBytes::count() {
    merge();
    std::uint64_t bytes = counted_;
    for (const ByteRange& run : runs_) bytes += run.size();
    return bytes;
}

}  // namespace heapsift
