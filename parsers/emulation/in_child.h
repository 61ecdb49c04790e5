#pragma once

// Work that may end this process, done in a copy of it. (Why: in_child.cpp.)

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// What the copy can tell.
class ChildOutput {
public:
    ChildOutput(int pipe, volatile std::uint32_t* mark) : pipe_(pipe), mark_(mark) {}
    /// What it works at: known even if it does not come to its end.
    void mark(std::uint32_t number) { *mark_ = number; }
    void write(std::span<const std::byte> bytes);

private:
    int pipe_;
    volatile std::uint32_t* mark_;
};

struct ChildResult {
    bool finished = false;
    std::optional<std::uint32_t> mark;          // the last, if there was one
    std::vector<std::vector<std::byte>> parts;  // one for each `write`
};

/// Runs `work` in a copy of this process, which has this thread only, and waits for it. It has five minutes of
/// CPU time, and is ended where it stands still for `most_idle_seconds`. Cost: a fork, some ms for each GiB of this
/// process' own memory.
ChildResult run_in_child(const std::function<void(ChildOutput&)>& work, int most_idle_seconds = 60);

}  // namespace heapsift
