// Blocks of C code in the graph: what owns them retains them; what only a block holds hangs below it; what several
// reach is nobody's alone; what nothing reaches has leaked.

#include "analysis/edges.h"
#include "analysis/joint_holders.h"
#include "analysis/native_block.h"
#include "analysis/object_paths.h"
#include "analysis/refcounts.h"
#include "analysis/top_holders.h"
#include "analysis/why.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t first_word = 16;  // behind the header of an object

struct Library {
    Library() : type(program.heap.c_type("fast.Document", {.basicsize = 32})) {}

    /// A document whose C side is `block`.
    Address document(Address block) {
        const Address made = program.heap.object(type);
        program.heap.put(made + first_word, block);
        return made;
    }

    ProgramHeap program;
    Address type;
};

BlockId block_at(const Analysed& analysed, Address address) {
    const BlockId block = native_block_at(analysed.graph, address);
    REQUIRE(block != no_block);
    return block;
}

std::string group_of_block(const Analysed& analysed, Address address) {
    const GroupId group = analysed.retained.group(analysed.graph.node_of(block_at(analysed, address)));
    return group == no_group ? "" : analysed.graph.groups()[group].name;
}

}  // namespace

TEST_CASE("native: an object retains the blocks that its words lead to, and what these lead to",
          "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address tree = program.heap.allocate(1000), node = program.heap.allocate(2000);
    program.heap.put(tree + 24, node);
    program.heap.put(node, tree);  // a ring
    const Address document = library.document(tree);
    const Address kept = program.list({document});
    program.module("app", "/srv/app/app.py", {{"KEPT", kept}});
    const Analysed analysed(program);
    const std::uint64_t blocks = 1000 + 2008;
    CHECK(analysed.retained.memory(analysed.id(document)) == analysed.memory(document) + blocks);
    CHECK(analysed.retained.native(analysed.id(document)) == blocks);
    CHECK(analysed.retained.native(analysed.id(kept)) == blocks);
    CHECK(analysed.retained.own_native(HeapGraph::node_of(analysed.id(document))) == blocks);
    CHECK(analysed.retained.own_native(HeapGraph::node_of(analysed.id(kept))) == 0);
    const NodeId of_tree = analysed.graph.node_of(block_at(analysed, tree + 8));
    CHECK(analysed.retained.dominator(of_tree) == HeapGraph::node_of(analysed.id(document)));
    CHECK(analysed.graph.native()->credit(block_at(analysed, node)) == Credit::sure);

    const NativeBlock shown =
        native_block(analysed.graph, analysed.sizes, block_at(analysed, node), node + 4, 0);
    CHECK(shown.address == node);
    CHECK(shown.inside == 4);
    CHECK(shown.retained == 2008);
    REQUIRE(shown.owner);
    CHECK(shown.owner->id == analysed.id(document));
    REQUIRE(shown.beginnings.size() == 1);
    CHECK(shown.beginnings[0].object->id == analysed.id(document));
    REQUIRE(shown.referrers.size() == 1);
    CHECK(shown.referrers[0].address == tree);
    REQUIRE(shown.referents.size() == 1);
    CHECK(shown.referents[0].address == tree);

    const RetainedSet freed = retained_by(analysed.graph, std::vector<ObjectId>{analysed.id(kept)});
    CHECK(freed.objects.size() == 2);
    CHECK(freed.native == blocks);
    const std::vector<SetRetained> sets = retained_by_sets(
        analysed.graph, 1, [&](ObjectId object) { return object == analysed.id(document) ? 0 : -1; });
    CHECK(sets[0].memory == analysed.memory(document) + blocks);
    CHECK(sets[0].native == blocks);
}

TEST_CASE("native: without it, objects retain objects alone", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address document = library.document(program.heap.allocate(1000));
    program.module("app", "/srv/app/app.py", {{"KEPT", document}});
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap heap =
        CoreHeap::open(CoreFile::open(directory.write("core", program.bytes()), {}, diagnostics),
                       Columns{.sizes = true, .references = true, .roots = true}, diagnostics);
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ObjectId id = heap.snapshot().find(document);
    REQUIRE(id != no_object);
    CHECK(graph.block_count() == 0);
    CHECK(retained.memory(id) == heap.facts(id).memory);
    CHECK(retained.native(id) == 0);
    CHECK(native_block_at(graph, document) == no_block);
}

