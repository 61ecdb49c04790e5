#pragma once

// The native calls of a thread by name: functions, source lines, inlined calls; and where among them each of
// Python's calls ran.

#include "analysis/kept_answers.h"
#include "parsers/cpython/threads.h"
#include "parsers/elf/unwinder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct NativeCall {
    std::string function;  // for people: demangled; empty if neither symbol nor debug information tells
    std::string module;    // path as in the core; empty if its code is in no module. Not escaped
    Address instruction;   // where it is; for a caller, where the call returns to
    std::optional<std::uint64_t> offset;         // of the instruction from the function's start, bytes
    std::optional<std::uint64_t> module_offset;  // from the module's load address, bytes
    std::string file;                            // source file as the compiler was told; empty if unknown
    std::uint32_t line = 0;                      // 0 if unknown
    bool inlined = false;         // into the next call of the list, which is at the same instruction
    bool signal_handler = false;  // no call: the next one was interrupted by a signal, whose handler is above
    bool evaluates = false;       // the interpreter's loop, which runs Python's calls
    bool runs_unknown = false;    // `evaluates`, and Python does not know what: another greenlet's calls
    bool machinery = false;       // how the interpreter or the system makes calls; left out for people
};

struct NativeCalls {
    std::vector<NativeCall> calls;  // innermost first
    struct Evaluation {
        std::size_t call = 0;  // index of the call that is the interpreter's loop
        Address stack, frame_end;
    };
    std::vector<Evaluation> evaluations;  // innermost first
    NativeStack::End end = NativeStack::End::outermost;
};

/// Names the native calls of threads of one core, which must live as long.
class NativeCallReader {
public:
    /// `interpreter`: the index of the module that is the interpreter, or -1. `entry_frames`: of all threads
    /// (PythonThread::entry_frames).
    NativeCallReader(const CoreFile& core, std::int32_t interpreter);
    ~NativeCallReader();
    /// Names the calls of all threads, or takes their names from `answers`; then `calls_of` costs little.
    void name_all(const HeapReader& heap, KeptAnswers* answers);
    /// `thread`: what Python knows of it; null for a thread that never ran Python. Cost: 1 µs a frame, and
    /// for a module with debug information once a pass over it.
    NativeCalls calls_of(const CoreThread& of, const PythonThread* thread);
    /// What people call the module: its file's name.
    static std::string name_of(const Module& module);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Which of Python's evaluations (PythonFrame::evaluation) each of `native.evaluations` is; -1: none of them.
std::vector<std::int64_t> match_evaluations(const AddressSpace& memory, const NativeCalls& native,
                                            const PythonThread& thread, std::span<const PythonFrame> frames);

}  // namespace heapsift
