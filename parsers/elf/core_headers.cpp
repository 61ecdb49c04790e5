// The program headers of a core. We read them ourselves because libraries reject cores that are merely odd:
// more segments than 16 bits can count, a file that ends too early, segments out of order.
//
// With 65,535 segments or more, e_phnum is 0xffff (PN_XNUM) and the count is sh_info of section header 0. The
// kernel writes that at the very end of the file (fs/binfmt_elf.c, fill_extnum_info), so a cut core has lost
// it. The table is then taken to end where the first segment's bytes begin, as it does in the output of every
// known writer.

#include "parsers/elf/core_headers.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <elf.h>
#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

std::string with_binary_unit(std::uint64_t bytes) {
    constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
    return fmt::format("{:.1f} {}", value, units[unit]);
}

class HeaderTable {
public:
    HeaderTable(Bytes file, const Elf64_Ehdr& header)
        : file_(file), start_(header.e_phoff), stride_(header.e_phentsize) {}

    std::optional<Elf64_Phdr> at(std::uint64_t index) const {
        return read_at<Elf64_Phdr>(file_, saturating_add(start_, saturating_multiply(index, stride_)));
    }
    /// How many headers the file has room for.
    std::uint64_t room() const { return start_ >= file_.size() ? 0 : (file_.size() - start_) / stride_; }
    std::uint64_t end(std::uint64_t count) const {
        return saturating_add(start_, saturating_multiply(count, stride_));
    }

    /// The count, if the number that gives it is lost: up to the first byte that some segment claims.
    std::uint64_t count_up_to_first_segment() const {
        std::uint64_t limit = file_.size();
        std::uint64_t count = 0;
        while (end(count + 1) <= limit) {
            const auto ph = at(count);
            if (!ph) break;
            if (ph->p_filesz > 0 && ph->p_offset > start_)
                limit = std::min<std::uint64_t>(limit, ph->p_offset);
            ++count;
        }
        return end(count) <= limit ? count : 0;
    }

private:
    Bytes file_;
    std::uint64_t start_;
    std::uint64_t stride_;
};

struct Count {
    std::uint64_t headers = 0;
    bool lost = false;  // the count is elsewhere, and missing
};

Count count_headers(Bytes file, const Elf64_Ehdr& header, const HeaderTable& table) {
    if (header.e_phnum != PN_XNUM) return {header.e_phnum, false};
    const auto first_section = read_at<Elf64_Shdr>(file, header.e_shoff);
    if (header.e_shoff != 0 && header.e_shentsize >= sizeof(Elf64_Shdr) && first_section &&
        first_section->sh_info != 0)
        return {first_section->sh_info, false};
    return {table.count_up_to_first_segment(), true};
}

bool has_real_sections(Bytes file, const Elf64_Ehdr& header) {
    if (header.e_shoff == 0) return false;
    if (header.e_shnum != 0) return header.e_shnum > 1;
    const auto first_section = read_at<Elf64_Shdr>(file, header.e_shoff);
    return first_section && first_section->sh_size > 1;
}

LoadHeader load_header(Bytes file, const Elf64_Phdr& ph) {
    LoadHeader load;
    load.start = Address(ph.p_vaddr);
    load.memory_bytes = std::min(ph.p_memsz, ~std::uint64_t{0} - ph.p_vaddr);
    load.promised_bytes = std::min(ph.p_filesz, load.memory_bytes);
    load.saved = clipped(file, ph.p_offset, load.promised_bytes);
    load.readable = ph.p_flags & PF_R;
    load.writable = ph.p_flags & PF_W;
    load.executable = ph.p_flags & PF_X;
    return load;
}

void report_cut(const std::string& name, Bytes file, const CoreHeaders& headers, Diagnostics& diagnostics) {
    std::uint64_t cut_segments = 0;
    std::optional<Address> first;
    for (const LoadHeader& load : headers.loads) {
        if (load.saved.size() == load.promised_bytes) continue;
        ++cut_segments;
        const Address lost = load.start + load.saved.size();
        first = first ? std::min(*first, lost) : lost;
    }
    std::string there = with_binary_unit(file.size()), promised = with_binary_unit(headers.promised_bytes);
    if (there == promised) {
        there = fmt::format("{}", file.size());
        promised = fmt::format("{} bytes", headers.promised_bytes);
    }
    std::string message = fmt::format("{}: the core is cut: {} of {} are there", name, there, promised);
    if (first)
        message += fmt::format("; {} of {} segments are not whole, the lowest address lost is 0x{:x}",
                               cut_segments, headers.loads.size(), first->value);
    diagnostics.add("core-cut", message, Severity::damage);
}

}  // namespace

CoreHeaders read_core_headers(const std::string& path, Bytes file, Diagnostics& diagnostics) {
    const std::string name = escape_for_terminal(path);
    const Elf64_Ehdr header = read_at<Elf64_Ehdr>(file, 0).value();
    const HeaderTable table(file, header);
    const Count count = count_headers(file, header, table);
    const std::uint64_t there = std::min(count.headers, table.room());
    if (count.lost)
        diagnostics.add(
            "header-count-lost",
            fmt::format("{}: the number of segments is lost; {} were found by their place", name, there),
            Severity::damage);

    CoreHeaders headers;
    headers.has_section_headers = has_real_sections(file, header);
    headers.promised_bytes = table.end(count.headers);
    for (std::uint64_t i = 0; i < there; ++i) {
        const auto ph = table.at(i);
        if (!ph) break;
        if (ph->p_type != PT_LOAD && ph->p_type != PT_NOTE) continue;
        if (ph->p_filesz > 0) {
            const Bytes present = clipped(file, ph->p_offset, ph->p_filesz);
            headers.promised_bytes =
                std::max(headers.promised_bytes, saturating_add(ph->p_offset, ph->p_filesz));
            headers.cut_bytes = saturating_add(headers.cut_bytes, ph->p_filesz - present.size());
        }
        if (ph->p_type == PT_LOAD)
            headers.loads.push_back(load_header(file, *ph));
        else
            headers.notes.push_back({clipped(file, ph->p_offset, ph->p_filesz), ph->p_align});
    }
    if (headers.loads.empty())
        throw cannot_analyse("core-without-memory",
                             there < count.headers
                                 ? fmt::format("{} is a core that ends before its first segment header", name)
                                 : fmt::format("{} is a core without a single memory segment", name),
                             "it was cut when it was written or copied; copy it again");
    if (there < count.headers)
        diagnostics.add("headers-cut",
                        fmt::format("{}: {} of {} segment headers are there", name, there, count.headers),
                        Severity::damage);
    if (headers.cut_bytes > 0 || there < count.headers) report_cut(name, file, headers, diagnostics);
    return headers;
}

}  // namespace heapsift
