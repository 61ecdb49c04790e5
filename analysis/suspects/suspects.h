#pragma once

// The likely causes of what a process has in use, largest first, each with its fix.

#include "analysis/overview.h"
#include "analysis/suspects/suspect.h"
#include "analysis/work.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace heapsift {

struct SuspectsResult {
    std::vector<Suspect> suspects;  // by bytes, largest first; cut to the limit
    std::uint64_t total = 0;        // before
    std::uint64_t bytes = 0;        // of all of them: no byte is in two, so at most what is in use
    // Holders that keep more than the last of `suspects`, and are none themselves, as a large array or text is none;
    // without cause and fix, largest first. Empty where there is no suspect
    std::vector<Suspect> others;
    // Where there is no suspect: the largest holder that would be one in a larger process, with its cause and pattern. It
    // has a tenth of what is in use and 1 MiB, and is a collection of the program's own that nothing bounds
    std::optional<Suspect> small;
    // What is no suspect because it cannot grow (Cause::usual), with its cause; largest first
    std::vector<Suspect> bounded;

    /// The suspects and the others, largest first.
    std::vector<Suspect> with_others() const;
};

/// What `overview` has found, explained. `limit` 0: all. Cost: some thousand reads of the core for each holder; with
/// `code`, which adds Suspect::used_in, those of the program's code objects, and where no answer is kept a look at each
/// object's type.
SuspectsResult suspects(Work& work, const OverviewResult& overview, std::size_t limit, bool code = false);

}  // namespace heapsift
