// What grew. One sentence first; then each table has the growth in front, because that is what it is sorted by.

#include "cli/render/diff.h"

#include "cli/render/diff_data.h"
#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t summary_rows = 8;
constexpr std::size_t most_named_parts = 4;
constexpr std::size_t most_steps_shown = 4, most_names_shown = 3;
constexpr std::int64_t parts_worth_naming = 20;  // of a place's growth
constexpr std::size_t most_further_places = 2;
constexpr std::int64_t parts_of_first_place = 4;  // a further one is told with the first

Text signed_bytes(std::int64_t bytes) { return Growth{bytes, true}; }
Text signed_count(std::int64_t count) { return Growth{count}; }

Text place_words(const GrownPlace& place) {
    if (place.kind == HeldRow::Kind::garbage) return "garbage, not freed yet";
    if (place.kind == HeldRow::Kind::unseen) return "a reference that was not found";
    Text words = place.holder;
    if (place.kind == HeldRow::Kind::native) words = says("C code ({})", place.holder);
    if (!place.names.empty()) {
        std::vector<Text> some(place.names.begin(),
                               place.names.begin() + static_cast<std::ptrdiff_t>(
                                                         std::min(place.names.size(), most_names_shown)));
        if (place.names.size() > most_names_shown) some.emplace_back("…");
        return says("{} {} {} ({})", Count{place.names.size()},
                    place.kind == HeldRow::Kind::object ? "attributes of" : "names in", std::move(words),
                    joined(std::move(some), ", "));
    }
    if (place.place.empty()) return words;
    return words + "." + place.place;
}

Text grown_row_words(const HeldRow& row) {
    if (row.kind == HeldRow::Kind::garbage) return "garbage, not freed yet";
    if (row.kind == HeldRow::Kind::unseen) return "a reference that was not found";
    Text words = row.holder;
    if (row.kind == HeldRow::Kind::native) words = says("C code ({})", row.holder);
    if (row.attribute.empty()) return words;
    return words + (row.joined || row.nameless ? "" : ".") + row.attribute;
}

/// "8 more Session, each with 1 Graph and 9,000 Tensor".
Text units_words(const GrownPlace& place) {
    if (place.parts.empty()) return {};
    const GrownPlace::Part& unit = place.parts.front();
    if (place.units == 0) return says("no more objects, but larger ones: {}", TypeName{unit.type});
    Text words = says("{} more {}", Count{place.units}, type_words(unit.type, place.units));
    std::vector<Text> between, beside;
    std::vector<std::pair<std::uint64_t, Text>> multiples;
    for (std::size_t i = 1; i < place.parts.size(); ++i) {
        const GrownPlace::Part& part = place.parts[i];
        const bool large = part.bytes * parts_worth_naming >= place.growth;
        const bool told = !part.container || part.told_bytes * 4 >= place.growth;
        if (part.count <= 0 || (!part.akin && !(told && large))) continue;
        if (part.beside) {
            beside.push_back(says("{} {}", Count{static_cast<std::uint64_t>(part.count)},
                                  type_words(part.type, static_cast<std::uint64_t>(part.count))));
            continue;
        }
        if (part.each > 0)
            multiples.emplace_back(part.each,
                                   says("{} {}", Count{part.each}, type_words(part.type, part.each)));
        else if (part.bytes * 5 >= place.growth)
            between.push_back(says("{} {}", Count{static_cast<std::uint64_t>(part.count)},
                                   type_words(part.type, static_cast<std::uint64_t>(part.count))));
    }
    // Of what most bytes are, the rarest first.
    if (multiples.size() > most_named_parts) multiples.resize(most_named_parts);
    std::stable_sort(multiples.begin(), multiples.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Text> each;
    for (auto& [number, text] : multiples) each.push_back(std::move(text));
    if (between.size() > most_named_parts) between.resize(most_named_parts);
    const auto listed = [](std::vector<Text> texts) {
        if (texts.size() < 2) return joined(std::move(texts), ", ");
        Text last = std::move(texts.back());
        texts.pop_back();
        return joined(std::move(texts), ", ") + " and " + std::move(last);
    };
    if (beside.size() > most_named_parts) beside.resize(most_named_parts);
    if (!each.empty())
        words += says(place.units == 1 ? ", with {}" : ", each with {}", listed(std::move(each)));
    else if (!between.empty())
        words += says(", and with them {}", listed(std::move(between)));
    if (!beside.empty()) words += says("; beside them {}", listed(std::move(beside)));
    return words;
}

std::uint64_t positive(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, number));
}

