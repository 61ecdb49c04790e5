// What fields of well-known types tell of memory outside Python, and structs that do not prove themselves.

#include "parsers/libraries/library_objects.h"
#include "tests/cpython/heap_questions.h"

#include <cstring>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using Kind = LibraryFacts::Kind;

const Layout& layout() { return *builtin_layout({3, 12, false, false}); }

Address c_string(PythonHeapBuilder& heap, const std::string& text) {
    const Address at = heap.allocate(text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) heap.put(at + i, text[i]);
    return at;
}

std::optional<LibraryFacts> facts_of(PythonHeapBuilder& heap, Address object) {
    return library_facts(heap.reader(object));
}

}  // namespace

TEST_CASE("BytesIO: what was written, and its buffer", "[libraries]") {
    PythonHeapBuilder heap(layout());
    const Address file = heap.object(heap.c_type("_io.BytesIO", {.basicsize = 64}));
    heap.put(file + 16, heap.bytes(std::string(100, 'x')));
    heap.put(file + 32, std::int64_t{60});
    SECTION("as it is") {
        const auto facts = facts_of(heap, file);
        REQUIRE(facts);
        CHECK(facts->kind == Kind::bytes_io);
        CHECK(facts->bytes == 60);
        CHECK(facts->allocated == 100);
    }
    SECTION("more than the buffer holds") {
        heap.put(file + 32, std::int64_t{101});
        CHECK_FALSE(facts_of(heap, file));
    }
    SECTION("closed") {
        heap.put(file + 16, Address());
        CHECK_FALSE(facts_of(heap, file));
    }
}

TEST_CASE("mmap: as many bytes as are mapped, or none", "[libraries]") {
    PythonHeapBuilder heap(layout());
    const Address object = heap.object(heap.c_type("mmap.mmap", {.basicsize = 72}));
    const Address data = heap.map(Address(0x7c0000000000), 8192);
    heap.put(object + 16, data);
    const std::uint64_t bytes = GENERATE(8192, 8193);
    heap.put(object + 24, bytes);
    const auto facts = facts_of(heap, object);
    REQUIRE(facts.has_value() == (bytes == 8192));
    if (facts) CHECK(facts->bytes == 8192);
    if (facts) CHECK(facts->data == data);
}

TEST_CASE("image: mode, size and bytes, if lines are as long as pixels need", "[libraries]") {
    PythonHeapBuilder heap(layout());
    const Address core = heap.object(heap.c_type("ImagingCore", {.basicsize = 32}));
    const Address image = heap.allocate(128), rows = heap.allocate(64);
    heap.put(core + 16, image);
    for (std::size_t i = 0; i < 3; ++i) heap.put(image + i, "RGB"[i]);
    heap.put(image + 20, std::int32_t{80});
    heap.put(image + 24, std::int32_t{60});
    heap.put(image + 48, rows);
    heap.put(image + 56, rows);
    heap.put(image + 80, std::int32_t{4});
    heap.put(image + 84, std::int32_t{320});
    heap.put(image + 88, heap.code_address());
    SECTION("as it is") {
        const auto facts = facts_of(heap, core);
        REQUIRE(facts);
        CHECK(facts->mode == "RGB");
        CHECK(facts->width == 80);
        CHECK(facts->height == 60);
        CHECK(facts->bytes == 19200);
    }
    SECTION("another length of a line") {
        heap.put(image + 84, std::int32_t{240});
        CHECK_FALSE(facts_of(heap, core));
    }
    SECTION("no mode") {
        heap.put(image, std::uint32_t{3});
        CHECK_FALSE(facts_of(heap, core));
    }
    SECTION("functions that are no module's") {
        heap.put(image + 88, rows);
        CHECK_FALSE(facts_of(heap, core));
    }
}

