// From the bytes of a core to objects: which are alive and what proves it, which are freed and must not
// appear, sizes with the headers that sys.getsizeof adds, names of references as people read them, and what
// is at an address.

#include "parsers/reading/core_heap.h"

#include "parsers/base/error.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/thread_stacks.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

CoreHeap open_bytes(const TemporaryDirectory& directory, const std::string& bytes, Diagnostics& diagnostics) {
    return CoreHeap::open(CoreFile::open(directory.write("core", bytes), {}, diagnostics), all_columns,
                          diagnostics);
}

struct Opened {
    SmallCore core;
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);

    ObjectId id(Address address) const { return reader.snapshot().find(address); }
    std::vector<std::string> names(Address address) const {
        std::vector<std::string> found;
        reader.visit_references(id(address), [&](const Reference& r) { found.push_back(r.name()); });
        return found;
    }
};

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("snapshot: the interpreter is found by its cookie, and proved", "[snapshot]") {
    const Opened opened;
    const PythonRuntime& python = opened.reader.snapshot().python;
    CHECK(python.version.text() == "3.13.1");
    CHECK(python.runtime == opened.core.runtime);
    REQUIRE(python.interpreters.size() == 1);
    CHECK(python.interpreters[0].address == opened.core.interpreter);
    CHECK(python.interpreters[0].modules == opened.core.modules);
    CHECK(python.interpreters[0].threads.size() == 1);
    for (const LayoutCheck& check : python.checks) {
        INFO(check.what);
        // this core's types have no numbers
        CHECK(check.passed == (check.what != "static types find their state"));
    }
    // The core's own offset of the interpreters, which differs from the table's.
    CHECK(*python.layout.runtime_state.interpreters_head == 4096);
}

