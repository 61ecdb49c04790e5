#pragma once

// The tables that are small: their rows are made all at once, when one is asked for.

#include "cli/query/query_heap.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapsift {

using SqlRow = std::vector<SqlCell>;

/// Rows in memory. A column of `indexed` is found by its value, and the rows come sorted by it where that is asked for.
class RowsTable final : public SqlTable {
public:
    struct Shape {
        const char* name;
        std::vector<SqlColumn> columns;
        std::vector<int> indexed = {};
        double rows = 100;   // a guess
        bool unique = true;  // the first of these columns is a key
    };
    RowsTable(Shape shape, std::function<std::vector<SqlRow>()> make)
        : shape_(std::move(shape)), make_(std::move(make)) {}

    const char* name() const override { return shape_.name; }
    const std::vector<SqlColumn>& columns() const override { return shape_.columns; }
    double rows() const override { return shape_.rows; }
    std::vector<Index> indexes() const override;
    std::vector<int> orders() const override { return shape_.indexed; }
    std::unique_ptr<SqlCursor> open() override;

    const std::vector<SqlRow>& all();
    /// Numbers of rows, sorted by a column.
    const std::vector<std::uint32_t>& sorted_by(int column);

private:
    Shape shape_;
    std::function<std::vector<SqlRow>()> make_;
    std::vector<SqlRow> rows_;
    std::unordered_map<int, std::vector<std::uint32_t>> sorted_;
};

// Each refers to the heap.
std::unique_ptr<RowsTable> meta_table(QueryHeap& heap);
std::unique_ptr<RowsTable> type_table(QueryHeap& heap);
std::unique_ptr<RowsTable> root_table(QueryHeap& heap);
std::unique_ptr<RowsTable> holder_table(QueryHeap& heap);
std::unique_ptr<RowsTable> thread_table(QueryHeap& heap);
std::unique_ptr<RowsTable> frame_table(QueryHeap& heap);
std::unique_ptr<RowsTable> task_table(QueryHeap& heap);
std::unique_ptr<RowsTable> region_table(QueryHeap& heap);

}  // namespace heapsift
