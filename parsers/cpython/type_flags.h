#pragma once

// Bits of tp_flags that decide how an object is laid out. Their places are part of CPython's ABI, or have not
// moved from 3.9 to 3.13 (object.h). Bits that a version lacks are 0 there; 3.11 has no managed weak
// references (bit 3 is unused).

#include <cstdint>

namespace heapsift {

inline constexpr std::uint64_t static_builtin_flag = 1ULL << 1;   // _Py_TPFLAGS_STATIC_BUILTIN, 3.12
inline constexpr std::uint64_t inline_values_flag = 1ULL << 2;    // Py_TPFLAGS_INLINE_VALUES, 3.13
inline constexpr std::uint64_t managed_weakref_flag = 1ULL << 3;  // 3.12
inline constexpr std::uint64_t managed_dict_flag = 1ULL << 4;     // 3.11
inline constexpr std::uint64_t heap_type_flag = 1ULL << 9;
inline constexpr std::uint64_t ready_flag = 1ULL << 12;
inline constexpr std::uint64_t have_gc_flag = 1ULL << 14;
inline constexpr std::uint64_t long_subclass_flag = 1ULL << 24;
inline constexpr std::uint64_t list_subclass_flag = 1ULL << 25;
inline constexpr std::uint64_t tuple_subclass_flag = 1ULL << 26;
inline constexpr std::uint64_t bytes_subclass_flag = 1ULL << 27;
inline constexpr std::uint64_t str_subclass_flag = 1ULL << 28;
inline constexpr std::uint64_t dict_subclass_flag = 1ULL << 29;
inline constexpr std::uint64_t type_subclass_flag = 1ULL << 31;

}  // namespace heapsift
