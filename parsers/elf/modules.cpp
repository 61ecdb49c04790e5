// Which mapped files are modules.
//
// NT_FILE has a row for each mapping. The mappings of one image follow each other and have the same path, but
// so do two neighbouring images of the same file: a library may map the interpreter's own file once more to
// read its symbols. A second row that begins at the file's first byte starts a new image, unless the headers
// of the one before say that they map that page twice (lld does, with its first segments in one page).
//
// Much else is mapped from files (locale archives, fonts, data), and is ignored here.
//
// The executable is the module that holds AT_PHDR, the address at which the kernel told the program its own
// headers. The vDSO has no file; AT_SYSINFO_EHDR says where it is.

#include "parsers/elf/modules.h"

#include "parsers/elf/bytes.h"

#include <fmt/format.h>

#include <elf.h>
#include <algorithm>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t page_size = 4096;

constexpr std::string_view vdso_path = "[vdso]";

struct Group {
    std::size_t first = 0;  // rows [first, last)
    std::size_t last = 0;
    std::optional<ElfImage> image;
};

bool has_shared_object_name(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

std::optional<Address> auxiliary_address(
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& auxiliary, std::uint64_t type) {
    for (const auto& [known, value] : auxiliary)
        if (known == type && value != 0) return Address(value);
    return std::nullopt;
}

void add_vdso_row(std::vector<MappedFile>& rows, const AddressSpace& memory, std::optional<Address> header) {
    const Segment* s = header ? memory.find(*header) : nullptr;
    if (!s) return;
    const auto after = std::upper_bound(rows.begin(), rows.end(), *header,
                                        [](Address a, const MappedFile& row) { return a < row.range.start; });
    if (after != rows.begin() && std::prev(after)->range.contains(*header)) return;  // a file's after all
    rows.insert(after, MappedFile{{*header, s->end()}, 0, std::string(vdso_path)});
}

std::vector<Group> group_rows(const std::vector<MappedFile>& rows, const AddressSpace& memory) {
    std::vector<Group> groups;
    bool has_first_byte = false;  // whether the last group has a row at file offset 0
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool at_first_byte = rows[i].file_offset == 0;
        const bool same_path = i > 0 && rows[i].path == rows[i - 1].path;
        bool starts = !same_path;
        if (same_path && at_first_byte && has_first_byte) {
            Group& open = groups.back();
            if (!open.image) open.image = read_elf_image(memory, std::span(rows).subspan(open.first, 1));
            starts = !open.image || !open.image->maps(0, rows[i].range.start);
        }
        if (starts) {
            groups.push_back({i, i, std::nullopt});
            has_first_byte = false;
        }
        has_first_byte |= at_first_byte;
        groups.back().last = i + 1;
    }
    for (Group& group : groups)
        group.image = read_elf_image(memory, std::span(rows).subspan(group.first, group.last - group.first));
    return groups;
}

bool holds(const Group& group, const std::vector<MappedFile>& rows, std::optional<Address> address) {
    return address && std::any_of(rows.begin() + group.first, rows.begin() + group.last,
                                  [&](const MappedFile& row) { return row.range.contains(*address); });
}

/// The group that is the program, or groups.size().
std::size_t executable_among(const std::vector<Group>& groups, const std::vector<MappedFile>& rows,
                             std::optional<Address> headers, std::optional<Address> entry) {
    for (const auto& address : {headers, entry})
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (holds(groups[i], rows, address)) return i;
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (groups[i].image && rows[groups[i].first].path != vdso_path) return i;
    return groups.size();
}

Module module_of(const Group& group, const std::vector<MappedFile>& rows) {
    Module module;
    module.path = path_of_mapped_file(rows[group.first].path);
    module.start = rows[group.first].range.start;
    for (std::size_t i = group.first; i < group.last; ++i)
        module.end = std::max(module.end, rows[i].range.end);
    // Without headers, a shared object's first page is assumed to be at virtual address 0, as nearly all are.
    module.load_bias =
        group.image ? group.image->load_bias : module.start.value - rows[group.first].file_offset;
    module.image_end = module.end;
    if (group.image) {
        module.build_id = group.image->build_id;
        for (const Elf64_Phdr& header : group.image->program_headers) {
            if (header.p_type != PT_LOAD || header.p_memsz > (std::uint64_t{1} << 40)) continue;
            const Address last = group.image->runtime(header.p_vaddr) + header.p_memsz + (page_size - 1);
            if (last > module.start)
                module.image_end = std::max(module.image_end, last.rounded_down(page_size));
        }
    }
    if (module.path == vdso_path) module.file_state = ModuleFileState::not_needed;
    return module;
}

}  // namespace

std::string_view path_of_mapped_file(std::string_view path) {
    constexpr std::string_view mark = " (deleted)";
    if (path.ends_with(mark)) path.remove_suffix(mark.size());
    return path;
}

std::vector<MappedFile> images_in_memory(const AddressSpace& memory) {
    std::vector<MappedFile> rows;
    for (const Segment& segment : memory.segments()) {
        // At first the whole first page is one row; the program headers in it give the rest.
        const MappedFile first{{segment.start, segment.start + std::min(segment.size, page_size)},
                               0,
                               fmt::format("[image at {:#x}]", segment.start.value)};
        if (!segment.data || (!rows.empty() && rows.back().range.end > segment.start)) continue;
        const auto image = read_elf_image(memory, std::span(&first, 1));
        if (!image) continue;
        for (const Elf64_Phdr& header : image->program_headers) {
            if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
                header.p_filesz > (std::uint64_t{1} << 40))
                continue;
            const std::uint64_t from = page_start(header.p_vaddr);
            const Address start = image->runtime(from);
            const Address end = start + page_end(header.p_filesz + (header.p_vaddr - from));
            if (start < segment.start || end <= start) continue;
            if (!rows.empty() && rows.back().path == first.path && rows.back().range.end > start) continue;
            rows.push_back({{start, end}, page_start(header.p_offset), first.path});
        }
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const MappedFile& a, const MappedFile& b) { return a.range.start < b.range.start; });
    return rows;
}

ModuleList find_modules(const AddressSpace& memory, const std::vector<MappedFile>& mapped_files,
                        const std::vector<std::pair<std::uint64_t, std::uint64_t>>& auxiliary) {
    ModuleList list;
    list.rows = mapped_files;
    add_vdso_row(list.rows, memory, auxiliary_address(auxiliary, AT_SYSINFO_EHDR));
    list.module_of_row.assign(list.rows.size(), -1);
    std::vector<Group> groups = group_rows(list.rows, memory);
    const std::size_t executable = executable_among(groups, list.rows, auxiliary_address(auxiliary, AT_PHDR),
                                                    auxiliary_address(auxiliary, AT_ENTRY));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        Group& group = groups[i];
        if (!group.image && i != executable &&
            !has_shared_object_name(path_of_mapped_file(list.rows[group.first].path)))
            continue;
        Module module = module_of(group, list.rows);
        module.is_executable = i == executable;
        std::fill(list.module_of_row.begin() + group.first, list.module_of_row.begin() + group.last,
                  static_cast<std::int32_t>(list.modules.size()));
        list.modules.push_back(std::move(module));
        list.images.push_back(std::move(group.image));
    }
    return list;
}

}  // namespace heapsift
