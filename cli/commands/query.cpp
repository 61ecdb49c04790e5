// heapsift query: SQL over the heap, without an export.
//
// The tables are those of an export, and SQLite answers the SQL; what differs is where rows come from. Here they are
// read from the heap while the query runs: a table is a virtual one (cli/database/virtual_table.cpp), a cell is looked
// at when SQLite asks for it (cli/query/object_tables.cpp), and what must be worked out first is worked out when the
// first cell needs it (cli/query/query_heap.h). A query that looks up one object costs one look; one that sorts by
// retained size costs what `types` does, once.
//
// What comes out is written as by every other command: text from the core is escaped, addresses are hexadecimal. CSV and
// lines of JSON are written row by row, so that ten million rows need no memory; a table and a document are kept until
// the last row is known, since their first lines depend on it.

#include "cli/commands/query.h"

#include "cli/command_options.h"
#include "cli/database/sql_query.h"
#include "cli/machine.h"
#include "cli/query/query_tables.h"
#include "cli/question.h"
#include "cli/render/query.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t least_memory = std::uint64_t{64} << 20;
constexpr std::size_t longest_read = 1'000'001, most_seconds = 1'000'000;
constexpr auto grace = std::chrono::seconds(2);

struct QueryOptions {
    std::optional<std::size_t> timeout;  // seconds
};

std::string sql_from_standard_input() {
    std::string sql;
    std::array<char, 1 << 14> piece;
    for (ssize_t got;
         sql.size() < longest_read && (got = ::read(STDIN_FILENO, piece.data(), piece.size())) > 0;)
        sql.append(piece.data(), static_cast<std::size_t>(got));
    return sql;
}

/// A function of SQLite's may run for long without a step between (LIKE with many wildcards). SQLite cannot be
/// interrupted then, so the process ends, with what the error would say.
class Watch {
public:
    Watch(const SqlClock& clock, std::optional<std::chrono::milliseconds> limit) {
        if (!limit) return;
        clock_of_watch = &clock;
        latest = *limit + grace;
        std::signal(SIGALRM, look);
        ::alarm(1);
    }
    ~Watch() {
        ::alarm(0);
        clock_of_watch = nullptr;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

private:
    static void look(int) {
        const SqlClock* clock = clock_of_watch;
        if (!clock) return;
        if (clock->spent() < latest) {
            ::alarm(1);
            return;
        }
        constexpr std::string_view words =
            "heapsift: the query was stopped at its limit of time (--timeout)\n";
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
        ::_exit(static_cast<int>(ExitCode::limit_exceeded));
    }
    static inline std::atomic<const SqlClock*> clock_of_watch = nullptr;
    static inline SqlClock::Time::duration latest{};
};

std::uint64_t memory_of_query(const CommonOptions& options) {
    if (options.memory) return std::max<std::uint64_t>(*options.memory, least_memory);
    return std::max(least_memory, available_memory().value_or(std::uint64_t{4} << 30) / 2);
}

/// The rows of a query that has been stepped to its first row, if there is one.
class FoundRows {
public:
    FoundRows(SqlQuery& query, std::size_t limit)
        : query_(query), columns_(query.columns()), limit_(limit), there_(query.step()) {}

    const QueryColumns& columns() const { return columns_; }
    /// After the last row that was visited.
    bool more() const { return there_; }

    template <class Visit>
    void visit(const Visit& visit) {
        std::vector<SqlCell> row(columns_.size());
        for (std::size_t count = 0; there_ && (limit_ == 0 || count < limit_); ++count) {
            for (std::size_t i = 0; i < row.size(); ++i) row[i] = query_.cell(i);
            visit(row);
            there_ = query_.step();
        }
    }

private:
    SqlQuery& query_;
    QueryColumns columns_;
    std::size_t limit_;  // 0: none
    bool there_;
};

ExitCode write_as_found(Session& session, const QueryHeap& heap, FoundRows& found) {
    if (heap.has_references()) session.note_references(heap.heap());
    // Filled while rows are written, and read after the last one.
    std::optional<Error> error;
    const Document document = render_query_rows(
        found.columns(), [&](const std::function<void(const std::vector<SqlCell>&)>& visit) {
            try {
                found.visit(visit);
            } catch (const Error& one) {
                error = one;
            }
        });
    return session.write(document, error);
}

ExitCode write_whole(Session& session, const QueryHeap& heap, FoundRows& found, std::uint64_t memory) {
    const bool json = session.options().format == Format::json;
    const auto rows = std::make_shared<RowStore>(found.columns().size());
    std::optional<Error> error;
    try {
        found.visit([&](const std::vector<SqlCell>& row) {
            rows->add(row);
            if (rows->bytes() > memory)
                throw cannot_analyse("query-memory",
                                     "the rows of the query need more memory than they may have",
                                     "--format csv and --format jsonl keep none");
        });
    } catch (const Error& one) {
        if (json || one.exit() != ExitCode::limit_exceeded) throw;
        error = one;  // the rows up to then are shown
    }
    if (heap.has_references()) session.note_references(heap.heap());
    const QueryResult result{found.columns(), rows, found.more() && !error};
    return session.write(json ? render_query_json(result) : render_query_table(result), error);
}

ExitCode run_query(Session& session, const QueryOptions& options) {
    if (!session.words().sql)
        throw wrong_usage("no-sql", "query needs SQL, or - for standard input",
                          command_line("query \"SELECT count(*) FROM object\""));
    const std::string sql = *session.words().sql == "-" ? sql_from_standard_input() : *session.words().sql;
    const auto question = std::make_shared<Question>(session, std::vector<Need>{});
    question->filled();
    SqlLimits limits{.time = std::nullopt, .memory = memory_of_query(session.options())};
    if (options.timeout) limits.time = std::chrono::seconds(*options.timeout);
    SqlClock clock;
    QueryHeap heap(session, question, &clock);
    SqlQuery query(limits, clock);
    add_query_tables(query, heap);
    clock.start();
    const Watch watch(clock, limits.time);
    query.prepare(sql);
    FoundRows found(query, session.options().limit.value_or(0));
    session.clear_progress();
    const bool as_found =
        session.options().format == Format::csv || session.options().format == Format::jsonl;
    return as_found ? write_as_found(session, heap, found) : write_whole(session, heap, found, limits.memory);
}

}  // namespace

CommandRunner setup_query(CommandOptions& declare) {
    auto options = std::make_shared<QueryOptions>();
    declare.number("--timeout", options->timeout, "stop the query after so many seconds of its own (exit 4)",
                   1, most_seconds);
    return [options](Session& session) { return run_query(session, *options); };
}

}  // namespace heapsift
