// Who holds whom, added up over a small heap: which references count, what becomes of a word that may be one,
// and what is held by memory that belongs to no object.

#include "parsers/snapshot/reference_graph.h"

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Opened {
    explicit Opened(SmallCore& core, Address stack_pointer = {})
        : reader(CoreHeap::open(
              CoreFile::open(directory.write("core", core.bytes(stack_pointer)), {}, diagnostics),
              all_columns, diagnostics)) {}

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreHeap reader;

    ObjectId id(Address address) const {
        const ObjectId found = reader.snapshot().find(address);
        REQUIRE(found != no_object);
        return found;
    }
    std::uint64_t found(Address address) const { return reader.snapshot().references->found(id(address)); }
    std::vector<Address> targets(Address address) const {
        std::vector<Address> all;
        for (const ObjectId target : reader.snapshot().references->targets(id(address)))
            all.push_back(reader.snapshot().address_of(target));
        return all;
    }
    std::vector<Reference> references(Address address) const {
        std::vector<Reference> all;
        reader.visit_references(id(address), [&](const Reference& r) { all.push_back(r); });
        return all;
    }
    GuessVerdict verdict(Address object, std::uint64_t word) const {
        const HeapSnapshot& heap = reader.snapshot();
        return heap.references->verdict(id(object), heap.type_of(id(object)), word);
    }
    /// Words outside of objects that hold `address`.
    std::vector<Address> words(Address address) const {
        std::vector<Address> all;
        for (const NativeReference& native : reader.snapshot().references->natives())
            if (native.target == id(address)) all.push_back(native.word);
        return all;
    }
};

/// The graph, and the references one by one, say the same of every object.
void check_graph(const HeapReader& reader) {
    const ReferenceGraph& graph = *reader.snapshot().references;
    REQUIRE(graph.object_count() == reader.snapshot().object_count());
    std::uint64_t total = 0;
    for (ObjectId id{0}; id < reader.snapshot().object_count(); ++id) {
        std::vector<ObjectId> one_by_one;
        reader.visit_references(id, [&](const Reference& r) {
            if (const ObjectId target = reader.snapshot().find(r.target); r.followed && target != no_object)
                one_by_one.push_back(target);
        });
        const auto targets = graph.targets(id);
        CHECK(std::vector<ObjectId>(targets.begin(), targets.end()) == one_by_one);
        total += targets.size();
    }
    CHECK(graph.reference_count() == total);
}

void count(SmallCore& core, Address object, std::int64_t references) { core.heap.put(object, references); }

}  // namespace

TEST_CASE("reference graph: each reference is found once, with multiplicity; weak ones do not count",
          "[snapshot][graph]") {
    SmallCore core;
    const Address shared = core.heap.str("shared"), key = core.heap.str("key");
    const Address pair = core.heap.tuple({shared, shared});
    const Address dict = core.heap.dict({{key, pair}});
    const Address weak = core.heap.object("weakref");
    core.heap.set(weak, core.heap.layout().weakref.wr_object, core.instance);
    const Address holder = core.heap.list({dict, weak});
    count(core, shared, 2);
    const Opened opened(core);
    check_graph(opened.reader);
    CHECK(opened.targets(pair) == std::vector{shared, shared});
    CHECK(opened.found(shared) == 2);
    CHECK(opened.targets(dict) == std::vector{key, pair});  // the key is hidden, and counts
    CHECK(opened.found(key) == 1);
    CHECK(opened.targets(weak).empty());
    CHECK(opened.found(core.instance) == 1);
    CHECK(opened.targets(holder) == std::vector{dict, weak});
    CHECK(opened.targets(core.instance) == std::vector{core.type, core.number});
}

