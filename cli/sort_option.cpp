// The keys of --sort.

#include "cli/sort_option.h"

#include "cli/command_options.h"

#include <array>

namespace heapsift {
namespace {

constexpr std::array keys = {SortKey::retained,   SortKey::memory, SortKey::size,
                             SortKey::array_data, SortKey::count,  SortKey::name};

}  // namespace

void add_sort_option(CommandOptions& declare, std::optional<SortKey>& sort, const std::string& default_is) {
    std::vector<std::string> names;
    for (const SortKey key : keys) names.push_back(name_of(key));
    declare.choice(
        "--sort", names, [&sort](std::size_t choice) { sort = keys[choice]; },
        "sort key (" + default_is + ")");
}

std::string name_of(SortKey sort) {
    switch (sort) {
        case SortKey::retained:
            return "retained";
        case SortKey::memory:
            return "memory";
        case SortKey::size:
            return "size";
        case SortKey::array_data:
            return "array_data";
        case SortKey::count:
            return "count";
        case SortKey::name:
            return "name";
    }
    return "";
}

}  // namespace heapsift
