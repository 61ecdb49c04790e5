#pragma once

#include "analysis/arrays.h"
#include "cli/document/document.h"

#include <functional>
#include <memory>

namespace heapsift {

/// Read the rows of a result's tables one by one. The document keeps them, and they own what they read from.
struct ArraysRows {
    RowsOf<ShownArray> arrays = {};
    RowsOf<ArrayOwnerRow> owners = {};
    // The first row of each table; call it only if the table is not empty.
    std::function<ShownArray()> first_array = {};
    std::function<ArrayOwnerRow()> first_owner = {};
};

/// "func().selected[*]", "app.App.kept[*] (DataFrame)".
Text held_as_words(const ArrayHolderRow& row);

/// The table that was asked for.
Document render_arrays(const std::shared_ptr<const ArraysResult>& result, const ArraysRows& rows);
Document render_array_waste(const std::shared_ptr<const ArraysResult>& result);

}  // namespace heapsift
