// What identifies something outside the program: UUIDs, paths, network addresses, patterns.
//
// These are classes of the library. A UUID keeps one int of 128 bits; a path keeps its parts (up to 3.11) or the texts
// that it was made of (since 3.12), and its text once somebody asked for it; an address of ipaddress keeps an int.
// (uuid.py, pathlib.py, pathlib/_local.py, ipaddress.py of 3.9 to 3.13; _sre/sre.h)

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::size_t most_path_parts = 64;
constexpr std::size_t address_bytes = 16, digits_of_address = 5;

/// Bytes of an int of at most 128 bits, highest first.
std::optional<std::vector<std::uint8_t>> int_bytes(const PythonHeap& heap, Address object) {
    const auto digits = int_digits(heap, object, digits_of_address);
    if (!digits) return std::nullopt;
    std::vector<std::uint8_t> bytes(address_bytes);
    for (std::size_t bit = 0; bit < 30 * digits->size(); ++bit) {
        if (!((*digits)[bit / 30] >> bit % 30 & 1)) continue;
        if (bit >= 8 * address_bytes) return std::nullopt;
        bytes[address_bytes - 1 - bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
    }
    return bytes;
}

ShortValue uuid(const Describing& of) {
    const auto bytes = int_bytes(of.heap(), stored_attribute(of.object, "int"));
    if (!bytes) return {};
    std::string text = short_name(of.object.type().name) + "('";
    for (std::size_t i = 0; i < address_bytes; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", (*bytes)[i]);
    }
    return whole_literal_value(text + "')");
}

/// a//b/./c is a/b/c; two slashes at the beginning, and not three, stay.
std::string normal_path(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) {
        if (text.starts_with('/')) joined.clear();
        if (!joined.empty() && !joined.ends_with('/')) joined += '/';
        joined += text;
    }
    std::string path;
    if (joined.starts_with("//") && !joined.starts_with("///"))
        path = "//";
    else if (joined.starts_with('/'))
        path = "/";
    const std::size_t root = path.size();
    for (std::size_t at = 0; at < joined.size();) {
        const std::size_t end = std::min(joined.find('/', at), joined.size());
        const std::string_view part = std::string_view(joined).substr(at, end - at);
        if (!part.empty() && part != ".") {
            if (path.size() > root) path += '/';
            path += part;
        }
        at = end + 1;
    }
    return path.empty() ? "." : path;
}

/// The text of a path that nobody asked for yet.
std::optional<std::string> path_text(const Describing& of) {
    const PythonHeap& heap = of.heap();
    if (const auto known = str_value(heap, stored_attribute(of.object, "_str"))) return known;
    const auto texts_of = [&](const char* name) -> std::optional<std::vector<std::string>> {
        const Address list = stored_attribute(of.object, name);
        const FirstItems first = first_items(heap, list, most_path_parts);
        if (list.is_null() || first.items.size() < first.count) return std::nullopt;
        std::vector<std::string> texts;
        for (const Address item : first.items) {
            auto text = str_value(heap, item);
            if (!text) return std::nullopt;
            texts.push_back(std::move(*text));
        }
        return texts;
    };
    const bool windows = of.object.type().name.find("Windows") != std::string::npos;
    if (const auto raw = texts_of("_raw_paths")) {
        if (windows) return std::nullopt;
        return normal_path(*raw);
    }
    auto parts = texts_of("_parts");
    if (!parts) return std::nullopt;
    const auto root = str_value(heap, stored_attribute(of.object, "_root")).value_or("");
    const auto drive = str_value(heap, stored_attribute(of.object, "_drv")).value_or("");
    if (parts->empty()) return ".";
    std::string text;
    if (!root.empty() || !drive.empty()) {
        text = drive + root;
        parts->erase(parts->begin());
    }
    const std::size_t begin = text.size();
    for (const std::string& part : *parts) {
        if (text.size() > begin) text += '/';
        text += part;
    }
    return text;
}

