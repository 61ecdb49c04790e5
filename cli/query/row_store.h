#pragma once

// The rows of a result that is shown as a whole: of a table for people, which needs the widths of its columns, or of a
// document, which says at its beginning whether there is an error.

#include "cli/database/sql_table.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace heapsift {

/// 9 bytes for a number, 5 and its bytes for a text.
class RowStore {
public:
    explicit RowStore(std::size_t columns) : columns_(columns) {}
    void add(const std::vector<SqlCell>& row);
    std::uint64_t size() const { return size_; }
    std::uint64_t bytes() const { return bytes_; }
    void for_each(const std::function<void(const std::vector<SqlCell>&)>& visit) const;

private:
    std::size_t columns_;
    std::uint64_t size_ = 0, bytes_ = 0;
    std::deque<std::string> pieces_;  // whole rows each
};

}  // namespace heapsift
