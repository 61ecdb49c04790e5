#pragma once

// A short text that is the same for cores with the same cause.

#include "analysis/overview.h"

#include <string>

namespace heapsift {

/// "CPython 3.11; worker.py; SIGABRT; array data; numpy.ndarray": the interpreter (without its patch number),
/// the program, how it ended ("alive" if the process lived on), the largest part of its memory, and the types
/// that make up most of its heap. Contains no address, process id, size or value. `with_arguments`: the
/// program is the script or module that Python ran; otherwise, as under --redact, only the name of the
/// process.
std::string signature(const OverviewResult& result, const ProcessInfo& process, const PythonVersion& version,
                      bool with_arguments);

/// The program: "worker.py" for "python3 -X dev /srv/worker.py --id 7", "app.main" for "python -m app.main";
/// for a process of another name the first word. Numbers of three or more digits, which may be process ids,
/// become "#".
std::string program_name(const ProcessInfo& process, bool with_arguments);
}  // namespace heapsift
