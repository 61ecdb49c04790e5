
#include "cli/page.h"

#include "cli/units.h"

namespace heapsift {

std::string Page::bytes(std::uint64_t count) const { return bytes_text(count, exact_bytes); }

}  // namespace heapsift
