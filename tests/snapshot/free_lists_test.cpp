// Dead objects that are kept for reuse, and are visited all the same: they are not what something has
// overwritten.

#include "parsers/emulation/machine.h"
#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/reference_graph.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A C module that visits the free list in its state, as _asyncio does.
struct FreeListCore : SmallCore {
    explicit FreeListCore(std::uint64_t type_flags) {
        const Layout& l = heap.layout();
        its_type = heap.c_type("lib.Iter", {.basicsize = 32, .flags = type_flags});
        const Address definition = heap.allocate_static(*l.module_def.m_size + 64);
        heap.set(definition, l.module_def.m_size, std::int64_t{16});
        heap.put(definition + *l.module_def.m_traverse, heap.code_address());
        c_module = heap.object("module");
        state = heap.allocate(16);
        heap.set(c_module, l.module.md_def, definition);
        heap.set(c_module, l.module.md_state, state);
        heap.put(heap.builtin("module") + *l.type.tp_traverse, traverse());
        for (int i = 0; i < 3; ++i) {
            dead.push_back(heap.object(its_type));
            heap.put(dead.back(), std::int64_t{0});
            if (i > 0) heap.put(dead[dead.size() - 2] + 16, dead.back());
        }
        heap.put(state + 8, dead.front());
    }

    std::uint64_t dangling() {
        heap.allocate_static(4096);  // only whole pages are seen by code
        heap.allocate(4096);
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        const CoreHeap reader = CoreHeap::open(
            CoreFile::open(directory.write("core", bytes()), {}, diagnostics), all_columns, diagnostics);
        const ReferenceGraph& references = *reader.snapshot().references;
        const auto& first = references.first_dangling();
        first_target = first ? first->target : Address();
        for (const Address one : dead) CHECK(reader.snapshot().find(one) == no_object);
        REQUIRE(reader.snapshot().find(c_module) != no_object);
        return references.dangling();
    }

    Address its_type, c_module, state, first_target;
    std::vector<Address> dead;

private:
    /// state = module->md_state; if (state) for (o = state->head; o; o = o->next) visit(o, arg); return 0
    Address traverse() {
        const std::vector<int> code{
            0x53, 0x55, 0x41, 0x54,                          // push rbx, rbp, r12
            0x48, 0x89, 0xf5, 0x49, 0x89, 0xd4,              // mov rbp, rsi; mov r12, rdx
            0x48, 0x8b, 0x5f, 0x20,                          // mov rbx, [rdi + md_state]
            0x48, 0x85, 0xdb, 0x74, 0x17,                    // test rbx, rbx; jz end
            0x48, 0x8b, 0x5b, 0x08,                          // mov rbx, [rbx + 8]
            0x48, 0x85, 0xdb, 0x74, 0x0e,                    // next: test rbx, rbx; jz end
            0x48, 0x89, 0xdf, 0x4c, 0x89, 0xe6, 0xff, 0xd5,  // mov rdi, rbx; mov rsi, r12; call rbp
            0x48, 0x8b, 0x5b, 0x10, 0xeb, 0xed,              // mov rbx, [rbx + 16]; jmp next
            0x31, 0xc0, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};       // end: xor eax, eax; pop r12, rbp, rbx; ret
        const Address at = heap.code_address() + 64;
        for (std::size_t i = 0; i < code.size(); ++i) heap.put(at + i, static_cast<std::uint8_t>(code[i]));
        return at;
    }
};

}  // namespace

TEST_CASE("free lists: what only a C module's state leads to, of the module's own type, is not overwritten",
          "[snapshot][graph]") {
    if (!can_emulate()) return;
    FreeListCore core(test::heap_type_flag | test::have_gc_flag);
    SECTION("the module visits all of them") { CHECK(core.dangling() == 0); }
    SECTION("a list holds one: it was given back too often") {
        (void)core.heap.list({core.dead[1]});
        CHECK(core.dangling() == 2);
        CHECK(core.first_target == core.dead[1]);
    }
    SECTION("the block of one is free") {
        core.give_back(core.dead[1] - 16);
        CHECK(core.dangling() == 1);
        CHECK(core.first_target == core.dead[1]);
    }
}

TEST_CASE("free lists: no module has one of a static type, whose dead objects the interpreter keeps",
          "[snapshot][graph]") {
    if (!can_emulate()) return;
    FreeListCore core(test::have_gc_flag);
    CHECK(core.dangling() == 3);
}
