#pragma once

// The parts of the page that are files of the source: cli/report/page. They lie in the executable compressed, together,
// as cli/report/tool/pack.cpp has packed them when it was built.

#include <string>

namespace heapsift {

struct PageAssets {
    std::string page;        // HTML, with @NAMES@ to be replaced
    std::string style;       // as in its element
    std::string script;      // the same; d3-hierarchy's before the page's own
    std::string style_hash;  // SHA-256 of `style`, hexadecimal
    std::string script_hash;
};

PageAssets page_assets();

/// A hash of so many hexadecimal digits, an even number, in base 64: as a Content-Security-Policy has it.
std::string base64_of_hexadecimal(const std::string& digits);

}  // namespace heapsift
