// Objects with equal hashes (content_hashes.h), found by sorting: hash by hash the copies of a value lie side
// by side. Ten million pairs of hash and object would take 160 MB at a time, so they are sorted in parts, by
// the first bits of the hash; each part has all copies of its values. While a value's copies are at hand,
// what must be said of it is counted: their memory, their holders, and in what kinds of objects they are. So
// nothing is kept of values that have one copy, and with a limit little of the others.
//
// What one copy would save is the memory of all copies without the largest; without any, if one of them is
// static and stays whatever the program does. Tuples and their items are counted independently: a tuple's
// memory is its own, so the sums may be added.
//
// What cannot be shared is not told: constants that only code holds, None and small ints, of which there is
// one each. A str that is interned is one copy among others of its value.

#include "analysis/duplicates.h"

#include "analysis/held_in.h"
#include "analysis/object_row.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_holders_of_value = 3, most_holders_told = 100;
constexpr std::size_t sorted_at_a_time = 1 << 20;
constexpr std::size_t compared_copies = 8;
constexpr std::uint64_t most_pairs_an_object = 4, fewest_pairs = 100'000;

bool comes_before(const DuplicateValue& a, const DuplicateValue& b) {
    return std::tie(b.saves, b.memory, a.first) < std::tie(a.saves, a.memory, b.first);
}

DuplicateFix fix_of(ContentKind kind, const std::array<std::uint64_t, held_in_bits>& held,
                    std::uint64_t count, bool garbage) {
    if (garbage) return DuplicateFix::collect;
    const auto mostly = [&](unsigned bits) {
        std::uint64_t in = 0;
        for (std::size_t bit = 0; bit < held.size(); ++bit)
            if (bits >> bit & 1) in += held[bit];
        return 2 * in >= count;
    };
    switch (kind) {
        case ContentKind::text:
            return mostly(in_array) ? DuplicateFix::category : DuplicateFix::intern;
        case ContentKind::integer:
        case ContentKind::floating:
        case ContentKind::complex:
            return mostly(in_array)             ? DuplicateFix::numeric_column
                   : mostly(in_list | in_tuple) ? DuplicateFix::number_array
                                                : DuplicateFix::one_number;
        case ContentKind::array:
            return DuplicateFix::one_array;
        default:
            return DuplicateFix::one_object;
    }
}

class DuplicateFinder {
public:
    DuplicateFinder(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
                    const ProgressCallback& progress)
        : graph_(graph),
          columns_(graph.columns()),
          limit_(limit),
          hashes_(content_hashes(graph.heap(), progress)),
          held_(held_in(graph, progress)),
          labels_(labels),
          names_(labels),
          sums_(columns_.types.size() + 1),
          pairs_(most_pairs_an_object * columns_.object_count() + fewest_pairs) {}

    DuplicatesResult run() {
        result_.unread = hashes_.unread();
        leave_out_constants();
        const std::size_t parts = std::max<std::size_t>(1, result_.looked_at / sorted_at_a_time);
        for (std::size_t part = 0; part < parts; ++part) {
            take(part, parts);
            for (std::size_t begin = 0, end = 0; begin < copies_.size(); begin = end) {
                while (end < copies_.size() && copies_[end].hash == copies_[begin].hash) ++end;
                add_value({copies_.data() + begin, end - begin});
            }
        }
        cut();
        finish();
        return std::move(result_);
    }

private:
    struct Copy {
        std::uint64_t hash;
        ObjectId object;
    };
    struct Found : DuplicateValue {
        std::array<DuplicatesResult::HolderOfValue, most_holders_of_value> named;  // by number
    };

    void leave_out_constants() {
        std::vector<ObjectId> constants;
        hashes_.visit(columns_.object_count(), [&](ObjectId object, std::uint64_t) {
            if (is_constant_of_code(held_[object]))
                constants.push_back(object);
            else
                ++result_.looked_at;
        });
        for (const ObjectId object : constants) hashes_.drop(object);
        result_.constants = constants.size();
    }

    void take(std::size_t part, std::size_t parts) {
        copies_.clear();
        // The high half of the hash, as a fraction of 2^32, says in which part it is.
        hashes_.visit(columns_.object_count(), [&](ObjectId object, std::uint64_t hash) {
            if ((hash >> 32) * parts >> 32 == part) copies_.push_back({hash, object});
        });
        std::sort(copies_.begin(), copies_.end(), [](const Copy& a, const Copy& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.object < b.object;
        });
    }

