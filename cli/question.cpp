// What a command declares can be read off its first line, and what it costs is known from that: a command
// that asked for more than it said would be slow for reasons that nobody sees.

#include "cli/question.h"

#include <cassert>

namespace heapsift {

Question::Question(Session& session, std::initializer_list<Need> needs)
    : heap_(session.open_heap()), work_(heap_, session.progress()) {
    for (const Need need : needs) needs_ |= 1U << static_cast<unsigned>(need);
}

const HeapGraph& Question::graph() {
    assert(declared(Need::graph) || declared(Need::retained) || declared(Need::states));
    return work_.graph();
}

const RetainedSizes& Question::retained() {
    assert(declared(Need::retained));
    return work_.retained();
}

const ObjectStates& Question::states() {
    assert(declared(Need::states));
    return work_.states();
}

}  // namespace heapsift
