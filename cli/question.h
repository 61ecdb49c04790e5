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
    native,      // blocks of C code, and who refers to them
    references,  // which object refers to which
    holders,     // the same, and what holds objects from C code
    roots,       // modules, threads, and what they hold
    graph,       // references and roots, in one graph
    retained,    // dominators and retained sizes
    states       // why each object still exists; the collector is replayed
};

class Question {
public:
    /// Opens the heap and computes nothing else yet. Only what is declared in `needs` may be asked for.
    /// What is computed is kept in the core's index after the answer was written, while this still exists.
    explicit Question(Session& session, const std::vector<Need>& needs);
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() { session_.keep_afterwards(nullptr, nullptr); }

    /// The objects. Columns are absent until `filled` or a function below it is called, so a command that
    /// looks up an object can report that there is none before the work.
    const HeapReader& heap() const { return heap_; }
    /// The object that is meant (address_lookup.h). An expression needs all declared columns, and fills them.
    ObjectId object(const AddressArgument& argument);
    /// With all declared columns.
    const HeapReader& filled();
    /// Declares retained sizes and states as well if the core's index has them: then a person sees them at no
    /// cost. (What is printed for machines is the same with an index and without.)
    void take_what_is_at_hand();
    /// Declares retained sizes if the core's index has them, and returns whether it does: for an answer that is
    /// the same without them, and takes longer.
    bool take_kept_retained();
    /// Whether retained sizes can be told without further cost: they were declared. An answer that can do
    /// without them asks this before `graph`, `retained` and `states`.
    bool graph_at_hand() const { return declared(Need::retained); }
    /// Declares something else, before the graph was asked for.
    void also(Need need) {
        declare(need);
        filled_ = false;
    }
    const HeapGraph& graph();
    const RetainedSizes& retained();
    const ObjectStates& states();
    /// What is kept of answers to this core's questions; never null.
    KeptAnswers* answers() { return &session_.answers(); }
    /// All that was declared, for an analysis that takes a Work.
    Work& work();

private:
    void make_room(const Columns& columns);
    void declare(Need need) { needs_ |= 1U << static_cast<unsigned>(need); }
    bool declared(Need need) const { return needs_ >> static_cast<unsigned>(need) & 1; }

    unsigned needs_ = 0;  // one bit for each Need
    Session& session_;
    CoreHeap heap_;
    bool filled_ = false;
    Work work_;
};

}  // namespace heapsift
