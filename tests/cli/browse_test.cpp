// browse without a terminal: lists of a handmade heap, keys, and the lines that would be drawn.

#include "analysis/work.h"
#include "cli/browse/browser.h"
#include "cli/browse/kept_keys.h"
#include "cli/browse/screen.h"
#include "cli/text_width.h"
#include "cli/write/spans.h"
#include "parsers/base/error.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>
#include <memory>
#include <set>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t cache_at = 0x10100, items_at = 0x10200, small_at = 0x10300, large_at = 0x10400,
                        text_at = 0x10500;

/// A cache, held by C code: .items is a dict of two nodes, of which the large one has a text.
HandmadeHeap cache_heap() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(cache_at), "app.Cache", facts(48, 64), {}, {reference(items_at, ".items")}},
        {Address(items_at),
         "dict",
         facts(64, 80),
         {ShortValue::Kind::summary, "dict of 2", 2},
         {item(small_at, literal("'small'", 5)), item(large_at, literal("'lar\x1bge'", 6))}},
        {Address(small_at), "app.Node", facts(48, 64), {}, {}},
        {Address(large_at), "app.Node", facts(48, 64), {}, {reference(text_at, ".text")}},
        {Address(text_at), "str", facts(4000, 4096), literal("'secret words'", 12), {}},
    };
    Reference native = reference(cache_at, "<block of C code>", ReferenceKind::native);
    native.word = Address(0x20000);
    heap.natives.push_back(native);
    heap.memory = {{"Python objects", 8192}};
    return heap;
}

Key character(const std::string& text) { return {.kind = Key::Kind::character, .text = text}; }
Key pressed(Key::Kind kind) { return {.kind = kind}; }

struct Browsed {
    HandmadeReader heap;
    Shown shown;
    Work work;
    HeapLists lists;
    Browser browser;

    explicit Browsed(const HandmadeHeap& made = cache_heap(), bool redact = false)
        : heap(made.build()),
          shown(redact),
          work(heap),
          lists(work,
                [](Place::Command) {
                    return std::vector<std::string>{"one line", "another"};
                }),
          browser(lists, shown.page, [this](const std::string& typed) {
              if (typed != "app") throw wrong_usage("no-such-object", "nothing is called that");
              return id(large_at);
          }) {}

    ObjectId id(std::uint64_t address) const { return heap.snapshot().find(Address(address)); }
    void open(std::uint64_t address) {
        // By its address, as g does; the cursor is on what it keeps then.
        browser.press(character("2"));
        std::shared_ptr<List> list =
            lists.make({.kind = Place::Kind::inside, .node = HeapGraph::node_of(id(address))});
        view = std::make_unique<ListView>(list, shown.page);
    }
    std::unique_ptr<ListView> view;  // of `open`

