#include "parsers/cpython/layout_choice.h"

// Where the fields of the interpreter's structs lie.
//
// There are three sources. The core's own debug offsets (3.13 and later; pycore_debug_offsets.h) are right by
// construction, but few. Debug information of the file that ran (equal build-id; read with LLVM) has all
// structs that the interpreter's own code uses, with its build options: a debug build, a patched release. The
// built-in tables have every struct, including those of extension modules, as they were in some build of that
// minor version. So debug information is used if there is some; each of its structs is checked
// (layout_check.cpp), and the table fills the gaps. Without it, or if what it says fails the proof (a file
// can be damaged), the table alone is used. In both cases the debug offsets have the last word;
// where nothing proves itself with them (they are damaged, or of a version that nobody knows), the same is tried without.
//
// Where debug information moves what was at the same place in all known builds of a version, damage is more
// likely than a build of its own kind. Either proves itself on the core: pools of pymalloc add up in one
// layout and not in the other. Everything else is left to the runtime's proof (runtime.cpp), which tries the
// table first, and the debug information if that fails.

#include "parsers/base/text.h"
#include "parsers/cpython/build/short_headers.h"
#include "parsers/cpython/layout_check.h"
#include "parsers/cpython/layout_from_debug_info.h"
#include "parsers/cpython/pool_search.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

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

/// A word of _Py_DebugOffsets, the word with the length of its struct, and the field whose offset it is.
struct DebugOffset {
    LayoutOffset word, size_word;
    LayoutOffset* field;
};

/// The words that give the fields of structs that differ between builds. The places of the words themselves
/// differ between versions, but not between builds of one; the version beside the cookie tells which.
std::vector<DebugOffset> debug_offsets(const debug_offsets_layout& words, Layout& l) {
    std::vector<DebugOffset> offsets;
    const auto add = [&](LayoutOffset size,
                         std::initializer_list<std::pair<LayoutOffset, LayoutOffset*>> of) {
        for (const auto& [word, field] : of)
            if (word.present()) offsets.push_back({word, size, field});
    };
    add(words.runtime_state_size,
        {{words.runtime_state_interpreters_head, &l.runtime_state.interpreters_head}});
    auto& interpreter = l.interpreter_state;
    add(words.interpreter_state_size, {{words.interpreter_state_id, &interpreter.id},
                                       {words.interpreter_state_next, &interpreter.next},
                                       {words.interpreter_state_threads_head, &interpreter.threads_head},
                                       {words.interpreter_state_gc, &interpreter.gc},
                                       {words.interpreter_state_modules, &interpreter.modules},
                                       {words.interpreter_state_sysdict, &interpreter.sysdict},
                                       {words.interpreter_state_builtins, &interpreter.builtins},
                                       {words.interpreter_state_ceval_gil, &interpreter.ceval_gil}});
    auto& thread = l.thread_state;
    add(words.thread_state_size, {{words.thread_state_prev, &thread.prev},
                                  {words.thread_state_next, &thread.next},
                                  {words.thread_state_interp, &thread.interp},
                                  {words.thread_state_current_frame, &thread.current_frame},
                                  {words.thread_state_thread_id, &thread.thread_id},
                                  {words.thread_state_native_thread_id, &thread.native_thread_id},
                                  {words.thread_state_datastack_chunk, &thread.datastack_chunk}});
    add(words.object_size, {{words.object_ob_type, &l.object.ob_type}});
    add(words.type_size, {{words.type_tp_name, &l.type.tp_name}, {words.type_tp_flags, &l.type.tp_flags}});
    add(words.dict_size, {{words.dict_ma_keys, &l.dict.ma_keys}, {words.dict_ma_values, &l.dict.ma_values}});
    return offsets;
}

/// Whether eight bytes at this offset lie in a struct of that size. (A size of 0, or an absurd one, means
/// unknown.)
bool offset_fits(std::uint64_t offset, std::uint64_t size) {
    constexpr std::uint64_t largest = 1U << 24;
    const std::uint64_t room = size == 0 || size > largest ? largest : size;
    return offset <= room && room - offset >= 8;
}

/// Applies struct _Py_DebugOffsets at `at`, which gives the fields of the interpreter's private structs.
void apply_debug_offsets(const CoreFile& core, Address at, LayoutChoice& choice) {
    Layout& layout = choice.layout;
    const Layout before = layout;
    const debug_offsets_layout words = layout.debug_offsets;
    const auto word = [&](LayoutOffset offset) {
        return offset.present() ? core.memory().read<std::uint64_t>(at + *offset) : std::nullopt;
    };
    std::size_t unread = 0;
    for (const DebugOffset& offset : debug_offsets(words, layout)) {
        const auto value = word(offset.word);
        if (value && offset_fits(*value, word(offset.size_word).value_or(0)))
            *offset.field = static_cast<std::uint32_t>(*value);
        else
            ++unread;
    }
    // The lock's fields are counted from the interpreter's start, where the main one's lies.
    const auto gil = word(words.interpreter_state_gil_runtime_state);
    for (const auto& [where, field] :
         {std::pair{words.interpreter_state_gil_runtime_state_locked, &layout.gil.locked},
          {words.interpreter_state_gil_runtime_state_holder, &layout.gil.last_holder}}) {
        const auto value = word(where);
        if (gil && value && *value >= *gil && *value - *gil < 4096)
            *field = static_cast<std::uint32_t>(*value - *gil);
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

/// Adds the choices from a debug file. Where it differs from the table, the first choice is as in the table
/// and the second as in the file; where the core itself tells which is right, both choices follow the core.
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

/// Returns the warnings to give if only the table is used.
std::vector<Diagnostic> add_debug_information(const CoreFile& core, const LayoutVersion& version,
                                              std::int32_t module, const Layout& table, KeptLayout& kept,
                                              std::vector<LayoutChoice>& choices) {
    const std::string file = core.debug_file_for(core.modules()[static_cast<std::size_t>(module)]);
    if (file.empty()) return {};
    const LayoutFromDebugInfo read = layout_from_debug_info(file, version, kept);
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
                                         std::int32_t module, KeptLayout& kept) {
    const Layout* table = builtin_layout(version);
    if (!table) return {};
    const std::string build_id =
        module < 0 ? std::string() : core.modules()[static_cast<std::size_t>(module)].build_id;
    const bool is_of_this_build = !build_id.empty() && build_id == table->build_id;
    std::vector<LayoutChoice> choices;
    std::vector<Diagnostic> warnings;
    if (module >= 0 && !is_of_this_build)
        warnings = add_debug_information(core, version, module, *table, kept, choices);
    choices.push_back({*table, table_name(*table, is_of_this_build), {}, std::move(warnings)});
    if (may_have_short_headers(version))
        for (std::size_t i = 0, known = choices.size(); i < known; ++i) {
            LayoutChoice shorter = choices[i];
            shorten_headers(shorter.layout);
            shorter.source += ", with collector headers of 24 bytes";
            choices.push_back(std::move(shorter));
        }
    if (has_debug_offsets(core, runtime)) {
        const std::vector<LayoutChoice> without = choices;
        for (LayoutChoice& choice : choices) apply_debug_offsets(core, runtime, choice);
        choices.insert(choices.end(), without.begin(), without.end());
    }
    return choices;
}

}  // namespace heapsift