TEST_CASE("reference graph: referrers are found near and far, each once, by id", "[snapshot][graph]") {
    // One object is referred to from both ends and from either side of it, twice each time.
    constexpr std::size_t count = 200'000;
    std::vector<std::uint64_t> begin{0};
    std::vector<ObjectId> targets, expected;
    const ObjectId target{100'000};
    for (std::size_t object = 0; object < count; ++object) {
        const bool refers = object == 0 || object % 33'331 == 7 || object == count - 1 || object == 100'000;
        for (int i = 0; i < (refers ? 2 : 0); ++i) targets.push_back(target);
        targets.push_back(ObjectId(static_cast<std::uint32_t>(object / 2)));
        if (refers || object / 2 == target) expected.push_back(ObjectId(static_cast<std::uint32_t>(object)));
        begin.push_back(targets.size());
    }
    std::vector<NativeReference> natives(2);
    natives[0].target = target;
    natives[1].target = ObjectId(3);
    const ReferenceGraph graph(begin, targets, natives);
    CHECK(graph.sources_of(target) == expected);
    CHECK(graph.sources_of(ObjectId(count - 1)).empty());
    CHECK(graph.sources_of(ObjectId(3)) == std::vector{ObjectId(6), ObjectId(7)});
}

TEST_CASE("reference graph: what is reported of others' references does not count twice",
          "[snapshot][graph]") {
    // A link of a bounded lru_cache owns its key; the cache reports it.
    SmallCore core;
    const Layout& l = core.heap.layout();
    const Address link_type =
        core.heap.c_type("functools._lru_list_elem", {.basicsize = *l.lru_cache_link.size});
    const Address cache_type =
        core.heap.c_type("functools._lru_cache_wrapper",
                         {.basicsize = *l.lru_cache.size, .flags = heapsift::test::have_gc_flag});
    const Address key = core.heap.str("key"), result = core.heap.str("result");
    const Address link = core.heap.object(link_type), cache = core.heap.object(cache_type);
    core.heap.set(link, l.lru_cache_link.key, key);
    core.heap.set(link, l.lru_cache_link.result, result);
    core.heap.set(link, l.lru_cache_link.prev, cache);
    core.heap.set(link, l.lru_cache_link.next, cache);
    core.heap.set(cache, l.lru_cache.root_next, link);
    (void)core.heap.list({cache});
    const Opened opened(core);
    check_graph(opened.reader);
    CHECK(opened.found(key) == 1);
    CHECK(opened.found(result) == 1);
    CHECK(opened.found(link) == 1);
    const auto reported = opened.references(cache);
    CHECK(std::count_if(reported.begin(), reported.end(),
                        [](const Reference& r) { return r.kind == ReferenceKind::reported; }) == 2);
}

TEST_CASE("reference graph: what was once taken from the interpreter's array of free lists is not held by it",
          "[snapshot][graph][native]") {
    SmallCore core;
    const auto& l = core.heap.layout().interpreter_state;
    REQUIRE(l.free_lists.present());
    const Address dead = core.heap.list({});
    count(core, dead, 0);
    core.heap.put(core.interpreter + *l.free_lists, dead);
    core.heap.set(core.interpreter, l.free_lists_count, std::int32_t{1});
    const Address stale = core.interpreter + *l.free_lists + 8;
    core.heap.put(stale, core.items);
    count(core, core.items, 2);
    SECTION("the array is what the layout says") {
        const Opened opened(core);
        CHECK(opened.words(core.items).empty());
        CHECK(opened.found(core.items) == 1);
    }
    SECTION("something else is in its place: its objects are alive") {
        count(core, dead, 1);
        const Opened opened(core);
        CHECK(opened.words(core.items) == std::vector{stale});
    }
}

TEST_CASE("reference graph: counts of the targets tell which guesses are references", "[snapshot][graph]") {
    SmallCore core;
    const Address thing_type = core.heap.c_type("c.Thing", {.basicsize = 48});
    // Word 16 of a Thing is a reference: nothing else explains the count. Word 24 is a leftover: the list
    // explains it.
    std::vector<Address> things, held, owned;
    for (int i = 0; i < 8; ++i) {
        things.push_back(core.heap.object(thing_type));
        owned.push_back(core.heap.str("owned " + std::to_string(i)));
        held.push_back(core.heap.str("held " + std::to_string(i)));
        core.heap.put(things.back() + 16, owned.back());
        core.heap.put(things.back() + 24, held.back());
        core.heap.put(things.back() + 32, std::uint64_t{0x1234});  // no address of an object
    }
    // For a target with two candidates and one reference the word decides, whichever comes first.
    const Address disputed = core.heap.str("disputed");
    const Address loser = core.heap.object(thing_type), winner = core.heap.object(thing_type);
    core.heap.put(loser + 24, disputed);
    core.heap.put(winner + 16, disputed);
    // One that nobody can tell: two words never seen elsewhere, and one reference.
    const Address unclear = core.heap.str("unclear");
    core.heap.put(loser + 40, unclear);
    core.heap.put(winner + 40, unclear);
    const Address list = core.heap.list(held);
    std::vector<Address> all = things;
    all.insert(all.end(), {loser, winner, list});
    const Address last = core.heap.tuple(all);
    const Opened opened(core);
    check_graph(opened.reader);
    const ReferenceGraph& graph = *opened.reader.snapshot().references;
    for (std::size_t i = 0; i < things.size(); ++i) {
        CHECK(opened.verdict(things[i], 16) == GuessVerdict::proved);
        CHECK(opened.verdict(things[i], 24) == GuessVerdict::refused);
        CHECK(opened.verdict(things[i], 32) == GuessVerdict::refused);  // never was a guess
        CHECK(opened.targets(things[i]) == std::vector{owned[i]});
        CHECK(opened.found(owned[i]) == 1);
        CHECK(opened.found(held[i]) == 1);
    }
    CHECK(opened.verdict(winner, 16) == GuessVerdict::allowed);
    CHECK(opened.verdict(loser, 24) == GuessVerdict::refused);
    CHECK(opened.found(disputed) == 1);
    CHECK(opened.found(unclear) == 1);
    CHECK(graph.guesses().proved == 8);
    CHECK(graph.guesses().allowed == 2);
    CHECK(graph.guesses().refused == 8 + 1 + 1);
    CHECK(opened.targets(list) == held);
    CHECK(opened.targets(last) == all);
    // What was proved is a fact; what was refused is not shown.
    const auto shown = opened.references(things[0]);
    REQUIRE(shown.size() == 1);
    CHECK(shown[0].kind == ReferenceKind::hidden);
    CHECK(shown[0].followed);
}

TEST_CASE("reference graph: a pointer of an object to itself is no reference", "[snapshot][graph]") {
    SmallCore core;
    const Address thing_type = core.heap.c_type("c.Request", {.basicsize = 48});
    std::vector<Address> things;
    for (int i = 0; i < 4; ++i) {
        things.push_back(core.heap.object(thing_type));
        core.heap.put(things.back() + 24, things.back());
        count(core, things.back(), 1);  // which only code in C can explain
    }
    const Opened opened(core);
    check_graph(opened.reader);
    for (const Address thing : things) {
        CHECK(opened.verdict(thing, 24) == GuessVerdict::refused);
        CHECK(opened.found(thing) == 0);
    }
}

TEST_CASE("reference graph: where a type has many objects, a sample judges each word for all of them",
          "[snapshot][graph]") {
    constexpr std::size_t count_of_things = 4096, stale = 7;
    SmallCore core;
    const Address thing_type = core.heap.c_type("c.Thing", {.basicsize = 64});
    const Address shared = core.heap.str("shared");
    std::vector<Address> things, owned, held, disputed, mixed;
    for (std::size_t i = 0; i < count_of_things; ++i) {
        const std::string number = std::to_string(i);
        things.push_back(core.heap.object(thing_type));
        owned.push_back(core.heap.str("owned " + number));
        held.push_back(core.heap.str("held " + number));
        disputed.push_back(core.heap.str("disputed " + number));
        mixed.push_back(core.heap.str("mixed " + number));
    }
    for (std::size_t i = 0; i < count_of_things; ++i) {
        const Address thing = things[i];
        core.heap.put(thing + 16, i == stale ? held[0] : owned[i]);
        // Borrowed. For every other object the count of its target says so; the others wait for that.
        core.heap.put(thing + 24, i % 2 == 0 ? held[i] : disputed[i]);
        core.heap.put(thing + 32, disputed[i]);
        core.heap.put(thing + 40, shared);    // nothing is known of it
        core.heap.put(thing + 48, mixed[i]);  // owned by every other thing
    }
    count(core, shared, 2 * count_of_things);
    std::vector<Address> all = things;
    all.insert(all.end(), held.begin(), held.end());
    all.push_back(owned[stale]);
    for (std::size_t i = 0; i < count_of_things; i += 2) all.push_back(mixed[i]);
    (void)core.heap.tuple(all);
    const Opened opened(core);
    check_graph(opened.reader);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count_of_things; ++i) {
        const GuessVerdict of_owned = i == stale ? GuessVerdict::refused : GuessVerdict::proved;
        const GuessVerdict of_mixed = i % 2 == 0 ? GuessVerdict::refused : GuessVerdict::proved;
        wrong += opened.verdict(things[i], 16) != of_owned;
        wrong += opened.verdict(things[i], 24) != GuessVerdict::refused;
        wrong += opened.verdict(things[i], 32) != GuessVerdict::proved;
        wrong += opened.verdict(things[i], 40) != GuessVerdict::allowed;
        wrong += opened.verdict(things[i], 48) != of_mixed;
        wrong += opened.found(held[i]) != 1 || opened.found(owned[i]) != 1 || opened.found(disputed[i]) != 1;
    }
    CHECK(wrong == 0);
    CHECK(opened.targets(things[1]) == std::vector{owned[1], disputed[1], shared, mixed[1]});
    CHECK(opened.targets(things[stale]) == std::vector{disputed[stale], shared, mixed[stale]});
    const GuessCounts& guesses = opened.reader.snapshot().references->guesses();
    CHECK(guesses.proved == count_of_things - 1 + count_of_things + count_of_things / 2);
    CHECK(guesses.allowed == count_of_things);
    CHECK(guesses.refused == 1 + count_of_things + count_of_things / 2);
}