Text share_of_growth(const GrowthResult& result, std::int64_t growth) {
    return says("{} of what grew", Share{positive(growth), positive(std::max(result.whole, growth))});
}

Text native_words(const GrownNative& row) {
    return row.now.of_class.empty() ? says("of {} bytes", Count{row.now.size})
                                    : Text(TypeName{row.now.of_class});
}

/// " So did app.POOL_B by 4.1 MiB, 39 % of what grew: 400 more Entry.": places from the one numbered `begin` on that grew
/// by a fair part of `first` bytes.
Text further_places(const GrowthResult& result, std::size_t begin, std::int64_t first) {
    std::vector<Text> further;
    std::size_t more = 0;
    for (std::size_t i = begin; i < result.places.size(); ++i) {
        const GrownPlace& place = result.places[i];
        if (place.usual || place.steady != result.places.front().steady ||
            place.believed * parts_of_first_place < first)
            break;
        if (further.size() == most_further_places) {
            ++more;
            continue;
        }
        Text text = says("{} by {}, {}", place_words(place), ByteCount{positive(place.growth)},
                         share_of_growth(result, place.growth));
        if (place.units > 0 && !place.parts.empty())
            text +=
                says(": {} more {}", Count{place.units}, type_words(place.parts.front().type, place.units));
        further.push_back(std::move(text));
    }
    if (further.empty()) return {};
    Text rest;
    if (more > 0) rest = says("; and {} like these", how_many(more, "more place"));
    return says(" So did {}{}.", joined(std::move(further), "; and "), std::move(rest));
}

std::int64_t growth_in_use(const GrowthResult& result) {
    return AmountsByCore::difference(result.cores.front().in_use, result.cores.back().in_use);
}

}  // namespace

namespace {

Text what_grew(const GrowthResult& result) {
    switch (result.cause) {
        case GrowthResult::Cause::place: {
            const GrownPlace& place = result.places.front();
            Text what = place_words(place);
            if (place.kind == HeldRow::Kind::garbage) what = "Garbage that was not freed yet";
            if (place.kind == HeldRow::Kind::unseen)
                what = "What only a leaked reference, or C code that was not found, holds";
            if (place.kind == HeldRow::Kind::object && !place.expression.empty())
                what += says(" ({})", place.expression);
            if (result.cut) what = says("As far as a cut core tells, {}", std::move(what));
            return says("{} grew{} by {}, {}: {}.", std::move(what),
                        result.cores.size() > 2 && place.steady ? " from each core to the next," : "",
                        ByteCount{positive(place.growth)}, share_of_growth(result, place.growth),
                        units_words(place)) +
                   further_places(result, 1, place.believed);
        }
        case GrowthResult::Cause::native: {
            std::vector<Text> blocks;
            std::int64_t growth = 0;
            std::uint64_t count = 0, leaked = 0;
            for (const GrownNative& row : result.native_causes) {
                blocks.push_back(
                    result.native_causes.size() == 1 || row.now.of_class.empty()
                        ? says("{} more blocks {}", Count{positive(row.count_growth())}, native_words(row))
                        : says("{} more {}", Count{positive(row.count_growth())}, native_words(row)));
                growth += row.growth();
                count += row.now.count;
                leaked += row.now.leaked;
            }
            Text python = further_places(result, 0, growth);
            Text text = says("C code's memory grew{}: {}, {} ({})",
                             python.empty() ? ", not Python's" : " most", joined(std::move(blocks), ", "),
                             ByteCount{positive(growth)}, share_of_growth(result, growth));
            const std::string& held_by = result.native_causes.front().now.held_by;
            if (leaked * 2 > count)
                text += leaked == count ? Text("; all of them leaked: nothing leads to them")
                                        : says("; of all {} there are now, {} leaked: nothing leads to them",
                                               Count{count}, Count{leaked});
            else if (!held_by.empty())
                text += says("; found from {}", held_by);
            return text + "." + std::move(python);
        }
        case GrowthResult::Cause::memory: {
            const GrownMemory& row = result.memories.front();
            Text text = row.is_free
                            ? says(
                                  "No object's memory grew as much as what is free inside allocators: {} "
                                  "more, {}.",
                                  ByteCount{positive(row.growth())}, share_of_growth(result, row.growth()))
                            : says("{} grew by {}, {}, in blocks of many sizes.", row.name,
                                   ByteCount{positive(row.growth())}, share_of_growth(result, row.growth()));
            if (result.cores.size() > 2 && !result.places.empty() && result.places.front().steady) {
                const GrownPlace& place = result.places.front();
                text += says(" From each core to the next {} grew, by {} in all: {}.", place_words(place),
                             ByteCount{positive(place.growth)}, units_words(place));
            }
            return text;
        }
        case GrowthResult::Cause::nothing:
            break;
    }
    const bool some = !result.places.empty() && result.places.front().believed > 0;
    Text text = says("Nothing grew{}: {} in use before, {} after", some ? " by much" : "",
                     ByteCount{result.cores.front().in_use}, ByteCount{result.cores.back().in_use});
    if (some)
        text += says("; the most, {}, is in {}", ByteCount{positive(result.places.front().believed)},
                     place_words(result.places.front()));
    return text + ".";
}

}  // namespace

