#pragma once

// Equal values: the table, and what would mend it.

#include "analysis/duplicates.h"
#include "cli/document/document.h"

#include <functional>
#include <memory>

namespace heapsift {

/// `row`: what `duplicate_row` says; it is called while the document is written.
Document render_duplicates(const std::shared_ptr<const DuplicatesResult>& result,
                           const std::function<DuplicateRow(const DuplicateValue&)>& row);

/// "app.CACHE['*']"; "garbage" for what nothing reaches.
Text held_as_words(const HolderCount& holder);
/// How to have one copy: "sys.intern(text) where they are made".
const char* fix_words(DuplicateFix fix);
/// Its name in JSON.
const char* name_of(DuplicateFix fix);

}  // namespace heapsift
