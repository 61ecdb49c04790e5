#pragma once

// Greenlets: calls of Python functions that wait on no thread's stack, as gevent, eventlet and SQLAlchemy's asyncio
// make them. (How they are read: greenlets.cpp.)

#include "parsers/cpython/object_kind.h"
#include "parsers/cpython/threads.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct GreenletFacts {
    enum class State : std::uint8_t { unstarted, suspended, running, finished } state = State::unstarted;
    // The rest of a suspended one. Else null and 0.
    Address frame;  // of its innermost call: an interpreter frame from 3.11 on, a frame object up to 3.10
    // While it waits, what others need of its place on the machine's stack [stack, stack + saved) is copied to
    // a block of its own.
    Address stack, stack_end, copy;
    std::uint64_t saved = 0;  // bytes
    Address data_stack;       // the chunk of memory that its interpreter frames lie in; null up to 3.10
};

/// Whether the object is a greenlet, or of a class that derives from it.
bool is_greenlet(const TypeInfo& type);

/// Nothing where its fields do not prove themselves (another version of the library, damage).
std::optional<GreenletFacts> greenlet_facts(const ObjectReader& greenlet);

/// The calls of a suspended greenlet, the innermost first; at most 65,536. Empty for others.
std::vector<PythonFrame> greenlet_frames(const ObjectReader& greenlet);

}  // namespace heapsift
