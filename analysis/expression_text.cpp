// Compares names with what was typed. A name as it is printed always matches itself, whatever it contains;
// only otherwise are its keys compared by meaning.

#include "analysis/expression_text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::string_view hexadecimal_digits = "0123456789abcdefABCDEF";
constexpr std::size_t least_bare_digits = 8, most_hexadecimal_digits = 16;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80);
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_identifier(char c) { return is_letter(c) || is_digit(c); }

bool ends_there(std::string_view name, std::string_view rest) {
    return name.empty() || rest.empty() || !in_identifier(name.back()) || !in_identifier(rest.front());
}

/// The end of the quotes that open at `at`, behind the closing ones; nothing if they are not closed.
std::optional<std::size_t> end_of_quotes(std::string_view text, std::size_t at) {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] == '\\')
            ++i;
        else if (text[i] == text[at])
            return i + 1;
    }
    return std::nullopt;
}

/// A quote inside a word is an apostrophe; after a prefix it is a quote: it's, b'x'.
bool opens_quotes(std::string_view text, std::size_t at) {
    std::size_t letters = 0;
    while (letters < at && in_identifier(text[at - letters - 1])) ++letters;
    return letters <= 2 &&
           text.substr(at - letters, letters).find_first_not_of("bBrRuU") == std::string_view::npos;
}

std::optional<std::size_t> end_of_bracket(std::string_view text, bool quotes_count) {
    std::size_t open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quotes_count && (c == '\'' || c == '"') && opens_quotes(text, i)) {
            const auto end = end_of_quotes(text, i);
            if (!end) return std::nullopt;
            i = *end - 1;
        } else if (c == '[' || c == '(') {
            ++open;
        } else if ((c == ']' || c == ')') && --open == 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

bool same_content(std::string_view name, std::string_view typed, bool unquoted) {
    if (name == typed) return true;
    const auto key = whole_literal(name);
    if (!key) return false;
    if (const auto literal = whole_literal(typed); literal && means_the_same(*key, *literal)) return true;
    if (!unquoted) return false;
    if (key->kind == Literal::Kind::text && key->text == typed) return true;
    const auto words = whole_literal(typed, true);
    return words && means_the_same(*key, *words);
}

std::size_t end_of_dotted_name(std::string_view text) {
    std::size_t end = identifier_length(text);
    while (text.substr(end).starts_with('.')) {
        const std::size_t more = identifier_length(text.substr(end + 1));
        if (more == 0) break;
        end += 1 + more;
    }
    return end;
}

constexpr std::string_view key_word = "key ";

std::optional<std::size_t> match_key(std::string_view name, std::string_view typed, bool unquoted) {
    const auto key = whole_literal(name.substr(key_word.size()));
    const auto literal = literal_at_start(typed.substr(key_word.size()), unquoted);
    if (!key || !literal || !means_the_same(*key, literal->literal)) return std::nullopt;
    return key_word.size() + literal->length;
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::size_t identifier_length(std::string_view text) {
    if (text.empty() || !is_letter(text.front())) return 0;
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_identifier) - text.begin());
}

std::optional<Bracket> bracket_at_start(std::string_view text) {
    auto end = end_of_bracket(text, true);
    if (!end) end = end_of_bracket(text, false);  // [it's], [5" disk]
    if (!end) return std::nullopt;
    return Bracket{without_blanks(text.substr(1, *end - 2)), *end};
}

std::optional<std::size_t> match_name(std::string_view name, std::string_view typed, bool unquoted) {
    if (!name.empty() && typed.starts_with(name) && ends_there(name, typed.substr(name.size())))
        return name.size();
    if (name.starts_with(key_word))
        return typed.starts_with(key_word) ? match_key(name, typed, unquoted) : std::nullopt;
    if (name.find('[') == std::string_view::npos) return std::nullopt;
    std::size_t at = 0;
    for (std::size_t i = 0; i < name.size();) {
        if (at >= typed.size() || name[i] != typed[at]) return std::nullopt;
        if (name[i] != '[') {
            ++i, ++at;
            continue;
        }
        const auto known = bracket_at_start(name.substr(i)), given = bracket_at_start(typed.substr(at));
        if (!known || !given || !same_content(known->content, given->content, unquoted)) return std::nullopt;
        i += known->length;
        at += given->length;
    }
    return ends_there(name, typed.substr(at)) ? std::optional(at) : std::nullopt;
}

