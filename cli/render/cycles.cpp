// Cycles: a sentence, one row for each kind, and one cycle in full.

#include "cli/render/cycles.h"

#include "cli/render/edges.h"
#include "cli/render/object.h"
#include "cli/render/places.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t narrow_page = 110, narrow_path = 46;  // columns

const char* is_or_are(std::uint64_t count) { return count == 1 ? "is" : "are"; }

Text sum_words(const CycleSum& sum) {
    return says("{} ({}, {})", how_many(sum.cycles, "cycle"), how_many(sum.objects, "object"),
                ByteCount{sum.bytes});
}

Text path_words(const CyclePath& path) {
    if (path.steps.empty()) return "?";
    Text text;
    for (const CycleStep& step : path.steps)
        text += says("{} {} -> ", TypeName{short_type_name(step.type)}, Notation{step.name});
    return text + (path.cut ? Text("…") : Text(TypeName{short_type_name(path.steps.front().type)}));
}

Text no_garbage_words(const CyclesResult& result) {
    if (result.cycles.empty() || result.used.cycles > 0) return "No cycle is garbage";
    return says("No cycle is garbage of this kind; without this option {} {} shown",
                Count{result.cycles.size()}, is_or_are(result.cycles.size()));
}

Text garbage_words(const CyclesResult& result) {
    const CycleSum &waiting = result.waiting, &never = result.never;
    if (waiting.cycles + never.cycles == 0) return no_garbage_words(result);
    if (waiting.cycles == 0)
        return says("{} {} garbage that the collector will never free", sum_words(never),
                    is_or_are(never.cycles));
    Text text = says("{} {} garbage and wait{} for the collector", sum_words(waiting),
                     is_or_are(waiting.cycles), waiting.cycles == 1 ? "s" : "");
    if (result.guessed > 0)
        text += says(", {} if {} types report what is guessed here",
                     result.guessed == waiting.cycles ? Text(waiting.cycles == 1 ? "but only" : "all of them")
                                                      : says("{} of them", Count{result.guessed}),
                     waiting.cycles == 1 ? "its" : "their");
    if (never.cycles > 0)
        text += says("; {} more ({}, {}) it will never free", Count{never.cycles},
                     how_many(never.objects, "object"), ByteCount{never.bytes});
    return text;
}

Text cycles_sentence(const CyclesResult& result) {
    Text text = at_least() + garbage_words(result);
    if (result.used.cycles > 0)
        text += says("; {} {} in use", sum_words(result.used), is_or_are(result.used.cycles));
    text += ".";
    const std::uint64_t garbage = result.waiting.bytes + result.never.bytes;
    if (garbage > 0 && result.in_use_bytes >= garbage)
        text += says(" That is {} of what is in use{}.", Share{garbage, result.in_use_bytes},
                     garbage < result.in_use_bytes / 100 ? ": not where it went" : "");
    return text;
}

Block sums_block(const CyclesResult& result) {
    const CycleSum& held = result.held;
    if (held.cycles == 0) return sentence(cycles_sentence(result));
    return sentence(
        says("{} {} ({}, {}) {} kept alive by what is not in this core, native code or a leaked reference:",
             cycles_sentence(result), how_many(held.cycles, result.cycles.empty() ? "cycle" : "more cycle"),
             how_many(held.objects, "object"), ByteCount{held.bytes}, is_or_are(held.cycles)),
        CommandLine{"refcounts"});
}

std::string number(std::uint64_t id) { return std::to_string(id); }

TableRow kind_row(const CyclesResult& result, const CycleKind& row) {
    Text reason = result.reason(result.cycles[row.example - 1]);
    if (row.alike != 0) reason = says("unlike {}: {}; {}", number(row.alike), row.unlike, reason);
    return {.cells = {number(row.example), Count{row.cycles}, Count{row.objects}, ByteCount{row.retained},
                      path_words(row.path), std::move(reason)}};
}

