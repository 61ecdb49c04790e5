#pragma once

// A short text that is the same for cores with the same cause.

#include "analysis/overview.h"
#include "analysis/suspects/suspects.h"

#include <string>

namespace heapsift {

/// "worker.py; lru-cache; render of str": the program, the kind of the largest suspect, and how it is held
/// (Suspect::pattern). Of a process that ended by a fault of its own code: "worker.py; SIGSEGV in decode(), image.py".
/// Without a suspect "worker.py; no suspect; most in main(), …" of SuspectsResult::small, so that small processes with one
/// cause are together, apart from large ones; without that: "worker.py; no suspect; Python objects: dict, str", the largest part of its memory, and
/// the types that make up most of its heap. Contains no address, process id, count, line or value, nor the version of Python: so
/// it is equal across processes, hosts and versions, and differs where the cause does. `program`: see
/// signature_program.h. Not escaped.
std::string signature(const OverviewResult& result, const SuspectsResult& suspects,
                      const ProcessInfo& process, const std::string& running, const std::string& program);

/// "decode(), image.py": the innermost Python call of the thread that got the signal; "" if it has none.
std::string call_at_signal(const HeapReader& heap);

}  // namespace heapsift