TEST_CASE(
    "snapshot: a runtime that claims another version than its file's name is not read, and both are told",
    "[snapshot]") {
    SmallCore core;
    core.files = {{core.runtime.value, core.runtime.value + 8192, 0, "/usr/lib/libpython3.13.so.1.0"}};
    core.heap.put(core.runtime + 8, std::uint64_t{0x030600f0});
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const auto said = [&] {
        try {
            open_bytes(directory, core.bytes(), diagnostics);
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK_THAT(said(),
               ContainsSubstring(
                   "its runtime says that it is CPython 3.6.0, but its file is libpython3.13.so.1.0; as that "
                   "of 3.6, its state does not read (failed: "));
    core.files.front().path = "/usr/lib/libserver.so";
    CHECK_THAT(said(),
               ContainsSubstring("a CPython runtime is mapped, but its state does not read (failed: "));
}

TEST_CASE("snapshot: the table of static types is found where another build has it", "[snapshot]") {
    const std::uint64_t shift = GENERATE(0, 8, 512);
    SmallCore core;
    const Layout& l = core.heap.layout();
    const Address table = core.interpreter + *l.interpreter_state.types_builtins + shift;
    std::uint64_t number = 0;
    for (const char* name : {"type", "object", "dict"}) {
        core.heap.put(core.heap.builtin(name) + *l.type.tp_subclasses, ++number);
        core.heap.put(
            table + (number - 1) * *l.managed_static_type_state.size + *l.managed_static_type_state.type,
            core.heap.builtin(name));
    }
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    const Layout& found = reader.snapshot().python.layout;
    CHECK(*found.interpreter_state.types_builtins == *l.interpreter_state.types_builtins + shift);
    CHECK(*found.interpreter_state.types_for_extensions == *l.interpreter_state.types_for_extensions + shift);
    const auto& checks = reader.snapshot().python.checks;
    CHECK(std::any_of(checks.begin(), checks.end(), [](const LayoutCheck& c) {
        return c.what == "static types find their state" && c.passed;
    }));
}

TEST_CASE("snapshot: every live object is there, each by its proof", "[snapshot]") {
    const Opened opened;
    const SmallCore& core = opened.core;
    for (const Address address : {core.modules, core.module, core.module_dict, core.type, core.instance,
                                  core.items, core.text, core.number, core.kept_float, core.last_float}) {
        REQUIRE(opened.id(address) != no_object);
        CHECK(opened.reader.snapshot().address_of(opened.id(address)) == address);
    }
    auto found_by = [&](Address address) { return opened.reader.snapshot().found_by(opened.id(address)); };
    CHECK(found_by(core.items) == FoundBy::collector);
    CHECK(found_by(core.module_dict) == FoundBy::collector);
    CHECK(found_by(core.kept_float) == FoundBy::pymalloc);
    CHECK(found_by(core.text) == FoundBy::malloc);
    CHECK(found_by(core.number) == FoundBy::malloc);
    for (ObjectId id(1); id < opened.reader.snapshot().object_count(); ++id)
        CHECK(opened.reader.snapshot().address_of(ObjectId(id - 1U)) <
              opened.reader.snapshot().address_of(id));
    CHECK(opened.reader.snapshot().type_info(opened.id(core.instance)).name == "app.Point");
}

TEST_CASE("snapshot: what was given back is no object, though it still reads as one", "[snapshot]") {
    const Opened opened;
    CHECK(opened.id(opened.core.freed_float) == no_object);
    CHECK(opened.id(opened.core.freed_list) == no_object);
}

TEST_CASE("snapshot: a count that is a link of malloc's is none, where the heap is so low that it could be",
          "[snapshot]") {
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    // The heap of an executable that is not relocated. What reads as a range is long gone; its address is
    // still in a block that is in use.
    const Address low = heap.map(Address(0x1a80000), 4096);
    const Address freed = low + 0x10, next = low + 0x50, kept = low + 0x90;
    for (const std::uint64_t chunk : {0x00, 0x40, 0x80}) heap.put(low + chunk + 8, std::uint64_t{0x41});
    heap.put(low + 0xc8, std::uint64_t{0xf41});
    heap.put(freed + 8, heap.builtin("range"));
    for (const std::uint64_t part : {16, 24, 32, 40}) heap.put(freed + part, low + 0x800);
    heap.put(kept, freed);
    std::uint64_t count = 0;
    bool object = false;
    SECTION("a fast bin's: the next chunk") { count = (next - 16).value; }
    SECTION("a thread's cache's: the next block") { count = next.value; }
    SECTION("of a block at the end of its list, 0") {}
    SECTION("it is no link, however high: that may be one with many references") {
        count = (next + 16).value;
        for (const std::uint64_t part : {16, 24, 32, 40}) heap.put(freed + part, core.number);
        object = true;
    }
    heap.put(freed, count);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    CHECK((reader.snapshot().find(freed) != no_object) == object);
    CHECK(reader.snapshot().references->dangling() == 0);
}

TEST_CASE("snapshot: a tuple's length and its item, a type, are no object", "[snapshot]") {
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    const Address tuple = heap.tuple({heap.builtin("object")});
    const Address inside = tuple + *heap.layout().tuple.ob_item - 8;
    heap.put(heap.allocate(48), inside);  // what was left in a block that is in use
    heap.put(heap.heap().pointer(core.items + *heap.layout().list.ob_item) + 8, tuple);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    CHECK(reader.snapshot().find(tuple) != no_object);
    CHECK(reader.snapshot().find(inside) == no_object);
}

TEST_CASE("snapshot: sizes are those of sys.getsizeof, memory that of the allocators", "[snapshot]") {
    const Opened opened;
    const auto facts = [&](Address address) { return opened.reader.facts(opened.id(address)); };
    const ObjectFacts items = facts(opened.core.items);
    CHECK(items.size == 56 + 2 * 8);
    CHECK(items.memory == 56 + 24);  // what malloc gave for 56 bytes, and for an array of 16
    CHECK(items.block_size == 56);
    CHECK(items.refcount == 1);
    CHECK(items.gc_tracked);
    CHECK_FALSE(items.immortal);
    CHECK(items.size_is_certain);
    CHECK(items.references_exact);
    CHECK(facts(opened.core.kept_float).size == 24);
    CHECK(facts(opened.core.kept_float).memory == 32);
    CHECK(facts(opened.core.text).size == 40 + 15);
    CHECK(facts(opened.core.number).size == 28);
    CHECK(facts(opened.core.module_dict).size == 184);  // three entries of five, all str
    CHECK(facts(opened.core.instance).size == 48);      // 16 bytes of object, 32 before it
    CHECK_FALSE(facts(opened.core.modules).gc_tracked);
}

TEST_CASE("snapshot: sizes asked for all at once are those of one by one", "[snapshot]") {
    const Opened opened;
    std::vector<ObjectSizes> sizes(opened.reader.snapshot().object_count());
    opened.reader.sizes(ObjectId(0), sizes);
    for (ObjectId id{0}; id < sizes.size(); ++id) {
        const ObjectFacts facts = opened.reader.facts(id);
        CHECK(std::tie(sizes[id].size, sizes[id].memory, sizes[id].array_data) ==
              std::tie(facts.size, facts.memory, facts.array_data));
    }
}

TEST_CASE("snapshot: a list of the collector that breaks off is told, and its objects are found all the same",
          "[snapshot][damaged]") {
    SmallCore core;
    core.heap.put(core.items - 16, Address(0x123450));  // the link to module_dict
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    CHECK(std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                      [](const Diagnostic& d) { return d.code == "collector-lists-broken"; }));
    REQUIRE(reader.snapshot().find(core.items) != no_object);
    REQUIRE(reader.snapshot().find(core.module_dict) != no_object);
    CHECK(reader.snapshot().found_by(reader.snapshot().find(core.items)) == FoundBy::collector);
    // from the list's other end
    CHECK(reader.snapshot().found_by(reader.snapshot().find(core.module_dict)) == FoundBy::collector);
}

TEST_CASE(
    "snapshot: what a C function made for itself on its stack is no object, though it looks like one in a "
    "chunk",
    "[snapshot]") {
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    const Address memory = heap.map(Address(0x7ffc00000000), 8192);
    const Address made = memory + 0x1010;
    heap.put(made - 8, std::uint64_t{0x41});
    heap.put(made + 0x38, std::uint64_t{0x41});
    heap.put(made, std::uint64_t{1});
    heap.put(made + 8, heap.builtin("range"));
    for (const std::uint64_t part : {16, 24, 32, 40}) heap.put(made + part, core.number);
    const bool on_a_stack = GENERATE(false, true);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader =
        open_bytes(directory, core.bytes(on_a_stack ? memory + 0x800 : Address()), diagnostics);
    CHECK((reader.snapshot().find(made) != no_object) == !on_a_stack);
}

TEST_CASE("snapshot: a type with a number before it is an object only where the rest reads as one",
          "[snapshot]") {
    enum class Made {
        object,
        two_of_a_header_alone,
        behind_a_header_alone,
        table_of_types,
        hash_table,
        numbers
    };
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    const Address block = heap.allocate(256);
    const Address made = block + 96;
    const Address type = heap.builtin("range");
    heap.put(heap.allocate(64) + 16, made);  // a number of C code's, or a reference
    const Made what = GENERATE(Made::object, Made::two_of_a_header_alone, Made::behind_a_header_alone,
                               Made::table_of_types, Made::hash_table, Made::numbers);
    if (what == Made::table_of_types) {
        for (std::uint64_t entry = 0; entry < 6; ++entry) {
            heap.put(block + 64 + 16 * entry, std::uint64_t{1});
            heap.put(block + 72 + 16 * entry, type);
        }
    } else if (what == Made::two_of_a_header_alone) {
        heap.put(made, std::uint64_t{1});
        heap.put(made + 8, heap.builtin("ellipsis"));
        heap.put(made + 16, std::uint64_t{1});
        heap.put(made + 24, heap.builtin("NotImplementedType"));
    } else {
        if (what == Made::behind_a_header_alone) {
            heap.put(made - 16, std::uint64_t{1});
            heap.put(made - 8, heap.builtin("NotImplementedType"));
        }
        heap.put(made, std::uint64_t{1});
        heap.put(made + 8, type);
        for (const std::uint64_t part : {16, 24, 32, 40})
            heap.put(made + part, what == Made::numbers ? std::uint64_t{1} : core.number.value);
        if (what == Made::hash_table) heap.put(made, type.value >> 4);
    }
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    const bool is_ghost = what == Made::table_of_types || what == Made::hash_table || what == Made::numbers;
    CHECK((reader.snapshot().find(made) != no_object) == !is_ghost);
}

TEST_CASE("snapshot: where the collector keeps counts in its links back, its lists are followed all the same",
          "[snapshot][collector]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    core.heap.set(core.interpreter + *l.interpreter_state.gc, l.gc_state.collecting, 1);
    core.heap.set(core.items - 16, l.gc_head.prev, std::uint64_t{0 << 2 | 2});  // none of its references left
    core.heap.set(core.module_dict - 16, l.gc_head.prev,
                  std::uint64_t{1 << 2 | 3});  // one left, and it was finalized
    // Considered unreachable: in a ring whose head is on the collector's stack.
    const Address head = core.heap.allocate(32);
    core.heap.put(core.instance - 16, head.value | 1);
    core.heap.put(core.instance - 8, head.value | 2);
    core.heap.put(head, core.instance - 16);
    core.heap.put(head + 8, core.instance - 16);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    for (const Address object : {core.items, core.module_dict, core.instance}) {
        REQUIRE(reader.snapshot().find(object) != no_object);
        CHECK(reader.snapshot().found_by(reader.snapshot().find(object)) == FoundBy::collector);
    }
    CHECK(reader.snapshot().references->dangling() == 0);
    CHECK(diagnostics.complete());
    CHECK(std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                      [](const Diagnostic& d) { return d.code == "collector-at-work"; }));
}

