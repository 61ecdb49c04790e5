#include "parsers/cpython/runtime.h"

// Finding the interpreter.
//
// By content, never by a file's name. Each module that exports _PyRuntime, and each place in writable memory
// that starts with the cookie of 3.13's debug offsets, is a candidate. A debugger or profiler can map the
// interpreter's file a second time, so each candidate must prove itself: the list of interpreters closes,
// threads point back, sys.modules, sys.__dict__ and builtins are dicts, the collector's lists close in both
// directions, and `type` is its own type. Sources: pycore_runtime.h, pycore_interp.h, pycore_debug_offsets.h
// (3.13), gcmodule.c.
//
// layout_choice.cpp says where the fields may lie. Its answer is proved here too; if the proof fails, the
// next best answer is tried. Two fields that differ between builds of one release are found by their content.

#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/cpython/build/instance_dict.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/runtime_state.h"
#include "parsers/cpython/layout_choice.h"
#include "parsers/cpython/static_state.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>

namespace heapsift {

namespace {

constexpr std::uint64_t max_interpreters = 4096;
constexpr std::uint64_t max_threads = 1 << 20;

struct Candidate {
    Address runtime;
    std::int32_t module = -1;
    std::string found_by;
    std::optional<StaticState> variables = {};  // without a _PyRuntime
};

std::int32_t module_index_at(const CoreFile& core, Address address) {
    const Module* module = core.module_at(address);
    return module ? static_cast<std::int32_t>(module - core.modules().data()) : -1;
}

std::vector<Candidate> candidates_by_symbol(const CoreFile& core) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < core.modules().size(); ++i) {
        const Module& module = core.modules()[i];
        if (const auto address = core.symbol(module, "_PyRuntime"))
            found.push_back({*address, static_cast<std::int32_t>(i),
                             "symbol _PyRuntime of " + escape_for_terminal(module.path)});
    }
    return found;
}

