#include "cli/index_place.h"

#include "cli/machine.h"
#include "cli/units.h"
#include "cli/version.h"
#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".index", unpacked_ending = ".unpacked", unfinished_ending = ".new",
                           checked_ending = ".checked", answers_ending = ".answers", names_ending = ".names";
constexpr std::uint64_t default_limit = std::uint64_t{20} << 30, always_free = std::uint64_t{1} << 30;
constexpr std::uint64_t head_bytes = 64 << 10, sample_bytes = 4 << 10, samples = 64;
constexpr std::size_t longest_name = 60;

std::uint64_t number_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

/// The build-id of this program, from its own notes; "" without one.
std::string own_build_id() {
    std::string id;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& header = info->dlpi_phdr[i];
                if (header.p_type != PT_NOTE) continue;
                const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
                for (std::uint64_t left = header.p_memsz; left >= sizeof(ElfW(Nhdr));) {
                    ElfW(Nhdr) note;
                    std::memcpy(&note, at, sizeof note);
                    const std::uint64_t name = (note.n_namesz + 3) / 4 * 4,
                                        value = (note.n_descsz + 3) / 4 * 4;
                    if (sizeof note + name + value > left) break;
                    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4)
                        static_cast<std::string*>(out)->assign(at + sizeof note + name, note.n_descsz);
                    at += sizeof note + name + value;
                    left -= sizeof note + name + value;
                }
            }
            return 1;  // the program itself comes first
        },
        &id);
    return id;
}

/// Whatever distinguishes this program from another build of it, and not from a copy of it: two copies (of a package, of
/// a container) share one index. The linker makes the build-id of all that it links; without one the file's time must do.
/// The size tells one that was stripped.
std::string own_identity() {
    const std::string build_id = own_build_id();
    std::string identity = version() + " " + build_id;
    struct stat status {};
    if (::stat("/proc/self/exe", &status) != 0) return identity;
    identity += fmt::format(" {}", status.st_size);
    if (build_id.empty()) identity += fmt::format(" {}.{}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    return identity;
}

/// The head of the core and samples of it, after each other; nothing if it cannot be read.
std::string sampled(const std::string& path, std::uint64_t size) {
    std::string bytes;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) return bytes;
    const auto add = [&](std::uint64_t at, std::uint64_t count) {
        const std::size_t before = bytes.size();
        bytes.resize(before + count);
        const ssize_t read = ::pread(file.number(), bytes.data() + before, count, static_cast<off_t>(at));
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
    };
    add(0, head_bytes);
    for (std::uint64_t i = 1; i <= samples; ++i) add(size / (samples + 1) * i, sample_bytes);
    return bytes;
}

/// An index, or a core that was unpacked.
struct KeptFile {
    fs::path path;
    bool is_index = true;
    std::uint64_t bytes = 0;  // with its answers
    fs::file_time_type used;  // when it was last written or checked
};

/// Bytes of the disk: an unpacked core is mostly holes. 0 if it is not there.
std::uint64_t disk_bytes(const std::string& path) {
    struct stat there {};
    return ::stat(path.c_str(), &there) == 0 ? static_cast<std::uint64_t>(there.st_blocks) * 512 : 0;
}

std::vector<KeptFile> all_in(const std::string& directory) {
    std::vector<KeptFile> found;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const bool is_index = entry->path().extension() == ending;
        if ((!is_index && entry->path().extension() != unpacked_ending) || !entry->is_regular_file(error))
            continue;
        KeptFile index{entry->path(), is_index,
                       is_index ? entry->file_size(error) : disk_bytes(entry->path().string()),
                       entry->last_write_time(error)};
        const auto checked = fs::last_write_time(entry->path().string() + std::string(checked_ending), error);
        if (!error) index.used = std::max(index.used, checked);
        for (const std::string& beside :
             {answers_path(entry->path().string()), names_path(entry->path().string())}) {
            const auto bytes = fs::file_size(beside, error);
            if (!error) index.bytes += bytes;
        }
        error.clear();
        found.push_back(std::move(index));
    }
    return found;
}

