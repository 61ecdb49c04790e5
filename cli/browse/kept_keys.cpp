#include "cli/browse/kept_keys.h"

#include "cli/browse/terminal_state.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace heapsift {
namespace {

/// Bytes of the character that begins so.
std::size_t bytes_of_character(unsigned char first) {
    return first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
}

/// "\x1b[A", "\x1bOA", "\x1b[5~": behind these two bytes, and how many bytes it has; 0 if it is cut.
std::pair<Key::Kind, std::size_t> sequence_of(std::string_view rest) {
    using Kind = Key::Kind;
    std::size_t end = 2;
    while (end < rest.size() && static_cast<unsigned char>(rest[end]) < 0x40) ++end;
    if (end >= rest.size()) return {Kind::none, 0};
    const std::string_view inside = rest.substr(2, end + 1 - 2);
    constexpr std::pair<std::string_view, Kind> known[] = {
        {"A", Kind::up},    {"B", Kind::down},      {"C", Kind::right},    {"D", Kind::left},
        {"H", Kind::home},  {"F", Kind::end},       {"Z", Kind::back_tab}, {"1~", Kind::home},
        {"4~", Kind::end},  {"7~", Kind::home},     {"8~", Kind::end},     {"5~", Kind::page_up},
        {"3~", Kind::back}, {"6~", Kind::page_down}};
    for (const auto& [text, kind] : known)
        if (inside == text) return {kind, end + 1};
    return {Kind::none, end + 1};
}

}  // namespace

std::vector<Key> keys_of_input(const std::string& input) {
    using Kind = Key::Kind;
    std::vector<Key> keys;
    const auto add = [&](Kind kind) { keys.push_back({.kind = kind}); };
    for (std::size_t i = 0; i < input.size();) {
        const char c = input[i];
        if (c == '\x1b' && i + 1 < input.size() && (input[i + 1] == '[' || input[i + 1] == 'O')) {
            const auto [kind, bytes] = sequence_of(std::string_view(input).substr(i));
            if (kind != Kind::none) add(kind);
            if (bytes == 0) break;
            i += bytes;
            continue;
        }
        const std::size_t bytes = bytes_of_character(static_cast<unsigned char>(c));
        if (c == '\r' || c == '\n')
            add(Kind::enter);
        else if (c == '\t')
            add(Kind::tab);
        else if (c == '\x7f' || c == '\b')
            add(Kind::back);
        else if (c == '\x1b')
            add(Kind::escape);
        else if (static_cast<unsigned char>(c) >= ' ' && i + bytes <= input.size())
            keys.push_back({.kind = Kind::character, .text = input.substr(i, bytes)});
        i += bytes;
    }
    return keys;
}

bool KeptKeys::keep(Key key) {
    const auto is = [&](const char* text) { return key.kind == Key::Kind::character && key.text == text; };
    if (key.kind == Key::Kind::none) return false;
    if (key.kind == Key::Kind::escape || (is("q") && !in_prompt_)) return true;
    if (is("/") || is("f") || is("g"))
        in_prompt_ = true;
    else if (key.kind == Key::Kind::enter)
        in_prompt_ = false;
    keys_.push_back(std::move(key));
    return false;
}

Key KeptKeys::take() {
    if (keys_.empty()) return {};
    Key key = std::move(keys_.front());
    keys_.pop_front();
    if (keys_.empty()) in_prompt_ = false;
    return key;
}

void KeptKeys::clear() {
    keys_.clear();
    in_prompt_ = false;
}

EarlyKeys::EarlyKeys() : began_(take_keys_singly()) {}

void EarlyKeys::end() {
    if (std::exchange(began_, false)) restore_terminal();
}

void EarlyKeys::look() {
    constexpr std::size_t most = 4096;
    if (!began_) return;
    std::string input;
    std::array<char, 256> bytes{};
    pollfd waits{STDIN_FILENO, POLLIN, 0};
    while (input.size() < most && ::poll(&waits, 1, 0) == 1 && (waits.revents & POLLIN) != 0) {
        const ssize_t read = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (read <= 0) break;
        input.append(bytes.data(), static_cast<std::size_t>(read));
    }
    for (Key& key : keys_of_input(input)) {
        const bool is_escape = key.kind == Key::Kind::escape;  // there is nothing yet to go back from
        if (!is_escape && keys_.keep(std::move(key))) throw Interrupted();
    }
}

}  // namespace heapsift
