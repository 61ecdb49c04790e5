#pragma once

// How Python writes a floating-point number: the fewest digits that tell it from its neighbours, and always a
// point or an exponent, for 1.0 is not 1.

#include <fmt/format.h>

#include <string>

namespace heapsift {

template <class T>
std::string float_text(T value) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace heapsift
