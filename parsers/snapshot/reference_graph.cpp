// Collects all references in one pass, in address order. Targets lie anywhere, and each lookup of "which
// object is that" would wait for memory. So addresses are gathered some thousands at a time, and index
// entries are prefetched some lookups ahead. Any thread may do that for a piece of the objects; the pieces'
// rows are put together in their order, and their targets counted then.

#include "parsers/snapshot/reference_graph.h"

#include "parsers/base/in_pieces.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/snapshot/judge_guesses.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace heapsift {

class ReferenceGraphBuilder {
public:
    ReferenceGraphBuilder(AddressView addresses, const TypeColumn& types, const ObjectAccess& access,
                          const ObjectIndex& index)
        : addresses_(addresses), types_(types), access_(access), index_(index), guesses_(types) {
        const auto segments = access.heap().memory().segments();
        cut_ = std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.cut; });
    }

    ReferenceGraph build(const CoreFile& core, OwnedPlaces places, const ProgressCallback& progress) {
        begin_.reserve(addresses_.size() + 1);
        targets_.reserve(4 * addresses_.size());  // unused room is never touched
        found_ = CompactCounts(addresses_.size());
        stored_.assign(addresses_.size(), 0);
        all_strong_.assign(addresses_.size() / 64 + 1, 0);
        gather_all(progress);
        judge_dead();
        begin_.push_back(targets_.size());
        if (progress) progress("guesses", 0);
        judge_guesses();
        add_natives(core, std::move(places), progress);
        graph_.begin_ = begin_.finish();
        graph_.targets_ = std::move(targets_);
        graph_.found_ = found_.finish();
        graph_.all_strong_ = std::move(all_strong_);
        graph_.natives_ = std::move(natives_);
        graph_.unowned_ = std::move(unowned_);
        return std::move(graph_);
    }