void say_code(const CycleCode& code, Document& document) {
    for (const CycleCode::Ties& ties : code.kinds) {
        Text ids;
        for (std::size_t i = 0; i < ties.examples.size(); ++i)
            ids += (i == 0 ? "" : i + 1 == ties.examples.size() ? " and " : ", ") + number(ties.examples[i]);
        document.say(sentence(says("{} {} may be tied in {}.", ties.examples.size() == 1 ? "Cycle" : "Cycles",
                                   std::move(ids), ties_words(ties.in))));
    }
    for (const CollectorCall& call : code.calls) document.say(sentence(words_of(call)));
}

Datum tied_data(const CycleCode::Ties& ties) {
    return entries({{"cycles", Datum::list_of(ties.examples, [](std::uint32_t id) { return Datum(id); })},
                    {"tied_in", ties_data(ties.in)}});
}

Datum code_data(const CycleCode& code) {
    return entries({{"tied", Datum::list_of(code.kinds, tied_data)}, {"calls", calls_data(code.calls)}});
}

void say_kinds(const std::shared_ptr<const CyclesResult>& result, const CycleCode& code, Document& document) {
    using Fit = TextColumn::Fit;
    const std::size_t all = result->kinds.size(), limit = result->query.kinds,
                      given = limit == 0 ? all : std::min(limit, all);
    TableBlock table;
    table.columns = {right("id"),
                     right("cycles"),
                     right("objects"),
                     right("memory"),
                     left("the cycle", Fit::end),
                     left("why it is still here", Fit::wrap)};
    table.columns[4].narrow_page = narrow_page;
    table.columns[4].narrow_most = narrow_path;
    table.rows = [result, given](const std::function<void(const TableRow&)>& visit) {
        for (std::size_t i = 0; i < given; ++i) visit(kind_row(*result, result->kinds[i]));
    };
    document.say({std::move(table)});
    if (given < all) document.say(line(says("… {} more kinds. All: add", Count{all - given}) + all_rows, 1));
    say_code(code, document);
    document.say(hint(says("cycles --id {}", number(result->kinds.front().example)),
                      "its members, and which references to break"));
}

Datum cycle_data(const CycleRow& row) {
    const Cycle& cycle = row.cycle;
    return entries({{"id", cycle.id},
                    {"path", path_words(row.path)},
                    {"members", Datum::list_of(row.details.members, object_data)},
                    {"edges", edges_data(row.details.edges)},
                    {"count", cycle.count},
                    {"size", cycle.size},
                    {"retained", cycle.retained},
                    {"retained_count", cycle.freed_count},
                    {"state", name_of(cycle.state)},
                    {"certain", row.certain},
                    {"reason", row.reason},
                    {"equal_to", cycle.equal_to == 0 ? Datum() : Datum(cycle.equal_to)}});
}

Datum whole_cycle_data(const CycleRow& row) {
    const CycleDetails& details = row.details;
    Datum data = cycle_data(row);
    data["edge_count"] = details.edge_count;
    data["opening"] = entries({{"count", details.opening_count},
                               {"smallest", details.opening_is_smallest},
                               {"edges", edges_data(details.opening)}});
    return data;
}

Block more_rows(std::uint64_t count) { return line(says("… {} more. All: add", Count{count}) + all_rows, 1); }

void say_edges(const std::shared_ptr<const CycleRow>& row, const std::vector<EdgeRow>& edges,
               std::uint64_t total, Document& document) {
    using Fit = TextColumn::Fit;
    TableBlock table;
    table.columns = {left("from"), left("type", Fit::middle), left("reference", Fit::end), left("to"),
                     left("type", Fit::middle)};
    table.rows = [row, &edges](const std::function<void(const TableRow&)>& visit) {  // `edges` is in `row`
        for (const EdgeRow& edge : edges)
            visit({.cells = {edge.source.address, TypeName{edge.source.type}, Notation{edge.reference.step},
                             edge.target.address, TypeName{edge.target.type}}});
    };
    document.say({std::move(table)});
    if (edges.size() < total) document.say(more_rows(total - edges.size()));
}

