#pragma once

// Standard output and standard error. Results go to the one, all else to the other, a line each.

#include "cli/redact.h"
#include "parsers/base/diagnostics.h"
#include "parsers/base/error.h"

#include <string>
#include <string_view>

namespace heapsift {

/// Thrown where the reader of standard output has gone (`| head`): the rest is not wanted, and that is no
/// error.
struct OutputClosed {};

/// Standard output, buffered. Throws OutputClosed, or `Error` (exit 1) where it can't be written (a full
/// disk).
class Output {
public:
    void write(std::string_view text);
    void flush();

private:
    std::string buffer_;
};

/// Lines on standard error. Each is redacted where asked, and escaped: a message may carry text of a core.
class Console {
public:
    Console(bool quiet, const Redactor& redactor) : quiet_(quiet), redactor_(redactor) {}
    void set_quiet(bool quiet) { quiet_ = quiet; }

    void note(std::string_view line) const;            // "heapsift: …"; nothing under -q
    void warning(const Diagnostic& diagnostic) const;  // "heapsift: warning: …"; nothing under -q
    void table(std::string_view lines) const;  // as they are, of the program's own words; nothing under -q
    void error(const Error& error) const;      // "heapsift: message; hint"
    /// What `error` shows, for the document of --json.
    std::string shown(std::string_view text) const;

private:
    // `broken`: at blanks, to the width of a terminal.
    void line(std::string_view prefix, std::string_view text, bool broken) const;

    bool quiet_;
    const Redactor& redactor_;
};

/// A message with how often it was true, where that was more than once.
std::string message_of(const Diagnostic& diagnostic);

}  // namespace heapsift