TEST_CASE("native: what two objects reach neither retains; their holder does", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address shared = program.heap.allocate(1000);
    const Address one = library.document(shared), two = library.document(shared);
    const Address both = program.list({one, two});
    program.module("app", "/srv/app/app.py", {{"BOTH", both}});
    const Analysed analysed(program);
    CHECK(analysed.retained.native(analysed.id(one)) == 0);
    CHECK(analysed.retained.native(analysed.id(two)) == 0);
    CHECK(analysed.retained.native(analysed.id(both)) == 1000);
    const NativeBlock shown =
        native_block(analysed.graph, analysed.sizes, block_at(analysed, shared), shared, 0);
    CHECK(shown.total_beginnings == 2);
}

TEST_CASE("native: blocks that two variables of a module reach are held jointly by these",
          "[program][native][dominators]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address shared = program.heap.allocate(1000), page = program.heap.allocate(2000),
                  own = program.heap.allocate(3000);
    program.heap.put(shared + 8, page);
    const Address callback = library.document(own);             // only the page holds it
    program.heap.put(page, std::uint64_t{0x1234567890abcdef});  // not like a block that was freed
    program.heap.put(page + 40, callback);
    program.leak(callback, 1);
    const Address database = library.document(shared), query = library.document(shared);
    program.module("app", "/srv/app/app.py", {{"DATABASE", database}, {"QUERY", query}});
    const Analysed analysed(program);
    const GroupId app = analysed.retained.group(analysed.id(database));
    const std::vector<JointHolders> joint =
        JointHolderFinder(analysed.retained).find(analysed.graph.node_of(app), 3000, 5, 3000);
    REQUIRE(joint.size() == 1);
    CHECK(joint.front().native);
    CHECK(joint.front().count == 3);  // and what these lead to: the page, what the callback owns
    const std::uint64_t held = 1000 + 2008 + analysed.memory(callback) + 3000;
    CHECK(joint.front().joint == held);
    CHECK(joint.front().retained == held + analysed.memory(database) + analysed.memory(query));
    REQUIRE(joint.front().holders.size() == 2);
    CHECK(joint.front().holders[0].type == "fast.Document");
    CHECK(joint.front().type.empty());
    CHECK(joint.front().sample.empty());
    CHECK(joint.front().example == shared);

    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 3000, 5);
    REQUIRE_FALSE(holders.empty());
    REQUIRE(holders.front().joint);
    CHECK(holders.front().joint->native);
    CHECK(holders.front().joint->holders.size() == 2);
    CHECK(holders.front().retained == held);
}

TEST_CASE(
    "native: blocks that two modules of the program reach are held jointly by these; a library's are its own",
    "[program][native][dominators]") {
    for (const bool of_library : {false, true}) {
        CAPTURE(of_library);
        Library library;
        ProgramHeap& program = library.program;
        const Address first = program.heap.allocate(3000), second = program.heap.allocate(2000);
        program.heap.put(first + 8, second);
        const std::string folder = of_library ? "/usr/lib/python3/dist-packages/lib/" : "/srv/app/";
        program.module(of_library ? "lib.one" : "one", folder + "one.py",
                       {{"DATABASE", library.document(first)}});
        program.module(of_library ? "lib.two" : "two", folder + "two.py",
                       {{"QUERY", library.document(first)}});
        const Analysed analysed(program);
        const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 3000, 5);
        const auto joint = std::find_if(holders.begin(), holders.end(), [](const TopHolder& holder) {
            return holder.joint && holder.joint->native;
        });
        REQUIRE((joint == holders.end()) == of_library);
        if (of_library) continue;
        CHECK(joint->joint->count == 2);
        CHECK(joint->joint->groups.size() == 2);
    }
}