std::uint64_t limit_of_all() {
    const char* text = std::getenv("HEAPSIFT_INDEX_LIMIT");
    const auto limit = text ? parse_quantity(text) : std::nullopt;
    return limit ? static_cast<std::uint64_t>(*limit) : default_limit;
}

std::string place_of(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    return error ? path : whole.string();
}

/// Its name begins as that of the core at `place`; `shaped` is whatever makes it another file.
std::string file_for(const std::string& directory, const std::string& place, const std::string& shaped,
                     std::string_view ends_in) {
    std::string name;
    for (const char c : fs::path(place).filename().string())
        name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' ? c : '_';
    if (name.size() > longest_name) name.resize(longest_name);
    return fmt::format("{}/{}-{:016x}{}", directory, name, number_of(shaped), ends_in);
}

/// What a writer that was killed left. (A writer renames its file at once when it is whole.)
void remove_unfinished(const std::string& directory) {
    std::error_code error;
    const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        // core-0.index.1234.new, or core-0.index.checked.1234.new; or core-0.index.answers.1234.new, core-0.index.names.1234.new
        fs::path whole = entry->path().stem().stem();
        if (whole.extension() == checked_ending) whole = whole.stem();
        if (whole.extension() == answers_ending || whole.extension() == names_ending) whole = whole.stem();
        if (entry->path().extension() != unfinished_ending ||
            (whole.extension() != ending && whole.extension() != unpacked_ending))
            continue;
        std::error_code ignored;
        if (entry->last_write_time(ignored) < oldest && !ignored) fs::remove(entry->path(), ignored);
    }
}

}  // namespace

std::string index_directory(const std::string& given) {
    return given.empty() ? own_directory("XDG_CACHE_HOME", "/.cache") : given;
}

std::string index_path(const std::string& directory, const CoreChoice& choice, bool native) {
    const std::string place = place_of(choice.path);
    return file_for(directory, place,
                    fmt::format("{}\n{}\n{}\n{}{}{}", place, choice.search.executable, choice.search.sysroot,
                                choice.search.debug_dir, native ? "" : "\nwithout native memory",
                                choice.search.runtime.value_or(0) < 2
                                    ? std::string()
                                    : fmt::format("\nruntime {}", *choice.search.runtime)),
                    ending);
}

std::string unpacked_path(const std::string& directory, const CoreChoice& choice) {
    const std::string place = place_of(choice.path);
    return file_for(directory, place, place, unpacked_ending);
}

UnpackedCopy unpacked_copy(const std::string& directory, const CoreChoice& choice) {
    return {unpacked_path(directory, choice), limit_of_all(), always_free};
}

std::string answers_path(const std::string& index) { return index + std::string(answers_ending); }
std::string names_path(const std::string& index) { return index + std::string(names_ending); }

