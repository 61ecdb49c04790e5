// Collects all references in one pass, in address order. Targets lie anywhere, and each lookup of "which
// object is that" would wait for memory. So addresses are gathered some thousands at a time, and index
// entries are prefetched some lookups ahead. Any thread may do that for a piece of the objects; the pieces'
// rows are put together in their order, and their targets counted then.
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

#include "parsers/base/in_pieces.h"
#include "parsers/cpython/build/refcount.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace heapsift {

class ReferenceGraphBuilder {
public:
    ReferenceGraphBuilder(std::span<const Address> addresses, std::span<const TypeId> types,
                          const ObjectAccess& access, const ObjectIndex& index)
        : addresses_(addresses), types_(types), access_(access), index_(index) {}

    ReferenceGraph build(const CoreFile& core, OwnedPlaces places, const ProgressCallback& progress) {
        begin_.reserve(addresses_.size() + 1);
        targets_.reserve(4 * addresses_.size());  // unused room is never touched
        found_ = CompactCounts(addresses_.size());
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
        graph_.begin_ = begin_.finish();
        graph_.targets_ = std::move(targets_);
        graph_.found_ = found_.finish();
        graph_.all_strong_ = std::move(all_strong_);
        graph_.guesses_ = std::move(judged);
        graph_.natives_ = std::move(natives_);
        graph_.unowned_ = std::move(unowned_);
        return std::move(graph_);
    }

private:
    static constexpr std::size_t gathered_at_once = 4096, ahead = 24;
    static constexpr std::size_t objects_a_piece = 1 << 15;
    static_assert(objects_a_piece % 64 == 0);  // no two pieces share a word of all_strong_
    struct Guess : ReferenceGraph::Guess {
        std::uint64_t place = 0;  // in targets_, until the refused are taken out
    };
    struct Pending {
        Address target;
        std::uint32_t word;
        enum class Kind : std::uint8_t { owned, unowned, guess } kind;
    };

