// What handmade heaps give other programs to read: text that is hostile to the format, and sizes that do not
// fit it.

#include "cli/json.h"
#include "cli/render/export_heapsnapshot.h"
#include "cli/render/export_pictures.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A list that C code holds, with an item whose type, value and name break files: quotes, control characters,
/// invalid UTF-8.
HandmadeHeap hostile_heap() {
    HandmadeHeap heap;
    const Reference odd = item(0x10200, literal("'\"];\n\\\xff\xed\xb2\x80'", 7));
    heap.objects = {{Address(0x10100),
                     "list",
                     facts(56, 64),
                     {},
                     {odd, reference(0x10100, ".itself", ReferenceKind::weak)}},
                    {Address(0x10200),
                     "app.\"N;\x1b[2J o\\\xff",
                     facts(48, 9 * gib),
                     literal("'\"\\n\n\xff\xed\xb2\x80'", 5),
                     {}}};
    Reference native = reference(0x10100, "<block \"of\" C code;>", ReferenceKind::native);
    native.word = Address(0x20000);
    heap.natives = {native};
    return heap;
}

std::string heap_snapshot(const HandmadeHeap& made, bool redact = false) {
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    Redactor redactor(redact);
    std::string text;
    write_heap_snapshot(graph, redactor, [&](std::string_view part) { text += part; });
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace

TEST_CASE("heapsnapshot: keys in order, exact counts, 32 bits; more than 4 GiB in pieces", "[cli][export]") {
    const std::string text = heap_snapshot(hostile_heap());
    const Json file = Json::parse(text);
    std::vector<std::string> keys;
    for (const auto& [key, value] : file.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"snapshot", "nodes", "edges", "trace_function_infos", "trace_tree",
                                           "samples", "locations", "strings"});
    const auto nodes = file["nodes"].get<std::vector<std::uint64_t>>(),
               edges = file["edges"].get<std::vector<std::uint64_t>>();
    CHECK(nodes.size() == 5 * file["snapshot"]["node_count"].get<std::size_t>());
    CHECK(edges.size() == 3 * file["snapshot"]["edge_count"].get<std::size_t>());
    std::uint64_t memory = 0, edge_count = 0, pieces = 0;
    for (std::size_t i = 0; i < nodes.size(); i += 5) {
        CHECK(nodes[i + 2] == 2 * (i / 5) + 1);
        CHECK(nodes[i + 3] <= 0xffffffff);
        CHECK(nodes[i + 1] < file["strings"].size());
        memory += nodes[i + 3];
        edge_count += nodes[i + 4];
        pieces += nodes[i] == 8;
    }
    CHECK(memory == 64 + 9 * gib);
    CHECK(pieces == 2);
    CHECK(edge_count == edges.size() / 3);
    std::size_t weak = 0;
    for (std::size_t i = 0; i < edges.size(); i += 3) {
        weak += edges[i] == 6;
        CHECK(edges[i + 2] % 5 == 0);
        CHECK(edges[i + 2] < nodes.size());
    }
    CHECK(weak == 1);
    for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c < 0x7f)));
}

TEST_CASE("heapsnapshot: names are reprs, grouped by type; --redact keeps values out",
          "[cli][export][redact]") {
    const Json file = Json::parse(heap_snapshot(hostile_heap()));
    const auto strings = file["strings"].get<std::vector<std::string>>();
    CHECK(std::count(strings.begin(), strings.end(), "(GC roots)") == 1);
    CHECK(std::count(strings.begin(), strings.end(), "<list 0x10100>") == 1);
    HandmadeHeap secret = hostile_heap();
    secret.objects[1].value = literal("'hunter2'", 7);
    secret.objects[0].references[0].step.key = literal("'hunter2'", 7);
    CHECK(heap_snapshot(secret).find("hunter2") != std::string::npos);
    CHECK(heap_snapshot(secret, true).find("hunter2") == std::string::npos);
}

TEST_CASE("folded: a line a stack, whatever names hold; chains of one type are one frame", "[cli][export]") {
    HandmadeHeap made = hostile_heap();
    for (std::uint64_t i = 0; i < 5; ++i) {
        made.objects.push_back({Address(0x10300 + 0x100 * i), "app.Node", facts(48, 10), {}, {}});
        made.objects[i == 0 ? 1 : made.objects.size() - 2].references.push_back(
            reference(0x10300 + 0x100 * i, ".next"));
    }
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    std::string text;
    CHECK(write_folded(graph, retained_sizes(graph), 64, [&](std::string_view line) { text += line; }) == 3);
    CHECK(lines_of(text) == std::vector<std::string>{"native;list 64",
                                                     "native;list;app.\"N,\\x1b[2J o\\\\xff 9663676416",
                                                     "native;list;app.\"N,\\x1b[2J o\\\\xff;app.Node ×5 50"});
}

TEST_CASE("dot: every line is closed, whatever names hold", "[cli][export]") {
    const HandmadeReader heap = hostile_heap().build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    Redactor redactor;
    for (const Picture& picture :
         {picture_of(graph, sizes, ObjectId(1), 3, 200), picture_of_top(graph, sizes, 6, 60)}) {
        const std::vector<std::string> lines = lines_of(dot_text(picture, redactor));
        CHECK(lines.front() == "digraph heap {");
        CHECK(lines.back() == "}");
        CHECK(lines.size() == 5 + picture.nodes.size() + picture.edges.size());
        for (std::size_t i = 3; i + 1 < lines.size(); ++i) {
            bool quoted = false;
            for (std::size_t c = 0; c < lines[i].size(); ++c) {
                if (quoted && lines[i][c] == '\\')
                    ++c;
                else if (lines[i][c] == '"')
                    quoted = !quoted;
            }
            CHECK_FALSE(quoted);
            CHECK(lines[i].ends_with(";"));
        }
    }
    const Picture one = picture_of(graph, sizes, ObjectId(1), 3, 1);
    CHECK(one.nodes.size() == 1);
    CHECK(one.nodes[0].node == 1);
}