TEST_CASE("native: an object that only a block holds hangs below that block", "[program][native]") {
    for (const std::uint64_t mark : {0, 1}) {  // torch marks the pointers that own
        CAPTURE(mark);
        Library library;
        ProgramHeap& program = library.program;
        const Address autograd = program.heap.allocate(1000), tensor_data = program.heap.allocate(3000);
        const Address tensor = library.document(tensor_data);
        program.heap.put(autograd, std::uint64_t{0x1234567890abcdef});  // not like a block that was freed
        program.heap.put(autograd + 40, tensor + mark);
        program.heap.put(tensor_data + 8, autograd);  // back again
        program.leak(tensor, 1);
        const Address total = library.document(autograd);
        program.module("app", "/srv/app/app.py", {{"TOTAL", total}});
        const Analysed analysed(program);
        CHECK(analysed.retained.dominator(analysed.id(tensor)) == HeapGraph::node_of(analysed.id(total)));
        CHECK(analysed.retained.native(analysed.id(total)) == 1000 + 3000);
        CHECK(analysed.retained.memory(analysed.id(total)) ==
              analysed.memory(total) + analysed.memory(tensor) + 1000 + 3000);
        CHECK(analysed.graph.reach(analysed.id(tensor)) == Reach::named);
        REQUIRE(analysed.graph.roots_of(analysed.id(tensor)).size() == 1);
        const HeapGraph::PlacedRoot& root = analysed.graph.roots_of(analysed.id(tensor)).front();
        CHECK(root.block == analysed.graph.node_of(block_at(analysed, autograd)));
        CHECK(root.root.word == autograd + 40);
        CHECK(analysed.retained.children(HeapGraph::node_of(analysed.id(total))) ==
              std::vector<NodeId>{HeapGraph::node_of(analysed.id(tensor))});

        // and the path to it goes through that block
        const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(tensor), {});
        CHECK(result.references_found == 1);
        REQUIRE(result.paths.size() == 1);
        const WhyPath& path = result.paths[0];
        CHECK(path.root_words == "module app");
        REQUIRE(path.steps.size() == 3);  // the module's dict, total, tensor
        CHECK(path.steps[1].edge.target.address == total);
        CHECK(path.steps[2].edge.target.address == tensor);
        CHECK(path.steps[2].edge.reference.kind == ReferenceKind::native);
        CHECK(path.steps[2].edge.reference.word == autograd + 40);
        REQUIRE(path.blocks.size() == 1);
        CHECK(path.blocks[0].place == 3);
        CHECK(path.blocks[0].block.address == autograd);
        CHECK(path.blocks[0].block.bytes == 1000);
        CHECK(path.expression.from_address);  // nobody can type the way through a block
        REQUIRE(path.lines.size() == 3);
        CHECK(path.lines[1].kind == PathLine::Kind::block);
        CHECK(path.lines[2].place == 3);

        const EdgesResult held = referrers(analysed.heap, analysed.id(tensor), 0);
        REQUIRE(held.list.edges.size() == 1);
        REQUIRE(held.list.edges[0].holder);
        const NativeHolder& holder = *held.list.edges[0].holder;
        CHECK(holder.word == autograd + 40);
        CHECK(holder.marked == (mark != 0));
        REQUIRE(holder.way.size() == 2);
        CHECK(holder.way[0].address == autograd);
        REQUIRE(holder.way[1].object);
        CHECK(holder.way[1].object->address == total);

        const RefcountsResult counts = refcounts(analysed.heap, {});
        const auto row = std::find_if(counts.rows.begin(), counts.rows.end(),
                                      [&](const RefcountRow& one) { return one.object.address == tensor; });
        REQUIRE(row != counts.rows.end());
        CHECK(row->accounted == 0);
        CHECK(row->excess - row->leaked == 1);  // a plain word is counted beside the one that leaked
        REQUIRE(row->holders.size() == 1);
        CHECK(row->holders[0].by.way.size() == 2);
    }
}

