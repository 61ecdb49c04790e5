// Threads with frames, and each frame's slots as named objects.

#include "analysis/threads.h"

#include "analysis/native_classes.h"
#include "analysis/objects.h"
#include "parsers/libraries/greenlets.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

constexpr std::size_t longest_local_name = 200;
// of consecutive calls of one function at one line, this many are written out
constexpr std::size_t shown_of_a_run = 3;
constexpr std::size_t longest_cycle = 12;  // of calls that occur again and again
constexpr std::size_t fewest_alike = 4;    // threads that are shown as one
constexpr std::uint64_t around_stack = 64 << 10;

bool is_same_place(const FrameRow& a, const FrameRow& b) {
    if (a.native || b.native)
        return a.native && b.native && a.native->instruction == b.native->instruction &&
               a.native->function == b.native->function && a.native->line == b.native->line;
    return a.frame.code == b.frame.code && a.frame.line == b.frame.line;
}

/// How often the `period` calls from `first` on occur, one time after the other.
std::size_t cycles_at(const std::vector<FrameRow*>& frames, std::size_t first, std::size_t period) {
    std::size_t same = 0;
    while (first + period + same < frames.size() &&
           is_same_place(*frames[first + same], *frames[first + period + same]))
        ++same;
    return 1 + same / period;
}

/// Of a call that occurs several times in a row the first two and the last are shown, outermost first; of
/// several calls that do (a recursion through others), the first time and the last. How the interpreter makes
/// calls is not shown, and does not interrupt a run.
void find_runs(std::vector<FrameRow>& all) {
    std::vector<FrameRow*> frames;
    for (auto frame = all.rbegin(); frame != all.rend(); ++frame)
        if (!frame->native || !frame->native->machinery) frames.push_back(&*frame);
    for (std::size_t i = 0; i < frames.size();) {
        std::size_t period = 1, cycles = cycles_at(frames, i, 1);
        while (cycles < shown_of_a_run && period < longest_cycle) cycles = cycles_at(frames, i, ++period);
        if (cycles < shown_of_a_run || (period == 1 && cycles == shown_of_a_run)) {
            ++i;
            continue;
        }
        const std::size_t end = i + cycles * period, last = end - period;
        const std::size_t hidden_from = i + (period == 1 ? 2 : period);
        for (std::size_t k = hidden_from; k < last; ++k) frames[k]->in_run = true;
        frames[last]->run_before = last - hidden_from;
        frames[last]->run_period = period;
        i = end;
    }
}

class LocalsOfFrame {
public:
    LocalsOfFrame(const HeapReader& heap, const PythonHeap& python, const RetainedLookup* retained,
                  std::size_t limit, FrameRow& row)
        : heap_(heap), python_(python), retained_(retained), limit_(limit), row_(row) {}

    void read() {
        const PythonFrame& frame = row_.frame;
        row_.variables_of_module = !frame.variables.is_null() && frame.variables == frame.globals;
        visit_slots(python_, frame, [&](const FrameSlot& slot) {
            if (slot.what != FrameSlot::What::local) return;
            const LayoutOffset content = python_.layout().cell.ob_ref;
            if (!slot.cell || !content.present())
                add(slot.name, slot.value, {});
            else
                add(slot.name, python_.pointer(slot.value + *content), slot.value);
        });
        if (!frame.variables.is_null() && !row_.variables_of_module)
            python_.visit_dict(frame.variables, [&](Address name, Address value) { add(name, value, {}); });
    }

private:
    void add(Address name, Address value, Address cell) {
        if (value.is_null()) return;
        ++row_.local_count;
        if (limit_ > 0 && row_.locals.size() >= limit_) return;
        LocalRow local;
        local.name = python_.unicode_text(name, longest_local_name).value_or("?");
        local.cell = cell;
        const ObjectId object = heap_.snapshot().find(value);
        if (object == no_object) {
            local.object.address = value;
        } else {
            local.object = object_row(heap_, object);
            local.object.state = ObjectState::reachable;  // from this frame
            if (retained_) local.object.retained = retained_->memory(object);
        }
        row_.locals.push_back(std::move(local));
    }

