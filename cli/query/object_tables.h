#pragma once

// The tables with a row for each object of some kind: object, array, string; and references between objects.

#include "cli/query/query_heap.h"

#include <memory>

namespace heapsift {

// Each refers to the heap.
std::unique_ptr<SqlTable> object_table(QueryHeap& heap);
std::unique_ptr<SqlTable> array_table(QueryHeap& heap);
std::unique_ptr<SqlTable> string_table(QueryHeap& heap);
std::unique_ptr<SqlTable> reference_table(QueryHeap& heap);
std::unique_ptr<SqlTable> native_table(QueryHeap& heap);

/// Characters or bytes of a value in `string`; the rest is cut.
inline constexpr std::size_t longest_string_value = 4000;

}  // namespace heapsift
