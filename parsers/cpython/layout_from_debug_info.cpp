// A Layout from debug information: layout_field_names() becomes requests, and the answers go back to each
// field's place in Layout.

#include "parsers/cpython/layout_from_debug_info.h"

#include <array>
#include <limits>
#include <string_view>

#include "parsers/base/cache_file.h"
#include "parsers/cpython/build/runtime_state.h"
#include "parsers/dwarf/struct_layouts.h"

namespace heapsift {
namespace {

std::vector<std::string> without_empty(const char* const (&names)[2]) {
    std::vector<std::string> result;
    for (const char* name : names)
        if (*name != '\0') result.emplace_back(name);
    return result;
}

/// Absent if the number does not fit: no struct of CPython is that large, so the debug information is
/// damaged.
LayoutOffset offset_of(std::uint64_t bytes) {
    return bytes < std::numeric_limits<std::uint32_t>::max() ? LayoutOffset(static_cast<std::uint32_t>(bytes))
                                                             : LayoutOffset();
}

void set_bits(LayoutBits& bits, const MemberPlace& place) {
    // A build may have a whole member where others have a bit field (`interned` of a free-threaded 3.14).
    const std::uint64_t width = place.bit_width != 0 ? place.bit_width : place.byte_size * 8;
    if (width == 0 || width > 32) return;
    bits.byte = offset_of(place.byte);
    bits.bit = static_cast<std::uint8_t>(place.bit);
    bits.width = static_cast<std::uint8_t>(width);
}

void set_offset(LayoutOffset& offset, const MemberPlace& place) {
    const bool whole_bytes = place.bit == 0 && place.bit_width % 8 == 0;
    if (whole_bytes) offset = offset_of(place.byte);
}

}  // namespace

LayoutFromDebugInfo layout_from_debug_info(std::span<const std::string> files, const LayoutVersion& version) {
    const auto fields = layout_field_names();
    std::vector<StructRequest> requests;
    for (const LayoutFieldName& field : fields) {
        if (field.is_struct_size())
            requests.push_back({without_empty(field.dwarf_struct), {}});
        else
            requests.back().members.push_back(without_empty(field.dwarf_path));
    }

    const StructLayouts found = read_struct_layouts(files, requests);

    LayoutFromDebugInfo result;
    result.layout.version = version;
    for (const DebugInfoFile& file : found.files)
        result.files.push_back({file.path, file.build_id, file.problem});
    std::size_t struct_index = 0, member_index = 0;
    const std::optional<StructPlace>* place = nullptr;
    for (const LayoutFieldName& field : fields) {
        if (field.is_struct_size()) {
            place = &found.structs[struct_index++];
            member_index = 0;
            ++(*place ? result.structs_found : result.structs_missing);
            if (*place) layout_offset(result.layout, field) = offset_of((*place)->byte_size);
            continue;
        }
        const std::size_t index = member_index++;
        if (!*place || !(*place)->members[index]) continue;
        const MemberPlace& member = *(*place)->members[index];
        if (!field.bits && member.byte_size != 0 && field.width > member.byte_size)
            result.too_wide.push_back(std::string(field.struct_name) + "." + field.field_name);
        if (field.bits)
            set_bits(layout_bits(result.layout, field), member);
        else
            set_offset(layout_offset(result.layout, field), member);
    }
    return result;
}

LayoutFromDebugInfo layout_from_debug_info(const std::string& file, const LayoutVersion& version,
                                           KeptLayout& kept) {
    const std::string stamp = stamp_of(file);
    if (!stamp.empty() && kept.file == file && kept.stamp == stamp && kept.read.layout.version == version)
        return kept.read;
    LayoutFromDebugInfo read = layout_from_debug_info(std::array{file}, version);
    if (!stamp.empty() && read.files.front().problem.empty()) kept = {file, stamp, read};
    return read;
}

bool LayoutFromDebugInfo::usable() const {
    return layout.object.ob_type.present() && layout.type.tp_flags.present() &&
           (layout.runtime_state.interpreters_head.present() || !has_runtime_struct(layout.version)) &&
           layout.interpreter_state.threads_head.present() &&
           (layout.dict.ma_keys.present() || layout.dict.ma_table.present()) && layout.gc_head.next.present();
}

}  // namespace heapsift
