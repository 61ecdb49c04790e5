// References one step up and down, and those that lead nowhere but count.

#include "analysis/edges.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"
#include "tests/elf/core_writer.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t static_type = 0x10;

/// A Node that refers to a static type, to something that was not found, weakly and strongly; two Nodes that
/// refer to it; and two words of C code that hold it.
HandmadeHeap nodes() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(static_type), "type", facts(400, 0), {}, {}},
        {Address(0x100),
         "app.Node",
         facts(48, 64, 0, 5),
         {},
         {reference(static_type, ".type"), reference(0x999, ".lost"),
          reference(0x200, ".weak", ReferenceKind::weak), reference(0x200, ".strong"),
          reference(0x300, ".hidden", ReferenceKind::hidden),
          reference(0x300, ".<link>.key", ReferenceKind::reported)}},
        {Address(0x200),
         "app.Node",
         facts(48, 64),
         {},
         {reference(0x100, ".back", ReferenceKind::weak), reference(0x100, ".on")}},
        {Address(0x300),
         "c.Thing",
         facts(48, 64),
         literal("'text'", 4),
         {reference(0x100, "<+16>", ReferenceKind::guess)}},
    };
    TypeInfo made_by_c;
    made_by_c.name = "c.Static";
    made_by_c.address = Address(static_type);
    heap.types = {made_by_c};
    for (const std::uint64_t word : {0x5000, 0x6000}) {
        Reference native =
            reference(0x100, word == 0x5000 ? "<module data>" : "<native stack>", ReferenceKind::native);
        native.word = Address(word);
        heap.natives.push_back(native);
    }
    return heap;
}

std::vector<std::string> names(const EdgeList& list) {
    std::vector<std::string> all;
    for (const EdgeRow& edge : list.edges)
        all.push_back((edge.followed ? "" : "not ") + edge.reference.name());
    return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("edges: what is followed comes first, the rest in its own order", "[analysis][edges]") {
    const HandmadeReader heap = nodes().build();
    const EdgesResult down = referents(heap, heap.snapshot().find(Address(0x100)), 0);
    CHECK(down.object.address == Address(0x100));
    CHECK(names(down.list) ==
          Names{".strong", ".hidden", "not .type", "not .lost", "not .weak", "not .<link>.key"});
    CHECK(down.list.total == 6);
    CHECK(down.list.owned == 4);
    CHECK_FALSE(down.list.guesses);
    CHECK(down.list.edges[0].source.address == Address(0x100));
    CHECK(down.list.edges[0].target.type == "app.Node");
    CHECK(down.list.edges[3].target.address == Address(0x999));
    CHECK(down.list.edges[3].target.type.empty());
}

TEST_CASE("edges: referrers by address, then words that are no object's", "[analysis][edges]") {
    const HandmadeReader heap = nodes().build();
    const EdgesResult up = referrers(heap, heap.snapshot().find(Address(0x100)), 0);
    CHECK(names(up.list) == Names{".on", "<+16>", "<module data>", "<native stack>", "not .back"});
    CHECK(up.list.owned == 4);
    CHECK(up.list.guesses);
    CHECK(up.list.edges[1].source.value.text == "'text'");
    CHECK(up.list.edges[2].source.address == Address(0x5000));
    CHECK(up.list.edges[2].source.type.empty());
    CHECK(up.list.edges[2].target.address == Address(0x100));
}

TEST_CASE("edges: a limit cuts the rows and not the counts", "[analysis][edges]") {
    const HandmadeReader heap = nodes().build();
    const ObjectId node = heap.snapshot().find(Address(0x100));
    const Names all = names(referents(heap, node, 0).list);
    for (std::size_t limit = 1; limit <= 8; ++limit) {
        const EdgesResult down = referents(heap, node, limit), up = referrers(heap, node, limit);
        CHECK(names(down.list) ==
              Names(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(limit, 6))));
        CHECK(up.list.edges.size() == std::min<std::size_t>(limit, 5));
        CHECK(down.list.total == 6);
        CHECK(up.list.total == 5);
        CHECK(up.list.owned == 4);
    }
}

