// The collector's state: a sentence, a table of its generations, and what a collection would do.

#include "cli/render/gc.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

const char* const generation_names[] = {"young", "middle", "old"};

Json rows_json(const std::vector<ObjectRow>& rows, Redactor& redactor) {
    Json json = Json::array();
    for (const ObjectRow& row : rows) json.push_back(object_json(row, redactor));
    return json;
}

Json tally_json(const CollectorTally& tally) { return {{"count", tally.count}, {"size", tally.size}}; }

Json interpreter_json(const GcInterpreter& row, Redactor& redactor) {
    Json json;
    json["id"] = row.id;
    if (row.state) {
        const GcState& state = *row.state;
        json["enabled"] = state.enabled;
        json["collecting"] = state.collecting;
        json["debug_flags"] = gc_debug_flags(state.debug);
        Json thresholds = Json::array(), counts = Json::array(), generations = Json::array();
        for (const GcGeneration& generation : state.generations) {
            thresholds.push_back(generation.threshold);
            counts.push_back(generation.count);
            generations.push_back({{"objects", generation.objects}, {"whole", generation.whole}});
        }
        json["thresholds"] = std::move(thresholds);
        json["counts"] = std::move(counts);
        json["generations"] = std::move(generations);
        json["long_lived"] = state.long_lived < 0 ? Json(nullptr) : Json(state.long_lived);
        json["long_lived_new"] = state.long_lived < 0 ? Json(nullptr) : Json(state.long_lived_new);
        json["frozen"] = state.frozen.objects;
    } else {
        for (const char* key :
             {"enabled", "collecting", "debug_flags", "thresholds", "counts", "generations", "frozen"})
            json[key] = nullptr;
    }
    json["garbage"] = rows_json(row.garbage, redactor);
    json["garbage_count"] = row.garbage_count;
    json["callbacks"] = rows_json(row.callbacks, redactor);
    json["collectable"] = tally_json(row.collectable);
    json["collectable"]["freed_count"] = row.freed_count;
    json["collectable"]["freed_bytes"] = row.freed_bytes;
    json["uncollectable"] = tally_json(row.uncollectable);
    json["frozen_garbage"] = tally_json(row.frozen_garbage);
    json["doubtful"] = tally_json(row.doubtful);
    return json;
}

std::string heading(const GcInterpreter& row, bool several, const Page& page) {
    const std::string which =
        several ? fmt::format("The collector of interpreter {}", row.id) : "The collector";
    if (!row.state) return bold(which + " does not read", page.colour) + ".";
    const GcState& state = *row.state;
    std::string text = bold(which + (state.enabled ? " is enabled" : " is disabled"), page.colour);
    if (state.collecting) text += ", and a collection was under way";
    const std::vector<std::string> flags = gc_debug_flags(state.debug);
    std::string names;
    for (const std::string& flag : flags) names += (names.empty() ? "DEBUG_" : ", DEBUG_") + flag;
    text += flags.empty() ? "; no debug flag is set." : "; debug flags: " + names + ".";
    if (state.enabled && state.generations[0].threshold == 0)
        text += " Its first threshold is 0: no collection starts by itself.";
    return text;
}

std::string starts_text(const GcState& state, std::size_t i) {
    const GcGeneration& generation = state.generations[i];
    const char* const what[] = {"allocations", "young collections", "middle collections"};
    if (i == 0 && generation.threshold == 0) return "never";
    std::string text =
        generation.threshold < 0
            ? fmt::format("at each of the {}: its threshold is {}", what[i], generation.threshold)
            : fmt::format("{} of {} {}", grouped_signed(generation.count),
                          grouped_signed(std::int64_t{generation.threshold} + 1), what[i]);
    if (i == 2 && state.long_lived / 4 > 0)  // else any number is enough
        text += fmt::format(", and {} of {} new objects", grouped_signed(state.long_lived_new),
                            grouped_signed(state.long_lived / 4));
    return text;
}

std::string generations_text(const GcState& state, const Page& page) {
    using Align = TableColumn::Align;
    Table table({{Align::left, "generation"},
                 {Align::right, "objects"},
                 {Align::left, "a collection starts", TableColumn::Fit::wrap}});
    for (std::size_t i = 0; i < state.generations.size(); ++i) {
        const GcGeneration& generation = state.generations[i];
        table.add({generation_names[i], (generation.whole ? "" : "≥ ") + grouped(generation.objects),
                   starts_text(state, i)});
    }
    if (state.frozen.objects > 0)
        table.add({"frozen", (state.frozen.whole ? "" : "≥ ") + grouped(state.frozen.objects),
                   "never looked at: put aside by gc.freeze(), or as Python starts (3.12)"});
    return table.text(page.width, page.colour);
}

std::string found_text(const GcInterpreter& row, bool certain, const Page& page) {
    const std::string about = certain ? "" : "≈ ";
    std::string text;
    if (row.collectable.count + row.uncollectable.count == 0)
        text = "gc.collect() would have found no garbage.";
    else
        text =
            fmt::format("gc.collect() would have found {}{} ({}){}", about,
                        counted(row.collectable.count + row.uncollectable.count, "tracked object"),
                        page.bytes(row.collectable.size + row.uncollectable.size),
                        row.collectable.count == 0
                            ? "."
                            : fmt::format(", and freed {}{} with all that hangs on them: {}.", about,
                                          counted(row.freed_count, "object"), page.bytes(row.freed_bytes)));
    if (row.uncollectable.count > 0)
        text += fmt::format(" {} of them a legacy finalizer (tp_del) would have kept, for gc.garbage.",
                            grouped(row.uncollectable.count));
    if (row.frozen_garbage.count > 0)
        text += fmt::format(" {} more ({}) are garbage, but frozen, or held by what is.",
                            grouped(row.frozen_garbage.count), page.bytes(row.frozen_garbage.size));
    if (row.doubtful.count > 0)
        text += fmt::format(" {} more ({}) are garbage if their types report what is only guessed here.",
                            grouped(row.doubtful.count), page.bytes(row.doubtful.size));
    return text;
}

