#pragma once

// Which list of the collector each object is in.

#include "parsers/cpython/build/collector.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <vector>

namespace heapsift {

inline constexpr std::int8_t no_generation = -1;
inline constexpr std::uint16_t no_interpreter = 0xffff;

/// By ObjectId, numbered as for `gc.get_objects(generation=…)`: 0 young, 1, 2 old, `frozen_generation`;
/// `no_generation` for an object in no list that could be walked: not tracked, or behind the point where a
/// list is damaged. An object of a sub-interpreter has the generation in that interpreter's collector.
/// Memory: one byte per object; time: some 0.2 µs per tracked object.
std::vector<std::int8_t> generations(const HeapReader& heap);

/// By ObjectId: index in `PythonRuntime::interpreters` of the interpreter whose lists contain it;
/// `no_interpreter` for an object in no list. Empty if there is only one interpreter. Costs as much as
/// `generations`.
std::vector<std::uint16_t> interpreters_by_list(const HeapReader& heap);

}  // namespace heapsift
