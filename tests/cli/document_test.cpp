// Documents: what a writer gets of them. A writer of another kind, fragments of HTML, is written here over the same
// documents that text, JSON and CSV are written of, and must find every sentence, table and hint in them.

#include "cli/document/document.h"

#include "cli/render/gc.h"
#include "cli/render/holders.h"
#include "cli/render/object.h"
#include "cli/render/objects.h"
#include "cli/render/show.h"
#include "cli/render/tasks.h"
#include "cli/render/threads.h"
#include "cli/render/types.h"
#include "cli/write/spans.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// The other writer.
class Fragments {
public:
    explicit Fragments(const Page& page) : page_(page) {}

    std::string all(const std::vector<Block>& blocks) {
        std::string html;
        for (const Block& block : blocks) html += std::visit(*this, block.content);
        return html;
    }
    std::string operator()(const Paragraph& p) { return element("p", text(p.text) + text(p.tail)); }
    std::string operator()(const Hint& hint) {
        return element("p", element("code", "heapsift " + text(hint.command)) + text(hint.what_for));
    }
    std::string operator()(const Masthead& head) {
        return element("h1", text(head.name)) +
               element("p", text(head.process) + text(head.facts) + text(head.state) + text(head.where));
    }
    std::string operator()(const Gap&) { return {}; }
    std::string operator()(const Alternative& alternative) { return all(alternative.blocks); }
    std::string operator()(const TableBlock& table) {
        std::string rows;
        for (const TextColumn& column : table.columns) rows += element("th", text(column.heading));
        rows = element("tr", rows);
        table.rows([&](const TableRow& row) {
            std::string cells;
            for (const Text& cell : row.cells) cells += element("td", text(cell));
            rows += element("tr", cells);
        });
        if (table.rest) rows += element("caption", text(table.rest->all));
        return element("table", rows);
    }

private:
    static std::string element(const std::string& name, const std::string& inside) {
        return "<" + name + ">" + inside + "</" + name + ">";
    }
    std::string text(const Text& words) const {
        std::string html;
        for (const Span& span : words.spans()) {
            std::string safe;
            for (const char c : shown(span, page_))
                safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
            html += std::holds_alternative<Address>(span.content) ? element("a", safe)
                    : span.style == Span::Style::bold             ? element("b", safe)
                                                                  : safe;
        }
        return html;
    }
    const Page& page_;
};

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

struct Blocks {
    std::size_t sentences = 0, tables = 0, rows = 0, hints = 0;
    explicit Blocks(const std::vector<Block>& blocks) {
        for (const Block& block : blocks) {
            sentences += std::holds_alternative<Paragraph>(block.content);
            hints += std::holds_alternative<Hint>(block.content);
            if (const auto* table = std::get_if<TableBlock>(&block.content)) {
                ++tables;
                table->rows([&](const TableRow& row) {
                    ++rows;
                    CHECK(row.cells.size() == table->columns.size());
                });
            }
        }
    }
};

HandmadeHeap three_objects() {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "list", facts(56, 64), {}, {reference(0x10200, "[0]")}},
                    {Address(0x10200), "app.<Node>", facts(48, 64), {}, {reference(0x10300, ".name")}},
                    {Address(0x10300), "str", facts(56, 64, 0, 2), literal("'<hunter2>'", 9), {}}};
    return heap;
}

}  // namespace

TEST_CASE("documents: a writer of another kind gets every sentence, table and hint", "[cli][document]") {
    Shown shown;
    const HandmadeReader heap = three_objects().build();
    ObjectsQuery query;
    query.sort = SortKey::size;
    GcResult gc;
    gc.interpreters.emplace_back();
    std::vector<Document> documents;
    documents.push_back(render_types(types(heap, SortKey::memory, 2), SortKey::memory));
    documents.push_back(render_objects(objects(heap, query, nullptr),
                                       {.row = [&](ObjectId id) { return object_row(heap, id); },
                                        .line =
                                            [](Address) {
                                                return SourceLine{"/srv/app.py", 12};
                                            }},
                                       "objects", query.sort));
    documents.push_back(render_show(show(heap, heap.snapshot().find(Address(0x10200)), 0)));
    documents.push_back(render_gc(gc));
    documents.push_back(render_threads({}));
    documents.push_back(render_tasks({}, {}, false, 0));
    documents.push_back(render_holders({}, "holders", "app.Job"));
    for (const Document& document : documents) {
        const std::string html = Fragments(shown.page).all(document.blocks);
        const Blocks blocks(document.blocks);
        INFO(document.command << "\n" << html);
        CHECK(count(html, "<p>") == blocks.sentences + blocks.hints);
        CHECK(count(html, "<code>") == blocks.hints);
        CHECK(count(html, "<table>") == blocks.tables);
        CHECK(count(html, "<tr>") == blocks.rows + blocks.tables);
    }
    const std::string objects = Fragments(shown.page).all(documents[1].blocks);
    CHECK_THAT(objects,
               ContainsSubstring("<td>'&lt;hunter2>'</td>") && ContainsSubstring("<td>app.&lt;Node></td>"));
    CHECK_THAT(objects, ContainsSubstring("<td><a>0x10300</a></td>"));
    CHECK_THAT(objects, ContainsSubstring("<code>heapsift show <a>0x1"));
    CHECK_THAT(Fragments(shown.page).all(documents[2].blocks), ContainsSubstring("<b>app.&lt;Node></b>"));
}

