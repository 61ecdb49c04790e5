#pragma once

// A program and its suspects, to ask of.

#include "analysis/suspects/suspects.h"
#include "tests/program/suspected.h"

namespace heapsift::test {

inline constexpr std::uint64_t mib = 1 << 20;
inline constexpr int of_a_holder = 20;                   // objects
inline constexpr int a_little = 80'000, much = 300'000;  // bytes of each: 1.5 and 5.7 MiB in all

/// A program and its suspects. `overview` may be changed before they are asked for.
struct SuspectsOf {
    explicit SuspectsOf(ProgramHeap& program)
        : analysed(program), work(analysed.heap), overview(heapsift::overview(work, 3)) {}

    std::vector<Suspect> suspects(bool code = false) {
        return heapsift::suspects(work, overview, 0, code).suspects;
    }
    std::vector<std::string> kinds() {
        std::vector<std::string> found;
        for (const Suspect& suspect : suspects()) found.push_back(suspect.cause.kind);
        return found;
    }
    /// The first of that kind; fails the test if there is none.
    Suspect row(const std::string& kind, bool code = false) {
        for (Suspect& suspect : suspects(code))
            if (suspect.cause.kind == kind) return suspect;
        throw std::runtime_error("no suspect is of the kind " + kind);
    }
    std::uint64_t memory(Address object) const { return analysed.retained.memory(analysed.id(object)); }

    Analysed analysed;
    Work work;
    OverviewResult overview;
};

inline Address list_of(ProgramHeap& program, int bytes) {
    return program.list(payloads(program, of_a_holder, bytes));
}

inline Address list_of_closures(ProgramHeap& program, int bytes) {
    std::vector<Address> functions;
    for (int i = 0; i < of_a_holder; ++i)
        functions.push_back(program.function("on_paid", {{"body", program.cell(payload(program, bytes))}}));
    return program.list(functions);
}

inline std::vector<std::string> functions_of(const Suspect& suspect) {
    std::vector<std::string> names;
    for (const SourcePlace& place : suspect.used_in) names.push_back(place.function);
    return names;
}

using Kinds = std::vector<std::string>;

}  // namespace heapsift::test
