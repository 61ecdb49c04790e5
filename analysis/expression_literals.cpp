// Python literals. No text is too long and no parenthesis too deep: either somebody typed it, or it is a
// printed key.

#include "analysis/expression_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heapsift {
namespace {

constexpr int deepest_tuple = 50;
constexpr std::uint32_t limb_bits = 30;
constexpr std::string_view local_classes = "<locals>";

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

int digit_value(char c) {
    if (is_decimal_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

void append_code_point(std::string& out, std::uint32_t c) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xc0 | c >> 6);
        put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        put(0xe0 | c >> 12);
        put(0x80 | (c >> 6 & 0x3f));
        put(0x80 | (c & 0x3f));
    } else {
        put(0xf0 | (c >> 18 & 7));
        put(0x80 | (c >> 12 & 0x3f));
        put(0x80 | (c >> 6 & 0x3f));
        put(0x80 | (c & 0x3f));
    }
}

/// Digits to limbs; false if one is not a digit of the base.
bool read_limbs(std::string_view digits, int base, std::vector<std::uint32_t>& limbs) {
    bool any = false;
    for (const char c : digits) {
        if (c == '_') continue;
        const int value = digit_value(c);
        if (value >= base) return false;
        any = true;
        std::uint64_t carry = static_cast<std::uint64_t>(value);
        for (std::uint32_t& limb : limbs) {
            carry += std::uint64_t{limb} * static_cast<std::uint64_t>(base);
            limb = static_cast<std::uint32_t>(carry & ((1U << limb_bits) - 1));
            carry >>= limb_bits;
        }
        if (carry > 0) limbs.push_back(static_cast<std::uint32_t>(carry));
    }
    return any;
}

class Parser {
public:
    Parser(std::string_view text, bool unquoted) : text_(text), unquoted_(unquoted) {}

    std::size_t at() const { return at_; }
    bool ended() const { return at_ == text_.size(); }
    void skip_blanks() {
        while (!ended() && text_[at_] == ' ') ++at_;
    }

    std::optional<Literal> value(int depth) {
        skip_blanks();
        if (ended() || depth > deepest_tuple) return std::nullopt;
        const char c = text_[at_];
        if (c == '(') return parenthesised(depth);
        if (is_decimal_digit(c) || c == '-' || c == '+' || c == '.') {
            if (text_.substr(at_, 3) == "...") return word(3, Literal::Kind::ellipsis);
            return number();
        }
        if (const auto quote = quote_at()) return string(*quote);
        if (c == '[' || c == '{') return display(c == '[' ? ']' : '}', depth);
        if (c == '<') return verbatim();
        return bare_word(depth);
    }

    /// Values separated by commas, up to `end` or the end of the text ('\0'). A single value without a comma
    /// is that value.
    std::optional<Literal> values(char end, int depth) {
        Literal tuple;
        tuple.kind = Literal::Kind::tuple;
        bool comma = false;
        for (;;) {
            skip_blanks();
            if (ended() ? end == '\0' : text_[at_] == end) break;
            if (!tuple.items.empty() && !comma) return std::nullopt;
            auto item = value(depth + 1);
            if (!item) return std::nullopt;
            tuple.items.push_back(std::move(*item));
            skip_blanks();
            comma = !ended() && text_[at_] == ',';
            if (comma) ++at_;
        }
        if (end != '\0') ++at_;
        if (tuple.items.size() == 1 && !comma) return std::move(tuple.items.front());
        if (tuple.items.empty() && end == '\0') return std::nullopt;
        return tuple;
    }

private:
    std::optional<Literal> parenthesised(int depth) {
        ++at_;
        return values(')', depth);
    }

    std::optional<Literal> word(std::size_t length, Literal::Kind kind) {
        at_ += length;
        Literal literal;
        literal.kind = kind;
        return literal;
    }

    /// "Order", "make.<locals>.Order"; 0 for no name.
    std::size_t dotted_length() const {
        std::size_t length = identifier_length(text_.substr(at_));
        while (length > 0 && text_.substr(at_ + length).starts_with('.')) {
            const std::string_view rest = text_.substr(at_ + length + 1);
            const std::size_t more =
                rest.starts_with(local_classes) ? local_classes.size() : identifier_length(rest);
            if (more == 0) break;
            length += 1 + more;
        }
        return length;
    }

    std::optional<Literal> bare_word(int depth) {
        const std::size_t length = dotted_length();
        const std::string_view name = text_.substr(at_, length);
        if (length == 0) return std::nullopt;
        if (text_.substr(at_ + length).starts_with('(')) return call(length, depth);
        if (name == "None") return word(length, Literal::Kind::none);
        if (name == "Ellipsis") return word(length, Literal::Kind::ellipsis);
        if (name == "True" || name == "False") {
            auto literal = word(length, Literal::Kind::integer);
            if (name == "True") literal->limbs.push_back(1);
            return literal;
        }
        if (name.find('.') != std::string_view::npos) return names(length);
        if (!unquoted_) return std::nullopt;
        at_ += length;
        return text_literal(name);
    }

