#pragma once

// What is held and where, in words that are the same wherever the same code leaks.

#include "analysis/overview.h"
#include "analysis/suspects/scene.h"
#include "analysis/suspects/suspect.h"

#include <string>

namespace heapsift {

/// "Feed.clients of _asyncio.Task", "CACHE of dict", "blocks of 4096 bytes". The same in another process
/// with the same cause, of any Python: the place is told by the class of the program, the global or the function that
/// holds it, not by the way there through a library; indices and keys are [*]; addresses, counts, lines and values are
/// left out; so are numbers in the names of threads, and those of four digits or more, and dates, in names of files and modules; types of
/// the standard library have one name (renamed_types.h). Closures have the function's name: "CALLBACKS of function
/// make.<locals>.on_paid()". Not escaped. Cost: some hundred reads of the core.
std::string pattern_of(const RetainedLookup& retained, const OverviewResult& overview,
                       const Suspect& suspect);

/// "work(), job_#.py" of "serve.<locals>.work(), job_20261127.py": a call as it stands in patterns and signatures. Up to
/// 3.10 Python does not keep qualified names of code.
std::string general_call(const std::string& call);

}  // namespace heapsift