/// Of two programs everything is another thing: whoever reads no more than the first sentence must not take it for growth.
Text growth_headline(const GrowthResult& result) {
    if (result.same_program) return what_grew(result);
    return "These are cores of different programs: what follows is how they differ, not growth. " +
           what_grew(result);
}

namespace {

/// What may be growth, or may have moved.
void say_moved(const GrowthResult& result, Document& document) {
    if (!result.may_have_moved() || !result.moved_to) return;
    const GrownRow& row = *result.moved_to;
    const bool compared = result.cores.back().compared;
    document.say(sentence(
        says("{} gained {} ({} {}){}", grown_row_words(row.row),
             ByteCount{positive(row.amounts.bytes_growth())}, Count{positive(row.amounts.count_growth())},
             type_words(row.row.type, positive(row.amounts.count_growth())),
             compared ? " that lie where such objects lay before: these moved, very likely."
                      : ", and other places lost as many: these are taken to have moved. Two "
                        "cores of one process, and no exports, tell it.")));
}

/// Which cores they are, and whether they can be compared.
void say_cores(const GrowthResult& result, Document& document) {
    const GrowthResult::Core &first = result.cores.front(), &last = result.cores.back();
    std::vector<Text> files;
    for (const GrowthResult::Core& core : result.cores) files.emplace_back(FilePath{core.file});
    Text text = joined(std::move(files), " → ");
    if (result.same_process) {
        text += says(": process {} of {}, at {} times, as far as cores tell", std::to_string(last.pid),
                     last.python, result.cores.size() == 2 ? "two" : std::to_string(result.cores.size()));
    } else if (result.same_program) {
        text += result.cut
                    ? Text(": cores of one program; a core is cut: whether of one process cannot be told")
                    : Text(": processes of one program");
        text += first.python == last.python ? says(", {}", last.python)
                                            : says(", {} and {}", first.python, last.python);
    } else {
        if (first.command == last.command && first.script != last.script)
            text += says(": not the same program: {} and {}", FilePath{first.script}, FilePath{last.script});
        else
            text += says(": not the same program: {} and {}", ProcessCall{first.command, first.command},
                         ProcessCall{last.command, last.command});
        text += says(", {} and {}", first.python, last.python);
    }
    document.say(sentence(std::move(text += ".")));
}

void say_sums(const GrowthResult& result, Document& document) {
    TableBlock table;
    table.columns = {left("")};
    for (const GrowthResult::Core& core : result.cores) table.columns.push_back(right(FilePath{core.file}));
    table.columns.push_back(right("growth"));
    std::vector<TableRow> rows(2);
    rows[0].cells.emplace_back("in use");
    rows[1].cells.emplace_back("objects");
    for (const GrowthResult::Core& core : result.cores) {
        rows[0].cells.emplace_back(at_least() + Text(ByteCount{core.in_use}));
        rows[1].cells.emplace_back(at_least() + Text(Count{core.objects}));
    }
    rows[0].cells.push_back(signed_bytes(growth_in_use(result)));
    rows[1].cells.push_back(
        signed_count(AmountsByCore::difference(result.cores.front().objects, result.cores.back().objects)));
    if (result.cores.back().compared) {
        const GrowthResult::Core& last = result.cores.back();
        TableRow row{.cells = {"  of them new since the core before, likely"}};
        row.cells.resize(result.cores.size());
        row.cells.emplace_back(Count{last.appeared});
        row.cells.emplace_back(says("{} gone", Count{last.gone}));
        rows.push_back(std::move(row));
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
}

using Kept = std::shared_ptr<const GrowthResult>;

TableRest rest_of(std::size_t rows, const char* singular, const DiffShown& shown, const char* by) {
    return {.rows = rows,
            .singular = singular,
            .bytes = {},
            .all = CommandLine{shown.command + " --by " + by + all_rows}};
}

/// Columns of a table of growth by what they can be sorted by; the first one has the growth.
struct SortedColumns {
    static constexpr std::size_t none = 99;
    std::size_t count = 1, retained = none, name = none;
};

void mark_sorted(TableBlock& table, GrowthSort sort, SortedColumns columns) {
    std::size_t sorted = 0;
    if (sort == GrowthSort::count) sorted = columns.count;
    if (sort == GrowthSort::retained) sorted = columns.retained;
    if (sort == GrowthSort::name) sorted = columns.name;
    if (sorted < table.columns.size()) table.columns[sorted].sorted = true;
}

template <class Row>
RowsOf<TableRow> first_rows(const Kept& result, std::vector<Row> GrowthResult::*rows, std::size_t most,
                            auto make) {
    return [result, rows, most, make](const std::function<void(const TableRow&)>& visit) {
        std::size_t shown = 0;
        for (const Row& row : *result.*rows) {
            if (most != 0 && shown++ == most) break;
            visit(make(*result, row));
        }
    };
}

/// Of three cores or more, those that were new in the last but one, and did not go.
Text new_objects(const GrowthResult& result, const GrownPlace& place) {
    if (!result.cores.back().compared) return {};
    return Count{result.cores.size() > 2 ? place.stayed : place.appeared};
}

/// Of three cores or more, the growth from each to the next: "+1.2 MiB +1.3 MiB"; of many, the last ones.
Text step_words(const GrownPlace& place) {
    if (place.bytes.size() < 3) return {};
    std::vector<Text> steps;
    if (place.bytes.size() - 1 > most_steps_shown) steps.emplace_back("…");
    for (std::size_t i = place.bytes.size() - std::min(place.bytes.size() - 1, most_steps_shown);
         i < place.bytes.size(); ++i)
        steps.push_back(signed_bytes(AmountsByCore::difference(place.bytes[i - 1], place.bytes[i])));
    return joined(std::move(steps), " ");
}

void say_places(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth", true),
                     right("share"),
                     right("before"),
                     right("after"),
                     right("by steps"),
                     right(result->cores.size() > 2 ? "new, and still there" : "new objects"),
                     left("held in", TextColumn::Fit::middle),
                     left("what", TextColumn::Fit::wrap)};
    table.columns[2].narrow_page = 100;
    table.columns[3].narrow_page = 100;
    table.columns[4].optional = true;  // of three cores or more
    table.columns[5].optional = true;  // with --objects
    table.columns[7].narrow_page = 72;
    const std::size_t most = shown.table == DiffTable::summary ? summary_rows : shown.rows;
    table.rows =
        first_rows(result, &GrowthResult::places, most, [](const GrowthResult& all, const GrownPlace& place) {
            return TableRow{
                .cells = {signed_bytes(place.growth),
                          Share{positive(place.growth), positive(std::max(all.whole, place.growth)), true},
                          ByteCount{place.before()}, ByteCount{place.after()}, step_words(place),
                          new_objects(all, place), place_words(place), units_words(place)}};
        });
    if (shown.table == DiffTable::summary) table.fewest = 2;
    if (most != 0) table.rest = rest_of(result->places.size(), "more place", shown, "holder");
    document.say({std::move(table)});
}

void say_types(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth"), right("objects"),  right("before"),
                     right("after"),  right("retained"), left("type", TextColumn::Fit::middle)};
    table.columns[4].optional = true;
    mark_sorted(table, shown.sort, {.retained = 4, .name = 5});
    const std::size_t most = shown.table == DiffTable::summary ? summary_rows : shown.rows;
    table.rows =
        first_rows(result, &GrowthResult::types, most, [](const GrowthResult&, const GrownName& row) {
            Text retained;
            if (row.retained.front() && row.retained.back())
                retained =
                    signed_bytes(AmountsByCore::difference(*row.retained.front(), *row.retained.back()));
            else if (row.retained.back() && row.amounts.at.front().count == 0)
                retained = signed_bytes(static_cast<std::int64_t>(*row.retained.back()));
            return TableRow{.cells = {signed_bytes(row.amounts.bytes_growth()),
                                      signed_count(row.amounts.count_growth()),
                                      Count{row.amounts.at.front().count}, Count{row.amounts.at.back().count},
                                      std::move(retained), TypeName{row.name}}};
        });
    if (shown.table == DiffTable::summary) table.fewest = 2;
    if (most != 0) table.rest = rest_of(result->types.size(), "more type", shown, "type");
    document.say({std::move(table)});
}

