#pragma once

// Standard output and standard error. Results go to the first, everything else to the second, one line each.

#include "cli/redact.h"
#include "parsers/base/diagnostics.h"
#include "parsers/base/error.h"

#include <string>
#include <string_view>

namespace heapsift {

/// Thrown if the reader of standard output is gone (`| head`): the rest is not wanted. Not an error.
struct OutputClosed {};

/// Standard output, buffered. Throws OutputClosed, or `Error` (exit 1) if it cannot be written (a full disk).
class Output {
public:
    void write(std::string_view text);
    void flush();

private:
    std::string buffer_;
};

/// Lines on standard error. Each is redacted if asked for, and escaped, since a message may carry text from a
/// core.
class Console {
public:
    Console(bool quiet, const Redactor& redactor) : quiet_(quiet), redactor_(redactor) {}
    void set_quiet(bool quiet) { quiet_ = quiet; }

    void note(std::string_view line) const;            // "heapsift: …"; nothing under -q
    void warning(const Diagnostic& diagnostic) const;  // "heapsift: warning: …"; nothing under -q
    void table(std::string_view lines) const;  // unchanged: the program's own words only; nothing under -q
    void error(const Error& error) const;      // "heapsift: message; hint"
    /// The text that `error` shows, for the JSON document.
    std::string shown(std::string_view text) const;

private:
    // `broken`: wraps at blanks to the width of the terminal.
    void line(std::string_view prefix, std::string_view text, bool broken) const;

    bool quiet_;
    const Redactor& redactor_;
};

/// A message, and how often it occurred if more than once.
std::string message_of(const Diagnostic& diagnostic);

}  // namespace heapsift
