
#include "cli/json.h"

#include "cli/units.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

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

std::string csv_heading(const std::vector<std::string>& keys) { return joined(keys); }

}  // namespace heapsift