void say_rows(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth"),
                     right("objects"),
                     right("before"),
                     right("after"),
                     left("type", TextColumn::Fit::middle),
                     left("held as", TextColumn::Fit::middle)};
    mark_sorted(table, shown.sort, {.name = 4});
    table.rows =
        first_rows(result, &GrowthResult::held, shown.rows, [](const GrowthResult&, const GrownRow& row) {
            return TableRow{.cells = {signed_bytes(row.amounts.bytes_growth()),
                                      signed_count(row.amounts.count_growth()),
                                      Count{row.amounts.at.front().count}, Count{row.amounts.at.back().count},
                                      TypeName{row.row.type}, grown_row_words(row.row)}};
        });
    if (shown.rows != 0) table.rest = rest_of(result->held.size(), "more row", shown, "holder");
    document.say({std::move(table)});
}

void say_arrays(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth"), right("arrays"), right("before"), right("after"),
                     left("dtype and shape", TextColumn::Fit::middle)};
    mark_sorted(table, shown.sort, {.name = 4});
    table.rows =
        first_rows(result, &GrowthResult::arrays, shown.rows, [](const GrowthResult&, const GrownName& row) {
            return TableRow{.cells = {signed_bytes(row.amounts.bytes_growth()),
                                      signed_count(row.amounts.count_growth()),
                                      ByteCount{row.amounts.at.front().array_data},
                                      ByteCount{row.amounts.at.back().array_data}, row.name}};
        });
    if (shown.rows != 0) table.rest = rest_of(result->arrays.size(), "more row", shown, "array");
    document.say({std::move(table)});
}

