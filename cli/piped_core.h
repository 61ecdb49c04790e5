#pragma once

// What comes on standard input of `batch -`: a core, as the kernel pipes it to the program that core_pattern names, or a
// list of paths.

#include "parsers/base/descriptor.h"
#include "parsers/base/error.h"

#include <optional>
#include <string>

namespace heapsift {

struct PipedInput {
    Descriptor core;                    // a file without a name that has all of it; closed if it is no core
    std::string text;                   // else all that came
    std::optional<Error> failure = {};  // "cannot-write": it was a core, and found no room
    /// By which the core can be opened as long as `core` is open; where nothing is, if it is closed.
    std::string core_path() const;
};

/// Reads `input` to its end. A core (plain or compressed, by its first bytes) goes into a file without a name in
/// `directory`, or /var/tmp if it is "" or has no room for such files; so does what is no text, and at none of whose
/// paths anything is, and nothing at all: then it is taken for what should have been a core. Where that
/// finds no room, `failure` says so, and what else would have come is not read.
PipedInput read_piped_input(int input, const std::string& directory);

}  // namespace heapsift
