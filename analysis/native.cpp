// A pass has counted the blocks by size, first word and where they are reached from (parsers/snapshot/native_blocks).
// Here these groups become rows: one for each size, and one for each class, whose objects have several sizes if
// the class is derived from without virtual functions of its own.

#include "analysis/native.h"

#include "analysis/native_classes.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <map>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint64_t looked_at = 256;  // bytes of an example
constexpr std::uint64_t fewest_letters = 8;

bool is_printable(std::byte byte) {
    const auto c = std::to_integer<unsigned>(byte);
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
}

std::string content_of(const AddressSpace& memory, Address block, std::uint64_t size) {
    const auto bytes = memory.view(block, std::min(size, looked_at));
    if (bytes.size() < 8) return "";
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (std::all_of(bytes.begin(), bytes.end(), is_zero)) return "zeros";
    const auto end = std::find_if(bytes.begin(), bytes.end(), is_zero);
    const auto letters = static_cast<std::uint64_t>(end - bytes.begin());
    if (letters >= std::min<std::uint64_t>(fewest_letters, bytes.size()) &&
        std::all_of(bytes.begin(), end, is_printable))
        return "text";
    std::uint64_t words = 0, addresses = 0;
    for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        if (word == 0) continue;
        ++words;
        addresses += memory.find(Address(word)) ? 1 : 0;
    }
    return words > 0 && addresses * 4 >= words * 3 ? "addresses" : "";
}

/// Most bytes first.
template <class Row>
void sort_and_cut(std::vector<Row>& rows, std::size_t limit) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.example < b.example;
    });
    if (limit != 0 && rows.size() > limit) rows.resize(limit);
}

bool is_reached(ReachedFrom from) { return from < ReachedFrom::numbers; }

/// In a cut core what held a block may be missing.
bool tells_leaks(const HeapReader& heap) { return !heap.core().extent().cut(); }

class NativeRows {
public:
    explicit NativeRows(const HeapReader& heap) : heap_(heap) {}

    void add(const NativeBlockRow& row) {
        const std::uint64_t all = row.size * row.count;
        OfSize& of_size = sizes_[row.size];
        of_size.row.size = row.size;
        of_size.row.count += row.count;
        of_size.row.bytes += all;
        of_size.holders.add(*this, row);
        if (row.count > of_size.example_of) {
            of_size.example_of = row.count;
            of_size.row.example = row.example;
        }
        if (row.table.is_null()) return;
        of_classes += all;
        const NativeClass& found = class_of(row.table);
        of_size.classes[found.name] += all;
        OfClass& of_class = classes_[{found.name, found.module}];
        NativeClassRow& made = of_class.row;
        if (made.count == 0) {
            made.name = found.name;
            made.module = found.module;
            made.named = found.named;
            made.smallest = made.largest = row.size;
        }
        made.count += row.count;
        made.bytes += all;
        made.smallest = std::min(made.smallest, row.size);
        made.largest = std::max(made.largest, row.size);
        of_class.holders.add(*this, row);
        if (row.count > of_class.example_of) {
            of_class.example_of = row.count;
            made.example = row.example;
        }
    }

    std::vector<NativeClassRow> classes() const {
        std::vector<NativeClassRow> rows;
        for (const auto& [name, of_class] : classes_) {
            rows.push_back(of_class.row);
            rows.back().held = of_class.holders.most();
        }
        return rows;
    }
    std::vector<NativeSizeRow> sizes() const {
        std::vector<NativeSizeRow> rows;
        for (const auto& [size, of_size] : sizes_) {
            NativeSizeRow& row = rows.emplace_back(of_size.row);
            row.held = of_size.holders.most();
            for (const auto& [name, bytes] : of_size.classes)
                if (bytes * 2 > row.bytes) row.of_class = name;
        }
        return rows;
    }
    std::uint64_t of_classes = 0;  // bytes

private:
    struct Holder {
        std::string name;
        bool is_type = false;
        auto operator<=>(const Holder&) const = default;
    };
    /// Who holds the blocks of one row, by how many.
    class Holders {
    public:
        void add(NativeRows& all, const NativeBlockRow& row) {
            if (!is_reached(row.from))
                leaked_ += row.count;
            else
                counts_[all.holder_of(row)] += row.count;
            if (row.from == ReachedFrom::numbers) by_number_ += row.count;
            if (row.from == ReachedFrom::objects || row.from == ReachedFrom::python_tables)
                by_python_ += row.count;
        }
        NativeHeld most() const {
            NativeHeld held{leaked_, by_number_, by_python_, "", 0, false};
            for (const auto& [holder, count] : counts_)
                if (count > held.by_count) {
                    held.by = holder.name;
                    held.by_type = holder.is_type;
                    held.by_count = count;
                }
            return held;
        }

