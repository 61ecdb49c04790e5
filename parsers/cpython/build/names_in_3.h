#pragma once

// CPython 2.7 has other names for some C types than 3, or has the same name for another: its `str` is what 3 calls
// bytes. Kinds and known types go by the names of 3. (tp_name in Objects/ and Modules/ of 2.7)

#include "parsers/cpython/layout.h"

#include <string_view>

namespace heapsift {

/// The name under which heapsift knows the C type that this interpreter calls `tp_name`. Types that only 2.7 has, and
/// those that are like none of 3, keep theirs, or have one that ends in "of 2.7". Refers to `tp_name`, or is static.
std::string_view name_in_3(const LayoutVersion& version, std::string_view tp_name);

/// The name that 3 has for an attribute of functions and methods which 2.7 also calls `name`: "__code__" for "func_code".
/// Empty if there is none.
std::string_view attribute_in_3(const LayoutVersion& version, std::string_view name);

}  // namespace heapsift
