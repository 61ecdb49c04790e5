#pragma once

// How much the usual questions show. `heapsift index` asks them ahead of time, and keeps what it finds.

#include <cstddef>

namespace heapsift {

inline constexpr std::size_t overview_rows = 12;  // types
inline constexpr std::size_t overview_suspects = 6;
/// Rows of the list of holders in browse: what more than a hundred retain is not computed.
inline constexpr std::size_t browsed_holders = 100;
inline constexpr std::size_t dominators_depth = 3, dominators_rows_for_people = 8;
/// People see what retains at least that part of the top.
inline constexpr std::size_t dominators_parts_for_people = 200;

}  // namespace heapsift
