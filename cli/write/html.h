#pragma once

// Blocks of a document as HTML: what a terminal shows, in elements that a browser, a screen reader and a script
// understand.
//
// A table becomes a table with headings and a caption, without columns that are empty throughout; a cell that is a number carries it exactly in `data-v`, by which
// a script sorts; a tree has its depth as a class. No element has a style or a handler of its own, so that the page
// can forbid both. Whatever comes from the core goes through `shown` (cli/write/spans.h), which redacts it and spells
// out what cannot be seen, and then through `escape_for_html`. A name of 10,000 letters is cut: with a thousand rows it
// would be most of the page.

#include "cli/document/document.h"
#include "cli/page.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// Text as the content of an element, or of an attribute between double quotes: &, <, >, " and ' as references.
/// Bytes that are not UTF-8 stay: `escape_for_terminal` comes first. U+FFFE and U+FFFF, no characters of XML, become
/// "\ufffe" and "\uffff".
std::string escape_for_html(std::string_view text);

/// JSON as the content of a script element: nothing in it ends that element or begins a comment. The JSON says the same.
std::string escape_json_for_script(std::string_view json);

/// A text as inline elements. `page` has the units, the redactor and the core's name; its width is not used.
std::string html_of(const Text& text, const Page& page);

/// The blocks one after the other; `caption` names each of their tables to a screen reader. An
/// Alternative shows its blocks, a Masthead is a heading of the first level.
void write_html(const std::vector<Block>& blocks, const Page& page, std::string_view caption,
                const std::function<void(std::string_view)>& write);

}  // namespace heapsift