TEST_CASE("documents: what they are made of may go before they are written", "[cli][document]") {
    Shown shown;
    std::optional<Document> document;
    {
        const HandmadeReader heap = three_objects().build();
        document = render_show(show(heap, heap.snapshot().find(Address(0x10300)), 0));
    }
    CHECK_THAT(written(*document, shown.page), ContainsSubstring("  0x10200  .name  app.<Node>\n"));
    CHECK_THAT(json_text(document->data, shown.redactor), ContainsSubstring("\"source\":\"0x10200\""));
}

TEST_CASE("documents: rows that are written field by field are those that are data", "[cli][document]") {
    const HandmadeReader heap = three_objects().build();
    ObjectsQuery query;
    query.limit = 0;
    const auto row = [&](ObjectId id) { return object_row(heap, id); };
    for (const bool redact : {false, true}) {
        Document document =
            render_objects(objects(heap, query, nullptr), {.row = row, .line = {}}, "objects", query.sort);
        REQUIRE(document.field_rows);
        const auto all_written = [&] {
            Shown shown(redact);
            std::string text;
            const auto write = [&](std::string_view more) { text += more; };
            write_json(Json::object({{"schema", "s"}}), document, shown.redactor, write);
            write_json_lines(document, shown.redactor, write);
            return text;
        };
        const std::string by_fields = all_written();
        document.field_rows = nullptr;
        CHECK(by_fields == all_written());
        CHECK(count(by_fields, "'<hunter2>'") == (redact ? 0 : 2));
        CHECK(count(by_fields, "\n{\"address\":\"0x1") == 6);
    }
}

TEST_CASE("documents: a value has one number, in text and in JSON", "[cli][document][redact]") {
    Shown shown(true);
    Document document;
    const Value first{.value = literal("'a'", 1), .type = "str"},
        second{.value = literal("'b'", 1), .type = "str"};
    document.data["first"] = first;
    document.say(sentence(says("{} comes before {}", second, first)));
    number_values(document.data, shown.redactor);
    CHECK(written(document, shown.page) == "‹str 1 #2› comes before ‹str 1 #1›\n");
    CHECK(Json::parse(json_text(document.data, shown.redactor))["first"] == "‹str 1 #1›");
}

TEST_CASE("documents: what may give way does so where a screen is short, and in order", "[cli][document]") {
    Shown shown;
    Document document;
    TableBlock sums;
    sums.columns = {left("part"), right("bytes")};
    sums.folded = "the rest";
    sums.rows = rows_of<TableRow>({{.cells = {"much", ByteCount{100}}},
                                   {.cells = {"a", ByteCount{2}}, .small = true},
                                   {.cells = {"b", ByteCount{3}}, .small = true}});
    TableBlock rows;
    rows.columns = {left("row")};
    rows.fewest = 1;
    rows.rest = TableRest{.rows = 3, .singular = "more row", .bytes = 10, .all = CommandLine{"rows"}};
    rows.rows = rows_of<TableRow>(
        {{.cells = {"x"}, .bytes = 6}, {.cells = {"y"}, .bytes = 3}, {.cells = {"z"}, .bytes = 1}});
    document.say({sums});
    document.say({Alternative{{{rows}}, {hint("rows")}}});
    const auto on = [&](std::size_t height) {
        shown.page.height = height;
        return written(document, shown.page);
    };
    const std::string parts = "  part  bytes\n  much  100 B\n  a       2 B\n  b       3 B\n";
    CHECK(on(0) == parts + "  row\n  x\n  y\n  z\n");
    CHECK(on(11) == on(0));
    CHECK(on(10) ==
          parts + "  row\n  x\n… 2 more rows; this one is 60 % of the memory. All: heapsift rows\n");
    CHECK(on(8) == parts + "next: heapsift rows\n");
    CHECK(on(7) == "  part      bytes\n  much      100 B\n  the rest    5 B\nnext: heapsift rows\n");
    rows.fewest = 2;
    document.blocks[1] = {Alternative{{{rows}}, {hint("rows")}}};
    CHECK(on(10) == parts + "next: heapsift rows\n");
    rows.rest.reset();
    document.blocks[1] = {Alternative{{{rows}}, {hint("rows")}}};
    CHECK(on(10) == parts + "  row\n  x\n  y\n");
}

TEST_CASE("documents: a style ends where it ends, on whatever line that is", "[cli][document]") {
    Shown shown;
    shown.page.colour = true;
    shown.page.width = 20;
    Document document;
    document.say(sentence(Text("two words that are bold").bold() + " and some that are not"));
    CHECK(written(document, shown.page) ==
          "\x1b[1mtwo words that are\n  bold\x1b[0m and some that\n  are not\n");
}
