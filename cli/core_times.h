#pragma once

// Whether two cores were given in the wrong order, the newer one first. Then all that grew seems to have shrunk.
//
// A core says when it was taken if `heapsift capture` took it, in its note. Of another, the time at which its process
// imported `logging` is known (analysis/program_facts.h), which tells two processes apart, but not two cores of one; and
// of its file, when it was last written: that is when the core was taken, unless somebody copied it without its times.

#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>

namespace heapsift {

/// Seconds since 1970, as far as they are known.
struct CoreTimes {
    std::string name;               // base name of the core's file, or a process id; not escaped
    std::optional<double> taken;    // by the note of `capture`
    std::optional<double> started;  // its process, or a little before
    std::optional<double> written;  // the file
    std::int32_t pid = 0;
};

/// Of a heap with roots, in the file `path`; empty for a process that lives. Reads the core's notes and one variable.
CoreTimes core_times(const HeapReader& heap, const std::string& path);

/// What to tell where `newer` is the older one, one line without a period; nothing where it is not, or nothing tells. The
/// best that both cores know counts alone: when they were taken, when their processes began, when the files were written.
std::optional<std::string> doubt_of_order(const CoreTimes& older, const CoreTimes& newer);

}  // namespace heapsift
