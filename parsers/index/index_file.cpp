#include "parsers/index/index_file.h"

#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"
#include "parsers/elf/cached_mapping.h"
#include "parsers/elf/file_mapping.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <sstream>
#include <utility>

namespace heapsift {
namespace {

constexpr std::array<char, 16> magic{'h', 'e', 'a', 'p', 's', 'i', 'f',  't',
                                     ' ', 'i', 'n', 'd', 'e', 'x', '\n', 1};
constexpr std::uint64_t slot_bytes = 4096, first_blob = 2 * slot_bytes;
constexpr std::uint64_t blob_alignment = 64;
constexpr std::size_t most_blobs = 83, longest_name = sizeof(IndexBlob::part);
/// File systems note times in steps of some milliseconds; a change within the same step is not seen.
constexpr std::int64_t time_step = 100'000'000;  // ns

/// Writes all of `bytes` at `offset`. False on an error, which errno names.
bool write_all(int file, std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            if (written == 0) errno = EIO;
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return true;
}

/// Reads both slots. They are not read where they are mapped: on a full tmpfs that is a bus error if one of
/// them was never written.
bool read_pages(int file, std::array<std::byte, first_blob>& pages) {
    return pread(file, pages.data(), pages.size(), 0) == static_cast<ssize_t>(pages.size());
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t aligned_up(std::uint64_t offset) {
    return (offset + blob_alignment - 1) / blob_alignment * blob_alignment;
}

std::string_view name_of(const IndexBlob& blob) {
    const auto end = std::find(blob.part.begin(), blob.part.end(), '\0');
    return {blob.part.data(), static_cast<std::size_t>(end - blob.part.begin())};
}

}  // namespace

/// As it lies in the file.
struct IndexFile::Slot {
    std::array<char, 16> mark = magic;
    IndexKey key{};
    std::uint64_t generation = 0;     // the larger one is in force
    std::uint64_t used = first_blob;  // bytes of the file that blobs and slots take up
    std::uint64_t count = 0;
    std::array<IndexBlob, most_blobs> blobs{};
    std::uint64_t checksum = 0;  // of all before it

    std::uint64_t right_checksum() const {
        return checksum_of(std::as_bytes(std::span(this, 1)).first(offsetof(Slot, checksum)));
    }
    /// True for a slot that a writer finished, for a file of that size.
    bool reads(std::uint64_t file_bytes) const {
        if (mark != magic || checksum != right_checksum() || count > most_blobs) return false;
        if (used < first_blob || used > file_bytes) return false;
        return std::all_of(blobs.begin(), blobs.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](const IndexBlob& blob) {
                               return blob.offset >= first_blob && blob.offset % blob_alignment == 0 &&
                                      blob.offset <= used && blob.bytes <= used - blob.offset;
                           });
    }
    std::span<const IndexBlob> all() const { return {blobs.data(), count}; }
    bool has(std::string_view part) const {
        return std::any_of(all().begin(), all().end(),
                           [&](const IndexBlob& blob) { return name_of(blob) == part; });
    }

    /// Copies the slots out of the first two pages of a file. Of those that read, the one in force.
    static std::optional<Slot> in_force(std::span<const std::byte> pages, std::uint64_t file_bytes) {
        std::optional<Slot> newest;
        for (std::uint64_t at = 0; at + slot_bytes <= pages.size() && at < first_blob; at += slot_bytes) {
            Slot slot;
            std::memcpy(static_cast<void*>(&slot), pages.data() + at, sizeof slot);
            if (slot.reads(file_bytes) && (!newest || slot.generation > newest->generation)) newest = slot;
        }
        return newest;
    }
};

struct IndexFile::Mapped {
    Mapped(int file, const struct stat& facts, std::int64_t since, const std::string& path)
        : mapping(FileMapping::of_descriptor(file)),
          status(facts),
          age(since),
          known(CachedKind::index, mapping.bytes(), path) {}
    FileMapping mapping;
    struct stat status;
    std::int64_t age;  // ns from its last change to when `status` was read
    CachedMapping known;
};

IndexFile::IndexFile(std::string path, const IndexKey& key) : path_(std::move(path)), key_(key) {
    static_assert(sizeof(Slot) <= slot_bytes);
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open()) {
        if (errno == ELOOP) {
            state_ = State::refused;
            why_ = "it is a symbolic link";
        }
        return;
    }
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    struct stat status = {};
    if (fstat(file.number(), &status) != 0 || !is_own_file(status)) {
        state_ = State::refused;
        why_ = "it is not this user's own file, or others may write it";
        return;
    }
    const std::int64_t age =
        (now.tv_sec - status.st_ctim.tv_sec) * 1'000'000'000 + (now.tv_nsec - status.st_ctim.tv_nsec);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < first_blob) {
        if (size > 0) give_up("it is cut");
        return;
    }
    const auto all = std::make_shared<Mapped>(file.number(), status, age, path_);
    const std::uint64_t bytes = all->mapping.bytes().size();
    std::array<std::byte, first_blob> pages{};
    if (bytes < first_blob || !read_pages(file.number(), pages)) return;
    const auto slot = Slot::in_force(pages, bytes);
    if (!slot) {
        give_up("its header does not read");
        return;
    }
    if (slot->key != key_) {
        state_ = State::foreign;
        return;
    }
    blobs_.assign(slot->all().begin(), slot->all().end());
    file_ = all;
    state_ = State::usable;
    read_trusted();
}

