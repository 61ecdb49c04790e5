// Threads with frames, and each frame's slots as named objects.

#include "analysis/threads.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t longest_name = 200;

class LocalsOfFrame {
public:
    LocalsOfFrame(const HeapSnapshot& heap, const PythonHeap& python, std::size_t limit, FrameRow& row)
        : heap_(heap), python_(python), limit_(limit), row_(row) {}

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
        local.name = python_.unicode_text(name, longest_name).value_or("?");
        local.cell = cell;
        const ObjectId object = heap_.find(value);
        if (object != no_object)
            local.object = object_row(heap_, object);
        else
            local.object.address = value;
        row_.locals.push_back(std::move(local));
    }

    const HeapSnapshot& heap_;
    const PythonHeap& python_;
    std::size_t limit_;
    FrameRow& row_;
};

std::vector<std::int32_t> threads_without_python(const CoreFile& core, const std::vector<PythonThread>& threads) {
    std::vector<std::int32_t> rest;
    for (const CoreThread& thread : core.threads())
        if (std::none_of(threads.begin(), threads.end(), [&](const PythonThread& one) { return one.tid == thread.tid; }))
            rest.push_back(thread.tid);
    std::sort(rest.begin(), rest.end());
    return rest;
}

}  // namespace

ThreadsResult list_threads(const HeapSnapshot& heap, std::size_t limit) {
    const PythonHeap python(heap.core().memory(), heap.python(), heap.types());
    ThreadsResult result;
    std::vector<PythonThread> threads = python_threads(heap.core(), python);
    result.native_threads = threads_without_python(heap.core(), threads);
    for (PythonThread& thread : threads) {
        ThreadRow row;
        for (PythonFrame& frame : thread.frames) {
            FrameRow& of = row.frames.emplace_back();
            of.frame = std::move(frame);
            LocalsOfFrame(heap, python, limit, of).read();
            for (const LocalRow& local : of.locals)
                if (local.object.id != no_object &&
                    (!result.largest || local.object.facts.memory > result.largest->local.object.facts.memory))
                    result.largest = {of.frame.name, local};
        }
        thread.frames.clear();
        row.thread = std::move(thread);
        result.threads.push_back(std::move(row));
    }
    return result;
}

}  // namespace heapsift