TEST_CASE("native: an object in a block of a chain, which a variable holds or nothing", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address kept = library.document(Address()), lost = library.document(Address());
    const Address memory = program.heap.map(Address(0x7c1000000000), 4096);
    std::vector<Address> blocks;
    for (int i = 0; i < 12; ++i) blocks.push_back(program.heap.allocate(1000));
    program.heap.put(memory + 64, blocks.front());
    for (std::size_t i = 1; i < blocks.size(); ++i) program.heap.put(blocks[i - 1] + 8, blocks[i]);
    program.heap.put(blocks.back() + 16, kept);
    const Address leaked = program.heap.allocate(2000);
    for (const Address block : {blocks.back(), leaked})
        program.heap.put(block, std::uint64_t{0x1234567890abcdef});  // not like a block that was freed
    program.heap.put(leaked + 16, lost);
    program.leak(kept, 1);
    program.leak(lost, 1);
    program.module("app", "/srv/app/app.py", {{"Document", library.type}});
    const Analysed analysed(program);

    const auto path_to = [&](Address object, std::size_t lines) {
        WhyResult result =
            why(analysed.graph, analysed.sizes, analysed.id(object), {.paths = 1, .lines = lines});
        REQUIRE(result.paths.size() == 1);
        return result.paths[0];
    };
    const WhyPath all = path_to(kept, 0);
    CHECK(all.root_words == "memory without a known owner");
    CHECK(all.root_address == kept);
    REQUIRE(all.blocks.size() == blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        CHECK(all.blocks[i].block.address == blocks[i]);
        CHECK(all.blocks[i].place == 0);
    }
    CHECK(all.blocks[0].retained > all.blocks[11].retained);
    const WhyPath some = path_to(kept, 20);
    REQUIRE(some.blocks.size() == 6);
    CHECK(some.blocks[2].block.address == blocks[2]);
    CHECK(some.blocks[3].block.address == blocks[9]);
    CHECK(some.blocks[3].left_out == 6);
    REQUIRE(some.lines.size() == 8);
    CHECK(some.lines[3].kind == PathLine::Kind::left_out);
    CHECK(some.lines[3].count == 6);
    CHECK(some.lines[7].kind == PathLine::Kind::object);

    const WhyPath of_lost = path_to(lost, 0);
    CHECK_THAT(of_lost.root_words, ContainsSubstring("leaked"));
    REQUIRE(of_lost.blocks.size() == 1);
    CHECK(of_lost.blocks[0].block.address == leaked);
    CHECK(of_lost.steps.empty());

    NativeHolderFinder holders(analysed.heap);
    const NativeHolder holder = holders.of(blocks.back() + 16, 4);
    REQUIRE(holder.way.size() == 5);
    CHECK(holder.way[0].address == blocks[11]);
    CHECK(holder.way[3].address == blocks[8]);
    CHECK(holder.left_out == 8);
    CHECK_FALSE(holder.way[4].is_block);
    CHECK_FALSE(holder.way[4].leaked);
    CHECK(holders.of(leaked + 16).way.back().leaked);
    CHECK(may_be_held_by_c_code(analysed.heap, analysed.id(kept)));
}

TEST_CASE("native: an object and its C side that own each other hang at what else leads there",
          "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address node = program.heap.allocate(1000), own_side = program.heap.allocate(3000);
    const Address tensor = library.document(own_side);
    for (const Address block : {node, own_side})
        program.heap.put(block, std::uint64_t{0x1234567890abcdef});  // not like a block that was freed
    program.heap.put(own_side + 40, tensor + 1);
    program.heap.put(node + 24, own_side);
    program.leak(tensor, 1);
    const Address total = library.document(node);
    program.module("app", "/srv/app/app.py", {{"TOTAL", total}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(tensor), {});
    REQUIRE(result.paths.size() == 1);
    CHECK(result.paths[0].root_words == "module app");
    REQUIRE(result.paths[0].blocks.size() == 2);
    CHECK(result.paths[0].blocks[0].block.address == node);
    CHECK(result.paths[0].blocks[1].block.address == own_side);
    NativeHolderFinder holders(analysed.heap);
    const NativeHolder holder = holders.of(own_side + 40);
    REQUIRE(holder.way.size() == 3);
    REQUIRE(holder.way[2].object);
    CHECK(holder.way[2].object->address == total);
}

TEST_CASE("native: what a thread's stack or a library's variable holds is named", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address on_stack = library.document(Address()), in_library = library.document(Address()),
                  plain = library.document(Address());
    program.module("app", "/srv/app/app.py", {{"PLAIN", plain}});
    program.call("wait", {});
    const Address of_stack = program.hold_on_stack(on_stack),
                  of_library = program.hold_in_library(in_library, "/usr/lib/libfoo.so");
    const Analysed analysed(program);
    NativeHolderFinder holders(analysed.heap);
    REQUIRE(holders.of(of_stack).way.size() == 1);
    CHECK_THAT(holders.of(of_stack).way[0].words, ContainsSubstring("the stack of thread"));
    CHECK(holders.of(of_library).way[0].words == "libfoo.so+0x40");
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(in_library), {});
    CHECK(result.paths.at(0).root_words == "libfoo.so+0x40");
    CHECK_FALSE(may_be_held_by_c_code(analysed.heap, analysed.id(plain)));
}

