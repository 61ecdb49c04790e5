// SQL is a language in which much can be said, and whoever sends a query to a service may mean it badly. What holds:
//
// It reads. The database is in memory and has the tables of heapsift alone. An authorizer (sqlite.org/c3ref/set_authorizer)
// allows reading, functions, recursion, and those pragmas that describe tables; all else is refused before it runs:
// ATTACH, CREATE, INSERT, transactions, load_extension. So no file is opened, and none is written: what is sorted is
// sorted in memory (temp_store).
//
// It ends. A progress handler looks at the clock every thousand steps of SQLite's machine.
//
// It fits. The heap of SQLite has a hard limit, and so have a value, a statement, the depth of an expression, a
// pattern of LIKE. What is larger ends in one line.

#include "cli/database/sql_query.h"

#include "cli/database/virtual_table.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <new>
#include <string_view>

namespace heapsift {
namespace {

constexpr int steps_between_looks = 1000;
constexpr int longest_value = 100'000'000, longest_sql = 1'000'000;

struct CloseConnection {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeQuery {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

struct NamedAction {
    int action;
    const char* name;
};
constexpr std::array named_actions = {
    NamedAction{SQLITE_ATTACH, "ATTACH"},
    NamedAction{SQLITE_DETACH, "DETACH"},
    NamedAction{SQLITE_INSERT, "INSERT"},
    NamedAction{SQLITE_UPDATE, "UPDATE"},
    NamedAction{SQLITE_DELETE, "DELETE"},
    NamedAction{SQLITE_PRAGMA, "PRAGMA"},
    NamedAction{SQLITE_TRANSACTION, "a transaction"},
    NamedAction{SQLITE_SAVEPOINT, "a savepoint"},
    NamedAction{SQLITE_ALTER_TABLE, "ALTER TABLE"},
    NamedAction{SQLITE_REINDEX, "REINDEX"},
    NamedAction{SQLITE_ANALYZE, "ANALYZE"},
};
constexpr std::array allowed_pragmas = {"table_info",    "table_xinfo",     "table_list",
                                        "function_list", "compile_options", "collation_list"};

std::string words_of_action(int action, const char* first) {
    if (action == SQLITE_FUNCTION) return "a function that loads code";
    const bool is_row = action == SQLITE_INSERT || action == SQLITE_DELETE || action == SQLITE_UPDATE;
    if (is_row && first && std::string_view(first).starts_with("sqlite_")) return "CREATE or DROP";
    const auto* named = std::find_if(named_actions.begin(), named_actions.end(),
                                     [&](const NamedAction& one) { return one.action == action; });
    if (named == named_actions.end()) return "CREATE or DROP";
    return action == SQLITE_PRAGMA && first ? std::string("PRAGMA ") + first : named->name;
}

bool is_part_of_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string_view> words_of_sql(std::string_view sql) {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < sql.size();) {
        if (const std::string_view two = sql.substr(i, 2); two == "--" || two == "/*") {
            const std::string_view ending = two == "--" ? "\n" : "*/";
            const std::size_t at = sql.find(ending, i + 2);
            i = at == std::string_view::npos ? sql.size() : at + ending.size();
            continue;
        }
        std::size_t end = i;
        while (end < sql.size() && is_part_of_word(sql[end])) ++end;
        if (end > i) words.push_back(sql.substr(i, end - i));
        i = std::max(end, i + 1);
    }
    return words;
}

bool is_same_word(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

/// A table that SQLite has itself, pragma_database_list or dbstat. The authorizer is asked for it as for a CREATE TABLE when
/// it is prepared (SQLite 3.40), or as for a PRAGMA when it is stepped (3.46), and either would be said to a person who wrote
/// SELECT.
void refuse_own_table_of_sqlite(std::string_view sql) {
    constexpr std::string_view prefix = "pragma_";
    const std::vector<std::string_view> words = words_of_sql(sql);
    if (words.empty() || !(is_same_word(words.front(), "SELECT") || is_same_word(words.front(), "WITH")))
        return;
    std::string pragmas;
    for (const char* one : allowed_pragmas)
        pragmas += (pragmas.empty() ? "" : ", ") + std::string(prefix) + one;
    for (const std::string_view word : words)
        if (is_same_word(word.substr(0, prefix.size()), prefix) &&
            std::none_of(allowed_pragmas.begin(), allowed_pragmas.end(),
                         [&](const char* one) { return is_same_word(word.substr(prefix.size()), one); }))
            throw wrong_usage("read-only",
                              escape_for_terminal(std::string(word)) +
                                  " is a table of SQLite about its own files, of which query has none",
                              "of such tables it has " + pragmas);
    throw wrong_usage("read-only", "one of these tables is SQLite's own, which query has not",
                      command_line("help query") + " lists the tables that it has");
}

}  // namespace

struct SqlQuery::State {
    SqlLimits limits;
    SqlClock& clock;
    SqlFailure failure;
    std::vector<std::unique_ptr<SqlTable>> tables;  // outlive the connection
    std::unique_ptr<sqlite3, CloseConnection> database;
    std::unique_ptr<sqlite3_stmt, FinalizeQuery> statement;
    std::string refused;            // what the authorizer refused
    bool refused_function = false;  // and that is one