TEST_CASE(
    "snapshot: a list that breaks off while the collector keeps counts costs the object whose link is torn",
    "[snapshot][collector][damaged]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    core.heap.set(core.interpreter + *l.interpreter_state.gc, l.gc_state.collecting, 1);
    core.heap.put(core.items - 16, Address(0x123450));
    core.heap.set(core.items - 16, l.gc_head.prev, std::uint64_t{1 << 2 | 2});
    core.heap.set(core.module_dict - 16, l.gc_head.prev, std::uint64_t{1 << 2 | 2});
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    CHECK_FALSE(diagnostics.complete());
    CHECK(reader.snapshot().find(core.items) != no_object);
    CHECK(reader.snapshot().find(core.module_dict) != no_object);
}

TEST_CASE("snapshot: a stack in the middle of the heap is its block, and the heap around it is no stack",
          "[snapshot]") {
    SmallCore core;
    const Address stack = core.heap.allocate(4096);
    // A static object is proved only by the word of a heap block that refers to it.
    const Opened plain;
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap on_heap = open_bytes(directory, core.bytes(stack + 1024), diagnostics);
    const auto stacks = thread_stacks(
        on_heap.core(), Allocations(on_heap.core(), {}, MallocHeaps::find(on_heap.core().memory())));
    REQUIRE(stacks.size() == 1);
    CHECK(stacks[0].start == stack);
    CHECK(stacks[0].end - stack < 4096 + 16);
    CHECK(on_heap.snapshot().object_count() == plain.reader.snapshot().object_count());
}

