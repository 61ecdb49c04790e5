#include "parsers/snapshot/array_items.h"
#include "parsers/cpython/build/quirks.h"

// The items of array.array objects whose descriptors were not saved.
//
// An array points at a descriptor with its typecode and item size: a row of a static table of the array
// module. If that table needs no relocation (a static, non-PIE python), it lies in read-only data, which the
// kernel leaves out of a core. But the rows are in a known order, 48 bytes apart, and each array's buffer was
// allocated for `allocated` items. So every place where the table could begin is tried. A place is possible
// if no buffer is too small for its items; the true place is the one where most buffers are exactly as large
// as the allocator would have made them. If several places fit equally well, only what they agree on is
// certain.
//
// Source: `descriptors` and array_resize in Modules/arraymodule.c, 3.9 to 3.13.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace heapsift {

namespace {

constexpr std::size_t most_samples = 100'000;  // arrays looked at: more would tell nothing new

struct Sample {
    std::uint32_t descriptor;  // index
    std::uint64_t allocated;   // items
    std::uint64_t usable;      // bytes of the buffer's block
    bool pymalloc;
};

/// Bytes per item of 'b', 'B', 'u', 'w', 'h', … on x86-64 Linux (wchar_t and Py_UCS4 have four).
std::uint8_t item_size(char typecode) {
    switch (typecode) {
        case 'b':
        case 'B':
            return 1;
        case 'h':
        case 'H':
            return 2;
        case 'u':
        case 'w':
        case 'i':
        case 'I':
        case 'f':
            return 4;
        default:
            return 8;
    }
}

class Learner {
public:
    Learner(const FoundObjects& objects, const ObjectAccess& access)
        : objects_(objects), access_(access), heap_(access.heap()) {}

    std::vector<ArrayItems> learn() {
        collect();
        std::sort(descriptors_.begin(), descriptors_.end());
        descriptors_.erase(std::unique(descriptors_.begin(), descriptors_.end()), descriptors_.end());
        if (descriptors_.empty()) return {};
        sample();
        const std::string_view order = array_typecodes(heap_.layout());
        std::vector<std::string> best;
        std::uint64_t best_fits = 0;
        for (std::size_t first = 0; first < order.size(); ++first) {
            const auto codes = codes_from(order, first);
            const auto fits = codes ? fitting(*codes) : std::nullopt;
            if (!fits || (!best.empty() && *fits < best_fits)) continue;
            if (best.empty() || *fits > best_fits) best.clear();
            best_fits = *fits;
            best.push_back(*codes);
        }
        return agreed(best);
    }

    std::uint64_t arrays_without(const std::vector<ArrayItems>& learned) const {
        std::uint64_t count = 0;
        for (const Address array : arrays_) {
            const Address descriptor = descriptor_of(array);
            count += std::none_of(learned.begin(), learned.end(),
                                  [&](const ArrayItems& a) { return a.descriptor == descriptor; });
        }
        return count;
    }

private:
    Address descriptor_of(Address array) const {
        return heap_.pointer(array + *heap_.layout().array.ob_descr);
    }

    void collect() {
        std::vector<TypeId> types;
        for (TypeId id{0}; id < heap_.types().size(); ++id)
            if (heap_.types()[id].kind && std::string_view(heap_.types()[id].kind->name) == "array")
                types.push_back(id);
        if (types.empty() || !heap_.layout().array.ob_descr.present() ||
            !heap_.layout().array_descr.size.present())
            return;
        for (std::size_t i = 0; i < objects_.types.size(); ++i) {
            if (std::find(types.begin(), types.end(), objects_.types[i]) == types.end()) continue;
            const Address descriptor = descriptor_of(objects_.addresses[i]);
            if (descriptor.is_null() || heap_.memory().read<std::uint64_t>(descriptor)) continue;
            arrays_.push_back(objects_.addresses[i]);
            if (std::find(descriptors_.begin(), descriptors_.end(), descriptor) == descriptors_.end()) {
                if (descriptors_.size() > 64) continue;  // not a table of at most 14 rows
                descriptors_.push_back(descriptor);
            }
        }
    }

    void sample() {
        const auto& fields = heap_.layout().array;
        for (const Address array : arrays_) {
            if (samples_.size() >= most_samples) return;
            const auto at = std::lower_bound(descriptors_.begin(), descriptors_.end(), descriptor_of(array));
            const auto allocated = heap_.integer<std::uint64_t>(array + *fields.allocated);
            const auto block =
                access_.allocations().block_starting_at(heap_.pointer(array + *fields.ob_item));
            if (at == descriptors_.end() || !block || allocated == 0 || allocated > block->usable) continue;
            samples_.push_back({static_cast<std::uint32_t>(at - descriptors_.begin()), allocated,
                                block->usable, block->owner == Allocations::Owner::pymalloc});
        }
    }

    /// The typecodes of the descriptors if the lowest is row `first`; nothing if they would not fit into the
    /// table.
    std::optional<std::string> codes_from(std::string_view order, std::size_t first) const {
        std::string codes;
        for (const Address descriptor : descriptors_) {
            const std::uint64_t distance = descriptor - descriptors_.front();
            const std::uint64_t row = first + distance / *heap_.layout().array_descr.size;
            if (distance % *heap_.layout().array_descr.size != 0 || row >= order.size()) return std::nullopt;
            codes += order[row];
        }
        return codes;
    }

    /// How many buffers are exactly as large as their items need; nothing if one is too small.
    std::optional<std::uint64_t> fitting(const std::string& codes) const {
        std::uint64_t fits = 0;
        for (const Sample& sample : samples_) {
            const std::uint64_t wanted = sample.allocated * item_size(codes[sample.descriptor]);
            if (wanted > sample.usable) return std::nullopt;
            fits += sample.usable - wanted < (sample.pymalloc ? 16U : 40U);
        }
        return fits;
    }

    std::vector<ArrayItems> agreed(const std::vector<std::string>& candidates) const {
        std::vector<ArrayItems> learned;
        for (std::size_t i = 0; i < descriptors_.size() && !candidates.empty(); ++i) {
            ArrayItems items{descriptors_[i], candidates[0][i], item_size(candidates[0][i])};
            bool same_size = true;
            for (const std::string& other : candidates) {
                same_size = same_size && item_size(other[i]) == items.size;
                if (other[i] != items.typecode) items.typecode = '?';
            }
            if (same_size) learned.push_back(items);
        }
        return learned;
    }

    const FoundObjects& objects_;
    const ObjectAccess& access_;
    const PythonHeap& heap_;
    std::vector<Address> arrays_;       // those whose descriptor cannot be read
    std::vector<Address> descriptors_;  // sorted
    std::vector<Sample> samples_;
};

}  // namespace

std::vector<ArrayItems> learn_array_items(const FoundObjects& objects, const ObjectAccess& access,
                                          Diagnostics& diagnostics) {
    Learner learner(objects, access);
    std::vector<ArrayItems> learned = learner.learn();
    if (const std::uint64_t unknown = learner.arrays_without(learned); unknown > 0)
        diagnostics.add(
            "array-items-unknown",
            fmt::format(
                "the item size of {} array.array objects is in a file that was not found: their sizes are "
                "without their items",
                unknown));
    return learned;
}

}  // namespace heapsift
