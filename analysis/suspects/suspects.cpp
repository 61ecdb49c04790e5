// From what holds most to what a person would change.
//
// The overview finds where memory gathers: holders, slices that pin arrays, garbage, blocks of C code, free memory.
// Here each of these becomes a row with its cause and its fix, by the first rule that knows it (rules.h). Rows that
// are one thing for a person become one: the same local of three threads, the same attribute of four instances.
// What two rows would count, only one has: garbage is not also a holder, and a list of slices is not also what
// these pin.
//
// A healthy process has no suspects. So a holder that no special rule knows must have a twentieth of what is in
// use, and 4 MiB, and belong to the program, not to a library or to Python: these have tables of their own, and
// always had. A cause that is known by its own evidence needs a fiftieth, and 1 MiB. What cannot grow, as a full
// lru_cache, a queue with a bound, or a table that is filled once, needs half of what is in use.

#include "analysis/suspects/suspects.h"

#include "analysis/object_states.h"
#include "analysis/suspects/bounds.h"
#include "analysis/suspects/code_that_names.h"
#include "analysis/suspects/pattern.h"
#include "analysis/suspects/rules.h"
#include "analysis/suspects/suspect_code.h"
#include "parsers/snapshot/memory_rows.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::size_t most_attributes_of_place = 4;

class SuspectSearch {
public:
    /// `code` may be null: then nothing is known of the bounds that the program's code has.
    SuspectSearch(Work& work, const OverviewResult& overview, const CodeThatNames* code)
        : overview_(overview),
          code_(code),
          answers_(work.answers()),
          retained_(work.graph(), work.retained()),
          garbage_lists_(garbage_lists(work.heap())) {}

    static bool has_more(const Suspect& a, const Suspect& b) { return a.bytes > b.bytes; }

    std::vector<Suspect> find() {
        add_pinned();
        add_garbage();
        add_native();
        add_free();
        for (const auto* holders : {&overview_.holders, &overview_.more_holders})
            for (const TopHolder& holder : *holders) add_holder(holder);
        drop_what_others_say();
        std::stable_sort(found_.begin(), found_.end(), has_more);
        std::vector<Suspect> suspects;
        for (Suspect& suspect : found_)
            (is_worth_a_row(suspect) ? suspects : others_).push_back(std::move(suspect));
        return suspects;
    }

    std::vector<Suspect> bounded() const {
        std::vector<Suspect> found;
        for (const Suspect& other : others_)
            if (other.holder && other.cause.usual) found.push_back(other);
        return found;
    }

    /// SuspectsResult::small.
    std::optional<Suspect> small() const {
        for (const Suspect& other : others_) {
            if (other.bytes < std::max(overview_.in_use_bytes / 10, mib)) break;
            if (other.holder && !other.holder->joint && !other.cause.usual && is_of_program(*other.holder) &&
                !is_in_hand(other))
                return other;
        }
        return std::nullopt;
    }

    /// Of what was found beside `suspects`, which are shown, the holders that keep more than the last of these, and
    /// nothing that another row has.
    std::vector<Suspect> others(const std::vector<Suspect>& suspects) {
        constexpr std::size_t most_others = 3;
        std::vector<Suspect> chosen;
        if (suspects.empty()) return chosen;
        for (Suspect& other : others_) {
            if (chosen.size() == most_others || other.bytes <= suspects.back().bytes) break;
            if (!other.holder || other.holder->joint || !is_of_program(*other.holder)) continue;
            const auto is_row_of = [&](const Suspect& row) { return overlap(other, row); };
            if (std::any_of(suspects.begin(), suspects.end(), is_row_of) ||
                std::any_of(chosen.begin(), chosen.end(), is_row_of))
                continue;
            other.cause =
                other.cause.usual ? Cause{.kind = {}, .words = other.cause.words, .fix = {}} : Cause();
            chosen.push_back(std::move(other));
        }
        return chosen;
    }

private:
    bool is_worth_a_row(const Suspect& suspect) const {
        const std::uint64_t in_use = overview_.in_use_bytes;
        if (suspect.kind == Suspect::Kind::free_memory)
            return suspect.bytes >= std::max(in_use / 4, 32 * mib);
        if (suspect.kind == Suspect::Kind::garbage && waits_for_the_collector())
            return suspect.bytes >= std::max(in_use / 10, 4 * mib);
        // As the syntax tree of its script, which an interpreter keeps while it runs (pythonrun.c, pyrun_file).
        if (suspect.kind == Suspect::Kind::native && suspect.cause.general)
            return suspect.bytes >= std::max(in_use / 20, 4 * mib);
        if (suspect.kind != Suspect::Kind::holder || (!suspect.cause.general && !suspect.cause.usual))
            return suspect.bytes >= std::max(in_use / 50, mib);
        const std::uint64_t least = suspect.cause.usual || is_in_hand(suspect) ? in_use / 2
                                    : is_of_program(*suspect.holder)           ? in_use / 20
                                                                               : in_use / 5;
        return suspect.bytes >= std::max(least, 4 * mib);
    }

