// Numbers are printed as they are: what SQL computed is not known to be bytes or a count. A column of a table that holds
// addresses is printed as such; what is computed of one is a number again.

#include "cli/render/query.h"

#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace heapsift {
namespace {

std::string in_hexadecimal(const std::string& bytes) {
    std::string text = "x'";
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text + "'";
}

Text text_of_cell(const SqlCell& cell, bool is_address) {
    if (const auto* number = std::get_if<std::int64_t>(&cell))
        return is_address ? Text(Address(static_cast<std::uint64_t>(*number)))
                          : Text(fmt::format("{}", *number));
    if (const auto* fraction = std::get_if<double>(&cell)) return fmt::format("{:.15g}", *fraction);
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* blob = std::get_if<SqlBlob>(&cell)) return in_hexadecimal(blob->bytes);
    return "–";
}

std::vector<std::string> different_names(const QueryColumns& columns) {
    std::vector<std::string> names;
    std::set<std::string> taken;
    for (const SqlQuery::Column& column : columns) {
        const std::string escaped = escape_for_terminal(column.name);
        std::string name = escaped;
        for (int number = 2; !taken.insert(name).second; ++number)
            name = fmt::format("{}_{}", escaped, number);
        names.push_back(std::move(name));
    }
    return names;
}

/// Whether each cell of a column is a number or NULL, and some are numbers.
std::vector<bool> columns_of_numbers(const QueryResult& result) {
    std::vector<bool> numbers(result.columns.size()), others(result.columns.size());
    result.rows->for_each([&](const std::vector<SqlCell>& row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_number =
                std::holds_alternative<std::int64_t>(row[i]) || std::holds_alternative<double>(row[i]);
            if (is_number)
                numbers[i] = true;
            else if (!std::holds_alternative<std::monostate>(row[i]))
                others[i] = true;
        }
    });
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = numbers[i] && !others[i] && !result.columns[i].is_address;
    return numbers;
}

}  // namespace

Datum query_datum(const SqlCell& cell, bool is_address) {
    if (const auto* number = std::get_if<std::int64_t>(&cell))
        return is_address ? Datum(Address(static_cast<std::uint64_t>(*number))) : Datum(*number);
    if (const auto* fraction = std::get_if<double>(&cell))  // JSON has no infinity
        return std::isfinite(*fraction) ? Datum(*fraction) : Datum();
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* blob = std::get_if<SqlBlob>(&cell)) return in_hexadecimal(blob->bytes);
    return {};
}

Document render_query_table(const QueryResult& result) {
    Document document{.command = "query"};
    if (result.rows->size() == 0) {
        document.say(line("The query gives no row."));
        return document;
    }
    const std::vector<bool> numbers = columns_of_numbers(result);
    TableBlock table;
    for (std::size_t i = 0; i < result.columns.size(); ++i)
        table.columns.push_back(numbers[i] ? right(result.columns[i].name)
                                           : left(result.columns[i].name, result.columns[i].is_address
                                                                              ? TextColumn::Fit::whole
                                                                              : TextColumn::Fit::end));
    table.rows = [result](const std::function<void(const TableRow&)>& visit) {
        TableRow shown;
        result.rows->for_each([&](const std::vector<SqlCell>& row) {
            shown.cells.clear();
            for (std::size_t i = 0; i < row.size(); ++i)
                shown.cells.push_back(text_of_cell(row[i], result.columns[i].is_address));
            visit(shown);
        });
    };
    document.say({std::move(table)});
    if (result.more) document.say(line(says("… more rows; all: add{}", all_rows)));
    return document;
}

Document render_query_json(const QueryResult& result) {
    Document document{.command = "query"};
    document.rows_key = "rows";
    document.rows = [result](const std::function<void(const Datum&)>& visit) {
        result.rows->for_each([&](const std::vector<SqlCell>& row) {
            Datum list = Datum::list(row.size());
            for (std::size_t i = 0; i < row.size(); ++i)
                list.push_back(query_datum(row[i], result.columns[i].is_address));
            visit(list);
        });
    };
    document.data["columns"] =
        Datum::list_of(result.columns, [](const SqlQuery::Column& column) { return Datum(column.name); });
    document.data["more"] = result.more;
    return document;
}

Document render_query_rows(const QueryColumns& columns, RowsOf<std::vector<SqlCell>> rows) {
    Document document{.command = "query"};
    document.rows_key = "rows";
    document.csv_columns = different_names(columns);
    document.rows = [columns, names = document.csv_columns,
                     rows = std::move(rows)](const std::function<void(const Datum&)>& visit) {
        rows([&](const std::vector<SqlCell>& row) {
            Datum::Entries entries;
            entries.reserve(row.size());
            for (std::size_t i = 0; i < row.size(); ++i)
                entries.push_back({names[i], query_datum(row[i], columns[i].is_address)});
            visit(Datum(std::move(entries)));
        });
    };
    return document;
}

}  // namespace heapsift