    bool refuses_statement() const { return !refused.empty() && !refused_function; }

    int authorize(int action, const char* first, const char* second) {
        switch (action) {
            case SQLITE_SELECT:
            case SQLITE_READ:
            case SQLITE_RECURSIVE:
                return SQLITE_OK;
            case SQLITE_FUNCTION:
                if (second && sqlite3_stricmp(second, "load_extension") != 0 &&
                    sqlite3_stricmp(second, "fts3_tokenizer") != 0)
                    return SQLITE_OK;
                break;
            case SQLITE_PRAGMA:
                for (const char* pragma : allowed_pragmas)
                    if (first && sqlite3_stricmp(first, pragma) == 0) return SQLITE_OK;
                break;
            default:
                break;
        }
        if (refused.empty()) {
            refused = words_of_action(action, first);
            refused_function = action == SQLITE_FUNCTION;
        }
        return SQLITE_DENY;
    }
};

SqlQuery::SqlQuery(const SqlLimits& limits, SqlClock& clock)
    : state_(new State{limits, clock, {}, {}, {}, {}, {}, false}) {
    if (limits.memory > 0) sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(limits.memory));
    sqlite3* opened = nullptr;
    const int result =
        sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    state_->database.reset(opened);
    if (result != SQLITE_OK) throw std::bad_alloc();
    execute("PRAGMA temp_store = MEMORY");
    // SQLite declares its own functions that are tables when they are used for the first time, which the authorizer would
    // take for a CREATE TABLE.
    for (const char* table :
         {"json_each('[]')", "json_tree('[]')", "pragma_table_info('x')", "pragma_table_xinfo('x')",
          "pragma_table_list", "pragma_function_list", "pragma_compile_options", "pragma_collation_list"})
        execute(std::string("SELECT 1 FROM ") + table + " LIMIT 0");
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest_value);
    sqlite3_limit(opened, SQLITE_LIMIT_SQL_LENGTH, longest_sql);
    sqlite3_limit(opened, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
    sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(opened, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
    sqlite3_limit(opened, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_limit(opened, SQLITE_LIMIT_VDBE_OP, 1'000'000);
}

SqlQuery::~SqlQuery() {
    state_.reset();
    sqlite3_hard_heap_limit64(0);
}

void SqlQuery::add(std::unique_ptr<SqlTable> table) {
    state_->tables.push_back(std::move(table));
    if (const int result = add_table(state_->database.get(), *state_->tables.back(), state_->failure);
        result != SQLITE_OK)
        fail(result);
}

void SqlQuery::add(const SqlFunction& function) {
    if (const int result = add_function(state_->database.get(), function, state_->failure);
        result != SQLITE_OK)
        fail(result);
}

void SqlQuery::execute(const std::string& sql) {
    if (const int result = sqlite3_exec(state_->database.get(), sql.c_str(), nullptr, nullptr, nullptr);
        result != SQLITE_OK)
        fail(result);
}

void SqlQuery::prepare(const std::string& sql) {
    sqlite3* database = state_->database.get();
    sqlite3_set_authorizer(
        database,
        [](void* state, int action, const char* first, const char* second, const char*, const char*) {
            return static_cast<State*>(state)->authorize(action, first, second);
        },
        state_.get());
    sqlite3_progress_handler(
        database, steps_between_looks,
        [](void* data) {
            const auto* state = static_cast<const State*>(data);
            return state->limits.time && state->clock.spent() > *state->limits.time ? 1 : 0;
        },
        state_.get());
    if (sql.size() > static_cast<std::size_t>(longest_sql))
        throw wrong_usage("bad-sql", "the SQL is longer than a million bytes");
    if (std::memchr(sql.data(), 0, sql.size())) throw wrong_usage("bad-sql", "the SQL has a zero byte in it");
    const char* rest = sql.c_str();
    while (*rest) {
        sqlite3_stmt* made = nullptr;
        const int result = sqlite3_prepare_v2(database, rest, -1, &made, &rest);
        std::unique_ptr<sqlite3_stmt, FinalizeQuery> statement(made);
        if (result != SQLITE_OK) {
            if (state_->refuses_statement()) refuse_own_table_of_sqlite(sql);
            fail(result);
        }
        if (!statement) continue;  // blanks and comments
        if (state_->statement)
            throw wrong_usage("bad-sql", "more than one SQL statement", "query answers one SELECT");
        state_->statement = std::move(statement);
    }
    if (!state_->statement) throw wrong_usage("bad-sql", "no SQL statement", "query 'SELECT …'");
    if (sqlite3_stmt_readonly(state_->statement.get()) == 0) {
        state_->refused = "what writes";
        fail(SQLITE_AUTH);
    }
}

std::vector<SqlQuery::Column> SqlQuery::columns() const {
    sqlite3_stmt* statement = state_->statement.get();
    std::vector<Column> all(static_cast<std::size_t>(sqlite3_column_count(statement)));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const char* name = sqlite3_column_name(statement, static_cast<int>(i));
        if (!name) throw std::bad_alloc();
        all[i].name = name;
        const char* type = sqlite3_column_decltype(statement, static_cast<int>(i));
        all[i].is_address = type && std::string_view(type).starts_with(address_type);
    }
    return all;
}

bool SqlQuery::step() {
    const int result = sqlite3_step(state_->statement.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        if (state_->refuses_statement()) refuse_own_table_of_sqlite(sqlite3_sql(state_->statement.get()));
        fail(result);
    }
    return result == SQLITE_ROW;
}

SqlCell SqlQuery::cell(std::size_t column) const {
    sqlite3_stmt* statement = state_->statement.get();
    const int at = static_cast<int>(column);
    const auto bytes = [&](const void* data) {
        const int size = sqlite3_column_bytes(statement, at);
        return data ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size))
                    : std::string();
    };
    switch (sqlite3_column_type(statement, at)) {
        case SQLITE_INTEGER:
            return sqlite3_column_int64(statement, at);
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement, at);
        case SQLITE_TEXT:
            return bytes(sqlite3_column_text(statement, at));
        case SQLITE_BLOB:
            return SqlBlob{bytes(sqlite3_column_blob(statement, at))};
        default:
            return {};
    }
}