    std::vector<std::string> screen(std::size_t width = 80, std::size_t height = 24) {
        std::vector<std::string> lines;
        for (const ScreenLine& line : drawn(browser, "core.test   heap", width, height))
            lines.push_back(text_of(line));
        return lines;
    }
    std::string all(std::size_t width = 80, std::size_t height = 24) {
        std::string text;
        for (const std::string& line : screen(width, height)) text += line + "\n";
        return text;
    }
    std::vector<std::string> cells(ListView& one) {
        std::vector<std::string> rows;
        for (std::size_t at = 0; at < one.size(); ++at)
            rows.push_back(plain(one.row(at).cells.back(), shown.page));
        return rows;
    }
    std::string title() { return plain(browser.view().list().title, shown.page); }
    void go_to_large() {
        browser.press(character("g"));
        for (const char* letter : {"a", "p", "p"}) browser.press(character(letter));
        browser.press(pressed(Key::Kind::enter));
    }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("browse: what an object keeps is listed by name, the largest first, and escaped", "[cli][browse]") {
    Browsed browsed;
    browsed.open(items_at);
    ListView& view = *browsed.view;
    REQUIRE(view.size() == 2);
    CHECK(browsed.cells(view) == std::vector<std::string>{"['lar\\x1bge']  app.Node", "['small']  app.Node"});
    CHECK(view.row(0).bytes == 64 + 4096);
    CHECK(view.list().whole == 80 + 64 + 64 + 4096);
    CHECK(view.row(0).subject.object == browsed.id(large_at));
}

TEST_CASE("browse: filter, search and order of a list", "[cli][browse]") {
    Browsed browsed;
    browsed.open(items_at);
    ListView& view = *browsed.view;
    view.filter("SMALL");
    REQUIRE(view.size() == 1);
    CHECK(view.row(0).subject.object == browsed.id(small_at));
    view.filter("");
    CHECK(view.size() == 2);
    view.move_to(0);
    CHECK(view.search("small", false));
    CHECK(view.cursor() == 1);
    CHECK(view.search("app.node", false));  // round the end
    CHECK(view.cursor() == 0);
    CHECK_FALSE(view.search("nowhere", false));
    CHECK(view.cursor() == 0);
    const std::size_t first = view.sorted_by();
    std::set<std::size_t> orders;
    do {
        orders.insert(view.sorted_by());
        REQUIRE(view.sort_by_next());
    } while (view.sorted_by() != first);
    CHECK(orders.size() == view.list().columns.size());
    view.move(100);
    CHECK(view.cursor() == 1);
    view.move(-100);
    CHECK(view.cursor() == 0);
}

TEST_CASE("browse: keys lead from an object to what refers to it, and back", "[cli][browse]") {
    Browsed browsed;
    Browser& browser = browsed.browser;
    CHECK(browser.view().list().place.kind == Place::Kind::suspects);
    browsed.go_to_large();
    CHECK(browser.view().list().place.kind == Place::Kind::inside);
    REQUIRE(browser.subject());
    CHECK(browser.subject()->object == browsed.id(text_at));
    browser.press(character("r"));
    CHECK(browser.view().list().place ==
          Place{.kind = Place::Kind::referrers, .object = browsed.id(text_at)});
    CHECK(browsed.cells(browser.view()) == std::vector<std::string>{".text  app.Node"});
    browser.press(character("e"));
    CHECK(browsed.cells(browser.view()) == std::vector<std::string>{".text  str 'secret words'"});
    browser.press(character("w"));
    REQUIRE(browser.view().list().place.kind == Place::Kind::path);
    CHECK(contains(browsed.cells(browser.view()).back(), "<- this object"));
    CHECK(browser.depth() == 5);
    browser.press(character("h"));
    CHECK(browser.view().size() == 5);
    browser.press(pressed(Key::Kind::end));
    browser.press(pressed(Key::Kind::enter));
    CHECK(browser.depth() == 1);
    CHECK(browser.view().list().place.kind == Place::Kind::suspects);
    browser.press(pressed(Key::Kind::back));
    CHECK(browser.depth() == 1);
    CHECK_FALSE(browser.message().empty());
    browser.press(character("q"));
    CHECK(browser.is_done());
}

TEST_CASE("browse: each of the first lists opens by its digit, and Tab goes round them", "[cli][browse]") {
    Browsed browsed;
    using Kind = Place::Kind;
    const Kind kinds[] = {Kind::suspects, Kind::dominators, Kind::holders, Kind::types, Kind::threads};
    for (std::size_t i = 0; i < std::size(kinds); ++i) {
        browsed.browser.press(character(std::to_string(i + 1)));
        CHECK(browsed.browser.view().list().place.kind == kinds[i]);
        CHECK(browsed.screen().size() == 24);
    }
    browsed.browser.press(pressed(Key::Kind::tab));
    CHECK(browsed.browser.view().list().place.kind == Kind::suspects);
    browsed.browser.press(pressed(Key::Kind::back_tab));
    CHECK(browsed.browser.view().list().place.kind == Kind::threads);
    browsed.browser.press(character("4"));
    browsed.browser.press(pressed(Key::Kind::enter));
    CHECK(browsed.browser.view().list().place.kind == Kind::objects);
}

TEST_CASE("browse: + lists ten times as many rows, in the list's place, the cursor where it was",
          "[cli][browse]") {
    HandmadeHeap made;
    Address shelf(0x10100);
    made.objects = {{shelf, "app.Shelf", facts(48, 64), {}, {}}};
    for (std::uint64_t i = 0; i < 2500; ++i) {
        const Address node(0x20000 + 64 * i);
        made.objects.push_back({node, "app.Node", facts(48, 64), {}, {}});
        made.objects.front().references.push_back(reference(node.value, ".n" + std::to_string(i)));
    }
    Reference native = reference(shelf.value, "<block of C code>", ReferenceKind::native);
    native.word = Address(0x10000);
    made.natives.push_back(native);
    made.memory = {{"Python objects", 1 << 20}};
    Browsed browsed(made);
    Browser& browser = browsed.browser;
    browser.press(character("+"));
    CHECK(browser.message() == "all rows are here");
    browser.press(character("4"));
    REQUIRE(contains(plain(browser.view().row(0).cells.back(), browsed.shown.page), "app.Shelf"));
    browser.press(character("j"));
    browser.press(pressed(Key::Kind::enter));
    REQUIRE(browser.view().list().place.kind == Place::Kind::objects);
    CHECK(browser.view().size() == 1000);
    CHECK(browser.view().list().left_out == 1500);
    const std::size_t depth = browser.depth();
    browser.press(pressed(Key::Kind::end));
    CHECK(contains(browsed.all(), "1,500 more"));
    browser.press(character("+"));
    CHECK(browser.view().size() == 2500);
    CHECK(browser.view().list().left_out == 0);
    CHECK(browser.view().cursor() == 999);
    CHECK(browser.depth() == depth);
    browser.press(character("+"));
    CHECK(browser.message() == "all rows are here");
    browser.press(pressed(Key::Kind::back));
    CHECK(browser.view().list().place.kind == Place::Kind::types);
}

TEST_CASE("browse: a mark leads to the command for all that are marked", "[cli][browse]") {
    Browsed browsed;
    browsed.go_to_large();
    browsed.browser.press(character("m"));
    CHECK(browsed.lists.is_marked(browsed.id(text_at)));
    CHECK(contains(browsed.all(), ">*"));
    browsed.browser.press(character("M"));
    CHECK(browsed.browser.command() == "heapsift retained 0x10500");
    browsed.browser.press(character("y"));
    CHECK(browsed.browser.take_copy() == "heapsift retained 0x10500");
    CHECK(browsed.browser.take_copy().empty());
    CHECK(contains(browsed.all(), "\nheapsift retained 0x10500\n"));
    browsed.browser.press(character("x"));  // any key goes on
    CHECK(browsed.browser.shown_copy().empty());
    browsed.browser.press(character("m"));
    CHECK(browsed.lists.marks().empty());
}

TEST_CASE("browse: prompts take text, Backspace and Esc", "[cli][browse]") {
    Browsed browsed;
    Browser& browser = browsed.browser;
    browser.press(character("4"));
    const std::size_t all = browser.view().size();
    browser.press(character("f"));
    for (const char* letter : {"n", "o", "d", "é"}) browser.press(character(letter));
    CHECK(browser.view().empty());
    browser.press(pressed(Key::Kind::back));
    CHECK(browser.typed() == "nod");
    CHECK(browser.view().size() == 1);
    CHECK(contains(browsed.all(), "filter: nod_"));
    browser.press(pressed(Key::Kind::enter));
    CHECK(browser.view().size() == 1);
    browser.press(pressed(Key::Kind::escape));
    CHECK(browser.view().size() == all);
    browser.press(character("/"));
    browser.press(character("d"));
    browser.press(character("i"));
    CHECK(browser.view().row(browser.view().cursor()).subject.opens);
    browser.press(pressed(Key::Kind::enter));
    browser.press(character("g"));
    browser.press(character("?"));
    browser.press(pressed(Key::Kind::enter));
    CHECK(browser.message() == "nothing is called that");
    CHECK(browser.view().list().place.kind == Place::Kind::types);
}

TEST_CASE("browse: a click chooses a row, another one opens it; the wheel moves", "[cli][browse]") {
    Browsed browsed;
    browsed.browser.press(character("4"));
    const std::vector<std::string> lines = browsed.screen();
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [](const std::string& one) { return contains(one, " app.Cache"); });
    REQUIRE(line != lines.end());
    const Key click{.kind = Key::Kind::click, .line = static_cast<std::size_t>(line - lines.begin())};
    browsed.browser.press(pressed(Key::Kind::end));
    browsed.browser.press(pressed(Key::Kind::wheel_up));
    CHECK(browsed.browser.view().cursor() == 0);
    browsed.browser.press(pressed(Key::Kind::end));
    browsed.browser.press(click);
    CHECK(browsed.browser.view().list().place.kind == Place::Kind::types);
    browsed.browser.press(click);
    CHECK(browsed.browser.view().list().place.kind == Place::Kind::objects);
    CHECK(browsed.title() == "the 1 app.Cache");
    browsed.browser.press({.kind = Key::Kind::click, .line = 0});  // no row
    CHECK(browsed.browser.view().list().place.kind == Place::Kind::objects);
}

