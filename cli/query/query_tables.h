#pragma once

// What there is to ask: all tables, the views over them, and the functions.

#include "cli/query/query_heap.h"

namespace heapsift {

/// Tables, views and functions. They refer to the heap.
void add_query_tables(SqlQuery& query, QueryHeap& heap);

/// Views over the tables, for people: names in place of numbers, addresses as "0x…". The same in `query` and in an
/// export; they use what SQLite has by itself.
inline constexpr const char* query_views = R"(
CREATE VIEW named_object AS
  SELECT printf('0x%x', o.address) AS address, t.name AS type, o.size, o.memory, o.retained, o.native, o.refcount, o.state,
         o.generation, CASE WHEN o.dominator IS NOT NULL THEN printf('0x%x', o.dominator) END AS dominator, o.value
  FROM object o LEFT JOIN type t ON t.id = o.type_id;
CREATE VIEW named_reference AS
  SELECT printf('0x%x', r.source) AS source, s.name AS source_type, r.name, r.kind, r.followed,
         printf('0x%x', r.target) AS target, t.name AS target_type
  FROM reference r LEFT JOIN object a ON a.address = r.source LEFT JOIN type s ON s.id = a.type_id
       LEFT JOIN object b ON b.address = r.target LEFT JOIN type t ON t.id = b.type_id;
CREATE VIEW named_root AS
  SELECT printf('0x%x', r.address) AS address, t.name AS type, r.kind, r.name
  FROM root r LEFT JOIN object o ON o.address = r.address LEFT JOIN type t ON t.id = o.type_id;
CREATE VIEW named_array AS
  SELECT printf('0x%x', a.address) AS address, a.dtype, a.shape, a.nbytes, a.owns_data,
         CASE WHEN a.owner IS NOT NULL THEN printf('0x%x', a.owner) END AS owner, t.name AS owner_type
  FROM array a LEFT JOIN object o ON o.address = a.owner LEFT JOIN type t ON t.id = o.type_id;
CREATE VIEW type_total AS
  SELECT t.name, count(*) AS count, sum(o.size) AS size, sum(o.memory) AS memory
  FROM type t JOIN object o ON o.type_id = t.id GROUP BY t.id;
)";

}  // namespace heapsift