    void add_value(std::span<const Copy> copies) {
        const TypeId type = columns_.type_of(copies.front().object);
        DuplicateType& sum = sums_[std::min<std::size_t>(type, columns_.types.size())];
        sum.count += copies.size();
        ++sum.values;
        if (copies.size() < 2) return;
        Found value;
        value.first = copies.front().object;
        value.count = static_cast<std::uint32_t>(copies.size());
        std::uint64_t largest = 0;
        bool is_static = false;
        ObjectId kept = copies.front().object;
        for (const Copy& copy : copies) {
            const ObjectSizes sizes = (*columns_.sizes)[copy.object];
            value.size += sizes.size;
            value.memory += sizes.memory;
            if (sizes.memory == 0 && !is_static) {
                is_static = true;
                kept = copy.object;
            } else if (sizes.memory > largest && !is_static) {
                kept = copy.object;
            }
            largest = std::max(largest, sizes.memory);
        }
        value.saves = value.memory - (is_static ? 0 : largest);
        if (value.saves == 0) return;  // all of them are static
        ++sum.duplicated;
        sum.size += value.size;
        sum.memory += value.memory;
        sum.saves += value.saves;
        ++result_.total_values;
        result_.total_count += value.count;
        add_to_holders(copies, kept);
        if (limit_ != 0 && found_.size() >= limit_ && !comes_before(value, found_.front())) return;
        if (!is_one_value(copies)) {
            ++result_.unequal;
            return;
        }
        name_holders(copies, value);
        found_.push_back(value);
        if (limit_ == 0) return;
        std::push_heap(found_.begin(), found_.end(), comes_before);
        if (found_.size() <= limit_) return;
        std::pop_heap(found_.begin(), found_.end(), comes_before);
        found_.pop_back();
    }

    bool is_one_value(std::span<const Copy> copies) {
        const std::size_t step = std::max<std::size_t>(1, copies.size() / compared_copies);
        for (std::size_t i = step; i < copies.size(); i += step)
            if (columns_.type_of(copies[i].object) != columns_.type_of(copies[0].object) ||
                !have_equal_content(graph_.heap(), hashes_, copies[0].object, copies[i].object, pairs_))
                return false;
        return true;
    }

    void add_to_holders(std::span<const Copy> copies, ObjectId kept) {
        for (const Copy& copy : copies) {
            if (copy.object == kept) continue;
            auto& [count, saves] = by_label_[labels_.label(copy.object)];
            ++count;
            saves += columns_.sizes->memory(copy.object);
        }
    }

    void name_holders(std::span<const Copy> copies, Found& value) {
        std::vector<std::uint32_t>& labels = some_labels_;
        labels.clear();
        std::array<std::uint64_t, held_in_bits> held{};
        std::uint64_t garbage = 0;
        for (const Copy& copy : copies) {
            labels.push_back(labels_.label(copy.object));
            garbage += labels.back() == HolderLabeler::none;
            for (std::size_t bit = 0; bit < held.size(); ++bit) held[bit] += held_[copy.object] >> bit & 1;
        }
        value.fix =
            fix_of(hashes_.kind(columns_.type_of(value.first)), held, value.count, 2 * garbage > value.count);
        std::sort(labels.begin(), labels.end());
        std::vector<DuplicatesResult::HolderOfValue>& holders = some_holders_;
        holders.clear();
        for (std::size_t begin = 0, end = 0; begin < labels.size(); begin = end) {
            while (end < labels.size() && labels[end] == labels[begin]) ++end;
            const std::uint32_t name = names_.number(labels[begin]);
            const auto count = static_cast<std::uint32_t>(end - begin);
            const auto same = std::find_if(holders.begin(), holders.end(),
                                           [&](const auto& one) { return one.holder == name; });
            if (same != holders.end())
                same->count += count;
            else
                holders.push_back({name, count});
        }
        std::sort(holders.begin(), holders.end(), [&](const auto& a, const auto& b) {
            const HolderCount &left = names_[a.holder], &right = names_[b.holder];
            return std::tie(b.count, left.holder, left.attribute) <
                   std::tie(a.count, right.holder, right.attribute);
        });
        value.more_holders = holders.size() > most_holders_of_value;
        value.holders = static_cast<std::uint8_t>(std::min(holders.size(), most_holders_of_value));
        std::copy_n(holders.begin(), value.holders, value.named.begin());
    }

    void cut() {
        std::sort(found_.begin(), found_.end(), comes_before);
        for (const Found& found : found_) {
            DuplicateValue& value = result_.values.emplace_back(found);
            value.holders_begin = result_.holders_of_values.size();
            result_.holders_of_values.insert(result_.holders_of_values.end(), found.named.begin(),
                                             found.named.begin() + found.holders);
            result_.shown_saves += value.saves;
        }
        found_ = {};
    }

