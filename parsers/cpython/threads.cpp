#include "parsers/cpython/threads.h"

// Threads are thread states, listed by their interpreter. Each runs a chain of frames: frame objects up to
// 3.10, interpreter frames from 3.11 on (interpreter_frames.h). Python does not show the frames that C code
// made to call Python, nor those whose variables are still being set up. A frame's position is the
// instruction that it executes, or whose call has not returned; code_lines.h turns it into a line.
// (frameobject.c, pystate.c; threading.py for the names.)

#include "parsers/cpython/build/frames.h"
#include "parsers/cpython/code_lines.h"
#include "parsers/cpython/instance.h"
#include "parsers/cpython/interpreter_frames.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint8_t owned_by_generator = 1,
                       owned_by_c = 3;  // _PyInterpreterFrame.owner; from 3 on C's or the interpreter's own
constexpr std::uint8_t cell_or_free = 0x40 | 0x80;  // pycore_code.h: what a slot is for
constexpr std::uint32_t optimized = 1;              // CO_OPTIMIZED
constexpr std::size_t longest_name = 1000, most_bytes_of_tables = 1 << 28;
constexpr std::int64_t most_slots = 1 << 20, most_bytecode = 1 << 28;

}  // namespace

/// Reads frames of code that is called again and again: each code object is read once.
class FrameReader {
public:
    explicit FrameReader(const PythonHeap& heap) : heap_(heap), l_(heap.layout()) {}

    /// From 3.11 on. Nothing for a frame that Python does not show.
    std::optional<PythonFrame> interpreter_frame(Address at) {
        const auto& f = l_.interpreter_frame;
        PythonFrame frame;
        frame.frame = at;
        frame.code = interpreter_frame_code(heap_, at);
        const auto owner = f.owner.present() ? heap_.integer<std::uint8_t>(at + *f.owner) : std::uint8_t{0};
        if (owner >= owned_by_c || !may_be_code(frame.code)) return std::nullopt;
        const auto instruction = heap_.memory().read_address(at + *f.instr_ptr);
        if (!instruction) return std::nullopt;
        const std::int64_t offset = signed_distance(frame.code + *l_.code.co_code_adaptive, *instruction);
        if (owner != owned_by_generator && l_.code.co_firsttraceable.present() &&
            offset < 2 * std::int64_t{heap_.integer<std::int32_t>(frame.code + *l_.code.co_firsttraceable)})
            return std::nullopt;
        frame.function = untagged(heap_.pointer(at + *f.f_funcobj));
        frame.object = heap_.pointer(at + *f.frame_obj);
        frame.globals = heap_.pointer(at + *f.f_globals);
        frame.variables = heap_.pointer(at + *f.f_locals);
        fill(frame, offset);
        return frame;
    }

    /// Up to 3.10.
    std::optional<PythonFrame> frame_object(Address at) {
        const auto& f = l_.frame;
        if (!f.f_code.present() || !f.f_lasti.present()) return std::nullopt;
        PythonFrame frame;
        frame.frame = frame.object = at;
        frame.code = heap_.pointer(at + *f.f_code);
        const auto last = heap_.memory().read<std::int32_t>(at + *f.f_lasti);
        if (!last || !may_be_code(frame.code)) return std::nullopt;
        frame.globals = heap_.pointer(at + *f.f_globals);
        frame.variables = heap_.pointer(at + *f.f_locals);
        fill(frame, *last * bytes_a_step(l_));
        return frame;
    }

    std::optional<PythonFrame> frame(Address at) {
        return has_interpreter_frames(l_) ? interpreter_frame(at) : frame_object(at);
    }

private:
    struct Code {
        std::string name, file;
        CodeLines lines;
        bool has_slots = false;  // for its variables
    };

    static std::int64_t signed_distance(Address from, Address to) {
        return static_cast<std::int64_t>(to.value - from.value);
    }

