// Collects all references in one pass, in address order. Targets lie anywhere, and each lookup of "which
// object is that" would wait for memory. So addresses are gathered some thousands at a time, and index
// entries are prefetched some lookups ahead.
//
// Guesses. A word in the body of a C type that nobody has described, and that is the address of an object,
// may be a reference, a borrowed pointer, or left over from the block's previous owner. Reference counts
// tell, since the target counts each real reference. So first all references that are known for sure are
// counted. A target with nothing left to explain refuses all guesses. A target with exactly as many
// candidates as references left to explain proves them all. In between, the same word in other objects of the
// same type decides: a word that was mostly proved goes first, one that was mostly refused goes last, and one
// that was hardly ever proved is refused. The counts of immortal objects tell nothing; a guess that leads to
// one is believed unless its word was hardly ever proved.

#include "parsers/snapshot/reference_graph.h"

#include "parsers/cpython/build/refcount.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {

class ReferenceGraphBuilder {
public:
    ReferenceGraphBuilder(std::span<const Address> addresses, std::span<const TypeId> types,
                          const ObjectAccess& access, const ObjectIndex& index)
        : addresses_(addresses), types_(types), access_(access), index_(index), gather_(*this) {}

    ReferenceGraph build(const CoreFile& core, OwnedPlaces places, const ProgressCallback& progress) {
        begin_.reserve(addresses_.size() + 1);
        targets_.reserve(4 * addresses_.size());  // unused room is never touched
        found_.assign(addresses_.size(), 0);
        all_strong_.assign(addresses_.size() / 64 + 1, 0);
        gather_all(progress);
        begin_.push_back(targets_.size());
        if (progress) progress("guesses", 0);
        judge_guesses();
        take_out_refused();
        add_natives(core, std::move(places), progress);
        std::vector<ReferenceGraph::Guess> judged;
        judged.reserve(guesses_.size());
        for (const Guess& guess : guesses_) judged.push_back(guess);
        graph_.begin_ = std::move(begin_);
        graph_.targets_ = std::move(targets_);
        graph_.found_ = std::move(found_);
        graph_.all_strong_ = std::move(all_strong_);
        graph_.guesses_ = std::move(judged);
        graph_.natives_ = std::move(natives_);
        graph_.unowned_ = std::move(unowned_);
        return std::move(graph_);
    }

private:
    static constexpr std::size_t gathered_at_once = 4096, ahead = 24;
    struct Guess : ReferenceGraph::Guess {
        std::uint64_t place = 0;  // in targets_, until the refused are taken out
    };

