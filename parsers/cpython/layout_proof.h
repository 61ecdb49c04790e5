#pragma once

// What was tried to prove that a layout is that of the interpreter in the core.

#include <string>

namespace heapsift {

struct LayoutCheck {
    std::string what;  // "type is its own type"
    bool passed = false;
};

}  // namespace heapsift
