#pragma once

// Which of the collector's lists each object is in.

#include "parsers/cpython/build/collector.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <vector>

namespace heapsift {

inline constexpr std::int8_t no_generation = -1;
inline constexpr std::uint16_t no_interpreter = 0xffff;

/// By ObjectId, numbers as `gc.get_objects(generation=…)` takes them: 0 young, 1, 2 old, `frozen_generation`;
/// `no_generation` for an object in no list that could be walked: one that the collector does not track, or
/// one behind a place where a list is damaged. Of a sub-interpreter, the generation in its own collector. A
/// byte an object; some 0.2 µs for each that is tracked.
std::vector<std::int8_t> generations(const HeapReader& heap);

/// By ObjectId: the place in `PythonRuntime::interpreters` of the one whose lists hold it; `no_interpreter`
/// for an object in no list. Empty where there are not several. Its cost is that of `generations`.
std::vector<std::uint16_t> interpreters_by_list(const HeapReader& heap);

}  // namespace heapsift
