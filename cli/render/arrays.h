#pragma once

#include "analysis/arrays.h"
#include "cli/answer.h"

#include <functional>

namespace heapsift {

/// Hand out the rows of a result's tables one by one.
struct ArraysRows {
    std::function<void(const std::function<void(const ShownArray&)>&)> arrays;
    std::function<void(const std::function<void(const ArrayOwnerRow&)>&)> owners;
};

/// "func().selected[*]", "app.App.kept[*] (DataFrame)"; ready for a terminal.
std::string held_as_text(const ArrayHolderRow& row);

/// The table that was asked for. `result` lives longer than the answer.
Answer render_arrays(const ArraysResult& result, const ArraysRows& rows, Redactor& redactor);
Answer render_array_waste(const ArraysResult& result, Redactor& redactor);

}  // namespace heapsift
