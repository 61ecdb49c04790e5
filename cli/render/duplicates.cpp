// Values with many copies. The first sentence says what can be saved and who holds most of it; then come the
// types, at most three, and one table.

#include "cli/render/duplicates.h"

#include "cli/render/object.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_types_said = 3, fewest_values = 8, narrowest_with_fix_of_value = 120;
constexpr std::uint64_t share_worth_saying = 20;  // of the total, one in so many

Text duplicates_words(const DuplicatesResult& result) {
    Text text =
        at_least() + says("{} could be saved by sharing equal values.", ByteCount{result.total_saves});
    if (!result.by_holder.empty())
        text += says(" The largest part, {}, is held as {}.", ByteCount{result.by_holder.front().saves},
                     held_as_words(result.by_holder.front()));
    return std::move(text).bold();
}

Text type_words(const DuplicateType& type) {
    return at_least() + says("{} {} are {} different values: sharing them would save {}.", Count{type.count},
                             heapsift::type_words(type.name, type.count), Count{type.values},
                             ByteCount{type.saves});
}

/// As short as can be: for a row of a table.
const char* short_fix_words(DuplicateFix fix) {
    switch (fix) {
        case DuplicateFix::intern:
            return "sys.intern";
        case DuplicateFix::category:
            return "a categorical column";
        case DuplicateFix::numeric_column:
            return "a dtype of numbers";
        case DuplicateFix::number_array:
            return "array.array";
        case DuplicateFix::one_number:
        case DuplicateFix::one_object:
            return "known.setdefault";
        case DuplicateFix::one_array:
            return "one array";
        case DuplicateFix::collect:
            break;
    }
    return "gc.collect()";
}

Text copies_held_words(const DuplicateRow& row, bool more) {
    if (row.holders.empty()) return {};
    Text text = held_as_words(row.holders.front());
    if (row.holders.size() > 1 || more)
        text += says(" and {}", more ? Text("others") : says("{} more", Count{row.holders.size() - 1}));
    return text;
}

Block values_table(const std::shared_ptr<const DuplicatesResult>& result,
                   const std::function<DuplicateRow(const DuplicateValue&)>& row) {
    using Fit = TextColumn::Fit;
    TableBlock table;
    table.columns = {right("copies"),
                     right("memory"),
                     right(at_least() + "saves", true),
                     left("type", Fit::middle),
                     left("value", Fit::end),
                     left("held as", Fit::middle),
                     left("fix")};
    table.columns.back().narrow_page = narrowest_with_fix_of_value;
    table.fewest = fewest_values;
    table.rows = rows_of<TableRow>(result, &DuplicatesResult::values, [row](const DuplicateValue& value) {
        const DuplicateRow shown = row(value);
        return TableRow{
            .cells = {Count{value.count}, ByteCount{value.memory}, ByteCount{value.saves},
                      TypeName{shown.type}, Value{.value = shown.value, .type = shown.type, .widest = 40},
                      copies_held_words(shown, value.more_holders), short_fix_words(value.fix)},
            .bytes = value.saves};
    });
    table.rest = TableRest{.rows = result->total_values,
                           .singular = "more value",
                           .bytes = result->total_saves,
                           .of = "what could be saved",
                           .all = CommandLine{std::string("duplicates") + all_rows}};
    return {std::move(table)};
}

Datum copy_holder_data(const HolderCount& holder) {
    return entries({{"holder", or_null(holder.holder)},
                    {"attribute", or_null(holder.attribute)},
                    {"count", holder.count}});
}

Datum value_data(const DuplicateValue& value, const DuplicateRow& row) {
    return entries({{"type", row.type},
                    {"count", value.count},
                    {"size", value.size},
                    {"bytes", value.memory},
                    {"saves", value.saves},
                    {"value", Value{.value = row.value, .type = row.type}},
                    {"address", row.address},
                    {"holders", Datum::list_of(row.holders, copy_holder_data)},
                    {"more_holders", value.more_holders},
                    {"fix", name_of(value.fix)},
                    {"fix_words", fix_words(value.fix)}});
}

Datum duplicate_types_data(const std::vector<DuplicateType>& types) {
    return Datum::list_of(types, [](const DuplicateType& type) {
        return entries({{"type", type.name},
                        {"count", type.count},
                        {"values", type.values},
                        {"duplicated", type.duplicated},
                        {"size", type.size},
                        {"bytes", type.memory},
                        {"saves", type.saves}});
    });
}

