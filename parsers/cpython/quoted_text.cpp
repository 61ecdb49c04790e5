// The quotes, and the characters that cannot stand between them as they are. (unicodeobject.c, unicode_repr)

#include "parsers/cpython/quoted_text.h"

#include <fmt/format.h>

namespace heapsift {

std::string quoted_text(std::string_view utf8, bool cut, std::string_view prefix) {
    const char quote =
        utf8.find('\'') != std::string_view::npos && utf8.find('"') == std::string_view::npos ? '"' : '\'';
    std::string out(prefix);
    out += quote;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const char c = utf8[i];
        const auto byte = static_cast<unsigned char>(c);
        auto next = [&](std::size_t k) {
            return static_cast<unsigned char>(i + k < utf8.size() ? utf8[i + k] : 0);
        };
        if (byte == 0xed && next(1) >= 0xa0) {  // a lone surrogate, which is not valid UTF-8
            out += fmt::format("\\u{:04x}", 0xd000U | (next(1) & 0x3fU) << 6 | (next(2) & 0x3fU));
            i += 2;
            continue;
        }
        if (c == quote || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    if (cut) out += "…";
    return out + quote;
}

}  // namespace heapsift
