#include "parsers/capture/page_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heapsift {

std::uint64_t hash_of_page_by_sse2(const std::byte* page) { return XXH3_64bits(page, 4096); }

std::uint64_t hash_of_page(const std::byte* page) {
    static const auto chosen = __builtin_cpu_supports("avx2") ? hash_of_page_by_avx2 : hash_of_page_by_sse2;
    return chosen(page);
}

}  // namespace heapsift