    struct Gather final : ReferenceVisitor {
        explicit Gather(ReferenceGraphBuilder& b) : builder(b) {}
        void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
            all_strong = all_strong && (kind == ReferenceKind::strong || kind == ReferenceKind::weak);
            const bool unowned = kind == ReferenceKind::weak || kind == ReferenceKind::reported;
            builder.pending_.push_back({target, static_cast<std::uint32_t>(name.number),
                                        kind == ReferenceKind::guess ? Pending::Kind::guess
                                        : unowned                    ? Pending::Kind::unowned
                                                                     : Pending::Kind::owned});
        }
        ReferenceGraphBuilder& builder;
        bool all_strong = true;  // of the object being visited
    };
    struct Pending {
        Address target;
        std::uint32_t word;
        enum class Kind : std::uint8_t { owned, unowned, guess } kind;
    };

    void gather_all(const ProgressCallback& progress) {
        const auto count = static_cast<ObjectId>(addresses_.size());
        const TypeTable& table = access_.heap().types();
        for (ObjectId id{0}; id < count; ++id) {
            if (progress && id % (1 << 20) == 0)
                progress("references", static_cast<double>(id) / static_cast<double>(count));
            if (id + ahead < count)
                access_.fetch_references(addresses_[id + ahead], table[types_[id + ahead]]);
            const std::size_t before = pending_.size();
            gather_.all_strong = true;
            access_.visit_references(addresses_[id], table[types_[id]], gather_);
            all_strong_[id / 64] |= std::uint64_t{gather_.all_strong} << (id % 64);
            sizes_.push_back(pending_.size() - before);
            graph_.counts_.objects += !access_.references_exact(addresses_[id], table[types_[id]]);
            if (pending_.size() >= gathered_at_once || sizes_.size() >= gathered_at_once) resolve();
        }
        resolve();
    }

    /// Looks up the gathered targets, of the objects from `resolved_` on, and adds them to the graph.
    void resolve() {
        for (std::size_t i = 0; i < std::min(ahead, pending_.size()); ++i) index_.fetch(pending_[i].target);
        ids_.resize(pending_.size());
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            if (i + ahead < pending_.size()) index_.fetch(pending_[i + ahead].target);
            ids_[i] = index_.find(pending_[i].target);
            if (ids_[i] != no_object) __builtin_prefetch(&found_[ids_[i]], 1);
        }
        std::size_t at = 0;
        for (const std::size_t size : sizes_) {
            begin_.push_back(targets_.size());
            for (const std::size_t end = at + size; at < end; ++at) {
                const ObjectId target = ids_[at];
                const Pending& one = pending_[at];
                if (one.kind == Pending::Kind::unowned) {
                    if (target != no_object) unowned_.push_back({resolved_, target});
                } else if (target != no_object) {
                    if (one.kind == Pending::Kind::guess)
                        guesses_.push_back(
                            {{resolved_, target, one.word, GuessVerdict::refused}, targets_.size()});
                    else
                        ++found_[target];
                    targets_.push_back(target);
                } else if (one.kind == Pending::Kind::owned &&
                           access_.heap().memory().state_of(one.target) != ByteState::not_saved) {
                    if (graph_.dangling_++ == 0) graph_.first_dangling_ = {resolved_, one.target};
                }
            }
            ++resolved_;
        }
        pending_.clear();
        sizes_.clear();
    }

    // --- guesses

    /// One word of the body, in all objects of one type.
    struct Word {
        std::uint32_t proved = 0, refused = 0;
        double belief() const { return (proved + 1.0) / (proved + refused + 2.0); }
    };
    std::uint64_t word_of(const Guess& guess) const {
        return std::uint64_t{types_[guess.source]} << 32 | guess.word;
    }

    /// How many references to `target` its count has beyond those found; for an immortal object as given, no
    /// limit unless told.
    std::uint64_t left_to_explain(ObjectId target, std::uint64_t of_immortal = ~std::uint64_t{0}) const {
        const std::uint64_t stored = count_of(access_.heap(), addresses_[target]);
        if (is_immortal_count(access_.heap().layout(), stored)) return of_immortal;
        const auto count = static_cast<std::int64_t>(stored);
        const std::int64_t found = found_[target];
        return count > found ? static_cast<std::uint64_t>(count - found) : 0;
    }

    void judge_guesses() {
        std::vector<std::uint32_t> by_target(guesses_.size());
        for (std::uint32_t i = 0; i < by_target.size(); ++i) by_target[i] = i;
        std::sort(by_target.begin(), by_target.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(guesses_[a].target, a) < std::pair(guesses_[b].target, b);
        });
        std::unordered_map<std::uint64_t, Word> words;
        for_each_target(by_target, [&](std::span<std::uint32_t> candidates, std::uint64_t left) {
            const bool all = left == candidates.size();
            if (!all && left != 0) return;
            for (const std::uint32_t i : candidates) {
                if (all) guesses_[i].verdict = GuessVerdict::proved;
                Word& word = words[word_of(guesses_[i])];
                ++(all ? word.proved : word.refused);
            }
        });
        for_each_target(by_target, [&](std::span<std::uint32_t> candidates, std::uint64_t left) {
            if (left == candidates.size() || left == 0) return;
            auto belief = [&](std::uint32_t i) {
                const auto word = words.find(word_of(guesses_[i]));
                return word == words.end() ? 0.5 : word->second.belief();
            };
            std::stable_sort(candidates.begin(), candidates.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return belief(a) > belief(b); });
            for (const std::uint32_t i : candidates) {
                if (left == 0 || belief(i) < 0.2) break;
                guesses_[i].verdict = GuessVerdict::allowed;
                --left;
            }
        });
        for (const Guess& guess : guesses_) {
            found_[guess.target] += guess.verdict != GuessVerdict::refused;
            ++(guess.verdict == GuessVerdict::proved    ? graph_.counts_.proved
               : guess.verdict == GuessVerdict::allowed ? graph_.counts_.allowed
                                                        : graph_.counts_.refused);
        }
    }

    template <class F>
    void for_each_target(std::vector<std::uint32_t>& by_target, F&& judge) const {
        for (std::size_t from = 0; from < by_target.size();) {
            const ObjectId target = guesses_[by_target[from]].target;
            std::size_t to = from;
            while (to < by_target.size() && guesses_[by_target[to]].target == target) ++to;
            judge(std::span(by_target).subspan(from, to - from), left_to_explain(target));
            from = to;
        }
    }

    void take_out_refused() {
        std::uint64_t kept = 0;
        std::uint64_t from = 0;
        ObjectId object{0};
        auto move_up_to = [&](std::uint64_t place) {
            for (; object < begin_.size() && begin_[object] <= place; ++object) begin_[object] -= from - kept;
            if (kept != from)
                std::copy(targets_.begin() + static_cast<std::ptrdiff_t>(from),
                          targets_.begin() + static_cast<std::ptrdiff_t>(place),
                          targets_.begin() + static_cast<std::ptrdiff_t>(kept));
            kept += place - from;
            from = place;
        };
        for (const Guess& guess : guesses_) {
            if (guess.verdict != GuessVerdict::refused) continue;
            move_up_to(guess.place);
            from = guess.place + 1;
        }
        move_up_to(targets_.size());
        targets_.resize(kept);
        // They are sorted by source; within one source, a kind's own guesses may come before those of lower
        // words.
        std::sort(guesses_.begin(), guesses_.end(), [](const Guess& a, const Guess& b) {
            return std::pair(a.source, a.word) < std::pair(b.source, b.word);
        });
    }

    void add_natives(const CoreFile& core, OwnedPlaces places, const ProgressCallback& progress) {
        if (progress) progress("native references", 0);
        graph_.frames_ = RunningFrames(access_.heap());
        natives_ =
            find_native_references(core, access_, addresses_, index_, std::move(places), graph_.frames_,
                                   [&](ObjectId id) { return left_to_explain(id, 0); });
        for (const NativeReference& reference : natives_) ++found_[reference.target];
    }

    std::span<const Address> addresses_;
    std::span<const TypeId> types_;
    const ObjectAccess& access_;
    const ObjectIndex& index_;
    Gather gather_;
    ReferenceGraph graph_;
    // Its columns while they are filled.
    std::vector<std::uint64_t> begin_, all_strong_;
    std::vector<ObjectId> targets_;
    std::vector<std::uint32_t> found_;
    std::vector<Guess> guesses_;
    std::vector<NativeReference> natives_;
    std::vector<ReferenceGraph::Unowned> unowned_;
    std::vector<Pending> pending_;
    std::vector<std::size_t> sizes_;  // number of targets of each gathered object
    std::vector<ObjectId> ids_;
    ObjectId resolved_{0};
};

