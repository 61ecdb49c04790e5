#include "analysis/cycle_reasons.h"

#include "analysis/generations.h"
#include "analysis/object_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

std::string due_words(const char* age, const GcGeneration& generation, const char* what, const char* which) {
    if (generation.count > generation.threshold) return fmt::format("{}: {} is due", age, which);
    return fmt::format("{}: {} of the {} {} that start {}", age, generation.count,
                       std::int64_t{generation.threshold} + 1, what, which);
}

bool starts_by_itself(const GcState& collector) {
    return collector.enabled && !collector.collecting && collector.generations[0].threshold != 0;
}

/// The collector whose lists contain the object; null if there are several and none does.
const GcState* collector_of(const CycleReasons& reasons, ObjectId object, CycleReason& reason) {
    const std::uint16_t place =
        reasons.interpreters.empty() ? std::uint16_t{0} : reasons.interpreters[object];
    if (place >= reasons.collectors.size()) return nullptr;
    reason.interpreter = place;
    return &reasons.collectors[place];
}

// The questions to the collector are in the order in which their answers decide.
void explain_waiting(const ObjectStates& states, const CycleReasons& reasons,
                     std::span<const ObjectId> members, CycleReason& reason) {
    using Kind = CycleReason::Kind;
    bool frozen = false, guessed = false;
    ObjectId oldest = members.front();
    for (const ObjectId member : members) {
        frozen = frozen || states.collection.of[member] == CollectorVerdict::frozen_garbage;
        guessed = guessed || states.collection.of[member] == CollectorVerdict::doubtful;
        if (reasons.generations[member] > reasons.generations[oldest]) oldest = member;
    }
    const std::int8_t generation = reasons.generations[oldest];
    const GcState* const collector = collector_of(reasons, oldest, reason);
    if (frozen || generation == frozen_generation)
        reason.kind = Kind::frozen;
    else if (guessed)
        reason.kind = Kind::guessed;
    else if (!collector)
        reason.kind = Kind::hanging;
    else if (collector->collecting)
        reason.kind = Kind::collecting;
    else if (!collector->enabled)
        reason.kind = Kind::disabled;
    else if (collector->generations[0].threshold == 0)
        reason.kind = Kind::threshold_0;
    else
        reason.kind = generation == 0   ? Kind::young
                      : generation == 1 ? Kind::middle
                      : generation == 2 ? Kind::old
                                        : Kind::hanging;
}

/// The type of a member that the collector does not know; if there are several, one that is no container of
/// Python's own.
TypeId blind_type(const HeapSnapshot& heap, const ObjectStates& states, std::span<const ObjectId> members) {
    TypeId found = no_type;
    for (const ObjectId member : members) {
        if (states.collection.of[member] != CollectorVerdict::not_known) continue;
        const TypeId type = heap.type_of(member);
        if (!heap.types[type].has_gc) return type;
        if (found == no_type) found = type;
    }
    return found;
}

}  // namespace

CycleReasons collectors_for_words(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    CycleReasons reasons{FinalizerSlots(heap), {}, {}, {}};
    for (const PythonInterpreter& interpreter : columns.python.interpreters)
        reasons.collectors.push_back(
            gc_state(heap.core().memory(), columns.python, interpreter, columns.object_count(), false)
                .value_or(GcState()));
    if (reasons.collectors.empty()) reasons.collectors.emplace_back();
    return reasons;
}

CycleReasons cycle_reasons(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    CycleReasons reasons = collectors_for_words(heap);
    reasons.interpreters = interpreters_by_list(heap);
    const std::vector<GcState>& collectors = reasons.collectors;
    // Walking the lists takes longer than everything else here: skipped if the age of an object explains
    // nothing.
    if (std::any_of(collectors.begin(), collectors.end(), starts_by_itself) || collectors.size() > 1)
        reasons.generations = generations(heap);
    else
        reasons.generations.assign(columns.object_count(), no_generation);
    return reasons;
}

