// A folder of cores has other files too: logs, metadata, the programs themselves. The first 18 bytes, in the
// ELF header, say what a file is. Of a compressed file, only these are unpacked.

#include "parsers/elf/core_probe.h"

#include "parsers/elf/compressed_core.h"
#include "parsers/elf/unpacking.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace heapsift {
namespace {

using Start = std::array<unsigned char, EI_NIDENT + 2>;

bool is_elf_core(const Start& start) {
    const unsigned type =
        start[EI_DATA] == ELFDATA2MSB ? start[16] << 8U | start[17] : start[17] << 8U | start[16];
    return std::memcmp(start.data(), ELFMAG, SELFMAG) == 0 && type == ET_CORE;
}

bool unpacks_to_core(const std::string& path) {
    const auto in = unpack_file(path, 1 << 16);
    Start start{};
    std::size_t have = 0;
    for (Bytes block; in && have < start.size() && in->next(block) == ByteStream::Status::block;) {
        const std::size_t part = std::min(block.size(), start.size() - have);
        std::memcpy(start.data() + have, block.data(), part);
        have += part;
    }
    return have == start.size() && is_elf_core(start);
}

}  // namespace

bool looks_like_core(const std::string& path) {
    FileMapping::Status status;
    const FileMapping file = FileMapping::open(path, status);
    Start start{};
    if (file.bytes().size() < start.size()) return false;
    if (is_compressed(file.bytes())) return unpacks_to_core(path);
    std::memcpy(start.data(), file.bytes().data(), start.size());
    return is_elf_core(start);
}

}  // namespace heapsift
