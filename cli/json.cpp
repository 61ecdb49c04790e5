// Writing JSON and CSV.

#include "cli/json.h"

#include "cli/units.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

std::string csv_value(const Json& value) {
    if (value.is_null()) return {};
    if (value.is_string()) return csv_quoted(escape_for_terminal(value.get<std::string>()));
    if (value.is_object()) return csv_value(value.value("address", Json()));
    return csv_quoted(json_text(value));
}

std::string joined(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() && &cell == cells.data() ? "" : ",") + cell;
    return line + "\n";
}

}  // namespace

std::string json_text(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string csv_quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

Json address_json(Address address) { return hexadecimal(address.value); }

std::string csv_line(const Json& row, const std::vector<std::string>& keys) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(csv_value(row.value(key, Json())));
    return joined(cells);
}

std::string csv_heading(const std::vector<std::string>& keys) { return joined(keys); }

}  // namespace heapsift
