#pragma once

// The native calls of a thread: from its registers and its stack, by the unwind tables of its modules.

#include "parsers/elf/core_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

/// One frame of a native stack.
struct NativeFrame {
    Address instruction;  // where it is; for a caller, where the call returns to
    Address stack;        // its stack pointer
    Address frame_end;    // the CFA, the stack pointer of its caller; null if it is unknown
    bool exact = false;   // `instruction` is the one at which it was stopped: the innermost frame, and what a
                          // signal interrupted
    bool signal_trampoline = false;  // no function: a signal's handler returns to it
    const Module* module = nullptr;  // null: its code is in no module

    /// An address in the instruction that it executes, for looking up what it is. (A call may be the last
    /// instruction of its function.)
    Address in_function() const { return exact ? instruction : instruction - 1; }
};

struct NativeStack {
    enum class End : std::uint8_t {
        outermost,    // the first function of the thread
        no_module,    // the code of the last frame is in no module
        no_tables,    // its module's unwind tables were found neither in a file nor in the core
        no_rules,     // these have no entry for its address
        unreadable,   // where its caller's registers were saved is not known or not in the core
        not_growing,  // its caller's stack would not lie above its own: damaged, or no stack
        too_many      // more than `most_frames`
    } end = End::outermost;
    std::vector<NativeFrame> frames;  // innermost first

    bool complete() const { return end == End::outermost; }
};

/// Unwinds the threads of one core, which must live as long.
class Unwinder {
public:
    static constexpr std::size_t most_frames = 20'000;          // of one thread
    static constexpr std::size_t most_frames_of_all = 200'000;  // of all threads together

    explicit Unwinder(const CoreFile& core);
    ~Unwinder();
    /// Never throws for what a core holds. Cost: about 1 µs a frame; the tables of each module are opened
    /// once.
    NativeStack stack_of(const CoreThread& thread);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