TEST_CASE("snapshot: a stack that was cut off does not reach into the mapping behind it", "[snapshot]") {
    constexpr std::uint64_t page = 4096, at = 0x7f0000000000;
    const std::uint64_t pointer = at + 3 * page, control = at + 4 * page - 256;
    std::string stack(4 * page, '\0');  // of which gdb could read nothing, or the first page
    if (GENERATE(false, true)) stack[8] = 's';
    CoreWriter writer;
    writer.thread(1, 0, 0, pointer, control).process(1, "python3", "python3");
    writer.load(at, stack).load(at + 4 * page, std::string(page, 'x'));
    writer.gcore = true;
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
    REQUIRE(core.extent().cut());
    const auto stacks = thread_stacks(core, Allocations(core, {}, MallocHeaps::find(core.memory())));
    REQUIRE(stacks.size() == 1);
    CHECK(stacks[0].start == Address(at));
    CHECK(stacks[0].end == Address(at + 4 * page));
}

TEST_CASE(
    "snapshot: a stack ends with its thread's control block, whatever the kernel has joined to its mapping",
    "[snapshot]") {
    constexpr std::uint64_t page = 4096, at = 0x7f0000000000, top = at + 4 * page;
    const std::uint64_t pointer = at + 3 * page + 16;
    const auto stacks_of = [&](std::uint64_t control) {
        CoreWriter writer;
        writer.thread(1, 0, 0, pointer, control).process(1, "python3", "python3");
        writer.load(at, std::string(10 * page, 'x'));
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
        return thread_stacks(core, Allocations(core, {}, MallocHeaps::find(core.memory())));
    };
    for (const std::uint64_t size : {0x940, 0xa00, 0x500}) {
        const auto stacks = stacks_of(top - size);
        REQUIRE(stacks.size() == 1);
        CHECK(stacks[0].start == Address(at));
        CHECK(stacks[0].end == Address(top));
    }
    // The first thread's is elsewhere; a register that leads below the stack pointer is no control block of that stack.
    for (const std::uint64_t elsewhere : {std::uint64_t{0}, at - page, at + page, at + 20 * page})
        CHECK(stacks_of(elsewhere).at(0).end == Address(at + 10 * page));
    CHECK(stacks_of(at + 10 * page - 64).at(0).end == Address(at + 10 * page));  // not beyond the mapping
}

