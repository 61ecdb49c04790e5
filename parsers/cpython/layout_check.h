#pragma once

// Can a layout be that of a CPython at all? This checks the offsets by themselves, before any is used.
// Whether they fit the process in the core is proved on the core (runtime.cpp).

#include "parsers/cpython/layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// What is wrong with one struct, in words: "freeblock is not in it", "ma_keys, at 46, does not lie in its 48
/// bytes". Only the first fault of a struct is reported.
struct LayoutFault {
    std::string struct_name;
    std::string what;
};

/// The faults of those structs of `layout` that have a size. Fields that its version requires must be there,
/// and lie inside. No field may begin inside another, unless it does so in `table`, the built-in one of that
/// version.
std::vector<LayoutFault> layout_faults(const Layout& layout, const Layout& table);

/// A struct that is sound by itself but differs from the table, although it should not: it is the same in
/// every build of a version, or has the table's size. The core must tell which is right.
struct LayoutDifference {
    std::string struct_name;
    std::string what;  // "freeblock at 16, where other builds of CPython 3.11 have it at 8"
};

struct CompletedLayout {
    Layout layout;  // except for the structs of `differing`, which are the table's
    std::vector<LayoutFault> refused;
    std::vector<LayoutDifference> differing;
};

/// The table, with the structs that `read` has put in their place, if they are sound and have every field
/// that the version requires. The others stay as in the table, and are listed.
CompletedLayout completed_layout(const Layout& table, const Layout& read);

/// Copies the struct of that name from `other` into `layout`, except for fields that `other` lacks.
void take_struct(Layout& layout, const Layout& other, std::string_view struct_name);

}  // namespace heapsift
