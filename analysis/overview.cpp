// The first screen. Its sentence is chosen by what a reader can act upon: array data and who owns it, else one type that has a
// good part of the memory, else the part of the memory that is largest, whoever owns it.

#include "analysis/overview.h"

#include "analysis/signature.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::string_view array_data_region = "array data";
constexpr double share_worth_a_sentence = 0.10;  // of all mapped memory

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

const TypeRow* largest_by(const std::vector<TypeRow>& types, std::uint64_t TypeRow::*measure) {
    const auto found =
        std::max_element(types.begin(), types.end(), [&](const TypeRow& a, const TypeRow& b) { return a.*measure < b.*measure; });
    return found == types.end() || (*found).*measure == 0 ? nullptr : &*found;
}

}  // namespace

OverviewHeadline choose_headline(const std::vector<HeapSnapshot::MemoryRow>& memory, std::uint64_t mapped_bytes,
                                 const std::vector<TypeRow>& all_types) {
    OverviewHeadline headline;
    std::uint64_t array_data = 0;
    for (const TypeRow& row : all_types) array_data += row.array_data;
    for (const auto& row : memory)
        if (row.name == array_data_region) array_data = row.bytes;
    const TypeRow* arrays = largest_by(all_types, &TypeRow::array_data);
    const TypeRow* objects = largest_by(all_types, &TypeRow::memory);
    if (arrays && share(array_data, mapped_bytes) >= share_worth_a_sentence &&
        array_data >= objects->memory - objects->array_data) {
        headline = {OverviewHeadline::Kind::array_data, array_data, {}, *arrays, share(arrays->array_data, array_data) >= 0.99};
    } else if (objects && share(objects->memory, mapped_bytes) >= share_worth_a_sentence) {
        headline = {OverviewHeadline::Kind::objects, objects->memory, {}, *objects, false};
    } else if (!memory.empty()) {
        headline.bytes = memory.front().bytes;
        headline.region = memory.front().name;
    }
    return headline;
}

OverviewResult overview(const HeapSnapshot& heap, std::size_t type_limit, const ProgressCallback& progress) {
    OverviewResult result;
    result.types = group_by_type(heap, SortKey::memory, 0, progress);
    result.memory = heap.memory_rows();
    std::stable_sort(result.memory.begin(), result.memory.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    result.mapped_bytes = heap.core().extent().mapped_bytes;
    result.headline = choose_headline(result.memory, result.mapped_bytes, result.types.types);
    result.dominant_types = dominant_types(result.types.types, result.types.total_memory);
    cut_types(result.types, type_limit);
    return result;
}

}  // namespace heapsift
