#include "parsers/snapshot/sparse_arenas.h"

#include "parsers/snapshot/range_cursor.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint64_t full_parts = 4;  // an arena is sparse if less than one of so many parts is in use
constexpr std::size_t most_types = 3;

}  // namespace

SparseArenas find_sparse_arenas(const Pymalloc& pymalloc, const FoundObjects& objects,
                                const UntouchedMemory& untouched) {
    SparseArenas result;
    if (!pymalloc.arenas_proved()) return result;
    std::unordered_map<std::uint32_t, std::uint64_t> counts;
    RangeCursor never(untouched.never), zeros(untouched.zeros);
    auto pool = pymalloc.pools().begin();
    const auto end = pymalloc.pools().end();
    for (const AddressRange& arena : pymalloc.arenas()) {
        std::uint64_t blocks = 0, in_use = 0;
        while (pool != end && pool->start < arena.start) ++pool;
        for (; pool != end && pool->start < arena.end; ++pool) {
            blocks += pool->allocated;
            in_use += std::uint64_t{pool->allocated} * pool->block_size;
        }
        const std::uint64_t reserved = std::min(never.bytes_in(arena) + zeros.bytes_in(arena),
                                                arena.size() - std::min(in_use, arena.size()));
        const std::uint64_t touched = arena.size() - reserved;
        if (in_use >= touched / full_parts) continue;
        ++result.arenas;
        result.free_bytes += touched - in_use;
        result.blocks += blocks;
        const auto first = std::lower_bound(objects.addresses.begin(), objects.addresses.end(), arena.start);
        for (auto at = first; at != objects.addresses.end() && *at < arena.end; ++at)
            ++counts[objects.types[static_cast<ObjectId>(at - objects.addresses.begin())]];
    }
    for (const auto& [type, count] : counts) result.types.push_back({TypeId(type), 0, count});
    std::sort(result.types.begin(), result.types.end(),
              [](const SparseArenas::Type& a, const SparseArenas::Type& b) {
                  return a.objects != b.objects ? a.objects > b.objects : a.type < b.type;
              });
    if (result.types.size() > most_types) result.types.resize(most_types);
    return result;
}

}  // namespace heapsift