    void finish() {
        for (std::size_t type = 0; type < sums_.size(); ++type) {
            DuplicateType& sum = sums_[type];
            result_.total_size += sum.size;
            result_.total_memory += sum.memory;
            result_.total_saves += sum.saves;
            if (sum.saves == 0) continue;
            sum.type = static_cast<TypeId>(type);
            sum.name = type_name(columns_.types, static_cast<TypeId>(type));
            result_.types.push_back(std::move(sum));
        }
        std::sort(result_.types.begin(), result_.types.end(),
                  [](const DuplicateType& a, const DuplicateType& b) {
                      return std::tie(b.saves, a.name) < std::tie(a.saves, b.name);
                  });
        std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> by_name;
        for (const auto& [label, sum] : by_label_) {
            auto& [count, saves] = by_name[names_.number(label)];
            count += sum.first;
            saves += sum.second;
        }
        for (const auto& [name, sum] : by_name) {
            HolderCount& holder = result_.by_holder.emplace_back(names_[name]);
            holder.count = sum.first;
            holder.saves = sum.second;
        }
        std::sort(result_.by_holder.begin(), result_.by_holder.end(),
                  [](const HolderCount& a, const HolderCount& b) {
                      return std::tie(b.saves, a.holder, a.attribute) <
                             std::tie(a.saves, b.holder, b.attribute);
                  });
        if (result_.by_holder.size() > most_holders_told) result_.by_holder.resize(most_holders_told);
        result_.names_threads = names_.name_threads();
        result_.names = names_.take();
    }

    const HeapGraph& graph_;
    const HeapSnapshot& columns_;
    std::size_t limit_;
    DuplicatesResult result_;
    ContentHashes hashes_;
    std::vector<std::uint8_t> held_;
    const HolderLabeler& labels_;
    HolderNames names_;
    std::vector<DuplicateType> sums_;  // by TypeId; the last one: type not found
    std::uint64_t pairs_;              // that may still be compared
    std::vector<Copy> copies_;
    std::vector<Found> found_;  // with a limit a heap: the least of them is first
    std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> by_label_;  // copies, memory
    std::vector<std::uint32_t> some_labels_;
    std::vector<DuplicatesResult::HolderOfValue> some_holders_;
};

/// As it is kept: numbers, and names of owners and attributes; values are read anew.
struct KeptDuplicates {
    DuplicatesResult result;

    std::size_t rows() const {
        return result.names_threads
                   ? KeptAnswers::most_rows + 1
                   : result.values.size() + result.names.size() + result.holders_of_values.size();
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        auto& result = self.result;
        const HeapReader& heap = graph.heap();
        for (auto* names : {&result.names, &result.by_holder})
            part.list(*names, [](auto& name, Part& p) { kept_holder(name, p); });
        part.list(result.holders_of_values, [&](auto& one, Part& p) {
            p.number(one.holder);
            p.number(one.count);
            p.require(one.holder < result.names.size(), "a holder has no name");
        });
        part.list(result.values, [&](auto& value, Part& p) {
            kept_object(value.first, p, heap);
            p.number(value.count);
            for (auto* number : {&value.size, &value.memory, &value.saves, &value.holders_begin})
                p.number(*number);
            p.number(value.holders);
            p.number(value.more_holders);
            p.number(value.fix);
            p.require(value.fix <= DuplicateFix::collect && value.holders <= most_holders_of_value &&
                          value.holders_begin <= result.holders_of_values.size() &&
                          value.holders <= result.holders_of_values.size() - value.holders_begin,
                      "a value has no holders");
        });
        part.list(result.types, [&](auto& type, Part& p) {
            kept_type(type.type, p, heap);
            for (auto* number :
                 {&type.count, &type.values, &type.duplicated, &type.size, &type.memory, &type.saves})
                p.number(*number);
            if constexpr (Part::reading) type.name = type_name(heap.snapshot().types, type.type);
        });
        for (auto* number : {&result.total_values, &result.total_count, &result.total_size,
                             &result.total_memory, &result.total_saves, &result.shown_saves,
                             &result.looked_at, &result.constants, &result.unread, &result.unequal})
            part.number(*number);
    }
};

}  // namespace

DuplicatesResult duplicates(const HeapGraph& graph, std::size_t limit, const ProgressCallback& progress,
                            KeptAnswers* answers) {
    return kept_answer(answers, KeptQuestion("equal").with(limit), graph,
                       [&] {
                           HolderLabeler labels(graph, {}, progress);
                           labels.give_up_costs();
                           return KeptDuplicates{duplicates(graph, labels, limit, progress)};
                       })
        .result;
}

DuplicatesResult duplicates(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
                            const ProgressCallback& progress) {
    return DuplicateFinder(graph, labels, limit, progress).run();
}

DuplicateRow duplicate_row(const HeapReader& heap, const DuplicatesResult& result,
                           const DuplicateValue& value) {
    DuplicateRow row;
    const ObjectRow first = brief_object_row(heap, value.first);
    row.address = first.address;
    row.type = first.type;
    row.value = first.value;
    for (std::uint64_t i = 0; i < value.holders; ++i) {
        const auto& [name, count] = result.holders_of_values[value.holders_begin + i];
        HolderCount& holder = row.holders.emplace_back(result.names[name]);
        holder.count = count;
    }
    return row;
}

}  // namespace heapsift