TEST_CASE("browse: the screen has its size, whatever that is, and every line fits", "[cli][browse]") {
    Browsed browsed;
    for (const char* key : {"1", "2", "3", "4", "5", "?", "x", "4", "y"}) {
        browsed.browser.press(character(key));
        for (const auto& [width, height] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
                 {80, 24}, {200, 60}, {40, 10}, {20, 3}, {20, 1}, {120, 14}}) {
            const std::vector<std::string> lines = browsed.screen(width, height);
            CHECK(lines.size() == height);
            for (const std::string& line : lines) {
                CHECK(display_width(line) <= width);
                CHECK(line.find('\x1b') == std::string::npos);
            }
        }
    }
}

TEST_CASE("browse: with --redact values that the program stored are not on the screen", "[cli][browse]") {
    Browsed open, closed(cache_heap(), true);
    for (Browsed* browsed : {&open, &closed}) {
        browsed->go_to_large();
        const bool shown = contains(browsed->all(), "secret");
        CHECK(shown == (browsed == &open));
    }
}

TEST_CASE("browse: work that is stopped leaves the list that was there", "[cli][browse]") {
    const HandmadeReader heap = cache_heap().build();
    Shown shown;
    bool stops = false;
    Work work(heap, [&](std::string_view, double) {
        if (stops) throw Interrupted();
    });
    HeapLists lists(work, [](Place::Command) { return std::vector<std::string>(); });
    Browser browser(lists, shown.page, [](const std::string&) { return no_object; });
    stops = true;
    browser.press(character("4"));
    CHECK(browser.message() == "interrupted");
    CHECK(browser.view().list().place.kind == Place::Kind::suspects);
    stops = false;
    browser.press(character("4"));
    CHECK(browser.view().list().place.kind == Place::Kind::types);
}

