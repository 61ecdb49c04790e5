// Spans. Here the units of the page, --redact and the escaping of text from the core are applied to what a
// document says.

#include "cli/write/spans.h"

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t bar_width = 20;
constexpr std::size_t digits_enough = 12;   // of a build-id, for readers
constexpr std::size_t most_arguments = 79;  // bytes that a core keeps of them (elfcore.h, ELF_PRARGSZ)

std::string in_python(const Expression& expression, Redactor& redactor) {
    std::string text = expression.root;
    for (const ReferenceStep& step : expression.steps) text += redactor.reference_name(step);
    return text;
}

/// The text of each kind of content. `escaped`: whether text from the core is escaped.
class ContentText {
public:
    ContentText(const Page& page, bool escaped) : page_(page), escaped_(escaped) {}

    std::string operator()(const Wording& words) const { return safe(words.text); }
    std::string operator()(const TypeName& type) const { return safe(type.name); }
    std::string operator()(const Count& count) const { return grouped(count.number); }
    std::string operator()(const Growth& growth) const {
        if (growth.number == 0) return "0";
        const auto size = static_cast<std::uint64_t>(growth.number > 0 ? growth.number : -growth.number);
        return (growth.number > 0 ? "+" : "−") +
               (growth.is_bytes ? (*this)(ByteCount{size}) : (*this)(Count{size}));
    }
    std::string operator()(const SignedCount& count) const { return grouped_signed(count.number); }
    std::string operator()(const ByteCount& bytes) const { return page_.bytes(bytes.bytes); }
    std::string operator()(const Share& share) const {
        return share.in_column ? percent_in_table(share.part, share.whole) : percent(share.part, share.whole);
    }
    std::string operator()(const Bar& share) const {
        return share.whole == 0
                   ? std::string()
                   : bar(static_cast<double>(share.part) / static_cast<double>(share.whole), bar_width);
    }
    std::string operator()(const Bound& bound) const {
        return bound.kind == Bound::Kind::at_least ? page_.at_least({}) : page_.about({});
    }
    std::string operator()(Address address) const { return hexadecimal(address.value); }
    std::string operator()(const Value& value) const {
        std::string text = safe(page_.redact().value(value.value, value.type));
        if (value.widest > 0) text = shortened_at_the_end(text, value.widest);
        if (!value.with_type) return text;
        const bool replaced = page_.redact().active() && value.value.kind == ShortValue::Kind::literal;
        if (value.value.says_type && !replaced) return text;
        // Order(id=17) of app.Order: app.Order(id=17)
        if (const std::size_t letters = value.value.type_letters; letters > 0 && !replaced)
            return safe(value.type) + text.substr(std::min(letters, text.size()));
        return safe(value.type) + (text.empty() ? "" : " ") + text;
    }
    std::string operator()(const Notation& name) const {
        const std::string text = safe(page_.redact().reference_name(name.step));
        return name.without_dot ? text.substr(1) : text;
    }
    std::string operator()(const Expression& expression) const {
        return safe(in_python(expression, page_.redact()));
    }
    std::string operator()(const CommandLine& command) const { return page_.command(command.words); }
    std::string operator()(const Target& target) const {
        if (target.expression.empty() || page_.redact().active()) return hexadecimal(target.address.value);
        return shell_quoted(in_python(target.expression, page_.redact()));
    }
    std::string operator()(const FilePath& path) const { return safe(page_.redact().path(path.path)); }
    std::string operator()(const Message& message) const {
        return safe(page_.redact().message(message.text));
    }
    std::string operator()(const ProcessCall& process) const {
        if (!escaped_) return page_.redact().arguments(process.arguments);
        if (process.arguments.empty()) return safe(process.name);
        return safe(page_.redact().active() ? process.name + " " + page_.redact().arguments(process.arguments)
                                            : process.arguments) +
               (process.arguments.size() >= most_arguments ? "…" : "");
    }
    std::string operator()(const GivenName& name) const {
        if (!page_.redact().active()) return safe(name.name);
        const std::string literal = name.as_key ? "'" + name.name + "'" : name.name;
        return safe(page_.redact().value({ShortValue::Kind::literal, literal, name.name.size()}, "str"));
    }
    std::string operator()(const Withheld& words) const {
        return safe(page_.redact().active() ? words.instead : words.text);
    }
    std::string operator()(const OfCore& words) const { return page_.lower_bounds ? words.cut : words.whole; }
    std::string operator()(const Digest& digest) const {
        return page_.width == 0 ? digest.digits : digest.digits.substr(0, digits_enough);
    }
    std::string operator()(const Nothing&) const { return "–"; }

private:
    std::string safe(const std::string& text) const { return escaped_ ? escape_for_terminal(text) : text; }

