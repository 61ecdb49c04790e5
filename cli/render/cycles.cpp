// Cycles: a sentence, a row for each kind, and one cycle in full.

#include "cli/render/cycles.h"

#include "cli/render/edges.h"
#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

constexpr std::size_t narrow_page = 110, narrow_path = 30;  // columns: there the reason needs room as well

std::string sum_text(const CycleSum& sum, const Page& page) {
    return fmt::format("{} ({}, {})", counted(sum.cycles, "cycle"), counted(sum.objects, "object"),
                       page.bytes(sum.bytes));
}

std::string path_words(const CyclePath& path, Redactor& redactor) {
    std::string text;
    for (const CycleStep& step : path.steps)
        text += type_text(short_type_name(step.type)) + " " + reference_text(step.name, redactor) + " -> ";
    if (text.empty()) return "?";
    return text + (path.cut ? "…" : type_text(short_type_name(path.steps.front().type)));
}

std::string sentence(const CyclesResult& result, const Page& page) {
    const CycleSum &waiting = result.waiting, &never = result.never, &used = result.used;
    std::string text;
    if (waiting.cycles > 0)
        text = fmt::format("{} {} garbage and wait{} for the collector", sum_text(waiting, page),
                           waiting.cycles == 1 ? "is" : "are", waiting.cycles == 1 ? "s" : "");
    if (never.cycles > 0)
        text += waiting.cycles > 0
                    ? fmt::format("; {} more ({}, {}) it will never free", grouped(never.cycles),
                                  counted(never.objects, "object"), page.bytes(never.bytes))
                    : fmt::format("{} {} garbage that the collector will never free", sum_text(never, page),
                                  never.cycles == 1 ? "is" : "are");
    if (waiting.cycles + never.cycles == 0)
        text = result.cycles.empty() || used.cycles > 0
                   ? "No cycle is garbage"
                   : fmt::format("No cycle is garbage of this kind; without this option {} shown",
                                 result.cycles.size() == 1 ? "1 is" : grouped(result.cycles.size()) + " are");
    if (used.cycles > 0)
        text += fmt::format("; {} {} in use", sum_text(used, page), used.cycles == 1 ? "is" : "are");
    text += ".";
    const std::uint64_t garbage = waiting.bytes + never.bytes, core = result.mapped_bytes;
    if (garbage > 0 && garbage < core / 100)
        text += fmt::format(" The garbage is {} of the memory: not where it went.", percent(garbage, core));
    else if (garbage > 0)
        text += fmt::format(" The garbage is {} of the memory.", percent(garbage, core));
    return page.at_least(text);
}

std::string sentences(const CyclesResult& result, const Page& page) {
    const std::string text = sentence(result, page);
    const CycleSum& held = result.held;
    if (held.cycles == 0) return wrapped(text, page.width, 2) + "\n";
    const std::string more = fmt::format(
        "{} {} ({}, {}) {} held by what was not found alone, native code or a leaked reference:", text,
        counted(held.cycles, result.cycles.empty() ? "cycle" : "more cycle"), counted(held.objects, "object"),
        page.bytes(held.bytes), held.cycles == 1 ? "is" : "are");
    return wrapped_with_tail(more, page.command("refcounts"), page.width, 2) + "\n";
}

std::string cycles_text(const CyclesResult& result, const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    std::string text = sentences(result, page);
    const bool narrow = page.width > 0 && page.width < narrow_page;
    if (result.kinds.empty()) return text + next_line(page, "gc", "the collector itself");
    Table table({{Align::right, "id"},
                 {Align::right, "cycles"},
                 {Align::right, "objects"},
                 {Align::right, "memory"},
                 {Align::left, "the cycle", narrow ? Fit::whole : Fit::end},
                 {Align::left, "why it is still here", Fit::wrap}});
    const std::size_t limit = result.query.kinds;
    const std::size_t shown = limit == 0 ? result.kinds.size() : std::min(limit, result.kinds.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const CycleKind& row = result.kinds[i];
        const std::string path = path_words(row.path, page.redact());
        std::string reason = result.reason(result.cycles[row.example - 1]);
        if (row.alike != 0) reason = fmt::format("unlike {}: {}; {}", row.alike, row.unlike, reason);
        table.add({fmt::format("{}", row.example), grouped(row.cycles), grouped(row.objects),
                   page.bytes(row.retained), narrow ? shortened_at_the_end(path, narrow_path) : path,
                   escape_for_terminal(reason)});
    }
    text += table.text(page.width, page.colour);
    if (shown < result.kinds.size())
        text +=
            fmt::format("  … {} more kinds. All: add{}\n", grouped(result.kinds.size() - shown), all_rows);
    return text + next_line(page, fmt::format("cycles --id {}", result.kinds.front().example),
                            "what closes it, and what opens it");
}

Json cycle_json(const CycleRow& row, Redactor& redactor) {
    const Cycle& cycle = row.cycle;
    Json json;
    json["id"] = cycle.id;
    json["path"] = path_words(row.path, redactor);
    json["members"] = Json::array();
    for (const ObjectRow& member : row.details.members)
        json["members"].push_back(object_json(member, redactor));
    json["edges"] = edges_json(row.details.edges, redactor);
    json["count"] = cycle.count;
    json["size"] = cycle.size;
    json["retained"] = cycle.retained;
    json["retained_count"] = cycle.freed_count;
    json["state"] = name_of(cycle.state);
    json["certain"] = row.certain;
    json["reason"] = row.reason;
    json["equal_to"] = cycle.equal_to == 0 ? Json(nullptr) : Json(cycle.equal_to);
    return json;
}

