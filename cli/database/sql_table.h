#pragma once

// A table that SQL can read although it is no database: columns, rows that are made as they are read, and the columns
// by which rows are found without reading all others. (How SQLite gets at it: virtual_table.cpp.)

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3_context;
struct sqlite3_value;

namespace heapsift {

/// Bytes, where text is a std::string.
struct SqlBlob {
    std::string bytes;
};
/// A cell: NULL, a number, text, or bytes. An address from 2^63 on is stored minus 2^64.
using SqlCell = std::variant<std::monostate, std::int64_t, double, std::string, SqlBlob>;

/// Where a cell goes: to SQLite, which asked for it, or into a variable. If nothing is said it is NULL.
class SqlResult {
public:
    explicit SqlResult(sqlite3_context* context) : context_(context) {}
    explicit SqlResult(SqlCell& cell) : cell_(&cell) { cell = {}; }
    void null();
    void integer(std::int64_t value);
    void number(std::uint64_t value) { integer(static_cast<std::int64_t>(value)); }
    void real(double value);
    /// Copied.
    void text(std::string_view value);
    void cell(const SqlCell& value);

private:
    sqlite3_context* context_ = nullptr;
    SqlCell* cell_ = nullptr;
};

struct SqlColumn {
    enum class Kind : std::uint8_t { integer, address, real, text };
    const char* name;
    Kind kind = Kind::integer;
};

/// The value that an indexed column must have; neither is set where the row cannot exist (a NULL, a fraction).
struct SqlKey {
    std::optional<std::int64_t> integer;
    std::optional<std::string> text;
};

/// Goes over some rows of a table. At first it stands on none.
class SqlCursor {
public:
    virtual ~SqlCursor() = default;
    /// To the first of all rows; of those sorted by a column of SqlTable::orders, else (-1) in the table's own order.
    virtual void scan(int order) = 0;
    /// To the first row that has the key in the column of SqlTable::indexes[index].
    virtual void find(std::size_t index, const SqlKey& key) = 0;
    virtual bool at_end() const = 0;
    virtual void next() = 0;
    virtual void column(int column, SqlResult& result) = 0;
    /// The same for a row however it is found.
    virtual std::int64_t rowid() = 0;
};

class SqlTable {
public:
    struct Index {
        int column;
        double rows = 1;  // about how many a lookup finds
        bool unique = false;
        double cost = 1;  // of a lookup, in rows of a scan
    };
    virtual ~SqlTable() = default;
    virtual const char* name() const = 0;
    virtual const std::vector<SqlColumn>& columns() const = 0;
    /// About how many there are, and what reading one costs beside others. Must be known without work.
    virtual double rows() const = 0;
    virtual std::vector<Index> indexes() const { return {}; }
    /// Columns by which a scan can come sorted, ascending, NULLs first.
    virtual std::vector<int> orders() const { return {}; }
    virtual std::unique_ptr<SqlCursor> open() = 0;
};

/// What a function is called with.
class SqlArguments {
public:
    SqlArguments(sqlite3_value** values, int count) : values_(values), count_(count) {}
    int count() const { return count_; }
    bool is_null(int at) const;
    bool is_integer(int at) const;
    /// As SQLite converts it: 0 where it is no number.
    std::int64_t integer(int at) const;
    double real(int at) const;
    /// The bytes of a text or blob, of a number as text. Valid during the call.
    std::string_view bytes(int at) const;

private:
    sqlite3_value** values_;
    int count_;
};

/// A function for SQL; the same arguments always give the same result.
struct SqlFunction {
    const char* name;
    int arguments;
    std::function<void(const SqlArguments&, SqlResult&)> call;
};

/// `CREATE TABLE name(…)` of a table's columns. What a column that holds addresses is declared as begins with
/// `address_type`; in a file it is INTEGER as well, and the first column is the key if `has_key`.
std::string declaration_of(const SqlTable& table);
std::string declaration_for_file(const SqlTable& table, bool has_key);
inline constexpr std::string_view address_type = "ADDRESS";

}  // namespace heapsift