TEST_CASE("reference graph: the address of an int with the lowest bit set may be a reference",
          "[snapshot][graph]") {
    SmallCore core;
    const Address thing_type = core.heap.c_type("c.Thing", {.basicsize = 40});
    const Address thing = core.heap.object(thing_type);
    const Address number = core.heap.integer(1'000'000), text = core.heap.str("text");
    core.heap.put(thing + 16, number + 1);
    core.heap.put(thing + 24, text + 1);  // only ints are marked so
    core.heap.put(thing + 32, number + 2);
    (void)core.heap.tuple({thing, text});
    const Opened opened(core);
    check_graph(opened.reader);
    CHECK(opened.targets(thing) == std::vector{number});
    CHECK(opened.verdict(thing, 16) == GuessVerdict::proved);
}

TEST_CASE("reference graph: a count that lies takes no guess away from others",
          "[snapshot][graph][damaged]") {
    SmallCore core;
    const Address thing_type = core.heap.c_type("c.Thing", {.basicsize = 32});
    const Address thing = core.heap.object(thing_type), other = core.heap.object(thing_type);
    const Address target = core.heap.str("target"), good = core.heap.str("good");
    core.heap.put(thing + 16, target);
    core.heap.put(other + 16, good);
    (void)core.heap.tuple({thing, other, target, good});
    const auto lie =
        GENERATE(std::int64_t{0x7fffffff}, std::int64_t{1} << 31, std::int64_t{-1}, std::int64_t{1} << 63);
    count(core, target, lie);
    count(core, good, 2);
    const Opened opened(core);
    check_graph(opened.reader);
    CHECK(opened.verdict(other, 16) == GuessVerdict::proved);
}

