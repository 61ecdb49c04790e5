#pragma once

// The functions that SQL gets beside SQLite's own.
//
//     hex(a)            an integer as "0x7f31c2a4d5e0"; of text and blobs what SQLite's own hex gives, of NULL NULL
//     expr(a)           what Python calls the object at an address: app.CACHE['k'][3]; NULL where nothing that has a name
//                       leads to it
//     why(a)            the path that keeps it alive, from a root down, each step with its type; NULL for garbage
//     value(a [, n])    its value, of a text n characters (1,000)
//     size_text(n)      bytes for people: 10.9 MiB

#include "cli/query/query_heap.h"

namespace heapsift {

/// They refer to the heap.
void add_query_functions(SqlQuery& query, QueryHeap& heap);

}  // namespace heapsift
