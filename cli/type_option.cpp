#include "cli/type_option.h"

#include "analysis/type_names.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace heapsift {

std::vector<TypeId> types_named(const HeapSnapshot& heap, const std::string& name, bool subclasses) {
    const TypeSearch search = find_types(heap.types, name);
    if (search.types.empty() && search.ambiguous)
        throw wrong_usage(
            "ambiguous-type",
            fmt::format("several types are called {}: {}", name, fmt::join(search.candidates, ", ")),
            "use one of these names");
    if (search.types.empty())
        throw wrong_usage("no-such-type", fmt::format("no type in this core is called {}", name),
                          search.candidates.empty()
                              ? command_line("types -n 0") + " lists them all"
                              : fmt::format("did you mean {}", fmt::join(search.candidates, ", ")));
    if (!subclasses) return search.types;
    std::vector<TypeId> all;
    for (TypeId type{0}; type < heap.types.size(); ++type)
        if (std::any_of(search.types.begin(), search.types.end(),
                        [&](TypeId of) { return heap.types.derives(type, of); }))
            all.push_back(type);
    return all;
}

std::vector<std::string> type_names_by_count(const HeapSnapshot& heap) {
    std::vector<std::uint64_t> counts(heap.types.size());
    for (ObjectId object{0}; object < heap.object_count(); ++object)
        if (const TypeId type = heap.type_of(object); type < counts.size()) ++counts[type];
    std::map<std::string, std::uint64_t> by_name;
    for (TypeId type{0}; type < heap.types.size(); ++type)
        if (counts[type] > 0) by_name[heap.types[type].name] += counts[type];
    std::vector<std::pair<std::string, std::uint64_t>> rows(by_name.begin(), by_name.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (auto& [name, count] : rows) names.push_back(std::move(name));
    return names;
}

}  // namespace heapsift
