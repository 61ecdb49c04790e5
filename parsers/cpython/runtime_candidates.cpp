#include "parsers/cpython/runtime_candidates.h"

// A runtime shows itself in one of three ways, the surest first: by a symbol, by the cookie that debug offsets begin
// with, by a structure that reads as an interpreter. What one module shows is not looked for in another way, but each
// module is looked at: a process may have loaded two. (pycore_runtime.h, pycore_debug_offsets.h, Python/getversion.c)

#include "parsers/base/text.h"
#include "parsers/cpython/build/runtime_state.h"
#include "parsers/cpython/layout.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>

namespace heapsift {

namespace {

std::int32_t module_index_at(const CoreFile& core, Address address) {
    const Module* module = core.module_at(address);
    return module ? static_cast<std::int32_t>(module - core.modules().data()) : -1;
}

std::vector<RuntimeCandidate> candidates_by_symbol(const CoreFile& core) {
    std::vector<RuntimeCandidate> found;
    for (std::size_t i = 0; i < core.modules().size(); ++i) {
        const Module& module = core.modules()[i];
        if (const auto address = core.symbol(module, "_PyRuntime"))
            found.push_back({*address, static_cast<std::int32_t>(i),
                             "symbol _PyRuntime of " + escape_for_terminal(module.path)});
    }
    return found;
}

std::vector<RuntimeCandidate> candidates_by_cookie(const CoreFile& core) {
    std::vector<RuntimeCandidate> found;
    std::uint64_t cookie = 0;
    std::memcpy(&cookie, "xdebugpy", 8);
    for (const Segment& segment : core.memory().segments()) {
        if (segment.state != ByteState::in_core || !segment.writable) continue;
        core.memory().visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
            for (std::uint64_t at = (segment.start + from + 7).rounded_down(8) - segment.start; at + 24 <= to;
                 at += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, segment.data + at, 8);
                if (word != cookie) continue;
                std::uint64_t version = 0;
                std::memcpy(&version, segment.data + at + 8, 8);
                if ((version >> 24) != 3) continue;
                const Address address = segment.start + at;
                found.push_back({address, module_index_at(core, address),
                                 fmt::format("debug offsets at {:#x}", address.value)});
            }
        });
    }
    return found;
}

/// The text that Py_GetVersion formats into a static buffer: "3.11.2 (main, …) [GCC 12.2.0]". It is in
/// writable data, so always saved. `near`: says of a segment whether it may be there.
template <class Near>
std::optional<PythonVersion> version_by_text(const CoreFile& core, Near&& near) {
    static const std::regex pattern(R"((\d)\.(\d{1,2})\.(\d{1,3})(a|b|rc)?(\d*)\+? \([^\n]{1,120}\) ?\n?\[)");
    for (const Segment& segment : core.memory().segments()) {
        if (segment.state != ByteState::in_core || !segment.writable) continue;
        if (!near(segment)) continue;
        const char* begin = reinterpret_cast<const char*>(segment.data);
        const char* end = begin + segment.size;
        for (const char* at = begin;
             (at = static_cast<const char*>(std::memchr(at, '[', static_cast<std::size_t>(end - at))));
             ++at) {
            if (end - at < 5 || (std::memcmp(at, "[GCC", 4) != 0 && std::memcmp(at, "[Cla", 4) != 0))
                continue;
            const char* from = at - std::min<std::ptrdiff_t>(at - begin, 160);
            std::cmatch match;
            const std::string text(from, at + 1);
            std::smatch s;
            if (!std::regex_search(text, s, pattern)) continue;
            PythonVersion v;
            v.major = std::stoi(s[1]);
            v.minor = std::stoi(s[2]);
            v.micro = std::stoi(s[3]);
            if (s[4].matched) v.release_level = s[4] == "a" ? 0xa : s[4] == "b" ? 0xb : 0xc;
            return v;
        }
    }
    return std::nullopt;
}

std::int32_t owner_of(const CoreFile& core, const Segment& segment) {
    return segment.module >= 0 ? segment.module : module_index_at(core, segment.start - 1);
}

/// In the module itself, whose .bss is the memory right behind it.
std::optional<PythonVersion> version_in_module(const CoreFile& core, std::int32_t module) {
    return version_by_text(core, [&](const Segment& segment) { return owner_of(core, segment) == module; });
}

/// In any memory behind a module; `module`: and in none of another module. -1: of any.
std::optional<PythonVersion> version_near_modules(const CoreFile& core, std::int32_t module) {
    return version_by_text(core, [&](const Segment& segment) {
        return module >= 0 && segment.module >= 0 ? segment.module == module : owner_of(core, segment) >= 0;
    });
}

/// Whether it has a thread that points back, and sys.modules, sys.__dict__ and builtins are dicts.
bool reads_as_interpreter(const AddressSpace& memory, const Layout& layout, Address at) {
    auto pointer = [&](Address place) { return memory.read_address(place).value_or(Address()); };
    auto is_dict = [&](Address object) {
        if (object.is_null()) return false;
        const Address type = pointer(object + *layout.object.ob_type);
        const auto flags = memory.read<std::uint64_t>(type + *layout.type.tp_flags);
        return flags && (*flags & (dict_subclass_flag | ready_flag)) == (dict_subclass_flag | ready_flag);
    };
    const Address thread = pointer(at + *layout.interpreter_state.threads_head);
    return !thread.is_null() && pointer(thread + *layout.thread_state.interp) == at &&
           is_dict(pointer(at + *layout.interpreter_state.modules)) &&
           is_dict(pointer(at + *layout.interpreter_state.sysdict)) &&
           is_dict(pointer(at + *layout.interpreter_state.builtins));
}