    /// An object of another type is not code; one of unknown type may be (in a cut core).
    bool may_be_code(Address code) const {
        if (code.is_null()) return false;
        const TypeId type = heap_.type_of(code);
        return type == no_type || heap_.types().is(type, KnownType::code);
    }

    std::string text(Address code, LayoutOffset field) const {
        if (!field.present()) return "?";
        return heap_.unicode_text(heap_.pointer(code + *field), longest_name).value_or("?");
    }

    const Code& code(Address at) {
        const auto [it, is_new] = codes_.try_emplace(at.value);
        if (!is_new) return it->second;
        it->second.name = text(at, l_.code.co_qualname.present() ? l_.code.co_qualname : l_.code.co_name);
        it->second.file = text(at, l_.code.co_filename);
        if (l_.code.co_flags.present())
            it->second.has_slots = heap_.integer<std::uint32_t>(at + *l_.code.co_flags) & optimized;
        if (!l_.code.co_linetable.present()) return it->second;
        // Overlapping tables of false code objects could take for ever to read.
        const std::int64_t size = heap_.var_size(heap_.pointer(at + *l_.code.co_linetable));
        table_bytes_ += static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, most_bytes_of_tables));
        if (table_bytes_ <= most_bytes_of_tables) it->second.lines = CodeLines(heap_, at);
        return it->second;
    }

    void fill(PythonFrame& frame, std::int64_t offset) {
        const Code& of = code(frame.code);
        frame.name = of.name;
        frame.file = of.file;
        if (of.has_slots) frame.variables = Address();  // f_locals is then what locals() once returned
        if (offset >= -2 && offset < most_bytecode) frame.line = of.lines.line_at(offset);
        if (const auto traced = traced_line(frame.object)) frame.line = *traced;
    }

    /// While a debugger's or coverage's function is called, the frame object has the line of the traced
    /// function; up to 3.9, as long as it is traced.
    std::optional<std::int32_t> traced_line(Address object) const {
        const auto& f = l_.frame;
        if (object.is_null() || !f.f_lineno.present()) return std::nullopt;
        if (line_needs_trace(l_) && (!f.f_trace.present() || heap_.pointer(object + *f.f_trace).is_null()))
            return std::nullopt;
        const auto line = heap_.integer<std::int32_t>(object + *f.f_lineno);
        if (line == 0) return std::nullopt;
        return std::max(line, 0);
    }

    const PythonHeap& heap_;
    const Layout& l_;
    std::unordered_map<std::uint64_t, Code> codes_;
    std::size_t table_bytes_ = 0;
};

namespace {

/// A non-negative int below 2**60.
std::optional<std::uint64_t> small_int(const PythonHeap& heap, Address object) {
    if (const auto number = heap.c_long(object))
        return *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
    const auto& l = heap.layout().long_;
    std::int64_t count = 0;
    if (l.lv_tag.present()) {
        const auto tag = heap.integer<std::uint64_t>(object + *l.lv_tag);
        count = (tag & 3) == 2 ? -1 : static_cast<std::int64_t>(tag >> 3);
    } else {
        count = heap.var_size(object);
    }
    if (count < 0 || count > 2) return std::nullopt;
    std::uint64_t value = 0;
    for (auto i = static_cast<std::uint64_t>(count); i-- > 0;)
        value = value << 30 | heap.integer<std::uint32_t>(object + *l.ob_digit + 4 * i);
    return value;
}

/// Whether the native call of the interpreter's loop that runs this frame began with it. (Up to 3.10 each
/// does. 3.11 marks it; later versions have one more frame, of C's, below it: `entry_frames`.)
bool is_outermost_of_evaluation(const PythonHeap& heap, Address frame, std::vector<Address>& entry_frames) {
    const auto& f = heap.layout().interpreter_frame;
    if (!has_interpreter_frames(heap.layout())) return true;
    if (f.is_entry.present()) return heap.integer<std::uint8_t>(frame + *f.is_entry) != 0;
    if (!f.owner.present() || heap.integer<std::uint8_t>(frame + *f.owner) < owned_by_c) return false;
    entry_frames.push_back(frame);
    return true;
}

/// What the interpreter's threading module has, and what its threads are called.
class Threading {
public:
    Threading(const PythonHeap& heap, const PythonInterpreter& interpreter) : heap_(heap) {
        const auto& of_module = heap.layout().module;
        const Address module = heap.dict_value(interpreter.modules, "threading");
        if (!module.is_null() && of_module.md_dict.present())
            dict_ = heap.pointer(module + *of_module.md_dict);
    }

