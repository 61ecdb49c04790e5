#pragma once

// The answer of a command, before it is known how it will be written.

#include "cli/json.h"
#include "cli/page.h"

#include <functional>
#include <string>
#include <vector>

namespace heapsift {

using RowVisitor = std::function<void(const Json& row)>;

struct Answer {
    std::string command;         // "types": the schema is heapsift.types/1
    Json data = Json::object();  // without the rows
    bool certain = true;         // false where guesses decide, whatever the core
    std::function<std::string(const Page&)> text;

    // A table also has rows, handed out one by one: there may be millions. In JSON they are the first key of
    // `data`.
    std::string rows_key;  // "types"; empty: not a table
    std::function<void(const RowVisitor&)> rows;
    std::vector<std::string> csv_columns;

    // Other tables of the same answer; only a document has them.
    struct Table {
        std::string key;
        std::function<void(const RowVisitor&)> rows;
    };
    std::vector<Table> more_tables;
};

}  // namespace heapsift
