// A compressed core is a series of frames (frame_packer.h), which unpack to what the frames hold one after the other: the
// headers, then each mebibyte of each mapping. The headers come first and are known last; so while the process runs the
// frames go to a file without a name, and in the end they are copied behind the headers. Only the frames with a page that
// changed are made anew. What was copied is given back to the disk at once, so both files together take no more than one.
// Of memory that stands still nothing is put by: its headers are known first.

#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/capture/core_file_out.h"
#include "parsers/capture/drop_behind.h"
#include "parsers/capture/nameless_file.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t most_in_frame = 1 << 20;

/// A file that frames are added to.
class FrameFile {
public:
    FrameFile(int descriptor, const CaptureTarget& target, bool in_order)
        : file_(descriptor, target.name, in_order), packer_(FramePacker::create(target.compression)) {}

    /// Returns the size of the frame.
    std::uint64_t add(std::span<const std::byte> bytes) {
        const std::uint64_t before = end_;
        packer_->pack(bytes, append_);
        return end_ - before;
    }
    void add(std::string_view text) {
        for (std::size_t done = 0; done < text.size(); done += most_in_frame) {
            const std::string_view part = text.substr(done, most_in_frame);
            add(std::span(reinterpret_cast<const std::byte*>(part.data()), part.size()));
        }
    }
    /// Frames for any number of zeros, at hardly any cost.
    void add_zeros(std::uint64_t count) { packer_->pack_zeros(count, append_); }
    /// A frame of another file.
    void copy(int from, std::uint64_t at, std::uint64_t bytes) {
        file_.copy(from, at, end_, bytes);
        end_ += bytes;
    }
    std::uint64_t end() const { return end_; }
    void finish() { file_.finish(end_); }
    FileWriter& file() { return file_; }

private:
    FileWriter file_;
    std::unique_ptr<FramePacker> packer_;
    std::uint64_t end_ = 0;
    FramePacker::Give append_ = [this](std::span<const std::byte> packed) {
        if (packed.empty()) return;
        file_.write(end_, packed);
        end_ += packed.size();
    };
};

struct KeptFrame {
    AddressRange range;
    std::uint64_t at = 0, bytes = 0;  // in the file without a name
};

class CompressedCoreOut final : public CoreFileOut {
public:
    explicit CompressedCoreOut(const CaptureTarget& target)
        : target_(target), out_(target.descriptor, target_, target.in_order) {}

    void begin(const MemoryPlan& plan) override {
        spool_ = nameless_file_in(target_.folder);
        if (!spool_.is_open()) out_.file().cannot_write(errno);
        kept_out_ = std::make_unique<FrameFile>(spool_.number(), target_, false);
        kept_.reserve(plan.chunks.size());
        for (const Chunk& chunk : plan.chunks) kept_.push_back({chunk.range, 0, 0});
    }

    void keep(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read) override {
        KeptFrame& frame = kept_[static_cast<std::size_t>(&chunk - plan.chunks.data())];
        if (frame.bytes > 0) kept_out_->file().give_back(frame.at, frame.bytes);
        frame.at = kept_out_->end();
        frame.bytes = kept_out_->add(read.bytes);
    }

    void finish(const MemoryPlan& plan, const SecondReading& reading, const PageHashes& hashes,
                std::string_view notes) override {
        std::vector<CoreSegment> segments = begin_core(plan, notes);
        visit_in_order(plan, segments,
                       [&](const Chunk& chunk) { finish_chunk(plan, chunk, reading, hashes); });
        out_.finish();
    }

    void write_all(const MemoryPlan& plan, std::string_view notes, const ReadChunk& read) override {
        std::vector<CoreSegment> segments = begin_core(plan, notes);
        visit_in_order(plan, segments, [&](const Chunk& chunk) { out_.add(read(chunk).bytes); });
        out_.finish();
    }

    std::uint64_t file_bytes() const override { return out_.end(); }

private:
    static std::uint64_t page_up(std::uint64_t at) {
        return (at + captured_page - 1) / captured_page * captured_page;
    }

    /// Writes the headers, up to where the first segment begins.
    std::vector<CoreSegment> begin_core(const MemoryPlan& plan, std::string_view notes) {
        std::vector<CoreSegment> segments = segments_of(plan);
        constexpr std::uint64_t table_at = 64;
        const std::uint64_t data = table_at + core_table_bytes(segments.size(), notes.size());
        place_in_order(segments, data);
        const CoreHeaderBytes headers = core_header_bytes(segments, notes, table_at);
        std::string text = headers.header + headers.table;
        text.resize(page_up(data), '\0');
        out_.add(text);
        return segments;
    }

