#pragma once

// Which of the tasks that wait can never go on, since nobody who acts can reach what they wait for.

#include "analysis/awaits.h"
#include "analysis/holding/heap_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// A task that waits.
struct WaitingTask {
    ObjectId task = no_object;
    ObjectId future = no_object;     // that it waits for; never `no_object`
    std::vector<ObjectId> own = {};  // its coroutines and their frames: what acts only when it does
    bool by_time = false;            // a timer ends its wait
};

enum class Ending : std::uint8_t {
    never,    // what it waits for never comes
    unknown,  // it may come
    comes     // a timer ends the wait
};

/// One for each of `tasks`. `going_on`: tasks that wait for nothing. One walk over the heap: 20 to 100 ns an object, and
/// a bit for each.
std::vector<Ending> task_endings(const HeapGraph& graph, const AsyncTypes& types,
                                 std::span<const WaitingTask> tasks, std::span<const ObjectId> going_on);

}  // namespace heapsift
