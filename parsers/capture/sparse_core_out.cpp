// A plain core is written where it will stay: while the process runs each mapping gets its place in the file, and its
// pages are written there; in the end only the pages that changed are written over, and the headers, which need the
// mappings as they were at the stop. A heap that grew meanwhile must still be one piece of the file, since it is one
// segment of the core; so what can grow has some room before and behind it, which costs nothing in a sparse file. What
// outgrew its room, or was joined with its neighbour, moves to the end of the file.
//
// Pages that were never touched stay holes, as in the kernel's core.

#include "parsers/capture/core_file_out.h"
#include "parsers/capture/drop_behind.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {

std::unique_ptr<CoreFileOut> compressed_core_out(const CaptureTarget& target);

namespace {

/// A stretch of addresses and its place in the file.
struct Piece {
    AddressRange room;
    std::uint64_t file_offset = 0;
    std::uint64_t offset_of(Address address) const { return file_offset + (address - room.start); }
    bool covers(const AddressRange& range) const {
        return room.start <= range.start && range.end <= room.end;
    }
};

AddressRange saved_range(const PlannedMapping& planned) {
    const Address start = planned.mapping.range.start;
    return {start, (start + planned.saved_bytes).rounded_up(captured_page)};
}

class SparseCoreOut final : public CoreFileOut {
public:
    explicit SparseCoreOut(const CaptureTarget& target)
        : descriptor_(target.descriptor), file_(target.descriptor, target.name) {}

    void begin(const MemoryPlan& plan) override {
        // Room for the headers and notes of twice as many mappings, and a thousand threads: holes, if not needed.
        constexpr std::uint64_t for_threads = 8 << 20;
        constexpr std::uint64_t for_a_mapping = 256;
        table_room_ =
            Address(plan.mappings.size() * 2 * for_a_mapping + for_threads).rounded_up(1 << 20).value;
        next_ = table_room_;
        for (std::size_t i = 0; i < plan.mappings.size(); ++i) {
            const AddressRange saved = saved_range(plan.mappings[i]);
            if (saved.size() == 0) continue;
            const auto below = i > 0 ? plan.mappings[i - 1].mapping.range.end : Address(0);
            const auto above = i + 1 < plan.mappings.size() ? plan.mappings[i + 1].mapping.range.start
                                                            : plan.mappings[i].mapping.range.end;
            const std::uint64_t room = room_of(plan.mappings[i]);
            add_piece({saved.start - std::min(room, (saved.start - below) / 2),
                       saved.end + std::min(room, above > saved.end ? (above - saved.end) / 2 : 0)});
        }
    }

    void keep(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read) override {
        const Piece* piece = piece_at(chunk.range.start);
        if (piece) write_runs(plan, chunk, read, piece->offset_of(chunk.range.start));
    }

    void finish(const MemoryPlan& plan, const SecondReading& reading, const PageHashes& hashes,
                std::string_view notes) override {
        std::vector<CoreSegment> segments = segments_of(plan);
        std::vector<AddressRange> in_place;
        std::size_t chunk = 0;
        for (std::size_t i = 0; i < segments.size(); ++i) {
            const AddressRange saved = saved_range(plan.mappings[i]);
            if (saved.size() == 0) continue;
            const Piece* piece = piece_at(saved.start);
            const bool stays = piece && piece->covers(saved);
            const std::uint64_t at = stays ? piece->offset_of(saved.start) : next_;
            if (stays)
                in_place.push_back(saved);
            else
                next_ += saved.size();
            segments[i].file_offset = at;
            end_ = std::max(end_, at + segments[i].saved_bytes);
            Address done = saved.start;
            for (; chunk < plan.chunks.size() && plan.chunks[chunk].range.start < saved.end; ++chunk) {
                const Chunk& one = plan.chunks[chunk];
                if (stays) clear_gone({done, one.range.start}, hashes);
                done = one.range.end;
                finish_chunk(plan, one, reading, hashes, at + (one.range.start - saved.start), stays);
            }
            if (stays) clear_gone({done, saved.end}, hashes);
        }
        clear_all_but(in_place);
        write_headers(segments, notes, table_room_);
    }

    void write_all(const MemoryPlan& plan, std::string_view notes, const ReadChunk& read) override {
        std::vector<CoreSegment> segments = segments_of(plan);
        const std::uint64_t data = header_bytes + core_table_bytes(segments.size(), notes.size());
        place_in_order(segments, data);
        std::size_t chunk = 0;
        for (const CoreSegment& segment : segments) {
            end_ = std::max(end_, segment.file_offset + segment.saved_bytes);
            for (; chunk < plan.chunks.size() && plan.chunks[chunk].range.start < segment.memory.end;
                 ++chunk) {
                const Chunk& one = plan.chunks[chunk];
                write_runs(plan, one, read(one),
                           segment.file_offset + (one.range.start - segment.memory.start));
            }
        }
        write_headers(segments, notes, data);
    }

