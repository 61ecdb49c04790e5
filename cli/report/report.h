#pragma once

// What a report says: the answers of the other commands, one section each.
//
// Nothing is computed here that a command does not compute as well: one question about the core fills the columns, each
// section asks the analysis of its command and hands the result to that command's renderer, and the blocks become HTML.
// So the page and the terminal cannot disagree. Answers that the index keeps are taken from it.
//
// Tables are longer than on a screen, since a page can filter them, and still cut: a page of 3 MB opens anywhere.

#include "analysis/growth/growth.h"
#include "cli/question.h"
#include "cli/report/page.h"

#include <memory>
#include <optional>

namespace heapsift {

struct ReportWishes {
    std::optional<std::size_t> rows;     // of each table; 0: all; nothing: as many as a page can have
    std::optional<GrowthResult> growth;  // between the older core and this one
    std::string older, newer;            // of growth: the names of both cores, for commands
};

/// What the question of a report needs.
std::vector<Need> needs_of_report();

/// How its commands name the core: beside an older one as the wishes do.
Page page_of_report(const Session& session, const ReportWishes& wishes);

/// The whole page. Cost: that of all the commands together.
ReportPage report(Session& session, const std::shared_ptr<Question>& question, ReportWishes wishes);

}  // namespace heapsift