ShortValue path(const Describing& of) {
    auto text = path_text(of);
    if (!text) return {};
    if (of.object.type().name.find("Windows") != std::string::npos)
        std::replace(text->begin(), text->end(), '\\', '/');
    return whole_literal_value(short_name(of.object.type().name) + "(" + quoted_str(*text) + ")");
}

ShortValue ipv4(const Describing& of) {
    const auto number = int_value(of.heap(), stored_attribute(of.object, "_ip"));
    if (!number || *number < 0 || *number > 0xffffffff) return {};
    return whole_literal_value(fmt::format("{}('{}.{}.{}.{}')", short_name(of.object.type().name),
                                           *number >> 24, *number >> 16 & 255, *number >> 8 & 255,
                                           *number & 255));
}

/// The longest run of zeros is left out, the first of several, if it has two or more groups (RFC 5952).
ShortValue ipv6(const Describing& of) {
    const auto bytes = int_bytes(of.heap(), stored_attribute(of.object, "_ip"));
    if (!bytes) return {};
    constexpr std::size_t groups = 8;
    std::vector<unsigned> group;
    for (std::size_t i = 0; i < groups; ++i)
        group.push_back(static_cast<unsigned>((*bytes)[2 * i] << 8 | (*bytes)[2 * i + 1]));
    std::size_t begin = groups, length = 1;
    for (std::size_t i = 0; i < groups; ++i) {
        std::size_t end = i;
        while (end < groups && group[end] == 0) ++end;
        if (end - i > length) begin = i, length = end - i;
    }
    std::string text;
    for (std::size_t i = 0; i < groups; ++i) {
        if (i == begin) {
            text += "::";
            i += length - 1;
            continue;
        }
        if (!text.empty() && !text.ends_with(':')) text += ':';
        text += fmt::format("{:x}", group[i]);
    }
    if (const auto scope = str_value(of.heap(), stored_attribute(of.object, "_scope_id")))
        text += "%" + *scope;
    return whole_literal_value(short_name(of.object.type().name) + "('" + text + "')");
}

/// The flags that the pattern does not have anyway: UNICODE where it is of str (re.py, sre_constants.py).
std::string pattern_flags(std::int32_t flags, bool of_str) {
    static constexpr struct {
        std::int32_t bit;
        const char* name;
    } names[] = {{1, "re.TEMPLATE"},  {2, "re.IGNORECASE"}, {4, "re.LOCALE"},
                 {8, "re.MULTILINE"}, {16, "re.DOTALL"},    {32, "re.UNICODE"},
                 {64, "re.VERBOSE"},  {128, "re.DEBUG"},    {256, "re.ASCII"}};
    constexpr std::int32_t unicode = 32, locale = 4, ascii = 256;
    if (of_str && (flags & (locale | unicode | ascii)) == unicode) flags &= ~unicode;
    std::string text;
    for (const auto& one : names)
        if (flags & one.bit) text += (text.empty() ? "" : "|") + std::string(one.name);
    return text;
}

ShortValue pattern(const Describing& of) {
    const auto& l = of.object.layout().pattern;
    const auto text = object_at(of.heap(), of.object.pointer(l.pattern));
    if (!text) return {};
    ValueText value(of, "re.compile(");
    value.part(text->address());
    const std::string flags = pattern_flags(of.heap().integer<std::int32_t>(of.object.at(*l.pattern + 8)),
                                            of.heap().is_unicode(text->address()));
    if (!flags.empty()) value.add(", " + flags);
    return std::move(value).literal();
}

constexpr ValueRow identifier_rows[] = {{"uuid.UUID", uuid, false},
                                        {"pathlib.PurePath", path, false},
                                        {"pathlib._local.PurePath", path, false},
                                        {"ipaddress.IPv4Address", ipv4, false},
                                        {"ipaddress.IPv6Address", ipv6, false},
                                        {"re.Pattern", pattern},
                                        {"_sre.SRE_Pattern", pattern}};  // 3.6

}  // namespace

std::span<const ValueRow> identifier_values() { return identifier_rows; }

}  // namespace heapsift
