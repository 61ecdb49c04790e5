#include "cli/render/places.h"

#include "cli/render/object.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

/// "the body of shop.py:15". It begins at line 1, which says nothing.
Text body_words(const SourcePlace& place) {
    return place.line > 1 ? says("the body of {}:{}", place.file, std::to_string(place.line))
                          : says("the body of {}", place.file);
}

}  // namespace

Text places_words(const std::vector<SourcePlace>& places, std::size_t first, std::size_t most,
                  std::uint64_t more) {
    const std::size_t shown = std::min(most, places.size() - first);
    more += places.size() - first - shown;
    Text text;
    for (std::size_t i = 0; i < shown; ++i) {
        const bool last = i + 1 == shown && more == 0;
        if (i > 0) text += !last ? ", " : i == 1 ? " and " : ", and ";
        const SourcePlace& place = places[first + i];
        text += place.is_body_of_module() ? body_words(place) : Text(words_of(place));
    }
    if (more > 0) text += says(", and {} more", Count{more});
    return text;
}

namespace {

Text names_words(const std::vector<std::string>& names) {
    Text words;
    for (std::size_t i = 0; i < names.size(); ++i)
        words += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return words;
}

}  // namespace

Text ties_words(const std::vector<TiedIn>& ties) {
    const bool same = std::all_of(ties.begin(), ties.end(), [&](const TiedIn& one) {
        return one.references == ties.front().references;
    });
    if (same) {
        std::vector<SourcePlace> places;
        for (const TiedIn& tie : ties) places.push_back(tie.place);
        return says("{} ({})", places_words(places, 0, most_places_shown, 0),
                    names_words(ties.front().references));
    }
    const std::size_t shown = std::min(most_places_shown, ties.size());
    Text words;
    for (std::size_t i = 0; i < shown; ++i)
        words += says("{}{} ({})",
                      i == 0                 ? ""
                      : i + 1 == ties.size() ? " and "
                                             : ", ",
                      Text(words_of(ties[i].place)), names_words(ties[i].references));
    if (shown < ties.size()) words += says(", and {} more", Count{ties.size() - shown});
    return words;
}

Text words_of(const CollectorCall& call) {
    return says("{} is called in {}.", call.name,
                places_words(call.in.places, 0, most_places_shown, call.in.more));
}

Datum place_data(const SourcePlace& place) {
    return entries({{"function", place.function}, {"file", place.file}, {"line", place.line}});
}

Datum places_data(const std::vector<SourcePlace>& places) { return Datum::list_of(places, place_data); }

Datum ties_data(const std::vector<TiedIn>& ties) {
    return Datum::list_of(ties, [](const TiedIn& tie) {
        Datum data = place_data(tie.place);
        data["references"] =
            Datum::list_of(tie.references, [](const std::string& name) { return Datum(name); });
        return data;
    });
}

Datum calls_data(const std::vector<CollectorCall>& calls) {
    return Datum::list_of(calls, [](const CollectorCall& call) {
        return entries({{"call", call.name}, {"called_in", places_data(call.in.places)}});
    });
}

}  // namespace heapsift