    /// Of some thousand objects: what their references lead to.
    struct Gather final : ReferenceVisitor {
        void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
            all_strong = all_strong && (kind == ReferenceKind::strong || kind == ReferenceKind::weak);
            const bool unowned = kind == ReferenceKind::weak || kind == ReferenceKind::reported;
            pending.push_back({target, static_cast<std::uint32_t>(name.number),
                               kind == ReferenceKind::guess ? Pending::Kind::guess
                               : unowned                    ? Pending::Kind::unowned
                                                            : Pending::Kind::owned});
        }
        std::vector<Pending> pending;
        std::vector<std::size_t> sizes;  // number of targets of each gathered object
        bool all_strong = true;          // of the object being visited
    };

    /// The rows of a piece.
    struct Rows {
        Gather gather;
        std::vector<ObjectId> ids;         // of what was gathered
        ObjectId resolved;                 // the first object without a row
        std::vector<std::uint64_t> begin;  // by object; in `targets`
        std::vector<ObjectId> targets;     // owned, and guesses
        std::vector<Guess> guesses;        // their places are in `targets`
        std::vector<ReferenceGraph::Unowned> unowned;
        std::uint64_t guessed_objects = 0, dangling = 0;
        std::optional<ReferenceGraph::DanglingReference> first_dangling;
    };

    void gather_all(const ProgressCallback& progress) {
        const std::size_t count = addresses_.size();
        if (progress) progress("references", 0);
        in_pieces<Rows>(
            piece_count(count, objects_a_piece),
            [&](std::size_t piece, Rows& rows) {
                const auto [begin, end] = piece_of(piece, count, objects_a_piece);
                gather_piece(ObjectId(begin), ObjectId(end), rows);
            },
            [&](std::size_t, Rows& rows) {
                if (progress)
                    progress("references", static_cast<double>(begin_.size()) / static_cast<double>(count));
                take(rows);
            });
    }

    void gather_piece(ObjectId begin, ObjectId end, Rows& rows) {
        const TypeTable& table = access_.heap().types();
        Gather& gather = rows.gather;
        rows.resolved = begin;
        for (ObjectId id = begin; id < end; ++id) {
            if (id + ahead < addresses_.size())
                access_.fetch_references(addresses_[id + ahead], table[types_[id + ahead]]);
            const std::size_t before = gather.pending.size();
            gather.all_strong = true;
            access_.visit_references(addresses_[id], table[types_[id]], gather);
            all_strong_[id / 64] |= std::uint64_t{gather.all_strong} << (id % 64);
            gather.sizes.push_back(gather.pending.size() - before);
            rows.guessed_objects += !access_.references_exact(addresses_[id], table[types_[id]]);
            if (gather.pending.size() >= gathered_at_once || gather.sizes.size() >= gathered_at_once)
                resolve(rows);
        }
        resolve(rows);
    }

    /// Looks up the gathered targets, of the objects from `rows.resolved` on, and adds them to the rows.
    void resolve(Rows& rows) const {
        std::vector<Pending>& pending = rows.gather.pending;
        std::vector<ObjectId>& ids = rows.ids;
        for (std::size_t i = 0; i < std::min(ahead, pending.size()); ++i) index_.fetch(pending[i].target);
        ids.resize(pending.size());
        for (std::size_t i = 0; i < pending.size(); ++i) {
            if (i + ahead < pending.size()) index_.fetch(pending[i + ahead].target);
            ids[i] = index_.find(pending[i].target);
        }
        std::size_t at = 0;
        for (const std::size_t size : rows.gather.sizes) {
            rows.begin.push_back(rows.targets.size());
            for (const std::size_t end = at + size; at < end; ++at) {
                const ObjectId target = ids[at];
                const Pending& one = pending[at];
                if (one.kind == Pending::Kind::unowned) {
                    if (target != no_object) rows.unowned.push_back({rows.resolved, target});
                } else if (target != no_object) {
                    if (one.kind == Pending::Kind::guess)
                        rows.guesses.push_back(
                            {{rows.resolved, target, one.word, GuessVerdict::refused}, rows.targets.size()});
                    rows.targets.push_back(target);
                } else if (one.kind == Pending::Kind::owned &&
                           access_.heap().memory().state_of(one.target) != ByteState::not_saved) {
                    if (rows.dangling++ == 0) rows.first_dangling = {rows.resolved, one.target};
                }
            }
            ++rows.resolved;
        }
        pending.clear();
        rows.gather.sizes.clear();
    }

    /// Puts the next piece behind what is there, and empties it.
    void take(Rows& rows) {
        const std::uint64_t before = targets_.size();
        for (const std::uint64_t begin : rows.begin) begin_.push_back(before + begin);
        rows.begin.clear();
        const std::span<const ObjectId> targets = rows.targets;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (i + ahead < targets.size()) found_.fetch(targets[i + ahead]);
            found_.increment(targets[i]);
        }
        for (Guess& guess : rows.guesses) {  // they count when they are believed
            found_.decrement(guess.target);
            guess.place += before;
        }
        move_to_end(rows.targets, targets_);
        move_to_end(rows.guesses, guesses_);
        move_to_end(rows.unowned, unowned_);
        graph_.counts_.objects += std::exchange(rows.guessed_objects, 0);
        if (graph_.dangling_ == 0) graph_.first_dangling_ = rows.first_dangling;
        graph_.dangling_ += std::exchange(rows.dangling, 0);
        rows.first_dangling.reset();
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
        const auto found = static_cast<std::int64_t>(found_[target]);
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
            if (guess.verdict != GuessVerdict::refused) found_.increment(guess.target);
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
        std::vector<std::uint64_t> places;  // ascending
        for (const Guess& guess : guesses_)
            if (guess.verdict == GuessVerdict::refused) places.push_back(guess.place);
        std::size_t before = 0;
        if (!places.empty())
            begin_.move_all([&](std::uint64_t start) {
                while (before < places.size() && places[before] < start) ++before;
                return start - before;
            });
        auto kept = targets_.begin() + static_cast<std::ptrdiff_t>(places.empty() ? 0 : places.front());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::uint64_t next = i + 1 < places.size() ? places[i + 1] : targets_.size();
            kept = std::copy(targets_.begin() + static_cast<std::ptrdiff_t>(places[i] + 1),
                             targets_.begin() + static_cast<std::ptrdiff_t>(next), kept);
        }
        targets_.resize(targets_.size() - places.size());
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
        for (const NativeReference& reference : natives_) found_.increment(reference.target);
    }

    std::span<const Address> addresses_;
    std::span<const TypeId> types_;
    const ObjectAccess& access_;
    const ObjectIndex& index_;
    ReferenceGraph graph_;
    // Its columns while they are filled.
    RowStartsBuilder begin_;
    std::vector<std::uint64_t> all_strong_;
    std::vector<ObjectId> targets_;
    CompactCounts found_;
    std::vector<Guess> guesses_;
    std::vector<NativeReference> natives_;
    std::vector<ReferenceGraph::Unowned> unowned_;
};