    /// Names by thread_id, from `_active`.
    std::map<std::uint64_t, std::string> names() const {
        std::map<std::uint64_t, std::string> names;
        const Address active = dict_.is_null() ? Address() : heap_.dict_value(dict_, "_active");
        if (!heap_.is_dict(active)) return names;
        heap_.visit_dict(active, [&](Address key, Address thread) {
            const auto id = small_int(heap_, key);
            if (auto text = id ? name_of(thread) : std::nullopt) names[*id] = std::move(*text);
        });
        return names;
    }

    /// The name of `_main_thread`, if its ident is none of these. gevent and eventlet call it, and all that is in `_active`,
    /// by greenlets instead of threads (gevent/monkey.py, patch_thread).
    std::string main_thread_without(const std::vector<std::uint64_t>& thread_ids) const {
        const Address thread = dict_.is_null() ? Address() : heap_.dict_value(dict_, "_main_thread");
        if (thread.is_null()) return {};
        const Address ident = attribute(thread, "_ident");
        const auto id = ident.is_null() ? std::nullopt : small_int(heap_, ident);
        if (!id || std::find(thread_ids.begin(), thread_ids.end(), *id) != thread_ids.end()) return {};
        return name_of(thread).value_or("");
    }

private:
    Address attribute(Address thread, const char* name) const {
        const TypeId type = heap_.type_of(thread);
        return type == no_type ? Address()
                               : instance_attribute(ObjectReader(heap_, thread, heap_.types()[type]), name);
    }
    std::optional<std::string> name_of(Address thread) const {
        Address name = attribute(thread, "_name");
        if (name.is_null()) name = attribute(thread, "_Thread__name");  // 2.7
        return heap_.unicode_text(name, longest_name);
    }