std::string edges_table(const std::vector<EdgeRow>& edges, std::uint64_t total, const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table({{Align::left, "from"},
                 {Align::left, "type", Fit::middle},
                 {Align::left, "reference", Fit::end},
                 {Align::left, "to"},
                 {Align::left, "type", Fit::middle}});
    for (const EdgeRow& edge : edges)
        table.add({hexadecimal(edge.source.address.value), type_text(edge.source.type),
                   reference_text(edge.reference.step, page.redact()), hexadecimal(edge.target.address.value),
                   type_text(edge.target.type)});
    std::string text = table.text(page.width, page.colour);
    if (edges.size() < total)
        text += fmt::format("  … {} more. All: add{}\n", grouped(total - edges.size()), all_rows);
    return text;
}

std::string members_text(const Cycle& cycle, const CycleDetails& details, const Page& page) {
    using Align = TableColumn::Align;
    Table table({{Align::left, "address"},
                 {Align::right, "memory"},
                 {Align::right, "refs"},
                 {Align::left, "type", TableColumn::Fit::middle},
                 {Align::left, "value", TableColumn::Fit::end}});
    for (const ObjectRow& member : details.members)
        table.add({hexadecimal(member.address.value), page.bytes(member.facts.memory),
                   refcount_text(member.facts), type_text(member.type), value_text(member, page.redact())});
    std::string text = table.text(page.width, page.colour);
    if (details.members.size() < cycle.count)
        text +=
            fmt::format("  … {} more. All: add{}\n", grouped(cycle.count - details.members.size()), all_rows);
    return text;
}

std::string cycle_text(const CycleRow& row, const Page& page) {
    const Cycle& cycle = row.cycle;
    const CycleDetails& details = row.details;
    std::string text = bold(fmt::format("Cycle {}", cycle.id), page.colour);
    text += fmt::format(": {}, {}", counted(cycle.count, "object"), name_of(cycle.state));
    if (cycle.equal_to != 0) text += fmt::format("; one like cycle {}", cycle.equal_to);
    text += "\n";
    text += "  " + wrapped(path_words(row.path, page.redact()), page.width, 4, 2) + "\n";
    text += "  " + wrapped(escape_for_terminal(row.reason), page.width, 4, 2) + "\n";
    text += wrapped(fmt::format("With it {} would be freed: {}.", page.bytes(cycle.retained),
                                counted(cycle.freed_count, "object")),
                    page.width, 2) +
            "\n";
    text += bold("its members", page.colour) + "\n" + members_text(cycle, details, page);
    text += bold("what closes it", page.colour) +
            fmt::format(": {}\n", counted(details.edge_count, "reference")) +
            edges_table(details.edges, details.edge_count, page);
    const std::string how =
        details.opening_is_smallest ? "no smaller set does it" : "none of them can be left out";
    text += bold("what opens it", page.colour) +
            fmt::format(": without {} there is no cycle; {}\n",
                        details.opening_count == 1
                            ? "this reference"
                            : fmt::format("these {} references", grouped(details.opening_count)),
                        how) +
            edges_table(details.opening, details.opening_count, page);
    return text + next_line(page, "show " + hexadecimal(details.members.front().address.value));
}

}  // namespace

Answer render_cycles(const CyclesResult& result, CycleRows rows, Redactor& redactor) {
    Answer answer;
    answer.command = "cycles";
    answer.certain = result.certain;
    answer.rows_key = "cycles";
    answer.rows = [rows = std::move(rows), &redactor](const RowVisitor& visit) {
        rows([&](const CycleRow& row) { visit(cycle_json(row, redactor)); });
    };
    answer.csv_columns = {"id", "path", "count", "size", "retained", "state", "reason", "equal_to"};
    answer.data["total"] = {{"cycles", result.shown_count},
                            {"kinds", result.kinds.size()},
                            {"objects", result.shown_objects},
                            {"size", result.shown_size}};
    Json by_state;
    for (const ObjectState state : {ObjectState::reachable, ObjectState::held, ObjectState::waiting,
                                    ObjectState::uncollectable, ObjectState::invisible})
        by_state[name_of(state)] = result.objects_in_state[static_cast<std::size_t>(state)];
    answer.data["states"] = std::move(by_state);
    answer.data["garbage"] = Json::array();
    for (const ObjectRow& row : result.garbage_list)
        answer.data["garbage"].push_back(object_json(row, redactor));
    answer.text = [&result](const Page& page) { return cycles_text(result, page); };
    return answer;
}

Answer render_cycle(const CycleRow& row, const CyclesResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "cycles";
    answer.certain = result.certain;
    answer.rows_key = "cycles";  // one, made when it is written: of a ring of a million it is half a gigabyte
    answer.rows = [&row, &redactor](const RowVisitor& visit) {
        Json one = cycle_json(row, redactor);
        one["edge_count"] = row.details.edge_count;
        one["opening"] = {{"count", row.details.opening_count},
                          {"smallest", row.details.opening_is_smallest}};
        one["opening"]["edges"] = edges_json(row.details.opening, redactor);
        visit(one);
    };
    answer.data["total"] = {{"cycles", result.cycles.size()}};
    answer.text = [&row](const Page& page) { return cycle_text(row, page); };
    return answer;
}

}  // namespace heapsift
