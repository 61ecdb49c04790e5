#pragma once

// Tables of what holds objects: why --type, types --by-holder.

#include "analysis/holders.h"
#include "cli/document/document.h"

#include <string>

namespace heapsift {

Document render_why_type(HoldersResult result, const std::string& type);
/// `type`: the one type that was asked for, or nothing.
Document render_by_holder(HoldersResult result, const std::string& type);

}  // namespace heapsift
