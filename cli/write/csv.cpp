#include "cli/write/csv.h"

#include "cli/json.h"
#include "cli/units.h"
#include "cli/write/json.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

std::string csv_of(const Datum* datum, Redactor& redactor) {
    if (!datum || datum->is_null()) return {};
    if (std::holds_alternative<Datum::Entries>(datum->content()))
        return csv_of(datum->find("address"), redactor);
    if (const auto* text = std::get_if<std::string>(&datum->content()))
        return csv_quoted(escape_for_terminal(*text));
    if (const auto* text = std::get_if<std::shared_ptr<const Datum::Long>>(&datum->content()))
        return csv_quoted(escape_for_terminal(long_text(**text, redactor)));
    if (const auto* address = std::get_if<Address>(&datum->content())) return hexadecimal(address->value);
    return csv_quoted(json_text(*datum, redactor));
}

}  // namespace

std::string csv_line(const Datum& row, const std::vector<std::string>& keys, Redactor& redactor) {
    std::string line;
    for (const std::string& key : keys)
        line += (&key == keys.data() ? "" : ",") + csv_of(row.find(key), redactor);
    return line + "\n";
}

void write_csv(const Document& document, Redactor& redactor,
               const std::function<void(std::string_view)>& write) {
    write(csv_heading(document.csv_columns));
    document.rows([&](const Datum& row) { write(csv_line(row, document.csv_columns, redactor)); });
}

}  // namespace heapsift
