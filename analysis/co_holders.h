#pragma once

// Whether an object to which a holder belongs is held by somebody else as well: letting go of one of them frees
// nothing.

#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"

#include <cstddef>
#include <vector>

namespace heapsift {

/// The highest instance or container that dominates `object`, and of which a person would let go: not itself, no class,
/// module or function. `no_object` if there is none.
ObjectId owner_of(const RetainedLookup& retained, ObjectId object);

/// The objects outside some owners that refer to them; kept.
struct OutsideReferrers {
    struct Link {
        ObjectId owner, source;
    };
    std::vector<Link> links;  // by source; of each owner at most `most` and one more

    std::vector<ObjectId> of(ObjectId owner) const;
    std::size_t rows() const { return links.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.links, [&](auto& link, Part& p) {
            kept_object(link.owner, p, heap);
            kept_object(link.source, p, heap);
        });
    }
};

/// `owners`: some may be `no_object`. Cost: if any of them has more than one reference, a look at each reference of the
/// heap, some 2 ns.
OutsideReferrers outside_referrers(const RetainedLookup& retained, std::vector<ObjectId> owners,
                                   std::size_t most, KeptAnswers* answers);

}  // namespace heapsift
