#include "parsers/cpython/runtime.h"

// Finding the interpreter.
//
// By content, never by a file's name. Each module that exports _PyRuntime, and each place in writable memory
// that starts with the cookie of 3.13's debug offsets, is a candidate (runtime_candidates.cpp). A debugger or profiler
// can map the interpreter's file a second time, so each candidate must prove itself: the list of interpreters closes,
// threads point back, sys.modules, sys.__dict__ and builtins are dicts, the collector's lists close in both
// directions, and `type` is its own type. Sources: pycore_runtime.h, pycore_interp.h, pycore_debug_offsets.h
// (3.13), gcmodule.c.
//
// layout_choice.cpp says where the fields may lie. Its answer is proved here too; if the proof fails, the
// next best answer is tried. Two fields that differ between builds of one release are found by their content.
//
// Several may prove themselves: a program that embeds Python, with a plug-in that embeds another. One heap is one
// runtime's, as each has objects, types and allocators of its own; the others are named, and can be asked for.

#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/cpython/build/instance_dict.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/runtime_state.h"
#include "parsers/cpython/build/same_version.h"
#include "parsers/cpython/layout_choice.h"
#include "parsers/cpython/runtime_candidates.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>

namespace heapsift {

namespace {

constexpr std::uint64_t max_interpreters = 4096;
constexpr std::uint64_t max_threads = 1 << 20;

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
        if (has_lists && !python_.type_type.is_null())
            check("objects of the collector's lists have types", listed_objects_have_types());
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

