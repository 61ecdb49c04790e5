// Four states for each byte, in layers: first what the core saved, then what a verified file holds, then what
// a cut removed from the core, then what the core never had. AddressSpace resolves the layers by their order.
//
// The kernel leaves code and constants out of a core (a PT_LOAD of file size 0). gdb leaves out the whole
// PT_LOAD, and only NT_FILE shows that something was mapped there. An address is translated through the
// NT_FILE row that holds it (its file offset plus the distance), and only where the file's own program
// headers put that offset at that address.

#include "parsers/elf/core_memory.h"

#include "parsers/elf/bytes.h"

#include <elf.h>
#include <algorithm>

namespace heapsift {
namespace {

/// Bytes of a file that are the same in every process that maps it.
struct ConstantPart {
    AddressRange range;  // in the dumped process
    std::uint64_t file_offset = 0;
    bool executable = false;
};

std::optional<AddressRange> runtime_pages(const Elf64_Phdr& ph, std::uint64_t memory_bytes,
                                          std::uint64_t load_bias) {
    const std::uint64_t from = page_start(ph.p_vaddr),
                        to = page_end(saturating_add(ph.p_vaddr, memory_bytes));
    const AddressRange range{Address(from + load_bias), Address(to + load_bias)};
    if (range.start >= range.end) return std::nullopt;
    return range;
}

/// The pages of unwritable segments, without those that a writable segment covers too.
std::vector<ConstantPart> constant_parts(const ElfFile& file, std::uint64_t load_bias) {
    std::vector<ConstantPart> parts;
    for (const Elf64_Phdr& ph : file.program_headers) {
        if (ph.p_type != PT_LOAD || (ph.p_flags & PF_W)) continue;
        if (const auto range = runtime_pages(ph, ph.p_filesz, load_bias))
            parts.push_back({*range, page_start(ph.p_offset), (ph.p_flags & PF_X) != 0});
    }
    for (const Elf64_Phdr& ph : file.program_headers) {
        if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_W)) continue;
        const auto written = runtime_pages(ph, ph.p_memsz, load_bias);
        if (!written) continue;
        std::vector<ConstantPart> rest;
        for (const ConstantPart& p : parts) {
            const Address before = std::clamp(written->start, p.range.start, p.range.end);
            const Address after = std::clamp(written->end, p.range.start, p.range.end);
            if (before > p.range.start)
                rest.push_back({{p.range.start, before}, p.file_offset, p.executable});
            if (after < p.range.end)
                rest.push_back({{after, p.range.end}, p.file_offset + (after - p.range.start), p.executable});
        }
        parts = std::move(rest);
    }
    return parts;
}

/// The part of `hole` (not saved, never written to) that `row` maps and `part` explains, with the file's
/// bytes.
std::optional<Segment> filled(const Segment& hole, const MappedFile& row, const ConstantPart& part,
                              Bytes file) {
    const Address from = std::max({hole.start, row.range.start, part.range.start});
    const Address to = std::min({hole.end(), row.range.end, part.range.end});
    if (from >= to) return std::nullopt;
    const std::uint64_t offset = saturating_add(row.file_offset, from - row.range.start);
    if (offset != part.file_offset + (from - part.range.start)) return std::nullopt;
    const Bytes bytes = clipped(file, offset, to - from);
    if (bytes.empty()) return std::nullopt;
    Segment segment = hole;
    segment.start = from;
    segment.size = bytes.size();
    segment.data = bytes.data();
    segment.state = ByteState::from_file;
    segment.executable |= part.executable;
    return segment;
}

std::vector<Segment> segments_from_files(const AddressSpace& of_core, const ModuleList& list,
                                         std::span<const std::shared_ptr<const ElfFile>> files) {
    std::vector<std::vector<ConstantPart>> parts(files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
        if (files[i]) parts[i] = constant_parts(*files[i], list.modules[i].load_bias);

    const AddressSpace rows = space_of_rows(list.rows);
    std::vector<Segment> out;
    const auto segments = of_core.segments();
    std::size_t at = 0;
    for (const Segment& row_piece : rows.segments()) {
        const auto row = static_cast<std::size_t>(row_piece.module);
        const std::int32_t module = list.module_of_row[row];
        if (module < 0 || !files[static_cast<std::size_t>(module)]) continue;
        while (at < segments.size() && segments[at].end() <= row_piece.start) ++at;
        for (std::size_t i = at; i < segments.size() && segments[i].start < row_piece.end(); ++i) {
            if (segments[i].state != ByteState::not_saved || segments[i].writable) continue;
            for (const ConstantPart& part : parts[static_cast<std::size_t>(module)])
                if (auto segment = filled(segments[i], list.rows[row], part,
                                          files[static_cast<std::size_t>(module)]->bytes()))
                    out.push_back(*segment);
        }
    }
    return out;
}

Segment segment_of(const LoadHeader& load, std::uint64_t from, std::uint64_t to) {
    Segment s;
    s.start = load.start + from;
    s.size = to - from;
    s.readable = load.readable;
    s.writable = load.writable;
    s.executable = load.executable;
    return s;
}

}  // namespace

AddressSpace memory_of_core(const CoreHeaders& headers, const std::vector<MappedFile>& mapped_files) {
    std::vector<Segment> segments;
    segments.reserve(headers.loads.size() * 2 + mapped_files.size());
    for (const LoadHeader& load : headers.loads) {
        Segment saved = segment_of(load, 0, load.saved.size());
        saved.data = load.saved.data();
        saved.state = ByteState::in_core;
        segments.push_back(saved);
    }
    for (const LoadHeader& load : headers.loads) {
        if (load.saved.size() == load.promised_bytes) continue;
        Segment cut = segment_of(load, load.saved.size(), load.promised_bytes);
        cut.cut = true;
        segments.push_back(cut);
    }
    for (const LoadHeader& load : headers.loads)
        if (load.promised_bytes < load.memory_bytes)
            segments.push_back(segment_of(load, load.promised_bytes, load.memory_bytes));
    for (const MappedFile& file : mapped_files) {
        Segment named;
        named.start = file.range.start;
        named.size = file.range.size();
        segments.push_back(named);
    }
    return AddressSpace(std::move(segments));
}

AddressSpace memory_with_files(const AddressSpace& of_core, const ModuleList& list,
                               std::span<const std::shared_ptr<const ElfFile>> files) {
    // Files only ever fill holes, so they may come first.
    std::vector<Segment> segments = segments_from_files(of_core, list, files);
    segments.insert(segments.end(), of_core.segments().begin(), of_core.segments().end());
    const AddressSpace rows = space_of_rows(list.rows);
    for (Segment& s : segments) {
        const Segment* row = rows.find(s.start);
        s.module = row ? list.module_of_row[static_cast<std::size_t>(row->module)] : -1;
    }
    return AddressSpace(std::move(segments));
}

AddressSpace space_of_rows(const std::vector<MappedFile>& rows) {
    std::vector<Segment> segments(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        segments[i].start = rows[i].range.start;
        segments[i].size = rows[i].range.size();
        segments[i].module = static_cast<std::int32_t>(i);
    }
    return AddressSpace(std::move(segments));
}

}  // namespace heapsift