    /// Garbage that the collector is about to find: any program has some, most just before it runs.
    bool waits_for_the_collector() const {
        using Kind = CycleReason::Kind;
        const std::optional<CycleReason>& reason = overview_.garbage_reason;
        return reason &&
               (reason->kind == Kind::young || reason->kind == Kind::middle || reason->kind == Kind::old ||
                reason->kind == Kind::hanging || reason->kind == Kind::collecting);
    }

    /// What a program is at work on, as any healthy one may be: what calls alone hold together (an argument is in the
    /// caller's hand as well), and a local, or anything of which no cause is known, that is no collection of many
    /// things: an array, a DataFrame.
    bool is_in_hand(const Suspect& suspect) const {
        constexpr std::uint64_t many = 16;
        const TopHolder& holder = *suspect.holder;
        if (holder.joint)
            return std::all_of(holder.joint->by.begin(), holder.joint->by.end(),
                               [&](NodeId node) { return retained_.graph().kind(node) == NodeKind::frame; });
        return (!holder.frame.empty() || suspect.cause.words.empty()) && holder.object &&
               holder.content_count < many && suspect.alike < many;
    }

    /// What hangs below several groups is the program's if all of those that hold it together are: what the library
    /// holds as well, a program cannot let go.
    bool is_of_program(const TopHolder& holder) const {
        const auto is_its_own = [](GroupKind group) {
            return group == GroupKind::module || group == GroupKind::thread || group == GroupKind::held ||
                   group == GroupKind::callbacks;
        };
        if (holder.by_c_code) return Scene(retained_, holder).is_class_of_program(holder.content);
        if (holder.below != no_group) return is_its_own(holder.group_kind);
        if (!holder.joint) return true;
        const HeapGraph& graph = retained_.graph();
        return std::all_of(holder.joint->by.begin(), holder.joint->by.end(), [&](NodeId node) {
            const GroupId group =
                graph.kind(node) == NodeKind::group ? graph.group_of(node) : retained_.group(node);
            return group == no_group || is_its_own(graph.groups()[group].kind);
        });
    }

    void add_pinned() {
        if (!overview_.pinned) return;
        Suspect suspect;
        suspect.kind = Suspect::Kind::pinned;
        suspect.bytes = overview_.pinned->unseen_bytes();
        suspect.cause = {.kind = "pinned-arrays",
                         .words = dropped_frames(words("array data that nothing can reach any more")),
                         .fix = overview_.pinned_tensor ? "store copies, not slices: data[i].clone()"
                                                        : "store copies, not slices: data[i].copy()"};
        found_.push_back(std::move(suspect));
    }

    CauseWords dropped_frames(CauseWords cause) const {
        if (const std::uint64_t count = overview_.dropped_frames; count > 0)
            cause << ", of " << CauseWords::count(count)
                  << (count == 1 ? " DataFrame that is gone" : " DataFrames that are gone");
        return cause;
    }

