// The page of `report` and the pictures: escaping, layouts, and how the page is put together.

#include "cli/json.h"
#include "cli/render/memory.h"
#include "cli/report/assets.h"
#include "cli/report/layout.h"
#include "cli/report/page.h"
#include "cli/report/svg.h"
#include "cli/write/html.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>
#include <cmath>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr const char* hostile = "</script><img src=x onerror=\"alert(1)\">&'\x1b[2J\xe2\x80\xae";

std::string html_blocks(const std::vector<Block>& blocks, const Page& page) {
    std::string html;
    write_html(blocks, page, "a <table>", [&](std::string_view part) { html += part; });
    return html;
}

AreaNode area(std::string name, std::uint64_t bytes, std::vector<AreaNode> below = {}) {
    AreaNode made;
    made.name = std::move(name);
    made.bytes = bytes;
    made.below = std::move(below);
    return made;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++count;
    return count;
}

/// 40 areas of sizes that differ, three levels deep.
AreaNode some_areas() {
    AreaNode top = area("top", 0);
    for (std::uint64_t i = 1; i <= 8; ++i) {
        AreaNode child = area("child " + std::to_string(i), 11 * i);
        for (std::uint64_t k = 4; k >= 1; --k) child.below.push_back(area("leaf", k * i));
        top.bytes += child.bytes;
        top.below.insert(top.below.begin(), std::move(child));
    }
    return top;
}

bool lies_within(const PlacedArea& inner, const PlacedArea& outer) {
    constexpr double close = 1e-6;
    return inner.x >= outer.x - close && inner.y >= outer.y - close &&
           inner.x + inner.width <= outer.x + outer.width + close &&
           inner.y + inner.height <= outer.y + outer.height + close;
}

bool overlap(const PlacedArea& a, const PlacedArea& b) {
    constexpr double close = 1e-6;
    return a.x + a.width > b.x + close && b.x + b.width > a.x + close && a.y + a.height > b.y + close &&
           b.y + b.height > a.y + close;
}

}  // namespace

