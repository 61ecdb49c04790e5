#pragma once

// The page of `report`: one HTML file that needs nothing else.
//
// Its parts are files of the source (cli/report/page): a frame, a style, a script. This puts the sections between them,
// as elements (cli/write/html.h), and the trees of the picture as JSON, which only the script reads: without it the same
// picture, drawn beforehand, and the same tables stand there. The page's own Content-Security-Policy lets the browser
// load nothing, and run and apply nothing but the script and the style with these hashes; so should anything from
// the core ever escape its escaping, it still would not run.

#include "analysis/overview.h"
#include "cli/document/document.h"
#include "cli/page.h"
#include "cli/report/area_tree.h"
#include "parsers/base/diagnostics.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ReportSection {
    std::string id, title;                // of its heading and in the list of sections; our own words
    std::string command = {};             // that answers the same, "types"; empty for none
    Text lead = {};                       // what it shows, below the heading
    std::vector<std::string> parts = {};  // HTML, in order
};

struct ReportPage {
    std::string title = {};              // of the window; escaped for a terminal, not for HTML
    std::vector<std::string> head = {};  // HTML above the sections: whose core it is, how complete
    std::vector<ReportSection> sections = {};
    std::vector<std::pair<std::string, AreaNode>> areas = {};  // of the picture, by name: "objects", "types"
};

/// What to know of the numbers, one line each; "" if there is nothing.
std::string report_notes(const Diagnostics& notes, const Page& page);
/// Blocks as one part of a section.
std::string report_part(const std::vector<Block>& blocks, const Page& page, std::string_view caption);
/// A heading below a section's own.
std::string report_heading(const Text& text, const Page& page);
/// One bar of all rows of memory in use, in the colours that page.css gives to the rows of the table below it.
std::string memory_bar(const OverviewResult& result, const Page& page);
/// The picture before a script has run, and what its colours mean.
std::string report_picture(const AreaNode& top, const Page& page);

/// Trees as JSON for the script: {"objects": {"n": name, "v": bytes, "k": kind, "t": type, "x": expression, "a": address,
/// "m": native bytes, "r": 1 if it is the rest, "c": [children]}}; what is empty is left out. Not yet escaped for its element.
std::string areas_json(const std::vector<std::pair<std::string, AreaNode>>& areas);

void write_report(const ReportPage& report, const Page& page,
                  const std::function<void(std::string_view)>& write);

}  // namespace heapsift
