#include "parsers/emulation/traverse.h"

// Batches of calls, and what becomes of those that go wrong.
//
// One start of the emulator runs thousands of calls (guest_code.h). After each call the guest notes how far
// its output reaches, so it is known afterwards which call did not finish: its object is unknown, and the
// batch goes on behind it. A batch has little time; if that is over, the call at which it stopped is run once
// more, alone, with a time that is enough for a million references. A function of which calls fail more often
// than not is given up, and so is one that did not end three times. What calls take beyond
// what they may is limited in all, for a core in which everything is endless, or just takes long.
//
// All that the guest notes is checked, since its code may have written there.

#include <algorithm>
#include <cstring>
#include <ctime>

namespace heapsift {
namespace {

constexpr double seconds_a_batch = 0.25, seconds_alone = 1.0, seconds_a_failure = 20e-6;
/// What a call and a visit may take that is not charged: ten times what most take.
constexpr double seconds_a_call = 20e-6, seconds_a_visit = 1e-6;

/// CPU time of this thread.
double seconds_now() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
constexpr std::uint32_t enough_tries = 32, most_endless = 3;

}  // namespace

std::unique_ptr<Traverse> Traverse::start(const CoreFile& core) {
    if (!can_emulate()) return nullptr;
    std::unique_ptr<Traverse> traverse(new Traverse(core));
    traverse->memory_ = GuestMemory::of(core.memory());
    if (!traverse->memory_) return nullptr;
    traverse->machine_ = Machine::start(core, *traverse->memory_, Machine::Kind::plain);
    if (!traverse->machine_) return nullptr;
    return traverse;
}

bool Traverse::hopeless(const Call& call) {
    if (seconds_left_ <= 0) return true;
    const auto at = records_.find(call.function.value);
    if (at == records_.end()) return false;
    const Record& record = at->second;
    return record.endless >= most_endless ||
           (record.tried >= enough_tries && record.failed * 2 > record.tried);
}

void Traverse::failed(const Call& call, Machine::End end) {
    Record& record = records_[call.function.value];
    ++record.failed;
    seconds_left_ -= seconds_a_failure;
    if (end == Machine::End::out_of_time) {
        ++record.endless;
        ++failures_.endless;
    } else {
        ++failures_.faults;
    }
    if (failures_.first.empty())
        failures_.first = end == Machine::End::fault     ? machine_->last_fault()
                          : end == Machine::End::no_room ? "more visits than there is room for"
                                                         : "no end";
}

void Traverse::run(std::span<const Call> calls, const Result& result) {
    for (std::size_t first = 0; first < calls.size(); first += GuestMemory::calls_at_once)
        run_batch(
            calls.subspan(first, std::min<std::size_t>(GuestMemory::calls_at_once, calls.size() - first)),
            first, result);
}

/// Reports the calls that finished, from number `from` of the batch on, and returns the first that did not.
/// `visited`: how many visits there were before, and are now.
std::size_t Traverse::take(std::span<const Call> calls, std::size_t first, std::size_t from, std::size_t to,
                           std::uint64_t& visited, const Result& result) {
    const auto& room = memory_->room();
    const auto ends = memory_->own(room.ends, 8 * to);
    const auto visits = memory_->own(room.visits, 8 * GuestMemory::most_visits);
    std::size_t at = from;
    for (; at < to; ++at) {
        std::uint64_t end = 0;
        std::memcpy(&end, ends.data() + 8 * at, 8);
        const std::uint64_t bytes = end - room.visits.value;
        if (end == 0 || bytes % 8 != 0 || bytes / 8 < visited || bytes / 8 > GuestMemory::most_visits) break;
        ++records_[calls[at].function.value].tried;
        static_assert(sizeof(Address) == 8);
        result(first + at, true,
               {reinterpret_cast<const Address*>(visits.data()) + visited, bytes / 8 - visited});
        visited = bytes / 8;
    }
    return at;
}

void Traverse::run_batch(std::span<const Call> calls, std::size_t first, const Result& result) {
    const auto& room = memory_->room();
    const std::size_t count = calls.size();
    const auto pairs = memory_->own(room.calls, 16 * count);
    std::memcpy(pairs.data(), calls.data(), 16 * count);
    static_assert(sizeof(Call) == 16);
    const auto ends = memory_->own(room.ends, 8 * count);
    std::uint64_t visited = 0;
    for (std::size_t at = 0; at < count;) {
        if (hopeless(calls[at])) {
            ++failures_.not_tried;
            result(first + at++, false, {});
            continue;
        }
        // Up to the next call that is not to be tried.
        std::size_t to = at + 1;
        while (to < count && (calls[to].function == calls[to - 1].function || !hopeless(calls[to]))) ++to;
        std::memset(ends.data() + 8 * at, 0, 8 * (to - at));
        const double began = seconds_now();
        const Machine::End end = machine_->traverse(at, to, visited, seconds_a_batch);
        const std::uint64_t before = visited;
        const std::size_t next = take(calls, first, at, to, visited, result);
        charge(began, to - at, visited - before);
        if (next == to) {
            at = to;
            continue;
        }
        at = next;
        if (end == Machine::End::fault || end == Machine::End::finished) {
            ++records_[calls[at].function.value].tried;
            failed(calls[at], end);
            result(first + at, false, {});
        } else {
            run_alone(calls[at], first + at, result);
            visited = 0;
        }
        ++at;
    }
}

/// A call for which there was no time, or no room, in its batch. Uses the first place of the batch, whose own
/// call is over.
void Traverse::run_alone(const Call& call, std::size_t number, const Result& result) {
    const auto& room = memory_->room();
    std::memcpy(memory_->own(room.calls, 16).data(), &call, 16);
    std::memset(memory_->own(room.ends, 8).data(), 0, 8);
    const double began = seconds_now();
    const Machine::End end = machine_->traverse(0, 1, 0, seconds_alone);
    std::uint64_t visited = 0;
    const bool done = take({&call, 1}, number, 0, 1, visited, result) == 1;
    charge(began, 1, visited);
    if (done) return;
    ++records_[call.function.value].tried;
    failed(call, end);
    result(number, false, {});
}

std::optional<std::uint64_t> Traverse::ask(Address function, Address object) {
    if (seconds_left_ <= 0) return std::nullopt;
    const double began = seconds_now();
    const auto answer = machine_->call(function, object.value);
    charge(began, 1, 0);
    return answer;
}

void Traverse::charge(double began, std::size_t calls, std::uint64_t visits) {
    const double free =
        static_cast<double>(calls) * seconds_a_call + static_cast<double>(visits) * seconds_a_visit;
    seconds_left_ -= std::max(0.0, seconds_now() - began - free);
}

std::optional<std::vector<TraceEvent>> Traverse::traced(const Call& call, Trying trying) {
    if (hopeless(call)) return std::nullopt;
    if (!traced_) traced_ = Machine::start(core_, *memory_, Machine::Kind::traced);
    if (!traced_) return std::nullopt;
    const auto& room = memory_->room();
    std::memcpy(memory_->own(room.calls, 16).data(), &call, 16);
    std::memset(memory_->own(room.ends, 8).data(), 0, 8);
    traced_->forget_trace();
    const double began = seconds_now();
    const Machine::End end = traced_->traverse(0, 1, 0, seconds_alone);
    charge(began, 50, 0);  // a trace is slower than a call
    if (end == Machine::End::finished) {
        if (trying == Trying::object) ++records_[call.function.value].tried;
        return traced_->trace();
    }
    seconds_left_ -= seconds_a_failure;
    if (trying == Trying::change && end != Machine::End::out_of_time) return std::nullopt;
    ++records_[call.function.value].tried;
    failed(call, end);
    return std::nullopt;
}

}  // namespace heapsift
