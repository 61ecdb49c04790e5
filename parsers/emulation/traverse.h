#pragma once

// A type's own tp_traverse, run for many objects. (traverse.cpp says what becomes of code that does not end.)

#include "parsers/emulation/machine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// Uses the core. Not thread-safe.
class Traverse {
public:
    /// Null if nothing can be emulated here.
    static std::unique_ptr<Traverse> start(const CoreFile& core);

    struct Call {
        Address function, object;
    };
    /// Called once for each call, in order. `exact` is false if the code did not come to its end: then
    /// nothing is known. `visited` is what it passed to `visit`, in that order and multiplicity; the span is
    /// valid during the call.
    using Result = std::function<void(std::size_t call, bool exact, std::span<const Address> visited)>;
    /// Cost: 1 to 3 us a call. `traverse` of a function that fails more often than not is not tried any more.
    void run(std::span<const Call> calls, const Result& result);

    /// What the function returns for an object (tp_is_gc); nothing if it does not return, or no time is left for
    /// what takes long. 10 us.
    std::optional<std::uint64_t> ask(Address function, Address object);

    /// What the machine recorded of one call; nothing if it does not finish. A changed copy of an object, in the
    /// guest's room for them, may fail: that is not held against the function.
    enum class Trying : std::uint8_t { object, change };
    std::optional<std::vector<TraceEvent>> traced(const Call& call, Trying trying);
    GuestMemory& memory() { return *memory_; }
    /// CPU seconds for all that does not end, or takes long; then nothing is tried any more. 10 unless set.
    void set_seconds(double seconds) { seconds_left_ = seconds; }

    struct Failures {
        std::uint64_t faults = 0, endless = 0, not_tried = 0;
        std::string first;  // why the first of them failed
    };
    const Failures& failures() const { return failures_; }

private:
    struct Record {
        std::uint32_t tried = 0, failed = 0, endless = 0;
    };
    explicit Traverse(const CoreFile& core) : core_(core) {}
    void run_batch(std::span<const Call> calls, std::size_t first, const Result& result);
    void run_alone(const Call& call, std::size_t number, const Result& result);
    bool hopeless(const Call& call);
    void failed(const Call& call, Machine::End end);
    /// Takes from the time that is left what so many calls, with so many visits, took since `began` beyond what
    /// they may.
    void charge(double began, std::size_t calls, std::uint64_t visits);
    std::size_t take(std::span<const Call> calls, std::size_t first, std::size_t from, std::size_t to,
                     std::uint64_t& visited, const Result& result);

    const CoreFile& core_;
    std::unique_ptr<GuestMemory> memory_;
    std::unique_ptr<Machine> machine_, traced_;
    std::unordered_map<std::uint64_t, Record> records_;  // by function
    Failures failures_;
    double seconds_left_ = 10;
};

}  // namespace heapsift
