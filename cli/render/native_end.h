#pragma once

// Ends of ways through C code's memory, and what holds an object there.

#include "analysis/native_holders.h"
#include "cli/document/document.h"

#include <optional>

namespace heapsift {

/// "list of 3", "a block of 64 B, hold::Entry", "libhold.so registry".
Text end_words(const NativeEnd& end);
Datum end_data(const NativeEnd& end);

/// What leads to the block that has the word: "held by libhold.so registry", "held through 3 more blocks,
/// from Foo 0x7f…", "leaked"; empty if the word stands in no block.
Text held_by_words(const NativeHolder& holder);
/// Nothing for one of which nothing more is known.
std::optional<Datum> holder_data(const NativeHolder& holder);

}  // namespace heapsift