    const HeapReader& heap_;
    const PythonHeap& python_;
    const RetainedLookup* retained_;
    std::size_t limit_;
    FrameRow& row_;
};

/// "func()"; code outside functions is called "<module>", "<lambda>".
std::string called(const PythonFrame& frame) {
    return frame.name.ends_with('>') ? frame.name : frame.name + "()";
}

std::vector<std::int32_t> threads_without_python(const CoreFile& core,
                                                 const std::vector<PythonThread>& threads) {
    std::vector<std::int32_t> rest;
    for (const CoreThread& thread : core.threads())
        if (std::none_of(threads.begin(), threads.end(),
                         [&](const PythonThread& one) { return one.tid == thread.tid; }))
            rest.push_back(thread.tid);
    std::sort(rest.begin(), rest.end());
    return rest;
}

std::uint64_t worth(const LocalRow& local) {
    return local.object.retained.value_or(local.object.facts.memory);
}

/// The graph has a node for each thread that keeps something, and for each call.
void add_retained(ThreadsResult& result, const RetainedLookup& retained) {
    const HeapGraph& graph = retained.graph();
    const auto reached = [&](NodeId node) { return graph.preorder().position(node) != Preorder::none; };
    for (ThreadRow& thread : result.threads) {
        thread.retained = 0;
        for (FrameRow& frame : thread.frames) frame.retained = 0;
    }
    for (auto node = graph.root(); node < graph.node_count(); ++node) {
        if (!reached(node)) continue;
        if (graph.kind(node) == NodeKind::frame) {
            const auto [thread, frame] = graph.frame_of(node);
            result.threads[static_cast<std::size_t>(thread)]
                .frames[static_cast<std::size_t>(frame)]
                .retained = retained.memory(node);
        } else if (graph.kind(node) == NodeKind::group) {
            const Group& group = graph.groups()[graph.group_of(node)];
            if (group.kind == GroupKind::thread && group.thread >= 0)
                result.threads[static_cast<std::size_t>(group.thread)].retained = retained.memory(node);
        }
    }
}

std::optional<SignalPlace> signal_place(const CoreFile& core) {
    if (core.threads().empty() || was_alive(core.process())) return std::nullopt;
    const CoreThread& thread = core.threads().front();
    SignalPlace place;
    place.tid = thread.tid;
    place.instruction = Address(thread.instruction_pointer());
    // Below a stack lies nothing, or a page that nobody may touch.
    const auto fault = core.process().fault_address;
    const std::uint64_t stack = thread.stack_pointer();
    if (fault && fault->value - (stack - around_stack) < 2 * around_stack) {
        const Segment* segment = core.memory().find(*fault);
        place.stack_is_full = !segment || !segment->writable;
    }
    const Module* module = core.module_at(place.instruction);
    if (!module) return place;
    place.module = module->path;
    place.offset = place.instruction.value - module->load_bias;
    if (const auto symbol = core.symbol_at(*module, place.instruction)) {
        place.function = symbol_words(symbol->name);
        place.offset = symbol->offset;
    }
    return place;
}

class NativeThreads {
public:
    NativeThreads(const HeapReader& heap, KeptAnswers* answers)
        : core_(heap.core()), calls_(core_, heap.python_heap().runtime().module) {
        calls_.name_all(heap, answers);
    }

