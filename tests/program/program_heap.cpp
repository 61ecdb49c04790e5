// The interpreter's state, written from pycore_interp.h, pycore_frame.h and pycore_gc.h of 3.13.

#include "tests/program/program_heap.h"

#include "tests/cpython/runtime_words.h"

#include "parsers/snapshot/reference_graph.h"
#include "tests/elf/core_writer.h"

#include <algorithm>
#include <stdexcept>

namespace heapsift::test {
namespace {

constexpr std::int32_t main_thread = 100;
constexpr std::uint64_t first_thread_id = 0x7f0012345640;

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
    own().tracked.push_back(object);
    return object;
}

Address ProgramHeap::python_class(const std::string& name, const std::vector<std::string>& attributes) {
    return class_with(name, {.slots = attributes});
}

Address ProgramHeap::class_with(const std::string& name, const ClassOptions& options) {
    return tracked(heap.python_class(name, options));
}

Address ProgramHeap::instance(Address type, const std::vector<Address>& values) {
    const Address object = tracked(heap.object(type));
    for (std::size_t slot = 0; slot < values.size(); ++slot) set_slot(object, slot, values[slot]);
    return object;
}

// The values lie behind the instance, in its own block.
Address ProgramHeap::instance_with(Address type, const std::vector<Address>& attributes) {
    const auto& l = heap.layout().dict_values;
    const Address object = tracked(heap.object(type)), values = object + 16;
    heap.set(values, l.capacity, static_cast<std::uint8_t>(attributes.size()));
    heap.set(values, l.embedded, std::uint8_t{1});
    heap.set(values, l.valid, std::uint8_t{1});
    for (std::size_t i = 0; i < attributes.size(); ++i) heap.put(values + *l.values + 8 * i, attributes[i]);
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

Address ProgramHeap::dict_of(const Entries& items) {
    KeysOptions keys = keys_for(items.size());
    keys.general = true;
    return tracked(heap.dict(items, keys));
}

Address ProgramHeap::cell(Address value) {
    cells_.push_back(object(heap.builtin("cell")));
    heap.set(cells_.back(), heap.layout().cell.ob_ref, value);
    return cells_.back();
}

Address ProgramHeap::generator(const std::string& name, const Named& locals, const std::string& type) {
    const auto& l = heap.layout().generator;
    const Address made = tracked(heap.object(type, static_cast<std::int64_t>(locals.size() + 2)));
    const Address frame = made + *l.gi_iframe;
    fill_frame(frame, code(name, locals), locals);
    heap.set(frame, heap.layout().interpreter_frame.owner, std::uint8_t{1});  // FRAME_OWNED_BY_GENERATOR
    heap.set(made, l.gi_frame_state, std::int8_t{-2});                        // FRAME_SUSPENDED
    heap.set(made, l.gi_name, heap.str(name));
    heap.set(made, l.gi_qualname, heap.str(name));
    return made;
}

Address ProgramHeap::frame_object(const std::string& name, const Named& locals) {
    const Address made = tracked(heap.object("frame", static_cast<std::int64_t>(locals.size() + 2)));
    const Address frame = made + *heap.layout().frame.f_frame_data;
    fill_frame(frame, code(name, locals), locals);
    heap.set(frame, heap.layout().interpreter_frame.owner, std::uint8_t{2});  // FRAME_OWNED_BY_FRAME_OBJECT
    heap.set(made, heap.layout().frame.f_frame, frame);
    return made;
}

Address ProgramHeap::function(const std::string& name, const Named& closure) {
    const auto& l = heap.layout().function;
    Address& its_code = code_of_functions_[name];
    if (its_code.is_null()) {
        // An argument comes before the free variables.
        Named locals = {{"argument", Address()}};
        locals.insert(locals.end(), closure.begin(), closure.end());
        its_code = code(name, locals);
        heap.set(its_code, heap.layout().code.co_nfreevars, static_cast<std::int32_t>(closure.size()));
    }
    std::vector<Address> cells;
    for (const auto& [variable, value] : closure) cells.push_back(value);
    const Address made = tracked(heap.object("function"));
    heap.set(made, l.func_code, its_code);
    heap.set(made, l.func_qualname, heap.str(name));
    if (!cells.empty()) heap.set(made, l.func_closure, heap.tuple(cells));
    return made;
}

Address ProgramHeap::module(const std::string& name, const std::string& file, const Named& globals) {
    Named items = {{"__name__", heap.str(name)}};
    if (!file.empty()) items.emplace_back("__file__", heap.str(file));
    items.insert(items.end(), globals.begin(), globals.end());
    const Address module_dict = dict(items);
    const Address made = object(heap.builtin("module"));
    heap.set(made, heap.layout().module.md_dict, module_dict);
    own().modules.emplace_back(name, made);
    return module_dict;
}

Address ProgramHeap::code(const std::string& name, const Named& locals) {
    const auto& l = heap.layout().code;
    const Address code = heap.object("code", 16);
    std::vector<Address> names;
    std::string kinds;
    for (const auto& [local, value] : locals) {
        names.push_back(heap.str(local));
        const bool cell = std::find(cells_.begin(), cells_.end(), value) != cells_.end();
        kinds += cell ? '\x40' : '\x20';  // CO_FAST_CELL, CO_FAST_LOCAL
    }
    heap.set(code, l.co_name, heap.str(name));
    heap.set(code, l.co_qualname, heap.str(name));
    heap.set(code, l.co_filename, heap.str("/srv/app/app.py"));
    heap.set(code, l.co_firstlineno, std::int32_t{10});
    heap.set(code, l.co_nlocals, static_cast<std::int32_t>(locals.size()));
    heap.set(code, l.co_nlocalsplus, static_cast<std::int32_t>(locals.size()));
    heap.set(code, l.co_stacksize, std::int32_t{2});
    heap.set(code, l.co_consts, heap.tuple({heap.none()}));
    heap.set(code, l.co_names, heap.tuple({}));
    heap.set(code, l.co_localsplusnames, heap.tuple(names));
    heap.set(code, l.co_localspluskinds, heap.bytes(kinds));
    heap.set(code, l.co_linetable, heap.bytes(""));
    own().codes.push_back(code);
    return code;
}

Address ProgramHeap::code_using(const std::string& name, const std::string& file,
                                const std::vector<std::string>& names) {
    const Address made = code(name, {});
    std::vector<Address> used;
    for (const std::string& one : names) used.push_back(heap.str(one));
    heap.set(made, heap.layout().code.co_filename, heap.str(file));
    heap.set(made, heap.layout().code.co_names, heap.tuple(used));
    return made;
}

void ProgramHeap::fill_frame(Address frame, Address code, const Named& locals) {
    const auto& l = heap.layout().interpreter_frame;
    heap.set(frame, l.f_executable, code);
    heap.set(frame, l.instr_ptr, code + *heap.layout().code.co_code_adaptive + 2);
    heap.set(frame, l.owner, std::uint8_t{0});  // FRAME_OWNED_BY_THREAD
    heap.set(frame, l.stacktop, static_cast<std::int32_t>(locals.size()));
    for (std::size_t i = 0; i < locals.size(); ++i) heap.put(frame + *l.localsplus + 8 * i, locals[i].second);
}

void ProgramHeap::add_frame(Address frame) {
    std::vector<Address>& frames = threads_.back().frames;
    if (!frames.empty()) heap.set(frame, heap.layout().interpreter_frame.previous, frames.back());
    frames.push_back(frame);
}

Address ProgramHeap::call(const std::string& name, const Named& locals, const std::string& file) {
    const Address frame =
        heap.allocate(*heap.layout().interpreter_frame.localsplus + 8 * (locals.size() + 2));
    const Address its_code = code(name, locals);
    heap.set(its_code, heap.layout().code.co_filename, heap.str(file));
    fill_frame(frame, its_code, locals);
    add_frame(frame);
    return its_code;
}

void ProgramHeap::run_body(const std::string& name, Address names) {
    const auto& l = heap.layout().interpreter_frame;
    const Address frame = heap.allocate(*l.localsplus + 16);
    fill_frame(frame, code(name, {}), {});
    heap.set(frame, l.f_locals, names);
    add_frame(frame);
}

void ProgramHeap::freeze(Address object) {
    std::erase(own().tracked, object);
    own().frozen.push_back(object);
}

void ProgramHeap::add_all_kinds() {
    const Address node = python_class("Node", {"next", "other"});
    const Address first = instance(node), second = instance(node);
    set_slot(first, 0, second);
    set_slot(second, 0, first);
    leak(list({heap.real(1.5)}), 1);
    module("app", "/srv/app/app.py", {{"ROWS", list({instance(node), heap.real(2.5)})}});
    call("main", {{"rows", list({})}});
    hold_natively(list({heap.real(3.5)}));
    collector_garbage({list({})});
    freeze(list({}));
}

Address ProgramHeap::hold_natively(Address object) {
    const Address mapping = heap.map(Address(0x7e0000000000 + 0x10000 * native_holders_++), 4096);
    heap.put(mapping + 64, object);
    return mapping + 64;
}

Address ProgramHeap::hold_in_library(Address object, const std::string& path) {
    const Address word = hold_natively(object);
    libraries_.push_back({word - 64, path});
    return word;
}

Address ProgramHeap::hold_on_stack(Address object) {
    const Address word = hold_natively(object);
    threads_.back().stack = word - 64;
    return word;
}

// In a place of the interpreter's state that nothing else of a test uses; layouts do not say where it is.
void ProgramHeap::call_at_exit(const std::vector<std::pair<Address, Address>>& callbacks) {
    const Address array = heap.allocate(8 * callbacks.size() + 64);
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
        const Address callback = heap.allocate(24);
        heap.put(callback, callbacks[i].first);
        heap.put(callback + 8, callbacks[i].second);
        heap.put(array + 8 * i, callback);
    }
    const Address state = interpreter + *heap.layout().interpreter_state.size / 8 * 8 - 256;
    heap.put(state, array);
    heap.put(state + 8, static_cast<std::int32_t>(callbacks.size()));
    heap.put(state + 12, static_cast<std::int32_t>(callbacks.size() + 8));
}

void ProgramHeap::handle_signal(std::uint64_t number, Address handler) {
    const Address table = runtime_ + 4096, as_usual = heap.integer(0);
    for (std::uint64_t one = 1; one < 65; ++one)
        heap.put(table + 16 * one + 8, one == number ? handler : as_usual);
}

void ProgramHeap::make_runtime() {
    const Layout& l = heap.layout();
    runtime_ = heap.map(Address(0x555600000000), 8192);
    interpreter = heap.map(Address(0x555700000000), (*l.interpreter_state.size + 4095) / 4096 * 4096);
    thread = heap.map(Address(0x555800000000), 4096);
    put_runtime(heap, runtime_, interpreter, thread);
    interpreters_.push_back({.state = interpreter});
    add_thread(thread, "MainThread");
}

void ProgramHeap::add_thread(Address state, const std::string& name) {
    const auto& l = heap.layout().thread_state;
    const auto number = static_cast<std::int32_t>(threads_.size());
    heap.set(state, l.interp, own().state);
    heap.set(state, l.thread_id, first_thread_id + 0x10000 * static_cast<std::uint64_t>(number));
    heap.set(state, l.native_thread_id, static_cast<std::uint64_t>(main_thread + number));
    threads_.push_back({.state = state, .name = name, .tid = main_thread + number});
}

void ProgramHeap::start_thread(const std::string& name) {
    const Layout& l = heap.layout();
    const Address state = heap.map(thread + 0x10000 * threads_.size(), 4096), interp = own().state;
    // The newest comes first.
    heap.set(state, l.thread_state.next, threads_.back().state);
    heap.set(interp, l.interpreter_state.threads_head, state);
    add_thread(state, name);
}

void ProgramHeap::start_interpreter() {
    const auto& l = heap.layout().interpreter_state;
    const std::size_t number = interpreters_.size();
    const Address state = heap.map(interpreter + 0x10000000 * number, (*l.size + 4095) / 4096 * 4096),
                  first = heap.map(thread + 0x10000 * threads_.size(), 4096);
    heap.set(interpreters_.back().state, l.next, state);
    heap.set(state, l.id, static_cast<std::int64_t>(number));
    heap.set(state, l.threads_head, first);
    interpreters_.push_back({.state = state});
    own_ = number;
    add_thread(first, "");
}

// threading._active, as the first interpreter has it.
void ProgramHeap::name_threads() {
    const Address type = class_with("Thread", {.module = "threading", .attributes = {"_name"}});
    Entries active;
    for (std::size_t i = 0; i < threads_.size(); ++i)
        if (!threads_[i].name.empty())
            active.emplace_back(heap.integer(static_cast<std::int64_t>(first_thread_id + 0x10000 * i)),
                                instance_with(type, {heap.str(threads_[i].name)}));
    module("threading", "/usr/lib/python3.13/threading.py", {{"Thread", type}, {"_active", dict_of(active)}});
}

void ProgramHeap::finish() {
    finished_ = true;
    own_ = 0;
    if (std::any_of(threads_.begin() + 1, threads_.end(), [](const Thread& t) { return !t.name.empty(); }))
        name_threads();
    for (const Thread& each : threads_)
        if (!each.frames.empty())
            heap.set(each.state, heap.layout().thread_state.current_frame, each.frames.back());
    for (own_ = 0; own_ < interpreters_.size(); ++own_) finish_interpreter();
    count_references();
}

void ProgramHeap::finish_interpreter() {
    const Layout& l = heap.layout();
    Interpreter& made = own();
    heap.set(made.state, l.interpreter_state.sysdict, dict({}));
    // Functions keep their code when they are not called.
    heap.set(made.state, l.interpreter_state.builtins, dict({{"functions", list(made.codes)}}));
    heap.set(made.state, l.interpreter_state.modules, dict(made.modules));
    if (made.garbage.is_null()) made.garbage = list({});
    const Address gc = made.state + *l.interpreter_state.gc;
    heap.set(gc, l.gc_state.garbage, made.garbage);
    heap.set(gc, l.gc_state.enabled, std::int32_t{1});
    heap.set(gc, l.gc_state.generation0, gc + *l.gc_state.generations);
    for (std::uint64_t i = 0; i < 3; ++i)
        link(gc + *l.gc_state.generations + i * *l.gc_generation.size,
             i == 2 ? made.tracked : std::vector<Address>{});
    link(gc + *l.gc_state.permanent_generation, made.frozen);
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
        heap.put(address, static_cast<std::int64_t>(roomy.snapshot().references->found(object)) +
                              (leaked == leaked_.end() ? 0 : leaked->second));
    }
}

std::string ProgramHeap::write() {
    CoreWriter core;
    for (const Thread& one : threads_) {
        const bool main = one.tid == main_thread;
        core.thread(one.tid, main ? 11 : 0, 0, one.stack.is_null() ? 0 : (one.stack + 32).value);
        if (main) core.process(main_thread, "python3", "python3 app.py ");
    }
    std::vector<FileRow> files;
    for (const Library& library : libraries_)
        files.push_back({library.start.value, library.start.value + 4096, 0, library.path});
    if (!files.empty()) core.files(files);
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
    if (object == no_object) throw std::runtime_error("no object was found there");
    return object;
}

std::string Analysed::group(Address address) const {
    const GroupId group = retained.group(id(address));
    return group == no_group ? "several" : graph.groups()[group].name;
}

}  // namespace heapsift::test
