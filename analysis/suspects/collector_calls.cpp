// A setting of the collector is made by one call of module gc, which the code of the program has by its name.

#include "analysis/suspects/collector_calls.h"

#include <algorithm>
#include <utility>

namespace heapsift {

namespace {

/// As Python starts: 700, 10, 10; from 3.13 on 2000, and from 3.14 on 0 for the old generation (Python/gc.c).
bool has_usual_thresholds(const GcState& state) {
    const auto is = [&](std::size_t generation, std::int32_t one, std::int32_t other) {
        const std::int32_t threshold = state.generations[generation].threshold;
        return threshold == one || threshold == other;
    };
    return is(0, 700, 2000) && is(1, 10, 10) && is(2, 10, 0);
}

}  // namespace

std::string call_behind(CycleReason::Kind kind) {
    switch (kind) {
        case CycleReason::Kind::disabled:
            return "disable";
        case CycleReason::Kind::threshold_0:
            return "set_threshold";
        case CycleReason::Kind::frozen:
            return "freeze";
        case CycleReason::Kind::saved:
            return "set_debug";
        default:
            return {};
    }
}

std::vector<CollectorCall> collector_calls(const CodeThatNames& code, const std::vector<GcState>& states) {
    constexpr std::size_t most = 64;
    const auto in_any = [&](auto&& is_set) { return std::any_of(states.begin(), states.end(), is_set); };
    std::vector<std::string> names;
    if (in_any([](const GcState& state) { return !state.enabled; })) names.push_back("disable");
    if (in_any([](const GcState& state) { return !has_usual_thresholds(state); }))
        names.push_back("set_threshold");
    if (in_any([](const GcState& state) { return state.debug != 0; })) names.push_back("set_debug");
    if (in_any([](const GcState& state) { return state.frozen.objects > 0; })) names.push_back("freeze");
    std::vector<CollectorCall> calls;
    for (const std::string& name : names)
        if (CodePlaces in = code.that_call({name}, "gc", most); !in.places.empty())
            calls.push_back({"gc." + name + "()", std::move(in)});
    return calls;
}

std::vector<CollectorCall> collector_calls(const CodeThatNames& code, const GcResult& collectors) {
    std::vector<GcState> states;
    for (const GcInterpreter& interpreter : collectors.interpreters)
        if (interpreter.state) states.push_back(*interpreter.state);
    return collector_calls(code, states);
}

}  // namespace heapsift
