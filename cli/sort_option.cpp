// Sorting. Retained sizes are not a key until they are computed.

#include "cli/sort_option.h"

#include <CLI/CLI.hpp>

#include <map>

namespace heapsift {
namespace {

const std::map<std::string, SortKey> keys = {{"memory", SortKey::memory},
                                             {"size", SortKey::size},
                                             {"array_data", SortKey::array_data},
                                             {"count", SortKey::count},
                                             {"name", SortKey::name}};

}  // namespace

void add_sort_option(CLI::App& app, SortKey& sort) {
    app.add_option_function<std::string>(
           "--sort", [&sort](const std::string& key) { sort = keys.at(key); },
           "largest first by this; " + name_of(sort) + " unless given")
        ->check(CLI::IsMember(keys))
        ->type_name("memory|size|array_data|count|name");
}

std::string name_of(SortKey sort) {
    for (const auto& [name, key] : keys)
        if (key == sort) return name;
    return "retained";
}

}  // namespace heapsift
