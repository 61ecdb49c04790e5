// Reference counts: the sum, a table of types, and single objects with their holders.

#include "cli/render/refcounts.h"

#include "cli/render/native_end.h"
#include "cli/render/object.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_types = 12, most_objects = 12, most_deficits = 5;
constexpr std::size_t enough_of_holders = 120;  // characters; holders beyond that are not listed

/// True if whatever the counts say was found.
bool is_balanced(const RefcountsResult& result) {
    return result.leaked == 0 && result.explained == result.excess &&
           result.deficit_explained == result.deficit;
}

Text sentence_words(const RefcountsResult& result) {
    if (result.checked == 0) return "This core has none of these that counts its references.";
    if (is_balanced(result)) {
        Text text =
            says("No reference leaked: for all {} objects every reference that Python counted was found",
                 Count{result.checked});
        if (result.excess > 0)
            text += says(" ({} of {} in memory of C code)", Count{result.excess}, Count{result.counted});
        return text + ".";
    }
    Text text = says("Self-check: for {} of the {} objects every reference that Python counted was found.",
                     Share{result.balanced, result.checked}, Count{result.checked});
    if (result.objects == 0)
        text += " No object counts more than was found.";
    else
        text += says(
            " {} on {} {} not found in Python's own memory: C code holds them, or they leaked. For {} of "
            "these a "
            "word was found that may be the holder.",
            how_many(result.excess, "reference"), how_many(result.objects, "object"),
            result.excess == 1 ? "was" : "were", Share{result.explained, result.excess});
    if (result.leaked > 0)
        text += says(" {} {}: no other word of memory in use is the object's address.",
                     Count{result.leaked}, result.leaked == 1 ? "leaked" : "of them leaked");
    if (result.immortal > 0) text += says(" {} more are immortal, and count none.", Count{result.immortal});
    return text;
}

void say_types(const std::vector<RefcountType>& types, bool deficits, Document& document) {
    const std::size_t shown = std::min(deficits ? most_deficits : most_types, types.size());
    TableBlock table;
    table.columns = {right("objects"), right(deficits ? "too many" : "excess", !deficits)};
    if (!deficits) table.columns.push_back(right("held by C code"));
    table.columns.push_back(left("type", TextColumn::Fit::middle));
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < shown; ++i) {
        const RefcountType& type = types[i];
        TableRow row{
            .cells = {Count{type.objects}, Count{static_cast<std::uint64_t>(std::abs(type.excess))}}};
        if (!deficits) row.cells.emplace_back(Count{type.explained});
        row.cells.emplace_back(TypeName{type.name});
        rows.push_back(std::move(row));
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (types.size() > shown)
        document.say(line(says("… {} more types: --json has all", Count{types.size() - shown}), 1));
}

/// "a block of 64 B, hold::Entry 0x55…, held by libhold.so registry", "libfoo.so cache 0x7f…".
Text holder_words(const RefcountHolder& holder) {
    if (holder.by.way.empty()) return says("{} {}", holder.place, holder.word);
    const NativeEnd& place = holder.by.way.front();
    if (!place.is_block) return says("{} {}", place.words.empty() ? holder.place : place.words, holder.word);
    return says("{} {}, {}", end_words(place), holder.word, held_by_words(holder.by));
}

Text holders_words(const RefcountRow& row) {
    std::vector<Text> words;
    std::size_t characters = 0;
    for (const RefcountHolder& holder : row.holders) {
        characters +=
            (words.empty() ? 0 : 2) + holder.place.size() + 1 + hexadecimal(holder.word.value).size();
        words.push_back(holder_words(holder));
        if (characters > enough_of_holders) {
            if (words.size() < row.holders.size())
                words.push_back(says("and {} more", Count{row.holders.size() - words.size()}));
            break;
        }
    }
    if (row.leaked > 0)
        words.push_back(row.leaked == 1 ? Text("nobody: it leaked")
                                        : says("nobody: {} leaked", std::to_string(row.leaked)));
    if (row.open() > 0) words.push_back(says("{} not found", SignedCount{row.open()}));
    return joined(std::move(words), "; ");
}

