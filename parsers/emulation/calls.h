#pragma once

// Single short calls of a dumped process' functions, such as getters. (calls.cpp says what they may do.)

#include "parsers/emulation/machine.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

/// Uses the core. It changes the bytes of the core's memory during a call, in this process' own copy: so it
/// belongs in a child process (in_child.h). Not thread-safe.
class Calls {
public:
    /// Null if nothing can be emulated here.
    static std::unique_ptr<Calls> start(const CoreFile& core);

    /// What the function returns; nothing if it does not come to its end soon, or if all calls together have
    /// run for too long. Cost: some 20 us.
    std::optional<std::uint64_t> call(Address function, Address object, Address second);
    /// Of the last call: what it read.
    const std::vector<TraceEvent>& trace() const { return machine_->trace(); }
    /// Undoes what the last call wrote; the next call does so as well.
    void take_back() { machine_->take_back(); }
    GuestMemory& memory() { return *memory_; }
    bool exhausted() const { return blocks_left_ == 0; }

private:
    Calls() = default;
    std::unique_ptr<GuestMemory> memory_;
    std::unique_ptr<Machine> machine_;
    std::uint64_t blocks_left_ = 0;
};

}  // namespace heapsift
