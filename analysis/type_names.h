#pragma once

// The types that a person means by a name.

#include "parsers/cpython/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct TypeSearch {
    std::vector<TypeId> types;  // all types with that name; empty: none, or several names match
    // if `types` is empty: the names that match, or else the most similar ones
    std::vector<std::string> candidates;
    bool ambiguous = false;  // several names match
};

/// Every type whose qualified name is `name`; if there are * or ? in it, those that fit (* is any text, ? one
/// character); else every type whose name ends in ".name", if all of them have
/// the same qualified name.
TypeSearch find_types(const TypeTable& types, std::string_view name);

}  // namespace heapsift
