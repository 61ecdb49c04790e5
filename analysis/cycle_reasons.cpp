#include "analysis/cycle_reasons.h"

#include "analysis/generations.h"
#include "analysis/object_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

std::string due_words(const char* age, const GcGeneration& generation, const char* what, const char* which) {
    if (generation.count > generation.threshold) return fmt::format("{}: {} is due", age, which);
    return fmt::format("{}: {} of the {} {} that start {}", age, generation.count, std::int64_t{generation.threshold} + 1, what,
                       which);
}

}  // namespace

CycleReasons::CycleReasons(const ObjectStates& states)
    : states_(states), heap_(states.graph().heap()), finalizers_(heap_), generations_(generations(heap_)) {
    if (!heap_.python().interpreters.empty())
        collector_ =
            gc_state(heap_.core().memory(), heap_.python(), heap_.python().interpreters.front(), heap_.object_count(), false)
                .value_or(GcState());
}

// The collector is asked in the order in which its answers decide.
CycleReason::Kind CycleReasons::waiting_kind(std::span<const ObjectId> members) const {
    using Kind = CycleReason::Kind;
    bool frozen = false, guessed = false;
    std::int8_t generation = no_generation;
    for (const ObjectId member : members) {
        frozen = frozen || states_.collection().of[member] == CollectorVerdict::frozen_garbage;
        guessed = guessed || states_.collection().of[member] == CollectorVerdict::doubtful;
        generation = std::max(generation, generations_[member]);
    }
    if (frozen || generation == frozen_generation) return Kind::frozen;
    if (guessed) return Kind::guessed;
    if (collector_.collecting) return Kind::collecting;
    if (!collector_.enabled) return Kind::disabled;
    if (collector_.generations[0].threshold <= 0) return Kind::threshold_0;
    switch (generation) {
        case 0:
            return Kind::young;
        case 1:
            return Kind::middle;
        case 2:
            return Kind::old;
        default:
            return Kind::hanging;
    }
}

/// A member that the collector does not know; of several, one that is no container of Python's own.
TypeId CycleReasons::blind_type(std::span<const ObjectId> members) const {
    TypeId found = no_type;
    for (const ObjectId member : members) {
        if (states_.collection().of[member] != CollectorVerdict::not_known) continue;
        const TypeId type = heap_.type_of(member);
        if (!heap_.types()[type].has_gc) return type;
        if (found == no_type) found = type;
    }
    return found;
}

CycleReason CycleReasons::of(std::span<const ObjectId> members) const {
    using Kind = CycleReason::Kind;
    CycleReason reason;
    if (members.empty()) return reason;
    switch (states_.of(members.front())) {
        case ObjectState::reachable:
            reason.kind = Kind::in_use;
            break;
        case ObjectState::held:
            reason.kind = Kind::held;
            break;
        case ObjectState::waiting:
            reason.kind = waiting_kind(members);
            break;
        case ObjectState::invisible:
            reason.kind = Kind::invisible;
            reason.type = blind_type(members);
            break;
        case ObjectState::uncollectable:
            reason.kind = Kind::in_garbage_list;
            for (const ObjectId member : members)
                if (finalizers_.legacy[heap_.type_of(member)]) {
                    reason.kind = Kind::legacy_finalizer;
                    reason.type = heap_.type_of(member);
                } else if (states_.collection().of[member] == CollectorVerdict::uncollectable) {
                    reason.kind = Kind::legacy_finalizer;
                }
            if (reason.kind == Kind::in_garbage_list && collector_.debug & gc_debug_saveall) reason.kind = Kind::saved;
            break;
    }
    const auto& all = states_.collection().finalizers;
    for (const ObjectId member : members)
        if (reason.finalizer == no_type && std::binary_search(all.begin(), all.end(), member))
            reason.finalizer = heap_.type_of(member);
    return reason;
}

std::string CycleReasons::words(const CycleReason& reason) const {
    using Kind = CycleReason::Kind;
    std::string text;
    switch (reason.kind) {
        case Kind::in_use:
            return "in use: a root reaches it";
        case Kind::held:
            return "held by what was not found: native code, or a leaked reference";
        case Kind::young:
            text = due_words("young", collector_.generations[0], "allocations", "a collection");
            break;
        case Kind::middle:
            text = due_words("middle-aged", collector_.generations[1], "young collections", "one of its generation");
            break;
        case Kind::old:
            text = due_words("old", collector_.generations[2], "collections", "a full one");
            if (collector_.generations[2].count > collector_.generations[2].threshold && !collector_.enough_is_new())
                text = fmt::format("old: a full collection waits for {} new objects, and {} have come", collector_.long_lived / 4,
                                   collector_.long_lived_new);
            break;
        case Kind::hanging:
            text = "other garbage holds it, and waits for the collector";
            break;
        case Kind::collecting:
            text = "a collection was under way";
            break;
        case Kind::disabled:
            text = "the collector is disabled";
            break;
        case Kind::threshold_0:
            text = "the collector never starts: its first threshold is 0";
            break;
        case Kind::frozen:
            text = "frozen: gc.freeze() put it, or what it hangs on, aside";
            break;
        case Kind::guessed:
            text = "waits, if its types report what is only guessed here";
            break;
        case Kind::legacy_finalizer:
            return reason.type == no_type
                       ? "never: a legacy finalizer (tp_del) leads to it"
                       : fmt::format("never: {} has a legacy finalizer (tp_del)", type_name(heap_, reason.type));
        case Kind::saved:
            return "in gc.garbage: DEBUG_SAVEALL is set, and the collector keeps what it finds";
        case Kind::in_garbage_list:
            return "in gc.garbage: the collector found it and did not free it";
        case Kind::invisible:
            return reason.type == no_type
                       ? "never: the collector does not see what holds it"
                       : fmt::format("never: the collector does not look inside {}", type_name(heap_, reason.type));
    }
    if (reason.finalizer != no_type)
        text += fmt::format("; the finalizer of {} runs first, and could keep it", type_name(heap_, reason.finalizer));
    return text;
}

}  // namespace heapsift
