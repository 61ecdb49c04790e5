#pragma once

// Spans of a text as characters of a page.

#include "cli/document/datum.h"
#include "cli/page.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// One span in the units of the page, redacted and escaped.
std::string shown(const Span& span, const Page& page);

/// A text on one line, without style; only spans with a limit of their own are shortened.
std::string plain(const Text& text, const Page& page);
/// The same for use beside data: without bounds, bytes in units.
std::string plain(const Text& text, Redactor& redactor);

/// The content of a long datum, for programs.
std::string long_text(const Datum::Long& text, Redactor& redactor);

/// A text on one line, and which parts of it are bold or faint.
class StyledLine {
public:
    /// If the line is too long for the page, the span that gives way is shortened.
    StyledLine(const Text& text, const Page& page, std::size_t indent);

    const std::string& words() const { return words_; }
    /// Applies the styles to `laid_out`, which is `words()` with blanks replaced by line ends and blanks, and
    /// text added at the end.
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
