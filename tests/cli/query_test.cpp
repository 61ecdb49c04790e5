// SQL over tables that are no database: what the planner looks up, what is refused, what ends; and the tables of a heap.

#include "cli/database/sql_query.h"

#include "cli/program.h"
#include "cli/query/query_tables.h"
#include "cli/query/row_store.h"
#include "cli/query/row_tables.h"
#include "cli/render/query.h"
#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <fmt/format.h>

#include <stdexcept>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Reads {
    int scans = 0, finds = 0, rows = 0;
    int order = -1;
};

/// Pairs (i, i / 10), i below a hundred; by either of them, and sorted by the second.
class PairsTable final : public SqlTable {
public:
    explicit PairsTable(Reads& reads, bool fails = false) : reads_(reads), fails_(fails) {}
    const char* name() const override { return "pair"; }
    const std::vector<SqlColumn>& columns() const override {
        static const std::vector<SqlColumn> all = {{"a", SqlColumn::Kind::address}, {"b"}};
        return all;
    }
    double rows() const override { return 100; }
    std::vector<Index> indexes() const override { return {{0, 1, true, 1}, {1, 10, false, 1}}; }
    std::vector<int> orders() const override { return {1}; }
    std::unique_ptr<SqlCursor> open() override;

    Reads& reads_;
    bool fails_;
};

class PairsCursor final : public SqlCursor {
public:
    explicit PairsCursor(PairsTable& table) : table_(table) {}
    void scan(int order) override {
        ++table_.reads_.scans;
        table_.reads_.order = order;
        at_ = 0;
        end_ = 100;
    }
    void find(std::size_t index, const SqlKey& key) override {
        ++table_.reads_.finds;
        at_ = end_ = 0;
        if (!key.integer) return;
        const std::int64_t wide = index == 0 ? 1 : 10;
        if (*key.integer < 0 || *key.integer >= 100 / wide) return;
        at_ = *key.integer * wide;
        end_ = at_ + wide;
    }
    bool at_end() const override { return at_ >= end_; }
    void next() override { ++at_; }
    void column(int column, SqlResult& result) override {
        ++table_.reads_.rows;
        if (table_.fails_) throw std::range_error("a torn row");
        result.integer(column == 0 ? at_ : at_ / 10);
    }
    std::int64_t rowid() override { return at_; }

private:
    PairsTable& table_;
    std::int64_t at_ = 0, end_ = 0;
};

std::unique_ptr<SqlCursor> PairsTable::open() { return std::make_unique<PairsCursor>(*this); }

std::string text_of(const SqlCell& cell) {
    if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* blob = std::get_if<SqlBlob>(&cell))
        return "blob of " + std::to_string(blob->bytes.size());
    return "-";
}

std::string all_rows_of(SqlQuery& query) {
    std::string rows;
    while (query.step()) {
        if (!rows.empty()) rows += "; ";
        for (std::size_t i = 0; i < query.columns().size(); ++i)
            rows += (i ? "|" : "") + text_of(query.cell(i));
    }
    return rows;
}

/// The rows of `sql` over pairs.
std::string of_pairs(const std::string& sql, Reads& reads, const SqlLimits& limits = {}) {
    SqlClock clock;
    SqlQuery query(limits, clock);
    query.add(std::make_unique<PairsTable>(reads));
    query.prepare(sql);
    return all_rows_of(query);
}
std::string of_pairs(const std::string& sql) {
    Reads reads;
    return of_pairs(sql, reads);
}

Error objection_to(const std::string& sql, const SqlLimits& limits = {}) {
    try {
        Reads reads;
        of_pairs(sql, reads, limits);
    } catch (const Error& error) {
        CHECK(error.message().find('\n') == std::string::npos);
        return error;
    }
    return Error(ExitCode::answered, "none", "");
}

/// A query of a small core's heap.
struct AskedCore {
    explicit AskedCore(bool redact = false) : redactor(redact), console(true, redactor) {
        options.core = directory.write("core", core.bytes());
        options.no_index = true;
        options.progress = When::never;
        options.quiet = true;
        session.emplace(options, words, console, redactor, run_program, nullptr);
        session->leave_core_in_use();
        question = std::make_shared<Question>(*session, std::vector<Need>{});
        question->filled();
        heap.emplace(*session, question, nullptr);
    }
    std::string operator()(const std::string& sql) {
        SqlQuery query({}, clock);
        add_query_tables(query, *heap);
        query.prepare(sql);
        return all_rows_of(query);
    }
    static std::string number(Address address) {
        return std::to_string(static_cast<std::int64_t>(address.value));
    }

