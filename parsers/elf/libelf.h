#pragma once

// Handles of libelf over bytes in memory. Only for the .cpp files of this folder.

#include "parsers/elf/bytes.h"

#include <libelf.h>
#include <memory>

namespace heapsift {

struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

/// Null if libelf does not take the bytes, which must outlive the handle.
inline ElfHandle open_elf(Bytes bytes) {
    static const bool ready = elf_version(EV_CURRENT) != EV_NONE;
    if (!ready || bytes.empty()) return nullptr;
    // elf_memory only reads the image, though its type does not say so.
    auto* image = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    return ElfHandle(elf_memory(image, bytes.size()));
}

}  // namespace heapsift