TEST_CASE("refcounts: a reference is no leak where a tagged word may be it", "[program][refcounts]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address tagged = library.document(Address()), lost = library.document(Address());
    // In an object, where nobody looks for marked pointers: mypyc's large ints.
    const Address holder = library.document(tagged + 1);
    program.leak(tagged, 1);
    program.leak(lost, 1);
    program.module("app", "/srv/app/app.py", {{"HOLDER", holder}, {"Document", library.type}});
    const Analysed analysed(program);
    const RefcountsResult counts = refcounts(analysed.heap, {});
    const auto leaked = [&](Address object) {
        const auto row = std::find_if(counts.rows.begin(), counts.rows.end(),
                                      [&](const RefcountRow& one) { return one.object.address == object; });
        REQUIRE(row != counts.rows.end());
        return row->leaked;
    };
    CHECK(leaked(tagged) == 0);
    CHECK(leaked(lost) == 1);
}

TEST_CASE("refcounts: a reference is no leak where C code points at a struct inside the object",
          "[program][refcounts]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address timer = library.document(Address()), lost = library.document(Address()),
                  in_itself = library.document(Address());
    const Address loop = program.heap.allocate(64);  // as libev's list of timers, which gevent's point into
    program.heap.put(loop + 8, timer + first_word);
    program.heap.put(in_itself + first_word, in_itself + first_word + 8);
    for (const Address leaked : {timer, lost, in_itself}) program.leak(leaked, 1);
    const Address holder = library.document(loop);
    program.module("app", "/srv/app/app.py", {{"HOLDER", holder}, {"Document", library.type}});
    const Analysed analysed(program);
    const RefcountsResult counts = refcounts(analysed.heap, {});
    const auto row_of = [&](Address object) {
        const auto row = std::find_if(counts.rows.begin(), counts.rows.end(),
                                      [&](const RefcountRow& one) { return one.object.address == object; });
        REQUIRE(row != counts.rows.end());
        return *row;
    };
    CHECK(row_of(timer).leaked == 0);
    REQUIRE(row_of(timer).holders.size() == 1);
    CHECK(row_of(timer).holders[0].word == loop + 8);
    CHECK(row_of(timer).holders[0].place == "<memory of C code, to a struct in it>");
    CHECK(row_of(lost).leaked == 1);
    CHECK(row_of(in_itself).leaked == 1);
}

