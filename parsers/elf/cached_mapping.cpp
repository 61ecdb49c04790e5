// A signal handler may neither allocate nor wait for a lock, so names are in fixed buffers. A place is taken
// by its `state`, and can be read once `bytes` is set, which happens last.

#include "parsers/elf/cached_mapping.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <functional>

namespace heapsift {
namespace {

struct Place {
    std::atomic<bool> taken = false;
    std::atomic<std::size_t> bytes = 0;  // not 0: the rest can be read
    std::atomic<const std::byte*> start = nullptr;
    std::atomic<CachedKind> kind = CachedKind::none;
    std::array<char, PATH_MAX> path{};
};

std::array<Place, 4> places;

}  // namespace

CachedMapping::CachedMapping(CachedKind kind, Bytes bytes, const std::string& path) {
    if (bytes.empty() || path.size() >= PATH_MAX) return;
    for (std::size_t i = 0; i < places.size() && place_ < 0; ++i)
        if (!places[i].taken.exchange(true)) place_ = static_cast<int>(i);
    if (place_ < 0) return;
    Place& place = places[static_cast<std::size_t>(place_)];
    std::copy_n(path.c_str(), path.size() + 1, place.path.begin());
    place.kind = kind;
    place.start = bytes.data();
    place.bytes = bytes.size();
}

CachedMapping::~CachedMapping() {
    if (place_ < 0) return;
    places[static_cast<std::size_t>(place_)].bytes = 0;
    places[static_cast<std::size_t>(place_)].taken = false;
}

CachedKind remove_cached_file_at(const void* address) noexcept {
    const auto* at = static_cast<const std::byte*>(address);
    for (const Place& place : places) {
        const std::size_t bytes = place.bytes;
        const std::byte* start = place.start;
        if (bytes == 0 || std::less<>()(at, start) || static_cast<std::size_t>(at - start) >= bytes) continue;
        ::unlink(place.path.data());
        return place.kind;
    }
    return CachedKind::none;
}

}  // namespace heapsift
