#include "parsers/cpython/layout_choice.h"

// Where the fields of the interpreter's structs lie.
//
// Three sources. The core's own debug offsets (3.13 and later; pycore_debug_offsets.h) are right by
// construction, and few. Debug information of the very file that ran (equal build-id; read with LLVM) knows
// all structs that the interpreter's own code uses, with its build options: a debug build, a patched release.
// The built-in tables know every struct, extension modules' included, as some build of that minor version had
// them. So: debug information where it is at hand, filled up from the table; the table alone where it is not,
// or where what the debug information says does not prove itself (a file can be damaged); in both the debug
// offsets have the last word.

#include "parsers/base/text.h"
#include "parsers/cpython/layout_from_debug_info.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

namespace heapsift {

namespace {

bool has_debug_offsets(const CoreFile& core, Address runtime) {
    char cookie[8];
    std::memcpy(cookie, "xdebugpy", 8);
    return core.memory().read<std::array<char, 8>>(runtime) == std::to_array(cookie);
}

/// Applies struct _Py_DebugOffsets at `at`: the fields that the interpreter's private structs move about.
void apply_debug_offsets(const CoreFile& core, Address at, LayoutChoice& choice) {
    Layout& layout = choice.layout;
    struct Field {
        std::uint32_t offset;
        LayoutOffset* target;
    };
    // Offsets of 3.13's table (pycore_debug_offsets.h); it has no length field and is keyed by the minor
    // version.
    const std::array<Field, 21> fields{{
        {40, &layout.runtime_state.interpreters_head},
        {56, &layout.interpreter_state.id},
        {64, &layout.interpreter_state.next},
        {72, &layout.interpreter_state.threads_head},
        {80, &layout.interpreter_state.gc},
        {88, &layout.interpreter_state.modules},
        {96, &layout.interpreter_state.sysdict},
        {104, &layout.interpreter_state.builtins},
        {112, &layout.interpreter_state.ceval_gil},
        {160, &layout.thread_state.prev},
        {168, &layout.thread_state.next},
        {176, &layout.thread_state.interp},
        {184, &layout.thread_state.current_frame},
        {192, &layout.thread_state.thread_id},
        {200, &layout.thread_state.native_thread_id},
        {208, &layout.thread_state.datastack_chunk},
        {360, &layout.object.ob_type},
        {376, &layout.type.tp_name},
        {392, &layout.type.tp_flags},
        {456, &layout.dict.ma_keys},
        {464, &layout.dict.ma_values},
    }};
    std::size_t differing = 0;
    std::size_t unread = 0;
    for (const Field& field : fields) {
        const auto value = core.memory().read<std::uint64_t>(at + field.offset);
        if (!value || *value > (1U << 24)) {
            ++unread;
            continue;
        }
        if (!field.target->present() || **field.target != *value) ++differing;
        *field.target = static_cast<std::uint32_t>(*value);
    }
    // The lock's fields are told from the interpreter's start, where the main one's lies.
    const auto gil = core.memory().read<std::uint64_t>(at + 120);
    for (const Field& field : {Field{136, &layout.gil.locked}, Field{144, &layout.gil.last_holder}}) {
        const auto value = core.memory().read<std::uint64_t>(at + field.offset);
        if (gil && value && *value >= *gil && *value - *gil < 4096)
            *field.target = static_cast<std::uint32_t>(*value - *gil);
    }
    choice.checks.push_back({"debug offsets are readable and in range", unread == 0});
    if (differing > 0)
        choice.remark = fmt::format("{} offsets of this build differ from the {}; the core's own are used",
                                    differing, choice.source);
    choice.source = "debug offsets in the core, and the " + choice.source;
}

std::optional<LayoutChoice> from_debug_information(const CoreFile& core, const LayoutVersion& version,
                                                   std::int32_t module, const Layout* table) {
    const std::string file = core.debug_file_for(core.modules()[static_cast<std::size_t>(module)]);
    if (file.empty()) return std::nullopt;
    const LayoutFromDebugInfo read = layout_from_debug_info(std::array{file}, version);
    if (!read.usable() || !read.files.front().problem.empty()) return std::nullopt;
    LayoutChoice choice;
    choice.layout = table ? with_structs_of(*table, read.layout) : read.layout;
    choice.source = "debug information of " + escape_for_terminal(file);
    return choice;
}

}  // namespace

std::vector<LayoutChoice> layout_choices(const CoreFile& core, const LayoutVersion& version, Address runtime,
                                         std::int32_t module) {
    const Layout* table = builtin_layout(version);
    const std::string build_id =
        module < 0 ? std::string() : core.modules()[static_cast<std::size_t>(module)].build_id;
    const bool is_of_this_build = table && !build_id.empty() && build_id == table->build_id;
    std::vector<LayoutChoice> choices;
    if (module >= 0 && !is_of_this_build)
        if (auto choice = from_debug_information(core, version, module, table))
            choices.push_back(std::move(*choice));
    if (table)
        choices.push_back({*table,
                           fmt::format("built-in table for CPython {}.{}{}", version.major, version.minor,
                                       is_of_this_build ? ", read from this very build" : ""),
                           {},
                           {}});
    if (has_debug_offsets(core, runtime))
        for (LayoutChoice& choice : choices) apply_debug_offsets(core, runtime, choice);
    return choices;
}

}  // namespace heapsift
