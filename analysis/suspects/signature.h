#pragma once

// A short text that is the same for cores with the same cause.

#include "analysis/overview.h"
#include "analysis/suspects/suspects.h"

#include <string>

namespace heapsift {

/// "worker.py; lru-cache; render of str": the program, the kind of the largest suspect, and how it is held
/// (Suspect::pattern). Of a process that ended by a fault of its own code: "worker.py; SIGSEGV in decode(), image.py".
/// Without a suspect: "worker.py; no suspect; Python objects: dict, str", the largest part of its memory, and the types
/// that make up most of its heap. Contains no address, process id, count, line or value, nor the version of Python: so
/// it is equal across processes, hosts and versions, and differs where the cause does. `with_arguments`: the program is
/// the script or module that Python ran; otherwise, as under --redact, only the name of the process. Not escaped.
std::string signature(const OverviewResult& result, const SuspectsResult& suspects,
                      const ProcessInfo& process, const std::string& running, bool with_arguments);

/// "decode(), image.py": the innermost Python call of the thread that got the signal; "" if it has none.
std::string call_at_signal(const HeapReader& heap);

/// The program: "worker.py" for "python3 -X dev /srv/worker.py --id 7", "app.main" for "python -m app.main";
/// for a process of another name the first word. Numbers of three or more digits, which may be process ids,
/// become "#".
std::string program_name(const ProcessInfo& process, bool with_arguments);
}  // namespace heapsift
