#include "parsers/cpython/layout_choice.h"

// Where the fields of the interpreter's structs lie.
//
// Three sources. The core's own debug offsets (3.13 and later; pycore_debug_offsets.h) are right by
// construction, and few. Debug information of the very file that ran (equal build-id; read with LLVM) knows
// all structs that the interpreter's own code uses, with its build options: a debug build, a patched release.
// The built-in tables know every struct, extension modules' included, as some build of that minor version had
// them. So: debug information where it is at hand, each struct of it checked (layout_check.cpp), filled up from
// the table; the table alone where it is not, or where what the debug information says does not prove itself (a
// file can be damaged); in both the debug offsets have the last word.
//
// Where debug information moves what no two builds of a version were seen to have in different places, it is
// more likely to be damaged than the build to be one of its own kind. Either proves itself on the core: pools of
// pymalloc add up in one layout and not in the other, and all else is for the runtime's proof (runtime.cpp) to
// tell, which tries the table first, and the debug information where that fails.

#include "parsers/base/text.h"
#include "parsers/cpython/layout_check.h"
#include "parsers/cpython/layout_from_debug_info.h"
#include "parsers/cpython/pymalloc.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

namespace heapsift {

namespace {

std::string table_name(const Layout& table, bool is_of_this_build) {
    return fmt::format("built-in table for CPython {}.{}{}", table.version.major, table.version.minor,
                       is_of_this_build ? ", read from this very build" : "");
}

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
    const Layout before = layout;
    std::size_t unread = 0;
    for (const Field& field : fields) {
        const auto value = core.memory().read<std::uint64_t>(at + field.offset);
        if (!value || *value > (1U << 24)) {
            ++unread;
            continue;
        }
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
    std::size_t differing = 0;
    for (const LayoutFieldName& field : layout_field_names()) {
        if (!field.bits && !(layout_offset(before, field) == layout_offset(layout, field)) &&
            field.struct_name != std::string_view("gil"))
            ++differing;
    }
    if (differing > 0)
        choice.warnings.push_back(
            {"layout-differs",
             fmt::format("{} offsets of this build differ from the {}; the core's own are used", differing,
                         choice.source),
             Severity::note, 1});
    choice.source = "debug offsets in the core, and the " + choice.source;
}

/// "pool_header (freeblock is not in it), gc_head (…) and 3 more"
template <class Item>
std::string listed(const std::vector<Item>& items) {
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < items.size() && i < most; ++i)
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", items[i].struct_name, items[i].what);
    if (items.size() > most) text += fmt::format(" and {} more", items.size() - most);
    return text;
}

Diagnostic warning(const char* code, std::string message) {
    return {code, std::move(message), Severity::note, 1};
}

/// From a debug file that was read. What differs from the table is in the first choice as the table has it, in
/// a second one as the file has it; but where the core says by itself which is right, in both as it says.
void add_from_debug_information(const CoreFile& core, const Layout& table, const Layout& read,
                                const std::string& file, std::vector<LayoutChoice>& choices) {
    CompletedLayout completed = completed_layout(table, read);
    const std::string of_file = "the debug information of " + file;
    LayoutChoice choice{completed.layout, "debug information of " + file, {}, {}};
    if (!completed.refused.empty())
        choice.warnings.push_back(
            warning("layout-damaged", fmt::format("{} does not fit: {}; the built-in table is used", of_file,
                                                  listed(completed.refused))));
    std::erase_if(completed.differing, [&](const LayoutDifference& difference) {
        if (difference.struct_name != "pool_header") return false;
        Layout other = choice.layout;
        take_struct(other, read, difference.struct_name);
        if (whole_pools(core.memory(), other) <= whole_pools(core.memory(), choice.layout)) return false;
        choice.layout = other;
        return true;
    });
    LayoutChoice other = choice;
    if (!completed.differing.empty())
        choice.warnings.push_back(warning(
            "layout-differs", fmt::format("{} is not that of the version: {}; the built-in table is used",
                                          of_file, listed(completed.differing))));
    choices.push_back(std::move(choice));
    if (completed.differing.empty()) return;
    for (const LayoutDifference& difference : completed.differing)
        take_struct(other.layout, read, difference.struct_name);
    other.warnings.push_back(warning(
        "layout-differs",
        fmt::format("this build is unlike others of its version: {}; {} is used, which the core proves",
                    listed(completed.differing), of_file)));
    choices.push_back(std::move(other));
}

/// Returns what is to be said where the table alone is used.
std::vector<Diagnostic> add_debug_information(const CoreFile& core, const LayoutVersion& version,
                                              std::int32_t module, const Layout& table,
                                              std::vector<LayoutChoice>& choices) {
    const std::string file = core.debug_file_for(core.modules()[static_cast<std::size_t>(module)]);
    if (file.empty()) return {};
    const LayoutFromDebugInfo read = layout_from_debug_info(std::array{file}, version);
    const std::string& problem = read.files.front().problem;
    const std::string name = escape_for_terminal(file);
    if (problem.empty() && read.structs_found == 0) return {};
    if (problem.empty()) add_from_debug_information(core, table, read.layout, name, choices);
    return {warning("layout-damaged",
                    fmt::format("the debug information of {} {}; the built-in table is used", name,
                                problem.empty() ? "does not fit the core"
                                                : "does not read: " + escape_for_terminal(problem)))};
}

}  // namespace

std::vector<LayoutChoice> layout_choices(const CoreFile& core, const LayoutVersion& version, Address runtime,
                                         std::int32_t module) {
    const Layout* table = builtin_layout(version);
    if (!table) return {};
    const std::string build_id =
        module < 0 ? std::string() : core.modules()[static_cast<std::size_t>(module)].build_id;
    const bool is_of_this_build = !build_id.empty() && build_id == table->build_id;
    std::vector<LayoutChoice> choices;
    std::vector<Diagnostic> warnings;
    if (module >= 0 && !is_of_this_build)
        warnings = add_debug_information(core, version, module, *table, choices);
    choices.push_back({*table, table_name(*table, is_of_this_build), {}, std::move(warnings)});
    if (has_debug_offsets(core, runtime))
        for (LayoutChoice& choice : choices) apply_debug_offsets(core, runtime, choice);
    return choices;
}

}  // namespace heapsift
