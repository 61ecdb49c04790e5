#pragma once

// Whether a fork of a process would have to wait for somebody to take notice of it.

#include "parsers/capture/memory_map.h"
#include "parsers/capture/process_files.h"

#include <optional>
#include <span>
#include <string_view>

namespace heapsift {

/// The features of the userfaultfd whose /proc/PID/fdinfo/N this is; nothing if it does not say.
std::optional<unsigned> userfaultfd_features(std::string_view fdinfo);

/// True if memory of the process belongs to a userfaultfd that asks for the events of a fork, or may do so: a fork then
/// lasts until the event is read, by a thread that stands meanwhile. `mappings`: of smaps. Cost: nothing for a process
/// without such memory, else a link and a small file for each of its open files.
bool fork_waits_for_reader(const ProcessFiles& process, std::span<const Mapping> mappings);

}  // namespace heapsift
