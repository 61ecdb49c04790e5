// The table of objects.

#include "cli/render/objects.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

struct ObjectsText {
    const ObjectsResult& result;
    std::function<ObjectRow(ObjectId)> row;
    std::string what;
    SortKey sort;

    std::string table(const Page& page) const {
        using Align = TableColumn::Align;
        Table table(
            {{Align::left, "address"},
             {Align::right, sorted_heading("memory", sort == SortKey::memory)},
             {Align::right, sorted_heading("array data", sort == SortKey::array_data)},
             {Align::right, sorted_heading("size", sort == SortKey::size)},
             {Align::right, "refs"},
             {Align::left, sorted_heading("type", sort == SortKey::name || sort == SortKey::count), TableColumn::Fit::middle},
             {Align::left, "value", TableColumn::Fit::end}});
        for (const ObjectId id : result.objects) {
            const ObjectRow object = row(id);
            table.add({hexadecimal(object.address.value), page.bytes(object.facts.memory),
                       array_data_text(object.facts.array_data, page), page.bytes(object.facts.size), refcount_text(object.facts),
                       type_text(object.type), value_text(object, page.redact())});
        }
        return table.text(page.width, page.colour);
    }

    std::string footer(const Page& page) const {
        std::string text;
        const std::uint64_t more = result.total_count - result.objects.size();
        if (more > 0)
            text = fmt::format(
                "… {} more; {} {} of the memory.", grouped(more),
                result.objects.size() == 1 ? "this one is" : fmt::format("these {} are", grouped(result.objects.size())),
                percent(result.shown_memory, result.total_memory));
        if (more > 0) text = wrapped_with_tail(text, fmt::format("All: add{}", all_rows), page.width, 2) + "\n";
        const std::string total = page.at_least(fmt::format("{}: memory {}; size {}", counted(result.total_count, "object"),
                                                            page.bytes(result.total_memory), page.bytes(result.total_size)));
        return text + wrapped(total, page.width, 2) + "\n";
    }

    std::string operator()(const Page& page) const {
        if (result.objects.empty())
            return wrapped(fmt::format("There are no {} in this core.", escape_for_terminal(what)), page.width, 2) + "\n";
        const std::string address = hexadecimal(row(result.objects.front()).address.value);
        return table(page) + footer(page) + next_line(page, "show " + address);
    }
};

}  // namespace

Answer render_objects(const ObjectsResult& result, std::function<ObjectRow(ObjectId)> row, std::string what, SortKey sort,
                      Redactor& redactor) {
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