IndexKey index_key(const CoreChoice& choice, const CoreFile& core) {
    const auto identity = identity_of(choice.path);
    if (!identity) return {};
    struct stat status {};
    if (::stat(choice.path.c_str(), &status) != 0) return {};
    std::string text =
        fmt::format("{}\n{} {} {} {}.{}\n", own_identity(), identity->size, identity->modified_ns,
                    identity->inode, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    for (const Module& module : core.modules()) {
        text += fmt::format("{} {} {} {}\n", module.path, module.build_id,
                            static_cast<unsigned>(module.file_state), module.file);
        const auto file = module.file.empty() ? std::nullopt : identity_of(module.file);
        if (file) text += fmt::format("{} {} {}\n", file->size, file->modified_ns, file->inode);
    }
    text += sampled(choice.path, identity->size);
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return {hash.low64, hash.high64};
}

std::uint64_t index_limit(const std::string& path, const std::string& unpacked) {
    const std::uint64_t of_all = limit_of_all();
    const std::uint64_t limit = of_all - std::min(of_all, disk_bytes(unpacked));
    struct statvfs disk {};
    if (::statvfs(fs::path(path).parent_path().c_str(), &disk) != 0) return limit;
    struct stat there {};
    const std::uint64_t used =
        ::stat(path.c_str(), &there) == 0 ? static_cast<std::uint64_t>(there.st_size) : 0;
    const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize + used;
    return std::min(limit, free > always_free ? free - always_free : 0);
}

std::string keep_in_index(IndexFile& index, const std::vector<PartWriter>& parts,
                          const std::string& unpacked) {
    const fs::path directory = fs::path(index.path()).parent_path();
    make_own_folder(directory.string());
    using Kept = IndexFile::Kept;
    const IndexFile::Result result = index.keep(parts, index_limit(index.path(), unpacked));
    switch (result.kept) {
        case Kept::kept:
            drop_old_indexes(index.path(), unpacked);
            return "";
        case Kept::nothing_new:
        case Kept::being_written:
            return "";
        case Kept::no_room:
            return fmt::format(
                "there is no room for the core's index in {}: the next question starts anew "
                "(--index-dir DIR, --no-index)",
                directory.string());
        case Kept::cannot_write:
            return fmt::format(
                "the core's index cannot be written to {} ({}): the next question starts anew "
                "(--index-dir DIR, --no-index)",
                directory.string(), std::strerror(result.error_number));
    }
    return "";
}

std::string why_not_kept(const UnpackedCopy& copy) {
    const std::string directory = fs::path(copy.path()).parent_path().string();
    if (copy.state() == UnpackedCopy::State::no_room)
        return fmt::format(
            "there is no room for the unpacked core in {}: the next question unpacks it again "
            "(--index-dir DIR, --no-index)",
            directory);
    if (copy.state() == UnpackedCopy::State::cannot_write)
        return fmt::format(
            "the unpacked core cannot be written to {} ({}): the next question unpacks it again "
            "(--index-dir DIR, --no-index)",
            directory, std::strerror(copy.error_number()));
    return "";
}

std::size_t drop_old_indexes(const std::string& path, const std::string& unpacked) {
    const std::string directory = fs::path(path.empty() ? unpacked : path).parent_path().string();
    remove_unfinished(directory);
    std::vector<KeptFile> all = all_in(directory);
    std::uint64_t sum = 0;
    for (const KeptFile& index : all) sum += index.bytes;
    const std::uint64_t limit = limit_of_all();
    std::sort(all.begin(), all.end(), [](const KeptFile& a, const KeptFile& b) { return a.used < b.used; });
    std::size_t removed = 0;
    for (const KeptFile& index : all) {
        if (sum <= limit) break;
        if (index.path == fs::path(path) || answers_path(index.path.string()) == path ||
            index.path == fs::path(unpacked))
            continue;
        std::error_code error;
        if (!fs::remove(index.path, error)) continue;
        const std::string answers = answers_path(index.path.string());
        for (const std::string& beside : {index.path.string(), answers})
            fs::remove(beside + std::string(checked_ending), error);
        fs::remove(answers, error);
        fs::remove(names_path(index.path.string()), error);
        sum -= index.bytes;
        ++removed;
    }
    return removed;
}

std::optional<IndexThere> index_there(const std::string& path, const IndexKey& key,
                                      const std::string& unpacked) {
    const IndexFile index(path, key);
    if (index.state() != IndexFile::State::usable) return std::nullopt;
    IndexThere there;
    there.path = path;
    there.bytes = index.bytes();
    there.parts = index.parts();
    if (!unpacked.empty()) there.unpacked = {unpacked, disk_bytes(unpacked)};
    const IndexFile answers(answers_path(path), key);
    there.answers = answers.parts().size();
    there.answer_bytes = answers.bytes();
    for (const KeptFile& other : all_in(fs::path(path).parent_path().string())) {
        there.all.bytes += other.bytes;
        ++(other.is_index ? there.all.count : there.all.unpacked);
    }
    there.limit = limit_of_all();
    return there;
}

}  // namespace heapsift
