// The rows that people and programs read. Allocators are named by what they are for: "Python" is pymalloc, which
// gives small blocks to objects, "malloc" whatever allocator C code uses.

#include "parsers/snapshot/rows_of_memory.h"

#include <algorithm>
#include <string_view>

namespace heapsift {
namespace {

MemoryRow row_of(const char* name, MemoryUse use, std::vector<MemoryPart> parts,
                 MemoryKind kind = MemoryKind::other) {
    MemoryRow row{name, 0, use, {}, kind};
    std::erase_if(parts, [](const MemoryPart& part) { return part.bytes == 0; });
    for (const MemoryPart& part : parts) row.bytes += part.bytes;
    if (parts.size() > 1) {
        std::stable_sort(parts.begin(), parts.end(),
                         [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
        row.parts = std::move(parts);
    }
    return row;
}

MemoryRow row_of_one(const char* name, std::uint64_t bytes, MemoryKind kind) {
    return {name, bytes, MemoryUse::in_use, {}, kind};
}

std::vector<MemoryRow> categories(const Regions& regions, const Allocator& of_python, bool cut) {
    using enum MemoryUse;
    const MemoryShares& all = regions.shares;
    MemoryShares python, malloc;
    for (const AllocatorShares& one : regions.allocators)
        (one.name == of_python.name() ? python : malloc).add(one.shares);
    const auto outside = [&](MemoryOwner owner) { return all[owner] - python[owner] - malloc[owner]; };
    std::vector<MemoryRow> rows{
        row_of_one("array data", all[MemoryOwner::array_data], MemoryKind::array_data),
        row_of(objects_row, in_use,
               {{"in blocks of pymalloc", python[MemoryOwner::objects]},
                {"in blocks of malloc", malloc[MemoryOwner::objects]},
                {"in data of programs and elsewhere", outside(MemoryOwner::objects)}},
               MemoryKind::objects),
        row_of_one(c_code_row, malloc[MemoryOwner::c_code], MemoryKind::c_code),
        row_of_one("Python's own tables", python[MemoryOwner::c_code], MemoryKind::tables),
        row_of(free_row, in_use,
               {{"by pymalloc", python[MemoryOwner::free]}, {"by malloc", malloc[MemoryOwner::free]}},
               MemoryKind::free),
        row_of_one("data of programs and libraries", all[MemoryOwner::module_data], MemoryKind::module_data),
        row_of_one("thread stacks", all[MemoryOwner::stacks], MemoryKind::stacks),
        row_of_one("shared memory, and data files", all[MemoryOwner::data_files], MemoryKind::data_files)};
    std::stable_sort(rows.begin(), rows.end(),
                     [](const MemoryRow& a, const MemoryRow& b) { return a.bytes > b.bytes; });
    rows.push_back(
        row_of("other", in_use,
               {{"mappings without a known owner", all[MemoryOwner::other] + outside(MemoryOwner::c_code)},
                {"headers of pymalloc", python[MemoryOwner::headers]},
                {"headers of malloc", malloc[MemoryOwner::headers]},
                {"not saved in the core", all[MemoryOwner::not_saved]}}));
    rows.push_back({"program files", all[MemoryOwner::files], program_files, {}});
    rows.push_back(row_of("reserved", reserved,
                          {{cut ? "never touched, or stacks that this cut core lacks" : "never touched",
                            all[MemoryOwner::reserved]},
                           {"pages of zeros in large blocks", all[MemoryOwner::zero_blocks]},
                           {"pages of zeros that nobody was given", all[MemoryOwner::zeros]}}));
    return rows;
}

std::vector<ArenaRow> arenas(const MallocHeaps& heaps) {
    std::vector<ArenaRow> rows;
    for (const MallocArena& arena : heaps.state().arenas) rows.push_back({arena.state, arena.system_bytes});
    for (const MallocHeaps::Heap& heap : heaps.heaps()) {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const ArenaRow& r) {
            return heap.arena.is_null() ? r.state == rows.front().state : r.state == heap.arena;
        });
        if (row == rows.end()) continue;
        row->in_use += heap.in_use_bytes;
        row->kept += heap.kept_bytes;
        row->free += heap.free_bytes;
    }
    return rows;
}

std::vector<AllocatorRow> allocator_rows(const Regions& regions, const MallocHeaps& heaps) {
    std::vector<AllocatorRow> rows;
    for (const AllocatorShares& one : regions.allocators) {
        if (one.shares.sum() == 0) continue;
        AllocatorRow row;
        row.name = one.name;
        row.mapped = one.shares.sum();
        row.in_use = one.shares[MemoryOwner::array_data] + one.shares[MemoryOwner::objects] +
                     one.shares[MemoryOwner::c_code];
        row.free = one.shares[MemoryOwner::free];
        row.trim = one.trim;
        row.reserved = one.shares[MemoryOwner::reserved];
        row.blocks = one.blocks;
        if (one.name == heaps.name()) {
            row.arenas = arenas(heaps);
            row.mapped_blocks = heaps.mapped().size();
            for (const MappedChunk& chunk : heaps.mapped()) row.mapped_bytes += chunk.pages.size();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<MappingRow> mapping_rows(const Regions& regions, const CoreFile& core) {
    std::vector<MappingRow> rows;
    for (std::size_t i = 0; i < regions.mappings.size(); ++i) {
        MappingRow row{regions.mappings[i]};
        row.shares = regions.of_mappings[i];
        if (const Segment* segment = core.memory().find(row.range.start)) {
            row.readable = segment->readable;
            row.writable = segment->writable;
            row.executable = segment->executable;
            row.saved = segment->data != nullptr;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

MemoryRows memory_rows(const Regions& regions, const CoreFile& core, const Allocations& allocations) {
    return {categories(regions, allocations.pymalloc(), core.extent().cut()), regions.overlaps,
            allocator_rows(regions, allocations.malloc_heaps()), mapping_rows(regions, core), regions.sparse};
}

}  // namespace heapsift