    const PythonHeap& heap_;
    Address dict_;  // null if it was not imported
};

/// The thread state that has the interpreter's lock; null if none has it, or it cannot be known.
Address lock_holder(const PythonHeap& heap, const PythonInterpreter& interpreter) {
    const Layout& l = heap.layout();
    if (l.runtime_state.tstate_current.present())
        return heap.pointer(heap.runtime().runtime + *l.runtime_state.tstate_current);
    if (!l.interpreter_state.ceval_gil.present() || !l.gil.last_holder.present() || !l.gil.locked.present())
        return {};
    const Address gil = heap.pointer(interpreter.address + *l.interpreter_state.ceval_gil);
    if (gil.is_null() || heap.integer<std::int32_t>(gil + *l.gil.locked) != 1) return {};
    return heap.pointer(gil + *l.gil.last_holder);
}

std::optional<std::int32_t> kernel_thread(std::span<const CoreThread> core_threads, const PythonHeap& heap,
                                          const PythonThread& of) {
    // pthread_self is the address of the thread's control block, which is the base of %fs. It is also right
    // where the process could not know its tid: in a container whose core was taken from outside.
    for (const CoreThread& thread : core_threads)
        if (of.thread_id != 0 && thread.fs_base() == of.thread_id) return thread.tid;
    const LayoutOffset native = heap.layout().thread_state.native_thread_id;
    if (!native.present()) return std::nullopt;
    const auto id = heap.memory().read<std::uint64_t>(of.state + *native);
    if (!id || *id == 0 || *id > 0x7fffffff) return std::nullopt;
    return static_cast<std::int32_t>(*id);
}

/// Names of locals up to 3.10: variables, then cells, then free variables, one tuple each.
struct OldNames {
    Address tuple;
    std::int64_t count = 0;
    bool cells = false;
};

void visit_old_slots(const PythonHeap& heap, const PythonFrame& frame,
                     const std::function<void(const FrameSlot&)>& visit) {
    using What = FrameSlot::What;
    const auto& f = heap.layout().frame;
    const auto& c = heap.layout().code;
    if (!f.f_localsplus.present() || !f.f_valuestack.present() || !c.co_cellvars.present()) return;
    const auto slot = [&](What what, Address word, Address name = {}, bool cell = false) {
        if (const Address value = heap.pointer(word); !value.is_null())
            visit({what, word, value, name, cell});
    };
    slot(What::code, frame.frame + *f.f_code);
    slot(What::locals, frame.frame + *f.f_locals);
    const auto tuple = [&](LayoutOffset field, bool cells) {
        const Address names = heap.pointer(frame.code + *field);
        const std::int64_t count =
            names.is_null() ? 0 : std::clamp<std::int64_t>(heap.var_size(names), 0, most_slots);
        return OldNames{names, count, cells};
    };
    const Address stack = heap.pointer(frame.frame + *f.f_valuestack);
    Address word = frame.frame + *f.f_localsplus;
    for (const OldNames& names :
         {tuple(c.co_varnames, false), tuple(c.co_cellvars, true), tuple(c.co_freevars, true)})
        for (std::int64_t i = 0; i < names.count && word < stack; ++i, word = word + 8)
            slot(What::local, word,
                 heap.pointer(names.tuple + *heap.layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i)),
                 names.cells);
    // The frame has its stack's depth only while the function does not run (3.9: a pointer; 3.10: a count,
    // then -1).
    std::int64_t depth = 0;
    if (f.f_stackdepth.present()) depth = heap.integer<std::int32_t>(frame.frame + *f.f_stackdepth);
    if (f.f_stacktop.present())
        if (const Address top = heap.pointer(frame.frame + *f.f_stacktop); top > stack)
            depth = static_cast<std::int64_t>((top - stack) / 8);
    depth =
        std::min<std::int64_t>({depth, heap.integer<std::int32_t>(frame.code + *c.co_stacksize), most_slots});
    for (std::int64_t i = 0; i < depth; ++i) slot(What::stack, stack + 8 * static_cast<std::uint64_t>(i));
}

/// 3.11 and 3.12: whether the instruction after the one where a call is suspended resumes after `await` or `yield from`.
bool resumes_after_await(const PythonHeap& heap, Address frame) {
    const auto last = heap.memory().read_address(frame + *heap.layout().interpreter_frame.instr_ptr);
    if (!last || last->is_null()) return false;
    const auto argument = heap.memory().read<std::uint8_t>(*last + 3);  // two bytes an instruction
    return argument && *argument >= resume_after_yield_from;
}

/// Up to 3.10. A call that has not begun stands before its first instruction.
CallState state_of_old_frame(const PythonHeap& heap, Address frame) {
    const auto& f = heap.layout().frame;
    if (heap.integer<std::int32_t>(frame + *f.f_lasti) < 0) return CallState::created;
    if (f.f_state.present()) return call_state(heap.layout(), heap.integer<std::int8_t>(frame + *f.f_state));
    if (f.f_executing.present() && heap.integer<std::uint8_t>(frame + *f.f_executing) != 0)
        return CallState::running;
    return CallState::suspended;
}

/// Up to 3.10: whether the next instruction is YIELD_FROM.
bool yields_from(const PythonHeap& heap, const PythonFrame& frame) {
    const Layout& l = heap.layout();
    if (!l.code.co_code.present() || !l.bytes.ob_sval.present()) return false;
    const Address code = heap.pointer(frame.code + *l.code.co_code);
    const std::int64_t next =
        heap.integer<std::int32_t>(frame.frame + *l.frame.f_lasti) * bytes_a_step(l) + 2;
    if (code.is_null() || next < 2 || next >= heap.var_size(code)) return false;
    return heap.integer<std::uint8_t>(code + *l.bytes.ob_sval + static_cast<std::uint64_t>(next)) ==
           yield_from_opcode;
}