std::vector<Candidate> candidates_by_cookie(const CoreFile& core) {
    std::vector<Candidate> found;
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
/// writable data, so always saved.
std::optional<PythonVersion> version_by_text(const CoreFile& core, std::int32_t module_index) {
    static const std::regex pattern(R"((\d)\.(\d{1,2})\.(\d{1,3})(a|b|rc)?(\d*)\+? \([^\n]{1,120}\) ?\n?\[)");
    for (const Segment& segment : core.memory().segments()) {
        if (segment.state != ByteState::in_core || !segment.writable) continue;
        const bool near_module = segment.module >= 0 || module_index_at(core, segment.start - 1) >= 0;
        if (!near_module || (module_index >= 0 && segment.module >= 0 && segment.module != module_index))
            continue;
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

std::optional<PythonVersion> find_version(const CoreFile& core, const Candidate& candidate) {
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
    if (auto version = version_by_text(core, candidate.module)) return version;
    return candidate.module >= 0
               ? version_by_path(core.modules()[static_cast<std::size_t>(candidate.module)].path)
               : std::nullopt;
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
/// interpreters. The version is that of Py_GetVersion's text.
std::vector<Candidate> candidates_by_structure(const CoreFile& core) {
    const auto version = version_by_text(core, -1);
    const Layout* layout = version ? builtin_layout({version->major, version->minor, false, false}) : nullptr;
    if (!layout) return {};
    const AddressSpace& memory = core.memory();
    const auto is_interpreter = [&](Address at) { return reads_as_interpreter(memory, *layout, at); };
    std::vector<Candidate> found;
    if (!has_runtime_struct(layout->version)) {
        for (const Module& module : core.modules())
            if (!core.symbol(module, "PyType_Type") && module.file_state == ModuleFileState::found)
                continue;
            else if (auto state = find_static_state(core, module, *layout, is_interpreter))
                found.push_back({state->start, static_cast<std::int32_t>(&module - core.modules().data()),
                                 "the variables of " + escape_for_terminal(module.path), std::move(state)});
        return found;
    }
    auto pointer = [&](Address at) { return memory.read_address(at).value_or(Address()); };
    const std::uint64_t head = *layout->runtime_state.interpreters_head;
    for (const Module& module : core.modules()) {
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
            found.push_back({runtime, static_cast<std::int32_t>(&module - core.modules().data()),
                             fmt::format("its list of interpreters at {:#x}", at.value)});
            return found;
        }
    }
    return found;
}

class Prover {
public:
    Prover(const CoreFile& core, PythonRuntime& python)
        : core_(core), memory_(core.memory()), python_(python), layout_(python.layout) {}

    /// Fills interpreters and checks; false if this is not a living runtime.
    bool prove() {
        read_interpreters();
        check("the list of interpreters closes", !python_.interpreters.empty());
        const bool cut_off = python_.interpreters.empty() && interpreters_were_cut_off();
        // Types and their instances' blocks are then all that is left: no lists, no names of modules.
        if (cut_off) python_.interpreters.emplace_back();
        if (python_.interpreters.empty()) return false;
        bool threads = true;
        bool dicts = true;
        bool lists = true;
        const bool has_lists = !has_collector_bits(layout_);
        for (PythonInterpreter& interpreter : python_.interpreters) {
            threads = read_threads(interpreter) && threads;
            dicts = dicts && is_dict(interpreter.modules) && is_dict(interpreter.sysdict) &&
                    is_dict(interpreter.builtins);
            if (!has_lists) continue;
            correct_generations(interpreter.gc);
            lists = lists && collector_lists_close(interpreter.gc);
        }
        check("threads point back at their interpreter", threads);
        check("sys.modules, sys.__dict__ and builtins are dicts", dicts);
        if (has_lists)
            check("the collector's lists close",
                  lists);  // not required: a collection may have been under way
        find_type_type();
        check("type is its own type", !python_.type_type.is_null());
        if (has_static_type_states()) check("static types find their state", correct_static_type_states());
        return (dicts || cut_off) && !python_.type_type.is_null();
    }

private:
    void check(const char* what, bool passed) { python_.checks.push_back({what, passed}); }
    Address pointer(Address at) const { return memory_.read_address(at).value_or(Address()); }

    bool interpreters_were_cut_off() const {
        const Address head = python_.runtime + *layout_.runtime_state.interpreters_head;
        for (const Address at : {head, pointer(head) + *layout_.interpreter_state.next}) {
            const Segment* segment = memory_.find(at);
            if (segment && segment->cut) return true;
        }
        return false;
    }

    void read_interpreters() {
        Address at = pointer(python_.runtime + *layout_.runtime_state.interpreters_head);
        for (std::uint64_t n = 0; !at.is_null() && n < max_interpreters; ++n) {
            PythonInterpreter interpreter;
            interpreter.address = at;
            const bool has_number = layout_.interpreter_state.id.present();
            const auto id = memory_.read<std::int64_t>(
                at + *(has_number ? layout_.interpreter_state.id : layout_.interpreter_state.next));
            if (!id) break;
            // Without numbers (3.6): the newest comes first.
            interpreter.id = has_number ? *id : -static_cast<std::int64_t>(n);
            interpreter.gc = collector_state(layout_, python_.runtime, at);
            if (layout_.gc_state.collecting.present())
                interpreter.collecting =
                    memory_.read<std::int32_t>(interpreter.gc + *layout_.gc_state.collecting).value_or(0) !=
                    0;
            interpreter.modules = pointer(at + *layout_.interpreter_state.modules);
            interpreter.sysdict = pointer(at + *layout_.interpreter_state.sysdict);
            interpreter.builtins = pointer(at + *layout_.interpreter_state.builtins);
            for (const PythonInterpreter& known : python_.interpreters)
                if (known.address == at) return;
            python_.interpreters.push_back(interpreter);
            at = pointer(at + *layout_.interpreter_state.next);
        }
        std::stable_sort(python_.interpreters.begin(), python_.interpreters.end(),
                         [](const PythonInterpreter& a, const PythonInterpreter& b) { return a.id < b.id; });
        if (layout_.interpreter_state.id.present()) return;
        for (std::size_t i = 0; i < python_.interpreters.size(); ++i)
            python_.interpreters[i].id = static_cast<std::int64_t>(i);
    }

    bool read_threads(PythonInterpreter& interpreter) {
        Address at = pointer(interpreter.address + *layout_.interpreter_state.threads_head);
        for (std::uint64_t n = 0; !at.is_null() && n < max_threads; ++n) {
            if (core_.extent().cut() && !memory_.read<std::uint64_t>(at + *layout_.thread_state.interp))
                break;
            if (pointer(at + *layout_.thread_state.interp) != interpreter.address) return false;
            interpreter.threads.push_back(at);
            at = pointer(at + *layout_.thread_state.next);
        }
        return !interpreter.threads.empty() || core_.extent().cut();
    }

    std::uint64_t flags_of_type(Address type) const {
        return memory_.read<std::uint64_t>(type + *layout_.type.tp_flags).value_or(0);
    }

    /// Whether it is a dict or, in a cut core, may be one that was cut off.
    bool is_dict(Address object) const {
        if (object.is_null()) return false;
        if (core_.extent().cut() && !memory_.read<std::uint64_t>(object + *layout_.object.ob_type))
            return true;
        return (flags_of_type(pointer(object + *layout_.object.ob_type)) &
                (dict_subclass_flag | ready_flag)) == (dict_subclass_flag | ready_flag);
    }

    /// Builds of one release differ by four bytes here (PyGC_Head aligned to 4 or 8). The state's own pointer
    /// to its youngest generation tells which this is.
    void correct_generations(Address gc) {
        if (!layout_.gc_state.generation0.present()) return;
        const Address youngest = pointer(gc + *layout_.gc_state.generation0);
        if (youngest > gc && youngest - gc < *layout_.gc_state.size)
            layout_.gc_state.generations = static_cast<std::uint32_t>(youngest - gc);
    }

    // Since 3.12 an interpreter keeps the dictionaries of static builtin types in a table, at the index given
    // by tp_subclasses. Members before the table differ in size between builds. If it is not at its place, it
    // is where `type`, `object` and `dict` all find themselves.

    bool has_static_type_states() const {
        return layout_.interpreter_state.types_builtins.present() &&
               layout_.managed_static_type_state.type.present() && !python_.type_type.is_null();
    }

    /// Bytes from the table's start to the word that points back at `type`; nothing if the type has no
    /// number.
    std::optional<std::uint64_t> place_in_table(Address type) const {
        const auto number = memory_.read<std::uint64_t>(type + *layout_.type.tp_subclasses);
        if (!number || *number == 0 || *number > 1000) return std::nullopt;
        return (*number - 1) * *layout_.managed_static_type_state.size +
               *layout_.managed_static_type_state.type;
    }

    bool correct_static_type_states() {
        const PythonInterpreter& interpreter = python_.interpreters.front();
        std::vector<std::pair<Address, std::uint64_t>> known;
        for (const Address type : {python_.type_type, pointer(python_.type_type + *layout_.type.tp_base),
                                   pointer(interpreter.sysdict + *layout_.object.ob_type)})
            if (const auto place = place_in_table(type)) known.emplace_back(type, *place);
        if (known.size() < 3) return core_.extent().cut();
        const auto is_table = [&](Address table) {
            return std::all_of(known.begin(), known.end(),
                               [&](const auto& one) { return pointer(table + one.second) == one.first; });
        };
        LayoutOffset& field = layout_.interpreter_state.types_builtins;
        if (is_table(interpreter.address + *field)) return true;
        for (std::uint32_t offset = 0; offset < 2 * *layout_.interpreter_state.size; offset += 8) {
            if (!is_table(interpreter.address + offset)) continue;
            LayoutOffset& extensions = layout_.interpreter_state.types_for_extensions;
            if (extensions.present()) extensions = *extensions + offset - *field;
            field = offset;
            return true;
        }
        return core_.extent().cut();
    }

    bool collector_lists_close(Address gc) const {
        if (!layout_.gc_state.generations.present()) return false;
        const std::uint64_t mask = ~std::uint64_t{3};
        for (std::uint32_t generation = 0; generation < 3; ++generation) {
            const Address head =
                gc + *layout_.gc_state.generations + generation * *layout_.gc_generation.size;
            const Address next(pointer(head + *layout_.gc_head.next).value & mask);
            const Address prev(pointer(head + *layout_.gc_head.prev).value & mask);
            if (next.is_null() || prev.is_null()) return false;
            if (Address(pointer(next + *layout_.gc_head.prev).value & mask) != head) return false;
            if (Address(pointer(prev + *layout_.gc_head.next).value & mask) != head) return false;
        }
        return true;
    }

    bool is_type_type(Address at) const {
        if (at.is_null() || !at.aligned(8) || pointer(at + *layout_.object.ob_type) != at) return false;
        return (flags_of_type(at) & (type_subclass_flag | ready_flag)) == (type_subclass_flag | ready_flag);
    }

    /// The metatype of the type of sys.modules, followed until it is its own type. If that is not in the
    /// core: the symbol; without one, the one object in all memory that is its own type.
    void find_type_type() {
        Address at = pointer(python_.interpreters.front().modules + *layout_.object.ob_type);
        for (int steps = 0; steps < 4 && !at.is_null(); ++steps) {
            if (is_type_type(at)) {
                python_.type_type = at;
                return;
            }
            at = pointer(at + *layout_.object.ob_type);
        }
        if (python_.module >= 0)
            if (const auto symbol =
                    core_.symbol(core_.modules()[static_cast<std::size_t>(python_.module)], "PyType_Type");
                symbol && is_type_type(*symbol))
                python_.type_type = *symbol;
        for (const Segment& segment : memory_.segments()) {
            if (!python_.type_type.is_null()) return;
            if (segment.state != ByteState::in_core || !segment.writable) continue;
            memory_.visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
                std::uint64_t offset = (segment.start + from + 7).rounded_down(8) - segment.start;
                for (offset += *layout_.object.ob_type; offset + 8 <= to && python_.type_type.is_null();
                     offset += 8) {
                    std::uint64_t word = 0;
                    std::memcpy(&word, segment.data + offset, 8);
                    const Address object = segment.start + offset - *layout_.object.ob_type;
                    if (word == object.value && is_type_type(object)) python_.type_type = object;
                }
            });
        }
    }

    const CoreFile& core_;
    const AddressSpace& memory_;
    PythonRuntime& python_;
    Layout& layout_;
};

/// A runtime that has passed every required check. Another layout may explain the checks that it failed.
struct ProvedLayout {
    PythonRuntime python;
    std::vector<Diagnostic> warnings;
    std::ptrdiff_t failed() const {
        return std::count_if(python.checks.begin(), python.checks.end(),
                             [](const LayoutCheck& check) { return !check.passed; });
    }
};

constexpr const char* supported_free_threaded = "3.13";  // what free_threaded_layouts has

Diagnostic newer_version(const PythonRuntime& python) {
    return {
        "version-unknown",
        fmt::format(
            "CPython {} is newer than any that heapsift knows: it is read as {}.{}, which holds as far as "
            "this core proves it; numbers may be wrong where that changed",
            python.version.text(), python.layout.version.major, python.layout.version.minor),
        Severity::damage, 1};
}

[[noreturn]] void throw_not_supported(const CoreFile& core, const std::string& version) {
    throw cannot_analyse(
        "python-not-supported",
        fmt::format("{}: this is a core of CPython {}, which heapsift cannot read yet",
                    escape_for_terminal(core.path()), version),
        fmt::format("it reads {} with the GIL, and {} without", supported_versions, supported_free_threaded));
}

/// No _PyRuntime anywhere: an older CPython (2.7 has none), or not Python.
[[noreturn]] void throw_no_runtime(const CoreFile& core, const Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < core.modules().size(); ++i) {
        const Module& module = core.modules()[i];
        if (!core.symbol(module, "PyType_Type") || !core.symbol(module, "PyDict_Type")) continue;
        auto version = version_by_text(core, static_cast<std::int32_t>(i));
        if (!version) version = version_by_path(module.path);
        throw_not_supported(core, version ? version->text() : "of an unknown version");
    }
    const auto& said = diagnostics.all();
    if (std::any_of(said.begin(), said.end(), [](const Diagnostic& one) { return one.code == "stream-cut"; }))
        throw cannot_analyse(
            "runtime-not-found",
            fmt::format("{}: the compressed file is damaged or ends early, and no CPython runtime is in what "
                        "could be unpacked",
                        escape_for_terminal(core.path())),
            "copy or compress the core again: its checksum does not fit");
    if (core.extent().cut())  // what the core lacks, the process may have had
        throw cannot_analyse(
            "runtime-not-found",
            fmt::format("{}: the core is cut, and no CPython runtime is in the part that is there",
                        escape_for_terminal(core.path())),
            "get a whole core: was there room on the disk, is ulimit -c or coredump.conf's size limit too "
            "low?");
    std::string program = core.process().name;
    for (const Module& module : core.modules())
        if (module.is_executable) program = module.path;
    const std::string path = escape_for_terminal(core.path());
    bool python_by_name = program.find("python") != std::string::npos;
    bool missing = false;
    for (const Module& module : core.modules()) {
        python_by_name = python_by_name || module.path.find("libpython") != std::string::npos;
        missing = missing || (module.is_executable && module.file_state != ModuleFileState::found);
    }
    if (python_by_name && missing)
        throw cannot_analyse(
            "runtime-not-found",
            fmt::format("{}: no CPython runtime found in {} modules, and the file of {} is not here", path,
                        core.modules().size(), escape_for_terminal(program)),
            "pass --executable or --sysroot: " + command_line("doctor") + " lists what was not found");
    throw cannot_analyse("not-cpython",
                         fmt::format("{}: this is a core of {} (pid {}), not of CPython", path,
                                     escape_for_terminal(program.empty() ? "an unknown program" : program),
                                     core.process().pid),
                         "its child may be the one you want");
}

}  // namespace

PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics) {
    KeptLayout nothing;
    return find_python_runtime(core, diagnostics, nothing);
}

PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics, KeptLayout& kept) {
    std::vector<Candidate> candidates = candidates_by_symbol(core);
    if (candidates.empty()) candidates = candidates_by_cookie(core);
    if (candidates.empty()) candidates = candidates_by_structure(core);
    if (candidates.empty()) throw_no_runtime(core, diagnostics);

    std::string unsupported;
    PythonRuntime rejected;
    for (const Candidate& candidate : candidates) {
        const auto version = find_version(core, candidate);
        if (!version) continue;
        PythonRuntime python;
        python.version = *version;
        std::uint64_t cookie = 0;
        std::memcpy(&cookie, "xdebugpy", 8);
        const bool has_offsets = core.memory().read<std::uint64_t>(candidate.runtime) == cookie;
        if (has_offsets)
            python.free_threaded = core.memory().read<std::uint64_t>(candidate.runtime + 16).value_or(0) != 0;
        std::vector<LayoutVersion> tables = layouts_to_try(*version, python.free_threaded);
        std::erase_if(tables, [](const LayoutVersion& table) { return !builtin_layout(table); });
        if (tables.empty()) {
            unsupported = version->text() + (python.free_threaded ? ", free-threaded" : "");
            continue;
        }
        python.runtime = candidate.runtime;
        python.module = candidate.module;
        python.found_by = candidate.found_by;
        python.instance_reports_dict = instance_reports_dict(
            *version, candidate.module < 0
                          ? std::string()
                          : core.modules()[static_cast<std::size_t>(candidate.module)].build_id);
        std::optional<ProvedLayout> best;
        for (const LayoutVersion& table : tables) {
            for (LayoutChoice& choice :
                 layout_choices(core, table, candidate.runtime, candidate.module, kept)) {
                PythonRuntime attempt = python;
                attempt.layout = choice.layout;
                if (candidate.variables) candidate.variables->put_into(attempt.layout);
                attempt.layout_source = std::move(choice.source);
                attempt.checks = std::move(choice.checks);
                if (!Prover(core, attempt).prove()) {
                    rejected = std::move(attempt);
                    continue;
                }
                ProvedLayout proved{std::move(attempt), std::move(choice.warnings)};
                if (!best || proved.failed() < best->failed()) best = std::move(proved);
                if (best->failed() == 0) break;
            }
            if (best && best->failed() == 0) break;
        }
        if (!best) {
            if (is_newer_than_supported(*version))
                unsupported = version->text() + (python.free_threaded ? ", free-threaded" : "");
            continue;
        }
        if (is_newer_than_supported(*version)) best->warnings.push_back(newer_version(best->python));
        if (!best->python.layout.gc_state.enabled.present())
            diagnostics.add(
                "collector-settings-unknown",
                "the interpreter has no symbols for the collector's settings: it is taken as enabled, "
                "without debug flags, and as not collecting",
                Severity::note);
        for (const Diagnostic& warning : best->warnings)
            diagnostics.add(warning.code, warning.message, warning.severity);
        return std::move(best->python);
    }
    if (!unsupported.empty()) throw_not_supported(core, unsupported);
    std::string failed;
    for (const LayoutCheck& check : rejected.checks)
        if (!check.passed) failed = check.what;
    throw cannot_analyse(
        "runtime-not-found",
        fmt::format("{}: a CPython runtime is mapped, but its state does not read{}",
                    escape_for_terminal(core.path()), failed.empty() ? "" : " (failed: " + failed + ")"),
        core.extent().cut() ? "the core is cut" : "was the process still starting, or already ending?");
}

}  // namespace heapsift
