#pragma once

// What else must go for an object to be freed, besides the holder under which it counts. (How it is found:
// other_holders.cpp.)

#include "analysis/holder_labels.h"
#include "analysis/holding/retained.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace heapsift {

/// The labels of the other holders of the objects in `wanted`: by object, the number of a set of labels. 10
/// bytes per node while it works, then 2 per object. It refers to the graph and adds to the labels: for the
/// time of one call.
class OtherHolders {
public:
    struct Set {
        std::vector<std::uint32_t> labels;  // sorted
        bool more = false;                  // and others: there are too many to tell
    };

    /// `wanted`: by object. Cost: a look at the references of all objects, some 100 ns each.
    OtherHolders(const HeapGraph& graph, const RetainedSizes& sizes, HolderLabeler& labels,
                 const std::vector<bool>& wanted, const ProgressCallback& progress = {});

    /// Number 0 is the empty set.
    std::uint32_t set_of(ObjectId object) const { return set_of_[object]; }
    const Set& set(std::uint32_t number) const { return sets_[number]; }
    std::size_t set_count() const { return sets_.size(); }

private:
    class DominatedRanges;
    class References;

    void want_what_passes_on(const std::vector<bool>& wanted);
    void pass_on();
    void add(ObjectId object, std::uint32_t label);
    std::uint32_t with(std::uint32_t set, std::uint32_t label);
    std::uint32_t numbered(const Set& set);

    const HeapGraph& graph_;
    HolderLabeler& labels_;
    std::vector<bool> looked_at_;  // the wanted objects, and the containers by which they are held
    NarrowNumbers set_of_;         // by object
    std::vector<Set> sets_;
    std::map<std::pair<std::vector<std::uint32_t>, bool>, std::uint32_t> numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sums_;  // of a set and a label
};

}  // namespace heapsift
