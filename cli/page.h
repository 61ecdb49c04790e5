#pragma once

// How text is to be shown: what every renderer of text is told.

#include "cli/redact.h"
#include "parsers/base/program_name.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapsift {

struct Page {
    std::size_t width = 0;  // 0: not a terminal, nothing is shortened
    // what a first screen should not exceed; 0: not a terminal, or the number of rows was asked for
    std::size_t height = 0;
    bool colour = false;
    bool exact_bytes = false;   // --bytes
    bool lower_bounds = false;  // the core is cut: counts and sizes are at least these
    std::string core_words;     // what a hint must add to name the same core again: " core.1234", or nothing
    Redactor* redactor = nullptr;

    Redactor& redact() const { return *redactor; }
    /// Bytes in this page's units.
    std::string bytes(std::uint64_t count) const;
    /// "≥ " in front of totals of a cut core.
    std::string at_least(const std::string& text) const { return lower_bounds ? "≥ " + text : text; }
    /// "≈ " in front of what a cut core leaves uncertain: what retains what.
    std::string about(const std::string& text) const { return lower_bounds ? "≈ " + text : text; }
    /// The command line that asks this program for `words… CORE`.
    std::string command(std::string_view words) const { return command_line(words) + core_words; }
};

}  // namespace heapsift
