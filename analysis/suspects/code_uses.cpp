// The line of `def` says where a function begins; the line to change is where it uses what keeps the memory. Which
// instruction that is, its argument tells (parsers/cpython/build/instructions.h), and which line, the line table. Of
// several lines that use a name, the one that adds to something is what fills it.

#include "analysis/suspects/code_uses.h"

#include "parsers/cpython/code_lines.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace heapsift {
namespace {

std::optional<std::uint32_t> place_used(const Operations& operations, UsedByCode::Table table,
                                        Instruction instruction, std::uint32_t argument) {
    switch (table) {
        case UsedByCode::Table::names:
            return operations.used_name(instruction, argument);
        case UsedByCode::Table::constants:
            return operations.used_constant(instruction, argument);
        case UsedByCode::Table::cells:
            return operations.used_cell(instruction, argument);
    }
    return std::nullopt;
}

}  // namespace

bool is_name_that_adds(const std::string& name) {
    constexpr std::array<std::string_view, 16> names = {
        "append",      "appendleft",   "extend",   "extendleft",
        "insert",      "add",          "update",   "setdefault",
        "__setitem__", "__iadd__",     "__ior__",  "insort",
        "insort_left", "insort_right", "heappush", "symmetric_difference_update"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

CodeUse use_of(const PythonHeap& heap, Address code, const std::vector<std::string>& names, UsedByCode used) {
    struct Line {
        bool uses = false, adds = false;
    };
    std::map<std::int32_t, Line> lines;
    const Operations* operations = operations_of(heap.layout().version);
    if (!operations) return {};
    const CodeLines table(heap, code);
    const bool unknown =
        any_instruction(heap, code, true, [&](Instruction one, std::uint32_t argument, std::uint64_t offset) {
            if (operations->is_instrumented(one)) return true;
            const auto name = operations->used_name(one, argument);
            const bool uses = place_used(*operations, used.table, one, argument) == used.place;
            const bool adds = operations->stores_item(one) || operations->changes_in_place(one) ||
                              (name && *name < names.size() && is_name_that_adds(names[*name]));
            if (!uses && !adds) return false;
            Line& line = lines[table.line_at(static_cast<std::int64_t>(offset))];
            line.uses = line.uses || uses;
            line.adds = line.adds || adds;
            return false;
        });
    CodeUse found;
    if (unknown) return found;
    found.read = true;
    for (const auto& [number, line] : lines) {
        if (!line.uses || (found.used && (found.adds || !line.adds))) continue;
        found.used = true;
        found.adds = line.adds;
        found.line = number;
    }
    return found;
}

}  // namespace heapsift
