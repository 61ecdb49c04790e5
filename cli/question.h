#pragma once

// One question about one heap: a command declares what its answer needs, and each of these is computed once,
// when it is first asked for, and shared by all that the command asks.

#include "analysis/work.h"
#include "cli/address_lookup.h"
#include "cli/session.h"
#include "parsers/reading/core_heap.h"

#include <initializer_list>

namespace heapsift {

/// What an answer takes beyond the objects, their types and the runtime. `graph` and `states` bring references
/// and roots, `retained` these and sizes; sums over many objects need `sizes`.
enum class Need : std::uint8_t {
    sizes,       // columns of the heap: of all objects
    memory,      // what all memory is used for
    references,  // what refers to what
    roots,       // modules, threads, and what they hold
    graph,       // references and roots, in one graph
    retained,    // dominators and retained sizes
    states       // why each object is still there: the collector is replayed
};

class Question {
public:
    /// Opens the heap; nothing else is computed yet. What was not declared must not be asked for.
    explicit Question(Session& session, std::initializer_list<Need> needs);

    /// The objects, and no other column before `filled` or one of those below was called: what looks up the
    /// object that was asked about can say that there is none before the work.
    const HeapReader& heap() const { return heap_; }
    /// The object that is meant (address_lookup.h). An expression needs all columns.
    ObjectId object(const AddressArgument& argument);
    /// With all columns that were declared.
    const HeapReader& filled();
    const HeapGraph& graph();
    const RetainedSizes& retained();
    const ObjectStates& states();
    /// All that was declared, for an analysis that asks for it itself.
    Work& work();

private:
    bool declared(Need need) const { return needs_ >> static_cast<unsigned>(need) & 1; }

    unsigned needs_ = 0;  // a bit for each Need
    Session& session_;
    CoreHeap heap_;
    bool filled_ = false;
    Work work_;
};

}  // namespace heapsift
