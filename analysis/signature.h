#pragma once

// A short text that cores of one cause have in common.

#include "analysis/overview.h"

#include <string>

namespace heapsift {

/// "CPython 3.11; worker.py; SIGABRT; array data; numpy.ndarray": interpreter (without its last number),
/// program, how it ended ("alive" where the process lived on), the largest part of its memory, the types that
/// dominate its objects. No address, process id or size is in it, and no value. `with_arguments`: the program
/// is the script or module that Python ran; else, as under --redact, only the process's name.
std::string signature(const OverviewResult& result, const ProcessInfo& process, const PythonVersion& version,
                      bool with_arguments);

/// The program: of "python3 -X dev /srv/worker.py --id 7" it is "worker.py", of "python -m app.main"
/// "app.main", of another name its first word. Numbers of three digits and more, which may be process ids,
/// become "#".
std::string program_name(const ProcessInfo& process, bool with_arguments);
}  // namespace heapsift