TEST_CASE("snapshot: a module's variables are no object, though the second is a type",
          "[program][snapshot]") {
    ProgramHeap program;
    const Address state = program.heap.c_type("fast.State", {.basicsize = 24}),
                  scope =
                      program.heap.c_type("fast.Scope", {.basicsize = 24, .flags = std::uint64_t{1} << 14});
    const Address kept = program.python_class("Kept", {});
    const Address word = program.hold_in_library(kept, "/usr/lib/fast.so");
    const Address with_pointer = word + 64, with_number = word + 192, real = word + 320;
    const auto put = [&](Address at, std::uint64_t count, Address type) {
        program.heap.put(at, count);
        program.heap.put(at + 8, type);
    };
    put(with_pointer, program.heap.allocate(64).value, state);
    put(with_number, 200, scope);
    put(real, 3, state);
    // Blocks of C code, and a word of what is looked through by guess, lead there.
    const Address holder = program.heap.object(program.heap.c_type("fast.Holder", {.basicsize = 40}));
    program.heap.put(holder + 16, with_pointer);
    program.heap.put(holder + 24, with_number);
    program.heap.put(holder + 32, real);
    program.module("app", "/srv/app/app.py", {{"HOLDER", holder}, {"Kept", kept}});
    const Analysed analysed(program);
    const auto is_object = [&](Address at) { return analysed.heap.snapshot().find(at) != no_object; };
    CHECK_FALSE(is_object(with_pointer));
    CHECK_FALSE(is_object(with_number));
    CHECK(is_object(real));
}

TEST_CASE("native: an object and a block that hold each other do not become garbage", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address block = program.heap.allocate(1000);
    const Address document = library.document(block);
    program.heap.put(block + 8, document);
    program.leak(document, 1);
    program.module("app", "/srv/app/app.py", {{"Document", library.type}});
    const Analysed analysed(program);
    CHECK(analysed.graph.reach(analysed.id(document)) != Reach::unreachable);
    CHECK(analysed.retained.native(analysed.id(document)) == 1000);
}

TEST_CASE("native: blocks that no object reaches hang below what does, or have leaked", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    const Address memory = program.heap.map(Address(0x7c1000000000), 4096);
    const Address mapped = program.heap.allocate(1000), next = program.heap.allocate(2000);
    program.heap.put(memory + 64, mapped);
    program.heap.put(mapped + 8, next);
    const Address leaked = program.heap.allocate(3000), also = program.heap.allocate(4000);
    program.heap.put(leaked + 8, also);
    program.heap.put(also + 8, leaked);
    const Address document = library.document(program.heap.allocate(5000));
    program.module("app", "/srv/app/app.py", {{"KEPT", document}});
    const Analysed analysed(program);
    CHECK(group_of_block(analysed, mapped) == "native");
    CHECK(group_of_block(analysed, next) == "native");
    CHECK(group_of_block(analysed, leaked) == "leaked native memory");
    CHECK(group_of_block(analysed, also) == "leaked native memory");
    CHECK(group_of_block(analysed,
                         analysed.heap.core().memory().read_address(document + first_word).value()) == "app");
    CHECK(analysed.graph.native()->credit(block_at(analysed, next)) == Credit::other);
    CHECK(analysed.graph.native()->credit(block_at(analysed, also)) == Credit::nothing);
    std::uint64_t blocks = 0;
    for (BlockId block{0}; block < analysed.graph.block_count(); ++block) {
        blocks += analysed.graph.native()->bytes(block);
        CHECK(analysed.graph.native()->find(analysed.graph.native()->start(block)) == block);
    }
    CHECK(analysed.retained.native(analysed.graph.root()) == blocks);
}

TEST_CASE("native: a doubtful word takes nothing from a sure owner", "[program][native]") {
    Library library;
    ProgramHeap& program = library.program;
    // 40 records of one kind: each leads to its name; in one, a number looks like the address of another's name.
    std::vector<Address> documents, names;
    Address first;
    for (int i = 0; i < 40; ++i) {
        const Address record = program.heap.allocate(200), name = program.heap.allocate(600);
        program.heap.put(record + 8, name);
        for (const std::uint64_t at : {24, 32})
            program.heap.put(record + at, std::uint64_t{0x1234567800000000} + 8 * at);
        if (i == 0) first = record;
        documents.push_back(library.document(record));
        names.push_back(name);
    }
    program.heap.put(first + 24, names[1]);
    const Address kept = program.list(documents);
    program.module("app", "/srv/app/app.py", {{"KEPT", kept}});
    const Analysed analysed(program);
    const std::uint64_t record = analysed.graph.native()->bytes(block_at(analysed, first)),
                        name = analysed.graph.native()->bytes(block_at(analysed, names[1]));
    for (const Address document : documents)
        CHECK(analysed.retained.native(analysed.id(document)) == record + name);
}
