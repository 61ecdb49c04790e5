
#include "cli/json.h"

#include "cli/units.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

std::string joined(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() && &cell == cells.data() ? "" : ",") + cell;
    return line + "\n";
}

/// A character that a string of ASCII does not hold as it is.
void add_escaped(std::string& out, char32_t character) {
    const auto unit = [&](char32_t code) {
        constexpr std::string_view digits = "0123456789abcdef";
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) out += digits[code >> shift & 0xf];
    };
    constexpr std::string_view named = "\b\t\n\f\r\"\\", names = "btnfr\"\\";
    const std::size_t name = character < 0x80 ? named.find(static_cast<char>(character)) : named.npos;
    if (name != named.npos) {
        out += '\\';
        out += names[name];
    } else if (character < 0x10000) {
        unit(character);
    } else {
        unit(0xd800 + ((character - 0x10000) >> 10));
        unit(0xdc00 + (character & 0x3ff));
    }
}

}  // namespace

std::string json_text(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

void add_json_string(std::string& out, std::string_view text) {
    const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    const std::size_t begin = out.size();
    if (std::all_of(text.begin(), text.end(), is_plain)) {
        out.resize(begin + text.size() + 2);
        out[begin] = out.back() = '"';
        std::copy(text.begin(), text.end(), out.data() + begin + 1);
        return;
    }
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        std::size_t plain = i;
        while (plain < text.size() && is_plain(text[plain])) ++plain;
        out.append(text, i, plain - i);
        i = plain;
        if (i == text.size()) break;
        const DecodedCharacter character = decode_utf8(text.substr(i));
        if (!character.valid) {  // the library knows how much of it becomes U+FFFD
            out.resize(begin);
            out += json_text(Json(text));
            return;
        }
        add_escaped(out, character.value);
        i += character.bytes;
    }
    out += '"';
}

std::string csv_quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

Json address_json(Address address) { return hexadecimal(address.value); }

std::string csv_heading(const std::vector<std::string>& keys) { return joined(keys); }

}  // namespace heapsift
