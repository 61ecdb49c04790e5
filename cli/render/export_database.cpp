// The tables of the contract, in SQLite. `address` is the primary key of the tables that have one row for
// each address, so it also is the row's place in the file, and nothing is stored twice.

#include "cli/query/query_tables.h"
#include "cli/render/export.h"
#include "cli/render/object.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

// application_id: export_application_id.
// user_version is the version of these tables.
constexpr const char* schema = R"(
PRAGMA application_id = 1751474544;
PRAGMA user_version = 2;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE type(id INTEGER PRIMARY KEY, name TEXT NOT NULL, address INTEGER, basicsize INTEGER, itemsize INTEGER,
    base_id INTEGER REFERENCES type(id));
CREATE TABLE object(address INTEGER PRIMARY KEY, type_id INTEGER REFERENCES type(id), size INTEGER, memory INTEGER,
    block_size INTEGER, refcount INTEGER, gc_tracked INTEGER, generation INTEGER, state TEXT, retained INTEGER, dominator INTEGER,
    value TEXT, native INTEGER);
CREATE TABLE reference(source INTEGER, target INTEGER, name TEXT, kind TEXT, followed INTEGER);
CREATE INDEX reference_source ON reference(source);
CREATE TABLE root(address INTEGER, kind TEXT, name TEXT);
CREATE TABLE array(address INTEGER PRIMARY KEY, dtype TEXT, shape TEXT, strides TEXT, nbytes INTEGER, data INTEGER,
    owns_data INTEGER, base INTEGER, owner INTEGER);
)";

std::int64_t integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::int64_t integer(Address address) { return integer(address.value); }

void bind_address(Statement& statement, int place, const std::optional<Address>& address) {
    if (address) statement.bind(place, integer(*address));
}

}  // namespace

static_assert(export_application_id == 1751474544, "the schema has the same");

DatabaseExport::DatabaseExport(Database& database, Redactor& redactor) : redactor_(redactor) {
    database.execute(schema);
    meta_ = database.prepare("INSERT INTO meta VALUES(?,?)");
    type_ = database.prepare("INSERT INTO type VALUES(?,?,?,?,?,?)");
    object_ = database.prepare("INSERT INTO object VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    reference_ = database.prepare("INSERT INTO reference VALUES(?,?,?,?,?)");
    root_ = database.prepare("INSERT INTO root VALUES(?,?,?)");
    array_ = database.prepare("INSERT INTO array VALUES(?,?,?,?,?,?,?,?,?)");
}

void DatabaseExport::meta(const Json& meta) {
    for (const auto& [key, value] : meta.items()) {
        const std::string text =
            value.is_string() ? escape_for_terminal(value.get<std::string>()) : json_text(value);
        meta_.bind(1, key);
        if (value.is_boolean())
            meta_.bind(2, value.get<bool>() ? 1 : 0);
        else if (value.is_number_integer())
            meta_.bind(2, value.get<std::int64_t>());
        else if (!value.is_null())
            meta_.bind(2, text);
        meta_.run();
    }
}

void DatabaseExport::type(const ExportedType& row) {
    const std::string name = escape_for_terminal(row.name);
    type_.bind(1, row.id);
    type_.bind(2, name);
    type_.bind(3, integer(row.address));
    type_.bind(4, integer(row.basicsize));
    type_.bind(5, row.itemsize);
    if (row.base) type_.bind(6, *row.base);
    type_.run();
}

void DatabaseExport::object(const ExportedObject& object) {
    const ObjectFacts& facts = object.row.facts;
    std::string value, state;
    object_.bind(1, integer(object.row.address));
    if (object.type) object_.bind(2, *object.type);
    object_.bind(3, integer(facts.size));
    object_.bind(4, integer(facts.memory));
    object_.bind(5, integer(facts.block_size));
    object_.bind(6, facts.refcount);
    object_.bind(7, facts.gc_tracked ? 1 : 0);
    if (object.generation) object_.bind(8, *object.generation);
    if (object.row.state) {
        state = name_of(*object.row.state);
        object_.bind(9, state);
    }
    if (object.row.retained) object_.bind(10, integer(*object.row.retained));
    bind_address(object_, 11, object.dominator);
    if (object.row.native) object_.bind(13, integer(*object.row.native));
    if (object.row.value.kind != ShortValue::Kind::none) {
        value = escape_for_terminal(redactor_.value(object.row.value, object.row.type));
        object_.bind(12, value);
    }
    object_.run();
}

void DatabaseExport::reference(const ExportedReference& row) {
    const std::string name = escape_for_terminal(redactor_.reference_name(row.reference.step));
    const std::string kind = name_of(row.reference.kind);
    reference_.bind(1, integer(row.source));
    reference_.bind(2, integer(row.reference.target));
    reference_.bind(3, name);
    reference_.bind(4, kind);
    reference_.bind(5, row.followed ? 1 : 0);
    reference_.run();
}

void DatabaseExport::root(const ExportedRoot& row) {
    const std::string kind = name_of(row.kind), name = escape_for_terminal(row.name);
    root_.bind(1, integer(row.address));
    root_.bind(2, kind);
    root_.bind(3, name);
    root_.run();
}

void DatabaseExport::array(const ArrayRow& row) {
    const std::string shape = row.shape ? json_text(*row.shape) : std::string();
    const std::string strides = row.strides ? json_text(*row.strides) : std::string();
    const std::string dtype = escape_for_terminal(row.dtype.value_or(""));
    array_.bind(1, integer(row.address));
    if (row.dtype) array_.bind(2, dtype);
    if (row.shape) array_.bind(3, shape);
    if (row.strides) array_.bind(4, strides);
    if (row.nbytes) array_.bind(5, integer(*row.nbytes));
    bind_address(array_, 6, row.data);
    if (row.owns_data) array_.bind(7, *row.owns_data ? 1 : 0);
    bind_address(array_, 8, row.base);
    bind_address(array_, 9, row.owner);
    array_.run();
}

std::uint64_t write_table(Database& database, SqlTable& table, bool has_key) {
    database.execute(declaration_for_file(table, has_key));
    const std::size_t columns = table.columns().size();
    std::string places;
    for (std::size_t i = 0; i < columns; ++i) places += i == 0 ? "?" : ",?";
    Statement insert =
        database.prepare("INSERT INTO " + std::string(table.name()) + " VALUES(" + places + ")");
    std::vector<SqlCell> row(columns);
    std::uint64_t count = 0;
    const auto cursor = table.open();
    for (cursor->scan(-1); !cursor->at_end(); cursor->next(), ++count) {
        for (std::size_t i = 0; i < columns; ++i) {
            SqlResult result(row[i]);
            cursor->column(static_cast<int>(i), result);
            if (const auto* number = std::get_if<std::int64_t>(&row[i]))
                insert.bind(static_cast<int>(i) + 1, *number);
            else if (const auto* text = std::get_if<std::string>(&row[i]))
                insert.bind(static_cast<int>(i) + 1, *text);
        }
        insert.run();
    }
    return count;
}

void finish_database(Database& database) {
    // What refers to an object lies in another order than its rows, and is sorted at once. (By source they are sorted.)
    database.execute("CREATE INDEX reference_target ON reference(target)");
    database.execute("CREATE INDEX object_type ON object(type_id)");
    database.execute(query_views);
}

}  // namespace heapsift