void SqlQuery::fail(int result) const {
    if (state_->failure.thrown) std::rethrow_exception(state_->failure.thrown);
    // (A function that is not allowed is an error like any other.)
    switch (state_->refused.empty() ? result & 0xff : SQLITE_AUTH) {
        case SQLITE_NOMEM:
            throw cannot_analyse("query-memory", "the query needs more memory than it may have",
                                 "sort or group less (LIMIT, WHERE), or give it more: --memory SIZE");
        case SQLITE_TOOBIG:
            throw wrong_usage("value-too-long", "a value of the query is longer than 100 million bytes");
        case SQLITE_INTERRUPT:
            throw Error(ExitCode::limit_exceeded, "timeout",
                        "the query was stopped at its limit of time (--timeout)",
                        "a condition on an address, a type or a reference makes it quicker");
        case SQLITE_AUTH:
            throw wrong_usage(
                "read-only",
                "query only reads: " +
                    (state_->refused.empty() ? std::string("what writes") : state_->refused) + " is refused",
                state_->refused.starts_with("PRAGMA ")
                    ? "allowed: PRAGMA table_info(TABLE), table_xinfo, table_list, function_list, "
                      "compile_options, collation_list"
                    : "for a database of your own: " + command_line("export -o heap.db"));
        default:
            break;
    }
    throw wrong_usage("bad-sql",
                      std::string("SQL: ") + escape_for_terminal(sqlite3_errmsg(state_->database.get())),
                      command_line("help query") + " lists tables, columns and functions");
}

}  // namespace heapsift
