// A million zeros can be one zero that is broadcast; counts up to 200 fit in one byte each. Only the values
// show which arrays are like that, so all data that may be wasted is read (for how, and how little of the
// rest, see array_elements.cpp).
//
// A suggestion keeps every value and its kind: integers become shorter integers, float64 becomes float32 if
// each value converts exactly, strings lose the NULs that all of them end with. "Zero" means that all bits
// are zero: -0.0 is a constant. A core does not show whether the program will store larger values later, nor
// whether pages of zeros were ever touched.
//
// An array that owns its data has it in one piece, in C or Fortran order or another order of its axes; if the
// strides say otherwise, nothing is suggested. So the elements are the bytes from `data` on, in some order.
//
// A damaged core may name the same data in any number of arrays. Sizes are checked against what was saved,
// and so is the total read: beyond a few times the size of the core the rest is given up.

#include "analysis/array_waste.h"

#include "analysis/array_elements.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/elf/bytes.h"
#include "parsers/elf/core_file.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_reads = 4;  // of each saved byte, on average
constexpr std::uint64_t page = 4096;
constexpr std::int32_t object_type_num = 17, last_builtin_type_num = 23;
constexpr std::int32_t first_user_type_num = 256, end_of_user_type_nums = 2056;

bool builtin(const DescrFacts& descr) {
    return descr.type_num >= 0 && descr.type_num <= last_builtin_type_num;
}

/// True if the elements themselves contain the values.
bool readable(const DescrFacts& descr) {
    if (descr.has_objects || descr.type_num == object_type_num) return false;
    return builtin(descr) ||
           (descr.type_num >= first_user_type_num && descr.type_num < end_of_user_type_nums);
}

/// True if each byte of [data, data + nbytes) is in exactly one element.
bool dense(const ObjectReader& array, const ArrayFacts& facts) {
    const auto strides = array_strides(array, facts);
    if (!strides) return false;
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < strides->size(); ++i)
        if (facts.shape[i] > 1) axes.push_back(i);
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t a, std::size_t b) { return (*strides)[a] < (*strides)[b]; });
    std::uint64_t next = facts.itemsize;
    for (const std::size_t i : axes) {
        if ((*strides)[i] < 0 || static_cast<std::uint64_t>((*strides)[i]) != next) return false;
        next *= static_cast<std::uint64_t>(facts.shape[i]);
    }
    return true;
}

std::string format_str(ElementFormat format) {
    const char order = format.itemsize == 1 || format.kind == 'S' ? '|' : format.big_endian ? '>' : '<';
    return fmt::format("{}{}{}", order, format.kind,
                       format.kind == 'U' ? format.itemsize / 4 : format.itemsize);
}

class WasteFinder {
public:
    WasteFinder(const HeapReader& heap, std::span<const ObjectId> owners, std::size_t limit,
                const ProgressCallback& progress)
        : heap_(heap), owners_(owners), limit_(limit), progress_(progress) {
        for (const Segment& segment : heap.core().memory().segments())
            if (segment.data) budget_ = saturating_add(budget_, segment.size);
        if (__builtin_mul_overflow(budget_, most_reads, &budget_)) budget_ = ~std::uint64_t{0};
    }

    ArrayWasteResult run() {
        constexpr std::size_t stride = 1 << 12;
        for (at_ = 0; at_ < owners_.size(); ++at_) {
            if (at_ % stride == 0) tell(0);
            look_at(owners_[at_]);
        }
        cut();
        return std::move(result_);
    }

private:
    void tell(double part_of_array) const {
        if (progress_)
            progress_("reading arrays", (static_cast<double>(at_) + std::min(part_of_array, 1.0)) /
                                            static_cast<double>(owners_.size()));
    }

    void spend(std::uint64_t bytes) { budget_ -= std::min(budget_, bytes); }