bool is_cell(const PythonHeap& heap, Address object) {
    return heap.types().is(heap.type_of(object), KnownType::cell);
}

}  // namespace

std::vector<PythonThread> python_threads(std::span<const CoreThread> core_threads, std::int32_t pid,
                                         const PythonHeap& heap) {
    std::vector<PythonThread> threads;
    FrameReader reader(heap);
    std::unordered_set<std::uint64_t> seen;
    const Layout& l = heap.layout();
    for (const PythonInterpreter& interpreter : heap.runtime().interpreters) {
        const Threading threading(heap, interpreter);
        const auto names = threading.names();
        const Address holder = lock_holder(heap, interpreter);
        const std::size_t first = threads.size();
        // The newest comes first in the list.
        for (auto state = interpreter.threads.rbegin(); state != interpreter.threads.rend(); ++state) {
            PythonThread thread;
            thread.state = *state;
            thread.interpreter = interpreter.id;
            if (l.thread_state.thread_id.present())
                thread.thread_id = heap.integer<std::uint64_t>(*state + *l.thread_state.thread_id);
            thread.tid = kernel_thread(core_threads, heap, thread);
            if (const auto name = names.find(thread.thread_id); name != names.end())
                thread.name = name->second;
            thread.gil = *state == holder;
            const auto add = [&](Address at) {
                if (auto frame = reader.frame(at)) {
                    frame->evaluation = thread.evaluations;
                    thread.frames.push_back(std::move(*frame));
                }
                if (is_outermost_of_evaluation(heap, at, thread.entry_frames)) ++thread.evaluations;
            };
            if (has_interpreter_frames(l))
                visit_frame_chain(heap, current_interpreter_frame(heap, *state), l.interpreter_frame.previous,
                                  seen, add);
            else if (l.thread_state.frame.present())
                visit_frame_chain(heap, heap.pointer(*state + *l.thread_state.frame), l.frame.f_back, seen,
                                  add);
            threads.push_back(std::move(thread));
        }
        std::stable_partition(threads.begin() + static_cast<std::ptrdiff_t>(first), threads.end(),
                              [&](const PythonThread& thread) { return thread.tid == pid; });
        if (first == threads.size() || threads[first].tid != pid || !threads[first].name.empty()) continue;
        std::vector<std::uint64_t> ids;
        for (std::size_t i = first; i < threads.size(); ++i) ids.push_back(threads[i].thread_id);
        threads[first].name = threading.main_thread_without(ids);
    }
    return threads;
}

std::vector<PythonThread> python_threads(const CoreFile& core, const PythonHeap& heap) {
    return python_threads(core.threads(), core.process().pid, heap);
}

struct GeneratorCalls::Reader {
    explicit Reader(const PythonHeap& of) : heap(of), frames(of) {}

    const PythonHeap& heap;
    FrameReader frames;
};

GeneratorCalls::GeneratorCalls(const PythonHeap& heap) : reader_(std::make_unique<Reader>(heap)) {}
GeneratorCalls::~GeneratorCalls() = default;
GeneratorCalls::GeneratorCalls(GeneratorCalls&&) noexcept = default;