TEST_CASE("edges: rows that are not kept are read again, in the same order", "[analysis][edges]") {
    const HandmadeReader heap = nodes().build();
    const ObjectId node = heap.snapshot().find(Address(0x100));
    const EdgesResult down = referents(heap, node, no_edges), up = referrers(heap, node, no_edges);
    CHECK(down.list.edges.empty());
    CHECK(down.list.total == 6);
    CHECK(down.list.followed == 2);
    CHECK(up.list.edges.empty());
    CHECK(up.list.owned == 4);
    EdgeList read;
    const auto keep = [&](const EdgeRow& row) { read.edges.push_back(row); };
    visit_referents(heap, node, down.list, keep);
    CHECK(names(read) == names(referents(heap, node, 0).list));
    read.edges.clear();
    visit_referrers(heap, node, up.list, keep);
    CHECK(names(read) == names(referrers(heap, node, 0).list));
    CHECK(read.edges[2].source.address == Address(0x5000));
}

TEST_CASE("edges: an object alone has none", "[analysis][edges]") {
    HandmadeHeap made;
    made.objects = {{Address(0x100), "int", facts(28, 32), literal("7", 1), {}}};
    const HandmadeReader heap = made.build();
    CHECK(referents(heap, ObjectId(0), 10).list.total == 0);
    CHECK(referrers(heap, ObjectId(0), 10).list.edges.empty());
}

TEST_CASE("structural references: modules of sys.modules, their dicts, and static types",
          "[analysis][edges]") {
    PythonHeapBuilder python(*builtin_layout({3, 11, false, false}));
    const Layout& l = python.layout();
    const Address text = python.str("text"), other = python.dict({});
    const Address first_dict = python.dict({{python.str("x"), text}}), second_dict = python.dict({});
    const Address first = python.object("module"), second = python.object("module"),
                  lost = python.object("module");
    python.set(first, l.module.md_dict, first_dict);
    python.set(second, l.module.md_dict, second_dict);
    // Anything can be in sys.modules, and a module can be there twice.
    const Address modules = python.dict({{python.str("a"), first},
                                         {python.str("b"), text},
                                         {python.str("c"), other},
                                         {python.str("a.b"), first}});
    const Address more = python.dict({{python.str("d"), second}});
    HandmadeHeap made;
    for (const char* name : {"module", "dict", "str"}) {
        made.types.push_back(python.type(python.builtin(name)));
        made.types.back().base = made.types.back().metatype = no_type;  // numbers of another table
    }
    TypeInfo of_python;
    of_python.address = Address(0x1234560);
    of_python.name = "app.Point";
    of_python.heap_type = true;
    made.types.push_back(of_python);
    for (const Address address : {first, second, text})
        made.objects.push_back({address, address == text ? "str" : "module", facts(48, 64), {}, {}});
    made.layout = l;
    PythonInterpreter main, sub;
    main.modules = modules;
    sub.modules = more;
    made.interpreters = {main, sub};
    CoreWriter core;
    core.thread(100, 0).process(100, "python3", "python3 app.py");
    for (const Region& region : python.regions())
        core.load(region.start.value,
                  std::string(reinterpret_cast<const char*>(region.bytes.data()), region.bytes.size()));
    made.core_bytes = core.bytes();
    const HandmadeReader heap = made.build();
    const StructuralTargets structural = structural_targets(heap.snapshot());
    CHECK(heap.snapshot().roots->modules().size() == 2);
    for (const Address address : {first, second, first_dict, second_dict, python.builtin("str")})
        CHECK(structural.contains(address));
    for (const Address address : {text, other, lost, modules, of_python.address, Address()})
        CHECK_FALSE(structural.contains(address));
    CHECK(structural.follows(other, reference(text.value, "[0]")));
    CHECK_FALSE(structural.follows(other, reference(text.value, "[0]", ReferenceKind::weak)));
    CHECK_FALSE(structural.follows(other, reference(text.value, "[0]", ReferenceKind::reported)));
    CHECK_FALSE(structural.follows(other, reference(first.value, "[0]")));
    CHECK_FALSE(structural.follows(second, reference(first_dict.value, ".__dict__")));
    CHECK(structural.follows(first, reference(first_dict.value, ".__dict__")));  // a module leads to its own
    Reference refused = reference(text.value, "<+16>", ReferenceKind::guess);
    CHECK(structural.follows(other, refused));
    refused.followed = false;
    CHECK_FALSE(structural.follows(other, refused));
}