TEST_CASE("snapshot: references have the names that people read", "[snapshot]") {
    const Opened opened;
    CHECK(opened.names(opened.core.items) == std::vector<std::string>{"[0]", "[1]"});
    CHECK(contains(opened.names(opened.core.module), ".__dict__"));
    CHECK(contains(opened.names(opened.core.module_dict), "['items']"));
    CHECK(contains(opened.names(opened.core.module_dict), "key 'items'"));
    CHECK(opened.names(opened.core.instance) == std::vector<std::string>{".__class__", ".x"});
    CHECK(opened.reader.value(opened.id(opened.core.text)).text == "'a line of text'");
    CHECK(opened.reader.value(opened.id(opened.core.module)).text == "<module 'app'>");
}

TEST_CASE("snapshot: a tuple of literals is a key in Python's notation", "[snapshot]") {
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    const Address one = heap.integer(1);
    const std::vector<Address> keys = {
        heap.tuple({heap.str("a"), one}),
        heap.tuple({}),
        heap.tuple({heap.tuple({heap.none(), heap.boolean(true)}), heap.real(0.5)}),
        heap.tuple({heap.tuple({heap.tuple({heap.bytes("b")})})}),
        heap.tuple({core.instance}),
        heap.tuple({heap.str(std::string(50, 'x'))}),
        heap.tuple(std::vector<Address>(17, one))};
    Entries entries;
    for (const Address key : keys) entries.emplace_back(key, core.text);
    const Address dict = heap.dict(entries, {.log2_size = 4, .general = true});
    heap.put(heap.heap().pointer(core.items + *heap.layout().list.ob_item) + 8, dict);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    std::vector<std::string> found, literals;
    reader.visit_references(reader.snapshot().find(dict), [&](const Reference& r) {
        if (r.step.kind != ReferenceStep::Kind::item) return;
        found.push_back(r.name());
        const ShortValue& key = *r.step.key;
        if (key.kind == ShortValue::Kind::literal) literals.push_back(key.text);
    });
    CHECK(found == std::vector<std::string>{"[('a', 1)]", "[()]", "[((None, True), 0.5)]", "[(((b'b',),),)]",
                                            "[tuple of 1]", "[tuple of 1]", "[tuple of 17]"});
    CHECK(literals.size() == 4);  // these are what --redact replaces
}

TEST_CASE("snapshot: what was guessed is called by the member that shows it", "[snapshot]") {
    SmallCore core;
    PythonHeapBuilder& heap = core.heap;
    const auto& def = heap.layout().member_def;
    const Address type = heap.c_type("native.Holder", {.basicsize = 40});
    const Address derived = heap.c_type("native.Derived", {.base = type, .basicsize = 48});
    const Address members = heap.allocate_static(3 * *def.size);
    heap.set(members, def.name, heap.c_string("number"));  // T_INT: shows no object
    heap.set(members, def.offset, std::uint64_t{24});
    heap.set(members + *def.size, def.name, heap.c_string("shown"));
    heap.set(members + *def.size, def.type, std::int32_t{16});
    heap.set(members + *def.size, def.offset, std::uint64_t{32});
    heap.set(type, heap.layout().type.tp_members, members);
    const Address object = heap.object(derived);
    heap.put(object + 24, core.text);
    heap.put(object + 32, core.text);
    heap.put(object + 40, core.text);
    heap.put(core.text, std::int64_t{100});  // it has room for them
    heap.put(heap.heap().pointer(core.items + *heap.layout().list.ob_item) + 8, object);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = open_bytes(directory, core.bytes(), diagnostics);
    std::vector<std::string> found;
    reader.visit_references(reader.snapshot().find(object),
                            [&](const Reference& r) { found.push_back(r.name()); });
    CHECK(found == std::vector<std::string>{"<+24>", ".shown", "<+40>"});
}

TEST_CASE("snapshot: referrers are the references turned round", "[snapshot]") {
    const Opened opened;
    std::vector<std::pair<ObjectId, std::string>> found;
    opened.reader.visit_referrers(opened.id(opened.core.instance), [&](ObjectId from, const Reference& r) {
        found.emplace_back(from, r.name());
    });
    CHECK(found == std::vector<std::pair<ObjectId, std::string>>{{opened.id(opened.core.items), "[1]"}});
}