    SmallCore core;
    TemporaryDirectory directory;
    CommonOptions options;
    Words words;
    Redactor redactor;
    Console console;
    std::optional<Session> session;
    std::shared_ptr<Question> question;
    SqlClock clock;
    std::optional<QueryHeap> heap;
};

}  // namespace

TEST_CASE("SQL: an indexed column is looked up, by IN and in a join as well", "[cli][query]") {
    Reads reads;
    CHECK(of_pairs("SELECT b FROM pair WHERE a = 42", reads) == "4");
    CHECK((reads.finds == 1 && reads.scans == 0));
    CHECK(of_pairs("SELECT a FROM pair WHERE a IN (3, 77, 500, NULL)", reads) == "3; 77");
    CHECK(reads.scans == 0);
    CHECK(of_pairs("SELECT count(*), sum(q.a) FROM pair p JOIN pair q ON q.b = p.b WHERE p.a = 35", reads) ==
          "10|345");
    CHECK(reads.scans == 0);
    // Of two conditions the one that leaves fewer rows; the other is checked.
    CHECK(of_pairs("SELECT a FROM pair WHERE b = 4 AND a = 51", reads).empty());
    CHECK(of_pairs("SELECT a FROM pair WHERE a = 7.0 OR a = '8' OR b = 9 AND a > 97 ORDER BY a", reads) ==
          "7; 8; 98; 99");
}

TEST_CASE("SQL: what is no whole number is in no column of them, and no key", "[cli][query]") {
    CHECK(of_pairs("SELECT a FROM pair WHERE a = NULL").empty());
    CHECK(of_pairs("SELECT a FROM pair WHERE a = 1.5").empty());
    CHECK(of_pairs("SELECT a FROM pair WHERE a = 'x'").empty());
    CHECK(of_pairs("SELECT a FROM pair WHERE a = x'01'").empty());
    CHECK(of_pairs("SELECT a FROM pair WHERE a = 9e99 OR a = -9e99").empty());
}

TEST_CASE("SQL: rows come grouped from a table that can sort them, and are not sorted again",
          "[cli][query]") {
    Reads reads;
    CHECK(of_pairs("SELECT b, count(*) FROM pair GROUP BY b LIMIT 2", reads) == "0|10; 1|10");
    CHECK(reads.order == 1);
    CHECK(reads.rows < 100);  // those of two groups, and one
    CHECK(of_pairs("SELECT a FROM pair ORDER BY b DESC, a LIMIT 1", reads) == "90");
    CHECK(reads.order == -1);
}

TEST_CASE("SQL: an exception of a table comes out as it is", "[cli][query]") {
    Reads reads;
    SqlClock clock;
    SqlQuery query({}, clock);
    query.add(std::make_unique<PairsTable>(reads, true));
    query.add({"torn", 0, [](const SqlArguments&, SqlResult&) { throw std::bad_alloc(); }});
    query.prepare("SELECT a FROM pair");
    CHECK_THROWS_AS(query.step(), std::range_error);
    SqlQuery other({}, clock);
    other.add({"torn", 0, [](const SqlArguments&, SqlResult&) { throw std::bad_alloc(); }});
    other.prepare("SELECT torn()");
    CHECK_THROWS_AS(other.step(), std::bad_alloc);
}

TEST_CASE("SQL: cells of each kind, and columns of addresses, also through a subquery", "[cli][query]") {
    Reads reads;
    SqlClock clock;
    SqlQuery query({}, clock);
    query.add(std::make_unique<PairsTable>(reads));
    query.prepare("SELECT x, x + 1, 1.5, 'text', x'0a0b', NULL FROM (SELECT max(b), a AS x FROM pair)");
    CHECK(query.columns()[0].is_address);
    CHECK_FALSE(query.columns()[1].is_address);
    CHECK(all_rows_of(query) == "90|91|1.5|text|blob of 2|-");
}

