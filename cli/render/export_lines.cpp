// One stream with several tables: each line names its table first, so a reader can tell them apart, pick one
// (grep '^{"table":"array"'), or read all in one pass. Objects are the rows of `objects --format jsonl`, with
// the additional columns of the table.

#include "cli/render/array.h"
#include "cli/render/export.h"
#include "cli/render/object.h"
#include "cli/write/json.h"

namespace heapsift {
namespace {

std::string line_of(const char* table, const std::string& columns) {
    return std::string("{\"table\":\"") + table + "\"," + columns.substr(1) + "\n";
}

}  // namespace

void LinesExport::line(const char* table, const Datum& columns) {
    write_(line_of(table, json_text(columns, redactor_)));
}

void LinesExport::meta(const Json& meta) { write_(line_of("meta", json_text(meta))); }

void LinesExport::type(const ExportedType& row) {
    line("type", entries({{"id", row.id},
                          {"name", row.name},
                          {"address", row.address},
                          {"basicsize", row.basicsize},
                          {"itemsize", row.itemsize},
                          {"base_id", row.base}}));
}

void LinesExport::object(const ExportedObject& object) {
    text_.clear();
    JsonFields fields(text_, redactor_);
    fields.begin();
    fields.add("table", "object");
    add_object(fields, object.row);
    fields.add("type_id", object.type);
    fields.add("block_size", object.row.facts.block_size);
    fields.add("generation", object.generation);
    fields.add("dominator", object.dominator);
    fields.end();
    text_ += '\n';
    write_(text_);
}

void LinesExport::reference(const ExportedReference& row) {
    text_.clear();
    JsonFields fields(text_, redactor_);
    fields.begin();
    fields.add("table", "reference");
    fields.add("source", row.source);
    fields.add("target", row.reference.target);
    fields.reference("name", row.reference.step);
    fields.add("kind", name_of(row.reference.kind));
    fields.add("followed", row.followed);
    fields.end();
    text_ += '\n';
    write_(text_);
}

void LinesExport::root(const ExportedRoot& row) {
    line("root", entries({{"address", row.address}, {"kind", name_of(row.kind)}, {"name", row.name}}));
}

void LinesExport::array(const ArrayRow& row) {
    Datum data = entries({{"address", row.address}});
    add_array(data, row);
    line("array", data);
}

}  // namespace heapsift
