#pragma once

#include <string>

namespace heapsift {

/// A class of the program by its name without that of its module, "Order.Line", and the module's `__file__`.
struct ClassInSource {
    std::string name, file;
};

}  // namespace heapsift
