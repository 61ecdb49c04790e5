// A core says of its process what it was, but not when it was taken: the kernel has no note for that, and the file's own time
// is that of its last copy. So `heapsift capture` adds a note of its own, which other readers skip: lines of NAME=VALUE, in
// ASCII, that a person who dumps the notes can read as well.

#include "parsers/elf/capture_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heapsift {
namespace {

constexpr std::size_t longest_capture_note = 1024;
constexpr std::size_t longest_version = 31;
constexpr std::uint64_t end_of_9999 = 253402300799;  // in seconds since 1970

bool is_version(std::string_view text) {
    return !text.empty() && text.size() <= longest_version &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '-' || c == '+';
           });
}

}  // namespace

std::string capture_note(const CaptureFacts& facts) {
    return fmt::format("version={}\ntime={}\nstood_ns={}\nmethod={}\nchanged_pages={}\n", facts.version,
                       facts.seconds, facts.stood_nanoseconds, facts.by_fork ? "fork" : "copy",
                       facts.changed_pages);
}

std::optional<CaptureFacts> read_capture_note(Bytes content) {
    if (content.size() > longest_capture_note) return std::nullopt;
    std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    CaptureFacts facts;
    bool has_time = false;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const std::string_view name = line.substr(0, equals), value = line.substr(equals + 1);
        const auto number = [&](std::uint64_t& to) {
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), to);
            return error == std::errc() && end == value.data() + value.size();
        };
        bool good = true;
        if (name == "version") {
            good = is_version(value);
            facts.version = value;
        } else if (name == "time") {
            good = has_time = number(facts.seconds) && facts.seconds <= end_of_9999;
        } else if (name == "stood_ns") {
            good = number(facts.stood_nanoseconds);
        } else if (name == "method") {
            facts.by_fork = value == "fork";
        } else if (name == "changed_pages") {
            good = number(facts.changed_pages);
        }
        if (!good) return std::nullopt;
    }
    return has_time ? std::optional(std::move(facts)) : std::nullopt;
}

}  // namespace heapsift