std::string more_text(std::size_t count, const std::string& command, const Page& page) {
    return wrapped_with_tail(fmt::format("  … {} more.", grouped(count)),
                             "All: " + page.command(command + all_rows), page.width, 4) +
           "\n";
}

std::string lists_text(const GcInterpreter& row, const Page& page) {
    std::string text =
        row.garbage_count == 0
            ? "gc.garbage is empty"
            : fmt::format("gc.garbage has {}, which only `del gc.garbage[:]` and another collection free",
                          counted(row.garbage_count, "object"));
    if (!row.callbacks.empty())
        text += fmt::format("; gc.callbacks has {}", counted(row.callbacks.size(), "entry", "entries"));
    text = wrapped(text + ".", page.width, 2) + "\n";
    if (row.garbage.empty()) return text;
    using Align = TableColumn::Align;
    Table table({{Align::left, "address"},
                 {Align::right, "memory"},
                 {Align::left, "type", TableColumn::Fit::middle},
                 {Align::left, "value", TableColumn::Fit::end}});
    for (const ObjectRow& object : row.garbage)
        table.add({hexadecimal(object.address.value), page.bytes(object.facts.memory), type_text(object.type),
                   value_text(object, page.redact())});
    text += table.text(page.width, page.colour);
    if (row.garbage_count > row.garbage.size())
        text += more_text(row.garbage_count - row.garbage.size(), "gc", page);
    return text;
}

std::string finalizers_text(const GcResult& result, const Page& page) {
    if (result.finalizers.empty()) return {};
    std::string text = "Finalizers would run first, and could keep what they are given: ";
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, result.finalizers.size()); ++i)
        text += (i > 0 ? ", " : "") + grouped(result.finalizers[i].count) + " " +
                type_text(result.finalizers[i].type);
    if (result.finalizers.size() > most)
        text += fmt::format(", and {} more types", result.finalizers.size() - most);
    return wrapped(text + ".", page.width, 2) + "\n";
}

std::string gc_text(const GcResult& result, const Page& page) {
    std::string text;
    bool any = false;
    for (const GcInterpreter& row : result.interpreters) {
        text += wrapped(heading(row, result.interpreters.size() > 1, page), page.width, 2) + "\n";
        if (row.state) text += generations_text(*row.state, page);
        text += wrapped(found_text(row, result.certain, page), page.width, 2) + "\n" + lists_text(row, page);
        any = any || row.collectable.count + row.uncollectable.count + row.garbage_count > 0;
    }
    return text + finalizers_text(result, page) +
           (any ? next_line(page, "cycles", "what this garbage is") : next_line(page, "types"));
}

}  // namespace

Answer render_gc(const GcResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "gc";
    answer.certain = result.certain;
    Json interpreters = Json::array();
    for (const GcInterpreter& row : result.interpreters)
        interpreters.push_back(interpreter_json(row, redactor));
    answer.data["interpreters"] = std::move(interpreters);
    answer.data["finalizers"] = Json::array();
    for (const GcFinalizer& row : result.finalizers)
        answer.data["finalizers"].push_back({{"type", row.type}, {"count", row.count}});
    answer.text = [&result](const Page& page) { return gc_text(result, page); };
    return answer;
}

Answer render_gc_list(const HeapReader& heap, const GcResult& result, std::size_t limit, Redactor& redactor) {
    Answer answer;
    answer.command = "gc";
    answer.certain = result.certain;
    answer.rows_key = "found";
    const std::size_t shown = limit == 0 ? result.found.size() : std::min(limit, result.found.size());
    answer.rows = [&heap, &result, &redactor, shown](const RowVisitor& visit) {
        for (std::size_t i = 0; i < shown; ++i)
            visit(object_json(object_row(heap, result.found[i]), redactor));
    };
    answer.csv_columns = {"address", "type", "size", "memory", "refcount", "gc_tracked", "value"};
    answer.data["total"] = {{"objects", result.found.size()}};
    answer.text = [&heap, &result, shown](const Page& page) {
        if (result.found.empty()) return std::string("gc.collect() would have found no garbage.\n");
        using Align = TableColumn::Align;
        Table table({{Align::left, "address"},
                     {Align::right, "memory"},
                     {Align::right, "refs"},
                     {Align::left, "type", TableColumn::Fit::middle},
                     {Align::left, "value", TableColumn::Fit::end}});
        for (std::size_t i = 0; i < shown; ++i) {
            const ObjectRow row = object_row(heap, result.found[i]);
            table.add({hexadecimal(row.address.value), page.bytes(row.facts.memory), refcount_text(row.facts),
                       type_text(row.type), value_text(row, page.redact())});
        }
        std::string text = table.text(page.width, page.colour);
        if (shown < result.found.size()) text += more_text(result.found.size() - shown, "gc --list", page);
        return text + next_line(page, "cycles", "by what they refer to each other");
    };
    return answer;
}

}  // namespace heapsift
