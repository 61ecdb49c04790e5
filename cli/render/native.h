#pragma once

#include "analysis/native.h"
#include "analysis/source_line.h"
#include "cli/document/document.h"

#include <functional>
#include <optional>
#include <vector>

namespace heapsift {

struct NativeShown {
    bool leaked_only = false;
    bool blocks = false;  // one by one, for people; and as rows for programs
};

/// Single blocks and contents, which are computed when they are written. What these functions refer to must live
/// until then.
struct NativeDetails {
    std::function<NativeList()> list;
    std::function<NativeListRow(Address block, std::uint32_t row)> row;
    std::function<std::vector<NativeContent>()> contents;
    // That allocated a block, by its address and size; none: tracemalloc was off.
    std::function<std::optional<SourceLine>(const AddressRange&)> line;
};

/// Blocks of C code, by class and by size, or one by one.
Document render_native(NativeResult native, NativeDetails details, NativeShown shown);

}  // namespace heapsift