IndexFile::~IndexFile() = default;

bool IndexFile::has(std::string_view part) const {
    return state_ == State::usable && std::any_of(blobs_.begin(), blobs_.end(), [&](const IndexBlob& blob) {
               return name_of(blob) == part;
           });
}

std::vector<IndexFile::PartSize> IndexFile::parts() const {
    std::vector<PartSize> sizes;
    if (state_ != State::usable) return sizes;
    for (const IndexBlob& blob : blobs_) {
        if (sizes.empty() || sizes.back().name != name_of(blob))
            sizes.push_back({std::string(name_of(blob)), 0});
        sizes.back().bytes += blob.bytes;
    }
    return sizes;
}

std::size_t IndexFile::parts_beginning_with(std::string_view name) const {
    const std::vector<PartSize> all = parts();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const PartSize& part) { return part.name.starts_with(name); }));
}

std::uint64_t IndexFile::bytes() const { return state_ == State::usable ? file_->mapping.bytes().size() : 0; }

PartReader IndexFile::open(std::string_view part) const {
    const bool check = std::find(trusted_.begin(), trusted_.end(), part) == trusted_.end();
    std::vector<std::span<const std::byte>> found;
    for (const IndexBlob& blob : blobs_) {
        if (name_of(blob) != part) continue;
        const auto bytes = file_->mapping.bytes().subspan(blob.offset, blob.bytes);
        if (check && checksum_of(bytes) != blob.checksum)
            throw IndexDamage(fmt::format("the checksum of its {} is wrong", part));
        found.push_back(bytes);
    }
    return {std::move(found), check, file_};
}

void IndexFile::give_up(const std::string& why) {
    state_ = State::damaged;
    why_ = why;
}

void IndexFile::note_checked(std::string_view part) {
    if (std::find(trusted_.begin(), trusted_.end(), part) == trusted_.end()) checked_.emplace_back(part);
}

// --- what was found right before

void IndexFile::read_trusted() {
    const std::string stamp = stamp_of(file_->status);
    const Descriptor file(::open(trusted_path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status = {};
    if (stamp.empty() || !file.is_open() || fstat(file.number(), &status) != 0 || !is_own_file(status))
        return;
    std::array<char, 4096> text{};
    const ssize_t read = ::read(file.number(), text.data(), text.size());
    if (read <= 0) return;
    std::istringstream lines(std::string(text.data(), static_cast<std::size_t>(read)));
    std::string line;
    if (!std::getline(lines, line) || line != stamp) return;
    while (std::getline(lines, line))
        if (!lines.eof()) trusted_.push_back(line);  // the last line may be cut
}

void IndexFile::remember_checked() {
    if (checked_.empty() || state_ != State::usable) return;
    const std::string stamp = stamp_of(file_->status);
    struct stat now_there = {};
    if (stamp.empty() || file_->age < time_step || stat(path_.c_str(), &now_there) != 0 ||
        stamp_of(now_there) != stamp)
        return;
    std::string text = stamp + "\n";
    for (const auto* parts : {&trusted_, &checked_})
        for (const std::string& part : *parts) text += part + "\n";
    NewFile file(trusted_path());
    if (file.is_open() && write_all(file.number(), 0, std::as_bytes(std::span(text)))) file.finish();
}

// --- writing

namespace {

/// Writes `bytes` at `at`, and computes their checksum piece by piece, while they are in the cache.
bool write_and_sum(int file, std::uint64_t at, std::span<const std::byte> bytes, std::uint64_t& checksum) {
    constexpr std::size_t piece_bytes = 256 << 10;
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
    if (!state || XXH3_64bits_reset(state.get()) != XXH_OK) {
        errno = ENOMEM;
        return false;
    }
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(piece_bytes, bytes.size()));
        XXH3_64bits_update(state.get(), piece.data(), piece.size());
        if (!write_all(file, at, piece)) return false;
        at += piece.size();
        bytes = bytes.subspan(piece.size());
    }
    checksum = XXH3_64bits_digest(state.get());
    return true;
}

/// Writes the blobs of parts from `at` on, and says in `blobs` where they are.
bool write_parts(int file, const std::vector<const PartWriter*>& parts, std::uint64_t& at,
                 std::vector<IndexBlob>& blobs) {
    for (const PartWriter* part : parts) {
        const bool again = std::any_of(blobs.begin(), blobs.end(),
                                       [&](const IndexBlob& blob) { return name_of(blob) == part->name(); });
        if (again) continue;  // a question that was asked twice by one command
        // Neither is worth more than that it is not kept.
        if (blobs.size() + part->blobs().size() > most_blobs || part->name().size() >= longest_name) continue;
        for (const std::span<const std::byte> bytes : part->blobs()) {
            if (!bytes.empty()) at = aligned_up(at);
            IndexBlob blob;
            std::copy_n(part->name().begin(), std::min(part->name().size(), blob.part.size() - 1),
                        blob.part.begin());
            blob.offset = bytes.empty() ? first_blob : at;
            blob.bytes = bytes.size();
            if (!write_and_sum(file, at, bytes, blob.checksum)) return false;
            at += bytes.size();
            blobs.push_back(blob);
        }
    }
    return true;
}

std::uint64_t bytes_of(const std::vector<const PartWriter*>& parts) {
    std::uint64_t sum = 0;
    for (const PartWriter* part : parts)
        for (const auto& blob : part->blobs()) sum += aligned_up(blob.size());
    return sum;
}

IndexFile::Result failed(int error_number) {
    const bool room = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
    return {room ? IndexFile::Kept::no_room : IndexFile::Kept::cannot_write, error_number, 0};
}

}  // namespace