    private:
        std::uint64_t leaked_ = 0, by_number_ = 0, by_python_ = 0;
        std::map<Holder, std::uint64_t> counts_;
    };

    const NativeClass& class_of(Address table) {
        const auto [known, is_new] = known_.try_emplace(table.value);
        if (is_new) known->second = native_class(heap_.core(), table);
        return known->second;
    }

    Holder holder_of(const NativeBlockRow& row) {
        switch (row.from) {
            case ReachedFrom::objects:
                return {heap_.snapshot().types[row.type].name, true};
            case ReachedFrom::python_tables:
                return {"Python's own tables"};
            case ReachedFrom::modules: {
                const auto [known, is_new] = variables_.try_emplace(row.word.value);
                if (is_new) known->second = variable_of(row.word);
                return {known->second};
            }
            case ReachedFrom::mappings:
                return {"memory without a known owner"};
            case ReachedFrom::stacks:
                return {"a stack or register"};
            case ReachedFrom::numbers:
            case ReachedFrom::nothing:
                break;
        }
        return {};
    }

    /// "libfoo.so cache", "libfoo.so" where no symbol covers the word.
    std::string variable_of(Address word) const {
        for (const Module& module : heap_.core().modules()) {
            if (word < module.start || word >= module.image_end) continue;
            const std::string file(base_name(module.path));
            const auto symbol = heap_.core().symbol_at(module, word);
            return symbol ? file + " " + symbol_words(symbol->name) : file;
        }
        return "a variable";
    }

    struct OfSize {
        NativeSizeRow row;
        Holders holders;
        std::map<std::string, std::uint64_t> classes;  // bytes
        std::uint64_t example_of = 0;                  // blocks of the row that gave the example
    };
    struct OfClass {
        NativeClassRow row;
        Holders holders;
        std::uint64_t example_of = 0;
    };
    const HeapReader& heap_;
    std::unordered_map<std::uint64_t, NativeClass> known_;
    std::unordered_map<std::uint64_t, std::string> variables_;
    std::map<std::uint64_t, OfSize> sizes_;
    std::map<std::pair<std::string, std::string>, OfClass> classes_;
};

}  // namespace

NativeResult native(const HeapReader& heap, const NativeQuery& query) {
    NativeRows rows(heap);
    NativeResult result;
    for (const NativeBlockRow& row : heap.snapshot().native->rows) {
        const std::uint64_t bytes = row.size * row.count;
        result.count += row.count;
        result.bytes += bytes;
        if (!is_reached(row.from)) {
            result.leaked_count += row.count;
            result.leaked_bytes += bytes;
        }
        if (row.from == ReachedFrom::numbers) result.number_bytes += bytes;
        if (row.from == ReachedFrom::objects || row.from == ReachedFrom::python_tables)
            result.python_bytes += bytes;
        if (!query.leaked_only || (!is_reached(row.from) && tells_leaks(heap))) rows.add(row);
    }
    result.tells_leaks = tells_leaks(heap);
    result.of_classes = rows.of_classes;
    result.classes = rows.classes();
    result.sizes = rows.sizes();
    result.class_count = result.classes.size();
    result.size_count = result.sizes.size();
    sort_and_cut(result.classes, query.limit);
    sort_and_cut(result.sizes, query.limit);
    for (NativeSizeRow& row : result.sizes)
        row.content = content_of(heap.core().memory(), row.example, row.size);
    return result;
}

std::optional<NativeCulprit> native_culprit(const HeapReader& heap) {
    NativeRows rows(heap);
    std::uint64_t all = 0;
    for (const NativeBlockRow& row : heap.snapshot().native->rows) {
        rows.add(row);
        all += row.size * row.count;
    }
    const auto is_much = [&](const auto& row) { return row.bytes * 2 >= all; };
    const auto culprit = [&](const auto& row, std::uint64_t size, const std::string& name) {
        NativeCulprit made{size, row.count, row.bytes, name, row.example, row.held};
        if (!tells_leaks(heap)) made.held.leaked = made.held.by_number = 0;
        return made;
    };
    for (const NativeClassRow& row : rows.classes())
        if (is_much(row)) return culprit(row, row.smallest == row.largest ? row.smallest : 0, row.name);
    for (const NativeSizeRow& row : rows.sizes())
        if (is_much(row)) return culprit(row, row.size, "");
    return std::nullopt;
}

}  // namespace heapsift
