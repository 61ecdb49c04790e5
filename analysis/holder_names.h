#pragma once

// Numbers for the words in which holders are named: several labels may have the same.

#include "analysis/holder_labels.h"
#include "parsers/index/part.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

/// An owner and its attribute, as `holders` names it (HolderRow), and a sum over what it holds.
struct HolderCount {
    std::string holder, attribute;  // both empty: nothing reaches it. Not escaped
    bool joined = false, nameless = false;
    std::uint64_t count = 0;
    std::uint64_t saves = 0;  // bytes
};

/// As it is kept (kept_answers.h).
template <class Part>
void kept_holder(FieldsOf<Part, HolderCount>& name, Part& part) {
    for (auto* text : {&name.holder, &name.attribute}) part.text(*text);
    for (auto* flag : {&name.joined, &name.nameless}) part.number(*flag);
    for (auto* number : {&name.count, &name.saves}) part.number(*number);
}

/// It refers to the labels: for the time of one call. Cost: each label is named once, some microseconds.
class HolderNames {
public:
    explicit HolderNames(const HolderLabeler& labels) : labels_(labels) {}

    /// Of a label, or of HolderLabeler::none.
    std::uint32_t number(std::uint32_t label);
    /// Its words; nothing is counted.
    const HolderCount& operator[](std::uint32_t number) const { return names_[number]; }
    /// Whether one of them is a name that the program gave, of a thread (HolderLabeler::names_thread).
    bool name_threads() const { return name_threads_; }
    /// All of them.
    std::vector<HolderCount> take() { return std::move(names_); }

private:
    const HolderLabeler& labels_;
    std::vector<HolderCount> names_;
    bool name_threads_ = false;
    std::unordered_map<std::uint32_t, std::uint32_t> by_label_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> by_words_;
};

}  // namespace heapsift
