// One stream with several tables in it: each line says its table first, so that a reader can tell them apart,
// take one (grep '^{"table":"array"'), or read them all in one pass. Objects are the rows of `objects
// --format jsonl`, with what the table has beside.

#include "cli/render/array.h"
#include "cli/render/export.h"
#include "cli/render/object.h"

namespace heapsift {
namespace {

Json address_or_null(const std::optional<Address>& address) {
    return address ? address_json(*address) : Json(nullptr);
}

}  // namespace

void LinesExport::line(const char* table, const Json& columns) {
    const std::string text = json_text(columns);
    write_(std::string("{\"table\":\"") + table + "\"," + text.substr(1) + "\n");
}

void LinesExport::meta(const Json& meta) { line("meta", meta); }

void LinesExport::type(const ExportedType& row) {
    line("type", {{"id", row.id},
                  {"name", row.name},
                  {"address", address_json(row.address)},
                  {"basicsize", row.basicsize},
                  {"itemsize", row.itemsize},
                  {"base_id", or_null(row.base)}});
}

void LinesExport::object(const ExportedObject& object) {
    Json json = object_json(object.row, redactor_);
    json["type_id"] = or_null(object.type);
    json["block_size"] = object.row.facts.block_size;
    json["generation"] = or_null(object.generation);
    json["dominator"] = address_or_null(object.dominator);
    line("object", json);
}

void LinesExport::reference(const ExportedReference& row) {
    line("reference", {{"source", address_json(row.source)},
                       {"target", address_json(row.reference.target)},
                       {"name", redactor_.reference_name(row.reference.step)},
                       {"kind", name_of(row.reference.kind)},
                       {"followed", row.followed}});
}

void LinesExport::root(const ExportedRoot& row) {
    line("root", {{"address", address_json(row.address)}, {"kind", name_of(row.kind)}, {"name", row.name}});
}

void LinesExport::array(const ArrayRow& row) {
    Json json{{"address", address_json(row.address)}};
    add_array(json, row);
    line("array", std::move(json));
}

}  // namespace heapsift
