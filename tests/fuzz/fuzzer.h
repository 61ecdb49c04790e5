#pragma once

// A fuzzer asks one question of hostile bytes, and has a few inputs to start from.
//
// libFuzzer (preset `fuzz`) calls LLVMFuzzerTestOneInput with what it makes up. In ordinary builds replay.cpp
// calls it with the seeds, with what fuzzing has found (tests/fuzz/corpus/NAME), and with a few thousand
// variations of both. A finding is a signal, a sanitizer's report, or more time or memory than the run
// allows; an Error (exit 1) is an answer.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace heapsift::test {

/// Small good inputs, so that variations get far.
std::vector<std::string> fuzz_seeds();

/// Ends the process if a promise was broken, in every build.
inline void require(bool promise) {
    if (!promise) std::abort();
}

}  // namespace heapsift::test