TEST_CASE("reference graph: the state of a module is guessed word by word", "[snapshot][graph]") {
    SmallCore core;
    const Layout& l = core.heap.layout();
    const Address definition = core.heap.allocate_static(*l.module_def.m_size + 64);
    core.heap.set(definition, l.module_def.m_size, std::int64_t{32});
    const Address module = core.heap.object("module"), state = core.heap.allocate(32);
    const Address kept = core.heap.str("kept"), left_over = core.heap.str("left over");
    core.heap.set(module, l.module.md_def, definition);
    core.heap.set(module, l.module.md_state, state);
    core.heap.put(state + 8, kept);
    core.heap.put(state + 24, left_over);
    (void)core.heap.tuple({module, left_over});
    const Opened opened(core);
    check_graph(opened.reader);
    CHECK(opened.targets(module) == std::vector{kept});
    CHECK_FALSE(opened.reader.facts(opened.id(module)).references_exact);
    CHECK(opened.reader.facts(opened.id(core.module)).references_exact);
    CHECK(opened.words(kept).empty());  // the state is the module's, no block of C code
}

TEST_CASE("native references: a block of C code, the interpreter's state, a stack above its pointer",
          "[snapshot][native]") {
    SmallCore core;
    const Address target = core.heap.str("held by C code"), balanced = core.heap.str("balanced");
    const Address block = core.heap.allocate(64);
    const Address stack = core.heap.map(Address(0x7ffc00000000), 8192);
    const Address in_state = core.interpreter + *core.heap.layout().interpreter_state.size - 64;
    for (const Address held : {target, balanced})
        for (const Address word : {block + 8, stack + 6000, stack + 1000, in_state})
            core.heap.put(held == target ? word : word + 8, held);
    (void)core.heap.tuple({target, balanced});
    const std::int64_t references = GENERATE(1, 2, 3, 4, 9);
    count(core, target, references);
    const Opened opened(core, stack + 4096);
    check_graph(opened.reader);
    CHECK(opened.words(balanced).empty());
    // No more than are left; the interpreter's before a block's before a stack's; never what is below the
    // stack pointer.
    std::vector<Address> expected;
    if (references > 1) expected.push_back(in_state);
    if (references > 2) expected.push_back(block + 8);
    if (references > 3) expected.push_back(stack + 6000);
    std::sort(expected.begin(), expected.end());
    CHECK(opened.words(target) == expected);
    CHECK(opened.found(target) == std::min<std::size_t>(expected.size() + 1, 4));
    std::vector<std::string> names;
    opened.reader.visit_referrers(opened.id(target), [&](ObjectId source, const Reference& r) {
        CHECK((source == no_object) == (r.kind == ReferenceKind::native));
        names.push_back(r.name());
    });
    REQUIRE(names.size() == expected.size() + 1);
    CHECK(names[0] == "[0]");
    if (references == 9)
        CHECK(std::vector(names.begin() + 1, names.end()) ==
              std::vector<std::string>{"<interpreter state>", "<block of C code>", "<native stack>"});
}

TEST_CASE("native references: what was given back, and what an object owns, is nobody's",
          "[snapshot][native]") {
    SmallCore core;
    const Address target = core.heap.str("target");
    const Address freed = core.heap.allocate(256);
    (void)core.heap.allocate(32);
    core.heap.put(freed + 64, target);
    core.heap.put(core.freed_float + 16, target);
    const Address list = core.heap.list({}, 16);  // room behind its items, with leftovers
    core.heap.put(core.heap.heap().pointer(list + *core.heap.layout().list.ob_item) + 64, target);
    (void)core.heap.tuple({target, list});
    count(core, target, 5);
    core.give_back(freed);
    const Opened opened(core);
    CHECK(opened.words(target).empty());
}
