#pragma once

// The threads of the dumped interpreter, and the Python functions that they run: where each is, and what its
// locals are.

#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// A call of a Python function: running, or suspended in a generator.
struct PythonFrame {
    Address frame;     // from 3.11 on the interpreter frame, which is no object; up to 3.10 the frame object
    Address object;    // the frame object; null where there is none (3.11+: nobody asked for it)
    Address code;      // its code object
    Address function;  // the function object; null up to 3.10, where nobody keeps it
    std::string name;  // co_qualname, up to 3.10 co_name; "?" where it does not read. Not escaped
    std::string file;  // co_filename. Not escaped
    std::int32_t line = 0;  // where it is now; 0 where it does not read
    Address globals;        // f_globals, the dict of its module
    Address variables;  // the dict of its variables, where they have no slots: a module's or class's body;
                        // else null
};

struct PythonThread {
    Address state;                    // PyThreadState
    std::int64_t interpreter = 0;     // PythonInterpreter::id
    std::uint64_t thread_id = 0;      // pthread_self(), which is threading's `ident`
    std::optional<std::int32_t> tid;  // of the kernel; nothing where the core does not tell
    std::string name;  // as threading has it: "MainThread"; else "" (a thread that C code made). Not escaped
    bool gil = false;  // it had the interpreter's lock
    std::vector<PythonFrame> frames;  // the innermost call first
};

/// All threads, those of the main interpreter first, its main thread first. Cost: the frames; one look at
/// `threading`.
std::vector<PythonThread> python_threads(const CoreFile& core, const PythonHeap& heap);
/// The same for the threads that a core has notes of; `pid` is also the number of the main one.
std::vector<PythonThread> python_threads(std::span<const CoreThread> core_threads, std::int32_t pid,
                                         const PythonHeap& heap);

/// The suspended frame of a generator, coroutine or asynchronous generator; nothing where it is finished or
/// does not read. `generator` must be one.
std::optional<PythonFrame> generator_frame(const PythonHeap& heap, Address generator);

/// What a frame holds.
struct FrameSlot {
    enum class What : std::uint8_t {
        function,
        code,
        locals,  // f_locals: a dict, of a module's or class's body
        frame,   // the frame object
        local,   // a variable: `name`; where it is shared with an inner function, `value` is the cell
        stack    // the value stack: arguments and results that are not yet used
    } what = What::local;
    Address word;       // where it stands
    Address value;      // never null
    Address name;       // a str, of `local`
    bool cell = false;  // `value` is a cell that stands for the variable
};

/// The live slots of a frame, in order of their place. Of the value stack of a frame that runs, only what is
/// certain.
void visit_slots(const PythonHeap& heap, const PythonFrame& frame,
                 const std::function<void(const FrameSlot&)>& visit);

}  // namespace heapsift