    /// Color.RED, re.IGNORECASE|re.MULTILINE
    Literal names(std::size_t length) {
        const std::size_t begin = at_;
        at_ += length;
        while (text_.substr(at_).starts_with('|')) {
            ++at_;
            at_ += dotted_length();
        }
        Literal literal;
        literal.kind = Literal::Kind::name;
        literal.text = text_.substr(begin, at_ - begin);
        return literal;
    }

    std::optional<Literal> call(std::size_t length, int depth) {
        Literal literal;
        literal.kind = Literal::Kind::call;
        literal.text = text_.substr(at_, length);
        at_ += length + 1;
        for (bool comma = true;; comma = after_comma()) {
            skip_blanks();
            if (ended()) return std::nullopt;
            if (text_[at_] == ')') break;
            if (!comma) return std::nullopt;
            const std::size_t name = identifier_length(text_.substr(at_));
            const bool keyword = name > 0 && text_.substr(at_ + name).starts_with('=');
            literal.keywords.emplace_back(keyword ? text_.substr(at_, name) : std::string_view());
            if (keyword) at_ += name + 1;
            auto item = value(depth + 1);
            if (!item) return std::nullopt;
            literal.items.push_back(std::move(*item));
        }
        ++at_;
        return literal;
    }

    /// [1, 2], {1, 2}, {'a': 1}
    std::optional<Literal> display(char end, int depth) {
        Literal literal;
        literal.kind = end == ']' ? Literal::Kind::list : Literal::Kind::dict;  // {} is a dict
        ++at_;
        for (bool comma = true;; comma = after_comma()) {
            skip_blanks();
            if (ended()) return std::nullopt;
            if (text_[at_] == end) break;
            if (!comma) return std::nullopt;
            auto item = value(depth + 1);
            if (!item) return std::nullopt;
            literal.items.push_back(std::move(*item));
            skip_blanks();
            const bool colon = end == '}' && !ended() && text_[at_] == ':';
            if (end == '}' && literal.items.size() == 1 && !colon) literal.kind = Literal::Kind::set;
            if (colon != (literal.kind == Literal::Kind::dict)) return std::nullopt;
            if (!colon) continue;
            ++at_;
            item = value(depth + 1);
            if (!item) return std::nullopt;
            literal.items.push_back(std::move(*item));
        }
        ++at_;
        return literal;
    }

    bool after_comma() {
        skip_blanks();
        if (ended() || text_[at_] != ',') return false;
        ++at_;
        return true;
    }

    /// <function f>, up to the bracket that closes it.
    std::optional<Literal> verbatim() {
        std::size_t open = 0;
        for (std::size_t i = at_; i < text_.size(); ++i) {
            if (text_[i] == '<') ++open;
            if (text_[i] != '>' || --open > 0) continue;
            Literal literal;
            literal.kind = Literal::Kind::verbatim;
            literal.text = text_.substr(at_, i + 1 - at_);
            at_ = i + 1;
            return literal;
        }
        return std::nullopt;
    }

    /// The number of letters before a quote; nothing if there is no quote.
    std::optional<std::size_t> quote_at() const {
        std::size_t i = at_;
        while (i < text_.size() && i < at_ + 2 &&
               std::string_view("bBrRuU").find(text_[i]) != std::string_view::npos)
            ++i;
        if (i < text_.size() && (text_[i] == '\'' || text_[i] == '"')) return i - at_;
        return std::nullopt;
    }

    std::optional<Literal> string(std::size_t letters) {
        const std::string_view prefix = text_.substr(at_, letters);
        const bool bytes = prefix.find_first_of("bB") != std::string_view::npos;
        const bool raw = prefix.find_first_of("rR") != std::string_view::npos;
        at_ += letters;
        const char quote = text_[at_++];
        Literal literal;
        literal.kind = bytes ? Literal::Kind::bytes : Literal::Kind::text;
        while (!ended() && text_[at_] != quote) {
            const char c = text_[at_++];
            if (c != '\\' || ended())
                literal.text += c;
            else if (raw)
                (literal.text += c) += text_[at_++];
            else
                escape(literal.text, bytes);
        }
        if (ended()) return std::nullopt;
        ++at_;
        return literal;
    }

    void escape(std::string& out, bool bytes) {
        const char c = text_[at_++];
        constexpr std::string_view letters = "ntrabfv0\\'\"", meanings("\n\t\r\a\b\f\v\0\\'\"", 11);
        const std::size_t digits = c == 'x' ? 2 : bytes ? 0 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        if (digits > 0) {
            std::uint32_t value = 0;
            std::size_t read = 0;
            for (; read < digits && !ended() && digit_value(text_[at_]) < 16; ++read, ++at_)
                value = value << 4 | static_cast<std::uint32_t>(digit_value(text_[at_]));
            if (bytes)
                out += static_cast<char>(value);
            else
                append_code_point(out, value);
        } else if (const std::size_t known = letters.find(c); known != std::string_view::npos) {
            out += meanings[known];
        } else {
            (out += '\\') += c;
        }
    }

