#pragma once

// The held rows of several cores, matched by their words.

#include "analysis/growth/grown.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

/// A row in each core, and where its owners are.
struct MatchedRow {
    /// Of its objects: those whose owners are in one row, by core.
    struct Above {
        std::vector<std::uint64_t> count, bytes;
    };

    GrownRow grown;                        // `believed`: no more than its type's growth
    std::map<std::uint32_t, Above> above;  // by matched row
    std::int64_t most_believed = 0;        // bytes, of any part of it
    double new_share = 1;                  // of its growth; the rest was there before, and held elsewhere

    std::int64_t count() const { return grown.amounts.count_growth(); }
    std::int64_t bytes() const { return grown.amounts.bytes_growth(); }
};

class MatchedRows {
public:
    /// The name that stands for those which a program makes up.
    static constexpr std::string_view any_name = "*";

    /// `types`: how each type grew in all.
    MatchedRows(const std::vector<Inventory>& cores, const std::vector<GrownName>& types);

    std::vector<MatchedRow> rows;
    /// GrowthResult::moved.
    std::int64_t moved = 0;
    std::size_t most_moved = 0;  // of `rows`: the one to which most of them went

    /// The names that became `any_name`, sorted; null if none of that holder did.
    const std::vector<std::string>* made_up(HeldRow::Kind kind, const std::string& holder) const;

private:
    void find_made_up_names(const std::vector<Inventory>& cores);
    HeldRow with_folded_name(HeldRow row) const;
    void match(const std::vector<Inventory>& cores);
    void believe(const std::vector<Inventory>& cores, const std::vector<GrownName>& types);
    void believe_by_type(const std::vector<GrownName>& types);
    void believe_new_objects();
    void add_moved(std::size_t row, std::int64_t bytes);

    std::int64_t most_moved_bytes_ = 0;
    std::map<std::pair<HeldRow::Kind, std::string>, std::vector<std::string>> made_up_;  // names, sorted
};

}  // namespace heapsift