TEST_CASE("SQL: only reading is allowed, and the line says what is refused", "[cli][query]") {
    for (const auto& [sql, words] : std::vector<std::pair<std::string, std::string>>{
             {"ATTACH '/tmp/x' AS x", "ATTACH"},
             {"CREATE TABLE x(a)", "CREATE or DROP"},
             {"CREATE TEMP VIEW x AS SELECT 1", "CREATE or DROP"},
             {"DROP TABLE pair", "CREATE or DROP"},
             {"INSERT INTO pair VALUES(1, 2)", "INSERT"},
             {"UPDATE pair SET b = 1", "UPDATE"},
             {"DELETE FROM pair", "DELETE"},
             {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode"},
             {"PRAGMA cache_size = 5", "PRAGMA cache_size"},
             {"BEGIN", "a transaction"},
             {"SAVEPOINT x", "a savepoint"},
             {"VACUUM INTO '/tmp/x'", "what writes"},
             {"SELECT load_extension('x')", "a function that loads code"}}) {
        INFO(sql);
        const Error error = objection_to(sql);
        CHECK(error.code() == "read-only");
        CHECK(error.exit() == ExitCode::wrong_usage);
        CHECK(error.message() == "query only reads: " + words + " is refused");
    }
    for (const auto& [sql, words] : std::vector<std::pair<std::string, std::string>>{
             {"SELECT * FROM pragma_database_list",
              "pragma_database_list is a table of SQLite about its own files, of which query has none"},
             {"SELECT 1 FROM pragma_table_info('pair'), PRAGMA_index_list('pair')",
              "PRAGMA_index_list is a table of SQLite about its own files, of which query has none"},
             {"-- which is it?\n/* of this\nfile */ WITH x AS (SELECT 1) SELECT * FROM x, "
              "pragma_user_version",
              "pragma_user_version is a table of SQLite about its own files, of which query has none"}}) {
        INFO(sql);
        const Error error = objection_to(sql);
        CHECK(error.code() == "read-only");
        CHECK(error.message() == words);
        CHECK(error.hint().find("pragma_table_info, ") != std::string::npos);
    }
    CHECK(objection_to("PRAGMA database_list").hint().starts_with("allowed: PRAGMA table_info(TABLE), "));
    CHECK(of_pairs("SELECT name FROM pragma_table_info('pair')") == "a; b");
    CHECK(of_pairs("SELECT value FROM json_each('[5, 6]')") == "5; 6");
    CHECK(of_pairs("PRAGMA compile_options").find("THREADSAFE") != std::string::npos);
}

TEST_CASE("SQL: one statement, which is right", "[cli][query]") {
    CHECK(of_pairs(" -- one\n SELECT 1; -- and no more\n ;") == "1");
    for (const char* sql : {"", "  -- nothing", "SELECT 1; SELECT 2", "SELEC 1", "SELECT c FROM pair",
                            "SELECT abs(-9223372036854775808)", "SELECT \"text\""})
        CHECK(objection_to(sql).code() == "bad-sql");
    CHECK(objection_to(std::string("SELECT 1\0, 2", 12)).code() == "bad-sql");
    CHECK(objection_to("SELECT '\x1b[31m' x y").message().find('\x1b') == std::string::npos);
}

TEST_CASE("SQL: what runs for ever ends at its limit of time; a pause is not counted", "[cli][query]") {
    const std::string for_ever =
        "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT max(a) FROM x";
    const Error error = objection_to(for_ever, {.time = std::chrono::milliseconds(30), .memory = 0});
    CHECK(error.code() == "timeout");
    CHECK(error.exit() == ExitCode::limit_exceeded);
    SqlClock clock;
    clock.start();
    {
        const SqlClock::Pause pause(clock);
        const auto before = clock.spent();
        const SqlClock::Pause inner(clock);
        CHECK(clock.spent() == before);
    }
    const auto before = clock.spent();
    while (clock.spent() == before) {
    }
}

TEST_CASE("SQL: what is too large ends in one line", "[cli][query]") {
    CHECK(objection_to("SELECT zeroblob(1000000000000)").code() == "value-too-long");
    CHECK(objection_to("SELECT length(hex(zeroblob(99999999)))").code() == "value-too-long");
    const Error error = objection_to(
        "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x LIMIT 100000) "
        "SELECT a, hex(zeroblob(500)) FROM x ORDER BY 2, 1 DESC",
        {.time = std::nullopt, .memory = 16 << 20});
    CHECK(error.code() == "query-memory");
    CHECK(error.exit() == ExitCode::cannot_analyse);
    CHECK(of_pairs("SELECT length(hex(zeroblob(30000000)))") == "60000000");  // the limit is gone
}

TEST_CASE("SQL: rows in memory are found by each indexed column, NULLs and equal cells included",
          "[cli][query]") {
    SqlClock clock;
    SqlQuery query({}, clock);
    int made = 0;
    query.add(std::make_unique<RowsTable>(
        RowsTable::Shape{"row", {{"id"}, {"name", SqlColumn::Kind::text}}, {0, 1}}, [&] {
            ++made;
            return std::vector<SqlRow>{{std::int64_t{3}, std::string("c")},
                                       {std::int64_t{-1}, std::string("a")},
                                       {std::int64_t{2}, {}},
                                       {std::int64_t{7}, std::string("c")}};
        }));
    query.prepare(
        "SELECT (SELECT group_concat(id) FROM row WHERE name = 'c'), "
        "(SELECT count(*) FROM row WHERE name = 'C' COLLATE NOCASE), "
        "(SELECT name FROM row WHERE id = -1), (SELECT count(*) FROM row WHERE name IS NULL), "
        "(SELECT group_concat(id) FROM (SELECT id FROM row ORDER BY name)), "
        "(SELECT count(*) FROM row WHERE id = 99 OR name = 'b' OR name = 5)");
    CHECK(all_rows_of(query) == "3,7|2|a|1|2,-1,3,7|0");
    CHECK(made == 1);
}

TEST_CASE("query: cells are kept as they were", "[cli][query]") {
    RowStore store(3);
    std::vector<std::vector<SqlCell>> rows;
    for (std::int64_t i = 0; i < 20000; ++i)
        rows.push_back({i - 5,
                        i % 3 == 0 ? SqlCell() : SqlCell(std::string(static_cast<std::size_t>(i % 50), 'x')),
                        i % 2 == 0 ? SqlCell(0.5 * static_cast<double>(i)) : SqlCell(SqlBlob{{"\0b", 2}})});
    for (const auto& row : rows) store.add(row);
    CHECK(store.size() == rows.size());
    CHECK(store.bytes() > 20000 * 16);
    std::size_t at = 0;
    bool same = true;
    store.for_each([&](const std::vector<SqlCell>& row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            same = same && row[i].index() == rows[at][i].index() && text_of(row[i]) == text_of(rows[at][i]);
        ++at;
    });
    CHECK(same);
    CHECK(at == rows.size());
}

TEST_CASE("query: a table for people, a document, and lines, of the same rows", "[cli][query]") {
    auto store = std::make_shared<RowStore>(3);
    store->add({static_cast<std::int64_t>(0xffffffffff600000), std::string("a\x1b[31m"), std::int64_t{12}});
    store->add({SqlCell(), SqlBlob{"\x01\xff"}, 2.5});
    const QueryColumns columns = {{"address", true}, {"x", false}, {"x", false}};
    Shown shown;
    const Written table(render_query_table({columns, store, true}), shown);
    CHECK(table.text(shown.page) ==
          "  address             x            x\n"
          "  0xffffffffff600000  a\\x1b[31m   12\n"
          "  –                   x'01ff'    2.5\n"
          "… more rows; all: add -n 0\n");
    const Written document(render_query_json({columns, store, false}), shown);
    CHECK(document.data == Json::parse(R"({"columns": ["address", "x", "x"], "more": false})"));
    CHECK(rows_of(document)[0] == Json::parse(R"(["0xffffffffff600000", "a\u001b[31m", 12])"));
    CHECK(rows_of(document)[1] == Json::parse(R"([null, "x'01ff'", 2.5])"));
    const Written lines(render_query_rows(columns, [store](const auto& visit) { store->for_each(visit); }),
                        shown);
    CHECK(lines.csv() == "address,x,x_2\n0xffffffffff600000,a\\x1b[31m,12\n,x'01ff',2.5\n");
    const Written none(render_query_table({columns, std::make_shared<RowStore>(3), false}), shown);
    CHECK(none.text(shown.page) == "The query gives no row.\n");
}

TEST_CASE("query: a heap's tables: objects by address and type, references both ways", "[cli][query]") {
    AskedCore asked;
    const std::string items = AskedCore::number(asked.core.items), text = AskedCore::number(asked.core.text);
    CHECK(asked("SELECT name, value FROM object o JOIN type t ON t.id = o.type_id WHERE o.address = " +
                text) == "str|'a line of text'");
    CHECK(asked("SELECT count(*) FROM object WHERE type_id = (SELECT id FROM type WHERE name = 'list')") ==
          asked("SELECT count(*) FROM object JOIN type ON id = type_id WHERE name || '' = 'list'"));
    const std::string by_source = asked(
        "SELECT target, name, kind, followed FROM reference WHERE source = " + items + " ORDER BY name");
    CHECK(by_source == text + "|[0]|strong|1; " + AskedCore::number(asked.core.instance) + "|[1]|strong|1");
    CHECK(asked("SELECT source, name FROM reference WHERE target = " + text) == items + "|[0]");
    // Looked up by either end, or neither: the same rows.
    const std::string all = "SELECT source, target, name, kind, followed FROM reference ";
    CHECK(asked(all + "ORDER BY 1, 2, 3") ==
          asked("SELECT r.source, r.target, r.name, r.kind, r.followed FROM "
                "(SELECT DISTINCT +target AS t FROM reference) JOIN reference r ON r.target = t ORDER BY 1, "
                "2, 3"));
    CHECK(asked("SELECT count(*) FROM reference WHERE source = " + items + " OR target = " + text +
                " OR target = " + items) == asked("SELECT count(*) FROM reference WHERE +source = " + items +
                                                  " OR +target = " + text + " OR +target = " + items));
    CHECK(asked("SELECT count(*) FROM object WHERE dominator = " + items) ==
          asked("SELECT count(*) FROM object WHERE +dominator = " + items));
}

TEST_CASE("query: functions name objects, and give NULL for what is none", "[cli][query]") {
    AskedCore asked;
    const std::string text = AskedCore::number(asked.core.text);
    CHECK(asked("SELECT expr(" + text + ")") == "app.items[0]");
    CHECK(asked("SELECT why(" + text + ")") ==
          "module app (module) > .__dict__ (dict) > ['items'] (list) > [0] (str)");
    CHECK(asked("SELECT value(" + text + "), value(" + text + ", 3)") == "'a line of text'|'a l…'");
    CHECK(asked("SELECT expr(1), why(NULL), value('x'), value(0.5)") == "-|-|-|-");
    CHECK(asked("SELECT hex(255), hex(-1), hex('ab'), hex(x'0aff'), hex(NULL)") ==
          "0xff|0xffffffffffffffff|6162|0AFF|-");
    CHECK(asked("SELECT size_text(1536), size_text(-1536), size_text(NULL), size_text(9e99)") ==
          "1.5 KiB|-1.5 KiB|-|" + asked("SELECT size_text(9e18)"));
}

TEST_CASE("query: --redact leaves lengths, and no hash to try values on", "[cli][query][redact]") {
    AskedCore asked(true);
    const std::string text = AskedCore::number(asked.core.text);
    CHECK(asked("SELECT length, hash, value FROM string WHERE address = " + text) == "14|-|‹str 14 #1›");
    CHECK(asked("SELECT value(" + text + ", 100)") == "‹str 14 #1›");
    AskedCore open;
    CHECK(open("SELECT length, hash IS NOT NULL, value FROM string WHERE address = " + text) ==
          "14|1|'a line of text'");
}

TEST_CASE("query: every table and view can be read", "[cli][query]") {
    AskedCore asked;
    for (const char* table : {"meta", "type", "object", "reference", "root", "array", "string", "holder",
                              "native", "thread", "frame", "task", "region", "named_object",
                              "named_reference", "named_root", "named_array", "type_total"}) {
        INFO(table);
        CHECK_FALSE(asked(std::string("SELECT count(*), * FROM ") + table).empty());
    }
    CHECK(asked("SELECT sum(count) FROM type_total") ==
          asked("SELECT count(*) FROM object WHERE type_id IS NOT NULL"));
}
