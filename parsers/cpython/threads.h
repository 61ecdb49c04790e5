#pragma once

// The threads of the dumped interpreter and the Python functions that they run: where each is, and what its
// locals are.

#include "parsers/cpython/build/frames.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// A call of a Python function: running, or suspended in a generator.
struct PythonFrame {
    Address frame;          // the interpreter frame from 3.11 on; up to 3.10 the frame object
    Address object;         // the frame object; null if there is none (3.11+: nobody asked for it)
    Address code;           // its code object
    Address function;       // the function object; null up to 3.10, which does not keep it
    std::string name;       // co_qualname, up to 3.10 co_name; "?" if it cannot be read. Not escaped
    std::string file;       // co_filename. Not escaped
    std::int32_t line = 0;  // where it is now; 0 if it cannot be read
    Address globals;        // f_globals, the dict of its module
    Address variables;      // the dict of variables without slots, in a module's or class's body;
                            // else null
    // Which of its thread's native calls of the interpreter's loop runs it: 0 is the innermost. From 3.11 on
    // one such call runs several Python calls.
    std::uint32_t evaluation = 0;
};

struct PythonThread {
    Address state;                    // PyThreadState
    std::int64_t interpreter = 0;     // PythonInterpreter::id
    std::uint64_t thread_id = 0;      // pthread_self(), which is threading's `ident`
    std::optional<std::int32_t> tid;  // the kernel's; nothing if the core does not tell
    std::string name;  // as threading has it: "MainThread"; else "" (a thread that C code made). Not escaped
    bool gil = false;  // whether it had the interpreter's lock
    std::vector<PythonFrame> frames;  // the innermost call first
    std::uint32_t evaluations = 0;    // PythonFrame::evaluation of the outermost frame, and one
    // From 3.12 on: for each of these, the address of its entry frame, which lies in the native frame of the
    // interpreter's loop. Else empty.
    std::vector<Address> entry_frames;
};

/// All threads, those of the main interpreter first, its main thread at the very front. Cost: the frames; one
/// look at `threading`.
std::vector<PythonThread> python_threads(const CoreFile& core, const PythonHeap& heap);
/// The same for the threads that have notes in a core; `pid` is also the tid of the main thread.
std::vector<PythonThread> python_threads(std::span<const CoreThread> core_threads, std::int32_t pid,
                                         const PythonHeap& heap);

/// The suspended frame of a generator, coroutine or asynchronous generator; nothing if it has finished or
/// cannot be read. `generator` must be one of these.
std::optional<PythonFrame> generator_frame(const PythonHeap& heap, Address generator);

/// A call that has not ended, of a generator, coroutine or asynchronous generator.
struct GeneratorCall {
    CallState state = CallState::suspended;  // never finished
    PythonFrame frame;
    // What it waits for in `await` or `yield from`: a coroutine, a generator, an iterator of a future. Null if it is not
    // suspended there.
    Address awaited;
};

/// Reads the calls of many of them: each code object is read once. Refers to the heap. Some 300 ns a call.
class GeneratorCalls {
public:
    explicit GeneratorCalls(const PythonHeap& heap);
    ~GeneratorCalls();
    GeneratorCalls(GeneratorCalls&&) noexcept;
    GeneratorCalls(const GeneratorCalls&) = delete;

    /// `generator` must be one of these. Nothing if its call has ended or cannot be read.
    std::optional<GeneratorCall> of(Address generator) const;

private:
    struct Reader;
    std::unique_ptr<Reader> reader_;
};

/// The frames at these addresses, but those that Python does not show. They belong to no thread.
std::vector<PythonFrame> suspended_frames(const PythonHeap& heap, std::span<const Address> frames);

/// What a frame holds.
struct FrameSlot {
    enum class What : std::uint8_t {
        function,
        code,
        locals,  // f_locals of a module's or class's body: a dict
        frame,   // the frame object
        local,   // a variable, `name`; if shared with an inner function, `value` is the cell
        stack    // the value stack: arguments and results not yet used
    } what = What::local;
    Address word;       // where it stands
    Address value;      // never null
    Address name;       // a str, of `local`
    bool cell = false;  // `value` is a cell that stands for the variable
};

/// The live slots of a frame, in order of position. Of a running frame's value stack, only what is certain.
void visit_slots(const PythonHeap& heap, const PythonFrame& frame,
                 const std::function<void(const FrameSlot&)>& visit);

}  // namespace heapsift
