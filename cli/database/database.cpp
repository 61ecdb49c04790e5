// SQLite writes millions of rows fastest without the work it does for databases in use: one transaction,
// statements prepared once, no journal (the file is new, and thrown away unless it is finished), no waiting
// for the disk, no lock taken and released. Rows come in the order of their keys, so the B-trees grow at
// their end. Source: sqlite.org/pragma.html, sqlite.org/faq.html question 19.

#include "cli/database/database.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <new>

namespace heapsift {
namespace {

// SQLite says "disk I/O error"; the message of the system says more.
[[noreturn]] void throw_error(sqlite3* database, const std::string& name) {
    const int last = errno;  // SQLite forgets its own copy if a commit fails
    const bool likely = last == ENOSPC || last == EFBIG || last == EDQUOT || last == EIO;
    int system_error = database ? sqlite3_system_errno(database) : 0;
    if (system_error == 0 && likely) system_error = last;
    const int code = database ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    const bool of_system =
        system_error != 0 && (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN);
    throw cannot_analyse("cannot-write",
                         fmt::format("{}: cannot be written: {}", escape_for_terminal(name),
                                     of_system ? system_reason(system_error) : sqlite3_errmsg(database)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

void Statement::bind(int place, std::int64_t value) { sqlite3_bind_int64(statement_.get(), place, value); }

void Statement::bind(int place, std::string_view text) {
    // A null pointer would store NULL, not the empty text.
    sqlite3_bind_text64(statement_.get(), place, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
}

void Statement::bind_blob(int place, std::string_view bytes) {
    sqlite3_bind_blob64(statement_.get(), place, bytes.empty() ? "" : bytes.data(), bytes.size(),
                        SQLITE_STATIC);
}

void Statement::run() {
    const int result = sqlite3_step(statement_.get());
    if (result != SQLITE_DONE) database_->check(result);
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
}

Database::Database(const std::string& path, std::string name) : name_(std::move(name)) {
    sqlite3* opened = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    check(result);
    // The order matters: the page size must be set before the first page is written.
    for (const char* pragma : {"page_size = 16384", "journal_mode = OFF", "synchronous = OFF",
                               "locking_mode = EXCLUSIVE", "temp_store = MEMORY", "cache_size = -16384"})
        execute(fmt::format("PRAGMA {}", pragma));
    execute("BEGIN EXCLUSIVE");
}

Database::~Database() = default;

void Database::check(int result) const {
    if (result != SQLITE_OK) throw_error(database_.get(), name_);
}

void Database::execute(const std::string& sql) {
    check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

Statement Database::prepare(const std::string& sql) {
    sqlite3_stmt* made = nullptr;
    Statement statement;
    const int result =
        sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &made, nullptr);
    statement.statement_.reset(made);
    statement.database_ = this;
    check(result);
    return statement;
}

void Database::commit() {
    execute("COMMIT");
    check(sqlite3_close(database_.get()));  // statements must be finalized by now
    database_.release();
}

}  // namespace heapsift
