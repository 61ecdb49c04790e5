// A native frame becomes one call, or several where functions were inlined: debug information tells (LLVM),
// else the symbol that covers it names the one.
//
// Python's calls run in the interpreter's loop, _PyEval_EvalFrameDefault. Up to 3.10 each call has one native
// call of the loop. From 3.11 on a Python function that calls another stays in the same loop, so a native
// call runs several, down to the one with which it began (threads.h: `evaluation`). The two lists are put
// together by these numbers:
//
// - From 3.12 on the loop keeps an entry frame in its own native frame, so its address says which native
//   frame it is.
// - Before, both lists are counted from the innermost call. There may be more native calls of the loop than
//   Python knows: one that has just begun and is not linked yet, at the innermost end, or those below a
//   greenlet, at the outermost. Which it is the stack tells: the loop keeps a pointer to the frame that it
//   runs in its native frame. If the native list is not whole, its outermost calls are missing, and what
//   Python knows beyond it follows at the end. (ceval.c, pycore_frame.h.)
//
// Most native calls between two of Python's are how the interpreter makes calls: PyObject_Vectorcall and
// thirty more. People who look for what their program does do not want them, so they are marked: by name, and
// in an interpreter without static symbols also those that have no name. What lies between Python's calls and
// the start of the thread is marked as well, as far as it is the interpreter's or the C library's.

#include "analysis/native_calls.h"

#include "analysis/native_classes.h"
#include "parsers/base/text.h"
#include "parsers/dwarf/source_lines.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>
#include <unordered_map>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view loop_name = "_PyEval_EvalFrameDefault";
constexpr std::size_t most_kept_places = 1 << 14, most_calls = 40'000;
constexpr std::uint64_t most_searched_stack = 64 << 10;
constexpr std::size_t most_passed_over =
    64;  // evaluations whose native call was not found, one after the other

/// How functions of the interpreter begin that only pass a call on, of 3.9 to 3.14.
constexpr std::array call_makers = {
    "_PyEval_"sv,
    "PyEval_Eval"sv,
    "_PyObject_Vectorcall"sv,
    "PyObject_Vectorcall"sv,
    "_PyObject_Call"sv,
    "PyObject_Call"sv,
    "_PyObject_FastCall"sv,
    "_PyObject_MakeTp"sv,
    "PyVectorcall_"sv,
    "_PyVectorcall_"sv,
    "_PyFunction_"sv,
    "function_code_fastcall"sv,
    "method_vectorcall"sv,
    "cfunction_"sv,
    "call_function"sv,
    "do_call_core"sv,
    "vectorcall_"sv,
    "object_vacall"sv,
    "callmethod"sv,
    "slot_"sv,
    "wrap_"sv,
    "wrapperdescr_"sv,
    "wrapper_call"sv,
    "type_call"sv,
    "gen_send_ex"sv,
    "gen_iternext"sv,
    "gen_send"sv,
    "_PyGen_"sv,
    "coro_wrapper_"sv,
    "run_mod"sv,
    "run_eval_code_obj"sv,
    "pyrun_"sv,
    "_PyRun_"sv,
    "PyRun_"sv,
    "pymain_"sv,
    "Py_RunMain"sv,
    "Py_BytesMain"sv,
    "Py_Main"sv,
    "thread_run"sv,
    "t_bootstrap"sv,
    "pythread_wrapper"sv,
    "builtin_exec"sv,
    "builtin_eval"sv,
    "PyImport_Import"sv,
    "import_name"sv,
    "import_find_and_load"sv,
    "builtin___import__"sv,
    "_PyCFunction_"sv,
    "PyCFunction_Call"sv,
    "classmethod_"sv,
    "trace_call_function"sv,
    "_PyObject_Generic"sv,
    "PyObject_GetAttr"sv,
    "PyObject_GenericGetAttr"sv,
    "_PyCode_"sv,
    "clear_thread_frame"sv,
    "fast_function"sv,
};

bool makes_calls(std::string_view function) {
    return std::any_of(call_makers.begin(), call_makers.end(),
                       [&](std::string_view start) { return function.starts_with(start); });
}