/// Without symbols and cookie (a kernel core of 3.12 or older, and no file): words of a module's data that
/// point at a structure which proves itself as the interpreter, at the place where _PyRuntime has its list of
/// interpreters. `version`: of Py_GetVersion's text.
std::optional<RuntimeCandidate> candidate_by_structure(const CoreFile& core, std::int32_t index,
                                                       const std::optional<PythonVersion>& version) {
    const Module& module = core.modules()[static_cast<std::size_t>(index)];
    const Layout* layout = version ? builtin_layout({version->major, version->minor, false, false}) : nullptr;
    if (!layout) return std::nullopt;
    const AddressSpace& memory = core.memory();
    const auto is_interpreter = [&](Address at) { return reads_as_interpreter(memory, *layout, at); };
    if (!has_runtime_struct(layout->version)) {
        if (!core.symbol(module, "PyType_Type") && module.file_state == ModuleFileState::found)
            return std::nullopt;
        auto state = find_static_state(core, module, *layout, is_interpreter);
        if (!state) return std::nullopt;
        return RuntimeCandidate{state->start, index, "the variables of " + escape_for_terminal(module.path),
                                std::move(state)};
    }
    auto pointer = [&](Address at) { return memory.read_address(at).value_or(Address()); };
    const std::uint64_t head = *layout->runtime_state.interpreters_head;
    for (Address at = module.start; at + 8 <= module.image_end; at = at + 8) {
        const Segment* segment = memory.find(at);
        if (!segment || segment->state != ByteState::in_core || !segment->writable) {
            at = (segment ? segment->end() : at.rounded_down(4096) + 4096) - 8;
            continue;
        }
        const Address word = pointer(at);
        if (word.is_null() || !word.aligned(8) || at.value < head || !is_interpreter(word)) continue;
        const Address runtime = at - head;
        // interpreters.main follows in the same struct and points at an interpreter too.
        if (!is_interpreter(pointer(runtime + *layout->runtime_state.interpreters_main))) continue;
        return RuntimeCandidate{runtime, index, fmt::format("its list of interpreters at {:#x}", at.value)};
    }
    return std::nullopt;
}

/// Whether a module that shows nothing may have a runtime all the same: where none is known yet; where it has a CPython's
/// types but no _PyRuntime, as up to 3.6; or where its file, which would tell, is not here and it is called as CPython's are.
bool may_be_another(const CoreFile& core, const Module& module, bool some_are_known) {
    if (!some_are_known) return true;
    if (module.file_state != ModuleFileState::found) return version_by_path(module.path).has_value();
    return core.symbol(module, "PyType_Type") && core.symbol(module, "PyDict_Type") &&
           !core.symbol(module, "_PyRuntime");
}

}  // namespace

std::optional<PythonVersion> version_by_path(const std::string& path) {
    static const std::regex pattern(R"(python(\d)\.(\d{1,2}))");
    std::smatch match;
    if (!std::regex_search(path, match, pattern)) return std::nullopt;
    PythonVersion v;
    v.major = std::stoi(match[1]);
    v.minor = std::stoi(match[2]);
    v.micro = -1;
    return v;
}

std::vector<RuntimeCandidate> runtime_candidates(const CoreFile& core) {
    std::vector<RuntimeCandidate> found = candidates_by_symbol(core);
    if (found.empty()) found = candidates_by_cookie(core);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(core.modules().size()); ++i) {
        const bool is_known = std::any_of(found.begin(), found.end(),
                                          [&](const RuntimeCandidate& one) { return one.module == i; });
        if (is_known || !may_be_another(core, core.modules()[static_cast<std::size_t>(i)], !found.empty()))
            continue;
        if (auto one = candidate_by_structure(core, i, version_in_module(core, i)))
            found.push_back(std::move(*one));
    }
    if (!found.empty()) return found;
    const auto version = version_near_modules(core, -1);
    for (std::int32_t i = 0; version && i < static_cast<std::int32_t>(core.modules().size()); ++i)
        if (auto one = candidate_by_structure(core, i, version)) return {std::move(*one)};
    return {};
}

std::optional<PythonVersion> version_of_module(const CoreFile& core, std::int32_t module) {
    if (module < 0) return version_near_modules(core, module);
    if (auto version = version_in_module(core, module)) return version;
    if (auto version = version_near_modules(core, module)) return version;
    return version_by_path(core.modules()[static_cast<std::size_t>(module)].path);
}

std::optional<PythonVersion> version_of(const CoreFile& core, const RuntimeCandidate& candidate) {
    const AddressSpace& memory = core.memory();
    std::uint64_t cookie = 0;
    std::memcpy(&cookie, "xdebugpy", 8);
    if (memory.read<std::uint64_t>(candidate.runtime) == cookie) {
        if (const auto hex = memory.read<std::uint64_t>(candidate.runtime + 8))
            return PythonVersion::from_hex(static_cast<std::uint32_t>(*hex));
    }
    if (candidate.module >= 0) {
        const Module& module = core.modules()[static_cast<std::size_t>(candidate.module)];
        if (const auto symbol = core.symbol(module, "Py_Version"))
            if (const auto hex = memory.read<std::uint64_t>(*symbol);
                hex && (*hex >> 24) >= 2 && (*hex >> 24) <= 3)
                return PythonVersion::from_hex(static_cast<std::uint32_t>(*hex));
    }
    return version_of_module(core, candidate.module);
}

}  // namespace heapsift
