#pragma once

// What hangs where: the growth of each row, divided among the rows at the top.
//
// The problem: objects of one class may be kept in several places (two pools of one class, a queue and its archive). A
// row says "str in Entry.name" and not in which pool the entry is, so what grew in one pool was credited to the
// other, or a pool that shrank hid one that grew.
//
// The idea: a row knows, core by core, how many of its objects have their owners in which row above. What it grew by
// through an owner's row is that row's, and goes where that row's own growth went: exact where the owners are at the
// top themselves; below that, objects are taken to be spread evenly over the new ones of their owners. What comes
// through owners that did not grow stays with the row: it is at the top of it. Rows that lead back to themselves
// (linked lists, trees) go where the first of them are held.

#include "analysis/growth/matched_rows.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// What of a row hangs below one row at the top.
struct PlacedRow {
    std::uint32_t row = 0;                   // of the matched ones
    std::uint32_t top = 0;                   // of the placed ones: itself, where it is at the top
    std::vector<std::int64_t> count, bytes;  // by core
    std::int64_t believed = 0;               // bytes of its growth that are no move from another row
    std::uint64_t appeared = 0, stayed = 0;  // objects (HeldRow)

    std::int64_t count_growth() const { return count.back() - count.front(); }
    std::int64_t bytes_growth() const { return bytes.back() - bytes.front(); }
};

/// Those with `believed`, and the tops of these. Cost: by the number of rows and of their owners' rows.
std::vector<PlacedRow> placed_rows(const std::vector<MatchedRow>& rows);

}  // namespace heapsift
