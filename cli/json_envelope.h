#pragma once

// The document around every JSON answer.

#include "cli/core_choice.h"
#include "cli/json.h"
#include "cli/redact.h"
#include "parsers/base/diagnostics.h"
#include "parsers/base/error.h"
#include "parsers/cpython/runtime.h"

#include <vector>

namespace heapsift {

struct Envelope {
    std::string command;   // "types"
    Json core = nullptr;   // null if none was chosen
    bool complete = true;  // every byte that the core promises is there, and all that was read is sound
    bool certain = true;   // numbers are exact, not lower bounds
    std::vector<Diagnostic> warnings;
};

/// `core` of the document. Before the core is opened only path and chosen_by are known.
Json core_json(const CoreChoice& choice, Redactor& redactor);
Json core_json(const CoreChoice& choice, const CoreFile& core, const PythonRuntime* python,
               Redactor& redactor);

/// Everything but `data`.
Json envelope_json(const Envelope& envelope, const Redactor& redactor);

/// {"code", "message", "hint"}; the hint is null where there is none.
Json error_json(const Error& error, const Redactor& redactor);

}  // namespace heapsift
