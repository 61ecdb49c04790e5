// A heap and its graph, kept in an index and read again: every column, and every answer made of them, is the
// same; what is damaged is computed anew.

#include "parsers/index/index_file.h"

#include "analysis/kept_types.h"
#include "analysis/retained_types.h"
#include "analysis/work.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr IndexKey key{1, 2};

/// Everything that an index keeps something of.
struct Program {
    Program() {
        program.add_all_kinds();
        path = directory.write("core", program.bytes());
    }
    ProgramHeap program;
    TemporaryDirectory directory;
    std::string path;

    std::string index_path() const { return directory.path() + "/core.index"; }
    std::string answers_path() const { return index_path() + ".answers"; }
};

/// The program, opened with an index and asked everything.
struct Opened {
    explicit Opened(const Program& program)
        : index(program.index_path(), key),
          answers_file(program.answers_path(), key),
          answers(&answers_file),
          heap(CoreHeap::open(CoreFile::open(program.path, {}, diagnostics), diagnostics, {}, &index)),
          work((heap.add({all_columns}), heap), {}, &index, &answers) {
        table = kept_types(&answers, heap, SortKey::retained, 3, [&] {
            TypesResult all = types(heap, SortKey::retained, 0);
            add_retained(all, work.graph(), work.retained(), SortKey::retained, 3);
            return all;
        });
        work.states();
        work.every_path();
    }
    void keep() {
        std::vector<PartWriter> parts = heap.parts();
        work.add_parts(parts);
        REQUIRE(index.keep(parts, ~std::uint64_t{0}).kept == IndexFile::Kept::kept);
        found = answers.take_found();
        REQUIRE(answers_file.keep(found, ~std::uint64_t{0}).kept == IndexFile::Kept::kept);
    }

    Diagnostics diagnostics;
    IndexFile index, answers_file;
    KeptAnswers answers;
    CoreHeap heap;
    Work work;
    TypesResult table;
    std::vector<PartWriter> found;  // after `keep`
};

void check_equal(Opened& a, Opened& b) {
    const HeapSnapshot &one = a.heap.snapshot(), &other = b.heap.snapshot();
    REQUIRE(one.object_count() == other.object_count());
    CHECK(a.diagnostics.all().size() == b.diagnostics.all().size());
    REQUIRE(one.memory->rows.size() == other.memory->rows.size());
    for (std::size_t i = 0; i < one.memory->rows.size(); ++i)
        CHECK(one.memory->rows[i].bytes == other.memory->rows[i].bytes);
    CHECK(one.references->reference_count() == other.references->reference_count());
    CHECK(one.references->natives().size() == other.references->natives().size());
    CHECK(one.references->dangling() == other.references->dangling());
    const HeapGraph &graph = a.work.graph(), &again = b.work.graph();
    REQUIRE(graph.node_count() == again.node_count());
    CHECK(graph.unreachable_count() == again.unreachable_count());
    REQUIRE(graph.roots().size() == again.roots().size());
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        CHECK(graph.roots()[i].root.object == again.roots()[i].root.object);
        CHECK(graph.roots()[i].root.kind == again.roots()[i].root.kind);
        CHECK(graph.roots()[i].parent == again.roots()[i].parent);
    }
    for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
        CHECK(graph.preorder().position(NodeId(node)) == again.preorder().position(NodeId(node)));
        const NodeRow row = graph.targets(NodeId(node)), same = again.targets(NodeId(node));
        CHECK(std::equal(row.begin(), row.end(), same.begin(), same.end()));
    }
    for (ObjectId object{0}; object < one.object_count(); ++object) {
        CHECK(one.address_of(object) == other.address_of(object));
        CHECK(one.type_of(object) == other.type_of(object));
        CHECK(one.found_by(object) == other.found_by(object));
        CHECK(other.find(one.address_of(object)) == object);
        CHECK((*one.sizes)[object].size == (*other.sizes)[object].size);
        CHECK((*one.sizes)[object].memory == (*other.sizes)[object].memory);
        CHECK(one.references->found(object) == other.references->found(object));
        CHECK(one.references->sources_of(object) == other.references->sources_of(object));
        CHECK(one.references->unowned_sources_of(object) == other.references->unowned_sources_of(object));
        CHECK(graph.reach(object) == again.reach(object));
        CHECK(RetainedLookup(graph, a.work.retained()).memory(object) ==
              RetainedLookup(again, b.work.retained()).memory(object));
        CHECK(RetainedLookup(graph, a.work.retained()).dominator(object) ==
              RetainedLookup(again, b.work.retained()).dominator(object));
        CHECK(a.work.states().of(object) == b.work.states().of(object));
        CHECK(a.work.states().in_garbage_list(object) == b.work.states().in_garbage_list(object));
        CHECK(a.work.states().collection.of[object] == b.work.states().collection.of[object]);
        CHECK(a.work.every_path().path(graph, object) == b.work.every_path().path(again, object));
        CHECK(a.heap.value(object).text == b.heap.value(object).text);
    }
    REQUIRE(a.table.types.size() == b.table.types.size());
    for (std::size_t i = 0; i < a.table.types.size(); ++i) {
        const TypeRow &row = a.table.types[i], &same = b.table.types[i];
        CHECK(row.name == same.name);
        CHECK(row.count == same.count);
        CHECK(row.retained == same.retained);
        CHECK(row.largest.address == same.largest.address);
    }
    CHECK(a.table.total_memory == b.table.total_memory);
}

}  // namespace

