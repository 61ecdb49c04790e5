// A pass has counted the blocks by size, first word and where they are reached from (parsers/snapshot/native_blocks).
// Here these groups become rows: one for each size, and one for each class, whose objects have several sizes if
// the class is derived from without virtual functions of its own.

#include "analysis/native.h"

#include "analysis/native_classes.h"
#include "analysis/native_contents.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

namespace heapsift {
namespace {

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

}  // namespace

struct NativeRowHolder {
    std::string name;
    bool is_type = false;
    auto operator<=>(const NativeRowHolder&) const = default;
};

/// Classes and holders by name, each found once.
class NativeRowNames {
public:
    explicit NativeRowNames(const HeapReader& heap) : heap_(heap) {}

    const NativeClass& class_of(Address table) {
        const auto [known, is_new] = known_.try_emplace(table.value);
        if (is_new) known->second = native_class(heap_.core(), table);
        return known->second;
    }

    NativeRowHolder holder_of(const NativeBlockRow& row) {
        switch (row.from) {
            case ReachedFrom::objects:
                return {heap_.snapshot().types[row.type].name, true};
            case ReachedFrom::python_tables:
                return {"Python's own tables"};
            case ReachedFrom::modules: {
                const auto [known, is_new] = variables_.try_emplace(row.word.value);
                if (is_new) known->second = variable_name(heap_.core(), row.word);
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

private:
    const HeapReader& heap_;
    std::unordered_map<std::uint64_t, NativeClass> known_;
    std::unordered_map<std::uint64_t, std::string> variables_;
};

namespace {

class NativeRows {
public:
    explicit NativeRows(const HeapReader& heap) : names_(heap) {}

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
        const NativeClass& found = names_.class_of(row.table);
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
    /// Who holds the blocks of one row, by how many.
    class Holders {
    public:
        void add(NativeRows& all, const NativeBlockRow& row) {
            if (!is_reached(row.from))
                leaked_ += row.count;
            else
                counts_[all.names_.holder_of(row)] += row.count;
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
        std::map<NativeRowHolder, std::uint64_t> counts_;
    };

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
    NativeRowNames names_;
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
        row.content = native_content(heap.core().memory(), row.example, row.size);
    return result;
}

// Sizes are few and blocks are many: they are counted by size first, then each has its place.
NativeList native_list(const HeapReader& heap, const NativeQuery& query) {
    const auto& rows = heap.snapshot().native->rows;
    NativeList list;
    const auto is_wanted = [&](const NativeBlockRow& row) {
        return !query.leaked_only || (!is_reached(row.from) && tells_leaks(heap));
    };
    std::map<std::uint64_t, std::uint64_t, std::greater<>> places;  // by size: how many, then the next one's
    for (const NativeBlockRow& row : rows) {
        if (!is_wanted(row)) continue;
        places[row.size] += row.count;
        list.total_count += row.count;
        list.total_bytes += row.size * row.count;
    }
    std::uint64_t before = 0;
    for (auto& [size, place] : places) before += std::exchange(place, before);
    const std::uint64_t shown = query.limit == 0 ? before : std::min<std::uint64_t>(query.limit, before);
    list.blocks.resize(shown);
    list.rows.resize(shown);
    heap.visit_native_blocks([&](Address start, std::uint32_t row) {
        if (!is_wanted(rows[row])) return;
        const std::uint64_t place = places[rows[row].size]++;
        if (place >= shown) return;
        list.blocks[place] = start;
        list.rows[place] = row;
    });
    return list;
}

struct NativeListReader::State {
    explicit State(const HeapReader& of) : heap(of), names(of), known(of.snapshot().native->rows.size()) {}
    const HeapReader& heap;
    NativeRowNames names;
    std::vector<std::optional<NativeListRow>> known;  // by row: what its blocks have in common
};

NativeListReader::NativeListReader(const HeapReader& heap) : state_(std::make_shared<State>(heap)) {}

NativeListRow NativeListReader::row(Address block, std::uint32_t row) {
    const NativeBlockRow& of = state_->heap.snapshot().native->rows[row];
    std::optional<NativeListRow>& known = state_->known[row];
    if (!known) {
        known.emplace();
        known->bytes = of.size;
        if (!of.table.is_null()) {
            const NativeClass& found = state_->names.class_of(of.table);
            known->of_class = found.name;
            known->class_named = found.named;
        }
        const NativeRowHolder holder = state_->names.holder_of(of);
        known->held_by = holder.name;
        known->held_by_type = holder.is_type;
        known->by_number = of.from == ReachedFrom::numbers;
        if (tells_leaks(state_->heap)) known->leaked = !is_reached(of.from);
    }
    NativeListRow made = *known;
    made.address = block;
    made.content = native_content(state_->heap.core().memory(), block, of.size);
    return made;
}

std::vector<NativeContent> native_contents(const HeapReader& heap, const NativeQuery& query) {
    const auto& rows = heap.snapshot().native->rows;
    std::vector<NativeContent> contents;
    heap.visit_native_blocks([&](Address start, std::uint32_t row) {
        const bool leaked = !is_reached(rows[row].from) && tells_leaks(heap);
        if (query.leaked_only && !leaked) return;
        const std::string content = native_content(heap.core().memory(), start, rows[row].size);
        auto at = std::ranges::find(contents, content, &NativeContent::content);
        if (at == contents.end()) at = contents.insert(contents.end(), {content});
        ++at->count;
        at->bytes += rows[row].size;
        at->leaked += leaked ? 1 : 0;
    });
    std::ranges::sort(contents, [](const NativeContent& a, const NativeContent& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.content < b.content;
    });
    return contents;
}

namespace {

bool fewer_bytes(const auto& a, const auto& b) { return a.bytes < b.bytes; }

/// What has most of these rows: a class, if one has as much as the largest size.
void add_largest_part(const NativeRows& rows, NativeCulprit& culprit) {
    const auto classes = rows.classes();
    const auto sizes = rows.sizes();
    const auto of_class =
        std::max_element(classes.begin(), classes.end(), fewer_bytes<NativeClassRow, NativeClassRow>);
    const auto of_size =
        std::max_element(sizes.begin(), sizes.end(), fewer_bytes<NativeSizeRow, NativeSizeRow>);
    culprit.mixed = true;
    if (of_class != classes.end() && (of_size == sizes.end() || of_class->bytes >= of_size->bytes)) {
        culprit.of_class = of_class->name;
        culprit.module = of_class->module;
        culprit.largest_count = of_class->count;
        culprit.example = of_class->example;
    } else if (of_size != sizes.end()) {
        culprit.size = of_size->size;
        culprit.largest_count = of_size->count;
        culprit.example = of_size->example;
    }
}

/// All blocks that one variable of C code or one Python type leads to, if they have half of `all` bytes.
std::optional<NativeCulprit> held_by_one(const HeapReader& heap, std::uint64_t all) {
    struct Held {
        std::uint64_t bytes = 0, count = 0;
    };
    const auto& rows = heap.snapshot().native->rows;
    const auto is_named = [](const NativeBlockRow& row) {
        return row.from == ReachedFrom::modules || row.from == ReachedFrom::objects;
    };
    NativeRowNames names(heap);
    std::map<NativeRowHolder, Held> holders;
    for (const NativeBlockRow& row : rows) {
        if (!is_named(row)) continue;
        Held& held = holders[names.holder_of(row)];
        held.bytes += row.size * row.count;
        held.count += row.count;
    }
    const auto most = std::max_element(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
        return a.second.bytes < b.second.bytes;
    });
    if (most == holders.end() || most->second.bytes * 2 < all) return std::nullopt;
    NativeRows of_it(heap);
    for (const NativeBlockRow& row : rows)
        if (is_named(row) && names.holder_of(row) == most->first) of_it.add(row);
    NativeCulprit made;
    made.count = made.held.by_count = most->second.count;
    made.bytes = most->second.bytes;
    made.held.by = most->first.name;
    made.held.by_type = most->first.is_type;
    add_largest_part(of_it, made);
    return made;
}

}  // namespace

std::optional<NativeCulprit> native_culprit(const HeapReader& heap) {
    NativeRows rows(heap), leaked_rows(heap);
    std::uint64_t all = 0, leaked_count = 0, leaked_bytes = 0;
    for (const NativeBlockRow& row : heap.snapshot().native->rows) {
        rows.add(row);
        all += row.size * row.count;
        if (row.from != ReachedFrom::nothing) continue;
        leaked_rows.add(row);
        leaked_count += row.count;
        leaked_bytes += row.size * row.count;
    }
    const auto is_much = [&](const auto& row) { return row.bytes * 2 >= all; };
    const auto culprit = [&](const auto& row, std::uint64_t size, const std::string& name) {
        NativeCulprit made;
        made.size = size;
        made.count = row.count;
        made.bytes = row.bytes;
        made.of_class = name;
        made.example = row.example;
        made.held = row.held;
        if (!tells_leaks(heap)) made.held.leaked = made.held.by_number = 0;
        return made;
    };
    const auto of_one_kind = [&]() -> std::optional<NativeCulprit> {
        for (const NativeClassRow& row : rows.classes())
            if (is_much(row)) {
                NativeCulprit of_class =
                    culprit(row, row.smallest == row.largest ? row.smallest : 0, row.name);
                of_class.module = row.module;
                return of_class;
            }
        for (const NativeSizeRow& row : rows.sizes())
            if (is_much(row)) return culprit(row, row.size, "");
        return std::nullopt;
    };
    std::optional<NativeCulprit> one = of_one_kind();
    if (one && (one->count < 2 || one->held.leaked * 2 > one->count || one->held.by_count * 2 <= one->count))
        return one;
    const auto leaked_part = [&](std::uint64_t of) {
        return tells_leaks(heap) && leaked_bytes > 0 && leaked_bytes * of >= all;
    };
    if (one || !leaked_part(2)) {
        std::optional<NativeCulprit> held = held_by_one(heap, all);
        const bool says_more =
            held && (!one || (held->held.by == one->held.by && held->bytes > one->bytes / 10 * 11));
        if (one || held) return says_more ? held : one;
        if (!leaked_part(4)) return std::nullopt;
    }
    NativeCulprit made;
    made.count = made.held.leaked = leaked_count;
    made.bytes = leaked_bytes;
    add_largest_part(leaked_rows, made);
    return made;
}

}  // namespace heapsift
