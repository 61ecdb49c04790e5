#pragma once

// The types a person means by a name.

#include "parsers/cpython/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct TypeSearch {
    std::vector<TypeId> types;  // all that have the name meant; empty: none, or several names fit
    std::vector<std::string>
        candidates;          // where `types` is empty: the names that fit, or else the nearest ones
    bool ambiguous = false;  // several names fit
};

/// Every type whose qualified name is `name`; else every type whose name ends in ".name", if they share one
/// qualified name.
TypeSearch find_types(const TypeTable& types, std::string_view name);

}  // namespace heapsift
