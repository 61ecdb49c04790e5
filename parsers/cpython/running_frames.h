#pragma once

// The frames of running functions, from 3.11 on: interpreter frames, which are not objects.
// (running_frames.cpp says what is alive in them.)

#include "parsers/cpython/python_heap.h"
#include "parsers/cpython/step.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What a word of an interpreter frame holds.
enum class FrameWord : std::uint8_t { function, code, locals, frame, local, value };

/// A place in the frames of a function, as a number for ReferenceName.
constexpr std::uint64_t frame_place(FrameWord what, std::uint64_t local) {
    return static_cast<std::uint64_t>(what) << 32 | (local & 0xffffffff);
}
/// "load() local 'orders'", "load() <code>": what the place is called in the frames of `code`. Not escaped.
std::string frame_place_name(const PythonHeap& heap, Address code, std::uint64_t place);
/// The same as a step.
ReferenceStep frame_place_step(const PythonHeap& heap, Address code, std::uint64_t place);

class RunningFrames {
public:
    RunningFrames() = default;
    /// Walks the frames of every thread of every interpreter. Empty up to 3.10, where frames are objects.
    explicit RunningFrames(const PythonHeap& heap);

    /// Whether `word` lies in memory that a thread has for its frames.
    bool is_stack(Address word) const;
    /// The name of what a live slot of a frame holds: "load() local 'orders'", "load() <code>". Nothing for
    /// any other word.
    std::optional<std::string> slot_name(const PythonHeap& heap, Address word) const;
    bool is_slot(Address word) const { return slot(word) != nullptr; }

private:
    struct Slot {
        Address word;
        Address code;
        FrameWord what;
        std::uint32_t number = 0;  // of a local
    };
    const Slot* slot(Address word) const;
    void walk_chunks(const PythonHeap& heap, Address thread);
    void add_frame(const PythonHeap& heap, Address frame);

    std::vector<AddressRange> chunks_;  // sorted
    std::vector<Slot> slots_;           // by word
};

}  // namespace heapsift
