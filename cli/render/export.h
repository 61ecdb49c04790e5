#pragma once

// An export as it is written: the tables in a database or in lines of JSON, and what is said about it
// afterwards.

#include "analysis/export.h"
#include "cli/answer.h"
#include "cli/database/database.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {

/// The rows of `meta`, in order: what an envelope says, flat, and what is not computed. `envelope`: as
/// `envelope_json` makes it.
Json export_meta(const Json& envelope, const ExportReader& rows, bool redacted);

/// The tables of the contract in an empty database. A sink for `for_each_row`; text is escaped for the
/// terminal, as in CSV. Addresses are SQLite's integers, signed: 2^64 is to be added to a negative one.
class DatabaseExport {
public:
    DatabaseExport(Database& database, Redactor& redactor);
    void meta(const Json& meta);
    void type(const ExportedType& row);
    void object(const ExportedObject& row);
    void reference(const ExportedReference& row);
    void root(const ExportedRoot& row);
    void array(const ArrayRow& row);

private:
    Redactor& redactor_;
    Statement meta_, type_, object_, reference_, root_, array_;
};

/// A line of JSON a row, with the name of its table first. Addresses are "0x…", as in every JSON of heapsift.
class LinesExport {
public:
    using Write = std::function<void(std::string_view)>;
    LinesExport(Write write, Redactor& redactor) : write_(std::move(write)), redactor_(redactor) {}
    void meta(const Json& meta);
    void type(const ExportedType& row);
    void object(const ExportedObject& row);
    void reference(const ExportedReference& row);
    void root(const ExportedRoot& row);
    void array(const ArrayRow& row);

private:
    void line(const char* table, const Json& columns);
    Write write_;
    Redactor& redactor_;
};

struct ExportSummary {
    std::string path;    // as it was given
    std::string format;  // "db", "heapsnapshot"
    std::uint64_t bytes = 0;
    std::vector<std::pair<std::string, std::uint64_t>> rows;  // of what, and how many: {"object", 55000}
};

Answer render_export(const ExportSummary& summary, Redactor& redactor);

}  // namespace heapsift
