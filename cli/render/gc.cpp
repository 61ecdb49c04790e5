// The state of the collector: a sentence, a table of its generations, and what a collection would do.

#include "cli/render/gc.h"

#include "cli/render/object.h"
#include "cli/render/places.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_finalizers = 5;
const char* const generation_names[] = {"young", "middle", "old"};

Datum tally_data(const CollectorTally& tally) {
    return entries({{"count", tally.count}, {"size", tally.size}});
}

void add_state(const GcState& state, Datum& data) {
    Datum thresholds = Datum::list(), counts = Datum::list(), generations = Datum::list();
    for (const GcGeneration& generation : state.generations) {
        thresholds.push_back(generation.threshold);
        counts.push_back(generation.count);
        generations.push_back(entries({{"objects", generation.objects}, {"whole", generation.whole}}));
    }
    data["enabled"] = state.enabled;
    data["collecting"] = state.collecting;
    data["debug_flags"] =
        Datum::list_of(gc_debug_flags(state.debug), [](const std::string& flag) { return Datum(flag); });
    data["thresholds"] = std::move(thresholds);
    data["counts"] = std::move(counts);
    data["generations"] = std::move(generations);
    data["long_lived"] = state.long_lived < 0 ? Datum() : Datum(state.long_lived);
    data["long_lived_new"] = state.long_lived < 0 ? Datum() : Datum(state.long_lived_new);
    data["frozen"] = state.frozen.objects;
}

Datum interpreter_data(const GcInterpreter& row) {
    Datum data;
    data["id"] = row.id;
    if (row.state)
        add_state(*row.state, data);
    else
        for (const char* key :
             {"enabled", "collecting", "debug_flags", "thresholds", "counts", "generations", "frozen"})
            data[key] = nullptr;
    data["garbage"] = Datum::list_of(row.garbage, object_data);
    data["garbage_count"] = row.garbage_count;
    data["callbacks"] = Datum::list_of(row.callbacks, object_data);
    data["collectable"] = tally_data(row.collectable);
    data["collectable"]["freed_count"] = row.freed_count;
    data["collectable"]["freed_bytes"] = row.freed_bytes;
    data["uncollectable"] = tally_data(row.uncollectable);
    data["frozen_garbage"] = tally_data(row.frozen_garbage);
    data["doubtful"] = tally_data(row.doubtful);
    return data;
}

Text heading(const GcInterpreter& row, bool several) {
    const Text which =
        several ? says("The collector of interpreter {}", std::to_string(row.id)) : "The collector";
    if (!row.state) return (which + " does not read").bold() + ".";
    const GcState& state = *row.state;
    Text text = (which + (state.enabled ? " is enabled" : " is disabled")).bold();
    if (state.collecting) text += ", and a collection was under way";
    std::vector<Text> flags;
    for (const std::string& flag : gc_debug_flags(state.debug)) flags.push_back(says("DEBUG_{}", flag));
    text += flags.empty() ? Text("; no debug flag is set.")
                          : says("; debug flags: {}.", joined(std::move(flags), ", "));
    if (state.enabled && state.generations[0].threshold == 0)
        text += " Its first threshold is 0: no collection starts by itself.";
    return text;
}

Text starts_words(const GcState& state, std::size_t i) {
    const GcGeneration& generation = state.generations[i];
    const char* const what[] = {"allocations", "young collections", "middle collections"};
    if (i == 0 && generation.threshold == 0) return "never";
    Text text = generation.threshold < 0 ? says("at each of the {}: its threshold is {}", what[i],
                                                std::to_string(generation.threshold))
                                         : says("{} of {} {}", SignedCount{generation.count},
                                                SignedCount{std::int64_t{generation.threshold} + 1}, what[i]);
    if (i == 2 && state.long_lived / 4 > 0)  // if it is 0, any number of new objects is enough
        text += says(", and {} of {} new objects", SignedCount{state.long_lived_new},
                     SignedCount{state.long_lived / 4});
    return text;
}

