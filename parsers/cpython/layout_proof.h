#pragma once

// The checks that prove a layout to be that of the interpreter in the core.

#include <string>

namespace heapsift {

struct LayoutCheck {
    std::string what;  // "type is its own type"
    bool passed = false;
};

}  // namespace heapsift
