// sqlite3. Up to 3.9 its types take no part in collection. A connection only borrows the exceptions that it
// names, so they are left out. (_sqlite/*.c)

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

void callback(const ObjectReader& object, LayoutOffset field, ReferenceVisitor& visit) {
    const auto& l = object.layout().sqlite_callback;
    const Address context = object.pointer(field);
    if (context.is_null() || !l.callable.present()) return;
    visit.named(object.heap().pointer(context + *l.callable), ".<callback>");
    visit.named(object.heap().pointer(context + *l.module), ".<module>");
}

/// The nodes form a list beside the dict that finds them. A connection's cache does not keep the connection
/// alive.
void cache_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    const ReferenceKind kind = reported_since(object, 10);
    visit.named(object.pointer(l.sqlite_cache.mapping), ".<dict>", kind);
    const bool owned = object.integer<std::int32_t>(l.sqlite_cache.decref_factory) != 0;
    visit.named(object.pointer(l.sqlite_cache.factory), ".<factory>", owned ? kind : ReferenceKind::weak);
    // At most as many nodes as the dict has entries, wherever the links lead.
    const Address mapping = object.pointer(l.sqlite_cache.mapping);
    if (!l.sqlite_cache_node.next.present()) return;
    const auto facts = mapping.is_null() ? std::nullopt : object.heap().dict(mapping);
    const std::uint64_t most = facts ? std::min(facts->used, facts->entry_count) : 0;
    Address node = object.pointer(l.sqlite_cache.first);
    for (std::uint64_t i = 0; !node.is_null() && i < most; ++i) {
        visit.named(node, ".<node>", kind);
        node = object.heap().pointer(node + *l.sqlite_cache_node.next);
    }
}

constexpr const char* cache_names[] = {"sqlite3.Cache"};
constexpr const char* prepare_protocol_names[] = {"sqlite3.PrepareProtocol"};

constexpr const char* sqlite_connection_names[] = {"sqlite3.Connection"};
constexpr const char* sqlite_cursor_names[] = {"sqlite3.Cursor"};
constexpr const char* sqlite_row_names[] = {"sqlite3.Row"};
constexpr const char* sqlite_statement_names[] = {"sqlite3.Statement"};
constexpr const char* sqlite_blob_names[] = {"sqlite3.Blob"};
constexpr const char* sqlite_node_names[] = {"sqlite3.Node", "sqlite3Node"};

constexpr VersionedField<sqlite_connection_layout> sqlite_connection_fields[] = {
    {&sqlite_connection_layout::statement_cache, ".<statements>", 10},
    {&sqlite_connection_layout::statements, ".<statements in use>", 10},
    {&sqlite_connection_layout::cursors, ".<cursors>", 10},
    {&sqlite_connection_layout::blobs, ".<blobs>", 10},
    {&sqlite_connection_layout::row_factory, ".row_factory", 10},
    {&sqlite_connection_layout::text_factory, ".text_factory", 10},
    {&sqlite_connection_layout::trace_callback, ".<trace callback>", 10},
    {&sqlite_connection_layout::progress_handler, ".<progress handler>", 10},
    {&sqlite_connection_layout::authorizer, ".<authorizer>", 10},
    {&sqlite_connection_layout::function_pinboard, ".<functions>", 10},
    {&sqlite_connection_layout::collations, ".<collations>", 10}};
constexpr VersionedField<sqlite_cursor_layout> sqlite_cursor_fields[] = {
    {&sqlite_cursor_layout::connection, ".connection", 10},
    {&sqlite_cursor_layout::description, ".description", 10},
    {&sqlite_cursor_layout::row_cast_map, ".<converters>", 10},
    {&sqlite_cursor_layout::lastrowid, ".lastrowid", 10},
    {&sqlite_cursor_layout::row_factory, ".row_factory", 10},
    {&sqlite_cursor_layout::statement, ".<statement>", 10},
    {&sqlite_cursor_layout::next_row, ".<next row>", 10}};
constexpr VersionedField<sqlite_row_layout> sqlite_row_fields[] = {
    {&sqlite_row_layout::data, ".<values>", 10}, {&sqlite_row_layout::description, ".<description>", 10}};
constexpr VersionedField<sqlite_statement_layout> sqlite_statement_fields[] = {
    {&sqlite_statement_layout::sql, ".<SQL>", 10}};
constexpr VersionedField<sqlite_blob_layout> sqlite_blob_fields[] = {
    {&sqlite_blob_layout::connection, ".<connection>"}};
constexpr VersionedField<sqlite_node_layout> sqlite_node_fields[] = {
    {&sqlite_node_layout::key, ".<key>", 10}, {&sqlite_node_layout::data, ".<data>", 10}};

void connection_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_versioned_fields<&Layout::sqlite_connection, sqlite_connection_fields>(object, visit);
    if (isolation_level_is_object(object.layout()))
        visit.named(object.pointer(object.layout().sqlite_connection.isolation_level), ".isolation_level",
                    reported_since(object, 10));
    const auto& l = object.layout().sqlite_connection_callbacks;
    callback(object, l.trace, visit);
    callback(object, l.progress, visit);
    callback(object, l.authorizer, visit);
}

const ObjectKind kinds_of_databases[] = {
    {.name = "sqlite3.Connection",
     .type_names = sqlite_connection_names,
     .visit_references = connection_references,
     .struct_size = struct_size<&Layout::sqlite_connection>},
    {.name = "sqlite3 cache",
     .type_names = cache_names,
     .visit_references = cache_references,
     .struct_size = struct_size<&Layout::sqlite_cache>},
    {.name = "sqlite3.PrepareProtocol", .type_names = prepare_protocol_names},
    versioned_kind<&Layout::sqlite_cursor, sqlite_cursor_fields>("sqlite3.Cursor", sqlite_cursor_names),
    versioned_kind<&Layout::sqlite_row, sqlite_row_fields>("sqlite3.Row", sqlite_row_names),
    versioned_kind<&Layout::sqlite_statement, sqlite_statement_fields>("sqlite3.Statement",
                                                                       sqlite_statement_names),
    versioned_kind<&Layout::sqlite_blob, sqlite_blob_fields>("sqlite3.Blob", sqlite_blob_names),
    versioned_kind<&Layout::sqlite_node, sqlite_node_fields>("node of a sqlite3 cache", sqlite_node_names),
};

}  // namespace

std::span<const ObjectKind> database_kinds() { return kinds_of_databases; }

}  // namespace heapsift
