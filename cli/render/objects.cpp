// The table of objects.

#include "cli/render/objects.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t narrowest_with_size = 100;
constexpr std::string_view legend_text =
    "retained: what would come free if the object went away: it, and all that it alone keeps alive";

struct ObjectsText {
    const ObjectsResult& result;
    std::function<ObjectRow(ObjectId)> row;
    std::string what;
    SortKey sort;

    std::string table(const Page& page) const {
        using Align = TableColumn::Align;
        const bool retained = row(result.objects.front()).retained.has_value();
        // Size says little that memory does not: it is the first to go.
        const bool wide = !retained || page.width == 0 || page.width >= narrowest_with_size;
        const bool size = wide || sort == SortKey::size;
        const bool arrays = wide || sort == SortKey::array_data || has_array_data();
        std::vector<TableColumn> columns{{Align::left, "address"},
                                         {Align::right, sorted_heading("memory", sort == SortKey::memory)}};
        if (arrays)
            columns.push_back({Align::right, sorted_heading("array data", sort == SortKey::array_data)});
        if (size) columns.push_back({Align::right, sorted_heading("size", sort == SortKey::size)});
        if (retained)
            columns.push_back(
                {Align::right, sorted_heading(page.about("retained"), sort == SortKey::retained)});
        columns.push_back({Align::right, "refs"});
        columns.push_back({Align::left,
                           sorted_heading("type", sort == SortKey::name || sort == SortKey::count),
                           TableColumn::Fit::middle});
        columns.push_back({Align::left, "value", TableColumn::Fit::end});
        Table table(std::move(columns));
        for (const ObjectId id : result.objects) {
            const ObjectRow object = row(id);
            std::vector<std::string> cells{hexadecimal(object.address.value),
                                           page.bytes(object.facts.memory)};
            if (arrays) cells.push_back(array_data_text(object.facts.array_data, page));
            if (size) cells.push_back(page.bytes(object.facts.size));
            if (retained) cells.push_back(object.retained ? page.bytes(*object.retained) : "");
            cells.push_back(refcount_text(object.facts));
            cells.push_back(type_text(object.type));
            cells.push_back(value_text(object, page.redact()));
            table.add(std::move(cells));
        }
        return table.text(page.width, page.colour);
    }

    bool has_array_data() const {
        return std::any_of(result.objects.begin(), result.objects.end(),
                           [&](ObjectId object) { return row(object).facts.array_data > 0; });
    }

    std::string footer(const Page& page) const {
        std::string text;
        const std::uint64_t more = result.total_count - result.objects.size();
        if (more > 0)
            text = fmt::format("… {} more; {} {} of the memory.", grouped(more),
                               result.objects.size() == 1
                                   ? "this one is"
                                   : fmt::format("these {} are", grouped(result.objects.size())),
                               percent(result.shown_memory, result.total_memory));
        if (more > 0)
            text = wrapped_with_tail(text, fmt::format("All: add{}", all_rows), page.width, 2) + "\n";
        const std::string total =
            page.at_least(fmt::format("{}: memory {}; size {}", counted(result.total_count, "object"),
                                      page.bytes(result.total_memory), page.bytes(result.total_size)));
        return text + wrapped(total, page.width, 2) + "\n";
    }

    std::string operator()(const Page& page) const {
        if (result.objects.empty())
            return wrapped(fmt::format("There are no {} in this core.", escape_for_terminal(what)),
                           page.width, 2) +
                   "\n";
        const ObjectRow first = row(result.objects.front());
        const std::string legend =
            first.retained ? wrapped(legend_text, page.width, 2) + "\n" : std::string();
        return table(page) + footer(page) + legend +
               next_line(page, "show " + hexadecimal(first.address.value));
    }
};

}  // namespace

Answer render_objects(const ObjectsResult& result, std::function<ObjectRow(ObjectId)> row, std::string what,
                      SortKey sort, Redactor& redactor) {
    Answer answer;
    answer.command = "objects";
    answer.rows_key = "objects";
    answer.rows = [&result, &redactor, row](const RowVisitor& visit) {
        for (const ObjectId object : result.objects) visit(object_json(row(object), redactor));
    };
    answer.csv_columns = {"address",  "type",       "size",  "memory",     "array_data", "retained",
                          "refcount", "gc_tracked", "state", "references", "value"};
    answer.data["total"] = {{"count", result.total_count},
                            {"size", result.total_size},
                            {"memory", result.total_memory},
                            {"shown_memory", result.shown_memory}};
    answer.text = ObjectsText{result, std::move(row), std::move(what), sort};
    return answer;
}

}  // namespace heapsift
