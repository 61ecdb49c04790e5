#pragma once

// Says what a file is that was given as a core but is none. Each kind gets the one line that helps.

#include "parsers/base/error.h"
#include "parsers/elf/bytes.h"
#include "parsers/elf/file_mapping.h"

#include <string>

namespace heapsift {

/// The error for a file that could not be opened or mapped. `status.failure` must not be none.
Error cannot_open_core(const std::string& path, const FileMapping::Status& status);

/// Returns if `file` begins as an ELF core of x86-64; else throws the `Error` (exit 1) that says what it is.
void require_core(const std::string& path, Bytes file);

}  // namespace heapsift
