// To name one reference of an object, all that it refers to is looked at. An object may have a million
// attributes, each with a number of its own: named one by one they would cost a million times a million looks.
// So when one is asked for, all that have the same source are named, in one pass.

#include "analysis/step_examples.h"

#include <algorithm>

namespace heapsift {

void StepExamples::sort_in_new_names() {
    while (next_.size() < names_.count()) {
        const auto number = static_cast<std::uint32_t>(next_.size());
        const auto source = static_cast<std::uint32_t>(names_[number].source);
        std::uint32_t& first = first_of_source_.try_emplace(source, none).first->second;
        next_.push_back(first);
        first = number;
    }
}

void StepExamples::name_all_of(ObjectId source) {
    const auto list = first_of_source_.find(static_cast<std::uint32_t>(source));
    if (list == first_of_source_.end()) return;
    std::vector<ObjectId> targets;
    for (std::uint32_t at = list->second; at != none; at = next_[at]) targets.push_back(names_[at].target);
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    std::vector<ReferenceStep> found(targets.size());
    const auto place_of = [&](ObjectId target) {
        const auto at = std::lower_bound(targets.begin(), targets.end(), target);
        return at != targets.end() && *at == target ? static_cast<std::size_t>(at - targets.begin())
                                                    : targets.size();
    };
    heap_.visit_references_to(source, targets, [&](const Reference& reference) {
        const std::size_t place = place_of(heap_.snapshot().find(reference.target));
        if (place < found.size() && !found[place].known() && reference.followed)
            found[place] = reference.step;
    });
    for (std::uint32_t at = list->second; at != none; at = next_[at])
        steps_.emplace(at, found[place_of(names_[at].target)]);
    first_of_source_.erase(list);
}

const ReferenceStep& StepExamples::step(std::uint32_t number) {
    sort_in_new_names();
    const auto named = steps_.find(number);
    if (named != steps_.end()) return named->second;
    name_all_of(names_[number].source);
    return steps_[number];
}

}  // namespace heapsift
