#pragma once

// A complete small core of CPython 3.13: the runtime with its debug offsets, one interpreter and thread, the
// collector's three generations, a pool of pymalloc, and a heap of malloc with a module, an instance and what
// they hold. It has no modules (files), so the interpreter is found by its cookie, as in a core of a
// stripped, static build.

#include "tests/cpython/python_heap_builder.h"
#include "tests/cpython/runtime_words.h"
#include "tests/elf/core_writer.h"

namespace heapsift::test {

class SmallCore {
public:
    SmallCore() : heap(*builtin_layout({3, 13, false, false})) {
        make_objects();
        make_pool();
        make_runtime();
    }

    /// `stack_pointer`: of its only thread.
    std::string bytes(Address stack_pointer = {}) {
        CoreWriter core;
        core.gcore = gcore;
        core.thread(100, 11, 0, stack_pointer.value).process(100, "python3", "python3 app.py ");
        if (!files.empty()) core.files(files);
        for (const Region& region : heap.regions()) {
            const std::uint32_t flags =
                PF_R | (region.writable ? PF_W : 0U) | (region.executable ? PF_X : 0U);
            core.load(region.start.value,
                      std::string(reinterpret_cast<const char*>(region.bytes.data()), region.bytes.size()), 0,
                      flags);
        }
        return core.bytes();
    }

    /// Frees a block of the malloc heap as free() does: the next chunk says that this one is free.
    void give_back(Address block) {
        const std::uint64_t size = heap.heap().integer<std::uint64_t>(block - 8) & ~std::uint64_t{7};
        const std::uint64_t next = heap.heap().integer<std::uint64_t>(block - 8 + size);
        heap.put(block - 16 + size, size);
        heap.put(block - 8 + size, next & ~std::uint64_t{1});
    }

    PythonHeapBuilder heap;
    bool gcore = false;          // with section headers, as gcore writes them
    std::vector<FileRow> files;  // mapped; none in most tests
    Address modules, module, module_dict, type, instance, items, text, number, freed_list;
    Address pool;
    Address kept_float, freed_float, last_float;
    Address interpreter, runtime;

private:
    void make_objects() {
        text = heap.str("a line of text");
        number = heap.integer(123456789);
        type = heap.python_class("Point", {.attributes = {"x"}});
        instance = heap.object(type);
        const auto& values = heap.layout().dict_values;
        heap.set(instance + 16, values.capacity, std::uint8_t{5});
        heap.set(instance + 16, values.embedded, std::uint8_t{1});
        heap.set(instance + 16, values.valid, std::uint8_t{1});
        heap.put(instance + 16 + *values.values, number);
        freed_list = heap.list({});
        items = heap.list({text, instance});
        module_dict = heap.dict(
            {{heap.str("__name__"), heap.str("app")}, {heap.str("items"), items}, {heap.str("Point"), type}});
        module = heap.object("module");
        heap.set(module, heap.layout().module.md_dict, module_dict);
        modules = heap.dict({{heap.str("app"), module}});
        give_back(freed_list - 16);
    }

    void make_pool() {
        const auto& l = heap.layout().pool_header;
        pool = heap.map(Address(0x7d0000000000), 16384);
        const Address float_type = heap.builtin("float");
        heap.set(pool, l.ref_count, std::uint32_t{2});
        heap.set(pool, l.szidx, std::uint32_t{1});
        heap.set(pool, l.nextoffset, std::uint32_t{48 + 3 * 32});
        heap.set(pool, l.maxnextoffset, std::uint32_t{16384 - 32});
        kept_float = pool + 48;
        freed_float = pool + 48 + 32;
        last_float = pool + 48 + 64;
        for (const Address at : {kept_float, freed_float, last_float}) {
            heap.put(at, std::uint64_t{1});
            heap.put(at + 8, float_type);
            heap.put(at + 16, 0.5);
        }
        // The free list overwrites the count; the type remains.
        heap.put(freed_float, Address());
        heap.set(pool, l.freeblock, freed_float);
    }

    void make_runtime() {
        const Layout& l = heap.layout();
        runtime = heap.map(Address(0x555600000000), 8192);
        interpreter = heap.map(Address(0x555700000000), (*l.interpreter_state.size + 4095) / 4096 * 4096);
        const Address thread = heap.map(Address(0x555800000000), 4096);
        const Address empty = heap.dict({});
        heap.set(runtime, l.runtime_state.interpreters_head, Address());
        put_runtime(heap, runtime, interpreter, thread);
        heap.set(interpreter, l.interpreter_state.modules, modules);
        heap.set(interpreter, l.interpreter_state.sysdict, empty);
        heap.set(interpreter, l.interpreter_state.builtins, empty);
        const Address gc = interpreter + *l.interpreter_state.gc;
        heap.set(gc, l.gc_state.generation0, gc + *l.gc_state.generations);
        for (std::uint64_t i = 0; i < 3; ++i)
            link(gc + *l.gc_state.generations + i * *l.gc_generation.size,
                 i == 2 ? std::vector{items, module_dict} : std::vector<Address>{});
        link(gc + *l.gc_state.permanent_generation, {});
    }

    /// Makes a list of the collector: the head, and the headers of `objects`.
    void link(Address head, const std::vector<Address>& objects) {
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
};

}  // namespace heapsift::test
