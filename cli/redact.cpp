// Redaction. Numbers are given in order of first appearance. Output has a fixed order for a given core, so
// two redacted answers about it can be compared.

#include "cli/redact.h"

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heapsift {
namespace {

constexpr std::string_view blanks_and_brackets = " \t\n\"'`()[]{}<>|,;=";

bool begins_path(std::string_view text) {
    return text.starts_with("/") || text.starts_with("./") || text.starts_with("../") ||
           text.starts_with("~/");
}

}  // namespace

std::string literal_type(std::string_view literal) {
    if (literal.empty()) return "value";
    if (literal[0] == '\'' || literal[0] == '"') return "str";
    if (literal.starts_with("b'") || literal.starts_with("b\"")) return "bytes";
    if (literal.starts_with("bytearray(")) return "bytearray";
    if (literal[0] == '(') return "tuple";
    // datetime.date(2024, 1, 2), Color.RED
    if (std::isalpha(static_cast<unsigned char>(literal[0])) || literal[0] == '_') {
        const std::size_t call = literal.find('(');
        const std::string_view name =
            literal.substr(0, call != std::string_view::npos ? call : literal.rfind('.'));
        const bool plain = name.find_first_of(" '\"…") == std::string_view::npos;
        return plain && name.size() < literal.size() ? std::string(name) : "value";
    }
    const bool number = std::isdigit(static_cast<unsigned char>(literal[0])) || literal[0] == '-';
    if (!number) return "value";
    if (literal.ends_with('j')) return "complex";
    return literal.find_first_of(".en") == std::string_view::npos ? "int" : "float";
}

std::size_t Redactor::number_of(const std::string& secret) {
    return numbers_.try_emplace(secret, numbers_.size() + 1).first->second;
}

std::string Redactor::value(const ShortValue& value, std::string_view type) {
    if (active_ && !value.without_values.empty()) return message(value.without_values);
    if (value.kind != ShortValue::Kind::literal)
        return message(value.text);  // "<module 'app' from '/srv/shop/app.py'>"
    if (!active_) return value.text;
    const std::string shown = type.empty() ? literal_type(value.text) : std::string(type);
    return fmt::format("‹{} {} #{}›", shown, value.length,
                       number_of(fmt::format("{}:{}", value.length, value.text)));
}

std::string Redactor::reference_name(const ReferenceStep& step) {
    if (active_ && step.kind == ReferenceStep::Kind::odd_attribute && !step.any)
        return notation(step, value({ShortValue::Kind::literal, step.name, step.number}, "str"));
    return notation(step, step.key ? value(*step.key) : std::string());
}

std::string Redactor::path(std::string_view path) const {
    return std::string(active_ ? base_name(path) : path);
}

std::string Redactor::directory(std::string_view path) {
    return active_ && !path.empty()
               ? fmt::format("‹directory #{}›", number_of("directory:" + std::string(path)))
               : std::string(path);
}

std::string Redactor::arguments(std::string_view arguments) {
    if (!active_ || arguments.empty()) return std::string(arguments);
    return fmt::format("‹arguments {} #{}›", arguments.size(),
                       number_of("arguments:" + std::string(arguments)));
}

void Redactor::know(std::string_view text, const std::string& replacement) {
    if (!active_ || text.empty()) return;
    // As it is, and as messages and hints print it.
    for (const std::string& form : {std::string(text), escape_for_terminal(text), shell_quoted(text)}) {
        const auto entry = std::pair(form, replacement);
        const auto place =
            std::upper_bound(known_.begin(), known_.end(), entry,
                             [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
        known_.insert(place, entry);
    }
}

void Redactor::know_path(std::string_view path) {
    if (path.find('/') != std::string_view::npos) know(path, std::string(base_name(path)));
}

void Redactor::know_directory(std::string_view path) { know(path, directory(path)); }

std::string Redactor::message(std::string_view text) const {
    if (!active_) return std::string(text);
    std::string redacted;
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view rest = text.substr(i);
        const bool starts_word =
            i == 0 || blanks_and_brackets.find(text[i - 1]) != std::string_view::npos || text[i - 1] == ':';
        const auto known =
            !starts_word ? known_.end() : std::find_if(known_.begin(), known_.end(), [&](const auto& entry) {
                return rest.starts_with(entry.first);
            });
        if (known != known_.end()) {
            redacted += known->second;
            i += known->first.size();
        } else if (starts_word && begins_path(rest)) {
            std::string_view path =
                rest.substr(0, std::min(rest.find_first_of(blanks_and_brackets), rest.size()));
            while (path.size() > 1 && (path.ends_with(':') || path.ends_with('.'))) path.remove_suffix(1);
            redacted += base_name(path);
            i += path.size();
        } else {
            redacted += text[i++];
        }
    }
    return redacted;
}

}  // namespace heapsift
