#pragma once

// Tables of what holds objects, for why --type and types --by-holder.

#include "analysis/holders.h"
#include "cli/document/document.h"

#include <string>

namespace heapsift {

Document render_why_type(HoldersResult result, const std::string& type);
/// `type`: the type that was asked for, or empty.
Document render_by_holder(HoldersResult result, const std::string& type);

}  // namespace heapsift
