#pragma once

// Learns from some objects of a type what its tp_traverse does with all of them.

#include "parsers/emulation/learned_slots.h"
#include "parsers/emulation/traverse.h"

#include <span>
#include <vector>

namespace heapsift {

struct TypeToLearn {
    Address function;  // its tp_traverse
    Address type;
    std::uint64_t body = 0;     // bytes that all its instances have, from the object on
    std::uint64_t before = 0;   // bytes in front of the object that belong to it
    std::uint64_t type_at = 8;  // where an object has its type
};

/// Plans, each for some of its objects: what an object does whose fields are as one of them has it, that plan
/// says. Empty if the samples do not tell. `try_changes`: also runs it on changed copies, to tell numbers that
/// are marked pointers in other objects. Cost: 10 to 30 us a sample; a change is one more.
std::vector<LearnedSlots> learn_slots(Traverse& traverse, const TypeToLearn& type,
                                      std::span<const Address> samples, bool try_changes);

}  // namespace heapsift
