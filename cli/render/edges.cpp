// A reference in a line: its name, what is at the other end, and what is to be known of it.

#include "cli/render/edges.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string kind_remark(const EdgeRow& edge) {
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
    return "";
}

std::string edges_text(const std::vector<EdgeRow>& edges, std::uint64_t total, const std::string& title,
                       bool other_is_target, const Page& page) {
    using Align = TableColumn::Align;
    std::string text = bold(title, page.colour) + "\n";
    using Fit = TableColumn::Fit;
    const TableColumn name_column{Align::left, "", Fit::middle}, address_column{Align::left, ""};
    Table table({other_is_target ? name_column : address_column,
                 other_is_target ? address_column : name_column,
                 {Align::left, "", Fit::middle},
                 {Align::left, "", Fit::end},
                 {Align::left, ""}});
    for (const EdgeRow& edge : edges) {
        const ObjectRow& other = other_is_target ? edge.target : edge.source;
        const std::string name = reference_text(edge.reference.step, page.redact());
        const std::string address = hexadecimal(other.address.value);
        const std::string type =
            other.type.empty()
                ? edge.reference.kind == ReferenceKind::native ? "" : "no object was found there"
                : type_text(other.type);
        const std::string value = value_text(other, page.redact());
        if (other_is_target)
            table.add({name, address, type, value, kind_remark(edge)});
        else
            table.add({address, name, type, value, kind_remark(edge)});
    }
    text += table.text(page.width, page.colour);
    if (total > edges.size())
        text += fmt::format("  … {} more: add{}\n", grouped(total - edges.size()), all_rows);
    return text;
}

std::string heading(const EdgesResult& result, const Page& page) {
    const std::string value = value_text(result.object, page.redact());
    return bold(type_text(result.object.type), page.colour) + " " + hexadecimal(result.object.address.value) +
           (value.empty() ? "" : "  " + value) + "\n";
}

/// Both commands; `text` is one of the two functions above.
Answer render_edges(const char* command, const EdgesResult& result,
                    std::string (*text)(const EdgeList&, const Page&), Redactor& redactor) {
    Answer answer;
    answer.command = command;
    answer.rows_key = "edges";
    answer.rows = [&result, &redactor](const RowVisitor& visit) {
        for (const EdgeRow& edge : result.list.edges) visit(edge_json(edge, redactor));
    };
    answer.csv_columns = {"source",      "target",       "name",        "kind",        "followed",
                          "source_type", "source_value", "target_type", "target_value"};
    answer.data["object"] = object_json(result.object, redactor);
    answer.data["total"] = result.list.total;
    answer.text = [&result, text](const Page& page) {
        return heading(result, page) + text(result.list, page);
    };
    return answer;
}

}  // namespace

Json edge_json(const EdgeRow& edge, Redactor& redactor) {
    const auto type_or_null = [](const ObjectRow& row) {
        return row.type.empty() ? Json(nullptr) : Json(row.type);
    };
    Json json;
    json["source"] = address_json(edge.source.address);
    json["target"] = address_json(edge.target.address);
    json["name"] = redactor.reference_name(edge.reference.step);
    json["kind"] = name_of(edge.reference.kind);
    json["followed"] = edge.followed;
    json["source_type"] = type_or_null(edge.source);
    json["source_value"] = value_json(edge.source.value, edge.source.type, redactor);
    json["target_type"] = type_or_null(edge.target);
    json["target_value"] = value_json(edge.target.value, edge.target.type, redactor);
    return json;
}

Json edges_json(const std::vector<EdgeRow>& edges, Redactor& redactor) {
    Json json = Json::array();
    for (const EdgeRow& edge : edges) json.push_back(edge_json(edge, redactor));
    return json;
}

std::string referents_text(const EdgeList& list, const Page& page) {
    if (list.total == 0) return "It refers to nothing.\n";
    return edges_text(list.edges, list.total, fmt::format("It refers to {}", counted(list.total, "object")),
                      true, page);
}

std::string referrers_text(const EdgeList& list, const Page& page) {
    if (list.total == 0) return "No object was found that refers to it.\n";
    return edges_text(list.edges, list.total,
                      fmt::format("{} to it", counted(list.total, "reference refers", "references refer")),
                      false, page);
}

Answer render_referents(const EdgesResult& result, Redactor& redactor) {
    return render_edges("referents", result, referents_text, redactor);
}

Answer render_referrers(const EdgesResult& result, Redactor& redactor) {
    return render_edges("referrers", result, referrers_text, redactor);
}

}  // namespace heapsift