    const Page& page_;
    bool escaped_;
};

}  // namespace

std::string shown(const Span& span, const Page& page) {
    if (span.quoted) return shell_quoted(std::visit(ContentText(page, false), span.content));
    std::string text = std::visit(ContentText(page, true), span.content);
    return span.widest > 0 ? shortened_at_the_end(text, span.widest) : text;
}

std::string plain(const Text& text, const Page& page) {
    if (text.spans().size() == 1) return shown(text.spans().front(), page);
    std::string words;
    for (const Span& span : text.spans()) words += shown(span, page);
    return words;
}

std::string plain(const Text& text, Redactor& redactor) {
    Page page;
    page.redactor = &redactor;
    return plain(text, page);
}

std::string long_text(const Datum::Long& text, Redactor& redactor) {
    if (text.for_people) return plain(text.text, redactor);
    Page page;
    page.redactor = &redactor;
    return std::visit(ContentText(page, false), text.text.spans().front().content);
}

StyledLine::StyledLine(const Text& text, const Page& page, std::size_t indent) {
    std::vector<std::string> pieces;
    std::size_t others = indent;  // columns of the spans that do not give way
    for (const Span& span : text.spans()) {
        pieces.push_back(shown(span, page));
        if (!span.gives_way) others += display_width(pieces.back());
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Span& span = text.spans()[i];
        if (span.gives_way && page.width > 0) {
            pieces[i] = shortened_at_the_end(pieces[i], page.width > others ? page.width - others : 0);
            if (pieces[i].empty()) words_.erase(words_.find_last_not_of(' ') + 1);
        }
        const std::size_t begin = words_.size();
        words_ += pieces[i];
        if (!page.colour || span.style == Span::Style::plain || begin == words_.size()) continue;
        if (!ranges_.empty() && ranges_.back().end == begin && ranges_.back().style == span.style)
            ranges_.back().end = words_.size();
        else
            ranges_.push_back({begin, words_.size(), span.style});
    }
}

std::string StyledLine::styled(const std::string& laid_out) const {
    if (ranges_.empty()) return laid_out;
    std::string text;
    std::size_t at = 0;  // `at` is the place in `laid_out` that corresponds to `word` in the words
    std::size_t word = 0;
    const auto copy_to = [&](std::size_t end) {
        while (word < end && at < laid_out.size()) {
            if (laid_out[at] == words_[word]) {
                text += laid_out[at++];
                ++word;
                continue;
            }
            while (word < words_.size() && words_[word] == ' ') ++word;  // a line ends here
            do text += laid_out[at++];
            while (at < laid_out.size() && laid_out[at] == ' ');
        }
    };
    for (const Range& range : ranges_) {
        copy_to(range.begin);
        const std::size_t begin = text.size();
        copy_to(range.end);
        const std::string inside = text.substr(begin);
        text.erase(begin);
        text += range.style == Span::Style::bold ? bold(inside, true) : faint(inside, true);
    }
    return text + laid_out.substr(at);
}

}  // namespace heapsift
