#include "tests/program/suspected.h"

#include "analysis/suspects/rules.h"

#include <fmt/format.h>

#include <stdexcept>

namespace heapsift::test {

Address payload(ProgramHeap& program, int bytes) {
    return program.heap.bytes(std::string(static_cast<std::size_t>(bytes), 'x'));
}

std::vector<Address> payloads(ProgramHeap& program, int count, int bytes) {
    std::vector<Address> made;
    for (int i = 0; i < count; ++i) made.push_back(payload(program, bytes));
    return made;
}

Address bound_method(ProgramHeap& program, Address self, Address function) {
    const auto& l = program.heap.layout().method;
    const Address made = program.object(program.heap.builtin("method"));
    program.heap.set(made, l.im_func, function);
    program.heap.set(made, l.im_self, self);
    return made;
}

Address partial(ProgramHeap& program, Address function, Address argument) {
    const auto& l = program.heap.layout().partial;
    const Address made = program.object(program.heap.builtin("functools.partial"));
    program.heap.set(made, l.fn, function);
    program.heap.set(made, l.args, program.heap.tuple({argument}));
    return made;
}

Address deque(ProgramHeap& program, const std::vector<Address>& items) {
    PythonHeapBuilder& heap = program.heap;
    const Layout& l = heap.layout();
    const Address made = program.object(heap.builtin("collections.deque")),
                  block = heap.allocate(*l.deque_block.size);
    for (std::size_t i = 0; i < items.size(); ++i) heap.put(block + *l.deque_block.data + 8 * i, items[i]);
    heap.put(made + *l.var_object.ob_size, static_cast<std::int64_t>(items.size()));
    heap.set(made, l.deque.leftblock, block);
    heap.set(made, l.deque.rightblock, block);
    heap.set(made, l.deque.rightindex, static_cast<std::int64_t>(items.size()) - 1);
    return made;
}

Address weak_reference(ProgramHeap& program, Address to) {
    const Address made = program.object(program.heap.builtin("weakref"));
    program.heap.set(made, program.heap.layout().weakref.wr_object, to);
    return made;
}

Address waiting_greenlet(ProgramHeap& program, Address type, const std::string& name,
                         const ProgramHeap::Named& locals) {
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout().interpreter_frame;
    const auto& of = heap.layout().code;
    const Address made = program.object(type), block = heap.allocate(256), frame = heap.allocate(256),
                  code = program.code_using(name, "/srv/app/app.py", {});
    std::vector<Address> names;
    for (const auto& [local, value] : locals) names.push_back(heap.str(local));
    heap.set(code, of.co_nlocalsplus, static_cast<std::int32_t>(locals.size()));
    heap.set(code, of.co_localsplusnames, heap.tuple(names));
    heap.set(code, of.co_localspluskinds, heap.bytes(std::string(locals.size(), '\x20')));
    heap.set(frame, l.f_executable, code);
    heap.set(frame, l.instr_ptr, code + *of.co_code_adaptive + 2);
    heap.set(frame, l.stacktop, static_cast<std::int32_t>(locals.size()));
    for (std::size_t i = 0; i < locals.size(); ++i) heap.put(frame + *l.localsplus + 8 * i, locals[i].second);
    heap.put(made + 32, block);
    heap.put(block + 48, std::uint64_t{0x7ffc00000000});  // the machine's stack, and nothing of it was copied
    heap.put(block + 56, std::uint64_t{0x7ffc00001000});
    heap.put(block + 96, heap.object("frame", 3));
    heap.put(block + 120, frame);
    return made;
}

Address exception_type(ProgramHeap& program, const std::string& name) {
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout().exception;
    return heap.c_type(name, {.base = heap.builtin("BaseException"),
                              .basicsize = *l.size,
                              .flags = have_gc_flag | exception_subclass_flag,
                              .dictoffset = *l.dict});
}

Address exception(ProgramHeap& program, Address type, const std::vector<Address>& args,
                  const std::vector<Address>& frames) {
    PythonHeapBuilder& heap = program.heap;
    const Layout& l = heap.layout();
    const Address made = program.object(type);
    heap.set(made, l.exception.args, heap.tuple(args));
    Address next;  // the entries of a traceback lead from the outermost call to the innermost
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        const Address entry = program.object(heap.builtin("traceback"));
        heap.set(entry, l.traceback.tb_frame, *frame);
        heap.set(entry, l.traceback.tb_next, next);
        heap.set(entry, l.traceback.tb_lineno, std::int32_t{12});
        next = entry;
    }
    heap.set(made, l.exception.traceback, next);
    return made;
}

std::string sentence(const CauseWords& words) {
    std::string text;
    for (const CauseWords::Part& part : words.parts) switch (part.kind) {
            case CauseWords::Part::Kind::text:
                text += part.text;
                break;
            case CauseWords::Part::Kind::count:
                text += fmt::format("{}", part.number);
                break;
            case CauseWords::Part::Kind::bytes:
                text += fmt::format("{} bytes", part.number);
                break;
        }
    return text;
}

Suspected::Suspected(ProgramHeap& program)
    : analysed(program),
      holders_(top_holders(analysed.graph, analysed.sizes,
                           analysed.retained.memory(analysed.graph.root()) / 100, 50)) {
    for (const TopHolder& holder : holders_) causes_.push_back(find_cause(Scene(analysed.retained, holder)));
}

const Cause& Suspected::of(Address object) const {
    const NodeId node = HeapGraph::node_of(analysed.id(object));
    for (std::size_t i = 0; i < holders_.size(); ++i)
        if (!holders_[i].joint && analysed.retained.dominates(node, holders_[i].node)) return causes_[i];
    throw std::runtime_error("no holder is that object, or hangs on it");
}

const Cause& Suspected::joint() const {
    for (std::size_t i = 0; i < holders_.size(); ++i)
        if (holders_[i].joint) return causes_[i];
    throw std::runtime_error("nothing is held by several together");
}

std::string Suspected::size_of(Address object) const {
    return fmt::format("{} bytes", analysed.retained.memory(analysed.id(object)));
}

}  // namespace heapsift::test