    /// Whether most of the oldest objects of the main interpreter have a type that is one. Fields of another version may close
    /// lists where there are none, and then nothing in them reads.
    bool listed_objects_have_types() const {
        if (!layout_.gc_state.generations.present()) return true;
        constexpr std::uint64_t most = 200, mask = ~std::uint64_t{3};
        std::uint64_t seen = 0, good = 0;
        for (std::uint32_t generation = 0; generation < 3; ++generation) {
            const Address head = python_.interpreters.front().gc + *layout_.gc_state.generations +
                                 generation * *layout_.gc_generation.size;
            Address at(pointer(head + *layout_.gc_head.next).value & mask);
            for (std::uint64_t steps = 0; steps < most && !at.is_null() && at != head; ++steps) {
                const auto type = memory_.read_address(at + *layout_.gc_head.size + *layout_.object.ob_type);
                if (!type) break;  // a cut core
                ++seen;
                const Address meta = pointer(*type + *layout_.object.ob_type);
                good += (flags_of_type(*type) & ready_flag) != 0 &&
                                (flags_of_type(meta) & type_subclass_flag) != 0
                            ? 1
                            : 0;
                at = Address(pointer(at + *layout_.gc_head.next).value & mask);
            }
        }
        return good >= seen - seen / 4;
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

Diagnostic flag_lies(const PythonRuntime& python) {
    return {
        "free-threading-contradicted",
        fmt::format("the runtime says that it is {}; its objects are those of a build {} the GIL, and are "
                    "read as such",
                    python.free_threaded ? "a build with the GIL" : "free-threaded",
                    python.free_threaded ? "without" : "with"),
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
        const auto version = version_of_module(core, static_cast<std::int32_t>(i));
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

/// What the runtimes of a core have in common while they are looked for.
class RuntimeSearch {
public:
    explicit RuntimeSearch(const CoreFile& core) : core_(core) {}

    /// The candidate as a runtime; nothing if it is none, or cannot be read. `kept`: find_python_runtime.
    std::optional<ProvedLayout> prove(const RuntimeCandidate& candidate, KeptLayout& kept) {
        const auto version = version_of(core_, candidate);
        if (!version) return std::nullopt;
        PythonRuntime python;
        python.version = *version;
        std::uint64_t cookie = 0;
        std::memcpy(&cookie, "xdebugpy", 8);
        const bool has_offsets = core_.memory().read<std::uint64_t>(candidate.runtime) == cookie;
        if (has_offsets)
            python.free_threaded =
                core_.memory().read<std::uint64_t>(candidate.runtime + 16).value_or(0) != 0;
        python.runtime = candidate.runtime;
        python.module = candidate.module;
        python.found_by = candidate.found_by;
        python.instance_reports_dict = instance_reports_dict(
            *version, candidate.module < 0
                          ? std::string()
                          : core_.modules()[static_cast<std::size_t>(candidate.module)].build_id);
        auto best = best_layout(candidate, python, kept);
        if (has_offsets && (!best || best->failed() > 0 || !best->warnings.empty() || !headers_fit(*best))) {
            PythonRuntime other = python;
            other.free_threaded = !python.free_threaded;
            auto of_other = best_layout(candidate, other, kept);
            if (of_other && fits_better(*of_other, best)) {
                best = std::move(of_other);
                best->warnings.push_back(flag_lies(best->python));
            }
        }
        if (!best && (is_newer_than_supported(*version) || !has_tables(python)))
            unsupported_ = version->text() + (python.free_threaded ? ", free-threaded" : "");
        if (best && is_newer_than_supported(*version)) best->warnings.push_back(newer_version(best->python));
        return best;
    }

    [[noreturn]] void throw_none() const {
        if (!unsupported_.empty()) throw_not_supported(core_, unsupported_);
        std::string failed;
        for (const LayoutCheck& check : rejected_.checks)
            if (!check.passed) failed = check.what;
        if (!failed.empty()) failed = " (failed: " + failed + ")";
        throw_if_its_name_contradicts(failed);
        throw cannot_analyse(
            "runtime-not-found",
            fmt::format("{}: a CPython runtime is mapped, but its state does not read{}",
                        escape_for_terminal(core_.path()), failed),
            core_.extent().cut() ? "the core is cut" : "was the process still starting, or already ending?");
    }

private:
    /// Where the runtime claims one version, and its file is called as another's.
    void throw_if_its_name_contradicts(const std::string& failed) const {
        if (rejected_.module < 0) return;
        const std::string& path = core_.modules()[static_cast<std::size_t>(rejected_.module)].path;
        const auto named = version_by_path(std::string(base_name(path)));
        const PythonVersion& said = rejected_.version;
        if (!named || have_one_minor(*named, said)) return;
        throw cannot_analyse(
            "runtime-not-found",
            fmt::format(
                "{}: its runtime says that it is CPython {}, but its file is {}; as that of {}.{}, its "
                "state does not read{}",
                escape_for_terminal(core_.path()), said.text(), escape_for_terminal(base_name(path)),
                said.major, said.minor, failed),
            "was the version overwritten?");
    }

    /// The tables to try; none for what cannot be read.
    static std::vector<LayoutVersion> tables_of(const PythonRuntime& python) {
        std::vector<LayoutVersion> tables = layouts_to_try(python.version, python.free_threaded);
        std::erase_if(tables, [](const LayoutVersion& table) { return !builtin_layout(table); });
        return tables;
    }
    static bool has_tables(const PythonRuntime& python) { return !tables_of(python).empty(); }

    /// Whether an object's header has room for what the tables have in it: the collector's bits before its type.
    static bool headers_fit(const ProvedLayout& proved) {
        const object_layout& object = proved.python.layout.object;
        const bool has_bits =
            has_collector_bits(proved.python.layout) && *object.ob_gc_bits < *object.ob_type;
        return has_bits == proved.python.free_threaded;
    }

    /// Whether what was proved with the other tables than the runtime's flag asks for is right: it differs from
    /// them in less.
    static bool fits_better(const ProvedLayout& other, const std::optional<ProvedLayout>& best) {
        if (!headers_fit(other)) return false;
        if (!best) return other.failed() == 0;
        if (other.failed() != best->failed()) return other.failed() < best->failed();
        return !headers_fit(*best) || other.warnings.size() < best->warnings.size();
    }

    std::optional<ProvedLayout> best_layout(const RuntimeCandidate& candidate, const PythonRuntime& python,
                                            KeptLayout& kept) {
        std::optional<ProvedLayout> best;
        const std::vector<LayoutVersion> tables = tables_of(python);
        // Of a version that nobody knows, a table may pass every check that the build's own debug information contradicts.
        const bool is_guess = is_newer_than_supported(python.version);
        const auto is_better = [&](const ProvedLayout& one, const ProvedLayout& other) {
            if (one.failed() != other.failed()) return one.failed() < other.failed();
            return is_guess && one.warnings.size() < other.warnings.size();
        };
        for (const LayoutVersion& table : tables) {
            for (LayoutChoice& choice :
                 layout_choices(core_, table, candidate.runtime, candidate.module, kept)) {
                PythonRuntime attempt = python;
                attempt.layout = choice.layout;
                if (candidate.variables) candidate.variables->put_into(attempt.layout);
                attempt.layout_source = std::move(choice.source);
                attempt.checks = std::move(choice.checks);
                if (!Prover(core_, attempt).prove()) {
                    rejected_ = std::move(attempt);
                    continue;
                }
                ProvedLayout proved{std::move(attempt), std::move(choice.warnings)};
                if (!best || is_better(proved, *best)) best = std::move(proved);
                if (best->failed() == 0 && (!is_guess || best->warnings.empty())) return best;
            }
        }
        return best;
    }

    const CoreFile& core_;
    std::string unsupported_;
    PythonRuntime rejected_;
};

std::string name_of_runtime(const CoreFile& core, const PythonRuntime& python) {
    const std::string where =
        python.module < 0
            ? fmt::format("at {:#x}", python.runtime.value)
            : "of " + escape_for_terminal(core.modules()[static_cast<std::size_t>(python.module)].path);
    return fmt::format("{} is CPython {} {}", python.number, python.version.text(), where);
}

/// The one that is wanted, of one or more.
ProvedLayout choose_runtime(const CoreFile& core, std::vector<ProvedLayout>& proved, std::size_t wanted,
                            Diagnostics& diagnostics) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < proved.size(); ++i) {
        proved[i].python.number = i + 1;
        proved[i].python.of = proved.size();
        names.push_back(name_of_runtime(core, proved[i].python));
    }
    const std::string all = fmt::format("{}", fmt::join(names, ", "));
    if (wanted > proved.size())
        throw wrong_usage("no-such-runtime",
                          proved.size() == 1
                              ? fmt::format("--interpreter {}: the process has one CPython runtime, which {}",
                                            wanted, all.substr(2))
                              : fmt::format("--interpreter {}: the process has {} CPython runtimes: {}",
                                            wanted, proved.size(), all),
                          proved.size() == 1 ? "leave --interpreter out"
                                             : fmt::format("a number from 1 to {}", proved.size()));
    if (wanted == 0 && proved.size() > 1)
        diagnostics.add("several-runtimes",
                        fmt::format("the process has {} CPython runtimes: {}; this is about 1: --interpreter "
                                    "N asks about another",
                                    proved.size(), all));
    return std::move(proved[std::max<std::size_t>(wanted, 1) - 1]);
}

}  // namespace

PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics) {
    KeptLayout nothing;
    return find_python_runtime(core, diagnostics, nothing);
}

PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics, KeptLayout& kept,
                                  std::size_t wanted) {
    const std::vector<RuntimeCandidate> candidates = runtime_candidates(core);
    if (candidates.empty()) throw_no_runtime(core, diagnostics);
    RuntimeSearch search(core);
    std::vector<ProvedLayout> proved;
    std::vector<KeptLayout> read;  // of each
    for (const RuntimeCandidate& candidate : candidates) {
        KeptLayout layout = kept;
        auto one = search.prove(candidate, layout);
        // A copy of the struct leads to the interpreters of the original.
        if (!one || std::any_of(proved.begin(), proved.end(), [&](const ProvedLayout& known) {
                return known.python.interpreters.front().address == one->python.interpreters.front().address;
            }))
            continue;
        proved.push_back(std::move(*one));
        read.push_back(std::move(layout));
    }
    if (proved.empty()) search.throw_none();
    ProvedLayout chosen = choose_runtime(core, proved, wanted, diagnostics);
    kept = std::move(read[chosen.python.number - 1]);
    for (const Diagnostic& warning : chosen.warnings)
        diagnostics.add(warning.code, warning.message, warning.severity);
    return std::move(chosen.python);
}

}  // namespace heapsift
