#include "analysis/suspects/cycle_code.h"

#include <algorithm>
#include <utility>

namespace heapsift {
CycleCode cycle_code(Work& work, const CyclesResult& result) {
    constexpr std::size_t most = 3;
    const CodeThatNames code(work.heap(), work.answers());
    CycleCode found;
    for (const CycleKind& kind : result.kinds) {
        if (found.kinds.size() == most) break;
        auto ties = tied_in(work.heap(), code, kind.path);
        if (ties.empty()) continue;
        const auto same = std::find_if(found.kinds.begin(), found.kinds.end(),
                                       [&](const CycleCode::Ties& one) { return one.in == ties; });
        if (same == found.kinds.end())
            found.kinds.push_back({{kind.example}, std::move(ties)});
        else
            same->examples.push_back(kind.example);
    }
    std::vector<GcState> collectors = collectors_for_words(work.heap()).collectors;
    for (const Cycle& cycle : result.cycles)  // their lists were not counted
        if (cycle.reason.kind == CycleReason::Kind::frozen && cycle.reason.interpreter < collectors.size())
            collectors[cycle.reason.interpreter].frozen.objects = 1;
    found.calls = collector_calls(code, collectors);
    return found;
}

CycleCode cycle_code(Work& work, const CycleRow& row) {
    const CodeThatNames code(work.heap(), work.answers());
    CycleCode found;
    if (auto ties = tied_in(work.heap(), code, row.path); !ties.empty())
        found.kinds.push_back({{row.cycle.id}, std::move(ties)});
    return found;
}

}  // namespace heapsift
