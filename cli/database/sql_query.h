#pragma once

// One SQL query over tables that are no database (sql_table.h). What it may do is held to in sql_query.cpp.

#include "cli/database/sql_table.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// The time that a query takes by itself: the clock stands while something else is worked out for it.
class SqlClock {
public:
    using Time = std::chrono::steady_clock;
    /// Stops the clock while it lives; may be nested.
    class Pause {
    public:
        explicit Pause(SqlClock& clock) : clock_(clock) { clock_.stop(); }
        ~Pause() { clock_.go_on(); }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        SqlClock& clock_;
    };
    void start() { since_ = Time::now(); }
    Time::duration spent() const { return stopped_ > 0 ? before_ : before_ + (Time::now() - since_); }

private:
    void stop() {
        if (stopped_++ == 0) before_ += Time::now() - since_;
    }
    void go_on() {
        if (--stopped_ == 0) since_ = Time::now();
    }
    Time::time_point since_ = Time::now();
    Time::duration before_{};
    int stopped_ = 0;
};

struct SqlLimits {
    std::optional<std::chrono::milliseconds> time;  // of the query alone (SqlClock)
    std::uint64_t memory = 0;                       // bytes that SQLite may have; of the whole process
};

/// Errors are thrown as `Error`: exit 2 for what is wrong with the SQL ("bad-sql", "read-only", "value-too-long"), 1
/// for "query-memory", 4 for "timeout". What a table or a function throws comes through unchanged. Not thread-safe.
class SqlQuery {
public:
    /// `clock` must outlive it.
    SqlQuery(const SqlLimits& limits, SqlClock& clock);
    ~SqlQuery();
    SqlQuery(const SqlQuery&) = delete;
    SqlQuery& operator=(const SqlQuery&) = delete;

    void add(std::unique_ptr<SqlTable> table);
    void add(const SqlFunction& function);
    /// Our own statements: views.
    void execute(const std::string& sql);

    /// From here on nothing but reading is allowed. `sql`: a single statement.
    void prepare(const std::string& sql);
    struct Column {
        std::string name;         // as SQLite names it; may occur twice. Not escaped
        bool is_address = false;  // the column of a table, unchanged, that holds addresses
    };
    std::vector<Column> columns() const;
    /// To the next row; false after the last one.
    bool step();
    SqlCell cell(std::size_t column) const;

private:
    struct State;
    [[noreturn]] void fail(int result) const;
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