Block generations_table(const GcState& state) {
    TableBlock table;
    table.columns = {left("generation"), right("objects"),
                     left("a collection starts", TextColumn::Fit::wrap)};
    std::vector<TableRow> rows;
    const auto add = [&](const char* name, const GcGeneration& generation, Text words) {
        rows.push_back({.cells = {name, says("{}{}", generation.whole ? "" : "≥ ", Count{generation.objects}),
                                  std::move(words)}});
    };
    for (std::size_t i = 0; i < state.generations.size(); ++i)
        add(generation_names[i], state.generations[i], starts_words(state, i));
    if (state.frozen.objects > 0)
        add("frozen", state.frozen, "never looked at: put aside by gc.freeze(), or as Python starts (3.12)");
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

Text collected_words(const GcInterpreter& row, const char* about) {
    const CollectorTally found{row.collectable.count + row.doubtful.count + row.uncollectable.count,
                               row.collectable.size + row.doubtful.size + row.uncollectable.size};
    if (found.count == 0) return "gc.collect() would find no garbage.";
    Text text = row.freed_count > 0
                    ? says("gc.collect() would free {}{}: {} ({} of them tracked by the collector, {})",
                           about, ByteCount{row.freed_bytes}, how_many(row.freed_count, "object"),
                           Count{found.count}, ByteCount{found.size})
                    : says("gc.collect() would find {}{} ({}), and free none", about,
                           how_many(found.count, "tracked object"), ByteCount{found.size});
    if (row.doubtful.count == found.count) return text + ", if their types report what is guessed here.";
    text += ".";
    if (row.doubtful.count > 0)
        text += says(" {} of them ({}) only if their types report what is guessed here.",
                     Count{row.doubtful.count}, ByteCount{row.doubtful.size});
    return text;
}

Text found_words(const GcInterpreter& row, bool certain) {
    Text text = collected_words(row, certain ? "" : "≈ ");
    if (row.uncollectable.count > 0)
        text += says(" {} of them a legacy finalizer (tp_del) would have kept, for gc.garbage.",
                     Count{row.uncollectable.count});
    if (row.frozen_garbage.count > 0)
        text += says(" {} more ({}) are garbage, but frozen, or held by what is.",
                     Count{row.frozen_garbage.count}, ByteCount{row.frozen_garbage.size});
    return text;
}

Block more_line(std::uint64_t count, const std::string& command) {
    return sentence(says("… {} more.", Count{count}), says("All: {}", CommandLine{command + all_rows}), 1);
}

TableBlock list_table(bool with_counts) {
    TableBlock table;
    table.columns = {left("address"), right("memory"), left("type", TextColumn::Fit::middle),
                     left("value", TextColumn::Fit::end)};
    if (with_counts) table.columns.insert(table.columns.begin() + 2, right("refs"));
    return table;
}

TableRow list_row(const ObjectRow& object, bool with_counts) {
    TableRow row{
        .cells = {object.address, ByteCount{object.facts.memory}, TypeName{object.type}, value_of(object)}};
    if (with_counts) row.cells.insert(row.cells.begin() + 2, references_counted(object.facts));
    return row;
}

void say_lists(const GcInterpreter& row, Document& document) {
    Text text = row.garbage_count == 0
                    ? Text("gc.garbage is empty")
                    : says("gc.garbage has {}, which only `del gc.garbage[:]` and another collection free",
                           how_many(row.garbage_count, "object"));
    if (!row.callbacks.empty())
        text += says("; gc.callbacks has {}", how_many(row.callbacks.size(), "entry", "entries"));
    document.say(sentence(text + "."));
    if (row.garbage.empty()) return;
    TableBlock table = list_table(false);
    std::vector<TableRow> rows;
    for (const ObjectRow& object : row.garbage) rows.push_back(list_row(object, false));
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (row.garbage_count > row.garbage.size())
        document.say(more_line(row.garbage_count - row.garbage.size(), "gc"));
}

void say_finalizers(const GcResult& result, Document& document) {
    if (result.finalizers.empty()) return;
    std::vector<Text> words;
    for (std::size_t i = 0; i < std::min(most_finalizers, result.finalizers.size()); ++i)
        words.push_back(says("{} {}", Count{result.finalizers[i].count},
                             type_words(result.finalizers[i].type, result.finalizers[i].count)));
    if (result.finalizers.size() > most_finalizers)
        words.push_back(
            says("and {} more types", std::to_string(result.finalizers.size() - most_finalizers)));
    document.say(sentence(says("Finalizers would run first, and could keep what they are given: {}.",
                               joined(std::move(words), ", "))));
}

}  // namespace

Document render_gc(const GcResult& result, const std::vector<CollectorCall>& calls) {
    Document document{.command = "gc", .certain = result.certain};
    document.data["interpreters"] = Datum::list_of(result.interpreters, interpreter_data);
    document.data["finalizers"] = Datum::list_of(result.finalizers, [](const GcFinalizer& row) {
        return entries({{"type", row.type}, {"count", row.count}});
    });
    document.data["calls"] = calls_data(calls);
    bool any = false;
    for (const GcInterpreter& row : result.interpreters) {
        document.say(sentence(heading(row, result.interpreters.size() > 1)));
        if (row.state) document.say(generations_table(*row.state));
        document.say(sentence(found_words(row, result.certain)));
        say_lists(row, document);
        any = any ||
              row.collectable.count + row.doubtful.count + row.uncollectable.count + row.garbage_count > 0;
    }
    say_finalizers(result, document);
    for (const CollectorCall& call : calls) document.say(sentence(words_of(call)));
    document.say(any ? hint("cycles", "what this garbage is") : hint("types"));
    return document;
}

Document render_gc_list(GcResult gc, std::function<ObjectRow(ObjectId)> row) {
    const auto result = kept(std::move(gc));
    Document document{.command = "gc", .certain = result->certain};
    document.rows_key = "found";
    document.rows =
        rows_of<Datum>(result, &GcResult::found, [row](ObjectId object) { return object_data(row(object)); });
    document.csv_columns = {"address", "type", "size", "memory", "refcount", "gc_tracked", "value"};
    document.data["total"] = entries({{"objects", result->found_count}});
    if (result->found.empty()) {
        document.say(line("gc.collect() would find no garbage."));
        return document;
    }
    TableBlock table = list_table(true);
    table.rows = rows_of<TableRow>(result, &GcResult::found,
                                   [row](ObjectId object) { return list_row(row(object), true); });
    document.say({std::move(table)});
    if (result->found.size() < result->found_count)
        document.say(more_line(result->found_count - result->found.size(), "gc --list"));
    document.say(hint("cycles", "by what they refer to each other"));
    return document;
}

void note_collector_settings(const Layout& layout, Diagnostics& diagnostics) {
    if (layout.gc_state.enabled.present()) return;
    diagnostics.add("collector-settings-unknown",
                    "the interpreter has no symbols for the collector's settings: it is taken as enabled, "
                    "without debug flags, and as not collecting",
                    Severity::note);
}

}  // namespace heapsift
