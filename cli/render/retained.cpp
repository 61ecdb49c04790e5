#include "cli/render/retained.h"

#include "cli/render/object.h"

namespace heapsift {
namespace {

Text what_comes_free(const RetainedResult& result) {
    const bool one = result.asked == 1;
    Text text = says("Deleting {} would free {}",
                     one ? Text("this object") : says("these {} objects", Count{result.asked}),
                     Text(ByteCount{result.retained}).bold());
    if (result.native > 0) text += says(", {} of it in blocks of C code", ByteCount{result.native});
    if (result.asked == result.objects) return text + says(", and nothing but {}.", one ? "it" : "them");
    return text + says(": {}.", how_many(result.objects, "object"));
}

}  // namespace

Document render_retained(RetainedResult retained) {
    const auto result = kept(std::move(retained));
    using Row = RetainedResult::Row;
    Document document{.command = "retained"};
    document.rows_key = "types";
    document.rows = rows_of<Datum>(result, &RetainedResult::types, [](const Row& row) {
        return entries(
            {{"name", row.name}, {"count", row.count}, {"memory", row.memory}, {"size", row.size}});
    });
    document.csv_columns = {"name", "count", "memory", "size"};
    document.data["asked"] = result->asked;
    document.data["objects"] = result->objects;
    document.data["retained"] = result->retained;
    document.data["native"] = result->native;
    document.data["retained_size"] = result->retained_size;
    document.data["total"] = entries({{"types", result->total_types}});
    if (result->asked == 0) {
        document.say(line("This core has none of these."));
        return document;
    }
    document.say(line(what_comes_free(*result)));
    TableBlock table;
    table.columns = {right("objects"), right("memory", true), right("size"),
                     left("type", TextColumn::Fit::middle)};
    table.rows = rows_of<TableRow>(result, &RetainedResult::types, [](const Row& row) {
        return TableRow{
            .cells = {Count{row.count}, ByteCount{row.memory}, ByteCount{row.size}, TypeName{row.name}}};
    });
    document.say({std::move(table)});
    if (result->total_types > result->types.size())
        document.say(line(says("… {} more types; these are {} of the bytes: add",
                               Count{result->total_types - result->types.size()},
                               Share{result->shown_memory, result->retained}) +
                              all_rows,
                          1));
    return document;
}

}  // namespace heapsift
