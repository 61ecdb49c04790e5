// The interpreter's state, written from pycore_interp.h, pycore_frame.h and pycore_gc.h of 3.13.

#include "tests/program/program_heap.h"

#include "tests/cpython/runtime_words.h"

#include "parsers/snapshot/reference_graph.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

#include <stdexcept>

namespace heapsift::test {
namespace {

constexpr std::uint64_t main_thread = 100;

KeysOptions keys_for(std::size_t entries) {
    KeysOptions options;
    while ((std::size_t{2} << options.log2_size) / 3 < entries) ++options.log2_size;
    return options;
}

CoreHeap opened(const TemporaryDirectory& directory, const std::string& bytes, Diagnostics& diagnostics) {
    return CoreHeap::open(CoreFile::open(directory.write("core", bytes), {}, diagnostics), all_columns,
                          diagnostics);
}

}  // namespace

ProgramHeap::ProgramHeap() : heap(*builtin_layout({3, 13, false, false})) {
    make_runtime();
    // The path of os.py tells which modules belong to the library.
    module("os", "/usr/lib/python3.13/os.py", {});
}

Address ProgramHeap::tracked(Address object) {
    tracked_.push_back(object);
    return object;
}

Address ProgramHeap::python_class(const std::string& name, const std::vector<std::string>& attributes) {
    return tracked(heap.python_class(name, {.slots = attributes}));
}

Address ProgramHeap::instance(Address type, const std::vector<Address>& values) {
    const Address object = tracked(heap.object(type));
    for (std::size_t slot = 0; slot < values.size(); ++slot) set_slot(object, slot, values[slot]);
    return object;
}

void ProgramHeap::set_slot(Address instance, std::size_t slot, Address value) {
    heap.put(instance + 16 + 8 * slot, value);
}

Address ProgramHeap::list(const std::vector<Address>& items) { return tracked(heap.list(items)); }

Address ProgramHeap::dict(const Named& items) {
    Entries entries;
    for (const auto& [key, value] : items) entries.emplace_back(heap.str(key), value);
    return tracked(heap.dict(entries, keys_for(entries.size())));
}

Address ProgramHeap::module(const std::string& name, const std::string& file, const Named& globals) {
    Named items = {{"__name__", heap.str(name)}, {"__file__", heap.str(file)}};
    items.insert(items.end(), globals.begin(), globals.end());
    const Address module_dict = dict(items);
    const Address object = tracked(heap.object("module"));
    heap.set(object, heap.layout().module.md_dict, module_dict);
    modules_.emplace_back(name, object);
    return module_dict;
}

void ProgramHeap::call(const std::string& name, const Named& locals) {
    const Layout& l = heap.layout();
    const Address code = heap.object("code", 16);
    std::vector<Address> names;
    for (const auto& local : locals) names.push_back(heap.str(local.first));
    heap.set(code, l.code.co_name, heap.str(name));
    heap.set(code, l.code.co_qualname, heap.str(name));
    heap.set(code, l.code.co_filename, heap.str("/srv/app/app.py"));
    heap.set(code, l.code.co_firstlineno, std::int32_t{10});
    heap.set(code, l.code.co_nlocals, static_cast<std::int32_t>(locals.size()));
    heap.set(code, l.code.co_nlocalsplus, static_cast<std::int32_t>(locals.size()));
    heap.set(code, l.code.co_stacksize, std::int32_t{2});
    heap.set(code, l.code.co_localsplusnames, heap.tuple(names));
    heap.set(code, l.code.co_localspluskinds, heap.bytes(std::string(locals.size(), '\x20')));
    heap.set(code, l.code.co_linetable, heap.bytes(""));
    const Address frame = heap.allocate(*l.interpreter_frame.localsplus + 8 * (locals.size() + 2));
    heap.set(frame, l.interpreter_frame.f_executable, code);
    heap.set(frame, l.interpreter_frame.instr_ptr, code + *l.code.co_code_adaptive + 2);
    heap.set(frame, l.interpreter_frame.owner, std::uint8_t{0});  // FRAME_OWNED_BY_THREAD
    heap.set(frame, l.interpreter_frame.stacktop, static_cast<std::int32_t>(locals.size()));
    for (std::size_t i = 0; i < locals.size(); ++i)
        heap.put(frame + *l.interpreter_frame.localsplus + 8 * i, locals[i].second);
    if (!frames_.empty()) heap.set(frame, l.interpreter_frame.previous, frames_.back());
    frames_.push_back(frame);
}

void ProgramHeap::collector_garbage(const std::vector<Address>& objects) { garbage_ = list(objects); }

void ProgramHeap::hold_natively(Address object) {
    const Address mapping = heap.map(Address(0x7e0000000000 + 0x10000 * native_holders_++), 4096);
    heap.put(mapping + 64, object);
}

void ProgramHeap::make_runtime() {
    const Layout& l = heap.layout();
    runtime_ = heap.map(Address(0x555600000000), 8192);
    interpreter = heap.map(Address(0x555700000000), (*l.interpreter_state.size + 4095) / 4096 * 4096);
    thread = heap.map(Address(0x555800000000), 4096);
    put_runtime(heap, runtime_, interpreter, thread);
    heap.set(thread, l.thread_state.thread_id, std::uint64_t{0x7f0012345640});
    heap.set(thread, l.thread_state.native_thread_id, main_thread);
}

void ProgramHeap::finish() {
    const Layout& l = heap.layout();
    heap.set(interpreter, l.interpreter_state.sysdict, dict({}));
    heap.set(interpreter, l.interpreter_state.builtins, dict({}));
    heap.set(interpreter, l.interpreter_state.modules, dict(modules_));
    if (!frames_.empty()) heap.set(thread, l.thread_state.current_frame, frames_.back());
    if (garbage_.is_null()) garbage_ = list({});
    const Address gc = interpreter + *l.interpreter_state.gc;
    heap.set(gc, l.gc_state.garbage, garbage_);
    heap.set(gc, l.gc_state.enabled, std::int32_t{1});
    heap.set(gc, l.gc_state.generation0, gc + *l.gc_state.generations);
    for (std::uint64_t i = 0; i < 3; ++i)
        link(gc + *l.gc_state.generations + i * *l.gc_generation.size,
             i == 2 ? tracked_ : std::vector<Address>{});
    link(gc + *l.gc_state.permanent_generation, {});
    finished_ = true;
    count_references();
}

/// Makes a list of the collector: the head, and the headers of `objects`.
void ProgramHeap::link(Address head, const std::vector<Address>& objects) {
    const auto& l = heap.layout().gc_head;
    Address previous = head;
    for (const Address object : objects) {
        heap.set(previous, l.next, object - 16);
        heap.set(object - 16, l.prev, previous);
        previous = object - 16;
    }
    heap.set(previous, l.next, head);
    heap.set(head, l.prev, previous);
}

void ProgramHeap::count_references() {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    // Counts with room show what C code holds, so at first there is a lot of room.
    constexpr std::int64_t room = 1000;
    const CoreHeap first = opened(directory, write(), diagnostics);
    for (ObjectId object{0}; object < first.snapshot().object_count(); ++object)
        if (!first.facts(object).immortal) heap.put(first.snapshot().address_of(object), room);
    const CoreHeap roomy = opened(directory, write(), diagnostics);
    for (ObjectId object{0}; object < roomy.snapshot().object_count(); ++object) {
        if (roomy.facts(object).immortal) continue;
        const Address address = roomy.snapshot().address_of(object);
        const auto leaked = leaked_.find(address.value);
        heap.put(address, std::int64_t{roomy.snapshot().references->found(object)} +
                              (leaked == leaked_.end() ? 0 : leaked->second));
    }
}

std::string ProgramHeap::write() {
    CoreWriter core;
    core.thread(static_cast<std::int32_t>(main_thread), 11).process(100, "python3", "python3 app.py ");
    for (const Region& region : heap.regions()) {
        const std::uint32_t flags = PF_R | (region.writable ? PF_W : 0U) | (region.executable ? PF_X : 0U);
        core.load(region.start.value,
                  std::string(reinterpret_cast<const char*>(region.bytes.data()), region.bytes.size()), 0,
                  flags);
    }
    return core.bytes();
}

std::string ProgramHeap::bytes() {
    if (!finished_) finish();
    return write();
}

Analysed::Analysed(ProgramHeap& program)
    : heap(opened(directory, program.bytes(), diagnostics)),
      graph(heap),
      sizes(retained_sizes(graph)),
      retained(graph, sizes) {}

ObjectId Analysed::id(Address address) const {
    const ObjectId object = heap.snapshot().find(address);
    REQUIRE(object != no_object);
    return object;
}

std::string Analysed::group(Address address) const {
    const GroupId group = retained.group(id(address));
    return group == no_group ? "several" : graph.groups()[group].name;
}

}  // namespace heapsift::test