    std::optional<Literal> number() {
        auto first = plain_number();
        if (!first || ended() || first->kind == Literal::Kind::complex ||
            (text_[at_] != '+' && text_[at_] != '-'))
            return first;
        const std::size_t before = at_;
        auto second = plain_number();
        if (!second || second->kind != Literal::Kind::complex) {
            at_ = before;
            return first;
        }
        second->real = as_double(*first);
        return second;
    }

    std::optional<Literal> plain_number() {
        const bool minus = text_[at_] == '-';
        if (minus || text_[at_] == '+') ++at_;
        Literal literal;
        literal.kind = Literal::Kind::integer;
        const std::string_view rest = text_.substr(at_);
        const char mark = rest.size() > 1 && rest[0] == '0' ? static_cast<char>(rest[1] | 0x20) : '\0';
        if (const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0; base != 0) {
            std::size_t end = 2;
            while (end < rest.size() && (digit_value(rest[end]) < 16 || rest[end] == '_')) ++end;
            if (!read_limbs(rest.substr(2, end - 2), base, literal.limbs)) return std::nullopt;
            at_ += end;
            literal.negative = minus && !literal.limbs.empty();
            return literal;
        }
        std::size_t end = 0;
        while (end < rest.size() && (is_decimal_digit(rest[end]) || rest[end] == '_')) ++end;
        const bool fraction =
            end < rest.size() && std::string_view(".eEj").find(rest[end]) != std::string_view::npos;
        if (!fraction) {
            if (!read_limbs(rest.substr(0, end), 10, literal.limbs)) return std::nullopt;
            at_ += end;
            if (!ended() && (text_[at_] == 'L' || text_[at_] == 'l')) ++at_;  // 2.7: a long
            literal.negative = minus && !literal.limbs.empty();
            return literal;
        }
        const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), literal.real);
        if (error == std::errc::invalid_argument) return std::nullopt;
        at_ += static_cast<std::size_t>(stop - rest.data());
        if (minus) literal.real = -literal.real;
        literal.kind = Literal::Kind::real;
        if (!ended() && text_[at_] == 'j') {
            ++at_;
            literal.kind = Literal::Kind::complex;
            literal.imaginary = literal.real;
            literal.real = 0;
        }
        return literal;
    }

    std::string_view text_;
    bool unquoted_;
    std::size_t at_ = 0;
};

bool is_number(const Literal& literal) {
    return literal.kind == Literal::Kind::integer || literal.kind == Literal::Kind::real;
}

/// Color.RED is app.Color.RED.
bool same_name(std::string_view a, std::string_view b) {
    if (a.size() < b.size()) std::swap(a, b);
    return a.ends_with(b) && (a.size() == b.size() || a[a.size() - b.size() - 1] == '.');
}

bool same_items(const Literal& a, const Literal& b) {
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), means_the_same);
}

/// As sets. Those that somebody types are small.
bool same_members(const Literal& a, const Literal& b) {
    const auto in = [](const Literal& whole) {
        return [&whole](const Literal& item) {
            return std::any_of(whole.items.begin(), whole.items.end(),
                               [&](const Literal& other) { return means_the_same(item, other); });
        };
    };
    return std::all_of(a.items.begin(), a.items.end(), in(b)) &&
           std::all_of(b.items.begin(), b.items.end(), in(a));
}

}  // namespace

Literal text_literal(std::string_view text) {
    Literal literal;
    literal.kind = Literal::Kind::text;
    literal.text = text;
    return literal;
}

double as_double(const Literal& number) {
    if (number.kind != Literal::Kind::integer) return number.real;
    double value = 0;
    for (std::size_t i = number.limbs.size(); i-- > 0;)
        value = std::ldexp(value, limb_bits) + number.limbs[i];
    return number.negative ? -value : value;
}

bool means_the_same(const Literal& a, const Literal& b) {
    using Kind = Literal::Kind;
    if (a.kind == Kind::integer && b.kind == Kind::integer)
        return a.negative == b.negative && a.limbs == b.limbs;
    if (is_number(a) && is_number(b)) return as_double(a) == as_double(b);
    if (a.kind != b.kind) return false;
    if (a.kind == Kind::complex) return a.real == b.real && a.imaginary == b.imaginary;
    switch (a.kind) {
        case Kind::text:
        case Kind::bytes:
        case Kind::verbatim:
            return a.text == b.text;
        case Kind::name:
            return same_name(a.text, b.text);
        case Kind::call:
            return same_name(a.text, b.text) && a.keywords == b.keywords && same_items(a, b);
        case Kind::set:
            return same_members(a, b);
        case Kind::tuple:
        case Kind::list:
        case Kind::dict:
            return same_items(a, b);
        default:
            return true;
    }
}

std::optional<Literal> whole_literal(std::string_view text, bool unquoted) {
    Parser parser(text, unquoted);
    return parser.values('\0', 0);
}

std::optional<LiteralAtStart> literal_at_start(std::string_view text, bool unquoted) {
    Parser parser(text, unquoted);
    auto literal = parser.value(0);
    if (!literal) return std::nullopt;
    return LiteralAtStart{std::move(*literal), parser.at()};
}

}  // namespace heapsift