TEST_CASE("browse: what a terminal sent becomes keys; what is cut or unknown gives none", "[cli][browse]") {
    using Kind = Key::Kind;
    std::vector<Kind> kinds;
    std::string characters;
    for (const Key& key : keys_of_input(
             "3/\xc3\xa9\r\n\t\x7f\x08\x1b[A\x1bOB\x1b[5~\x1b[Z\x1b[1;5C\x1b[<0;3;4M\x01k\x1b\xe2\x82")) {
        kinds.push_back(key.kind);
        characters += key.text;
    }
    CHECK(kinds == std::vector{Kind::character, Kind::character, Kind::character, Kind::enter, Kind::enter,
                               Kind::tab, Kind::back, Kind::back, Kind::up, Kind::down, Kind::page_up,
                               Kind::back_tab, Kind::character, Kind::escape});
    CHECK(characters == "3/\xc3\xa9k");
    CHECK(keys_of_input("j\x1b[").size() == 1);
}

TEST_CASE(
    "browse: keys that came too early are kept in their order; q stops, unless it is typed into a prompt",
    "[cli][browse]") {
    KeptKeys keys;
    for (const char* one : {"3", "/", "q"}) CHECK_FALSE(keys.keep(character(one)));
    CHECK_FALSE(keys.keep(pressed(Key::Kind::enter)));
    CHECK_FALSE(keys.keep(pressed(Key::Kind::none)));
    CHECK(keys.keep(character("q")));
    CHECK(keys.keep(pressed(Key::Kind::escape)));
    std::string played;
    for (Key key = keys.take(); key.kind != Key::Kind::none; key = keys.take())
        played += key.kind == Key::Kind::enter ? "!" : key.text;
    CHECK(played == "3/q!");
    CHECK_FALSE(keys.keep(character("g")));
    keys.clear();
    CHECK(keys.take().kind == Key::Kind::none);
    CHECK(keys.keep(character("q")));
}

TEST_CASE("browse: the list of suspects is that of the command", "[cli][browse]") {
    Browsed browsed;
    const SuspectsResult found = heapsift::suspects(browsed.work, browsed.lists.overview(), 20, true);
    CHECK(browsed.browser.view().size() == found.suspects.size());
}

TEST_CASE("browse: the type of what is held has a column on a narrow screen too, if all fits",
          "[cli][browse]") {
    Browsed browsed;
    browsed.browser.press(character("3"));
    REQUIRE_FALSE(browsed.browser.view().empty());
    const auto has_column = [&](std::size_t width) {
        return contains(browsed.screen(width).at(4), "held as") &&
               contains(browsed.screen(width).at(4), "type");
    };
    CHECK(has_column(120));
    CHECK(has_column(80));
    CHECK_FALSE(has_column(40));
}
