#pragma once

// Is a layout that of some CPython at all? A check of the offsets by themselves, before any of them is used;
// whether they are those of the process in the core is proved on the core (runtime.cpp).

#include "parsers/cpython/layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// What is wrong with one struct, in words: "freeblock is not in it", "ma_keys, at 46, does not lie in its 48
/// bytes". One fault a struct, the first that was found.
struct LayoutFault {
    std::string struct_name;
    std::string what;
};

/// The faults of the structs of `layout` that have a size: what its version requires must be there, and lie
/// inside; no field may begin in the midst of another, but where `table` has it so. `table` is the built-in
/// one of that version.
std::vector<LayoutFault> layout_faults(const Layout& layout, const Layout& table);

/// A struct that is sound by itself, but is not as the table has it, although it should be: it is one of
/// those that are the same in every build of a version, or has the table's size. Which is right, the core
/// must tell.
struct LayoutDifference {
    std::string struct_name;
    std::string what;  // "freeblock at 16, where other builds of CPython 3.11 have it at 8"
};

struct CompletedLayout {
    Layout layout;  // without the structs of `differing`: these are the table's
    std::vector<LayoutFault> refused;
    std::vector<LayoutDifference> differing;
};

/// The table, and in it what `read` says of the structs that it has: all of them sound, and with every field
/// that the version requires. What is neither is the table's, and is listed.
CompletedLayout completed_layout(const Layout& table, const Layout& read);

/// Puts the struct that is called so into `layout`, as `other` has it, except for fields that `other` lacks.
void take_struct(Layout& layout, const Layout& other, std::string_view struct_name);

}  // namespace heapsift
