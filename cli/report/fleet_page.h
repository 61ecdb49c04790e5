#pragma once

// The page about many cores: `report LINES -o fleet.html`.
//
// The page of one core (cli/report/page.h) with other sections: which causes, by signature; when; with which versions of
// the interpreter and of packages; on which hosts; an example of each, with what to do; what was not analysed. It has the
// same frame, style, script and policy, and is whole without its script. Everything in it comes from lines that may be
// anyone's: all of it goes through the writers that escape and redact what a core holds.

#include "cli/report/fleet.h"
#include "cli/report/page.h"

#include <optional>
#include <string>

namespace heapsift {

struct FleetPageWishes {
    std::optional<std::size_t> rows;  // of each table; 0: all
    std::string output;               // the page's path: links to reports are relative to it
    std::vector<std::string> files;   // of lines, in the order in which Fleet::begin_file was called
};

/// `notes`: what to know of the numbers. Cost: a walk over what `fleet` has, and a look for a report beside each example.
ReportPage fleet_page(const Fleet& fleet, const FleetPageWishes& wishes, const Diagnostics& notes,
                      const Page& page);

/// The path of a report that lies beside a core: its own with ".html" behind it, with or without the ending of what
/// compressed it; as it is named, or else from the folder of `lines`. "" if there is none that heapsift wrote.
std::string report_beside(const std::string& core, const std::string& lines);

/// The part of a time that one bar shows: 1, 24, 168 hours or a multiple of that, so that there are at most 60.
std::int64_t hours_of_bar(std::int64_t first, std::int64_t last);

}  // namespace heapsift
