#pragma once

// How text is shown: what every writer of text needs to know.

#include "cli/redact.h"
#include "parsers/base/program_name.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapsift {

struct Page {
    std::size_t width = 0;  // columns; 0: not a terminal, nothing is shortened
    // Lines that a first screen should not exceed; 0: not a terminal, or the number of rows was given.
    std::size_t height = 0;
    bool colour = false;
    bool exact_bytes = false;   // --bytes
    bool lower_bounds = false;  // the core is cut: true counts and sizes may be larger
    std::string core_words;     // what a hint adds to name the same core again: " core.1234", or nothing
    std::string program = {};   // in place of how this one was called; for readers elsewhere
    Redactor* redactor = nullptr;

    Redactor& redact() const { return *redactor; }
    /// Bytes in this page's units.
    std::string bytes(std::uint64_t count) const;
    /// "≥ " before totals of a cut core.
    std::string at_least(const std::string& text) const { return lower_bounds ? "≥ " + text : text; }
    /// "≈ " before what a cut core makes uncertain, such as retained sizes.
    std::string about(const std::string& text) const { return lower_bounds ? "≈ " + text : text; }
    /// The command line that runs `words… CORE` of this program.
    std::string command(std::string_view words) const {
        if (program.empty()) return command_line(words) + core_words;
        return program + " " + std::string(words) + core_words;
    }
};

}  // namespace heapsift
