// One line for a reference: its name, the object at the other end, and facts about that object.

#include "cli/render/edges.h"

#include "cli/render/native_end.h"
#include "cli/render/object.h"

#include <functional>

namespace heapsift {
namespace {

Text kind_remark(const EdgeRow& edge) {
    switch (edge.reference.kind) {
        case ReferenceKind::weak:
            return "weak";
        case ReferenceKind::reported:
            return "held by its __dict__";
        case ReferenceKind::native:
            return "native";
        case ReferenceKind::guess:
            return "guessed";
        case ReferenceKind::hidden:
            return edge.reference.proved ? "guessed, as its count says" : "hidden";
        case ReferenceKind::strong:
            break;
    }
    return {};
}

Text type_or_none(const ObjectRow& object, ReferenceKind kind) {
    if (!object.type.empty()) return TypeName{object.type};
    return kind == ReferenceKind::native ? "" : "no object was found there";
}

/// A reference from C code: what has the word, its class, and what holds that.
TableRow native_row(const EdgeRow& edge) {
    const NativeEnd& place = edge.holder->way.front();
    if (place.words.empty() && !place.is_block)
        return {.cells = {edge.source.address, Notation{edge.reference.step}, "", "", kind_remark(edge)}};
    if (!place.is_block) return {.cells = {edge.source.address, place.words, "", "", kind_remark(edge)}};
    return {.cells = {edge.source.address, says("a block of {}", ByteCount{place.bytes}),
                      place.words.empty() ? Text() : Text(TypeName{place.words}), held_by_words(*edge.holder),
                      kind_remark(edge)}};
}

/// `make` of each row.
template <class Row, class Make>
RowsOf<Row> made_of(RowsOf<EdgeRow> rows, Make make) {
    return [rows = std::move(rows), make](const std::function<void(const Row&)>& visit) {
        rows([&](const EdgeRow& edge) { visit(make(edge)); });
    };
}

void say_edges(const ShownEdges& edges, Text title, bool other_is_target, Document& document) {
    using Fit = TextColumn::Fit;
    const std::uint64_t more = edges.list->total - edges.count;
    TableBlock table;
    table.columns = {left("", other_is_target ? Fit::middle : Fit::whole),
                     left("", other_is_target ? Fit::whole : Fit::middle), left("", Fit::middle),
                     left("", Fit::end), left("")};
    table.rows = made_of<TableRow>(edges.rows, [other_is_target](const EdgeRow& edge) {
        if (edge.holder && !edge.holder->way.empty()) return native_row(edge);
        const ObjectRow& other = other_is_target ? edge.target : edge.source;
        TableRow row{.cells = {Notation{edge.reference.step}, other.address,
                               type_or_none(other, edge.reference.kind), value_of(other), kind_remark(edge)}};
        if (!other_is_target) std::swap(row.cells[0], row.cells[1]);
        return row;
    });
    document.say(line(std::move(title).bold()));
    document.say({std::move(table)});
    if (more > 0) document.say(line(says("… {} more: add", Count{more}) + all_rows, 1));
}

/// Renders both commands; `say` is one of the two functions below.
Document render_edges(const char* command, EdgesResult edges, AllEdges all,
                      void (*say)(const ShownEdges&, Document&)) {
    const ShownEdges shown = shown_edges(std::move(edges.list), std::move(all));
    const ObjectRow& object = edges.object;
    Document document{.command = command};
    document.rows_key = "edges";
    document.rows = made_of<Datum>(shown.rows, edge_data);
    document.csv_columns = {"source",      "target",       "name",        "kind",        "followed",
                            "source_type", "source_value", "target_type", "target_value"};
    document.data["object"] = object_data(object);
    document.data["total"] = shown.list->total;
    Text heading = Text(TypeName{object.type}).bold() + says(" {}", object.address);
    if (const Value value = value_of(object); !value.empty()) heading += says("  {}", value);
    document.say(line(std::move(heading)));
    say(shown, document);
    return document;
}

}  // namespace

Datum edge_data(const EdgeRow& edge) {
    Datum data = entries({{"source", edge.source.address},
                          {"target", edge.target.address},
                          {"name", Notation{edge.reference.step}},
                          {"kind", name_of(edge.reference.kind)},
                          {"followed", edge.followed},
                          {"source_type", or_null(edge.source.type)},
                          {"source_value", value_of(edge.source)},
                          {"target_type", or_null(edge.target.type)},
                          {"target_value", value_of(edge.target)}});
    if (edge.holder)
        if (auto holder = holder_data(*edge.holder)) data["holder"] = std::move(*holder);
    return data;
}

Datum edges_data(const std::vector<EdgeRow>& edges) { return Datum::list_of(edges, edge_data); }

Datum edges_data(const ShownEdges& edges) { return Datum::Stream(made_of<Datum>(edges.rows, edge_data)); }

ShownEdges shown_edges(EdgeList list, AllEdges all) {
    const auto shared = kept(std::move(list));
    if (!all)
        return {shared, rows_of<EdgeRow>(shared, &EdgeList::edges, std::identity()), shared->edges.size()};
    const auto rows = [shared, all = std::move(all)](const EdgeVisitor& visit) { all(*shared, visit); };
    return {shared, rows, shared->total};
}

void say_referents(const ShownEdges& edges, Document& document) {
    if (edges.list->total == 0) return document.say(line("It refers to nothing."));
    Text title = says("It refers to {}", how_many(edges.list->total, "object"));
    say_edges(edges, std::move(title), true, document);
}

void say_referrers(const ShownEdges& edges, Document& document) {
    if (edges.list->total == 0) return document.say(line("No object was found that refers to it."));
    Text title = says("{} to it", how_many(edges.list->total, "reference refers", "references refer"));
    say_edges(edges, std::move(title), false, document);
}

Document render_referents(EdgesResult result, AllEdges all) {
    return render_edges("referents", std::move(result), std::move(all), say_referents);
}

Document render_referrers(EdgesResult result, AllEdges all) {
    return render_edges("referrers", std::move(result), std::move(all), say_referrers);
}

}  // namespace heapsift
