// Kernel and gcore write the notes before the memory; where a writer puts them further back than `most_unpacked` of a
// compressed stream, the headers alone must do: they have the size and place of every mapping.

#include "parsers/elf/core_key.h"

#include "parsers/elf/file_mapping.h"
#include "parsers/elf/unpacking.h"

#include <elf.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace heapsift {
namespace {

constexpr std::uint64_t most_unpacked = 64 << 20;

/// The beginning of a core, as far as it is asked for.
class Beginning {
public:
    explicit Beginning(const std::string& path) {
        FileMapping::Status status;
        file_ = FileMapping::open(path, status);
        if (!file_.bytes().empty() && compression_of(file_.bytes()) != Compression::none)
            stream_ = unpack_file(path, 1 << 20);
    }

    bool is_plain() const { return !stream_; }
    std::uint64_t size() const { return file_.bytes().size(); }

    /// Empty if there are not so many, or they lie too far back.
    Bytes bytes(std::uint64_t from, std::uint64_t count) {
        if (count == 0 || from > most_unpacked || count > most_unpacked) return {};
        if (is_plain()) return from + count <= size() ? file_.bytes().subspan(from, count) : Bytes();
        for (Bytes block;
             unpacked_.size() < from + count && stream_->next(block) == ByteStream::Status::block;)
            unpacked_.insert(unpacked_.end(), block.begin(), block.end());
        return from + count <= unpacked_.size() ? Bytes(unpacked_).subspan(from, count) : Bytes();
    }

    template <class T>
    bool read(std::uint64_t from, T& value) {
        const Bytes found = bytes(from, sizeof value);
        if (found.empty()) return false;
        std::memcpy(&value, found.data(), sizeof value);
        return true;
    }

private:
    FileMapping file_;
    std::unique_ptr<ByteStream> stream_;
    std::vector<Bytes::value_type> unpacked_;
};

}  // namespace

std::string core_key(const std::string& path) {
    Beginning core(path);
    Elf64_Ehdr header;
    if (!core.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_type != ET_CORE || header.e_ident[EI_CLASS] != ELFCLASS64)
        return {};
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
    if (!state || XXH3_128bits_reset(state.get()) != XXH_OK) return {};
    const auto add = [&](const void* bytes, std::size_t count) {
        XXH3_128bits_update(state.get(), bytes, count);
    };
    add(&header, sizeof header);
    if (header.e_phoff > most_unpacked) return {};
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    for (std::size_t i = 0; i < segments.size(); ++i)
        if (!core.read(header.e_phoff + i * sizeof(Elf64_Phdr), segments[i])) return {};
    std::uint64_t promised = 0;
    for (const Elf64_Phdr& segment : segments) {
        add(&segment, sizeof segment);
        promised = std::max(promised, segment.p_offset + segment.p_filesz);
        if (segment.p_type != PT_NOTE) continue;
        const Bytes notes = core.bytes(segment.p_offset, segment.p_filesz);
        if (!notes.empty()) add(notes.data(), notes.size());
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
    const std::string key = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    return core.is_plain() && core.size() < promised ? cut_core_key(key, core.size()) : key;
}

std::string cut_core_key(const std::string& key, std::uint64_t file_bytes) {
    if (key.empty() || key.find("-cut-") != std::string::npos) return key;
    return fmt::format("{}-cut-{}", key, file_bytes);
}

}  // namespace heapsift
