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

#include <map>

namespace heapsift {
namespace {

constexpr std::size_t most_steps = 4, most_steps_of_one = 12;
constexpr std::size_t narrow_page = 110, narrow_path = 30;  // columns: there the reason needs room as well
constexpr std::size_t most_members_in_list = 50;            // of each cycle in a document; --id has them all

struct Sum {
    std::uint64_t cycles = 0, objects = 0, bytes = 0;
    void add(const CycleKind& row) {
        cycles += row.cycles;
        objects += row.objects;
        bytes += row.retained;
    }
    std::string text(const Page& page) const {
        return fmt::format("{} ({}, {})", counted(cycles, "cycle"), counted(objects, "object"),
                           page.bytes(bytes));
    }
};

/// The last word of a qualified name.
std::string short_type(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return type_text(dot == std::string::npos || name.starts_with('<') ? name : name.substr(dot + 1));
}

std::string path_words(const CyclePath& path, Redactor& redactor) {
    std::string text;
    for (const CycleStep& step : path.steps)
        text += short_type(step.type) + " " + reference_text(step.name, redactor) + " -> ";
    if (text.empty()) return "?";
    return text + (path.length > path.steps.size() && path.steps.size() == most_steps
                       ? "…"
                       : short_type(path.steps.front().type));
}

std::string sentence(const Cycles& cycles, const ObjectStates& states, const Page& page) {
    Sum waiting, never, used;
    for (const CycleKind& row : cycles.kinds()) {
        const ObjectState state = cycles.all()[row.example - 1].state;
        if (state == ObjectState::waiting)
            waiting.add(row);
        else if (states.garbage(cycles.members(cycles.all()[row.example - 1]).front()))
            never.add(row);
        else
            used.add(row);
    }
    std::string text;
    if (waiting.cycles > 0)
        text = fmt::format("{} {} garbage and wait{} for the collector", waiting.text(page),
                           waiting.cycles == 1 ? "is" : "are", waiting.cycles == 1 ? "s" : "");
    if (never.cycles > 0)
        text += waiting.cycles > 0
                    ? fmt::format("; {} more ({}, {}) it will never free", grouped(never.cycles),
                                  counted(never.objects, "object"), page.bytes(never.bytes))
                    : fmt::format("{} {} garbage that the collector will never free", never.text(page),
                                  never.cycles == 1 ? "is" : "are");
    if (waiting.cycles + never.cycles == 0)
        text = cycles.all().empty() || used.cycles > 0
                   ? "No cycle is garbage"
                   : fmt::format("No cycle is garbage of this kind; without this option {} shown",
                                 cycles.all().size() == 1 ? "1 is" : grouped(cycles.all().size()) + " are");
    if (used.cycles > 0)
        text += fmt::format("; {} {} in use", used.text(page), used.cycles == 1 ? "is" : "are");
    text += ".";
    const std::uint64_t garbage = waiting.bytes + never.bytes,
                        core = cycles.graph().heap().core().extent().mapped_bytes;
    if (garbage > 0 && garbage < core / 100)
        text += fmt::format(" The garbage is {} of the memory: not where it went.", percent(garbage, core));
    else if (garbage > 0)
        text += fmt::format(" The garbage is {} of the memory.", percent(garbage, core));
    return page.at_least(text);
}

std::string sentences(const Cycles& cycles, const ObjectStates& states, const Page& page) {
    const std::string text = sentence(cycles, states, page);
    const CyclesHeld& held = cycles.held();
    if (held.cycles == 0) return wrapped(text, page.width, 2) + "\n";
    const std::string more = fmt::format(
        "{} {} ({}, {}) {} held by what was not found alone, native code or a leaked reference:", text,
        counted(held.cycles, cycles.all().empty() ? "cycle" : "more cycle"), counted(held.objects, "object"),
        page.bytes(held.bytes), held.cycles == 1 ? "is" : "are");
    return wrapped_with_tail(more, page.command("refcounts"), page.width, 2) + "\n";
}

std::string cycles_text(const Cycles& cycles, const ObjectStates& states, std::size_t limit,
                        const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    std::string text = sentences(cycles, states, page);
    const bool narrow = page.width > 0 && page.width < narrow_page;
    if (cycles.kinds().empty()) return text + next_line(page, "gc", "the collector itself");
    Table table({{Align::right, "id"},
                 {Align::right, "cycles"},
                 {Align::right, "objects"},
                 {Align::right, "memory"},
                 {Align::left, "the cycle", narrow ? Fit::whole : Fit::end},
                 {Align::left, "why it is still here", Fit::wrap}});
    const std::size_t shown = limit == 0 ? cycles.kinds().size() : std::min(limit, cycles.kinds().size());
    std::map<std::pair<std::string, std::string>, std::uint32_t> first_of;  // by what a row says: the id
    for (std::size_t i = 0; i < shown; ++i) {
        const CycleKind& row = cycles.kinds()[i];
        const Cycle& example = cycles.all()[row.example - 1];
        const std::string path = path_words(cycles.path(example, most_steps), page.redact());
        std::string reason = cycles.reason_words(example);
        const auto [first, is_new] = first_of.try_emplace({path, reason}, row.example);
        if (!is_new)
            reason = fmt::format("unlike {}: {}; {}", first->second,
                                 cycles.unlike(example, cycles.all()[first->second - 1]), reason);
        table.add({fmt::format("{}", row.example), grouped(row.cycles), grouped(row.objects),
                   page.bytes(row.retained), narrow ? shortened_at_the_end(path, narrow_path) : path,
                   escape_for_terminal(reason)});
    }
    text += table.text(page.width, page.colour);
    if (shown < cycles.kinds().size())
        text +=
            fmt::format("  … {} more kinds. All: add{}\n", grouped(cycles.kinds().size() - shown), all_rows);
    return text + next_line(page, fmt::format("cycles --id {}", cycles.kinds().front().example),
                            "what closes it, and what opens it");
}

Json cycle_json(const Cycles& cycles, const ObjectStates& states, const Cycle& cycle,
                const CycleDetails& details, Redactor& redactor) {
    Json json;
    json["id"] = cycle.id;
    json["path"] = path_words(cycles.path(cycle, most_steps), redactor);
    json["members"] = Json::array();
    for (const ObjectRow& member : details.members) json["members"].push_back(object_json(member, redactor));
    json["edges"] = edges_json(details.edges, redactor);
    json["count"] = cycle.count;
    json["size"] = cycle.size;
    json["retained"] = cycle.retained;
    json["retained_count"] = cycle.freed_count;
    json["state"] = name_of(cycle.state);
    json["certain"] = is_certain(cycles.graph().heap(), states, cycles.members(cycle).front());
    json["reason"] = cycles.reason_words(cycle);
    json["equal_to"] = cycle.equal_to == 0 ? Json(nullptr) : Json(cycle.equal_to);
    return json;
}

Json garbage_json(const HeapReader& heap, const ObjectStates& states, std::size_t limit, Redactor& redactor) {
    Json json = Json::array();
    for (const ObjectId object : garbage_list_items(heap)) {
        if (limit != 0 && json.size() >= limit) break;
        ObjectRow row = object_row(heap, object);
        row.state = states.of(object);
        json.push_back(object_json(row, redactor));
    }
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

std::string cycle_text(const Cycles& cycles, const Cycle& cycle, const CycleDetails& details,
                       const Page& page) {
    std::string text = bold(fmt::format("Cycle {}", cycle.id), page.colour);
    text += fmt::format(": {}, {}", counted(cycle.count, "object"), name_of(cycle.state));
    if (cycle.equal_to != 0) text += fmt::format("; one like cycle {}", cycle.equal_to);
    text += "\n";
    text += "  " +
            wrapped(path_words(cycles.path(cycle, most_steps_of_one), page.redact()), page.width, 4, 2) +
            "\n";
    text += "  " + wrapped(escape_for_terminal(cycles.reason_words(cycle)), page.width, 4, 2) + "\n";
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

Answer render_cycles(const Cycles& cycles, const ObjectStates& states, std::size_t limit,
                     Redactor& redactor) {
    Answer answer;
    answer.command = "cycles";
    answer.certain = states.collection.certain;
    answer.rows_key = "cycles";
    answer.rows = [&cycles, &states, limit, &redactor](const RowVisitor& visit) {
        std::size_t written = 0;
        for (const Cycle& cycle : cycles.all()) {
            if (limit != 0 && written >= limit) break;
            if (!cycles.shown(cycle)) continue;
            ++written;
            visit(cycle_json(cycles, states, cycle, cycles.details(cycle, most_members_in_list, false),
                             redactor));
        }
    };
    answer.csv_columns = {"id", "path", "count", "size", "retained", "state", "reason", "equal_to"};
    std::uint64_t objects = 0, size = 0;
    for (const CycleKind& row : cycles.kinds()) {
        objects += row.objects;
        size += row.size;
    }
    answer.data["total"] = {{"cycles", cycles.shown_count()},
                            {"kinds", cycles.kinds().size()},
                            {"objects", objects},
                            {"size", size}};
    Json by_state;
    for (const ObjectState state : {ObjectState::reachable, ObjectState::held, ObjectState::waiting,
                                    ObjectState::uncollectable, ObjectState::invisible})
        by_state[name_of(state)] = states.count(state);
    answer.data["states"] = std::move(by_state);
    answer.data["garbage"] = garbage_json(cycles.graph().heap(), states, limit, redactor);
    answer.text = [&cycles, &states, limit](const Page& page) {
        return cycles_text(cycles, states, limit, page);
    };
    return answer;
}

Answer render_cycle(const Cycles& cycles, const ObjectStates& states, const Cycle& cycle,
                    const CycleDetails& details, Redactor& redactor) {
    Answer answer;
    answer.command = "cycles";
    answer.certain = states.collection.certain;
    answer.rows_key = "cycles";  // one, made when it is written: of a ring of a million it is half a gigabyte
    answer.rows = [&cycles, &states, &cycle, &details, &redactor](const RowVisitor& visit) {
        Json one = cycle_json(cycles, states, cycle, details, redactor);
        one["edge_count"] = details.edge_count;
        one["opening"] = {{"count", details.opening_count}, {"smallest", details.opening_is_smallest}};
        one["opening"]["edges"] = edges_json(details.opening, redactor);
        visit(one);
    };
    answer.data["total"] = {{"cycles", cycles.all().size()}};
    answer.text = [&cycles, &cycle, &details](const Page& page) {
        return cycle_text(cycles, cycle, details, page);
    };
    return answer;
}

}  // namespace heapsift
