// The type table: one pass adds each object to its type's row. Rows are an array by TypeId, so the pass
// allocates nothing.

#include "analysis/types.h"

#include "parsers/base/in_pieces.h"
#include "parsers/snapshot/size_column.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::size_t summed_a_piece = 1 << 18;

struct Sums {
    std::uint64_t count = 0, size = 0, memory = 0, array_data = 0, uncertain = 0, damaged = 0;
    ObjectId largest = no_object;
    std::uint64_t largest_memory = 0, largest_size = 0;

    /// What comes after what is there.
    void add(const Sums& next) {
        if (next.count == 0) return;
        count += next.count;
        size += next.size;
        memory += next.memory;
        array_data += next.array_data;
        damaged += next.damaged;
        if (largest == no_object ||
            std::tie(next.largest_memory, next.largest_size) > std::tie(largest_memory, largest_size)) {
            largest = next.largest;
            largest_memory = next.largest_memory;
            largest_size = next.largest_size;
        }
    }
    // Objects come in address order, so that among equals the lowest address stays.
    void add(ObjectId object, const ObjectSizes& facts) {
        ++count;
        size += facts.size;
        memory += facts.memory;
        array_data += facts.array_data;
        damaged += facts.damaged ? 1 : 0;
        if (largest == no_object ||
            std::tie(facts.memory, facts.size) > std::tie(largest_memory, largest_size)) {
            largest = object;
            largest_memory = facts.memory;
            largest_size = facts.size;
        }
    }
};

std::uint64_t sort_value(const TypeRow& row, SortKey key) {
    switch (key) {
        case SortKey::retained:
            return row.retained.value_or(0);
        case SortKey::memory:
            return row.memory;
        case SortKey::size:
            return row.size;
        case SortKey::array_data:
            return row.array_data;
        case SortKey::count:
            return row.count;
        case SortKey::name:
            break;
    }
    return 0;
}

using NamedCount = std::pair<std::string, std::uint64_t>;

void sort_by_count(std::vector<NamedCount>& rows) {
    std::sort(rows.begin(), rows.end(), [](const NamedCount& a, const NamedCount& b) {
        return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
}

void note_size_source(TypesResult& result, const TypeInfo& type, const Sums& sums) {
    if (!type.named) result.anonymous_objects += sums.count;
    if (type.size_source == SizeSource::python)
        result.python_sizeof_types.emplace_back(type.name, sums.count);
    else if (sums.uncertain > 0)
        result.uncertain_types.emplace_back(type.name, sums.uncertain);
}

void add_to_totals(TypesResult& result, const TypeRow& row, const Sums& sums) {
    ++result.total_types;
    result.total_count += row.count;
    result.total_size += row.size;
    result.total_memory += row.memory;
    result.total_array_data += row.array_data;
    result.uncertain_sizes += sums.uncertain;
    result.damaged_objects += sums.damaged;
}

}  // namespace

TypesResult types(const HeapReader& heap, SortKey sort, std::size_t limit, const ProgressCallback& progress) {
    const HeapSnapshot& columns = heap.snapshot();
    const TypeTable& types = columns.types;
    using SumsByType = std::vector<Sums>;  // the last one: objects whose type was not found
    SumsByType sums(types.size() + 1);
    const SizeColumn& sizes = *columns.sizes;
    const std::size_t objects = columns.object_count();
    if (progress) progress("adding up types", 0);
    in_pieces<SumsByType>(
        piece_count(objects, summed_a_piece),
        [&](std::size_t piece, SumsByType& some) {
            some.assign(sums.size(), {});
            const auto [begin, end] = piece_of(piece, objects, summed_a_piece);
            for (ObjectId object(begin); object < end; ++object)
                some[std::min<std::size_t>(columns.type_of(object), types.size())].add(object, sizes[object]);
        },
        [&](std::size_t piece, const SumsByType& some) {
            if (progress)
                progress("adding up types",
                         static_cast<double>(piece * summed_a_piece) / static_cast<double>(objects));
            for (std::size_t type = 0; type < sums.size(); ++type) sums[type].add(some[type]);
        });

    TypesResult result;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].count == 0) continue;
        const bool known = i < types.size();
        if (known && types[static_cast<TypeId>(i)].size_source != SizeSource::known)
            sums[i].uncertain = sums[i].count;
        TypeRow row;
        row.name = type_name(columns.types, known ? static_cast<TypeId>(i) : no_type);
        if (known) row.address = types[static_cast<TypeId>(i)].address;
        row.count = sums[i].count;
        row.size = sums[i].size;
        row.memory = sums[i].memory;
        row.array_data = sums[i].array_data;
        row.largest.id = sums[i].largest;
        add_to_totals(result, row, sums[i]);
        if (known) note_size_source(result, types[static_cast<TypeId>(i)], sums[i]);
        result.types.push_back(std::move(row));
    }
    sort_by_count(result.python_sizeof_types);
    sort_by_count(result.uncertain_types);
    sort_types(result.types, sort);
    cut_types(result, limit);
    for (TypeRow& row : result.types) row.largest = object_row(heap, row.largest.id);
    return result;
}

void sort_types(std::vector<TypeRow>& rows, SortKey sort) {
    std::sort(rows.begin(), rows.end(), [sort](const TypeRow& a, const TypeRow& b) {
        const std::uint64_t of_a = sort_value(a, sort), of_b = sort_value(b, sort);
        return std::tie(of_b, a.name, a.address) < std::tie(of_a, b.name, b.address);
    });
}

void keep_types(TypesResult& result, const std::vector<Address>& wanted) {
    const std::set<Address> addresses(wanted.begin(), wanted.end());
    std::erase_if(result.types, [&](const TypeRow& row) { return addresses.count(row.address) == 0; });
    std::set<std::string> names;
    result.total_types = result.types.size();
    result.total_count = result.total_size = result.total_memory = result.total_array_data = 0;
    result.anonymous_objects = 0;
    for (const TypeRow& row : result.types) {
        result.total_count += row.count;
        result.total_size += row.size;
        result.total_memory += row.memory;
        result.total_array_data += row.array_data;
        names.insert(row.name);
    }
    const auto is_other = [&](const auto& one) { return names.count(one.first) == 0; };
    std::erase_if(result.uncertain_types, is_other);
    std::erase_if(result.python_sizeof_types, is_other);
    result.uncertain_sizes = 0;
    for (const auto& [name, count] : result.uncertain_types) result.uncertain_sizes += count;
    cut_types(result, 0);
}

void cut_types(TypesResult& result, std::size_t limit) {
    if (limit != 0 && result.types.size() > limit) result.types.resize(limit);
    result.shown_memory = 0;
    for (const TypeRow& row : result.types) result.shown_memory += row.memory;
}

}  // namespace heapsift
