#pragma once

// Compressed cores: .gz, .zst, .xz, .lz4, told by content. (How they are unpacked: compressed_core.cpp.)

#include "parsers/base/diagnostics.h"
#include "parsers/elf/file_mapping.h"

#include <string>

namespace heapsift {

/// By its first bytes: gzip, zstd, xz or lz4.
bool is_compressed(Bytes file);

/// Unpacks `path` into a file without a name in $XDG_CACHE_HOME/heapsift (default ~/.cache/heapsift), and
/// maps that: it is gone when heapsift ends, however it ends. A stream that ends early gives what could be
/// unpacked and the damage "stream-cut". Throws `Error` (exit 1): "no-space" where the disk cannot hold it,
/// "cannot-unpack" where the folder cannot be written or the first bytes are no stream. Cost: the
/// decompressor's; pages of zeros take no space.
FileMapping unpack_core(const std::string& path, Diagnostics& diagnostics);

}  // namespace heapsift
