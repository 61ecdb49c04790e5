#pragma once

// What is known of one object: sizes, counts, a short value, a named reference. Plain values, independent of
// any layout.

#include "parsers/base/address.h"
#include "parsers/cpython/step.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

struct ObjectSizes {
    // what sys.getsizeof returns, in bytes (the C base's, if a class overrides it in Python)
    std::uint64_t size = 0;
    std::uint64_t memory = 0;  // bytes in allocations that die with the object alone; 0 for static objects
    std::uint64_t array_data = 0;  // the part of `memory` that is array elements
    // the part of `array_data` whose bytes are not in the core; included in `array_data`
    std::uint64_t not_saved = 0;
    std::uint64_t block_size =
        0;                 // what the allocator handed out for the object itself; 0 for static objects
    bool damaged = false;  // its lengths, tables or count are impossible: overwritten or torn. The sizes are
                           // limited to what can be there
};

struct ObjectFacts : ObjectSizes {
    // as sys.getrefcount returns it, minus the argument of that call; see `immortal`
    std::int64_t refcount = 0;
    bool immortal = false;
    bool gc_tracked = false;
    // false if the type has an unknown __sizeof__ of its own, or the body is damaged
    bool size_is_certain = true;
    // false if they are guesses: aligned words of the body that are addresses of objects
    bool references_exact = true;
};

/// Two views of what an object refers to. *Reported* is what its type's traverse visits, in that
/// multiplicity: strong and `reported`. `gc.get_referents` returns it, and the collector counts with it.
/// *Real* is what it owns, each counted reference once: strong, hidden, native, and the guesses that are
/// followed. Reference counts are the sum of these, and they are what holds memory.
enum class ReferenceKind : std::uint8_t {
    strong,    // owned, and traverse reports it
    hidden,    // owned, but traverse does not report it; a proved guess is hidden
    reported,  // traverse reports it, but another object owns it: the values of an instance whose __dict__
               // was asked for
    weak,      // not owned and not reported
    guess,     // the address of an object, and perhaps a reference: the target's count has room
               // for it
    native     // owned, from memory that is not an object
};

inline bool is_owned(ReferenceKind kind) {
    return kind == ReferenceKind::strong || kind == ReferenceKind::hidden || kind == ReferenceKind::native;
}

/// One reference.
struct Reference {
    Address target;
    ReferenceKind kind = ReferenceKind::strong;
    bool followed = true;  // owned, as far as is known; false for weak and reported ones
    bool proved = false;   // hidden: a guess that brings the references found up to the target's count
    Address word;          // of a native reference: where it stands
    ReferenceStep step;    // what it is called

    std::string name() const { return notation(step); }
};

}  // namespace heapsift
