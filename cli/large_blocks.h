#pragma once

// Arrays of a mebibyte and more, in files without a name instead of in memory.
//
// A column of a large heap is one array, and a question needs a few dozen of them. Where they do not all fit
// into the memory that heapsift may take, they can lie in a file: the kernel then keeps those pages in memory
// that are used, and writes the others to the disk, also within the limit of a control group, which has no
// swap as a rule. The passes run through their columns in order, mostly, so that this is slower, not hopeless.
//
// It is done below std::vector, in `operator new`, since no pass should know of it. What is small stays in
// malloc's memory, and so does everything until `keep_large_blocks_in` is called: then the only cost is one
// comparison for each array that is freed.

#include <cstddef>
#include <cstdint>
#include <string>

namespace heapsift {

/// Bytes from which on an array lies in a file.
inline constexpr std::size_t large_block = std::size_t{1} << 20;

/// From now on new large arrays lie in files in the folder, which is made if need be. They have no name
/// there: whatever ends the process frees the disk. False, and nothing changes, if it cannot be written. Not
/// while other threads allocate.
bool keep_large_blocks_in(const std::string& folder);

/// From now on new arrays lie in memory again; those in files stay there.
void keep_large_blocks_in_memory();

/// What a full disk means for an array: another place in memory, or std::bad_alloc, when memory is known not
/// to suffice. At first it is memory.
enum class WithoutRoom : std::uint8_t { use_memory, fail };
void if_disk_is_full(WithoutRoom action);

/// Bytes of arrays that lie in files now.
std::uint64_t large_block_bytes();

/// For signal handlers: whether an array lies in a file at `address`.
bool is_in_large_block(const void* address) noexcept;

}  // namespace heapsift
