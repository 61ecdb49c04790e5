#pragma once

// Who holds whom: the references that are owned, of all objects at once, and what they add up to. (How
// guesses are judged: reference_graph.cpp.)
//
// Memory: 4 bytes a reference, 12 an object (8 for where its references begin, 4 for the references found to
// it), and 24 for each guess. Cost: 50 to 150 nanoseconds an object, two to three references each.

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
    proved,  // with it, and the others proved, the references found are as many as the target's count: hidden
    allowed,  // the target's count has room for it: followed
    refused   // the references known for sure are all that the target counts: no reference
};

class ReferenceGraph {
public:
    ReferenceGraph() = default;
    /// Of references that are known: those of object i are targets[begin[i]] up to targets[begin[i + 1]];
    /// `natives` by word.
    ReferenceGraph(std::vector<std::uint64_t> begin, std::vector<ObjectId> targets,
                   std::vector<NativeReference> natives = {});

    std::size_t object_count() const { return begin_.empty() ? 0 : begin_.size() - 1; }
    std::uint64_t reference_count() const { return targets_.size(); }
    /// What the graph itself takes.
    std::uint64_t memory_bytes() const;
    /// The objects that `source` owns references to: strong, hidden and guesses that were not refused; in the
    /// order in which they are visited, with multiplicity. References to addresses at which no object was
    /// found are left out.
    std::span<const ObjectId> targets(ObjectId source) const {
        return {targets_.data() + begin_[source], targets_.data() + begin_[source + 1]};
    }
    /// Of an object whose references are all strong: its targets are what its traverse reports as well, as
    /// often and in that order.
    bool reports_what_it_owns(ObjectId source) const {
        return source / 64 < all_strong_.size() && (all_strong_[source / 64] >> (source % 64) & 1);
    }
    /// How many references of the real view were found to `target`.
    std::uint32_t found(ObjectId target) const { return found_[target]; }
    /// Of the guess of `source` whose name carries the number `word`: each guess of an object has another.
    GuessVerdict verdict(ObjectId source, std::uint64_t word) const;

    /// From memory that is no object's; by word.
    std::span<const NativeReference> natives() const { return natives_; }
    const RunningFrames& frames() const { return frames_; }

    /// References that are certain and lead to saved memory, or to none, at which there is no object: of what
    /// was overwritten.
    std::uint64_t dangling() const { return dangling_; }
    struct DanglingReference {
        ObjectId source;
        Address target;
    };
    /// The first of them, by source: for a person to look at.
    const std::optional<DanglingReference>& first_dangling() const { return first_dangling_; }

    struct GuessCounts {
        std::uint64_t proved = 0, allowed = 0, refused = 0;
        std::uint64_t objects = 0;  // some of whose references are guesses
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
    std::vector<std::uint64_t> all_strong_;  // a bit an object
    std::vector<Guess> guesses_;             // by source and word
    std::vector<NativeReference> natives_;
    RunningFrames frames_;
    GuessCounts counts_;
    std::uint64_t dangling_ = 0;
    std::optional<DanglingReference> first_dangling_;
};

/// `index` is of the addresses of `objects`; `places` is used up. One pass over the objects, and one sweep over
/// other memory. `progress` may be empty.
ReferenceGraph build_reference_graph(const CoreFile& core, const FoundObjects& objects,
                                     const ObjectAccess& access, const ObjectIndex& index, OwnedPlaces places,
                                     const ProgressCallback& progress = {});

}  // namespace heapsift