/// The loop itself, also if the compiler split it in parts ("….cold").
bool is_loop(std::string_view function) {
    return function.starts_with(loop_name) &&
           (function.size() == loop_name.size() || function[loop_name.size()] == '.');
}

/// Whether a module only passes calls on, between Python and C: ctypes, cffi and what they are built on.
bool passes_calls(std::string_view path) {
    const std::string_view name = base_name(path);
    return name.starts_with("libffi") || name.starts_with("_ctypes.") || name.starts_with("_cffi_backend.");
}

/// Whether a module is part of the C library: it starts threads and programs.
bool starts_threads(std::string_view path) {
    const std::string_view name = base_name(path);
    return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("libpthread") ||
           name.starts_with("ld-");
}

/// What is at the addresses of calls, as it is kept. All of it is from files: no value of the program's.
struct KeptPlaces {
    struct Place {
        std::uint64_t key = 0;
        std::int32_t module = -1;
        std::vector<NativeCall> calls;
    };
    std::vector<Place> places;  // by key

    std::size_t rows() const {
        std::size_t count = 0;
        for (const Place& place : places) count += place.calls.size();
        return count;
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        const std::vector<Module>& modules = heap.core().modules();
        part.list(self.places, [&](auto& place, Part& p) {
            p.number(place.key);
            p.number(place.module);
            p.require(place.module < static_cast<std::int64_t>(modules.size()), "a call is in no module");
            p.list(place.calls, [&](auto& call, Part& q) {
                q.text(call.function);
                q.text(call.file);
                q.number(call.instruction);
                for (auto* offset : {&call.offset, &call.module_offset}) optional_field(*offset, q);
                q.number(call.line);
                q.number(call.inlined);
                q.number(call.signal_handler);
                if constexpr (Part::reading)
                    if (place.module >= 0) call.module = modules[static_cast<std::size_t>(place.module)].path;
            });
            p.require(!place.calls.empty(), "there is no call at an address");
        });
    }

private:
    template <class Optional, class Part>
    static void optional_field(Optional& value, Part& part) {
        bool there = value.has_value();
        std::uint64_t number = value.value_or(0);
        part.number(there);
        part.number(number);
        if constexpr (Part::reading)
            if (there) value = number;
    }
};

/// Names come from files with debug information, which may be installed later: they are part of the question.
KeptQuestion question_about_calls(const CoreFile& core) {
    auto question = KeptQuestion("calls");
    for (const Module& module : core.modules()) {
        const std::string file = core.debug_file_for(module);
        std::error_code error;
        const auto size = std::filesystem::file_size(file, error);
        const auto changed = std::filesystem::last_write_time(file, error);
        question.with(std::hash<std::string>()(file));
        if (!error) question.with(size).with(changed.time_since_epoch().count());
    }
    return question;
}

}  // namespace

struct NativeCallReader::State {
    State(const CoreFile& of, std::int32_t python) : core(of), interpreter(python), unwinder(of) {}

    const CoreFile& core;
    std::int32_t interpreter;
    Unwinder unwinder;
    std::unordered_map<const Module*, SourceLines> lines;
    /// What is at an address: the same calls occur in many threads and many times in one.
    std::unordered_map<std::uint64_t, std::vector<NativeCall>> places;

    const SourceLines& lines_of(const Module& module) {
        const auto there = lines.find(&module);
        if (there != lines.end()) return there->second;
        return lines.emplace(&module, SourceLines(core.debug_file_for(module))).first->second;
    }