TEST_CASE("sqlite3: the file of a connection, by the name of its journal", "[libraries]") {
    PythonHeapBuilder heap(layout());
    const Address object = heap.object(heap.c_type("sqlite3.Connection", {.basicsize = 64}));
    const Address db = heap.allocate(128), list = heap.allocate(96), tree = heap.allocate(64),
                  shared = heap.allocate(96), pager = heap.allocate(512);
    heap.put(object + 16, db);
    heap.put(db + 32, list);
    heap.put(list, c_string(heap, "main"));
    heap.put(list + 8, tree);
    heap.put(tree, db);
    heap.put(tree + 8, shared);
    heap.put(shared, pager);
    // Names of a Pager stand in one block.
    const Address names = heap.allocate(64);
    const std::string file = "/srv/x.db", journal = "/srv/x.db-journal";
    for (std::size_t i = 0; i < file.size(); ++i) heap.put(names + i, file[i]);
    for (std::size_t i = 0; i < journal.size(); ++i) heap.put(names + 16 + i, journal[i]);
    SECTION("of a file") {
        heap.put(pager + 208, names);
        heap.put(pager + 216, names + 16);
        const auto facts = facts_of(heap, object);
        REQUIRE(facts);
        CHECK(facts->file == "/srv/x.db");
        CHECK_FALSE(facts->in_memory);
    }
    SECTION("without a file") {
        const auto facts = facts_of(heap, object);
        REQUIRE(facts);
        CHECK(facts->in_memory);
        CHECK(facts->bytes == 0);
    }
    SECTION("without a file, with pages") {
        heap.put(shared + 8, db);
        heap.put(shared + 52, std::uint32_t{4096});
        heap.put(shared + 56, std::uint32_t{4096});
        heap.put(shared + 64, std::uint32_t{457});
        CHECK(facts_of(heap, object)->bytes == 457 * 4096);
        heap.put(shared + 52, std::uint32_t{4097});  // no power of two
        CHECK(facts_of(heap, object)->bytes == 0);
    }
    SECTION("its tree is another's") {
        heap.put(tree, shared);
        CHECK_FALSE(facts_of(heap, object));
    }
}

TEST_CASE("lxml: an element's tag, a document's root and URL", "[libraries]") {
    PythonHeapBuilder heap(layout());
    const Address document = heap.object(heap.c_type("lxml.etree._Document", {.basicsize = 64}));
    const Address element = heap.object(heap.c_type("lxml.etree._Element", {.basicsize = 40}));
    const Address doc = heap.allocate(176), comment = heap.allocate(120), root = heap.allocate(120);
    heap.put(document + 40, doc);
    heap.put(doc + 8, std::int32_t{9});
    heap.put(doc + 24, comment);
    heap.put(doc + 64, doc);
    heap.put(doc + 136, c_string(heap, "/srv/a.xml"));
    heap.put(comment + 8, std::int32_t{8});
    heap.put(comment + 48, root);
    heap.put(comment + 64, doc);
    heap.put(root, element);
    heap.put(root + 8, std::int32_t{1});
    heap.put(root + 16, c_string(heap, "catalog"));
    heap.put(root + 64, doc);
    heap.put(element + 16, document);
    heap.put(element + 24, root);
    SECTION("as it is") {
        const auto of_document = facts_of(heap, document), of_element = facts_of(heap, element);
        REQUIRE(of_document);
        CHECK(of_document->tag == "catalog");
        CHECK(of_document->file == "/srv/a.xml");
        REQUIRE(of_element);
        CHECK(of_element->kind == Kind::element);
        CHECK(of_element->tag == "catalog");
        CHECK(of_element->file == "/srv/a.xml");
    }
    SECTION("siblings in a circle end") {
        heap.put(comment + 48, comment);
        const auto facts = facts_of(heap, document);
        REQUIRE(facts);
        CHECK(facts->tag.empty());
    }
    SECTION("a node that is not this element's") {
        heap.put(root, document);
        CHECK_FALSE(facts_of(heap, element));
    }
    SECTION("a document that does not lead to itself") {
        heap.put(doc + 64, root);
        CHECK_FALSE(facts_of(heap, document));
        CHECK_FALSE(facts_of(heap, element));
    }
}
