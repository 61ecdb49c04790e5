#pragma once

// Which core it is, wherever a copy of it lies and however it is compressed.

#include <string>

namespace heapsift {

/// 32 hexadecimal digits, made of the core's ELF header, program headers and notes (registers and processor times of
/// all threads, the process, its signal, its mappings): equal for copies of one core, plain or compressed, of any name;
/// two processes, and two cores of one process, differ. With "-cut" behind it where a plain file is shorter than its
/// headers promise, since the whole one has more to say. Empty if it is no core, or cannot be read. Cost: a few pages of
/// a plain file; of a compressed one, as much as lies before the end of its notes, at most 64 MiB.
std::string core_key(const std::string& path);

}  // namespace heapsift