CycleReason reason_of(const HeapSnapshot& heap, const ObjectStates& states, const CycleReasons& reasons,
                      std::span<const ObjectId> members) {
    using Kind = CycleReason::Kind;
    CycleReason reason;
    if (members.empty()) return reason;
    switch (states.of(members.front())) {
        case ObjectState::reachable:
            reason.kind = Kind::in_use;
            break;
        case ObjectState::held:
            reason.kind = Kind::held;
            break;
        case ObjectState::waiting:
            explain_waiting(states, reasons, members, reason);
            break;
        case ObjectState::invisible:
            reason.kind = Kind::invisible;
            for (const ObjectId member : members)
                if (states.collection.over_released(member)) reason.kind = Kind::over_released;
            if (reason.kind == Kind::invisible) reason.type = blind_type(heap, states, members);
            break;
        case ObjectState::uncollectable:
            reason.kind = Kind::in_garbage_list;
            for (const ObjectId member : members)
                if (reasons.finalizers.has_legacy(member, heap.type_of(member))) {
                    reason.kind = Kind::legacy_finalizer;
                    reason.type = heap.type_of(member);
                } else if (states.collection.of[member] == CollectorVerdict::uncollectable) {
                    reason.kind = Kind::legacy_finalizer;
                }
            if (reason.kind != Kind::in_garbage_list) break;
            for (const ObjectId member : members)
                if (const GcState* collector = collector_of(reasons, member, reason);
                    collector && collector->debug & gc_debug_saveall)
                    reason.kind = Kind::saved;
            break;
    }
    const auto& all = states.collection.finalizers;
    for (const ObjectId member : members)
        if (reason.finalizer == no_type && std::binary_search(all.begin(), all.end(), member))
            reason.finalizer = heap.type_of(member);
    return reason;
}

// What is not tracked depends on the rest, and has its reason.
std::optional<CycleReason> find_most_common_reason(const HeapReader& heap, const ObjectStates& states,
                                                   const CycleReasons& reasons,
                                                   const std::function<bool(ObjectId)>& in) {
    using Kind = CycleReason::Kind;
    struct Part {
        CycleReason reason;
        std::uint64_t bytes;
    };
    std::vector<Part> parts;
    std::vector<ObjectSizes> one(1);
    for (ObjectId object{0}; object < heap.snapshot().object_count(); ++object) {
        if (!states.garbage(object) || !in(object)) continue;
        CycleReason reason = reason_of(heap.snapshot(), states, reasons, {&object, 1});
        if (reason.kind == Kind::hanging) continue;
        reason.finalizer = no_type;
        if (reason.kind == Kind::invisible) reason.type = no_type;
        heap.sizes(object, one);
        const auto part =
            std::find_if(parts.begin(), parts.end(), [&](const Part& each) { return each.reason == reason; });
        if (part == parts.end())
            parts.push_back({reason, one[0].memory});
        else
            part->bytes += one[0].memory;
    }
    const auto most = std::max_element(parts.begin(), parts.end(),
                                       [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
    return most == parts.end() ? std::nullopt : std::optional(most->reason);
}

std::string most_common_reason(const HeapReader& heap, const ObjectStates& states,
                               const CycleReasons& reasons, const std::function<bool(ObjectId)>& in) {
    const auto most = find_most_common_reason(heap, states, reasons, in);
    return most ? reason_words(heap.snapshot(), reasons, *most, false) : std::string();
}

std::string reason_words(const HeapSnapshot& heap, const CycleReasons& reasons, const CycleReason& reason,
                         bool in_garbage) {
    using Kind = CycleReason::Kind;
    const GcState& collector = reasons.collectors[reason.interpreter];
    const std::string where = in_garbage ? "in gc.garbage: " : "";
    std::string text;
    switch (reason.kind) {
        case Kind::in_use:
            return "in use: a root reaches it";
        case Kind::held:
            return "what holds it is not in this core: native code, or a leaked reference";
        case Kind::young:
            text = due_words("young", collector.generations[0], "allocations", "a collection");
            break;
        case Kind::middle:
            text = due_words("middle-aged", collector.generations[1], "young collections",
                             "one of its generation");
            break;
        case Kind::old:
            text = due_words("old", collector.generations[2], "collections", "a full one");
            if (collector.generations[2].count > collector.generations[2].threshold &&
                !collector.enough_is_new())
                text = fmt::format("old: a full collection waits for {} new objects, and {} have come",
                                   collector.long_lived / 4, collector.long_lived_new);
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
            return reason.type == no_type ? "never: a legacy finalizer (tp_del) leads to it"
                                          : fmt::format("never: {} has a legacy finalizer (tp_del)",
                                                        type_name(heap.types, reason.type));
        case Kind::saved:
            return where + "DEBUG_SAVEALL is set, and the collector keeps what it finds";
        case Kind::in_garbage_list:
            return where + "the collector found it and did not free it";
        case Kind::over_released:
            return "never: more references were found than it counts (released once too often), and the "
                   "collector passes it by";
        case Kind::invisible:
            return reason.type == no_type ? "never: the collector does not see what holds it"
                                          : fmt::format("never: the collector does not look inside {}",
                                                        type_name(heap.types, reason.type));
    }
    if (reasons.collectors.size() > 1 && reason.kind != Kind::hanging && reason.kind != Kind::guessed)
        text += fmt::format(" (interpreter {})", heap.python.interpreters[reason.interpreter].id);
    if (reason.finalizer != no_type)
        text += fmt::format("; the finalizer of {} would run first, and may keep it alive",
                            type_name(heap.types, reason.finalizer));
    return text;
}

}  // namespace heapsift