std::optional<GeneratorCall> GeneratorCalls::of(Address generator) const {
    const PythonHeap& heap = reader_->heap;
    const auto& l = heap.layout().generator;
    GeneratorCall call;
    bool awaits = false;
    if (l.gi_iframe.present()) {
        const auto state = heap.memory().read<std::int8_t>(generator + *l.gi_frame_state);
        if (!state) return std::nullopt;
        call.state = call_state(heap.layout(), *state);
        const Address frame = generator + *l.gi_iframe;
        awaits = await_mark(heap.layout()) == AwaitMark::state ? is_await_state(heap.layout(), *state)
                                                               : resumes_after_await(heap, frame);
        auto read =
            call.state == CallState::finished ? std::nullopt : reader_->frames.interpreter_frame(frame);
        if (!read) return std::nullopt;
        call.frame = std::move(*read);
    } else {
        const Address frame = l.gi_frame.present() ? heap.pointer(generator + *l.gi_frame) : Address();
        auto read = frame.is_null() ? std::nullopt : reader_->frames.frame_object(frame);
        if (!read) return std::nullopt;
        call.frame = std::move(*read);
        call.state = state_of_old_frame(heap, frame);
        awaits = yields_from(heap, call.frame);
    }
    if (call.state != CallState::suspended || !awaits) return call;
    visit_slots(heap, call.frame, [&](const FrameSlot& slot) {
        if (slot.what == FrameSlot::What::stack) call.awaited = slot.value;
    });
    return call;
}

std::optional<PythonFrame> generator_frame(const PythonHeap& heap, Address generator) {
    const auto& l = heap.layout().generator;
    FrameReader reader(heap);
    if (!l.gi_iframe.present()) {
        const Address frame = l.gi_frame.present() ? heap.pointer(generator + *l.gi_frame) : Address();
        return frame.is_null() ? std::nullopt : reader.frame_object(frame);
    }
    const auto state = heap.memory().read<std::int8_t>(generator + *l.gi_frame_state);
    if (!state || is_finished_state(heap.layout(), *state)) return std::nullopt;
    return reader.interpreter_frame(generator + *l.gi_iframe);
}

std::vector<PythonFrame> suspended_frames(const PythonHeap& heap, std::span<const Address> frames) {
    FrameReader reader(heap);
    std::vector<PythonFrame> read;
    for (const Address at : frames)
        if (auto frame = reader.frame(at)) read.push_back(std::move(*frame));
    return read;
}

void visit_slots(const PythonHeap& heap, const PythonFrame& frame,
                 const std::function<void(const FrameSlot&)>& visit) {
    using What = FrameSlot::What;
    const Layout& l = heap.layout();
    if (!has_interpreter_frames(l)) return visit_old_slots(heap, frame, visit);
    std::pair<LayoutOffset, What> header[] = {{l.interpreter_frame.f_funcobj, What::function},
                                              {l.interpreter_frame.f_executable, What::code},
                                              {l.interpreter_frame.f_locals, What::locals},
                                              {l.interpreter_frame.frame_obj, What::frame}};
    std::sort(std::begin(header), std::end(header),
              [](const auto& a, const auto& b) { return *a.first < *b.first; });
    const auto slot = [&](What what, Address word, Address name = {}, bool cell = false) {
        if (const Address value = untagged(heap.pointer(word)); !value.is_null())
            visit({what, word, value, name, cell && is_cell(heap, value)});
    };
    for (const auto& [offset, what] : header) slot(what, frame.frame + *offset);
    const FramePlaces places = interpreter_frame_places(heap, frame.frame, frame.code);
    const Address names = heap.pointer(frame.code + *l.code.co_localsplusnames);
    const Address kinds = heap.pointer(frame.code + *l.code.co_localspluskinds);
    for (std::int32_t i = 0; i < (places.running ? places.locals : places.used); ++i) {
        const auto n = static_cast<std::uint64_t>(i);
        const Address word = frame.frame + *l.interpreter_frame.localsplus + 8 * n;
        if (i >= places.locals) {
            slot(What::stack, word);
            continue;
        }
        // Before the function's first instruction the argument itself is where its cell will be.
        const bool cell =
            !kinds.is_null() && (heap.integer<std::uint8_t>(kinds + *l.bytes.ob_sval + n) & cell_or_free);
        slot(What::local, word, heap.pointer(names + *l.tuple.ob_item + 8 * n), cell);
    }
}

}  // namespace heapsift
