#pragma once

// The view that the collector counts with: which references the traverse of tracked objects reports, and to
// which objects. (How it is gathered: reported_references.cpp.)

#include "parsers/base/progress.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_index.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/row_starts.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// Memory: 2 bytes per object, 8 per guess, and 4 per reference of those objects that do not report exactly
/// what they own.
class ReportedReferences {
public:
    /// A word that may be a reference; whether traverse reports it is unknown.
    struct Guess {
        ObjectId source, target;
    };

    ReportedReferences() = default;
    /// If object i does not report exactly what it owns, its references are targets[begin[i]] up to
    /// targets[begin[i + 1]]; else they are those in `graph`, which must outlive this.
    ReportedReferences(const ReferenceGraph& graph, RowStarts begin, std::vector<ObjectId> targets,
                       std::vector<Guess> guesses)
        : graph_(&graph),
          begin_(std::move(begin)),
          targets_(std::move(targets)),
          guesses_(std::move(guesses)) {}

    /// The references of an object that was asked for, in the order of traverse, with multiplicity. A target
    /// need not have been asked for.
    std::span<const ObjectId> targets(ObjectId source) const {
        if (graph_->reports_what_it_owns(source)) return graph_->targets(source);
        return {targets_.data() + begin_[source], targets_.data() + begin_[source + 1]};
    }
    /// Guesses that were not refused, sorted by source.
    std::span<const Guess> guesses() const { return guesses_; }

private:
    const ReferenceGraph* graph_ = nullptr;
    RowStarts begin_;  // by object, and one more
    std::vector<ObjectId> targets_;
    std::vector<Guess> guesses_;
};

/// The references of the objects for which `asked` is not 0. Cost: 50 to 120 ns for each of these that does
/// not report exactly what it owns.
ReportedReferences gather_reported_references(AddressView addresses, const TypeColumn& types,
                                              std::span<const std::uint8_t> asked, const ObjectAccess& access,
                                              const ObjectIndex& index, const ReferenceGraph& graph,
                                              const ProgressCallback& progress);

}  // namespace heapsift
