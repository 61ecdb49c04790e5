#pragma once

// A table of which all but its cursor is known beforehand. Its cursors are made of the heap.

#include "cli/query/query_heap.h"

#include <memory>
#include <utility>
#include <vector>

namespace heapsift {

template <class Cursor>
class HeapTable : public SqlTable {
public:
    struct Shape {
        const char* name;
        std::vector<SqlColumn> columns;
        double rows_per_object;  // about how many rows there are for each object of the heap
        std::vector<Index> indexes = {};
    };

    /// Refers to the heap.
    HeapTable(QueryHeap& heap, Shape shape) : heap_(heap), shape_(std::move(shape)) {}

    const char* name() const override { return shape_.name; }
    const std::vector<SqlColumn>& columns() const override { return shape_.columns; }
    double rows() const override { return shape_.rows_per_object * object_count() + 1; }
    std::vector<Index> indexes() const override { return shape_.indexes; }
    std::unique_ptr<SqlCursor> open() override { return std::make_unique<Cursor>(heap_); }

protected:
    double object_count() const { return static_cast<double>(heap_.columns().object_count()); }

    QueryHeap& heap_;

private:
    Shape shape_;
};

}  // namespace heapsift
