#pragma once

// What each thread was doing: the Python functions it was in, and their local variables.

#include "analysis/holding/retained.h"
#include "analysis/native_calls.h"
#include "analysis/object_row.h"
#include "parsers/cpython/threads.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct LocalRow {
    std::string name;  // not escaped
    // for a variable shared with an inner function, what its cell holds; empty type if no object was found
    ObjectRow object;
    Address cell;  // for a variable shared with an inner function
};

/// A call of a Python function, or of a native one.
struct FrameRow {
    std::optional<NativeCall> native;  // then nothing but this and how it is shown is set
    PythonFrame frame;
    std::vector<LocalRow> locals;           // cut to the limit; without unbound ones
    std::uint64_t local_count = 0;          // without the limit
    bool variables_of_module = false;       // a module's body: its variables are the module's, not listed
    std::optional<std::uint64_t> retained;  // bytes that would be freed if the call returned
    // How it is shown among the others (`lay_out`):
    std::string called;            // "func()", "<module>"; not escaped
    bool in_run = false;           // in the middle of a run of the same calls at the same lines
    std::uint64_t run_before = 0;  // for the first call after the middle: the number of calls in it
    std::uint64_t run_period = 1;  // how many calls it is that occur again and again
};

struct ThreadRow {
    PythonThread thread;           // its frames are moved to `frames`
    bool known = true;             // to Python; else it has a tid and native calls only
    bool got_signal = false;       // the signal that ended the process
    std::vector<FrameRow> frames;  // innermost call first
    // Why the list of native calls ends; nothing if they were not read.
    std::optional<NativeStack::End> native_end;
    std::optional<std::uint64_t> retained;  // bytes, by its calls and its own data together
    bool name_is_given = true;              // by the program, not by Python
};

/// Where the process was when a signal ended it.
struct SignalPlace {
    std::int32_t tid = 0;
    Address instruction;
    std::string module;          // path as in the core; empty if no module has the instruction. Not escaped
    std::string function;        // for people; empty if no symbol covers it
    std::uint64_t offset = 0;    // of the instruction in the function, else in the module, bytes
    bool stack_is_full = false;  // it touched what lies below its stack: too many calls
};

/// Greenlets that wait in the same calls.
struct WaitingGreenlets {
    std::uint64_t count = 0;
    Address example;                        // of one of them
    std::vector<FrameRow> frames;           // of that one, innermost first, without locals
    std::optional<std::uint64_t> retained;  // bytes, by all of them, each for itself
};

/// Threads that stand in the same calls, each at the same line, as those of a pool do.
struct AlikeThreads {
    std::vector<std::size_t> rows;  // of ThreadsResult::threads: the first is the example, which retains most
    std::optional<std::uint64_t> retained;  // bytes, by all of them, each for itself
};

struct ThreadsResult {
    std::vector<ThreadRow> threads;
    std::vector<AlikeThreads>
        alike;  // all threads, in their order; by `lay_out`. A few alike are rows of their own
    std::vector<WaitingGreenlets> greenlets;  // most first
    std::uint64_t greenlet_count = 0;         // that wait

    ProcessInfo process;
    std::optional<SignalPlace> signal;         // nothing if the process lived when the core was taken
    bool native = false;                       // native calls were read
    std::uint64_t machinery = 0;               // native calls that people are not shown
    std::vector<std::int32_t> native_threads;  // threads of the core that Python does not know
    struct Largest {
        std::string function;
        LocalRow local;
    };
    bool any_has_gil = false;        // or none needs it: a free-threaded build
    std::optional<Largest> largest;  // of the locals listed, the one that retains most (or has most memory)
};

/// Decides how each thread and call is shown, and which threads are shown as one. Part of `threads`.
void lay_out(ThreadsResult& result);

/// `limit`: locals listed per frame; 0: all. Without `retained`, optional values stay empty. `native`: with
/// native calls, and the threads that Python does not know.
ThreadsResult threads(const HeapReader& heap, std::size_t limit, const RetainedLookup* retained = nullptr,
                      bool native = false, KeptAnswers* answers = nullptr);

}  // namespace heapsift
