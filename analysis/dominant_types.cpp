#include "analysis/dominant_types.h"

#include <algorithm>
#include <map>

namespace heapsift {

std::vector<std::string> dominant_types(const std::vector<TypeRow>& types, std::uint64_t total) {
    std::map<std::string, std::uint64_t> memory;
    for (const TypeRow& row : types) memory[row.name] += row.memory;
    std::vector<std::string> names;
    for (const auto& [name, bytes] : memory)
        if (bytes > 0 && bytes >= total / 4) names.push_back(name);
    if (!names.empty() || memory.empty()) return names;
    return {std::max_element(memory.begin(), memory.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            })->first};
}

}  // namespace heapsift
