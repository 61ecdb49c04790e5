// Compiled with -mavx2, alone: it includes nothing whose functions the linker might take for those of another file.

#include "parsers/capture/page_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heapsift {

std::uint64_t hash_of_page_by_avx2(const std::byte* page) { return XXH3_64bits(page, 4096); }

}  // namespace heapsift
