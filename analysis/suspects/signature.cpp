// Whoever gets a thousand cores wants to know how many causes they have. Crash reporters group by the frames of
// the stack; no frame says why a heap is full, but what holds most of it does. Two runs with the same fault share the
// program, the rule by which the largest suspect is known, and the names by which the program's own code reaches it;
// they never share addresses, ids and exact sizes, and not always the version of Python or how they ended: a leak that
// the kernel stopped is the one that gcore saw alive. A crash has another cause than what filled the heap meanwhile.

#include "analysis/suspects/signature.h"

#include "analysis/path_expression.h"
#include "analysis/suspects/pattern.h"
#include "analysis/suspects/renamed_types.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <vector>

namespace heapsift {
namespace {

/// A signal that the kernel sent for what an instruction did; gcore stops a process with signals of its own.
bool is_fault(const ProcessInfo& process) {
    const int signal = process.signal.value_or(0);
    const bool of_code = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    return of_code && process.signal_code.value_or(0) > 0 && !was_alive(process);
}

/// abort(), which code in C calls.
bool is_abort(const ProcessInfo& process) {
    return process.signal.value_or(0) == SIGABRT && process.signal_code.value_or(0) == SI_TKILL &&
           !was_alive(process);
}

std::string signal_at(const ProcessInfo& process, const std::string& running) {
    const char* name = sigabbrev_np(*process.signal);
    return fmt::format("SIG{}{}", name ? name : "?", running.empty() ? "" : " in " + running);
}

}  // namespace

std::string call_at_signal(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    const std::vector<CoreThread>& threads = heap.core().threads();
    if (threads.empty() || !columns.roots.there()) return {};
    for (const PythonThread& thread : columns.roots->threads())
        if (thread.tid == threads.front().tid && !thread.frames.empty())
            return general_call(call_words(thread.frames.front()));
    return {};
}

std::string signature(const OverviewResult& result, const SuspectsResult& suspects,
                      const ProcessInfo& process, const std::string& running, const std::string& program) {
    if (is_fault(process)) return fmt::format("{}; {}", program, signal_at(process, running));
    const auto held = [&](const Suspect& most) {
        return fmt::format("{}; {}; {}", program, most.cause.kind.empty() ? "holder" : most.cause.kind,
                           most.pattern);
    };
    if (!suspects.suspects.empty()) return held(suspects.suspects.front());
    if (is_abort(process)) return fmt::format("{}; {}", program, signal_at(process, running));
    // It may well be what the program is for.
    if (suspects.small) return fmt::format("{}; no suspect; most in {}", program, suspects.small->pattern);
    const std::string region = result.memory.empty() ? "no memory" : result.memory.front().name;
    std::vector<std::string> types = result.dominant_types;
    for (std::string& type : types) type = general_type_name(type);
    return fmt::format("{}; no suspect; {}: {}", program, region, fmt::join(types, ", "));
}

}  // namespace heapsift