    std::vector<NativeCall> read(const NativeFrame& frame) {
        NativeCall call;
        call.instruction = frame.instruction;
        if (!frame.module) return {call};
        const Module& module = *frame.module;
        call.module = module.path;
        call.module_offset = frame.instruction.value - module.load_bias;
        std::string symbol;
        // A trampoline was not called: a handler returns to its first byte.
        const Address inside = frame.signal_trampoline ? frame.instruction : frame.in_function();
        if (const auto at = core.symbol_at(module, inside)) {
            symbol = at->name;
            call.offset = at->offset + (frame.instruction - inside);
        }
        std::vector<NativeCall> calls;
        if (!frame.signal_trampoline)
            for (const SourceCall& source :
                 lines_of(module).calls_at(frame.in_function().value - module.load_bias)) {
                NativeCall& one = calls.emplace_back(call);
                one.function = symbol_words(source.function);
                one.file = source.file;
                one.line = source.line;
                one.inlined = true;
            }
        if (calls.empty()) calls.push_back(call);
        for (NativeCall& one : calls)
            if (one.inlined) one.offset.reset();
        NativeCall& whole = calls.back();
        whole.inlined = false;
        whole.offset = call.offset;
        if (whole.function.empty()) whole.function = symbol_words(symbol);
        whole.signal_handler = frame.signal_trampoline;
        return calls;
    }

    static std::uint64_t key_of(const NativeFrame& frame) {
        return frame.instruction.value * 2 + (frame.exact ? 1 : 0);
    }

    const std::vector<NativeCall>& calls_at(const NativeFrame& frame) {
        if (places.size() >= most_kept_places) places.clear();
        const std::uint64_t key = key_of(frame);
        const auto there = places.find(key);
        if (there != places.end()) return there->second;
        return places.emplace(key, read(frame)).first->second;
    }

    bool is_interpreter(const Module* module) const {
        if (!module) return false;
        const auto index = module - core.modules().data();
        return index == interpreter ||
               (module->is_executable && base_name(module->path).starts_with("python"));
    }

    /// Marks what people do not want to see. `modules`: of each call.
    void mark(NativeCalls& native, const std::vector<const Module*>& modules) const {
        constexpr std::size_t none = static_cast<std::size_t>(-1);
        const std::size_t first = native.evaluations.empty() ? none : native.evaluations.front().call;
        const std::size_t last = native.evaluations.empty() ? none : native.evaluations.back().call;
        for (std::size_t i = 0; i < native.calls.size(); ++i) {
            NativeCall& call = native.calls[i];
            const bool of_interpreter = is_interpreter(modules[i]);
            if (call.signal_handler) continue;
            const bool passes = modules[i] && passes_calls(modules[i]->path) &&
                                call.instruction != native.calls.front().instruction;
            if (call.evaluates || passes || (of_interpreter && makes_calls(call.function))) {
                call.machinery = true;
            } else if (first != none && i > last) {
                call.machinery = of_interpreter || (modules[i] && starts_threads(modules[i]->path));
            } else if (first != none && i > first) {
                // Between two of Python's calls. Inlined into the loop is what the loop does itself.
                const bool in_loop = call.inlined && native.calls[i].instruction == loop_after(native, i);
                call.machinery = of_interpreter && (call.function.empty() || in_loop);
            }
        }
        if (first == none)  // a thread that is not Python's: how it was started
            for (std::size_t i = native.calls.size(); i-- > 0;) {
                const std::string_view name = native.calls[i].function;
                if (!modules[i] || !starts_threads(modules[i]->path) ||
                    !(name.starts_with("clone") || name.starts_with("__clone") || name == "start_thread" ||
                      name.empty()))
                    break;
                if (i > 0) native.calls[i].machinery = true;
            }
    }

    /// The instruction of the next call of the loop.
    static Address loop_after(const NativeCalls& native, std::size_t i) {
        while (i < native.calls.size() && native.calls[i].inlined) ++i;
        return i < native.calls.size() && native.calls[i].evaluates ? native.calls[i].instruction : Address();
    }
};

NativeCallReader::NativeCallReader(const CoreFile& core, std::int32_t interpreter)
    : state_(std::make_unique<State>(core, interpreter)) {}
NativeCallReader::~NativeCallReader() = default;

std::string NativeCallReader::name_of(const Module& module) { return std::string(base_name(module.path)); }