private:
    static constexpr std::size_t gathered_at_once = 4096, ahead = 24, at_once = 1024;
    static constexpr std::size_t objects_a_piece = 1 << 13;
    static constexpr std::size_t few_unexplained = 16;  // one object in so many
    static_assert(objects_a_piece % 64 == 0);           // no two pieces share a word of all_strong_
    struct Pending {
        Address target;
        std::uint32_t word;
        enum class Kind : std::uint8_t { owned, unowned, guess, lone_guess } kind;
    };

    /// Of some thousand objects: what their references lead to.
    struct Gather final : ReferenceVisitor {
        void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
            all_strong = all_strong && (kind == ReferenceKind::strong || kind == ReferenceKind::weak);
            const bool unowned = kind == ReferenceKind::weak || kind == ReferenceKind::reported;
            // Only a number that is an offset means the same in all objects of a type.
            const bool of_body = name.form == ReferenceName::Form::offset;
            const auto guess = of_body ? Pending::Kind::guess : Pending::Kind::lone_guess;
            pending.push_back({target, static_cast<std::uint32_t>(name.number),
                               kind == ReferenceKind::guess ? guess
                               : unowned                    ? Pending::Kind::unowned
                                                            : Pending::Kind::owned});
        }
        std::vector<Pending> pending;
        std::vector<std::size_t> sizes;   // number of targets of each gathered object
        std::vector<std::uint8_t> exact;  // and whether its references are known
        bool all_strong = true;           // of the object being visited
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
        std::vector<ReferenceGraph::DanglingReference> dead;  // to dead objects in blocks of their own
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
        Address addresses[at_once + ahead];
        std::size_t first = 0, known = 0;  // which are in there: [first, known)
        for (ObjectId id = begin; id < end; ++id) {
            if ((id - begin) % at_once == 0) {
                first = id;
                known = std::min(first + at_once + ahead, addresses_.size());
                addresses_.copy(first, known, addresses);
            }
            if (id + ahead < known)
                access_.fetch_references(addresses[id + ahead - first], table[types_[id + ahead]]);
            const Address object = addresses[id - first];
            const TypeInfo& type = table[types_[id]];
            const std::size_t before = gather.pending.size();
            gather.all_strong = true;
            access_.visit_references(object, type, gather);
            all_strong_[id / 64] |= std::uint64_t{gather.all_strong} << (id % 64);
            stored_[id] = static_cast<std::uint8_t>(
                std::min(references_counted(access_.heap(), object), std::uint64_t{many_stored}));
            gather.sizes.push_back(gather.pending.size() - before);
            const bool exact = access_.references_exact(object, type);
            gather.exact.push_back(exact);
            rows.guessed_objects += !exact;
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
        for (std::size_t object = 0; object < rows.gather.sizes.size(); ++object) {
            const std::size_t size = rows.gather.sizes[object];
            const bool exact = rows.gather.exact[object] != 0;
            rows.begin.push_back(rows.targets.size());
            for (const std::size_t end = at + size; at < end; ++at) {
                const ObjectId target = ids[at];
                const Pending& one = pending[at];
                if (one.kind == Pending::Kind::unowned) {
                    if (target != no_object) rows.unowned.push_back({rows.resolved, target});
                } else if (target != no_object) {
                    const bool alone = one.kind == Pending::Kind::lone_guess;
                    if (alone || one.kind == Pending::Kind::guess)
                        rows.guesses.emplace_back(rows.resolved, one.word, rows.targets.size(),
                                                  exact || alone);
                    rows.targets.push_back(target);
                } else if (one.kind == Pending::Kind::owned) {
                    add_lost(rows, {rows.resolved, one.target});
                }
            }
            ++rows.resolved;
        }
        pending.clear();
        rows.gather.sizes.clear();
        rows.gather.exact.clear();
    }

    using Dangling = ReferenceGraph::DanglingReference;

    /// Of a reference that is owned, and leads to no object that was found.
    void add_lost(Rows& rows, const Dangling& reference) const {
        const ByteState state = access_.heap().memory().state_of(reference.target);
        if (state == ByteState::not_saved) return;
        // Objects are proved by pools, heaps and lists, and any of these may be in what was cut off.
        if (cut_ && state != ByteState::unmapped && reference.target.aligned(8)) return;
        if (access_.is_kept_dead(reference.target))
            rows.dead.push_back(reference);
        else if (rows.dangling++ == 0)
            rows.first_dangling = reference;
    }

    /// A C module may keep dead objects of its own types for reuse, and its m_traverse may visit them:
    /// _asyncio does that with FutureIter (3.12, _asynciomodule.c: FutureIter_dealloc links them at
    /// fi_freelist, and module_traverse visits each). They are on such a list if nothing but the states of
    /// modules leads to them. An object that holds a dead one has been given back too often.
    void judge_dead() {
        std::sort(dead_.begin(), dead_.end(), [](const Dangling& a, const Dangling& b) {
            return std::pair(a.target, a.source) < std::pair(b.target, b.source);
        });
        for (auto one = dead_.begin(); one != dead_.end();) {
            const auto end = std::find_if(one, dead_.end(),
                                          [&](const Dangling& other) { return other.target != one->target; });
            if (!std::all_of(one, end, [&](const Dangling& reference) { return is_of_state(reference); })) {
                graph_.dangling_ += static_cast<std::uint64_t>(end - one);
                auto& first = graph_.first_dangling_;
                if (!first || one->source < first->source) first = *one;
            }
            one = end;
        }
        dead_ = {};
    }

    /// Whether a C module reports it, and not of its own words: of these, only the dict is a reference.
    bool is_of_state(const Dangling& reference) const {
        const PythonHeap& heap = access_.heap();
        const TypeInfo& type = heap.types()[types_[reference.source]];
        return type.kind && std::string_view(type.kind->name) == "module" && !type.python_class &&
               heap.pointer(addresses_[reference.source] + *heap.layout().module.md_dict) != reference.target;
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
        for (const Guess& guess : rows.guesses)  // they count when they are believed
            found_.decrement(targets[guess.place()]);
        guesses_.add(rows.guesses, targets, before);
        move_to_end(rows.targets, targets_);
        move_to_end(rows.unowned, unowned_);
        move_to_end(rows.dead, dead_);
        graph_.counts_.objects += std::exchange(rows.guessed_objects, 0);
        if (graph_.dangling_ == 0) graph_.first_dangling_ = rows.first_dangling;
        graph_.dangling_ += std::exchange(rows.dangling, 0);
        rows.first_dangling.reset();
    }

    /// How many references to `target` its count has beyond those found; for an immortal object as given, no
    /// limit unless told.
    std::uint64_t left_to_explain(ObjectId target, std::uint64_t of_immortal = ~std::uint64_t{0}) const {
        std::uint64_t stored = stored_[target];
        if (stored == many_stored) {
            stored = references_counted(access_.heap(), addresses_[target]);
            if (is_immortal_count(access_.heap().layout(), stored)) return of_immortal;
        }
        const auto count = static_cast<std::int64_t>(stored);
        const auto found = static_cast<std::int64_t>(found_[target]);
        return count > found ? static_cast<std::uint64_t>(count - found) : 0;
    }

    void judge_guesses() {
        guesses_.judge(targets_, [&](ObjectId target) { return left_to_explain(target); });
        const auto guesses = guesses_.guesses();
        for (std::size_t i = 0; i < guesses.size(); ++i) {
            if (i + ahead < guesses.size()) found_.fetch(targets_[guesses[i + ahead].place()]);
            if (guesses[i].verdict() != GuessVerdict::refused) found_.increment(targets_[guesses[i].place()]);
        }
        if (guesses_.counts().refused > 0) take_out_refused(guesses);
        const std::uint64_t objects = graph_.counts_.objects;
        graph_.counts_ = guesses_.counts();
        graph_.counts_.objects = objects;
        graph_.judged_ = guesses_.finish();
    }

    void take_out_refused(std::span<const Guess> guesses) {
        std::size_t taken_out = 0;
        auto next = guesses.begin();
        begin_.move_all([&](std::uint64_t start) {
            for (; next != guesses.end() && next->place() < start; ++next)
                taken_out += next->verdict() == GuessVerdict::refused;
            return start - taken_out;
        });
        std::uint64_t kept = 0, from = 0;
        const auto keep_up_to = [&](std::uint64_t to) {
            if (kept != from)
                std::copy(targets_.begin() + static_cast<std::ptrdiff_t>(from),
                          targets_.begin() + static_cast<std::ptrdiff_t>(to),
                          targets_.begin() + static_cast<std::ptrdiff_t>(kept));
            kept += to - from;
            from = to + 1;
        };
        for (const Guess& guess : guesses)
            if (guess.verdict() == GuessVerdict::refused) keep_up_to(guess.place());
        keep_up_to(targets_.size());
        targets_.resize(kept);
    }

    void add_natives(const CoreFile& core, OwnedPlaces places, const ProgressCallback& progress) {
        if (progress) progress("native references", 0);
        graph_.frames_ = RunningFrames(access_.heap());
        NativeReferences natives =
            find_native_references(core, access_, addresses_, index_, std::move(places), graph_.frames_,
                                   [&](ObjectId id) { return left_to_explain(id, 0); });
        natives_ = std::move(natives.found);
        if (natives.unexplained.size() <= addresses_.size() / few_unexplained + few_unexplained) {
            natives.unexplained.shrink_to_fit();
            graph_.unexplained_ = std::move(natives.unexplained);
        }
        for (const NativeReference& reference : natives_) found_.increment(reference.target);
    }

    AddressView addresses_;
    const TypeColumn& types_;
    const ObjectAccess& access_;
    const ObjectIndex& index_;
    bool cut_ = false;  // the core: its headers promise more than the file has
    ReferenceGraph graph_;
    // Its columns while they are filled.
    RowStartsBuilder begin_;
    std::vector<std::uint64_t> all_strong_;
    std::vector<ObjectId> targets_;
    CompactCounts found_;
    static constexpr std::uint8_t many_stored = 0xff;  // that many, or more
    std::vector<std::uint8_t>
        stored_;  // by object: its count, read while its references are, for who asks later
    GuessJudge guesses_;
    std::vector<NativeReference> natives_;
    std::vector<ReferenceGraph::Unowned> unowned_;
    std::vector<Dangling> dead_;
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
           all_strong_.memory_bytes() + judged_.memory_bytes() + natives_.memory_bytes() +
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

ReferenceGraph build_reference_graph(const CoreFile& core, const FoundObjects& objects,
                                     const ObjectAccess& access, const ObjectIndex& index, OwnedPlaces places,
                                     const ProgressCallback& progress) {
    return ReferenceGraphBuilder(objects.addresses, objects.types, access, index)
        .build(core, std::move(places), progress);
}

}  // namespace heapsift
