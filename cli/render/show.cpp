// One object: a heading, a few lines of facts, and the two lists of references.

#include "cli/render/show.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string sizes_text(const ObjectFacts& facts, const Page& page) {
    std::string text = fmt::format("memory {}", page.bytes(facts.memory));
    if (facts.array_data > 0) text += fmt::format(", of it array data {}", page.bytes(facts.array_data));
    text +=
        fmt::format("; size {}{}", page.bytes(facts.size), facts.size_is_certain ? "" : " (how it measures itself is not known)");
    if (facts.block_size > 0) text += fmt::format("; its block has {}", page.bytes(facts.block_size));
    if (facts.memory == 0 && facts.block_size == 0) text += "; not allocated: part of a module's data";
    return text;
}

// "3: all of them are listed below", and what it means where the sums differ.
std::string references_text(const ShowResult& result) {
    const ObjectFacts& facts = result.object.facts;
    const std::string found = fmt::format("{} found", grouped_signed(result.accounted));
    if (facts.immortal) return "immortal: not counted; " + found;
    if (facts.refcount == result.accounted)
        return counted(static_cast<std::uint64_t>(facts.refcount), "reference") + ", all found";
    const std::string count = fmt::format("{} counted, {}", grouped_signed(facts.refcount), found);
    if (facts.refcount < result.accounted) return count + ": more than Python counted, so one of those found is not held";
    const std::string rest = grouped_signed(facts.refcount - result.accounted);
    return fmt::format("{}; {} held by running code, by native code{}", count, rest,
                       result.guesses_among_referrers ? ", or by the guesses below" : ", or leaked");
}

std::string facts_text(const ShowResult& result, const Page& page) {
    using Align = TableColumn::Align;
    const ObjectFacts& facts = result.object.facts;
    Table table({{Align::left, ""}, {Align::left, "", TableColumn::Fit::wrap}});
    table.add({"address", hexadecimal(result.object.address.value)});
    table.add({"bytes", sizes_text(facts, page)});
    table.add({"references", references_text(result)});
    table.add({"collector", facts.gc_tracked ? "tracked" : "not tracked"});
    table.add({"found", result.found_by});
    if (facts.damaged)
        table.add({"note", "it does not read: its lengths or its count cannot be true; only what can be there is counted"});
    if (!facts.references_exact) table.add({"note", "what it refers to is guessed: no way is known to read this type"});
    return table.text(page.width, page.colour);
}

std::string kind_remark(const EdgeRow& edge) {
    switch (edge.reference.kind) {
        case ReferenceKind::weak:
            return "weak";
        case ReferenceKind::reported:
            return "held by its __dict__";
        case ReferenceKind::native:
            return "native";
        case ReferenceKind::guess:
            return edge.reference.followed ? "guessed" : "guessed, and not counted there";
        case ReferenceKind::hidden:
            return "hidden";
        case ReferenceKind::strong:
            break;
    }
    return "";
}

std::string edges_text(const std::vector<EdgeRow>& edges, std::uint64_t total, const std::string& title, bool other_is_target,
                       const Page& page) {
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
        const std::string name = reference_text(edge.reference, page.redact());
        const std::string address = hexadecimal(other.address.value);
        const std::string type = other.type.empty() ? edge.reference.kind == ReferenceKind::native ? "" : "no object was found there" : type_text(other.type);
        const std::string value = value_text(other, page.redact());
        if (other_is_target)
            table.add({name, address, type, value, kind_remark(edge)});
        else
            table.add({address, name, type, value, kind_remark(edge)});
    }
    text += table.text(page.width, page.colour);
    if (total > edges.size()) text += fmt::format("  … {} more: add{}\n", grouped(total - edges.size()), all_rows);
    return text;
}

std::string show_text(const ShowResult& result, const Page& page) {
    const std::string value = value_text(result.object, page.redact());
    const std::string type = type_text(result.object.type);
    const std::size_t used = display_width(type) + 2;
    const std::size_t left = page.width == 0 ? display_width(value) : page.width > used ? page.width - used : 0;
    std::string text = bold(type, page.colour) + (value.empty() ? "" : "  " + shortened_at_the_end(value, left)) + "\n";
    text += facts_text(result, page);
    if (result.total_referents == 0)
        text += "It refers to nothing.\n";
    else
        text += edges_text(result.referents, result.total_referents,
                           fmt::format("It refers to {}", counted(result.total_referents, "object")), true, page);
    if (result.total_referrers == 0)
        text += "No object was found that refers to it.\n";
    else
        text += edges_text(result.referrers, result.total_referrers,
                           fmt::format("{} to it", counted(result.total_referrers, "reference refers", "references refer")),
                           false, page);
    return text;
}

Json edges_json(const std::vector<EdgeRow>& edges, Redactor& redactor) {
    Json json = Json::array();
    for (const EdgeRow& edge : edges) json.push_back(edge_json(edge, redactor));
    return json;
}

}  // namespace

Answer render_show(const ShowResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "show";
    Json& data = answer.data;
    data = object_json(result.object, redactor);
    data["block_size"] = result.object.facts.block_size;
    data["retained_size"] = nullptr;
    data["accounted"] = result.accounted;
    data["found"] = result.found_by;
    data["referents"] = edges_json(result.referents, redactor);
    data["referrers"] = edges_json(result.referrers, redactor);
    data["dominator"] = result.dominator ? object_json(*result.dominator, redactor) : Json(nullptr);
    data["total"] = {{"referents", result.total_referents}, {"referrers", result.total_referrers}};
    answer.text = [&result](const Page& page) { return show_text(result, page); };
    return answer;
}

}  // namespace heapsift
