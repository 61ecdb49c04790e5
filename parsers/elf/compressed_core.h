#pragma once

// Compressed cores: .gz, .zst, .xz, .lz4, recognised by content. (compressed_core.cpp says how they are
// unpacked.)

#include "parsers/base/diagnostics.h"
#include "parsers/elf/file_mapping.h"
#include "parsers/elf/unpacked_copy.h"

#include <string>

namespace heapsift {

/// Whether `file` begins as gzip, zstd, xz or lz4.
bool is_compressed(Bytes file);

/// Maps the copy of `path` that an earlier command kept; or unpacks it, and keeps it for the next. Without
/// `copy`, or where that cannot be, it is unpacked into an unnamed file in $XDG_CACHE_HOME/heapsift (default
/// ~/.cache/heapsift), which is gone when heapsift ends, however it ends. A stream that ends early gives what
/// could be unpacked, and the damage "stream-cut". Throws `Error` (exit 1): "no-space" if the disk cannot
/// hold it, "cannot-unpack" if the folder cannot be written or the first bytes are not a stream. Cost: the
/// decompressor's; pages of zeros take no space.
FileMapping unpack_core(const std::string& path, Diagnostics& diagnostics, UnpackedCopy* copy = nullptr);

}  // namespace heapsift
