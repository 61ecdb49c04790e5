#include "analysis/holder_names.h"

namespace heapsift {

std::uint32_t HolderNames::number(std::uint32_t label) {
    const auto [known, added] = by_label_.try_emplace(label, 0);
    if (!added) return known->second;
    HolderCount name;
    if (label != HolderLabeler::none) {
        const HolderName words = labels_.name(label);
        name_threads_ = name_threads_ || labels_.names_thread(label);
        name = {words.owner, words.attribute(), words.joined(), words.nameless()};
    }
    const auto [at, is_new] = by_words_.try_emplace(std::pair(name.holder, name.attribute),
                                                    static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(std::move(name));
    known->second = at->second;
    return at->second;
}

}  // namespace heapsift
