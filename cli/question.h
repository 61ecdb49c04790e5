#pragma once

// One question about one heap: a command declares what its answer needs, and each of these is computed once,
// when it is first asked for, and shared by all that the command asks.

#include "analysis/work.h"
#include "cli/session.h"

#include <initializer_list>

namespace heapsift {

/// What costs more than a pass over the objects. Each includes those before it that it is made of.
enum class Need : std::uint8_t {
    heap,      // all objects
    graph,     // what refers to what, and from which roots
    retained,  // dominators and retained sizes
    states     // why each object is still there: the collector is replayed
};

class Question {
public:
    /// Opens the heap; nothing else is computed yet. What was not declared must not be asked for.
    explicit Question(Session& session, std::initializer_list<Need> needs = {Need::heap});

    const HeapReader& heap() const { return heap_; }
    const HeapGraph& graph();
    const RetainedSizes& retained();
    const ObjectStates& states();
    /// All that was declared, for an analysis that asks for it itself.
    Work& work() { return work_; }

private:
    bool declared(Need need) const { return needs_ >> static_cast<unsigned>(need) & 1; }

    unsigned needs_ = 0;  // a bit for each Need
    HeapReader heap_;
    Work work_;
};

}  // namespace heapsift
