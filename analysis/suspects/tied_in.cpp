// A cycle is tied where its last reference is set. Which one that was a core does not say; of each reference that is an
// attribute of a class of the program, the code says who sets it.

#include "analysis/suspects/tied_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace heapsift {

std::vector<TiedIn> tied_in(const HeapReader& heap, const CodeThatNames& code, const CyclePath& cycle) {
    constexpr std::size_t most_places = 64;
    std::vector<TiedIn> ties;
    for (const CycleStep& step : cycle.steps) {
        if (step.name.kind != ReferenceStep::Kind::attribute || step.name.nameless) continue;
        const auto owner = class_in_source(heap, step.of);
        if (!owner) continue;
        const std::string reference = fmt::format("{}.{}", short_type_name(step.type), step.name.name);
        const CodePlaces found = code.that_set({{.text = step.name.name,
                                                 .of_class = owner->name,
                                                 .of_file = owner->file,
                                                 .of_classes = classes_in_source(heap, step.of)}},
                                               most_places, true);
        for (const SourcePlace& place : found.places) {
            const auto tie = std::find_if(ties.begin(), ties.end(), [&](const TiedIn& one) {
                return one.place.function == place.function && one.place.file == place.file;
            });
            if (tie == ties.end()) {
                ties.push_back({place, {reference}});
                continue;
            }
            tie->place.line = std::min(tie->place.line, place.line);
            if (std::find(tie->references.begin(), tie->references.end(), reference) == tie->references.end())
                tie->references.push_back(reference);
        }
    }
    std::sort(ties.begin(), ties.end(), [](const TiedIn& a, const TiedIn& b) {
        if (a.references.size() != b.references.size()) return a.references.size() > b.references.size();
        return a.place < b.place;
    });
    // What ties one reference alone is not what makes the cycle, if a function ties two.
    if (!ties.empty() && ties.front().references.size() > 1)
        std::erase_if(ties, [most = ties.front().references.size()](const TiedIn& one) {
            return one.references.size() < most;
        });
    return ties;
}

}  // namespace heapsift