/// A file's path and its line, as tracemalloc had it.
void say_lines(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth"), right("blocks"), right("before"), right("after"),
                     left("allocated at", TextColumn::Fit::middle)};
    mark_sorted(table, shown.sort, {.name = 4});
    const std::size_t most = shown.table == DiffTable::summary ? summary_rows : shown.rows;
    table.rows =
        first_rows(result, &GrowthResult::lines, most, [](const GrowthResult&, const GrownName& row) {
            return TableRow{
                .cells = {signed_bytes(row.amounts.bytes_growth()), signed_count(row.amounts.count_growth()),
                          ByteCount{row.amounts.at.front().memory}, ByteCount{row.amounts.at.back().memory},
                          says("{}:{}", FilePath{row.name}, std::to_string(row.line))}};
        });
    if (shown.table == DiffTable::summary) table.fewest = 2;
    if (most != 0) table.rest = rest_of(result->lines.size(), "more line", shown, "line");
    document.say({std::move(table)});
}

void say_native(const Kept& result, const DiffShown& shown, Document& document) {
    TableBlock table;
    table.columns = {right("growth"),
                     right("blocks"),
                     right("before"),
                     right("after"),
                     left("blocks of C code", TextColumn::Fit::middle),
                     left("held by", TextColumn::Fit::middle)};
    mark_sorted(table, shown.sort, {.name = 4});
    table.rows = first_rows(
        result, &GrowthResult::natives, shown.rows, [](const GrowthResult&, const GrownNative& row) {
            return TableRow{
                .cells = {signed_bytes(row.growth()), signed_count(row.count_growth()),
                          ByteCount{row.bytes.front()}, ByteCount{row.bytes.back()}, native_words(row),
                          row.now.leaked * 2 > row.now.count ? Text("leaked") : Text(row.now.held_by)}};
        });
    if (shown.rows != 0) table.rest = rest_of(result->natives.size(), "more row", shown, "native");
    document.say({std::move(table)});
}

