// What a heap teaches about itself: which dict keeps the interned strings, which function looks up any key,
// and who owns which memory.

#include "parsers/snapshot/learned_dicts.h"
#include "parsers/snapshot/owned_memory.h"

#include "parsers/cpython/runtime.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/object_kinds.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// The passes before the snapshot, one by one.
struct Passes {
    explicit Passes(SmallCore& small)
        : core(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics)),
          python(find_python_runtime(core, diagnostics)),
          types(find_types(core.memory(), python, all_object_kinds())),
          heap(core.memory(), python, types),
          allocations(core, Pymalloc::find(heap, diagnostics), MallocHeaps::find(core.memory())),
          access(heap, allocations),
          objects(find_objects(core, access, diagnostics, {})) {}

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreFile core;
    PythonRuntime python;
    TypeTable types;
    PythonHeap heap;
    Allocations allocations;
    ObjectAccess access;
    FoundObjects objects;

    OwnedPlaces owned() const { return measure_objects(objects, access).places; }
};

bool holds(const OwnedPlaces& owned, Address address) {
    return std::any_of(owned.ranges().begin(), owned.ranges().end(),
                       [&](const AddressRange& r) { return r.contains(address); });
}

Address interned(SmallCore& core, const char* text) {
    const Address str = core.heap.str(text);
    core.heap.set_bits(str, core.heap.layout().ascii.state_interned, 1);
    return str;
}

/// A word of the interpreter's state that no field of this heap uses.
Address state_word(SmallCore& core, std::uint64_t n) {
    return core.interpreter + *core.heap.layout().interpreter_state.size - 64 + 8 * n;
}

}  // namespace

TEST_CASE("interned strings: the dict of strings that stand for themselves", "[snapshot][learned]") {
    SmallCore core;
    const Address a = interned(core, "a"), b = interned(core, "b"), plain = core.heap.str("plain");
    const Address table = core.heap.dict({{a, a}, {b, b}});
    const Address smaller = core.heap.dict({{a, a}});
    const Address not_interned = core.heap.dict({{a, a}, {b, b}, {plain, plain}});
    const Address other_values = core.heap.dict({{a, a}, {b, b}, {plain, a}});
    const Address empty = core.heap.dict({});
    SECTION("of the dicts in the interpreter's state it is the largest such") {
        for (std::uint64_t n = 0; const Address dict : {empty, smaller, table, not_interned, other_values})
            core.heap.put(state_word(core, n++), dict);
        const Passes passes(core);
        CHECK(find_interned_tables(passes.core, passes.heap) == std::vector{table});
    }
    SECTION("a program's own, to which no word of the state points, is none") {
        const Passes passes(core);
        CHECK(find_interned_tables(passes.core, passes.heap).empty());
    }
    SECTION("a dict of strings that are not interned is none") {
        core.heap.put(state_word(core, 0), not_interned);
        core.heap.put(state_word(core, 1), other_values);
        const Passes passes(core);
        CHECK(find_interned_tables(passes.core, passes.heap).empty());
    }
    SECTION("neither its keys nor its values are counted") {
        core.heap.put(state_word(core, 0), table);
        (void)core.heap.tuple({table, not_interned});
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        const CoreHeap reader = CoreHeap::open(
            CoreFile::open(directory.write("core", core.bytes()), {}, diagnostics), all_columns, diagnostics);
        const auto kinds = [&](Address dict) {
            std::vector<ReferenceKind> all;
            reader.visit_references(reader.snapshot().find(dict),
                                    [&](const Reference& r) { all.push_back(r.kind); });
            return all;
        };
        CHECK(kinds(table) == std::vector(4, ReferenceKind::weak));
        const auto users = kinds(not_interned);
        CHECK(std::count(users.begin(), users.end(), ReferenceKind::strong) == 3);
        CHECK(std::count(users.begin(), users.end(), ReferenceKind::hidden) == 3);
    }
}

TEST_CASE("lookup function: that of any dict with a key that is no str", "[snapshot][learned]") {
    const Layout* layout = builtin_layout({3, GENERATE(9, 10, 11, 13), false, false});
    REQUIRE(layout);
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->dict_keys;
    const Address of_str(0x555500001040), general(0x555500001080);
    const Address strings = heap.dict({{heap.str("a"), heap.none()}});
    const Address numbers = heap.dict({{heap.integer(1), heap.none()}}, {.general = true});
    const Address asked = heap.dict({{heap.str("b"), heap.none()}}, {.general = true});
    for (const Address dict : {strings, numbers, asked})
        heap.set(heap.heap().pointer(dict + *layout->dict.ma_keys), l.dk_lookup,
                 dict == strings ? of_str : general);
    const auto lookup_of = [&](const std::vector<Address>& dicts) {
        std::vector<TypeId> types;
        for (const Address dict : dicts) types.push_back(heap.heap().type_of(dict));
        return find_general_lookup({dicts, std::move(types), {}}, heap.heap());
    };
    CHECK(lookup_of({strings, asked}).is_null());
    CHECK(lookup_of({strings, asked, numbers}) == (l.dk_lookup.present() ? general : Address()));
}

TEST_CASE("owned memory: blocks of objects and their buffers, each byte once", "[snapshot][owned]") {
    SmallCore core;
    const Address block = core.heap.allocate(96);
    const Passes passes(core);
    const OwnedPlaces owned = passes.owned();
    const Address array = passes.heap.pointer(core.items + *core.heap.layout().list.ob_item);
    CHECK(holds(owned, core.items));
    CHECK(holds(owned, core.items - 16));  // the collector's header
    CHECK(holds(owned, array));
    CHECK(holds(owned, array + 8));
    CHECK(holds(owned, core.text + 40));
    CHECK_FALSE(holds(owned, block));
    CHECK_FALSE(holds(owned, core.freed_list));
    for (std::size_t i = 1; i < owned.ranges().size(); ++i)
        CHECK(owned.ranges()[i - 1].end < owned.ranges()[i].start);
    REQUIRE(passes.allocations.pymalloc().pools().size() == 1);
    CHECK(owned.owns_block(0, 0));
    CHECK_FALSE(owned.owns_block(0, 1));
    CHECK(owned.owns_block(0, 2));
}

TEST_CASE("owned memory: a length that lies takes nothing from the neighbours",
          "[snapshot][owned][damaged]") {
    SmallCore core;
    const auto lie = GENERATE(std::int64_t{1} << 16, std::int64_t{1} << 40, std::int64_t{1} << 61);
    core.heap.set(core.items, core.heap.layout().list.allocated, lie);
    const Address block = core.heap.allocate(4096);
    const Passes passes(core);
    CHECK_FALSE(holds(passes.owned(), block + 2048));
    CHECK(holds(passes.owned(), core.items));
}
