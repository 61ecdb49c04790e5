#include "cli/database/database_reader.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

namespace heapsift {
namespace {

constexpr int largest_value = 256 << 20;
constexpr std::string_view magic = "SQLite format 3";
constexpr std::size_t application_id_at = 68;

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

}  // namespace

bool is_database_of(const std::string& path, std::uint32_t application_id) {
    std::array<char, 100> head{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(head.data(), head.size()) || std::memcmp(head.data(), magic.data(), magic.size() + 1) != 0)
        return false;
    std::uint32_t id = 0;
    for (std::size_t i = 0; i < 4; ++i)
        id = id << 8 | static_cast<unsigned char>(head[application_id_at + i]);
    return id == application_id;
}

std::string blob_of_database(const std::string& path, const std::string& sql) {
    const auto refuse = [&](const char* why) {
        return cannot_analyse("cannot-read", escape_for_terminal(path) + " cannot be read: " + why,
                              "export it again");
    };
    sqlite3* opened = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    const std::unique_ptr<sqlite3, CloseDatabase> database(opened);
    if (result != SQLITE_OK) throw refuse(database ? sqlite3_errmsg(database.get()) : "there is no memory");
    sqlite3_db_config(database.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_limit(database.get(), SQLITE_LIMIT_LENGTH, largest_value);
    sqlite3_stmt* made = nullptr;
    const int prepared =
        sqlite3_prepare_v2(database.get(), sql.data(), static_cast<int>(sql.size()), &made, nullptr);
    const std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement(made);
    if (prepared != SQLITE_OK) return {};  // no such table
    const int step = sqlite3_step(statement.get());
    if (step == SQLITE_DONE) return {};
    if (step != SQLITE_ROW) throw refuse(sqlite3_errmsg(database.get()));
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement.get(), 0));
    const int size = sqlite3_column_bytes(statement.get(), 0);
    return data ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace heapsift