void say_memory(const Kept& result, GrowthSort sort, Document& document) {
    TableBlock table;
    table.columns = {right("growth")};
    for (const GrowthResult::Core& core : result->cores) table.columns.push_back(right(FilePath{core.file}));
    table.columns.push_back(left("memory in use", TextColumn::Fit::end));
    mark_sorted(table, sort, {.count = SortedColumns::none, .name = table.columns.size() - 1});
    std::vector<TableRow> rows;
    for (const GrownMemory& row : result->memories) {
        if (std::all_of(row.bytes.begin(), row.bytes.end(), [](std::uint64_t bytes) { return bytes == 0; }))
            continue;
        TableRow cells{.cells = {signed_bytes(row.growth())}};
        for (const std::uint64_t bytes : row.bytes) cells.cells.emplace_back(ByteCount{bytes});
        cells.cells.emplace_back(row.name);
        const std::int64_t change = row.growth() < 0 ? -row.growth() : row.growth();
        cells.detail = change == 0 ? 2 : change * parts_worth_naming < result->whole ? 1 : 0;
        rows.push_back(std::move(cells));
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
}

void say_summary(const Kept& result, const DiffShown& shown, const Text& headline, Document& document) {
    say_cores(*result, document);
    document.say(gap());
    document.say(sentence(Text(headline).bold()));
    say_moved(*result, document);
    document.say(gap());
    say_sums(*result, document);
    if (!result->places.empty()) {
        document.say(gap());
        say_places(result, shown, document);
    }
    if (!result->types.empty()) {
        document.say(gap());
        say_types(result, shown, document);
    }
    if (!result->lines.empty()) {
        document.say(gap());
        say_lines(result, shown, document);
    }
    document.say(gap());
    say_memory(result, GrowthSort::growth, document);
    using Cause = GrowthResult::Cause;
    const HeldRow::Kind kind = result->places.empty() ? HeldRow::Kind::root : result->places.front().kind;
    if (result->cause == Cause::place && kind == HeldRow::Kind::unseen)
        document.say(hint(says("refcounts {}", Text(FilePath{shown.newest}).quoted()),
                          "which counts no reference explains"));
    else if (result->cause == Cause::place && kind != HeldRow::Kind::garbage)
        document.say(
            hint(says("why {} {}", result->places.front().example, Text(FilePath{shown.newest}).quoted()),
                 "the path to one of what is new"));
    else if (result->cause == Cause::place)
        document.say(hint(says("cycles {}", Text(FilePath{shown.newest}).quoted()), "what the garbage is"));
    else if (result->cause == Cause::native)
        document.say(
            hint(says("native {}", Text(FilePath{shown.newest}).quoted()), "the blocks, and who holds them"));
    else if (result->cause == Cause::memory)
        document.say(hint(says("memory {}", Text(FilePath{shown.newest}).quoted()), "who owns each byte"));
    else
        document.say(hint(shown.command + " --by holder", "what changed, row by row"));
}

}  // namespace

Document render_diff(GrowthResult growth, const DiffShown& shown) {
    const Text headline = growth_headline(growth);
    order_growth(growth, shown.sort);
    const auto result = kept(std::move(growth));
    Document document{.command = "diff"};
    add_diff_data(result, shown, headline, document);
    bool empty = false;
    switch (shown.table) {
        case DiffTable::summary:
            say_summary(result, shown, headline, document);
            break;
        case DiffTable::types:
            empty = result->types.empty();
            say_types(result, shown, document);
            break;
        case DiffTable::holders:
            empty = result->held.empty();
            say_rows(result, shown, document);
            break;
        case DiffTable::arrays:
            empty = result->arrays.empty();
            say_arrays(result, shown, document);
            break;
        case DiffTable::native:
            empty = result->natives.empty();
            say_native(result, shown, document);
            break;
        case DiffTable::memory:
            say_memory(result, shown.sort, document);
            break;
        case DiffTable::lines:
            empty = result->lines.empty();
            say_lines(result, shown, document);
            if (!result->traced) {
                document.say(
                    sentence("tracemalloc was not on in all of these cores, so nothing tells which line "
                             "allocated what: PYTHONTRACEMALLOC=1 when the program is started."));
                return document;
            }
            break;
    }
    if (empty) document.say(line("Nothing of that changed."));
    return document;
}

}  // namespace heapsift