    template <class Add>
    void visit_in_order(const MemoryPlan& plan, const std::vector<CoreSegment>& segments, Add&& add) {
        std::size_t at = 0;
        for (const CoreSegment& segment : segments) {
            const Address end = (segment.memory.start + segment.saved_bytes).rounded_up(captured_page);
            Address done = segment.memory.start;
            for (; at < plan.chunks.size() && plan.chunks[at].range.start < end; ++at) {
                const Chunk& chunk = plan.chunks[at];
                out_.add_zeros(chunk.range.start - done);
                add(chunk);
                done = chunk.range.end;
            }
            out_.add_zeros(end - done);
        }
    }

    /// The frame that holds `address`, or null.
    const KeptFrame* frame_at(Address address) const {
        const auto next = std::partition_point(
            kept_.begin(), kept_.end(), [&](const KeptFrame& frame) { return frame.range.start <= address; });
        return next != kept_.begin() && (next - 1)->range.contains(address) ? &*(next - 1) : nullptr;
    }

    void finish_chunk(const MemoryPlan& plan, const Chunk& chunk, const SecondReading& reading,
                      const PageHashes& hashes) {
        std::uint64_t as_copied = 0, changed = 0;
        std::uint64_t page = chunk.first_page;
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i)
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n, ++page) {
                as_copied += reading.pages[page] == PageState::as_copied;
                changed +=
                    reading.pages[page] != PageState::as_copied && reading.pages[page] != PageState::absent;
            }
        const KeptFrame* frame = frame_at(chunk.range.start);
        // Of a chunk that could never be read nothing was kept; it has its zeros all the same.
        const bool same = frame && frame->bytes > 0 && frame->range.start == chunk.range.start &&
                          frame->range.end == chunk.range.end && changed == 0 &&
                          as_copied == hashes.count(chunk.range);
        if (same) {
            out_.copy(spool_.number(), frame->at, frame->bytes);
            kept_out_->file().give_back(frame->at, frame->bytes);
        } else {
            out_.add(made_anew(plan, chunk, reading));
        }
    }

    std::span<const std::byte> made_anew(const MemoryPlan& plan, const Chunk& chunk,
                                         const SecondReading& reading) {
        anew_.assign(chunk.range.size(), std::byte{0});
        std::uint64_t page = chunk.first_page;
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i) {
            std::uint64_t offset = plan.runs[i].start - chunk.range.start;
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n, ++page, offset += captured_page) {
                const PageState state = reading.pages[page];
                if (state == PageState::as_copied)
                    copy_page(chunk.range.start + offset, anew_.data() + offset);
                else if (state != PageState::absent)
                    reading.changed->read(static_cast<std::uint32_t>(state), anew_.data() + offset);
            }
        }
        return anew_;
    }

    void unpack(const KeptFrame& frame) {
        packed_.resize(frame.bytes);
        unpacked_.clear();
        const ssize_t got =
            ::pread(spool_.number(), packed_.data(), packed_.size(), static_cast<off_t>(frame.at));
        if (got == static_cast<ssize_t>(packed_.size())) {
            const auto stream = unpack_bytes(packed_, most_in_frame);
            Bytes block;
            while (stream && unpacked_.size() <= frame.range.size() &&
                   stream->next(block) == ByteStream::Status::block)
                unpacked_.insert(unpacked_.end(), block.begin(), block.end());
        }
        if (unpacked_.size() != frame.range.size())
            throw cannot_analyse("cannot-read",
                                 fmt::format("{}: what was put by could not be read again", target_.name));
    }

    void copy_page(Address address, std::byte* to) {
        const KeptFrame* frame = frame_at(address);
        if (!frame) return;
        if (frame != unpacked_frame_) {
            unpack(*frame);
            unpacked_frame_ = frame;
        }
        const std::byte* page = unpacked_.data() + (address - frame->range.start);
        std::copy(page, page + captured_page, to);
    }

    CaptureTarget target_;
    FrameFile out_;
    Descriptor spool_;
    std::unique_ptr<FrameFile> kept_out_;
    std::vector<KeptFrame> kept_;  // ascending by address
    std::vector<std::byte> anew_, packed_, unpacked_;
    const KeptFrame* unpacked_frame_ = nullptr;
};

}  // namespace

std::unique_ptr<CoreFileOut> compressed_core_out(const CaptureTarget& target) {
    return std::make_unique<CompressedCoreOut>(target);
}

}  // namespace heapsift
