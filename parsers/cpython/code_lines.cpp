// Which bytecode belongs to which line: code objects have had three formats for that
// (Objects/lnotab_notes.txt, Objects/locations.md).
//
//   up to 3.9   co_lnotab: pairs of steps, of the address (unsigned) and then of the line (signed)
//   3.10        co_linetable of PEP 626: a stretch's length in bytes, and the step to its line; -128: no line
//   from 3.11   co_linetable: an entry of one byte or more for each stretch. The first byte has its highest
//               bit set, four bits that say what follows, and the length in units of two bytes, minus one.
//               Only the line's step is read here, not the columns.

#include "parsers/cpython/code_lines.h"
#include "parsers/cpython/build/frames.h"

#include <algorithm>
#include <limits>

namespace heapsift {
namespace {

constexpr std::int64_t longest_table = 1 << 22;
constexpr std::int8_t no_line = -128;

// What the entries of 3.11 and later hold
constexpr unsigned first_one_line = 10, last_one_line = 12, no_column = 13, long_form = 14,
                   without_location = 15;

std::vector<std::uint8_t> table_of(const PythonHeap& heap, Address code) {
    const Layout& l = heap.layout();
    const Address bytes = heap.pointer(code + *l.code.co_linetable);
    if (bytes.is_null()) return {};
    const std::int64_t size = heap.var_size(bytes);
    if (size <= 0 || size > longest_table) return {};
    const Address first = bytes + *l.bytes.ob_sval;
    if (heap.memory().mapped_bytes(first, static_cast<std::uint64_t>(size)) !=
        static_cast<std::uint64_t>(size))
        return {};
    std::vector<std::uint8_t> table(static_cast<std::size_t>(size));
    if (!heap.memory().read_bytes(first, table.data(), table.size())) return {};
    return table;
}

/// Six bits per byte, lowest first; the seventh bit says that more follow. Signed: the lowest bit is the
/// sign.
std::int64_t signed_varint(const std::vector<std::uint8_t>& table, std::size_t at) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < table.size() && shift <= 30; ++at, shift += 6) {
        value |= std::uint64_t{table[at] & 0x3fU} << shift;
        if (!(table[at] & 0x40)) break;
    }
    const auto magnitude = static_cast<std::int64_t>(value >> 1);
    return value & 1 ? -magnitude : magnitude;
}

}  // namespace

CodeLines::CodeLines(const PythonHeap& heap, Address code) {
    const auto& l = heap.layout().code;
    if (code.is_null() || !l.co_linetable.present() || !l.co_firstlineno.present()) return;
    first_line_ = std::max(heap.integer<std::int32_t>(code + *l.co_firstlineno), 0);
    const std::vector<std::uint8_t> table = table_of(heap, code);
    switch (line_table(heap.layout())) {
        case LineTable::locations:
            read_locations(table);
            break;
        case LineTable::ranges:
            read_ranges(table);
            break;
        case LineTable::increments:
            read_increments(table);
            break;
    }
}

std::int32_t CodeLines::line_at(std::int64_t offset) const {
    if (offset < 0) return first_line_;
    const auto it =
        std::upper_bound(stretches_.begin(), stretches_.end(), offset,
                         [](std::int64_t at, const Stretch& stretch) { return at < stretch.end; });
    return it == stretches_.end() ? 0 : it->line;
}

void CodeLines::add(std::int64_t end, std::int64_t line) {
    if (line < 0 || line > std::numeric_limits<std::int32_t>::max()) line = 0;
    stretches_.push_back({end, static_cast<std::int32_t>(line)});
}

void CodeLines::read_increments(const std::vector<std::uint8_t>& table) {
    std::int64_t address = 0, line = first_line_;
    for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
        address += table[i];
        if (table[i] > 0) add(address, line);
        line += static_cast<std::int8_t>(table[i + 1]);
    }
    add(std::numeric_limits<std::int64_t>::max(), line);  // the last line extends to the end
}

void CodeLines::read_ranges(const std::vector<std::uint8_t>& table) {
    std::int64_t address = 0, line = first_line_;
    for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
        address += table[i];
        const auto step = static_cast<std::int8_t>(table[i + 1]);
        if (step != no_line) line += step;
        if (table[i] > 0) add(address, step == no_line ? 0 : line);
    }
}

void CodeLines::read_locations(const std::vector<std::uint8_t>& table) {
    std::int64_t address = 0, line = first_line_;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!(table[i] & 0x80)) continue;  // the rest of the previous entry
        const unsigned form = table[i] >> 3 & 0xf;
        address += 2 * ((table[i] & 7) + 1);
        if (form >= first_one_line && form <= last_one_line) line += form - first_one_line;
        if (form == no_column || form == long_form) line += signed_varint(table, i + 1);
        add(address, form == without_location ? 0 : line);
    }
}

}  // namespace heapsift
