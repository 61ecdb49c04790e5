#pragma once

// The rows of a query: as a table, as JSON, row by row.

#include "cli/database/sql_query.h"
#include "cli/document/document.h"
#include "cli/query/row_store.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heapsift {

using QueryColumns = std::vector<SqlQuery::Column>;

struct QueryResult {
    QueryColumns columns;
    std::shared_ptr<const RowStore> rows;
    bool more = false;  // there are more than these, which -n cut off
};

/// For people.
Document render_query_table(const QueryResult& result);
/// `{"columns": […], "rows": [[…]]}`.
Document render_query_json(const QueryResult& result);
/// CSV and lines of JSON, of rows that are handed out as they are found. A name that occurs twice gets a number.
Document render_query_rows(const QueryColumns& columns, RowsOf<std::vector<SqlCell>> rows);

/// A cell for programs.
Datum query_datum(const SqlCell& cell, bool is_address);

}  // namespace heapsift
