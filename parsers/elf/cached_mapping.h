#pragma once

// Files of the cache while they are mapped: an index, a core that was unpacked. The kernel sends SIGBUS when
// such a file is cut by somebody else, or its disk fails; the handler then has to know what to blame, and
// that the file can go, since it can be made anew.

#include "parsers/elf/bytes.h"

#include <cstdint>
#include <string>

namespace heapsift {

enum class CachedKind : std::uint8_t { none, index, unpacked_core };

/// Knows, as long as it lives, that `bytes` are mapped from the file `path`. There is room for a few at a
/// time: of what is beyond, a handler finds nothing.
class CachedMapping {
public:
    CachedMapping(CachedKind kind, Bytes bytes, const std::string& path);
    CachedMapping(const CachedMapping&) = delete;
    CachedMapping& operator=(const CachedMapping&) = delete;
    ~CachedMapping();

private:
    int place_ = -1;
};

/// For signal handlers: what is mapped at `address`; if it is a file of the cache, its name is removed.
CachedKind remove_cached_file_at(const void* address) noexcept;

}  // namespace heapsift
