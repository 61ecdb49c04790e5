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
        if (auto ties = tied_in(work.heap(), code, kind.path); !ties.empty())
            found.kinds.push_back({kind.example, std::move(ties)});
    }
    found.calls = collector_calls(code, collectors_for_words(work.heap()).collectors);
    return found;
}

CycleCode cycle_code(Work& work, const CycleRow& row) {
    const CodeThatNames code(work.heap(), work.answers());
    CycleCode found;
    if (auto ties = tied_in(work.heap(), code, row.path); !ties.empty())
        found.kinds.push_back({row.cycle.id, std::move(ties)});
    return found;
}

}  // namespace heapsift
