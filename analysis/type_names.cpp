// People type `Node` and mean `__main__.Node`; and many types may have the same name, when a class statement
// runs again and again.

#include "analysis/type_names.h"

#include "parsers/base/text.h"

#include <algorithm>
#include <set>

namespace heapsift {
namespace {

constexpr std::size_t candidate_limit = 5;

std::string_view last_component(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// The most similar qualified names; if none is similar, those whose last component is.
std::vector<std::string> nearest_type_names(const std::set<std::string>& names, std::string_view name) {
    const std::vector<std::string> all(names.begin(), names.end());
    std::vector<std::string> nearest = nearest_words(name, all, candidate_limit);
    if (!nearest.empty()) return nearest;
    std::vector<std::string> components;
    for (const std::string& known : all) components.emplace_back(last_component(known));
    const std::vector<std::string> near = nearest_words(last_component(name), components, candidate_limit);
    for (const std::string& component : near)
        for (std::size_t i = 0; i < all.size() && nearest.size() < candidate_limit; ++i)
            if (components[i] == component &&
                std::find(nearest.begin(), nearest.end(), all[i]) == nearest.end())
                nearest.push_back(all[i]);
    return nearest;
}

bool fits(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, place = 0, star = std::string_view::npos, resume = 0;
    while (place < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            resume = place;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[place])) {
            ++at;
            ++place;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            place = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

TypeSearch find_types(const TypeTable& types, std::string_view name) {
    TypeSearch search;
    std::set<std::string> names, bare;
    std::vector<TypeId> by_bare_name;
    const bool pattern = name.find_first_of("*?") != std::string_view::npos;
    for (TypeId id{0}; id < types.size(); ++id) {
        const std::string& known = types[id].name;
        names.insert(known);
        if (pattern ? fits(name, known) : known == name) search.types.push_back(id);
        if (known.size() > name.size() && known.ends_with(name) &&
            known[known.size() - name.size() - 1] == '.') {
            by_bare_name.push_back(id);
            bare.insert(known);
        }
    }
    if (!search.types.empty()) return search;
    if (bare.size() == 1) {
        search.types = by_bare_name;
    } else if (bare.size() > 1) {
        search.ambiguous = true;
        search.candidates.assign(bare.begin(), bare.end());
    } else {
        search.candidates = nearest_type_names(names, name);
    }
    return search;
}

}  // namespace heapsift
