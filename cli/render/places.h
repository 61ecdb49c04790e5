#pragma once

// Places of the program's source, as a sentence names them.

#include "analysis/suspects/collector_calls.h"
#include "analysis/suspects/tied_in.h"
#include "cli/document/document.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

inline constexpr std::size_t most_places_shown = 3;

/// "submit(), shop.py:15, and Monitor.feed(), shop.py:4": `most` of them from the one with the index `first` on, and how
/// many more there are; `more` of these are not in `places`.
Text places_words(const std::vector<SourcePlace>& places, std::size_t first, std::size_t most,
                  std::uint64_t more);

/// "drop(), app.py:24 (Pair.one and Pair.other)"; "open(), app.py:7 (Door.room) and enter(), app.py:9 (Room.door)". Of at
/// least one.
Text ties_words(const std::vector<TiedIn>& ties);

/// "gc.disable() is called in main(), app.py:3."
Text words_of(const CollectorCall& call);

Datum place_data(const SourcePlace& place);
Datum places_data(const std::vector<SourcePlace>& places);
Datum ties_data(const std::vector<TiedIn>& ties);
Datum calls_data(const std::vector<CollectorCall>& calls);

}  // namespace heapsift
