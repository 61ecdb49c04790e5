#pragma once

// Spans of a text as characters of a page.

#include "cli/document/datum.h"
#include "cli/page.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// One span: in the units of the page, redacted and escaped.
std::string shown(const Span& span, const Page& page);

/// A text in one line: no style, nothing shortened but what is never longer.
std::string plain(const Text& text, const Page& page);
/// The same beside data: exact, no bounds; bytes in units.
std::string plain(const Text& text, Redactor& redactor);

/// A text for programs.
std::string long_text(const Datum::Long& text, Redactor& redactor);

/// A text in one line, and where in it something is bold or faint.
class StyledLine {
public:
    /// On a page where it is too long, the span that gives way is shortened.
    StyledLine(const Text& text, const Page& page, std::size_t indent);

    const std::string& words() const { return words_; }
    /// `laid_out`, which is these words with blanks replaced by line ends and blanks and with something behind them,
    /// with its styles.
    std::string styled(const std::string& laid_out) const;

private:
    struct Range {
        std::size_t begin, end;
        Span::Style style;
    };
    std::string words_;
    std::vector<Range> ranges_;
};

}  // namespace heapsift
