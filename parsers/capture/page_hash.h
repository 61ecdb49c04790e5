#pragma once

// The hash by which pages are known while a process is captured: XXH3 of 64 bits. With AVX2, where the processor has it,
// it takes half the time: on one processor 95 ms instead of 180 for a GiB, of which the process stands for as long as
// reading takes.

#include <cstddef>
#include <cstdint>

namespace heapsift {

/// Of the 4,096 bytes of a page; the same on every processor.
std::uint64_t hash_of_page(const std::byte* page);

/// The same function compiled for what every x86-64 has, and for AVX2: not to be called where the processor lacks it.
std::uint64_t hash_of_page_by_sse2(const std::byte* page);
std::uint64_t hash_of_page_by_avx2(const std::byte* page);

}  // namespace heapsift
