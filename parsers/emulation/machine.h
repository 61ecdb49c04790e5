#pragma once

// A processor that runs code of the dumped process on its memory. (machine.cpp says what that takes.)

#include "parsers/elf/core_file.h"
#include "parsers/emulation/guest_memory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Whether code can be emulated on this machine: the build has Unicorn, and so has the machine. Not with
/// HEAPSIFT_EMULATION=off in the environment, for tests.
bool can_emulate();
/// "Unicorn 2.0"; empty if it cannot.
std::string emulator_name();

/// What a traced machine saw, in order.
struct TraceEvent {
    enum class Kind : std::uint8_t { read, visit } kind;
    std::uint8_t bytes;  // of a read
    Address address;     // of a read, or what was visited
};

/// Uses `core` and `memory`, which must outlive it. Not thread-safe; several machines may share a memory if
/// they run one after the other.
class Machine {
public:
    enum class Kind : std::uint8_t {
        plain,
        traced,  // records what is read outside of our own room, and what is visited: some ten times slower
        takes_back  // the same, and code may write to the process' memory: that is undone
    };
    /// Null if nothing can be emulated. One that takes back changes the memory that `memory` refers to, until
    /// the next call or `take_back`: nobody else may use that meanwhile, so it belongs in a child process.
    static std::unique_ptr<Machine> start(const CoreFile& core, GuestMemory& memory, Kind kind);
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    enum class End : std::uint8_t {
        finished,
        fault,       // it read what is not there, wrote, or met an instruction that is none
        no_room,     // what it visits does not fit
        out_of_time  // it used up its CPU time
    };

    /// Runs the calls from number `first` up to `count` in the room: of each, `tp_traverse(object, visit,
    /// NULL)`. What is visited is stored from number `visited` on; after each call, where the next visit will
    /// be stored goes to the room's `ends`, which must be 0 before. Stops at the first call that does not
    /// finish. (The code can write all of this; whoever reads it checks it.)
    End traverse(std::uint64_t first, std::uint64_t count, std::uint64_t visited, double seconds);

    /// What the function, called with one argument, returns; nothing if it does not return.
    std::optional<std::uint64_t> call(Address function, std::uint64_t argument, double seconds = 0.2);

    /// The same with two arguments; nothing either if more than `most_blocks` blocks of code would run.
    std::optional<std::uint64_t> call(Address function, std::uint64_t first, std::uint64_t second,
                                      double seconds, std::uint64_t most_blocks);
    /// How many blocks the last such call ran, if this machine takes back.
    std::uint64_t blocks() const;
    void take_back();

    /// Of what ran since the last `forget_trace` or `call`; at most some thousands.
    const std::vector<TraceEvent>& trace() const;
    void forget_trace();

    /// Why the last run ended with a fault: for people who look for the reason.
    const std::string& last_fault() const;

private:
    struct State;
    explicit Machine(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