ReferenceGraph::ReferenceGraph(std::vector<std::uint64_t> begin, std::vector<ObjectId> targets,
                               std::vector<NativeReference> natives) {
    const std::size_t objects = begin.size() - 1;
    CompactCounts found(objects);
    for (const ObjectId target : targets) found.increment(target);
    for (const NativeReference& native : natives) found.increment(native.target);
    all_strong_ = std::vector<std::uint64_t>(objects / 64 + 1);
    RowStartsBuilder starts;
    for (const std::uint64_t start : begin) starts.push_back(start);
    begin_ = starts.finish();
    targets_ = std::move(targets);
    found_ = found.finish();
    natives_ = std::move(natives);
}

std::uint64_t ReferenceGraph::memory_bytes() const {
    return begin_.memory_bytes() + targets_.memory_bytes() + found_.memory_bytes() +
           all_strong_.memory_bytes() + guesses_.memory_bytes() + natives_.memory_bytes() +
           unowned_.memory_bytes();
}

/// How many there are in `targets_`.
std::uint64_t ReferenceGraph::references_to(ObjectId target) const {
    const auto natives = static_cast<std::uint64_t>(std::count_if(
        natives_.begin(), natives_.end(), [&](const auto& native) { return native.target == target; }));
    return found_[target] > natives ? found_[target] - natives : 0;
}

std::vector<ObjectId> ReferenceGraph::sources_of(ObjectId target) const {
    constexpr std::size_t at_once = 64;  // the compiler compares so many in a few instructions
    constexpr std::size_t a_stretch = 1 << 14;
    std::uint64_t left = references_to(target);
    const auto look_at = [&](std::size_t from, std::size_t to, std::vector<ObjectId>& sources) {
        std::size_t row = 0;
        const auto look = [&](std::size_t place) {
            if (targets_[place] != target) return;
            row = begin_.row_of(place, row);  // not far after the one before, if there are many
            const ObjectId source(row);
            if (sources.empty() || sources.back() != source) sources.push_back(source);
            if (left > 0) --left;
        };
        std::size_t at = from;
        for (; at + at_once <= to && left > 0; at += at_once) {
            unsigned hits = 0;
            for (std::size_t i = 0; i < at_once; ++i) hits |= targets_[at + i] == target ? 1U : 0U;
            if (hits == 0) continue;
            for (std::size_t i = 0; i < at_once; ++i) look(at + i);
        }
        for (; at < to && left > 0; ++at) look(at);
    };
    std::vector<ObjectId> after;
    std::vector<std::vector<ObjectId>> before;  // the nearest stretch first
    std::size_t low = begin_[target], high = low;
    while (left > 0 && (low > 0 || high < targets_.size())) {
        const std::size_t end = high + std::min(a_stretch, targets_.size() - high);
        look_at(std::exchange(high, end), end, after);
        const std::size_t begin = low - std::min(a_stretch, low);
        look_at(begin, std::exchange(low, begin), before.emplace_back());
        if (before.back().empty()) before.pop_back();
    }
    std::vector<ObjectId> sources;
    const auto add = [&](const std::vector<ObjectId>& some) {
        const bool shared = !sources.empty() && !some.empty() && sources.back() == some.front();
        sources.insert(sources.end(), some.begin() + (shared ? 1 : 0), some.end());
    };
    for (auto some = before.rbegin(); some != before.rend(); ++some) add(*some);
    add(after);
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
