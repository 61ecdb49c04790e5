// SQLite's side of a table that is no database: a module of virtual tables (sqlite.org/vtab.html).
//
// The planner asks how a set of conditions would be answered, and what that costs (xBestIndex). Of the conditions that
// compare an indexed column for equality, the one that leaves the fewest rows is taken; SQLite checks all conditions
// again on each row, so that a key is never more than a shortcut. `column IN (…)` and joins arrive as equalities. A scan
// that can come sorted says so where one column orders or groups the result: then nothing is sorted, and a million rows
// are grouped without a copy of them.
//
// Costs are in rows of a scan. A lookup costs a little more than the rows it finds, so that a join begins at the table
// with the fewest rows left and looks up the other.

#include "cli/database/virtual_table.h"

#include <sqlite3.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

namespace heapsift {
namespace {

constexpr int first_order = 1000;

struct TableOfModule {
    SqlTable& table;
    SqlFailure& failure;
};

struct VirtualTable : sqlite3_vtab {
    TableOfModule* of = nullptr;
};

struct VirtualCursor : sqlite3_vtab_cursor {
    std::unique_ptr<SqlCursor> cursor;
    SqlFailure* failure = nullptr;
};

/// Calls `work`; an exception is kept, and becomes an error of SQLite's.
template <class Work>
int guarded(SqlFailure& failure, const Work& work) {
    try {
        work();
        return SQLITE_OK;
    } catch (...) {
        failure.thrown = std::current_exception();
        return SQLITE_ERROR;
    }
}

int connect(sqlite3* database, void* data, int, const char* const*, sqlite3_vtab** made, char**) {
    auto* of = static_cast<TableOfModule*>(data);
    return guarded(of->failure, [&] {
        if (sqlite3_declare_vtab(database, declaration_of(of->table).c_str()) != SQLITE_OK)
            throw std::bad_alloc();
        sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
        auto table = std::make_unique<VirtualTable>();
        table->of = of;
        *made = table.release();
    });
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<VirtualTable*>(table);
    return SQLITE_OK;
}

bool compares_plainly(sqlite3_index_info* info, int constraint) {
    return std::strcmp(sqlite3_vtab_collation(info, constraint), "BINARY") == 0;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    TableOfModule& of = *static_cast<VirtualTable*>(table)->of;
    return guarded(of.failure, [&] {
        const std::vector<SqlTable::Index> indexes = of.table.indexes();
        const double rows = std::max(1.0, of.table.rows());
        int best = -1, best_constraint = -1;
        for (int i = 0; i < info->nConstraint; ++i) {
            const auto& constraint = info->aConstraint[i];
            if (!constraint.usable || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ ||
                !compares_plainly(info, i))
                continue;
            for (std::size_t k = 0; k < indexes.size(); ++k)
                if (indexes[k].column == constraint.iColumn &&
                    (best < 0 || indexes[k].rows < indexes[static_cast<std::size_t>(best)].rows)) {
                    best = static_cast<int>(k);
                    best_constraint = i;
                }
        }
        if (best >= 0) {
            const SqlTable::Index& index = indexes[static_cast<std::size_t>(best)];
            info->aConstraintUsage[best_constraint].argvIndex = 1;
            info->idxNum = best + 1;
            info->estimatedCost = index.cost + 2 * index.rows;
            info->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, index.rows));
            if (index.unique) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
            return;
        }
        info->estimatedCost = rows;
        info->estimatedRows = static_cast<sqlite3_int64>(rows);
        if (info->nOrderBy != 1 || info->aOrderBy[0].desc) return;
        for (const int column : of.table.orders())
            if (column == info->aOrderBy[0].iColumn) {
                info->orderByConsumed = 1;
                info->idxNum = first_order + column;
            }
    });
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
    TableOfModule& of = *static_cast<VirtualTable*>(table)->of;
    return guarded(of.failure, [&] {
        auto cursor = std::make_unique<VirtualCursor>();
        cursor->cursor = of.table.open();
        cursor->failure = &of.failure;
        *made = cursor.release();
    });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<VirtualCursor*>(cursor);
    return SQLITE_OK;
}

SqlKey key_of(sqlite3_value* value) {
    SqlKey key;
    const auto* text = sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_text(value) : nullptr;
    if (text)
        key.text = std::string(reinterpret_cast<const char*>(text),
                               static_cast<std::size_t>(sqlite3_value_bytes(value)));
    const int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_INTEGER) key.integer = sqlite3_value_int64(value);
    constexpr double too_large = 9223372036854775808.0;
    if (type != SQLITE_FLOAT) return key;
    const double real = sqlite3_value_double(value);
    if (real == std::floor(real) && real >= -too_large && real < too_large)
        key.integer = static_cast<std::int64_t>(real);
    return key;
}

int filter(sqlite3_vtab_cursor* base, int plan, const char*, int, sqlite3_value** values) {
    auto* cursor = static_cast<VirtualCursor*>(base);
    return guarded(*cursor->failure, [&] {
        if (plan == 0)
            cursor->cursor->scan(-1);
        else if (plan >= first_order)
            cursor->cursor->scan(plan - first_order);
        else
            cursor->cursor->find(static_cast<std::size_t>(plan - 1), key_of(values[0]));
    });
}