IndexFile::Result IndexFile::keep(const std::vector<PartWriter>& parts, std::uint64_t limit) {
    if (state_ == State::refused) return {Kept::cannot_write, EPERM, 0};
    return state_ == State::usable ? append(parts, limit) : replace(parts, limit);
}

IndexFile::Result IndexFile::append(const std::vector<PartWriter>& parts, std::uint64_t limit) {
    const Descriptor file(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open()) return failed(errno);
    if (flock(file.number(), LOCK_EX | LOCK_NB) != 0) return {Kept::being_written, 0, 0};
    struct stat status = {};
    if (fstat(file.number(), &status) != 0) return failed(errno);
    // Somebody else may have added parts since, or have replaced the file.
    if (status.st_ino != file_->status.st_ino || status.st_dev != file_->status.st_dev)
        return {Kept::being_written, 0, 0};
    std::array<std::byte, first_blob> pages{};
    if (!read_pages(file.number(), pages)) return failed(EIO);
    auto slot = Slot::in_force(pages, static_cast<std::uint64_t>(status.st_size));
    if (!slot || slot->key != key_) return replace(parts, limit);
    std::vector<const PartWriter*> missing;
    for (const PartWriter& part : parts)
        if (!slot->has(part.name())) missing.push_back(&part);
    if (missing.empty()) return {Kept::nothing_new, 0, slot->used};

    const std::uint64_t used = slot->used;
    if (used + bytes_of(missing) > limit) return {Kept::no_room, 0, used};
    std::vector<IndexBlob> blobs(slot->all().begin(), slot->all().end());
    if (!write_parts(file.number(), missing, slot->used, blobs)) {
        const int error_number = errno;
        if (ftruncate(file.number(), static_cast<off_t>(used)) != 0) {
        }  // what is too much does no harm
        return failed(error_number);
    }
    if (blobs.size() == slot->count) return {Kept::nothing_new, 0, used};  // there is no place for more
    slot->count = blobs.size();
    std::copy(blobs.begin(), blobs.end(), slot->blobs.begin());
    ++slot->generation;
    slot->checksum = slot->right_checksum();
    if (!write_all(file.number(), slot->generation % 2 * slot_bytes, std::as_bytes(std::span(&*slot, 1))))
        return failed(errno);
    return {Kept::kept, 0, slot->used};
}

IndexFile::Result IndexFile::replace(const std::vector<PartWriter>& parts, std::uint64_t limit) {
    std::vector<const PartWriter*> all;
    for (const PartWriter& part : parts) all.push_back(&part);
    if (all.empty()) return {};
    if (first_blob + bytes_of(all) > limit) return {Kept::no_room, 0, 0};
    NewFile file(path_);
    if (!file.is_open()) return failed(file.error_number());
    Slot slot;
    slot.key = key_;
    std::vector<IndexBlob> blobs;
    const auto write = [&] {
        if (flock(file.number(), LOCK_EX | LOCK_NB) != 0) return false;  // as a sign that it is not left over
        if (!write_parts(file.number(), all, slot.used, blobs)) return false;
        slot.count = blobs.size();
        std::copy(blobs.begin(), blobs.end(), slot.blobs.begin());
        slot.checksum = slot.right_checksum();
        return write_all(file.number(), 0, std::as_bytes(std::span(&slot, 1))) && file.finish();
    };
    return write() ? Result{Kept::kept, 0, slot.used} : failed(errno);
}

}  // namespace heapsift