TEST_CASE("snapshot: an address is an object, inside one, in its buffer, free, or unmapped", "[snapshot]") {
    using Kind = AddressFinding::Kind;
    const Opened opened;
    auto locate = [&](Address address) { return opened.reader.locate(address); };
    CHECK(locate(opened.core.items).kind == Kind::object);
    CHECK(locate(opened.core.items).object == opened.id(opened.core.items));
    CHECK(locate(opened.core.items + 20).kind == Kind::inside_object);
    CHECK(locate(opened.core.items - 8).object == opened.id(opened.core.items));  // the collector's header
    CHECK(locate(opened.core.instance - 24).object == opened.id(opened.core.instance));
    const Address array = *opened.reader.core().memory().read_address(opened.core.items + 24);
    CHECK(locate(array + 8).kind == Kind::buffer_of_object);
    CHECK(locate(array + 8).object == opened.id(opened.core.items));
    CHECK(locate(opened.core.freed_float + 4).kind == Kind::free_block);
    CHECK(locate(Address(0x1000)).kind == Kind::unmapped);
}

TEST_CASE("snapshot: the rows of memory add up to what was mapped", "[snapshot]") {
    const Opened opened;
    std::uint64_t sum = 0;
    for (const auto& row : opened.reader.snapshot().memory->rows) sum += row.bytes;
    CHECK(sum == opened.reader.core().extent().mapped_bytes);
}

namespace {

/// Builds, and asks for everything: the number of objects, or none if the answer is an Error.
std::optional<std::size_t> build_and_ask(const TemporaryDirectory& directory, const std::string& bytes) {
    Diagnostics diagnostics;
    try {
        const CoreHeap reader = open_bytes(directory, bytes, diagnostics);
        std::uint64_t references = 0;
        std::vector<ObjectSizes> sizes(reader.snapshot().object_count());
        reader.sizes(ObjectId(0), sizes);
        for (ObjectId id{0}; id < reader.snapshot().object_count(); ++id) {
            (void)reader.facts(id);
            (void)reader.value(id);
            reader.visit_references(id, [&](const Reference& r) { references += r.name().empty() ? 0 : 1; });
        }
        // A word can be visited more than once, by lists that share an array, but not without end.
        CHECK(references < 10'000'000);
        (void)reader.locate(Address(0x7f0000000123));
        return reader.snapshot().object_count();
    } catch (const Error& e) {
        CHECK(e.exit() == ExitCode::cannot_analyse);
        return std::nullopt;
    }
}

}  // namespace

TEST_CASE("snapshot: a core that is cut anywhere is an answer or an error", "[snapshot][damaged]") {
    SmallCore core;
    const TemporaryDirectory directory;
    const std::string bytes = core.bytes();
    const auto whole = build_and_ask(directory, bytes);
    REQUIRE(whole);
    std::size_t before = 0;
    for (std::size_t part = 1; part < 16; ++part) {
        const auto found = build_and_ask(directory, bytes.substr(0, bytes.size() * part / 16 + part));
        CHECK(found.value_or(0) <= *whole);
        CHECK(found.value_or(0) >= before);  // with more of the core, no fewer objects
        before = found.value_or(0);
    }
}

TEST_CASE("snapshot: words of the heap that lie are an answer or an error", "[snapshot][damaged]") {
    SmallCore core;
    const TemporaryDirectory directory;
    const std::string good = core.bytes();
    std::vector<std::size_t> words;  // where anything is written at all
    for (std::size_t at = (64 + 56 * (core.heap.regions().size() + 1) + 7) / 8 * 8; at + 8 <= good.size();
         at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, good.data() + at, 8);
        if (word != 0) words.push_back(at);
    }
    std::mt19937_64 random(7);
    const std::uint64_t lies[] = {0,
                                  1,
                                  ~std::uint64_t{0},
                                  std::uint64_t{1} << 62,
                                  std::uint64_t{1} << 40,
                                  0x7f0000000000,
                                  0x123456789000};
    const auto whole = build_and_ask(directory, good);
    REQUIRE(whole);
    std::size_t answers = 0, objects = 0;
    for (int round = 0; round < 200; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 12; ++i) {
            const std::size_t at = words[random() % words.size()];
            std::uint64_t lie = lies[random() % std::size(lies)];
            // As often another word of the core: a pointer to the wrong thing.
            if (random() % 2 == 0) std::memcpy(&lie, good.data() + words[random() % words.size()], 8);
            put_at(bytes, at, lie);
        }
        const auto found = build_and_ask(directory, bytes);
        CHECK(found.value_or(0) <= 2 * *whole);
        answers += found.has_value();
        objects += found.value_or(0);
    }
    CHECK(answers > 100);                   // twelve words of so many seldom take the runtime away
    CHECK(objects > answers * *whole / 2);  // nor, on the whole, half of the heap
}