    /// Puts native calls between those of Python: what ran inside a call of the interpreter's loop stands
    /// before it.
    void add_to(ThreadRow& row) {
        const CoreThread* thread = thread_of(row.thread.tid);
        if (!thread) return;
        NativeCalls native = calls_.calls_of(*thread, row.known ? &row.thread : nullptr);
        std::vector<PythonFrame> python;
        for (const FrameRow& frame : row.frames) python.push_back(frame.frame);
        const std::vector<std::int64_t> matches =
            match_evaluations(core_.memory(), native, row.thread, python);
        std::vector<FrameRow> merged;
        merged.reserve(native.calls.size() + row.frames.size());
        std::size_t taken = 0, evaluation = 0;
        const auto take_until = [&](std::int64_t last) {
            for (; taken < row.frames.size() && row.frames[taken].frame.evaluation <= last; ++taken)
                merged.push_back(std::move(row.frames[taken]));
        };
        for (std::size_t i = 0; i < native.calls.size(); ++i) {
            NativeCall& call = native.calls[i];
            if (call.evaluates) {
                call.runs_unknown = matches[evaluation] < 0;
                call.machinery = !call.runs_unknown;
                take_until(matches[evaluation++]);
            }
            FrameRow& of = merged.emplace_back();
            of.native = std::move(call);
        }
        take_until(std::int64_t{1} << 32);
        row.frames = std::move(merged);
        row.native_end = native.end;
    }

private:
    const CoreThread* thread_of(std::optional<std::int32_t> tid) const {
        for (const CoreThread& thread : core_.threads())
            if (tid == thread.tid) return &thread;
        return nullptr;
    }

    const CoreFile& core_;
    NativeCallReader calls_;
};

void add_native(const HeapReader& heap, ThreadsResult& result, KeptAnswers* answers) {
    result.native = true;
    for (const std::int32_t tid : result.native_threads) {
        ThreadRow& row = result.threads.emplace_back();
        row.known = false;
        row.thread.tid = tid;
    }
    NativeThreads native(heap, answers);
    for (ThreadRow& row : result.threads) {
        native.add_to(row);
        for (const FrameRow& frame : row.frames) result.machinery += frame.native && frame.native->machinery;
    }
}

/// Greenlets are on no thread's chain of calls while they wait. Those that wait in the same calls, each at the same
/// line, are one row.
void add_greenlets(const HeapReader& heap, const RetainedLookup* retained, ThreadsResult& result) {
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<bool> is_type(columns.types.size());
    bool any = false;
    for (TypeId type{0}; type < columns.types.size(); ++type) {
        is_type[type] = is_greenlet(columns.types[type]);
        any = any || is_type[type];
    }
    if (!any) return;
    std::map<std::vector<std::pair<std::uint64_t, std::int32_t>>, std::size_t> rows;
    for (ObjectId object{0}; object < columns.object_count(); ++object) {
        const TypeId type = columns.type_of(object);
        if (type == no_type || !is_type[type]) continue;
        const ObjectReader reader(heap.python_heap(), columns.address_of(object), columns.types[type]);
        std::vector<PythonFrame> frames = greenlet_frames(reader);
        if (frames.empty()) continue;
        std::vector<std::pair<std::uint64_t, std::int32_t>> places;
        for (const PythonFrame& frame : frames) places.emplace_back(frame.code.value, frame.line);
        const auto [row, added] = rows.emplace(std::move(places), result.greenlets.size());
        if (added) {
            WaitingGreenlets& made = result.greenlets.emplace_back();
            made.example = reader.address();
            for (PythonFrame& frame : frames) {
                FrameRow& call = made.frames.emplace_back();
                call.called = called(frame);
                call.frame = std::move(frame);
            }
        }
        WaitingGreenlets& waiting = result.greenlets[row->second];
        ++waiting.count;
        ++result.greenlet_count;
        if (retained) waiting.retained = waiting.retained.value_or(0) + retained->memory(object);
    }
    std::stable_sort(result.greenlets.begin(), result.greenlets.end(),
                     [](const WaitingGreenlets& a, const WaitingGreenlets& b) { return a.count > b.count; });
}