    static std::string fix_of(const std::optional<CycleReason>& reason) {
        using Kind = CycleReason::Kind;
        if (!reason) return "break the cycles: a weakref.ref in one direction";
        switch (reason->kind) {
            case Kind::disabled:
                return "gc.enable(), or gc.collect() at a quiet moment";
            case Kind::threshold_0:
                return "gc.set_threshold(700, 10, 10), or gc.collect() at a quiet moment";
            case Kind::frozen:
                return "gc.unfreeze() once, or gc.freeze() before such objects are made";
            case Kind::saved:
                return "gc.set_debug(0), then gc.garbage.clear()";
            case Kind::legacy_finalizer:
            case Kind::in_garbage_list:
                return "break the cycles by hand, then gc.garbage.clear()";
            case Kind::invisible:
            case Kind::guessed:
                return "break the cycles by hand: the collector cannot see them";
            default:
                return "call gc.collect() at a quiet moment, or break the cycles: a weakref.ref in one "
                       "direction";
        }
    }

    /// What a cut core lacks may hold what seems to be garbage.
    void add_garbage() {
        if (retained_.graph().heap().core().extent().cut()) return;
        if (overview_.garbage_is_much) {
            Suspect suspect;
            suspect.kind = Suspect::Kind::garbage;
            suspect.bytes = overview_.garbage_memory;
            suspect.cause = {
                .kind = "garbage",
                .words = words("garbage that has not been freed", remark(overview_.garbage_remark)),
                .fix = fix_of(overview_.garbage_reason)};
            found_.push_back(std::move(suspect));
        }
        if (!overview_.garbage_list_is_much) return;
        Suspect suspect;
        suspect.kind = Suspect::Kind::garbage_list;
        suspect.bytes = overview_.garbage_list_memory;
        suspect.cause = {.kind = "gc-garbage",
                         .words = words("held by gc.garbage alone", remark(overview_.garbage_list_remark)),
                         .fix = fix_of(overview_.garbage_list_reason)};
        found_.push_back(std::move(suspect));
    }

    static std::string remark(const std::string& text) { return text.empty() ? text : ": " + text; }

    void add_native() {
        if (!overview_.culprit) return;
        Suspect suspect;
        suspect.kind = Suspect::Kind::native;
        suspect.bytes = overview_.culprit->bytes;
        for (const MemoryRow& row : overview_.memory)  // blocks may be larger than what of them was touched
            if (row.name == c_code_row && row.bytes < suspect.bytes) {
                suspect.untouched = suspect.bytes - row.bytes;
                suspect.bytes = row.bytes;
            }
        const NativeHeld& held = overview_.culprit->held;
        const bool leaked = held.leaked * 2 > overview_.culprit->count;
        const bool by_one = held.by_count * 2 > overview_.culprit->count;
        suspect.cause = {
            .kind = leaked ? "native-leak" : "native-blocks",
            .words = leaked ? words("blocks of C code that nothing refers to any more")
                            : words("blocks of C code"),
            .general = !leaked,
            .fix = leaked         ? "whoever makes them must free them (free, delete, close)"
                   : !by_one      ? "see what holds them"
                   : held.by_type ? "let go of " + held.by + " objects that are done with, or close them"
                                  : "find what adds to " + held.by + ", and what of it ends or has a bound"};
        found_.push_back(std::move(suspect));
    }

    void add_free() {
        const auto row = std::find_if(overview_.memory.begin(), overview_.memory.end(),
                                      [](const MemoryRow& one) { return one.name == free_row; });
        if (row == overview_.memory.end()) return;
        Suspect suspect;
        suspect.kind = Suspect::Kind::free_memory;
        suspect.bytes = row->bytes;
        suspect.cause = {.kind = "free-memory",
                         .words = in_sparse_arenas(
                             words("freed by the program, and not given back to the system"), row->bytes),
                         .fix = "do the work with the peak in a child process"};
        found_.push_back(std::move(suspect));
    }

    /// What keeps it from going back, where that is pymalloc's arenas.
    CauseWords in_sparse_arenas(CauseWords cause, std::uint64_t free) const {
        const HeapSnapshot& columns = retained_.graph().heap().snapshot();
        const SparseArenas& sparse = columns.memory->sparse;
        if (2 * sparse.free_bytes < free || sparse.arenas == 0) return cause;
        cause << "; " << CauseWords::size(sparse.free_bytes) << " lies in "
              << CauseWords::count(sparse.arenas)
              << (sparse.arenas == 1 ? " arena that a few objects keep open"
                                     : " arenas that a few objects keep open");
        for (std::size_t i = 0; i < sparse.types.size(); ++i)
            cause << (i == 0 ? ": " : ", ") << CauseWords::count(sparse.types[i].objects)
                  << " " + type_name(columns.types, sparse.types[i].type) +
                         (reads_as_unit(type_name(columns.types, sparse.types[i].type)) ? " objects" : "");
        return cause;
    }

