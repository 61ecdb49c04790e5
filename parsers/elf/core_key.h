#pragma once

// Which core it is, wherever a copy of it lies and however it is compressed.

#include <cstdint>
#include <string>

namespace heapsift {

/// 32 hexadecimal digits, made of the core's ELF header, program headers and notes (registers and processor times of
/// all threads, the process, its signal, its mappings): equal for copies of one core, plain or compressed, of any name;
/// two processes, and two cores of one process, differ. Where a plain file is shorter than its headers promise it is
/// that of a cut core (below), since the whole one has more to say; whether a compressed one is cut is known only when
/// all of it has been read. Empty if it is no core, or cannot be read. Cost: a few pages of a plain file; of a
/// compressed one, as much as lies before the end of its notes, at most 64 MiB.
std::string core_key(const std::string& path);

/// Of a core with the key of the whole one that was found to be cut: "…-cut-3009226", with the bytes of its file,
/// compressed or not. So what was cut elsewhere is another core, and the same file is known again without reading it.
/// `key` itself if it is empty, or already of a cut core.
std::string cut_core_key(const std::string& key, std::uint64_t file_bytes);

}  // namespace heapsift