    std::uint64_t file_bytes() const override { return end_; }

private:
    static constexpr std::uint64_t header_bytes = 64;

    static std::uint64_t room_of(const PlannedMapping& planned) {
        if (!planned.mapping.writable || planned.mapping.of_file || planned.mapping.shared) return 0;
        constexpr std::uint64_t least = 1 << 20, most = 64 << 20;
        return Address(std::clamp(planned.saved_bytes / 16, least, most)).rounded_up(captured_page).value;
    }

    void add_piece(const AddressRange& asked) {
        const AddressRange room{asked.start.rounded_up(captured_page), asked.end.rounded_down(captured_page)};
        pieces_.push_back({room, next_});
        next_ += room.size();
    }

    const Piece* piece_at(Address address) const {
        const auto next = std::partition_point(
            pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.room.start <= address; });
        return next != pieces_.begin() && (next - 1)->room.contains(address) ? &*(next - 1) : nullptr;
    }

    void write_runs(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read, std::uint64_t at) {
        // Pages with bytes that follow each other go in one call.
        std::uint64_t from = 0, to = 0;
        const auto flush = [&] {
            if (to > from) file_.write(at + from, read.bytes.subspan(from, to - from));
        };
        std::size_t page = 0;
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i) {
            std::uint64_t offset = plan.runs[i].start - chunk.range.start;
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n, ++page, offset += captured_page) {
                if (!read.there[page]) continue;
                if (offset != to) {
                    flush();
                    from = offset;
                }
                to = offset + captured_page;
            }
        }
        flush();
    }

    /// Pages that were kept, and are no longer there.
    void clear_gone(const AddressRange& range, const PageHashes& hashes) {
        if (range.start >= range.end || hashes.count(range) == 0) return;
        const Piece* piece = piece_at(range.start);
        if (piece) file_.clear(piece->offset_of(range.start), range.size());
    }

    void finish_chunk(const MemoryPlan& plan, const Chunk& chunk, const SecondReading& reading,
                      const PageHashes& hashes, std::uint64_t at, bool stays) {
        std::vector<std::byte> bytes(captured_page);
        std::uint64_t as_copied = 0;
        std::uint64_t page = chunk.first_page;
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i)
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n)
                as_copied += reading.pages[page++] == PageState::as_copied;
        const bool stale = stays && hashes.count(chunk.range) != as_copied;
        page = chunk.first_page;
        std::uint64_t cleared = 0;  // up to here, as an offset in the chunk
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i) {
            std::uint64_t offset = plan.runs[i].start - chunk.range.start;
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n, ++page, offset += captured_page) {
                const PageState state = reading.pages[page];
                if (state == PageState::absent) continue;
                if (stale) file_.clear(at + cleared, offset - cleared);
                cleared = offset + captured_page;
                if (state == PageState::as_copied) {
                    if (!stays) copy_page(chunk.range.start + offset, at + offset);
                } else {
                    reading.changed->read(static_cast<std::uint32_t>(state), bytes.data());
                    file_.write(at + offset, bytes);
                }
            }
        }
        if (stale) file_.clear(at + cleared, chunk.range.size() - cleared);
    }

    void copy_page(Address address, std::uint64_t to) {
        const Piece* piece = piece_at(address);
        if (piece) file_.copy(descriptor_, piece->offset_of(address), to, captured_page);
    }

    /// Gives back to the disk what no segment refers to.
    void clear_all_but(const std::vector<AddressRange>& in_place) {
        std::size_t range = 0;
        for (const Piece& piece : pieces_) {
            Address at = piece.room.start;
            for (; range < in_place.size() && in_place[range].start < piece.room.end; ++range) {
                if (at < in_place[range].start) file_.clear(piece.offset_of(at), in_place[range].start - at);
                at = in_place[range].end;
            }
            if (at < piece.room.end) file_.clear(piece.offset_of(at), piece.room.end - at);
        }
    }

    /// `room`: where the bytes begin. Headers that do not fit before them go behind.
    void write_headers(const std::vector<CoreSegment>& segments, std::string_view notes, std::uint64_t room) {
        const std::uint64_t bytes = core_table_bytes(segments.size(), notes.size());
        std::uint64_t at = header_bytes;
        if (header_bytes + bytes > Address(room).rounded_up(captured_page).value) {
            at = Address(std::max(end_, next_)).rounded_up(captured_page).value;
            end_ = at + bytes;
        }
        const CoreHeaderBytes headers = core_header_bytes(segments, notes, at);
        file_.write(0, headers.header);
        file_.write(at, headers.table);
        end_ = std::max(end_, at + headers.table.size());
        file_.finish(end_);
    }

    int descriptor_;
    FileWriter file_;
    std::vector<Piece> pieces_;  // ascending by address
    std::uint64_t table_room_ = 0, next_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<CoreFileOut> CoreFileOut::create(const CaptureTarget& target) {
    if (target.compression != Compression::none) return compressed_core_out(target);
    return std::make_unique<SparseCoreOut>(target);
}

}  // namespace heapsift