void say_members(const std::shared_ptr<const CycleRow>& row, Document& document) {
    TableBlock table;
    table.columns = {left("address"), right("memory"), right("refs"), left("type", TextColumn::Fit::middle),
                     left("value", TextColumn::Fit::end)};
    table.rows = [row](const std::function<void(const TableRow&)>& visit) {
        for (const ObjectRow& member : row->details.members)
            visit({.cells = {member.address, ByteCount{member.facts.memory}, references_counted(member.facts),
                             TypeName{member.type}, value_of(member)}});
    };
    document.say(line(Text("its members").bold()));
    document.say({std::move(table)});
    if (row->details.members.size() < row->cycle.count)
        document.say(more_rows(row->cycle.count - row->details.members.size()));
}

void say_cycle(const std::shared_ptr<const CycleRow>& row, const CycleCode& code, Document& document) {
    const Cycle& cycle = row->cycle;
    const CycleDetails& details = row->details;
    Text heading = says("Cycle {}", number(cycle.id)).bold() +
                   says(": {}, {}", how_many(cycle.count, "object"), name_of(cycle.state));
    if (cycle.equal_to != 0) heading += says("; one like cycle {}", number(cycle.equal_to));
    document.say(line(std::move(heading)));
    document.say(sentence(path_words(row->path), {}, 1));
    document.say(sentence(row->reason, {}, 1));
    document.say(sentence(says("Freeing it would free {}, {}.", how_many(cycle.freed_count, "object"),
                               ByteCount{cycle.retained})));
    say_members(row, document);
    document.say(line(Text("what holds it together").bold() +
                      says(": {}", how_many(details.edge_count, "reference"))));
    say_edges(row, details.edges, details.edge_count, document);
    const Text opening = details.opening_count == 1
                             ? Text("this reference")
                             : says("all of these {} references", Count{details.opening_count});
    document.say(
        line(Text("to break it").bold() +
             says(", {} must go{}:", opening,
                  details.opening_is_smallest && details.opening_count > 1 ? "; no fewer are enough" : "")));
    say_edges(row, details.opening, details.opening_count, document);
    say_code(code, document);
    document.say(hint(says("show {}", details.members.front().address)));
}

}  // namespace

Document render_cycles(const std::shared_ptr<const CyclesResult>& result, CycleRows rows,
                       const CycleCode& code) {
    Document document{.command = "cycles", .certain = result->certain};
    document.rows_key = "cycles";
    document.rows = [rows = std::move(rows)](const std::function<void(const Datum&)>& visit) {
        rows([&](const CycleRow& row) { visit(cycle_data(row)); });
    };
    document.csv_columns = {"id", "path", "count", "size", "retained", "state", "reason", "equal_to"};
    Datum& data = document.data;
    data["total"] = entries({{"cycles", result->shown_count},
                             {"kinds", result->kinds.size()},
                             {"objects", result->shown_objects},
                             {"size", result->shown_size}});
    Datum by_state;
    for (const ObjectState state : {ObjectState::reachable, ObjectState::held, ObjectState::waiting,
                                    ObjectState::uncollectable, ObjectState::invisible})
        by_state[name_of(state)] = result->objects_in_state[static_cast<std::size_t>(state)];
    data["states"] = std::move(by_state);
    data["garbage"] = Datum::list_of(result->garbage_list, object_data);
    data["code"] = code_data(code);
    document.say(sums_block(*result));
    if (result->kinds.empty())
        document.say(hint("gc", "the collector itself"));
    else
        say_kinds(result, code, document);
    return document;
}

Document render_cycle(CycleRow one, const CyclesResult& result, const CycleCode& code) {
    const auto row = kept(std::move(one));
    Document document{.command = "cycles", .certain = result.certain};
    document.rows_key = "cycles";
    // One row, made when it is written: for a ring of a million objects it is half a gigabyte.
    document.rows = [row](const std::function<void(const Datum&)>& visit) { visit(whole_cycle_data(*row)); };
    document.data["total"] = entries({{"cycles", result.cycles.size()}});
    document.data["code"] = code_data(code);
    say_cycle(row, code, document);
    return document;
}

}  // namespace heapsift