int next_row(sqlite3_vtab_cursor* base) {
    auto* cursor = static_cast<VirtualCursor*>(base);
    return guarded(*cursor->failure, [&] { cursor->cursor->next(); });
}

int is_at_end(sqlite3_vtab_cursor* base) {
    return static_cast<VirtualCursor*>(base)->cursor->at_end() ? 1 : 0;
}

int column_of_row(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    auto* cursor = static_cast<VirtualCursor*>(base);
    return guarded(*cursor->failure, [&] {
        SqlResult result(context);
        cursor->cursor->column(column, result);
    });
}

int rowid_of_row(sqlite3_vtab_cursor* base, sqlite3_int64* rowid) {
    auto* cursor = static_cast<VirtualCursor*>(base);
    return guarded(*cursor->failure, [&] { *rowid = cursor->cursor->rowid(); });
}

// A table without xUpdate is refused before the authorizer is asked, which knows what to say.
int write_row(sqlite3_vtab*, int, sqlite3_value**, sqlite3_int64*) { return SQLITE_READONLY; }

constexpr sqlite3_module module_of_tables = [] {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xCreate = module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = module.xDestroy = disconnect;
    module.xOpen = open_cursor;
    module.xClose = close_cursor;
    module.xFilter = filter;
    module.xNext = next_row;
    module.xEof = is_at_end;
    module.xColumn = column_of_row;
    module.xRowid = rowid_of_row;
    module.xUpdate = write_row;
    return module;
}();

struct KeptFunction {
    SqlFunction function;
    SqlFailure& failure;
};

void call_function(sqlite3_context* context, int count, sqlite3_value** values) {
    auto* kept = static_cast<KeptFunction*>(sqlite3_user_data(context));
    const int result = guarded(kept->failure, [&] {
        SqlResult made(context);
        kept->function.call(SqlArguments(values, count), made);
    });
    if (result != SQLITE_OK) sqlite3_result_error_code(context, result);
}

std::string declaration(const SqlTable& table, bool tells_addresses, bool has_key) {
    std::string sql = "CREATE TABLE " + std::string(table.name());
    const char* before = "(";
    for (const SqlColumn& column : table.columns()) {
        sql += before + std::string(column.name);
        if (column.kind == SqlColumn::Kind::address && tells_addresses)
            sql += " " + std::string(address_type);
        // After ADDRESS, too: affinity goes by the letters INT.
        sql += column.kind == SqlColumn::Kind::text   ? " TEXT"
               : column.kind == SqlColumn::Kind::real ? " REAL"
                                                      : " INTEGER";
        if (has_key && *before == '(') sql += " PRIMARY KEY";
        before = ", ";
    }
    return sql + ")";
}

}  // namespace

void SqlResult::null() {
    if (cell_)
        *cell_ = {};
    else
        sqlite3_result_null(context_);
}
void SqlResult::integer(std::int64_t value) {
    if (cell_)
        *cell_ = value;
    else
        sqlite3_result_int64(context_, value);
}
void SqlResult::real(double value) {
    if (cell_)
        *cell_ = value;
    else
        sqlite3_result_double(context_, value);
}
void SqlResult::text(std::string_view value) {
    if (cell_)
        *cell_ = std::string(value);
    else
        sqlite3_result_text64(context_, value.empty() ? "" : value.data(), value.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8);
}
void SqlResult::cell(const SqlCell& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
        integer(*number);
    else if (const auto* fraction = std::get_if<double>(&value))
        real(*fraction);
    else if (const auto* words = std::get_if<std::string>(&value))
        text(*words);
    else
        null();
}

bool SqlArguments::is_null(int at) const { return sqlite3_value_type(values_[at]) == SQLITE_NULL; }
bool SqlArguments::is_integer(int at) const { return sqlite3_value_type(values_[at]) == SQLITE_INTEGER; }
std::int64_t SqlArguments::integer(int at) const { return sqlite3_value_int64(values_[at]); }
double SqlArguments::real(int at) const { return sqlite3_value_double(values_[at]); }
std::string_view SqlArguments::bytes(int at) const {
    const void* data = sqlite3_value_type(values_[at]) == SQLITE_BLOB ? sqlite3_value_blob(values_[at])
                                                                      : sqlite3_value_text(values_[at]);
    const int size = sqlite3_value_bytes(values_[at]);
    return data ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
                : std::string_view();
}

std::string declaration_of(const SqlTable& table) { return declaration(table, true, false); }
std::string declaration_for_file(const SqlTable& table, bool has_key) {
    return declaration(table, false, has_key);
}

int add_table(sqlite3* database, SqlTable& table, SqlFailure& failure) {
    const std::string module = "heap_" + std::string(table.name());
    const int added = sqlite3_create_module_v2(database, module.c_str(), &module_of_tables,
                                               new TableOfModule{table, failure},
                                               [](void* of) { delete static_cast<TableOfModule*>(of); });
    if (added != SQLITE_OK) return added;
    const std::string sql = "CREATE VIRTUAL TABLE " + std::string(table.name()) + " USING " + module;
    return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
}

int add_function(sqlite3* database, const SqlFunction& function, SqlFailure& failure) {
    return sqlite3_create_function_v2(database, function.name, function.arguments,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                      new KeptFunction{function, failure}, call_function, nullptr, nullptr,
                                      [](void* kept) { delete static_cast<KeptFunction*>(kept); });
}

}  // namespace heapsift
