#pragma once

// An export while it is written (its tables in a database or as lines of JSON), and its summary afterwards.

#include "analysis/export.h"
#include "cli/database/database.h"
#include "cli/database/sql_table.h"
#include "cli/document/document.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {

/// The rows of `meta`, in order: the facts of the envelope, flat, and which columns are not computed.
/// `envelope` is the result of `envelope_json`.
Json export_meta(const Json& envelope, std::size_t types, std::size_t objects, bool redacted);

/// "heap" in ASCII, in the file's header: file(1) and heapsift tell an export from other databases by it.
inline constexpr std::uint32_t export_application_id = 1751474544;

/// The tables of the contract in an empty database; a sink for `for_each_row`. Text is escaped for the
/// terminal, as in CSV. Addresses are SQLite's signed integers: add 2^64 to a negative one.
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

/// A table of `query` with all its rows; returns how many. `has_key`: no two rows have the same first column.
std::uint64_t write_table(Database& database, SqlTable& table, bool has_key);

/// Indexes and views: after all rows.
void finish_database(Database& database);

/// One line of JSON for each row, with the name of its table first. Addresses are "0x…", as in all JSON of
/// heapsift.
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
    void line(const char* table, const Datum& columns);
    std::string text_;  // of a line
    Write write_;
    Redactor& redactor_;
};

enum class ExportFormat : std::uint8_t { db, jsonl, heapsnapshot, folded, dot, svg };
inline constexpr std::array export_format_names = {"db", "jsonl", "heapsnapshot", "folded", "dot", "svg"};

struct ExportSummary {
    std::string path;  // as given
    ExportFormat format = ExportFormat::db;
    std::uint64_t bytes = 0;
    std::vector<std::pair<std::string, std::uint64_t>> rows;  // table and count: {"object", 55000}
};

Document render_export(const ExportSummary& summary);

}  // namespace heapsift