TEST_CASE("html: text from the core is text, in an element and in an attribute", "[cli][report]") {
    CHECK(escape_for_html("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd\xef") == "\\ufffe\\uffff\xef\xbf\xbd\xef");
    CHECK(escape_for_html("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    Shown shown;
    const std::string html = html_of(TypeName{hostile}, shown.page);
    CHECK(html.find('<') == std::string::npos);
    CHECK(html.find('"') == std::string::npos);
    CHECK(html.find('\x1b') == std::string::npos);
    CHECK(html.find("\\u202e") != std::string::npos);
}

TEST_CASE("html: a name of 10,000 letters is cut", "[cli][report]") {
    Shown shown;
    CHECK(html_of(TypeName{std::string(10000, 'x')}, shown.page).size() < 400);
}

TEST_CASE("html: JSON in a script element ends neither it nor its string", "[cli][report]") {
    std::string json;
    add_json_string(json, hostile);
    const std::string safe = escape_json_for_script(json);
    CHECK(safe.find('<') == std::string::npos);
    CHECK(safe.find('&') == std::string::npos);
    CHECK(Json::parse(safe) == Json::parse(json));
}

TEST_CASE("html: a table has headings, exact numbers to sort by, and no column that is empty throughout",
          "[cli][report]") {
    Shown shown;
    TableBlock table;
    table.columns = {{.align = TextColumn::Align::right, .heading = "memory", .sorted = true},
                     {.heading = "nothing"},
                     {.heading = "type"}};
    table.rows = rows_of(std::vector<TableRow>{{.cells = {ByteCount{2048}, Nothing{}, TypeName{"a<b"}}},
                                               {.cells = {ByteCount{1}, Text(), TypeName{"c"}}}});
    table.rest = TableRest{.rows = 5, .singular = "more type", .bytes = {}, .all = CommandLine{"types -n 0"}};
    const std::string html = html_blocks({{table}}, shown.page);
    CHECK(count_of(html, "<th scope=\"col\"") == 2);
    CHECK(html.find("nothing") == std::string::npos);
    CHECK(html.find("aria-sort=\"descending\"") != std::string::npos);
    CHECK(html.find("<td class=\"n\" data-v=\"2048\">2.0 KiB</td>") != std::string::npos);
    CHECK(html.find("a&lt;b") != std::string::npos);
    CHECK(html.find("<caption>a &lt;table&gt;</caption>") != std::string::npos);
    CHECK(html.find("3 more types") != std::string::npos);
    CHECK(count_of(html, "<tr>") == 3);
    CHECK(html.find(" style=") == std::string::npos);
}

TEST_CASE("html: a tree is not sorted, a table without headings has none, a bar has no style",
          "[cli][report]") {
    Shown shown;
    TableBlock table;
    table.columns = {{.tree = true}, {}};
    table.rows = rows_of(std::vector<TableRow>{{.cells = {"a", Bar{1, 4}}, .depth = 2}});
    const std::string html = html_blocks({{table}}, shown.page);
    CHECK(html.find("class=\"tree\"") != std::string::npos);
    CHECK(html.find("class=\"d2\"") != std::string::npos);
    CHECK(html.find("thead") == std::string::npos);
    CHECK(html.find("width=\"25.00\"") != std::string::npos);
    CHECK(html.find("style=") == std::string::npos);
}

TEST_CASE(
    "html: a number in a tree has its heading with it, unless that is a number; a bar the colour of its kind",
    "[cli][report]") {
    Shown shown;
    TableBlock table;
    table.columns = {{.heading = "allocator", .tree = true},
                     {.align = TextColumn::Align::right, .heading = "in use"},
                     {.align = TextColumn::Align::right, .heading = ByteCount{4096}},
                     {}};
    table.rows = rows_of(std::vector<TableRow>{
        {.cells = {"malloc", ByteCount{2048}, ByteCount{1024}, Bar{1, 4, colour_of(MemoryKind::stacks)}}},
        {.cells = {"arena", Text(), ByteCount{1}, Bar{1, 4}}}});
    const std::string html = html_blocks({{table}}, shown.page);
    CHECK(html.find("<th scope=\"col\" class=\"n l\">in use</th>") != std::string::npos);
    CHECK(html.find("<th scope=\"col\" class=\"n\">4.0 KiB</th>") != std::string::npos);
    CHECK(html.find("data-v=\"2048\" data-l=\"in use\">2.0 KiB</td>") != std::string::npos);
    CHECK(count_of(html, "data-l=") == 1);
    CHECK(count_of(html, "class=\"bar c6\"") == 1);
    CHECK(count_of(html, "class=\"bar\"") == 1);
}

TEST_CASE("areas: of many threads those that have no area of their own are one, which says how many",
          "[cli][report]") {
    Shown shown;
    DominatorsResult result;
    result.total = result.top.retained = 10'000;
    result.top.folded = 1'990;
    result.top.folded_retained = 6'000;
    result.top.folded_threads = 1'940;
    result.top.folded_threads_retained = 5'900;
    DominatorNode shared;
    shared.retained = 4'000;
    shared.folded = 900;
    shared.folded_retained = 4'000;
    shared.folded_types = {{TypeId(1), 500, 2'500, "app.Entry"}, {TypeId(2), 300, 1'000, "bytes"}};
    result.top.children.push_back(shared);
    const AreaNode top = areas_of_objects(result, shown.page);
    REQUIRE(top.below.size() == 3);
    CHECK(top.below[0].name == "1,940 more threads");
    CHECK(top.below[0].type == "thread");
    CHECK(top.below[0].kind == AreaNode::Kind::thread);
    CHECK(top.below[0].bytes == 5'900);
    CHECK(top.below[2].name == "50 more groups");
    CHECK(top.below[2].bytes == 100);
    REQUIRE(top.below[1].below.size() == 1);
    const AreaNode& rest = top.below[1].below[0];
    CHECK(rest.rest);
    CHECK(rest.name == "500 app.Entry and 400 more");
    CHECK(rest.type == "app.Entry");
    CHECK(rest.types == "500 app.Entry, 300 bytes objects");
    CHECK(areas_json({{"objects", top}}).find("\"o\":\"500 app.Entry, 300 bytes objects\"") !=
          std::string::npos);
}

TEST_CASE("html: --redact leaves out what is secret, and values", "[cli][report][redact]") {
    Shown shown(true);
    const Value value{.value = {ShortValue::Kind::literal, "'hunter2'", 7}, .type = "str"};
    const std::string html =
        html_blocks({{Paragraph{.text = "secret words", .secret = true}}, sentence(value)}, shown.page);
    CHECK(html.find("secret") == std::string::npos);
    CHECK(html.find("hunter2") == std::string::npos);
    CHECK(html.find("‹str 7") != std::string::npos);
}

TEST_CASE("layout: an icicle's areas are as wide as their bytes, below what holds them", "[cli][report]") {
    const AreaNode top = some_areas();
    const std::vector<PlacedArea> placed = icicle(top, 1000, 20, 10, 0);
    REQUIRE(placed.size() == count_areas(top));
    for (const PlacedArea& at : placed) {
        CHECK(std::abs(at.width -
                       1000.0 * static_cast<double>(at.area->bytes) / static_cast<double>(top.bytes)) < 1e-6);
        CHECK(at.y == 20.0 * static_cast<double>(at.depth));
    }
    for (std::size_t i = 0; i < placed.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(overlap(placed[i], placed[k]));
    CHECK(icicle(top, 1000, 20, 2, 0).size() == 1 + top.below.size());
    for (const PlacedArea& at : icicle(top, 1000, 20, 10, 30)) CHECK(at.width >= 30);
}

TEST_CASE("layout: a treemap's areas lie in what holds them, apart, and as large as their bytes",
          "[cli][report]") {
    const AreaNode top = some_areas();
    const std::vector<PlacedArea> placed = treemap(top, 900, 600, 0, 10, 0);
    REQUIRE(placed.size() == count_areas(top));
    // Each after what holds it: the last one of one level less.
    std::vector<std::size_t> way;
    double scale = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const PlacedArea& at = placed[i];
        way.resize(at.depth);
        if (at.depth > 0) CHECK(lies_within(at, placed[way.back()]));
        for (std::size_t k = 0; k < i; ++k)
            if (placed[k].depth == at.depth) CHECK_FALSE(overlap(at, placed[k]));
        if (at.depth == 1) {
            const double own = at.width * at.height / static_cast<double>(at.area->bytes);
            if (scale > 0) CHECK(std::abs(own / scale - 1) < 1e-6);
            scale = own;
            CHECK(std::max(at.width / at.height, at.height / at.width) < 3);
        }
        way.push_back(i);
    }
}

TEST_CASE("layout: a chain of a thousand areas, and one of no bytes", "[cli][report]") {
    AreaNode chain = area("end", 1);
    for (int i = 0; i < 39; ++i) chain = area("link", 1, {chain});
    CHECK(icicle(chain, 10, 1, 16, 0).size() == 16);
    CHECK_FALSE(treemap(chain, 100, 100, 10, 40, 4).empty());
    CHECK(treemap(area("nothing", 0, {area("none", 0)}), 10, 10, 0, 4, 1).size() == 1);
    CHECK(icicle(area("nothing", 0, {area("none", 0)}), 10, 10, 4, 1).size() == 1);
}

TEST_CASE("areas: the smallest are left out, with what is below them, and no more than that",
          "[cli][report]") {
    AreaNode top = some_areas();
    const std::size_t all = count_areas(top);
    REQUIRE(all > 20);
    cut_areas(top, all);
    CHECK(count_areas(top) == all);
    cut_areas(top, 12);
    CHECK(count_areas(top) <= 12);
    CHECK(count_areas(top) > 8);
    CHECK(top.below.front().bytes == 88);
    AreaNode alike = area("top", 1000);
    for (int i = 0; i < 1000; ++i) alike.below.push_back(area("one", 1));
    cut_areas(alike, 100);
    CHECK(count_areas(alike) == 100);
}

TEST_CASE("svg: no script, every text escaped, a title for each area", "[cli][report]") {
    Shown shown;
    AreaNode top = some_areas();
    top.below.front().name = "</title><script>alert(1)</script>";
    top.below.front().expression = "app['<b>']";
    for (const std::string& svg :
         {svg_icicle(top, "<title> & more", shown.page), svg_treemap(top, "<title> & more", shown.page)}) {
        CHECK(svg.find("<script") == std::string::npos);
        CHECK(svg.find("<b>") == std::string::npos);
        CHECK(svg.find("&lt;title&gt; &amp; more") != std::string::npos);
        CHECK(count_of(svg, "<g ") > 8);
        CHECK(count_of(svg, "<g ") + 1 == count_of(svg, "<title>"));
        CHECK(count_of(svg, "<title>") == count_of(svg, "</title>"));
    }
}

TEST_CASE("svg: a cycle's boxes, with the reference that closes it", "[cli][report]") {
    Shown shown;
    CycleRow row;
    row.cycle.id = 3;
    row.cycle.count = 2;
    row.path.steps = {{"app.<Node>", named_step(".left")}, {"app.Other", named_step(".parent")}};
    const std::string svg = svg_of_cycle(row, shown.page);
    CHECK(count_of(svg, "class=\"box\"") == 2);
    CHECK(svg.find("app.&lt;Node&gt;") != std::string::npos);
    CHECK(svg.find(".left") != std::string::npos);
    CHECK(svg.find("↑ .parent") != std::string::npos);
    CHECK(svg.find("cycle 3: 2 objects") != std::string::npos);
}

TEST_CASE("page: hashes are in base 64 as a policy has them", "[cli][report]") {
    CHECK(base64_of_hexadecimal("") == "");
    CHECK(base64_of_hexadecimal("66") == "Zg==");
    CHECK(base64_of_hexadecimal("666f") == "Zm8=");
    CHECK(base64_of_hexadecimal("666f6f") == "Zm9v");
    // SHA-256 of no bytes
    CHECK(base64_of_hexadecimal("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") ==
          "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST_CASE("page: its parts unpack, and hold nothing that a browser would load", "[cli][report]") {
    const PageAssets assets = page_assets();
    CHECK(assets.page.starts_with("<!DOCTYPE html>"));
    CHECK(assets.style.find("@media print") != std::string::npos);
    CHECK(assets.script.find("d3-hierarchy") != std::string::npos);
    CHECK(assets.script.find("Redistribution") != std::string::npos);
    CHECK(assets.script.find("</script") == std::string::npos);
    CHECK(assets.style_hash.size() == 64);
    CHECK(assets.script_hash.size() == 64);
    for (const std::string* part : {&assets.page, &assets.style, &assets.script})
        for (const char* loads :
             {" src=", "url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "eval("})
            CHECK(part->find(loads) == std::string::npos);
    CHECK(assets.page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("page: sections, their list, and the trees; hostile text in all of them stays text",
          "[cli][report]") {
    Shown shown;
    ReportPage report;
    report.title = hostile;
    AreaNode top = area(hostile, 10, {area(hostile, 4)});
    top.below.front().kind = AreaNode::Kind::program;
    top.below.front().expression = hostile;
    report.areas = {{"objects", top}};
    report.sections = {{"first",
                        "First",
                        "types",
                        TypeName{hostile},
                        {report_part({sentence(TypeName{hostile})}, shown.page, hostile),
                         report_picture(top, shown.page), report_heading(TypeName{hostile}, shown.page)}},
                       {"second", "Second", "", {}, {}}};
    std::string html;
    write_report(report, shown.page, [&](std::string_view part) { html += part; });
    CHECK(html.find("<img") == std::string::npos);
    CHECK(count_of(html, "</script>") == 2);  // of the trees and of the script
    CHECK(html.find("<li><a href=\"#second\">Second</a></li>") != std::string::npos);
    CHECK(count_of(html, "<section ") == 2);
    CHECK(count_of(html, "<h2 ") == 2);
    CHECK(html.find("heapsift types") != std::string::npos);
    CHECK(html.find('@' + std::string("MAIN@")) == std::string::npos);
    const std::size_t begin = html.find("id=\"areas\">") + 11;
    const Json trees = Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
    CHECK(trees["objects"]["v"] == 10);
    CHECK(trees["objects"]["k"] == 6);
    CHECK(trees["objects"]["c"][0]["n"].get<std::string>().starts_with("</script>"));
    CHECK(trees["objects"]["c"][0]["k"] == 0);
}
