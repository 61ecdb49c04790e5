// systemd, src/coredump/coredump.c: set_xattrs and filename. Attributes and names are text that anybody may have
// written: they are taken as far as they have the expected form.

#include "cli/stored_core.h"

#include "parsers/base/text.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t boot_digits = 32, most_value = 4096;

std::string attribute(const std::string& path, const char* name) {
    std::array<char, most_value> value;
    const ssize_t size = ::getxattr(path.c_str(), name, value.data(), value.size());
    return size <= 0 ? std::string() : std::string(value.data(), static_cast<std::size_t>(size));
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool is_hexadecimal(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

constexpr double microseconds_a_second = 1e6;

}  // namespace

StoredName stored_name(std::string_view file_name) {
    for (const std::string_view ending : {".zst", ".lz4", ".xz", ".gz"})
        if (file_name.ends_with(ending)) file_name.remove_suffix(ending.size());
    std::vector<std::string_view> parts;  // from the last one on
    while (parts.size() < 4) {
        const std::size_t dot = file_name.rfind('.');
        if (dot == std::string_view::npos) return {};
        parts.push_back(file_name.substr(dot + 1));
        file_name = file_name.substr(0, dot);
    }
    const auto microseconds = number_in(parts[0]);
    if (!file_name.starts_with("core.") || !microseconds || !number_in(parts[1]) || !number_in(parts[3]) ||
        parts[2].size() != boot_digits || !is_hexadecimal(parts[2]))
        return {};
    return {std::string(parts[2]), *microseconds};
}

StoredCore stored_core(const std::string& path) {
    StoredCore found;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return found;
    found.host = attribute(path, "user.coredump.hostname");
    found.container = attribute(path, "user.coredump.container_cmdline");
    const StoredName name = stored_name(base_name(path));
    found.boot = name.boot;
    // in microseconds
    if (const auto time = number_in(attribute(path, "user.coredump.timestamp")))
        found.stored = static_cast<double>(*time) / microseconds_a_second;
    else if (name.microseconds > 0)
        found.stored = static_cast<double>(name.microseconds) / microseconds_a_second;
    else
        found.stored =
            static_cast<double>(facts.st_mtim.tv_sec) + static_cast<double>(facts.st_mtim.tv_nsec) / 1e9;
    return found;
}

}  // namespace heapsift
