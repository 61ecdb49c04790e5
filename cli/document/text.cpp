#include "cli/document/text.h"

#include <cassert>
#include <utility>

namespace heapsift {
namespace {

template <class Change>
Text changed(std::vector<Span> spans, const Change& change) {
    Text text;
    for (Span& span : spans) {
        change(span);
        text += Text(std::move(span));
    }
    return text;
}

}  // namespace

Text::Text(std::string words) {
    if (!words.empty()) spans_.push_back({Wording{std::move(words)}});
}

Text& Text::operator+=(Text more) {
    if (spans_.empty()) {
        spans_ = std::move(more.spans_);
        return *this;
    }
    for (Span& span : more.spans_) spans_.push_back(std::move(span));
    return *this;
}

Text Text::bold() && {
    return changed(std::move(spans_), [](Span& span) { span.style = Span::Style::bold; });
}

Text Text::faint() && {
    return changed(std::move(spans_), [](Span& span) { span.style = Span::Style::faint; });
}

Text Text::at_most(std::uint16_t columns) && {
    return changed(std::move(spans_), [columns](Span& span) { span.widest = columns; });
}

Text Text::giving_way() && {
    return changed(std::move(spans_), [](Span& span) { span.gives_way = true; });
}

Text Text::quoted() && {
    return changed(std::move(spans_), [](Span& span) { span.quoted = true; });
}

Text put_together(std::string_view format, std::initializer_list<Text> parts) {
    Text text;
    const Text* part = parts.begin();
    while (true) {
        const std::size_t place = format.find("{}");
        text += Text(std::string(format.substr(0, place)));
        if (place == std::string_view::npos) break;
        assert(part != parts.end());
        text += *part++;
        format.remove_prefix(place + 2);
    }
    assert(part == parts.end());
    return text;
}

Text how_many(std::uint64_t count, std::string_view singular, std::string_view plural) {
    std::string noun(count == 1 || plural.empty() ? singular : plural);
    if (count != 1 && plural.empty()) noun += 's';
    return Text(Count{count}) + Text(" " + noun);
}

Text joined(std::vector<Text> texts, std::string_view between) {
    Text all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) all += Text(std::string(between));
        all += std::move(texts[i]);
    }
    return all;
}

}  // namespace heapsift
