#include "parsers/emulation/calls.h"

// A call may do what code does: count references, take memory from the allocator, raise an exception. All of
// that happens in this process' own copy of the memory and is taken back (machine.cpp). It has no lock, no
// other thread and no system, so a call that needs those does not come to its end.
//
// The limits are numbers of blocks of code, not seconds: what is found is the same on each machine, under each
// load. Time is a second limit, for instructions that repeat themselves.

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_blocks = 200, all_blocks = 10'000'000;
constexpr std::uint64_t blocks_to_start = 100;  // what it takes to start a call, in blocks
constexpr double most_seconds = 0.05;

}  // namespace

std::unique_ptr<Calls> Calls::start(const CoreFile& core) {
    std::unique_ptr<Calls> calls(new Calls);
    calls->memory_ = GuestMemory::of(core.memory());
    if (!calls->memory_) return nullptr;
    calls->machine_ = Machine::start(core, *calls->memory_, Machine::Kind::takes_back);
    if (!calls->machine_) return nullptr;
    calls->blocks_left_ = all_blocks;
    return calls;
}

std::optional<std::uint64_t> Calls::call(Address function, Address object, Address second) {
    if (exhausted()) return std::nullopt;
    const auto returned = machine_->call(function, object.value, second.value, most_seconds, most_blocks);
    // A call that fails took longer than one that ends: its reason is looked for.
    const std::uint64_t taken = machine_->blocks() + blocks_to_start * (returned ? 1 : 10);
    blocks_left_ -= std::min(blocks_left_, taken);
    return returned;
}

}  // namespace heapsift
