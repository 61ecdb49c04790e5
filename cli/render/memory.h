#pragma once

#include "analysis/memory.h"
#include "cli/document/document.h"

namespace heapsift {

/// Who owns each byte; with `mappings`, also which mapping has what.
Document render_memory(MemoryResult memory, bool mappings);

/// Bar::colour of a kind of memory: the same in every table.
std::uint8_t colour_of(MemoryKind kind);

/// "100,000 blocks of 264 bytes", "12,000 shapes::Circle": what most of the memory is that no Python object owns.
/// "16.0 MiB of it", of C code's memory in use; blocks may be larger than what of them was touched.
Text culprit_part(const NativeCulprit& culprit, std::uint64_t in_use);
Text culprit_words(const NativeCulprit& culprit);

}  // namespace heapsift
