// referents and referrers: how references are printed, for a terminal and for programs.

#include "cli/render/edges.h"
#include "cli/render/show.h"

#include "cli/text_width.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeHeap small_heap() {
    HandmadeHeap heap;
    Reference name = key(0x10300, literal("'hunter2'", 7), ReferenceKind::hidden),
              guess = reference(0x10300, "<+24>", ReferenceKind::guess);
    guess.followed = false;
    heap.objects = {
        {Address(0x10200),
         "app.\x1b[2JEvil",
         facts(48, 64),
         {},
         {reference(0x10300, ".name"), name, reference(0x10300, ".<old>", ReferenceKind::weak), guess,
          reference(0x999, ".lost")}},
        {Address(0x10300), "str", facts(56, 64, 0, 3), literal("'hunter2'", 7), {}},
    };
    Reference native = reference(0x10300, "<native stack>", ReferenceKind::native);
    native.word = Address(0x7ffc00000100);
    heap.natives = {native};
    return heap;
}

std::string lists_text(const EdgesResult& result, void (*say)(const ShownEdges&, Document&),
                       const Page& page) {
    Document document;
    say(shown_edges(result.list, {}), document);
    return written(document, page);
}

}  // namespace

TEST_CASE("render referents: text", "[cli][render][edges]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const EdgesResult result = referents(heap, heap.snapshot().find(Address(0x10200)), 20);
    CHECK(Written(render_referents(result), shown).text(shown.page) ==
          "app.\\x1b[2JEvil 0x10200\n"
          "It refers to 5 objects\n"
          "  .name          0x10300  str                        'hunter2'\n"
          "  key 'hunter2'  0x10300  str                        'hunter2'  hidden\n"
          "  .<old>         0x10300  str                        'hunter2'  weak\n"
          "  <+24>          0x10300  str                        'hunter2'  guessed\n"
          "  .lost          0x999    no object was found there\n");
}

TEST_CASE("render referrers: text, words of C code, and what a limit left out", "[cli][render][edges]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const EdgesResult all = referrers(heap, heap.snapshot().find(Address(0x10300)), 0);
    const std::string text = Written(render_referrers(all), shown).text(shown.page);
    CHECK(text.rfind("str 0x10300  'hunter2'\n5 references refer to it\n", 0) == 0);
    CHECK_THAT(text, ContainsSubstring("0x7ffc00000100  <native stack>"));
    const EdgesResult two = referrers(heap, heap.snapshot().find(Address(0x10300)), 2);
    CHECK_THAT(Written(render_referrers(two), shown).text(shown.page), ContainsSubstring("… 3 more: add"));
    const EdgesResult none = referrers(heap, heap.snapshot().find(Address(0x10200)), 20);
    CHECK_THAT(Written(render_referrers(none), shown).text(shown.page),
               ContainsSubstring("No object was found that refers to it."));
    const EdgesResult nothing = referents(heap, heap.snapshot().find(Address(0x10300)), 20);
    CHECK_THAT(Written(render_referents(nothing), shown).text(shown.page),
               ContainsSubstring("It refers to nothing."));
}

TEST_CASE("render referrers: a block of C code with its class, and what holds that", "[cli][render][edges]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    EdgesResult result = referrers(heap, heap.snapshot().find(Address(0x10300)), 0);
    const auto edge = std::find_if(result.list.edges.begin(), result.list.edges.end(),
                                   [](const EdgeRow& row) { return row.holder.has_value(); });
    REQUIRE(edge != result.list.edges.end());
    NativeEnd block, node, variable;
    block.is_block = node.is_block = true;
    block.address = Address(0x55000010);
    block.bytes = 56;
    block.words = "hold::Entry";
    node.bytes = 72;
    variable.words = "libhold.so registry";
    const auto row = [&](std::vector<NativeEnd> way, std::uint64_t left_out) {
        edge->holder = NativeHolder{
            .word = edge->source.address, .way = std::move(way), .left_out = left_out, .marked = true};
        std::string text = Written(render_referrers(result), shown).text(shown.page);
        text.erase(0, text.find("0x7ffc00000100"));
        text.erase(text.find('\n'));
        return text;
    };
    CHECK_THAT(row({block, variable}, 0), ContainsSubstring("a block of 56 B"));
    CHECK_THAT(row({block, variable}, 0), ContainsSubstring("hold::Entry"));
    CHECK_THAT(row({block, variable}, 0), ContainsSubstring("held by libhold.so registry"));
    CHECK_THAT(row({block, node, variable}, 0),
               ContainsSubstring("held by a block of 72 B, from libhold.so"));
    CHECK_THAT(row({block, node, variable}, 8),
               ContainsSubstring("held through 9 more blocks, from libhold"));
    CHECK_THAT(row({variable}, 0), ContainsSubstring("libhold.so registry"));
    NativeEnd nothing;
    nothing.words = "nothing: it leaked";
    nothing.leaked = true;
    CHECK_THAT(row({block, nothing}, 0), ContainsSubstring("leaked  native"));
    const Written answer(render_referrers(result), shown);
    const auto rows = rows_of(answer);
    const auto native =
        std::find_if(rows.begin(), rows.end(), [](const Json& one) { return one["kind"] == "native"; });
    REQUIRE(native != rows.end());
    CHECK((*native)["holder"]["marked"] == true);
    CHECK((*native)["holder"]["way"][0]["bytes"] == 56);
    CHECK((*native)["holder"]["way"][1]["words"] == "nothing: it leaked");
}