std::string_view first_step(std::string_view typed) {
    if (typed.empty()) return typed;
    if (typed.front() == '[' || typed.front() == '(') {
        const auto bracket = bracket_at_start(typed);
        return bracket ? typed.substr(0, bracket->length) : typed;
    }
    const std::size_t dot = typed.front() == '.' ? 1 : 0;
    if (typed.substr(dot).starts_with('<'))
        return typed.substr(0, std::min(typed.find('>', dot), typed.size() - 1) + 1);
    const std::size_t length = identifier_length(typed.substr(dot));
    return length == 0 || typed.starts_with(key_word) ? typed : typed.substr(0, dot + length);
}

std::size_t address_length(std::string_view text) {
    std::size_t length = 0;
    if (text.starts_with('<')) {
        std::size_t open = 0;
        for (std::size_t i = 0; i < text.size() && length == 0; ++i) {
            if (text[i] == '<') ++open;
            if (text[i] == '>' && --open == 0) length = i + 1;
        }
        const std::size_t first = text.find("0x");
        return first < length && text.find("0x", first + 2) >= length ? length : 0;
    }
    const std::size_t prefix = text.starts_with("0x") || text.starts_with("0X") ? 2 : 0;
    const std::string_view digits = text.substr(prefix);
    const std::size_t count = std::min(digits.find_first_not_of(hexadecimal_digits), digits.size());
    if (prefix == 0 && (count < least_bare_digits || !is_digit(digits.front()))) return 0;
    if (count == 0 || count > most_hexadecimal_digits) return 0;
    length = prefix + count;
    const std::string_view rest = text.substr(length);
    return rest.empty() || !in_identifier(rest.front()) || rest.starts_with(key_word) ? length : 0;
}

std::string_view first_address(std::string_view text) {
    for (const std::string_view word : {"threadlocal(", "generator("})
        if (text.starts_with(word)) {
            const auto bracket = bracket_at_start(text.substr(word.size() - 1));
            return bracket && address_length(bracket->content) == bracket->content.size()
                       ? bracket->content
                       : std::string_view();
        }
    return text.substr(0, address_length(text));
}

std::string expression_problem(std::string_view typed) {
    const std::string_view text = without_blanks(typed);
    if (text.empty()) return "nothing is there";
    if (text.front() == '<' && text.find("()") == std::string_view::npos && address_length(text) == 0)
        return "a pasted object is <... at 0x...>, with one address";
    if (text.front() != '<' && !is_letter(text.front()) && address_length(text) == 0)
        return is_digit(text.front())
                   ? "an address is 0x and at most 16 hexadecimal digits"
                   : "it begins with a name or an address, such as app.CACHE or 0x7f31c2a4d5e0";
    if (text.back() == '.') return "a name is missing after the last dot";
    if (text.starts_with("thread(") && !text.starts_with("thread()"))
        if (const auto name = bracket_at_start(text.substr(6));
            name && !text.substr(6 + name->length).starts_with('.'))
            return "a function of the thread is missing, as in thread('MainThread').main()";
    if (is_letter(text.front())) {
        const std::size_t end = end_of_dotted_name(text);
        if (text.substr(end).starts_with('.') && !text.substr(end).starts_with(".<"))
            return "a name is missing after a dot";
        if (end < text.size() && std::string_view(".[( ").find(text[end]) == std::string_view::npos)
            return "after a name comes a dot, a bracket or a parenthesis";
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] == '\'' || text[i] == '"') && opens_quotes(text, i))
            i = end_of_quotes(text, i).value_or(i + 1) - 1;
        if (text[i] != '[' && text[i] != '(') continue;
        const auto bracket = bracket_at_start(text.substr(i));
        if (!bracket)
            return text[i] == '[' ? "a bracket is not closed: quote it for the shell"
                                  : "a parenthesis is not closed";
        if (text[i] == '[' && bracket->content.empty()) return "a key is missing between brackets";
        i += bracket->length - 1;
    }
    return {};
}

}  // namespace heapsift