    void look_at(ObjectId id) {
        const TypeId type = columns().type_of(id);
        const PythonHeap& python = heap_.python_heap();
        if (type == no_type || columns().types[type].kind != &ndarray_kind) return count(result_.not_read);
        const ObjectReader reader(python, columns().address_of(id), columns().types[type]);
        const auto facts = array_facts(reader);
        const auto descr = facts ? descr_facts(python, facts->descr) : std::nullopt;
        if (!descr || !readable(*descr)) return count(result_.not_read);
        if (facts->nbytes < least_saving || facts->nbytes / facts->itemsize < 2)
            return count(result_.looked_at);
        if (!dense(reader, *facts) || budget_ == 0) return count(result_.not_read);
        const auto runs = data_runs(heap_.core().memory(), facts->data, facts->nbytes);
        std::uint64_t saved = 0;
        for (const DataRun& run : runs) saved += run.size;
        if (runs.size() > 1) spend((runs.size() - 1) * page);
        if (saved < facts->nbytes) return count(result_.not_saved);
        count(result_.looked_at);
        read(id, *facts, *descr, runs);
    }

    void read(ObjectId id, const ArrayFacts& facts, const DescrFacts& descr, std::span<const DataRun> runs) {
        std::uint64_t done = 0;
        const ReadProgress reading = [&](std::uint64_t bytes) {
            spend(bytes);
            done += bytes;
            if (bytes >= std::uint64_t{1} << 20)
                tell(static_cast<double>(done) / static_cast<double>(facts.nbytes));
        };
        const std::uint64_t elements = facts.nbytes / facts.itemsize;
        const std::uint64_t equal = equal_elements(runs, facts.itemsize, reading);
        const bool constant = equal == elements;
        ElementFormat format{builtin(descr) ? descr.kind : 'V', facts.itemsize, descr.byteorder == '>'};
        if (format.kind == 'U' && facts.itemsize % 4 != 0) format.kind = 'V';
        ArrayWaste row;
        row.array = id;
        row.nbytes = facts.nbytes;
        row.needed = facts.itemsize;
        row.kind = constant && all_zero(runs, facts.itemsize) ? WasteKind::zero : WasteKind::constant;
        if (row.kind != WasteKind::zero) {
            ElementFit fit = fit_elements(runs, format, equal, reading);
            row.range = std::move(fit.range);
            if (!constant) {
                if (fit.smaller.itemsize >= facts.itemsize) return;
                row.kind = WasteKind::smaller_dtype;
                row.needed = elements * fit.smaller.itemsize;
                row.suggested = format_str(fit.smaller);
            }
        }
        if (row.nbytes - row.needed < least_saving) return;
        row.dtype = descr_str(heap_.python_heap(), descr);
        ++result_.total_rows;
        result_.total_nbytes = saturating_add(result_.total_nbytes, row.nbytes);
        result_.total_needed = saturating_add(result_.total_needed, row.needed);
        result_.rows.push_back(std::move(row));
        // Keeps only a few times `limit` rows at a time.
        if (limit_ > 0 && result_.rows.size() > 1024 && result_.rows.size() / 2 > limit_) cut();
    }

    void cut() {
        auto& rows = result_.rows;
        const auto before = [](const ArrayWaste& a, const ArrayWaste& b) {
            const std::uint64_t of_a = a.nbytes - a.needed, of_b = b.nbytes - b.needed;
            return of_a != of_b ? of_a > of_b : a.array < b.array;  // ids are in address order
        };
        std::sort(rows.begin(), rows.end(), before);
        if (limit_ > 0 && rows.size() > limit_) rows.resize(limit_);
    }

    static void count(std::uint64_t& arrays) { ++arrays; }

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::span<const ObjectId> owners_;
    std::size_t limit_;
    const ProgressCallback& progress_;
    std::uint64_t budget_ = 0;  // bytes that may still be read
    std::size_t at_ = 0;
    ArrayWasteResult result_;
};

}  // namespace

ArrayWasteResult array_waste(const HeapReader& heap, std::span<const ObjectId> owners, std::size_t limit,
                             const ProgressCallback& progress) {
    return WasteFinder(heap, owners, limit, progress).run();
}

}  // namespace heapsift