/// Where a thread stands: of each call its code and line, and whether Python knows the thread. Two that differ in nothing
/// of this are told alike.
std::vector<std::pair<std::uint64_t, std::int64_t>> places_of(const ThreadRow& row) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> places;
    places.emplace_back(row.known, row.native_end ? static_cast<std::int64_t>(*row.native_end) : -1);
    for (const FrameRow& frame : row.frames)
        if (frame.native)
            places.emplace_back(frame.native->instruction.value, -1 - frame.native->line);
        else
            places.emplace_back(frame.frame.code.value, frame.frame.line);
    return places;
}

/// What tells a thread from all others is shown with it: the signal, the GIL, another interpreter.
bool may_be_one_of_many(const ThreadRow& row) {
    return !row.frames.empty() && !row.got_signal && !row.thread.gil && row.thread.interpreter == 0;
}

void find_alike(ThreadsResult& result) {
    std::map<std::vector<std::pair<std::uint64_t, std::int64_t>>, std::vector<std::size_t>> by_place;
    std::vector<const std::vector<std::size_t>*> places(result.threads.size());
    for (std::size_t i = 0; i < result.threads.size(); ++i) {
        if (!may_be_one_of_many(result.threads[i])) continue;
        std::vector<std::size_t>& rows = by_place[places_of(result.threads[i])];
        rows.push_back(i);
        places[i] = &rows;
    }
    result.alike.clear();
    for (std::size_t i = 0; i < result.threads.size(); ++i) {
        if (!places[i] || places[i]->size() < fewest_alike) {
            result.alike.push_back({{i}, result.threads[i].retained});
            continue;
        }
        if (places[i]->front() != i) continue;
        AlikeThreads& alike = result.alike.emplace_back();
        alike.rows = *places[i];
        for (const std::size_t row : alike.rows)
            if (result.threads[row].retained)
                alike.retained = alike.retained.value_or(0) + *result.threads[row].retained;
        std::stable_sort(alike.rows.begin(), alike.rows.end(), [&](std::size_t a, std::size_t b) {
            return result.threads[a].retained > result.threads[b].retained;
        });
    }
}

}  // namespace

void lay_out(ThreadsResult& result) {
    for (ThreadRow& row : result.threads) {
        result.any_has_gil = result.any_has_gil || row.thread.gil;
        row.name_is_given = !row.thread.name.empty() && row.thread.name != "MainThread";
        find_runs(row.frames);
        for (FrameRow& call : row.frames)
            if (!call.native) call.called = called(call.frame);
    }
    find_alike(result);
}

ThreadsResult threads(const HeapReader& heap, std::size_t limit, const RetainedLookup* retained, bool native,
                      KeptAnswers* answers) {
    const PythonHeap& python = heap.python_heap();
    ThreadsResult result;
    result.any_has_gil = python.runtime().free_threaded;
    result.process = heap.core().process();
    result.signal = signal_place(heap.core());
    std::vector<PythonThread> threads =
        retained ? retained->graph().root_set().threads() : python_threads(heap.core(), python);
    result.native_threads = threads_without_python(heap.core(), threads);
    for (PythonThread& thread : threads) {
        ThreadRow row;
        for (PythonFrame& frame : thread.frames) {
            FrameRow& of = row.frames.emplace_back();
            of.frame = std::move(frame);
            LocalsOfFrame(heap, python, retained, limit, of).read();
            for (const LocalRow& local : of.locals)
                if (local.object.id != no_object &&
                    (!result.largest || worth(local) > worth(result.largest->local)))
                    result.largest = {of.frame.name, local};
        }
        thread.frames.clear();
        row.thread = std::move(thread);
        result.threads.push_back(std::move(row));
    }
    if (retained) add_retained(result, *retained);
    if (native) add_native(heap, result, answers);
    add_greenlets(heap, retained, result);
    for (ThreadRow& row : result.threads)
        row.got_signal = result.signal && row.thread.tid == result.signal->tid;
    lay_out(result);
    return result;
}

}  // namespace heapsift
