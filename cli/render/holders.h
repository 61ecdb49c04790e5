#pragma once

// Tables of what holds objects: why --type, types --by-holder.

#include "analysis/holders.h"
#include "cli/answer.h"

namespace heapsift {

Answer render_why_type(const HoldersResult& result, const std::string& type, Redactor& redactor);
Answer render_by_holder(const HoldersResult& result, Redactor& redactor);

}  // namespace heapsift
