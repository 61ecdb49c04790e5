#pragma once

// What every fuzzer here is: one question asked of hostile bytes, and a few inputs to start from.
//
// libFuzzer (preset `fuzz`) calls LLVMFuzzerTestOneInput with what it makes up; in the ordinary build
// replay.cpp calls it with the seeds, with what fuzzing has found (tests/fuzz/corpus/NAME) and with some
// thousand variations of both. A finding is a signal, a report of a sanitizer, more time or more memory than
// the run allows; an Error (exit 1) is an answer.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace heapsift::test {

/// Good inputs, small, from which variations get deep.
std::vector<std::string> fuzz_seeds();

/// Ends the process where a promise was broken, in every build.
inline void require(bool promise) {
    if (!promise) std::abort();
}

}  // namespace heapsift::test
