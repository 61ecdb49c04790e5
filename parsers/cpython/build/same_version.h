#pragma once

#include "parsers/cpython/build/python_version.h"

namespace heapsift {

/// Whether both are the same X.Y, whatever their patch.
constexpr bool have_one_minor(const PythonVersion& a, const PythonVersion& b) {
    return a.major == b.major && a.minor == b.minor;
}

}  // namespace heapsift