TEST_CASE("render referents: every line fits the terminal", "[cli][render][edges]") {
    HandmadeHeap made = small_heap();
    made.objects[0].references[0].step = item_step(literal("'" + std::string(300, 'k') + "'", 300));
    made.objects[1].value = literal("'" + std::string(400, 'x') + "'", 400);
    const HandmadeReader heap = made.build();
    for (const std::size_t width : {80U, 100U, 200U}) {
        Shown shown;
        shown.page.width = static_cast<decltype(shown.page.width)>(width);
        const EdgesResult down = referents(heap, heap.snapshot().find(Address(0x10200)), 0),
                          up = referrers(heap, heap.snapshot().find(Address(0x10300)), 0);
        // The table of references; the heading above it is one object, as show has it.
        for (const std::string& text :
             {lists_text(down, say_referents, shown.page), lists_text(up, say_referrers, shown.page)})
            for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
                CHECK(display_width(text.substr(at, end - at)) <= width);
    }
}

TEST_CASE("render show: rows that are read one by one are written as those of the list",
          "[cli][render][edges]") {
    const HandmadeReader heap = small_heap().build();
    const ObjectId object = heap.snapshot().find(Address(0x10200));
    const auto read_by = [&](auto* read) {
        return [&heap, object, read](const EdgeList& list, const EdgeVisitor& visit) {
            read(heap, object, list, visit);
        };
    };
    Shown kept_rows, read_rows;
    const Written of_list(render_show(show(heap, object, 0)), kept_rows);
    const Written of_heap(
        render_show(show(heap, object, no_edges), read_by(visit_referents), read_by(visit_referrers)),
        read_rows);
    CHECK(of_heap.data == of_list.data);
    CHECK(of_heap.data["referents"].size() == 5);
    CHECK(of_heap.text(read_rows.page) == of_list.text(kept_rows.page));
}

TEST_CASE("render referrers: JSON and CSV have the keys of the contract", "[cli][render][edges]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const EdgesResult result = referrers(heap, heap.snapshot().find(Address(0x10300)), 2);
    const Written answer(render_referrers(result), shown);
    CHECK(answer.document.command == "referrers");
    CHECK(answer.document.rows_key == "edges");
    CHECK(answer.data["object"]["address"] == "0x10300");
    CHECK(answer.data["object"]["type"] == "str");
    CHECK(answer.data["total"] == 5);
    const auto rows = rows_of(answer);
    REQUIRE(rows.size() == 2);
    for (const Json& row : rows) {
        CHECK(row.size() == answer.document.csv_columns.size());
        for (const std::string& column : answer.document.csv_columns) CHECK(row.contains(column));
    }
    CHECK(rows[0]["source"] == "0x10200");
    CHECK(rows[0]["name"] == ".name");
    CHECK(rows[0]["followed"] == true);
    CHECK(rows[0]["target_value"] == "'hunter2'");
    const EdgesResult whole = referrers(heap, heap.snapshot().find(Address(0x10300)), 0);
    const auto all = rows_of(Written(render_referrers(whole), shown));
    const auto native =
        std::find_if(all.begin(), all.end(), [](const Json& row) { return row["kind"] == "native"; });
    REQUIRE(native != all.end());
    CHECK((*native)["source"] == "0x7ffc00000100");
    CHECK((*native)["source_type"].is_null());
    CHECK((*native)["source_value"].is_null());
}

TEST_CASE("render referents: --redact leaves no value, neither in names nor in columns",
          "[cli][render][edges][redact]") {
    Shown shown(true);
    const HandmadeReader heap = small_heap().build();
    const EdgesResult result = referents(heap, heap.snapshot().find(Address(0x10200)), 0);
    const Written answer(render_referents(result), shown);
    CHECK(answer.text(shown.page).find("hunter2") == std::string::npos);
    for (const Json& row : rows_of(answer)) CHECK(row.dump().find("hunter2") == std::string::npos);
}