void say_objects(const RefcountsResult& result, Document& document) {
    using Fit = TextColumn::Fit;
    document.say(line(Text("single objects").bold() + ": those first whose holder was not found"));
    TableBlock table;
    table.columns = {left("address"),         right("counted"),
                     right("found"),          left("type", Fit::middle),
                     left("value", Fit::end), left("the rest is held by", Fit::wrap)};
    const std::size_t shown = std::min(most_objects, result.rows.size());
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < shown; ++i) {
        const RefcountRow& row = result.rows[i];
        rows.push_back(
            {.cells = {row.object.address, references_counted(row.object.facts), SignedCount{row.accounted},
                       TypeName{row.object.type}, value_of(row.object), holders_words(row)}});
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (result.objects > shown)
        document.say(
            line(says("… {} more. All: --json; of one type: --type NAME", Count{result.objects - shown}), 1));
}

Text deficit_words(const RefcountsResult& result) {
    Text text = says("On {} {} found than counted", how_many(result.deficit_objects, "object"),
                     how_many(result.deficit, "reference more was", "references more were"));
    if (result.deficit_explained == result.deficit)
        return text + ": static objects refer to them, as they were compiled, and do not count.";
    if (result.deficit_explained > 0)
        text += says(" ({} by static objects, which do not count)", Count{result.deficit_explained});
    return text + ": pointers that are not held, or bytes that changed while the core was written.";
}

void say_refcounts(const RefcountsResult& result, bool of_type, Document& document) {
    document.say(sentence(sentence_words(result)));
    if (is_balanced(result) && !of_type) {
        document.say(result.types.empty()
                         ? hint("types")
                         : hint(says("refcounts --type {}", shell_quoted(result.types.front().name)),
                                "what C code holds, of one type"));
        return;
    }
    if (result.objects > 0) {
        say_types(result.types, false, document);
        say_objects(result, document);
    }
    if (result.deficit_objects > 0) {
        document.say(sentence(deficit_words(result)));
        say_types(result.deficit_types, true, document);
    }
    document.say(result.rows.empty() ? hint("types")
                                     : hint(says("referrers {}", result.rows.front().object.address),
                                            "the references that were found"));
}

Datum types_data(const std::vector<RefcountType>& types) {
    return Datum::list_of(types, [](const RefcountType& row) {
        return entries({{"name", row.name},
                        {"objects", row.objects},
                        {"excess", row.excess},
                        {"explained", row.explained},
                        {"leaked", row.leaked}});
    });
}

Datum refcount_row_data(const RefcountRow& row) {
    Datum data = object_data(row.object);
    data["accounted"] = row.accounted;
    data["excess"] = row.excess;
    data["leaked"] = row.leaked;
    data["holders"] = Datum::list_of(row.holders, [](const RefcountHolder& holder) {
        Datum one = entries({{"word", holder.word}, {"place", holder.place}});
        if (auto by = holder_data(holder.by)) one["by"] = std::move(*by);
        return one;
    });
    return data;
}

}  // namespace

Document render_refcounts(RefcountsResult refcounts, bool of_type) {
    const auto result = kept(std::move(refcounts));
    Document document{.command = "refcounts", .certain = !result->guesses};
    document.rows_key = "objects";
    document.rows = rows_of<Datum>(result, &RefcountsResult::rows, refcount_row_data);
    document.csv_columns = {"address", "type", "refcount", "accounted", "excess", "value"};
    Datum& data = document.data;
    data["by_type"] = types_data(result->types);
    data["deficits"] = Datum::list_of(result->deficits, refcount_row_data);
    data["deficits_by_type"] = types_data(result->deficit_types);
    data["total"] = entries({{"checked", result->checked},
                             {"balanced", result->balanced},
                             {"immortal", result->immortal},
                             {"counted", result->counted},
                             {"accounted", result->accounted},
                             {"objects", result->objects},
                             {"excess", result->excess},
                             {"explained", result->explained},
                             {"leaked", result->leaked},
                             {"deficit_objects", result->deficit_objects},
                             {"deficit", result->deficit},
                             {"deficit_explained", result->deficit_explained}});
    say_refcounts(*result, of_type, document);
    return document;
}

}  // namespace heapsift
