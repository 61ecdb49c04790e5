#pragma once

// References from memory that belongs to no Python object. (How they are told from leftovers:
// native_references.cpp.)

#include "parsers/cpython/running_frames.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/object_index.h"
#include "parsers/snapshot/owned_memory.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapsift {

/// Where a word lies, the most credible place first.
enum class NativePlace : std::uint8_t {
    frame,    // a slot of a running function (3.11 and later)
    at_exit,  // a callback that atexit has
    signal_handler,
    interpreter,  // the interpreter's own state: fields, caches, thread states
    module_data,  // variables of a program or library
    block,        // a block that malloc or pymalloc handed out to C code, or a mapping
    stack         // a thread's native stack, above its stack pointer
};

struct NativeReference {
    Address word;  // its own address, not its value
    ObjectId target = no_object;
    NativePlace place = NativePlace::block;
    std::array<std::uint8_t, 3> unused{};  // no padding: it is kept as it lies in memory
};

/// In words: "load() local 'orders'", "<libfoo.so cache+0x10>", "<python3.11+0x5a3c10>", "<interpreter
/// state>", "<block of C code>", "<native stack>".
std::string native_place(const CoreFile& core, const PythonHeap& heap, const RunningFrames& frames,
                         const NativeReference& reference);

struct NativeReferences {
    std::vector<NativeReference> found;  // sorted by word
    std::vector<ObjectId> unexplained;   // the objects that they were looked for of, by id
};

/// `left(id)` gives the number of references to an object that are still unexplained; it is called once for every
/// object. `places` is used up. Cost: one sweep over the memory that is not Python's.
NativeReferences find_native_references(const CoreFile& core, const ObjectAccess& access,
                                        AddressView addresses, const ObjectIndex& index, OwnedPlaces places,
                                        const RunningFrames& frames,
                                        const std::function<std::uint64_t(ObjectId)>& left);

}  // namespace heapsift