TEST_CASE("index: a whole heap and its graph, kept and read", "[program][index]") {
    const Program program;
    Opened cold(program);
    CHECK(cold.index.state() == IndexFile::State::absent);
    CHECK(cold.work.graph().unreachable_count() > 0);
    cold.keep();
    Opened warm(program);
    CHECK(warm.index.state() == IndexFile::State::usable);
    for (const char* part : {"pools", "malloc", "types", "objects", "sizes", "memory", "native", "lookup",
                             "traversed", "references", "walk", "retained", "states", "paths"})
        CHECK(warm.index.has(part));
    CHECK(cold.heap.parts().size() == 11);  // it found no index
    CHECK(warm.heap.parts().empty());       // nothing of it is to be written again
    CHECK(warm.answers.take_found().empty());
    CHECK(warm.heap.snapshot().references->memory_bytes() == 0);  // they lie in the file
    CHECK(warm.heap.snapshot().sizes->memory_bytes() == 0);
    check_equal(cold, warm);
    CHECK(warm.index.keep(warm.heap.parts(), ~std::uint64_t{0}).kept == IndexFile::Kept::nothing_new);
}

TEST_CASE("index: a path that it keeps and that cannot be is looked for anew", "[program][index]") {
    const Program program;
    Opened cold(program);
    cold.keep();
    const HeapGraph& graph = cold.work.graph();
    const RootPaths right = root_paths(graph, {});
    ObjectId deep{0};
    for (ObjectId object{0}; object < graph.object_count(); ++object) {
        const auto path = cold.work.every_path().path(graph, object);
        REQUIRE(path);
        REQUIRE(*path == (right.found(object) ? right.path(object) : std::vector<ObjectId>()));
        if (path->size() > 2) deep = object;
    }
    const std::vector<ObjectId> path = right.path(deep);
    REQUIRE(path.size() > 2);
    const auto read_with = [&](ObjectId object, ObjectId previous) {
        std::vector<ObjectId> all;
        for (ObjectId at{0}; at < graph.object_count(); ++at)
            all.push_back(at == object ? previous : right.found(at) ? right.previous(at) : at);
        PartReader part({{}, std::as_bytes(std::span(all))}, true, nullptr);
        EveryRootPath every;
        EveryRootPath::fields(every, part, graph.object_count());
        return every.path(graph, deep);
    };
    CHECK(read_with(deep, path[path.size() - 2]) == path);
    CHECK_FALSE(read_with(deep, path.front()));         // no reference leads from there
    CHECK_FALSE(read_with(path[1], no_object));         // no root leads there
    CHECK_FALSE(read_with(path.front(), path.back()));  // it runs in a circle, or no reference leads on
    CHECK_THROWS_AS(read_with(deep, ObjectId(graph.object_count())), IndexDamage);
}

TEST_CASE("index: one of what the core was before its objects' types changed is not used",
          "[program][index]") {
    Program program;
    Opened cold(program);
    cold.keep();
    // An instance of Node becomes a list where it lies, as if another process had been dumped into the file.
    const HeapSnapshot& heap = cold.heap.snapshot();
    ObjectId changed = no_object;
    Address other;
    for (ObjectId id{0}; id < heap.object_count(); ++id) {
        if (heap.type_info(id).name == "app.Node") changed = id;
        if (heap.type_info(id).name == "float") other = heap.type_info(id).address;
    }
    REQUIRE(changed != no_object);
    REQUIRE_FALSE(other.is_null());
    const Address before = heap.type_info(changed).address;
    std::string bytes = program.program.bytes();
    const std::uint64_t offset = *heap.python.layout.object.ob_type;
    const auto view = cold.heap.core().memory().view(heap.address_of(changed), 24);
    REQUIRE(view.size() == 24);
    const std::string object(reinterpret_cast<const char*>(view.data()), view.size());
    const std::size_t place = bytes.find(object);
    REQUIRE(place != std::string::npos);
    REQUIRE(bytes.compare(place + offset, 8, reinterpret_cast<const char*>(&before), 8) == 0);
    bytes.replace(place + offset, 8, reinterpret_cast<const char*>(&other), 8);
    std::ofstream(program.path, std::ios::binary) << bytes;

    Diagnostics diagnostics;
    IndexFile index(program.index_path(), key);  // the key is the same
    const CoreHeap heap_now =
        CoreHeap::open(CoreFile::open(program.path, {}, diagnostics), diagnostics, {}, &index);
    CHECK(index.state() == IndexFile::State::damaged);
    CHECK_THAT(index.why(), ContainsSubstring("another type"));
    const ObjectId now = heap_now.snapshot().find(cold.heap.snapshot().address_of(changed));
    CHECK((now == no_object || heap_now.snapshot().type_info(now).name != "app.Node"));
}

TEST_CASE("index: whatever part of it is damaged, the answers stay", "[program][index]") {
    const Program program;
    Opened cold(program);
    cold.keep();
    std::string whole;
    {
        std::ifstream file(program.index_path(), std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(file), {});
    }
    constexpr std::size_t first_blob = 8192;
    std::size_t noticed = 0;
    for (std::size_t place = first_blob; place < whole.size(); place += whole.size() / 40) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
        std::filesystem::remove(program.index_path());
        std::ofstream(program.index_path(), std::ios::binary) << damaged;
        std::filesystem::permissions(
            program.index_path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        Opened warm(program);
        noticed += warm.index.state() == IndexFile::State::damaged;
        check_equal(cold, warm);
    }
    CHECK(noticed > 10);
}