    /// Of a row that is no holder it is not known where all of it hangs.
    bool overlap(const Suspect& a, const Suspect& b) const {
        if (!a.holder || !b.holder) return a.kind == Suspect::Kind::garbage_list;
        return retained_.dominates(a.holder->node, b.holder->node) ||
               retained_.dominates(b.holder->node, a.holder->node);
    }

    bool is_counted(const TopHolder& holder) const {
        if (holder.group_kind == GroupKind::unreachable) return overview_.garbage_is_much;
        if (overview_.garbage_list_is_much &&
            std::any_of(garbage_lists_.begin(), garbage_lists_.end(), [&](ObjectId list) {
                return retained_.dominates(HeapGraph::node_of(list), holder.node);
            }))
            return true;
        if (!overview_.pinned || overview_.pinned->example == no_object) return false;
        return retained_.dominates(holder.node, HeapGraph::node_of(overview_.pinned->example)) &&
               overview_.pinned->unseen_bytes() * 2 > holder.retained;
    }

    /// A container that cannot grow is as many healthy programs have it.
    void add_bound(const Scene& scene, Cause& cause) const {
        if (!code_ || !cause.is_container) return;
        auto bound = bound_of(scene, *code_);
        if (!bound) return;
        cause.words << "; ";
        for (CauseWords::Part& part : bound->words.parts) cause.words << std::move(part);
        cause.fix = std::move(bound->fix);
        cause.usual = true;
    }

    void add_holder(const TopHolder& found) {
        if (is_counted(found)) return;
        TopHolder holder = found;
        if (!Scene(retained_, found).is_class_of_program(holder.owner_type_id))
            holder.owner_also_held_by.clear();
        const Scene scene(retained_, holder, answers_);
        Cause cause = find_cause(scene);
        add_bound(scene, cause);
        const std::string place =
            cause.kind == std::string_view("notebook-results") ? cause.kind : place_for_a_person(scene);
        if (!place.empty()) {
            const auto [row, is_new] = rows_.try_emplace(place, found_.size());
            if (!is_new) {
                found_[row->second].bytes += holder.in_use();
                found_[row->second].untouched += holder.untouched;
                found_[row->second].alike += holder.alike;
                if (!holder.thread_local_name.empty() && found_[row->second].holder->group == holder.group)
                    found_[row->second].in_one_thread = true;
                return;
            }
        }
        if (!holder.owner_also_held_by.empty() && cause.general)
            cause.fix += "; or drop the " + short_type_name(holder.owner_type) + " from " +
                         (holder.owner_also_held_by.size() == 1 ? "both that hold it" : "all that hold it");
        Suspect suspect;
        suspect.bytes = holder.in_use();
        suspect.untouched = holder.untouched;
        suspect.alike = holder.alike;
        suspect.holder = holder;
        suspect.cause = std::move(cause);
        found_.push_back(std::move(suspect));
    }

    /// Of a holder and another below it only one may count the bytes. What several objects hold together is said
    /// better by what these are, if that is a row of its own.
    void drop_what_others_say() {
        std::vector<std::uint64_t> below(found_.size());
        std::vector<bool> dropped(found_.size());
        for (std::size_t j = 0; j < found_.size(); ++j) {
            if (!is_worth_a_row(found_[j])) continue;
            for (std::size_t i = 0; i < found_.size(); ++i)
                if (i != j && hangs_below(found_[j], found_[i])) below[i] += found_[j].bytes;
        }
        for (std::size_t i = 0; i < found_.size(); ++i) dropped[i] = below[i] * 2 >= found_[i].bytes;
        for (std::size_t j = 0; j < found_.size(); ++j)
            for (std::size_t i = 0; i < found_.size(); ++i)
                if (i != j && !dropped[i] && hangs_below(found_[j], found_[i])) dropped[j] = true;
        std::vector<Suspect> kept;
        for (std::size_t i = 0; i < found_.size(); ++i)
            if (!dropped[i]) kept.push_back(std::move(found_[i]));
        found_ = std::move(kept);
    }

