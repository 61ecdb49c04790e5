// The table of objects.

#include "cli/render/objects.h"

#include "cli/render/object.h"
#include "cli/render/source_line.h"

namespace heapsift {
namespace {

constexpr std::size_t narrowest_with_size = 100, narrowest_with_line = 100;
constexpr const char* legend_text =
    "retained: what deleting the object would free: it, and all that it alone keeps alive";
constexpr const char* not_computed_text =
    "For retained sizes, and each object's state in JSON: add --sort retained";

TableBlock objects_table(const std::shared_ptr<const ObjectsResult>& result, const ObjectDetails& details,
                         SortKey sort, bool retained) {
    TableBlock table;
    // On a narrow page size goes first, since memory says nearly the same; then array data, if there is none.
    const std::size_t arrays_go = retained && sort != SortKey::array_data ? narrowest_with_size : 0,
                      size_goes = retained && sort != SortKey::size ? narrowest_with_size : 0;
    table.columns = {left("address"), right("memory", sort == SortKey::memory),
                     right("array data", sort == SortKey::array_data), right("size", sort == SortKey::size)};
    table.columns[2].narrow_page = arrays_go;
    table.columns[2].only_if_empty = true;
    table.columns[3].narrow_page = size_goes;
    if (retained) table.columns.push_back(right(about() + "retained", sort == SortKey::retained));
    table.columns.push_back(right("refs"));
    table.columns.push_back(left("type", TextColumn::Fit::middle));
    table.columns.back().sorted = sort == SortKey::name || sort == SortKey::count;
    if (details.line) {
        table.columns.push_back(left("allocated at", TextColumn::Fit::middle));
        table.columns.back().narrow_page = narrowest_with_line;
    }
    table.columns.push_back(left("value", TextColumn::Fit::end));
    table.rows = rows_of<TableRow>(result, &ObjectsResult::objects, [details, retained](ObjectId id) {
        const ObjectRow object = details.row(id);
        TableRow cells{.bytes = object.facts.memory};
        cells.cells = cells_of(object.address, ByteCount{object.facts.memory},
                               array_data_bytes(object.facts.array_data), ByteCount{object.facts.size});
        cells.cells.reserve(9);
        if (retained) cells.cells.push_back(bytes_or_blank(object.retained));
        cells.cells.push_back(references_counted(object.facts));
        cells.cells.emplace_back(TypeName{object.type});
        if (details.line) cells.cells.push_back(line_or_blank(details.line(object.address)));
        cells.cells.emplace_back(value_of(object));
        return cells;
    });
    table.rest = TableRest{.rows = result->total_count,
                           .singular = {},
                           .bytes = result->total_memory,
                           .all = std::string("add") + all_rows};
    return table;
}

void add_object_row(Fields& fields, const ObjectDetails& details, ObjectId id) {
    const ObjectRow object = details.row(id);
    add_object(fields, object);
    if (details.line) add_line(fields, details.line(object.address));
}

}  // namespace

Document render_objects(ObjectsResult objects, const ObjectDetails& details, const std::string& what,
                        SortKey sort) {
    const auto result = kept(std::move(objects));
    Document document{.command = "objects"};
    document.rows_key = "objects";
    document.rows = rows_of<Datum>(result, &ObjectsResult::objects, [details](ObjectId object) {
        DatumFields fields;
        add_object_row(fields, details, object);
        return fields.take();
    });
    document.field_rows = [result, details](Fields& fields) {
        for (const ObjectId object : result->objects) {
            fields.begin();
            add_object_row(fields, details, object);
            fields.end();
        }
    };
    document.csv_columns = {"address",  "type",       "size",  "memory",     "array_data", "retained",
                            "refcount", "gc_tracked", "state", "references", "value"};
    if (details.line) document.csv_columns.insert(document.csv_columns.end(), {"file", "line"});
    document.data["total"] = entries({{"count", result->total_count},
                                      {"size", result->total_size},
                                      {"memory", result->total_memory},
                                      {"shown_memory", result->shown_memory}});
    if (result->objects.empty()) {
        document.say(sentence(says("There are no {} in this core.", what)));
        return document;
    }
    const ObjectRow first = details.row(result->objects.front());
    document.say({objects_table(result, details, sort, first.retained.has_value())});
    document.say(sentence(at_least() + says("{}: memory {}; size {}", how_many(result->total_count, "object"),
                                            ByteCount{result->total_memory}, ByteCount{result->total_size})));
    document.say(sentence(first.retained ? legend_text : not_computed_text));
    document.say(hint(says("show {}", first.address)));
    return document;
}

}  // namespace heapsift
