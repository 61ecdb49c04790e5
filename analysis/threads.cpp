// Threads with frames, and each frame's slots as named objects.

#include "analysis/threads.h"

#include "analysis/objects.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t longest_local_name = 200;
// of consecutive calls of one function at one line, this many are written out
constexpr std::size_t shown_of_a_run = 3;

bool is_same_place(const FrameRow& a, const FrameRow& b) {
    return a.frame.code == b.frame.code && a.frame.line == b.frame.line;
}

/// Of a run the first two calls and the last are shown, outermost first.
void find_runs(std::vector<FrameRow>& frames) {
    std::size_t run = 0;  // calls before this one, of the same function at the same line
    for (std::size_t i = frames.size(); i-- > 0;) {
        run = i + 1 < frames.size() && is_same_place(frames[i], frames[i + 1]) ? run + 1 : 0;
        const bool goes_on = i > 0 && is_same_place(frames[i], frames[i - 1]);
        frames[i].in_run = run >= shown_of_a_run - 1 && goes_on;
        frames[i].run_before = !frames[i].in_run && run >= shown_of_a_run ? run - shown_of_a_run + 1 : 0;
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
    for (auto node = static_cast<NodeId>(graph.object_count()); node < graph.node_count(); ++node) {
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

}  // namespace

void lay_out(ThreadsResult& result) {
    for (ThreadRow& row : result.threads) {
        result.any_has_gil = result.any_has_gil || row.thread.gil;
        row.name_is_given = !row.thread.name.empty() && row.thread.name != "MainThread";
        find_runs(row.frames);
        // Code outside functions is called "<module>", "<lambda>".
        for (FrameRow& call : row.frames)
            call.called = call.frame.name.ends_with('>') ? call.frame.name : call.frame.name + "()";
    }
}

ThreadsResult threads(const HeapReader& heap, std::size_t limit, const RetainedLookup* retained) {
    const PythonHeap& python = heap.python_heap();
    ThreadsResult result;
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
    lay_out(result);
    return result;
}

}  // namespace heapsift