    bool hangs_below(const Suspect& suspect, const Suspect& above) const {
        if (!suspect.holder || !above.holder) return false;
        // What several hold together hangs at the node of that holder.
        const NodeId node = suspect.holder->node, top = above.holder->node;
        if (!retained_.dominates(top, node)) return false;
        if (node == top && (!suspect.holder->joint || above.holder->joint)) return false;
        if (!above.holder->joint) return above.holder->object.has_value();
        const NodeId member = retained_.child_towards(top, node);
        const HeapGraph& graph = retained_.graph();
        const std::vector<NodeId>& sample = above.holder->joint->sample;
        if (above.holder->joint->types > 1)
            return std::find(sample.begin(), sample.end(), member) != sample.end();
        return member != no_node && graph.kind(member) == NodeKind::object &&
               graph.columns().type_of(HeapGraph::object_of(member)) == above.holder->joint->content;
    }

    /// The same for holders that are one thing to a person: a local of a function, in whichever thread; an
    /// thread-local attribute; an attribute, of whichever instance of a class of its own, or an attribute of what that
    /// has: two queues of the library are two things, unless two such instances have one each. Empty for what is only
    /// itself.
    static std::string place_for_a_person(const Scene& scene) {
        const TopHolder& holder = scene.holder();
        if (!holder.local.empty()) return holder.call + " " + holder.local;
        if (const ReferenceStep* step = scene.step(); step && !holder.thread_local_name.empty())
            return holder.thread_local_name + notation(*step);
        const HeapSnapshot& columns = scene.heap().snapshot();
        std::string attributes;  // ".outbox._queue", from an instance of such a class on
        for (std::size_t back = 0; back < most_attributes_of_place; ++back) {
            const ObjectId owner = scene.owner(back);
            const ReferenceStep* step = scene.step(back);
            if (owner == no_object || !step || step->kind != ReferenceStep::Kind::attribute ||
                scene.is_class(owner))
                return {};
            attributes = "." + step->name + attributes;
            const TypeId type = columns.type_of(owner);
            if (type != no_type && scene.is_class_of_program(type))
                return columns.types[type].name + attributes;
        }
        return {};
    }

    const OverviewResult& overview_;
    const CodeThatNames* code_;
    KeptAnswers* const answers_;
    const RetainedLookup retained_;
    const std::vector<ObjectId> garbage_lists_;
    std::vector<Suspect> found_, others_;
    std::map<std::string, std::size_t> rows_;  // by place_for_a_person
};

}  // namespace

std::vector<Suspect> SuspectsResult::with_others() const {
    std::vector<Suspect> all = suspects;
    all.insert(all.end(), others.begin(), others.end());
    std::stable_sort(all.begin(), all.end(), SuspectSearch::has_more);
    return all;
}

SuspectsResult suspects(Work& work, const OverviewResult& overview, std::size_t limit, bool code) {
    SuspectsResult result;
    std::optional<CodeThatNames> of_program;
    if (code) of_program.emplace(work.heap(), work.answers());
    SuspectSearch search(work, overview, code ? &*of_program : nullptr);
    result.suspects = search.find();
    result.total = result.suspects.size();
    for (const Suspect& suspect : result.suspects) result.bytes += suspect.bytes;
    result.bytes =
        std::min(result.bytes, overview.in_use_bytes);  // a holder's C blocks may be in part untouched
    if (limit > 0 && result.suspects.size() > limit) result.suspects.resize(limit);
    const RetainedLookup retained(work.graph(), work.retained());
    for (Suspect& suspect : result.suspects) suspect.pattern = pattern_of(retained, overview, suspect);
    if (result.suspects.empty()) result.small = search.small();
    if (result.small) result.small->pattern = pattern_of(retained, overview, *result.small);
    result.bounded = search.bounded();
    result.others = search.others(result.suspects);
    if (code) add_code(work, overview, *of_program, result.suspects);
    return result;
}

}  // namespace heapsift