ReferenceGraph::ReferenceGraph(std::vector<std::uint64_t> begin, std::vector<ObjectId> targets,
                               std::vector<NativeReference> natives) {
    std::vector<std::uint32_t> found(begin.size() - 1);
    for (const ObjectId target : targets) ++found[target];
    for (const NativeReference& native : natives) ++found[native.target];
    all_strong_ = std::vector<std::uint64_t>(found.size() / 64 + 1);
    begin_ = std::move(begin);
    targets_ = std::move(targets);
    found_ = std::move(found);
    natives_ = std::move(natives);
}

std::uint64_t ReferenceGraph::memory_bytes() const {
    return begin_.memory_bytes() + targets_.memory_bytes() + found_.memory_bytes() +
           all_strong_.memory_bytes() + guesses_.memory_bytes() + natives_.memory_bytes() +
           unowned_.memory_bytes();
}

std::vector<ObjectId> ReferenceGraph::sources_of(ObjectId target) const {
    constexpr std::size_t at_once = 64;  // the compiler compares so many in a few instructions
    std::vector<ObjectId> sources;
    const std::uint64_t* row = begin_.begin();
    const auto look = [&](std::size_t place) {
        if (targets_[place] != target) return;
        // The row that holds it: not far after the one before, if there are many.
        std::ptrdiff_t step = 1;
        while (step < begin_.end() - row && row[step] <= place) step *= 2;
        row = std::upper_bound(row + step / 2, std::min(row + step, begin_.end()), place) - 1;
        const ObjectId source(row - begin_.begin());
        if (sources.empty() || sources.back() != source) sources.push_back(source);
    };
    std::size_t at = 0;
    for (; at + at_once <= targets_.size(); at += at_once) {
        unsigned hits = 0;
        for (std::size_t i = 0; i < at_once; ++i) hits |= targets_[at + i] == target ? 1U : 0U;
        if (hits == 0) continue;
        for (std::size_t i = 0; i < at_once; ++i) look(at + i);
    }
    for (; at < targets_.size(); ++at) look(at);
    return sources;
}

std::vector<ObjectId> ReferenceGraph::unowned_sources_of(ObjectId target) const {
    std::vector<ObjectId> sources;
    for (const Unowned& one : unowned_)
        if (one.target == target && (sources.empty() || sources.back() != one.source))
            sources.push_back(one.source);
    return sources;
}

GuessVerdict ReferenceGraph::verdict(ObjectId source, std::uint64_t word) const {
    const std::pair key(source, static_cast<std::uint32_t>(word));
    const auto it =
        std::lower_bound(guesses_.begin(), guesses_.end(), key,
                         [](const Guess& g, const auto& k) { return std::pair(g.source, g.word) < k; });
    return it != guesses_.end() && std::pair(it->source, it->word) == key ? it->verdict
                                                                          : GuessVerdict::refused;
}

ReferenceGraph build_reference_graph(const CoreFile& core, const FoundObjects& objects,
                                     const ObjectAccess& access, const ObjectIndex& index, OwnedPlaces places,
                                     const ProgressCallback& progress) {
    return ReferenceGraphBuilder(objects.addresses, objects.types, access, index)
        .build(core, std::move(places), progress);
}

}  // namespace heapsift
