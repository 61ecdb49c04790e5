#include "parsers/cpython/gc_state.h"

#include "parsers/cpython/build/object_header.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

/// Counts the objects of `list`, at most `most`; if the list breaks off, those before the break.
void count_list(const AddressSpace& memory, const Layout& layout, const CollectorList& list,
                std::uint64_t most, GcGeneration& generation) {
    generation.objects = 0;
    generation.whole =
        walk_collector_list(memory, layout.gc_head, list, most, [&](Address) { ++generation.objects; });
}

}  // namespace

std::vector<std::string> gc_debug_flags(std::uint32_t debug) {
    struct Flag {
        std::uint32_t bit;
        const char* name;
    };
    constexpr Flag flags[] = {{gc_debug_stats, "STATS"},
                              {gc_debug_collectable, "COLLECTABLE"},
                              {gc_debug_uncollectable, "UNCOLLECTABLE"},
                              {gc_debug_saveall, "SAVEALL"}};
    std::vector<std::string> names;
    for (const Flag& flag : flags) {
        if (debug & flag.bit) names.emplace_back(flag.name);
        debug &= ~flag.bit;
    }
    if (debug != 0) names.push_back(fmt::format("{:#x}", debug));
    return names;
}

std::optional<GcState> gc_state(const AddressSpace& memory, const PythonRuntime& python,
                                const PythonInterpreter& interpreter, std::uint64_t most,
                                bool count_objects) {
    const Layout& l = python.layout;
    const gc_state_layout& fields = l.gc_state;
    // Without lists only the collector's settings are of use.
    count_objects = count_objects && !has_collector_bits(l);
    if (!fields.generations.present() || !l.gc_generation.size.present() || !l.gc_head.size.present())
        return std::nullopt;
    const auto integer = [&](Address base, LayoutOffset field) {
        return field.present() ? memory.read<std::int32_t>(base + *field) : std::optional<std::int32_t>(0);
    };
    // 2.7 and 3.6 without symbols: unknown, and as a process starts with (note_collector_settings).
    const auto enabled = fields.enabled.present() ? integer(interpreter.gc, fields.enabled) : 1;
    if (!enabled) return std::nullopt;
    GcState state;
    state.interpreter = interpreter.id;
    state.enabled = *enabled != 0;
    state.collecting = integer(interpreter.gc, fields.collecting).value_or(0) != 0;
    state.debug = static_cast<std::uint32_t>(integer(interpreter.gc, fields.debug).value_or(0));
    for (std::size_t i = 0; i < state.generations.size(); ++i) {
        const Address at = interpreter.gc + *fields.generations + i * *l.gc_generation.size;
        GcGeneration& generation = state.generations[i];
        generation.threshold = integer(at, l.gc_generation.threshold).value_or(0);
        generation.count = integer(at, l.gc_generation.count).value_or(0);
        if (count_objects)
            count_list(memory, l, {at, static_cast<std::int8_t>(i), state.collecting}, most, generation);
    }
    if (fields.permanent_generation.present() && count_objects)
        count_list(memory, l,
                   {interpreter.gc + *fields.permanent_generation, frozen_generation, state.collecting}, most,
                   state.frozen);
    const auto pointer = [&](LayoutOffset field) {
        return field.present() ? memory.read_address(interpreter.gc + *field).value_or(Address()) : Address();
    };
    state.garbage = pointer(fields.garbage);
    state.callbacks = pointer(fields.callbacks);
    if (fields.long_lived_total.present() && fields.long_lived_pending.present()) {
        state.long_lived = memory.read<std::int64_t>(interpreter.gc + *fields.long_lived_total).value_or(-1);
        state.long_lived_new =
            memory.read<std::int64_t>(interpreter.gc + *fields.long_lived_pending).value_or(0);
    }
    return state;
}

}  // namespace heapsift
