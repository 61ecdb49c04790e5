#pragma once

// Tables of what holds objects, for why --type, holders and types --by-holder.

#include "analysis/holders.h"
#include "cli/document/document.h"

#include <string>

namespace heapsift {

Document render_why_type(HoldersResult result, const std::string& type);
/// `command`: the one that was typed, "holders" or "types"; `type`: what was asked for, or empty.
Document render_holders(HoldersResult result, const std::string& command, const std::string& type);

}  // namespace heapsift
