#pragma once

// Who holds whom: the owned references of all objects, and how many of them lead to each object. (How guesses
// are judged: judge_guesses.cpp.)
//
// Memory: 4 bytes per reference, 3 per object (2 for where its references begin, 1 for the number of
// references found to it), and 8 per reference that is weak or only reported. Cost: 50 to 150 ns per object,
// with two to three references each; 100 to 200 ns per guess, half of that to judge it.

#include "parsers/base/compact_counts.h"
#include "parsers/base/progress.h"
#include "parsers/base/stored.h"
#include "parsers/snapshot/guesses.h"
#include "parsers/snapshot/native_references.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_index.h"
#include "parsers/snapshot/row_starts.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

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
    void fetch_row(ObjectId source) const { begin_.fetch(source); }
    /// True if all references of `source` are strong: then its traverse reports exactly its targets, as often
    /// and in that order.
    bool reports_what_it_owns(ObjectId source) const {
        return source / 64 < all_strong_.size() && (all_strong_[source / 64] >> (source % 64) & 1);
    }
    /// The objects that own references to `target`, by id, each once. Cost: a look at references, less than
    /// 1 ns each, from those of `target` itself on in both directions, until all that were found to it are
    /// met: few where neighbours were made together, and nearly all for None. This is done for a few objects
    /// a run.
    std::vector<ObjectId> sources_of(ObjectId target) const;
    /// The same of references that are not owned: weak ones, and those that are only reported.
    std::vector<ObjectId> unowned_sources_of(ObjectId target) const;
    /// visit(source, target) for each of these, by source.
    template <class F>
    void visit_unowned(F&& visit) const {
        for (const Unowned& one : unowned_) visit(one.source, one.target);
    }
    /// How many references of the real view were found to `target`.
    std::uint64_t found(ObjectId target) const { return found_[target]; }
    /// The verdict on the guess of `source`, an object of `type`, whose name carries the number `word`, which
    /// is different for each guess of an object.
    GuessVerdict verdict(ObjectId source, TypeId type, std::uint64_t word) const {
        return judged_.verdict(source, type, word);
    }

    /// The objects whose counts include references that no object has, by id: those of C code and those that were
    /// not found. Immortal ones are left out. Nothing if that is not known: in an index, or where they are many.
    const std::optional<std::vector<ObjectId>>& unexplained() const { return unexplained_; }
    /// References from memory that is no object's; sorted by word.
    std::span<const NativeReference> natives() const { return natives_; }
    const RunningFrames& frames() const { return frames_; }

    /// Number of certain references to addresses, saved or unmapped, at which there is no object: something
    /// was overwritten. Dead objects that a C module keeps for reuse are none of these; nor is, in a core
    /// that is cut, what may be an object that nothing proves any more.
    std::uint64_t dangling() const { return dangling_; }
    struct DanglingReference {
        ObjectId source;
        Address target;
    };
    /// The first of them by source, as an example to look at.
    const std::optional<DanglingReference>& first_dangling() const { return first_dangling_; }

    const GuessCounts& guesses() const { return counts_; }

    /// As a part of an index (parsers/index/part.h), for so many objects. The frames of running functions are
    /// not in it (`set_frames`).
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects);
    void set_frames(RunningFrames frames) { frames_ = std::move(frames); }

private:
    friend class ReferenceGraphBuilder;
    std::uint64_t references_to(ObjectId target) const;

    struct Unowned {
        ObjectId source, target;
    };

    RowStarts begin_;  // by object, and one more
    Stored<ObjectId> targets_;
    CompactColumn<std::uint8_t> found_;
    Stored<std::uint64_t> all_strong_;  // one bit per object
    JudgedGuesses judged_;
    Stored<NativeReference> natives_;
    Stored<Unowned> unowned_;  // by source; weak references, and those that are only reported
    RunningFrames frames_;
    std::optional<std::vector<ObjectId>> unexplained_;
    GuessCounts counts_;
    std::uint64_t dangling_ = 0;
    std::optional<DanglingReference> first_dangling_;
};

template <class Self, class Part>
void ReferenceGraph::fields(Self& self, Part& part, std::size_t objects) {
    const auto is_object = [&](ObjectId id) { return id < objects; };
    part.column(self.targets_, is_object);
    RowStarts::fields(self.begin_, part, objects + 1, self.targets_.size());
    CompactColumn<std::uint8_t>::fields(self.found_, part, objects);
    part.column(self.all_strong_, [](std::uint64_t) { return true; });
    part.require(self.all_strong_.size() == objects / 64 + 1, "not every object has its references");
    JudgedGuesses::fields(self.judged_, part, objects);
    part.column(self.natives_, [&](const NativeReference& native, std::size_t at) {
        return is_object(native.target) && native.place <= NativePlace::stack &&
               (at == 0 || (&native - 1)->word <= native.word);
    });
    part.column(self.unowned_,
                [&](const Unowned& one) { return is_object(one.source) && is_object(one.target); });
    for (auto* count :
         {&self.counts_.proved, &self.counts_.allowed, &self.counts_.refused, &self.counts_.objects})
        part.number(*count);
    part.number(self.dangling_);
    DanglingReference first = self.first_dangling_.value_or(DanglingReference{});
    bool dangles = self.first_dangling_.has_value();
    part.number(dangles);
    part.number(first.source);
    part.number(first.target);
    part.require(!dangles || is_object(first.source), "a reference is no object's");
    if constexpr (Part::reading) self.first_dangling_ = dangles ? std::optional(first) : std::nullopt;
}

/// `index` is of the addresses of `objects`; `places` is used up. Cost: one pass over the objects, and one
/// sweep over other memory. `progress` may be empty.
ReferenceGraph build_reference_graph(const CoreFile& core, const FoundObjects& objects,
                                     const ObjectAccess& access, const ObjectIndex& index, OwnedPlaces places,
                                     const ProgressCallback& progress = {});

}  // namespace heapsift
