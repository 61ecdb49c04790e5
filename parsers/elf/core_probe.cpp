// A folder of cores has other files too: logs, metadata, the programs themselves. The first 18 bytes, in the
// ELF header, say what a file is. Of a compressed file, only these are unpacked.

#include "parsers/elf/core_probe.h"

#include "parsers/elf/archive.h"
#include "parsers/elf/compressed_core.h"

#include <archive.h>
#include <archive_entry.h>
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
    const ArchiveReader in(archive_read_new());
    archive_read_support_filter_gzip(in.get());
    archive_read_support_filter_xz(in.get());
    archive_read_support_filter_zstd(in.get());
    archive_read_support_filter_lz4(in.get());
    archive_read_support_format_raw(in.get());
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(in.get(), path.c_str(), 1 << 16) != ARCHIVE_OK ||
        archive_read_next_header(in.get(), &entry) != ARCHIVE_OK)
        return false;
    Start start{};
    return archive_read_data(in.get(), start.data(), start.size()) == static_cast<la_ssize_t>(start.size()) &&
           is_elf_core(start);
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
