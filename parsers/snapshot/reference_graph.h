#pragma once

// Who holds whom: the owned references of all objects, and how many of them lead to each object. (How guesses
// are judged: reference_graph.cpp.)
//
// Memory: 4 bytes per reference, 12 per object (8 for where its references begin, 4 for the number of
// references found to it), and 24 per guess. Cost: 50 to 150 ns per object, with two to three references
// each.

#include "parsers/base/progress.h"
#include "parsers/snapshot/native_references.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_index.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// What became of a guess.
enum class GuessVerdict : std::uint8_t {
    proved,   // hidden: with the proved guesses, the references found are exactly the target's count
    allowed,  // followed: the target's count has room for it
    refused   // not a reference: the references known for sure are all that the target counts
};

class ReferenceGraph {
public:
    ReferenceGraph() = default;
    /// From references that are known: those of object i are targets[begin[i]] up to targets[begin[i + 1]];
    /// `natives` sorted by word.
    ReferenceGraph(std::vector<std::uint64_t> begin, std::vector<ObjectId> targets,
                   std::vector<NativeReference> natives = {});

    std::size_t object_count() const { return begin_.empty() ? 0 : begin_.size() - 1; }
    std::uint64_t reference_count() const { return targets_.size(); }
    /// Memory of the graph itself.
    std::uint64_t memory_bytes() const;
    /// The objects that `source` owns references to: strong, hidden, and guesses that were not refused; in
    /// the order in which they are visited, with multiplicity. References to addresses without a found object
    /// are left out.
    std::span<const ObjectId> targets(ObjectId source) const {
        return {targets_.data() + begin_[source], targets_.data() + begin_[source + 1]};
    }
    /// Prefetches where the targets of `source` begin.
    void fetch_row(ObjectId source) const { __builtin_prefetch(&begin_[source]); }
    /// True if all references of `source` are strong: then its traverse reports exactly its targets, as often
    /// and in that order.
    bool reports_what_it_owns(ObjectId source) const {
        return source / 64 < all_strong_.size() && (all_strong_[source / 64] >> (source % 64) & 1);
    }
    /// How many references of the real view were found to `target`.
    std::uint32_t found(ObjectId target) const { return found_[target]; }
    /// The verdict on the guess of `source` whose name carries the number `word`, which is different for each
    /// guess of an object.
    GuessVerdict verdict(ObjectId source, std::uint64_t word) const;

    /// References from memory that is no object's; sorted by word.
    std::span<const NativeReference> natives() const { return natives_; }
    const RunningFrames& frames() const { return frames_; }

    /// Number of certain references to addresses, saved or unmapped, at which there is no object: something
    /// was overwritten.
    std::uint64_t dangling() const { return dangling_; }
    struct DanglingReference {
        ObjectId source;
        Address target;
    };
    /// The first of them by source, as an example to look at.
    const std::optional<DanglingReference>& first_dangling() const { return first_dangling_; }

    struct GuessCounts {
        std::uint64_t proved = 0, allowed = 0, refused = 0;
        std::uint64_t objects = 0;  // objects that have guesses
    };
    const GuessCounts& guesses() const { return counts_; }

private:
    friend class ReferenceGraphBuilder;
    struct Guess {
        ObjectId source, target;
        std::uint32_t word;  // the number in its name: which word of the source it is
        GuessVerdict verdict;
        std::uint64_t place;  // in targets_, until the refused are taken out
    };

    std::vector<std::uint64_t> begin_;  // by object, and one more
    std::vector<ObjectId> targets_;
    std::vector<std::uint32_t> found_;
    std::vector<std::uint64_t> all_strong_;  // one bit per object
    std::vector<Guess> guesses_;             // by source and word
    std::vector<NativeReference> natives_;
    RunningFrames frames_;
    GuessCounts counts_;
    std::uint64_t dangling_ = 0;
    std::optional<DanglingReference> first_dangling_;
};

/// `index` is of the addresses of `objects`; `places` is used up. Cost: one pass over the objects, and one
/// sweep over other memory. `progress` may be empty.
ReferenceGraph build_reference_graph(const CoreFile& core, const FoundObjects& objects,
                                     const ObjectAccess& access, const ObjectIndex& index, OwnedPlaces places,
                                     const ProgressCallback& progress = {});

}  // namespace heapsift