void say_duplicates(const std::shared_ptr<const DuplicatesResult>& result,
                    const std::function<DuplicateRow(const DuplicateValue&)>& row, Document& document) {
    if (result->values.empty()) {
        document.say(sentence("No two values of this core are equal: there is nothing to share."));
        document.say(hint("waste", "other memory that could be saved"));
        return;
    }
    document.say(sentence(duplicates_words(*result)));
    for (std::size_t i = 0; i < std::min(most_types_said, result->types.size()); ++i)
        if (i == 0 || result->types[i].saves >= result->total_saves / share_worth_saying)
            document.say(line(type_words(result->types[i])));
    document.say(values_table(result, row));
    document.say(
        sentence("saves: the memory of all copies but the largest. Held as: the holder of most of them."));
    document.say(sentence(says("fix for the first: {}", fix_words(result->values.front().fix))));
    if (result->unread > 0)
        document.say(line(says("{} not compared: their bytes are not in the core, or damaged.",
                               how_many(result->unread, "value was", "values were"))));
    document.say(
        hint(says("why {}", row(result->values.front()).address), "the path to one of the first row"));
}

}  // namespace

Text held_as_words(const HolderCount& holder) {
    if (holder.holder.empty() && holder.attribute.empty()) return "garbage";
    Text text = holder.holder;
    if (holder.attribute.empty()) return text;
    if (!holder.joined && !holder.nameless) text += ".";
    return text + holder.attribute;
}

const char* fix_words(DuplicateFix fix) {
    switch (fix) {
        case DuplicateFix::intern:
            return "text = sys.intern(text) where it is read or made; repeated keys and names need one copy";
        case DuplicateFix::category:
            return "make the column a categorical one: frame[column].astype('category')";
        case DuplicateFix::numeric_column:
            return "give the column or array a dtype of numbers instead of object: .astype('float64')";
        case DuplicateFix::number_array:
            return "hold numbers in array.array or numpy.array instead of a list: 8 bytes each, no objects";
        case DuplicateFix::one_number:
            return "look the number up in a dict when it is made: number = known.setdefault(number, number)";
        case DuplicateFix::one_object:
            return "look the value up in a dict when it is made: value = known.setdefault(value, value)";
        case DuplicateFix::one_array:
            return "share one array, and call its setflags(write=False) so that nobody changes it for all";
        case DuplicateFix::collect:
            break;
    }
    return "nothing reaches most of them: gc.collect() frees them";
}

const char* name_of(DuplicateFix fix) {
    switch (fix) {
        case DuplicateFix::intern:
            return "intern";
        case DuplicateFix::category:
            return "category";
        case DuplicateFix::numeric_column:
            return "numeric_column";
        case DuplicateFix::number_array:
            return "number_array";
        case DuplicateFix::one_number:
            return "one_number";
        case DuplicateFix::one_object:
            return "one_object";
        case DuplicateFix::one_array:
            return "one_array";
        case DuplicateFix::collect:
            break;
    }
    return "collect";
}

Document render_duplicates(const std::shared_ptr<const DuplicatesResult>& result,
                           const std::function<DuplicateRow(const DuplicateValue&)>& row) {
    Document document{.command = "duplicates"};
    document.rows_key = "values";
    document.rows = rows_of<Datum>(result, &DuplicatesResult::values, [row](const DuplicateValue& value) {
        return value_data(value, row(value));
    });
    document.csv_columns = {"type", "count", "size", "bytes", "saves", "value", "address", "fix"};
    document.data["types"] = duplicate_types_data(result->types);
    document.data["by_holder"] = Datum::list_of(result->by_holder, [](const HolderCount& holder) {
        Datum data = copy_holder_data(holder);
        data["saves"] = holder.saves;
        return data;
    });
    document.data["total"] = entries({{"values", result->total_values},
                                      {"count", result->total_count},
                                      {"size", result->total_size},
                                      {"bytes", result->total_memory},
                                      {"saves", result->total_saves},
                                      {"shown_saves", result->shown_saves},
                                      {"looked_at", result->looked_at},
                                      {"constants", result->constants},
                                      {"unread", result->unread},
                                      {"unequal", result->unequal}});
    say_duplicates(result, row, document);
    return document;
}

}  // namespace heapsift
