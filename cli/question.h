#pragma once

// One question about one heap: a command declares what its answer needs. Each of these is computed once, when
// first used, and shared. What was not declared is not computed.

#include "analysis/work.h"
#include "cli/address_lookup.h"
#include "cli/session.h"
#include "parsers/reading/core_heap.h"

#include <vector>

namespace heapsift {

/// What an answer needs beyond the objects, their types and the runtime. `graph` and `states` include
/// references and roots; `retained` includes these and sizes. Sums over many objects need `sizes`.
enum class Need : std::uint8_t {
    sizes,       // the size and memory of every object
    memory,      // what all mapped memory is used for
    references,  // which object refers to which
    roots,       // modules, threads, and what they hold
    graph,       // references and roots, in one graph
    retained,    // dominators and retained sizes
    states       // why each object still exists; the collector is replayed
};

class Question {
public:
    /// Opens the heap and computes nothing else yet. Only what is declared in `needs` may be asked for.
    explicit Question(Session& session, const std::vector<Need>& needs);

    /// The objects. Columns are absent until `filled` or a function below it is called, so a command that
    /// looks up an object can report that there is none before the work.
    const HeapReader& heap() const { return heap_; }
    /// The object that is meant (address_lookup.h). An expression needs all declared columns, and fills them.
    ObjectId object(const AddressArgument& argument);
    /// With all declared columns.
    const HeapReader& filled();
    /// Whether retained sizes can be told without further cost: they were declared. An answer that can do
    /// without them asks this before `graph`, `retained` and `states`.
    bool graph_at_hand() const { return declared(Need::retained); }
    const HeapGraph& graph();
    const RetainedSizes& retained();
    const ObjectStates& states();
    /// All that was declared, for an analysis that takes a Work.
    Work& work();

private:
    bool declared(Need need) const { return needs_ >> static_cast<unsigned>(need) & 1; }

    unsigned needs_ = 0;  // one bit for each Need
    Session& session_;
    CoreHeap heap_;
    bool filled_ = false;
    Work work_;
};

}  // namespace heapsift