void NativeCallReader::name_all(const HeapReader& heap, KeptAnswers* answers) {
    if (!answers) return;
    KeptPlaces kept = kept_answer(answers, question_about_calls(state_->core), heap, [&] {
        std::map<std::uint64_t, KeptPlaces::Place> places;
        for (const CoreThread& thread : state_->core.threads())
            for (const NativeFrame& frame : state_->unwinder.stack_of(thread).frames) {
                const std::uint64_t key = State::key_of(frame);
                if (places.size() >= most_kept_places || places.contains(key)) continue;
                const auto module = frame.module ? frame.module - state_->core.modules().data() : -1;
                places[key] = {key, static_cast<std::int32_t>(module), state_->calls_at(frame)};
            }
        KeptPlaces found;
        for (auto& [key, place] : places) found.places.push_back(std::move(place));
        return found;
    });
    for (KeptPlaces::Place& place : kept.places) state_->places.emplace(place.key, std::move(place.calls));
}

NativeCalls NativeCallReader::calls_of(const CoreThread& of, const PythonThread* thread) {
    NativeCalls native;
    const NativeStack stack = state_->unwinder.stack_of(of);
    native.end = stack.end;
    std::vector<Address> entries = thread ? thread->entry_frames : std::vector<Address>{};
    std::sort(entries.begin(), entries.end());
    std::vector<const Module*> modules;
    for (const NativeFrame& frame : stack.frames) {
        const std::vector<NativeCall>& calls = state_->calls_at(frame);
        // Each frame has its function; calls that were inlined into it as long as the list is not absurd.
        const bool all = native.calls.size() < most_calls;
        native.calls.insert(native.calls.end(), all ? calls.begin() : calls.end() - 1, calls.end());
        modules.resize(native.calls.size(), frame.module);
        NativeCall& whole = native.calls.back();
        const auto entry = std::lower_bound(entries.begin(), entries.end(), frame.stack);
        whole.evaluates = thread && state_->is_interpreter(frame.module) &&
                          (is_loop(whole.function) || (entry != entries.end() && *entry < frame.frame_end));
        if (whole.evaluates)
            native.evaluations.push_back({native.calls.size() - 1, frame.stack, frame.frame_end});
    }
    state_->mark(native, modules);
    return native;
}

namespace {

/// How many evaluations have their frame's address in the native frame of the loop that is `skipped` further
/// out.
std::size_t seen_in_stack(const AddressSpace& memory, const NativeCalls& native,
                          std::span<const PythonFrame> frames, std::size_t skipped) {
    std::size_t seen = 0;
    std::int64_t last = -1;
    for (const PythonFrame& frame : frames) {
        if (frame.evaluation == last) continue;  // not the one that it runs
        last = frame.evaluation;
        const std::size_t at = frame.evaluation + skipped;
        if (at >= native.evaluations.size()) break;
        const auto& of = native.evaluations[at];
        const std::uint64_t bytes = std::min(of.frame_end - of.stack, most_searched_stack);
        for (std::uint64_t i = 0; i + 8 <= bytes; i += 8)
            if (memory.read_address(of.stack + i) == frame.frame) {
                ++seen;
                break;
            }
    }
    return seen;
}

}  // namespace

std::vector<std::int64_t> match_evaluations(const AddressSpace& memory, const NativeCalls& native,
                                            const PythonThread& thread, std::span<const PythonFrame> frames) {
    std::vector<std::int64_t> matches(native.evaluations.size(), -1);
    const std::size_t known = thread.evaluations;
    if (!thread.entry_frames.empty()) {
        std::size_t next = 0;
        for (std::size_t i = 0; i < matches.size(); ++i) {
            const auto& of = native.evaluations[i];
            for (std::size_t k = next; k < thread.entry_frames.size() && k < next + most_passed_over; ++k)
                if (thread.entry_frames[k] >= of.stack && thread.entry_frames[k] < of.frame_end) {
                    matches[i] = static_cast<std::int64_t>(k);
                    next = k + 1;
                    break;
                }
        }
        return matches;
    }
    std::size_t skipped = 0;
    if (matches.size() > known) {
        const std::size_t more = matches.size() - known;
        if (seen_in_stack(memory, native, frames, more) > seen_in_stack(memory, native, frames, 0))
            skipped = more;
    }
    for (std::size_t i = skipped; i < matches.size() && i - skipped < known; ++i)
        matches[i] = static_cast<std::int64_t>(i - skipped);
    return matches;
}

}  // namespace heapsift
