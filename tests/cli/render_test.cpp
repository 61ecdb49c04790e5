// Renderings of handmade results. Text is compared with the text it should be, JSON with the keys of the
// contract.

#include "analysis/overview.h"
#include "cli/json_envelope.h"
#include "cli/render/doctor.h"
#include "cli/render/holders.h"
#include "cli/render/objects.h"
#include "cli/render/overview.h"
#include "cli/render/process.h"
#include "cli/render/show.h"
#include "cli/render/types.h"
#include "cli/text_width.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>
#include <csignal>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::vector<std::string> keys(const Json& json) {
    std::vector<std::string> all;
    for (const auto& [key, value] : json.items()) all.push_back(key);
    return all;
}

HandmadeHeap small_heap() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(0x10100),
         "numpy.ndarray",
         facts(112, 1049600, 1048576),
         {ShortValue::Kind::summary, "(131072,) float64", 0},
         {}},
        {Address(0x10200), "app.\x1b[2JEvil", facts(48, 64), {}, {reference(0x10300, ".name")}},
        {Address(0x10300), "str", facts(56, 64, 0, 2), literal("'hunter2'", 7), {}},
    };
    heap.memory = {{"array data", 3072}, {"Python objects", 1024}};
    return heap;
}

ShowResult shown_object(const HeapReader& heap, Address address) {
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    ShowResult result = show(heap, heap.snapshot().find(address), 20);
    add_holder(result, RetainedLookup(graph, sizes), object_states(graph));
    return result;
}

const std::vector<std::string> object_keys = {
    "address",    "type",         "size",     "memory",   "array_data", "not_saved",
    "retained",   "native",       "refcount", "immortal", "gc_tracked", "state",
    "references", "size_certain", "damaged",  "found_by", "value"};

}  // namespace

TEST_CASE("render types: text", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const TypesResult result = types(heap, SortKey::memory, 2);
    const Written answer(render_types(result, SortKey::memory), shown);
    CHECK(answer.text(shown.page) ==
          "  objects  memory ▾  array data   size  type\n"
          "        1   1.0 MiB     1.0 MiB  112 B  numpy.ndarray\n"
          "        1      64 B           –   48 B  app.\\x1b[2JEvil\n"
          "… 1 more type; these 2 are 99 % of the memory. All: heapsift types --sort memory -n 0\n"
          "3 objects of 3 types: memory 1.0 MiB, of it array data 1.0 MiB; size 216 B\n"
          "For retained sizes: heapsift types --sort retained\n"
          "next: heapsift show 0x10100    the only numpy.ndarray\n");
    for (const Json& row : rows_of(answer)) CHECK(row["retained"].is_null());
}

TEST_CASE("render types: with what each row retains; size goes where a terminal is narrow", "[cli][render]") {
    Shown shown;
    TypesResult result = types(small_heap().build(), SortKey::memory, 0);
    for (TypeRow& row : result.types) row.retained = row.memory + 1024;
    result.retained_computed = true;
    sort_types(result.types, SortKey::retained);
    cut_types(result, 1);
    const Written answer(render_types(result, SortKey::retained), shown);
    const std::string wide = answer.text(shown.page);
    CHECK_THAT(wide, Catch::Matchers::StartsWith(
                         "  objects   memory  array data   size  retained ▾  type\n"
                         "        1  1.0 MiB     1.0 MiB  112 B     1.0 MiB  numpy.ndarray\n"));
    CHECK_THAT(
        wide, ContainsSubstring("\nretained: what deleting all objects of the row would free. Rows overlap"));
    shown.page.lower_bounds = true;
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("≈ retained ▾"));
    shown.page.lower_bounds = false;
    shown.page.width = 80;
    CHECK_THAT(answer.text(shown.page),
               Catch::Matchers::StartsWith("  objects   memory  array data  retained ▾  type\n"));
    CHECK(rows_of(answer)[0]["retained"] == 1049600 + 1024);
}

TEST_CASE("render by holder: a row says type, owner and attribute", "[cli][render]") {
    Shown shown;
    HoldersResult result;
    HolderRow row;
    row.type_name = "app.Job";
    row.holder = "app.Queue";
    row.attribute = "jobs[*]";
    row.expression = "app.QUEUE.jobs[*]";
    row.example_address = Address(0x10100);
    row.count = 1234;
    row.memory = 4096;
    row.size = 4000;
    row.retained = 1048576;
    row.native = 16;
    row.also_held = 1000;
    result.rows = {row};
    result.total_rows = 3;
    const Written answer(render_holders(result, "holders", "app.Job"), shown);
    CHECK(answer.document.rows_key == "holders");
    CHECK(answer.text(shown.page) ==
          "  objects   memory  retained ▾  type     held as\n"
          "    1,234  4.0 KiB     1.0 MiB  app.Job  app.Queue.jobs[*]\n"
          "… 2 more. All: heapsift holders --type app.Job -n 0\n" +
              std::string(retained_legend) +
              "\n"
              "next: heapsift why 0x10100    the path to one of the first row\n");
    CHECK(answer.csv() ==
          "type,holder,attribute,expression,example,count,size,memory,array_data,native,retained,also_held\n"
          "app.Job,app.Queue,jobs[*],app.QUEUE.jobs[*],0x10100,1234,4000,4096,0,16,1048576,1000\n");
    CHECK(Written(render_holders({}, "holders", "app.Job"), shown).text(shown.page) ==
          "Nothing holds any object of type app.Job of this core.\n");
}

TEST_CASE("render holders: a row says what else must go", "[cli][render]") {
    Shown shown;
    HolderRow row;
    row.type_name = "app.Job";
    row.holder = "app.Queue";
    row.attribute = "jobs[*]";
    row.example_address = Address(0x10100);
    row.count = row.also_held = 1234;
    row.retained = 1024;
    row.is_shared = true;
    row.also_held_by = {{"app.Index", "['*']", true, false, 1234}};
    HoldersResult result;
    result.rows = {row, row};
    result.rows[1].also_held = 70;
    for (const char* name : {"one", "two", "three"})
        result.rows[1].also_held_by.push_back({"main()", name, false, false, 70});
    result.total_rows = 3;
    const Written answer(render_holders(result, "holders", ""), shown);
    CHECK(answer.text(shown.page) ==
          "  objects  memory  retained ▾  type     held as\n"
          "    1,234     0 B     1.0 KiB  app.Job  app.Queue.jobs[*]\n"
          "                                          also app.Index['*']\n"
          "    1,234     0 B     1.0 KiB  app.Job  app.Queue.jobs[*]\n"
          "                                          also app.Index['*']\n"
          "                                          also main().one, 70 of them\n"
          "                                          also 2 more\n"
          "… 1 more. All: heapsift holders -n 0\n"
          "also: holds the same objects. All their holders must go for them to be freed.\n" +
              std::string(retained_legend) +
              "\n"
              "next: heapsift why --paths 2 0x10100    the paths to one of the first row\n");
    const auto rows = rows_of(answer);
    CHECK(rows[0]["also_held_by"][0]["holder"] == "app.Index");
    CHECK(rows[0]["also_held_by"][0]["count"] == 1234);
    CHECK(rows[1]["also_held"] == 70);
    CHECK(rows[1]["and_others"] == false);
}

TEST_CASE("render types: exact bytes, lower bounds, and a core that must be named", "[cli][render]") {
    Shown shown;
    shown.page.exact_bytes = shown.page.lower_bounds = true;
    shown.page.core_words = " core.1";
    const TypesResult result = types(small_heap().build(), SortKey::count, 1);
    const std::string text = Written(render_types(result, SortKey::count), shown).text(shown.page);
    CHECK_THAT(text, ContainsSubstring("objects ▾"));
    CHECK_THAT(text, ContainsSubstring("≥ 3 objects of 3 types: memory 1,049,728 B"));
    CHECK_THAT(text, ContainsSubstring("heapsift types --sort count -n 0 core.1"));
}

TEST_CASE("render types: JSON has the keys of the contract", "[cli][render]") {
    Shown shown;
    const TypesResult result = types(small_heap().build(), SortKey::memory, 0);
    const Written answer(render_types(result, SortKey::memory), shown);
    const std::vector<Json> rows = rows_of(answer);
    CHECK(answer.document.rows_key == "types");
    REQUIRE(rows.size() == 3);
    CHECK(keys(rows[0]) == std::vector<std::string>{"name", "address", "count", "size", "memory",
                                                    "array_data", "retained", "largest", "native"});
    CHECK(rows[0]["retained"].is_null());
    CHECK(rows[0]["array_data"] == 1048576);
    CHECK(keys(rows[0]["largest"]) == object_keys);
    CHECK(rows[1]["name"] == "app.\x1b[2JEvil");
    for (const char* key : {"types", "count", "size", "memory"}) CHECK(answer.data["total"].contains(key));
}

TEST_CASE("render types: csv", "[cli][render]") {
    Shown shown;
    const TypesResult result = types(small_heap().build(), SortKey::memory, 0);
    const Written answer(render_types(result, SortKey::memory), shown);
    CHECK_THAT(answer.csv(), Catch::Matchers::StartsWith(
                                 "name,address,count,size,memory,array_data,retained,largest,native\n"));
    CHECK_THAT(answer.csv(), ContainsSubstring("\napp.\\x1b[2JEvil,0x1100,1,48,64,0,,0x10200,\n"));
    CHECK(csv_line(entries({{"a", "x,\"y\""}, {"b", true}}), {"a", "b", "c"}, shown.redactor) ==
          "\"x,\"\"y\"\"\",true,\n");
}

TEST_CASE("render types: nothing is a sentence", "[cli][render]") {
    Shown shown;
    const TypesResult result;
    CHECK(Written(render_types(result, SortKey::memory), shown).text(shown.page) ==
          "This core holds no Python objects that could be found.\n");
}

TEST_CASE("render types: sizes that are not what sys.getsizeof would have said are told", "[cli][render]") {
    TypesResult result;
    result.python_sizeof_types = {{"pandas.DataFrame", 12}, {"a.B", 3}, {"a.C", 2}, {"a.D", 1}};
    result.uncertain_types = {{"c.Thing", 1}};
    result.anonymous_objects = 5;
    Diagnostics diagnostics;
    note_uncertain_sizes(result, diagnostics);
    REQUIRE(diagnostics.all().size() == 3);
    CHECK_THAT(diagnostics.all()[0].message,
               ContainsSubstring("sizes are the C base's of 12 pandas.DataFrame and 3 more types"));
    CHECK(diagnostics.complete());
}

TEST_CASE("render objects: text, and redacted", "[cli][render]") {
    const HandmadeReader heap = small_heap().build();
    ObjectsQuery query;
    query.limit = 0;
    query.sort = SortKey::size;
    const ObjectsResult result = objects(heap, query, nullptr);
    const auto row = [&](ObjectId object) { return object_row(heap, object); };
    Shown shown, redacted(true);
    CHECK(Written(render_objects(result, {.row = row, .line = {}}, "objects", query.sort), shown)
              .text(shown.page) ==
          "  address   memory  array data  size ▾  refs  type             value\n"
          "  0x10100  1.0 MiB     1.0 MiB   112 B     1  numpy.ndarray    (131072,) float64\n"
          "  0x10300     64 B           –    56 B     2  str              'hunter2'\n"
          "  0x10200     64 B           –    48 B     1  app.\\x1b[2JEvil\n"
          "3 objects: memory 1.0 MiB; size 216 B\n"
          "For retained sizes, and each object's state in JSON: add --sort retained\n"
          "next: heapsift show 0x10100\n");
    const std::string text =
        Written(render_objects(result, {.row = row, .line = {}}, "objects", query.sort), redacted)
            .text(redacted.page);
    CHECK_THAT(text, ContainsSubstring("‹str 7 #1›"));
    CHECK_THAT(text, !ContainsSubstring("hunter2"));
    CHECK_THAT(text, ContainsSubstring("(131072,) float64"));
}

TEST_CASE("render objects: with what each retains, in text and JSON", "[cli][render]") {
    const HandmadeReader heap = small_heap().build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ObjectStates states = object_states(graph);
    ObjectsQuery query;
    query.sort = SortKey::retained;
    query.limit = 2;
    const ObjectsResult result = objects(heap, query, &retained);
    const auto row = [&](ObjectId object) { return object_row(retained, states, object); };
    Shown shown;
    const Written answer(render_objects(result, {.row = row, .line = {}}, "objects", query.sort), shown);
    CHECK_THAT(
        answer.text(shown.page),
        Catch::Matchers::StartsWith(
            "  address   memory  array data   size  retained ▾  refs  type             value\n"
            "  0x10100  1.0 MiB     1.0 MiB  112 B     1.0 MiB     1  numpy.ndarray    (131072,) float64\n"));
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("\nretained: what deleting the object would free"));
    CHECK(rows_of(answer)[0]["retained"] == 1049600);
    CHECK(rows_of(answer)[0]["state"] == "held");
}

TEST_CASE("render objects: with the lines that allocated them", "[cli][render]") {
    const HandmadeReader heap = small_heap().build();
    ObjectsQuery query;
    query.sort = SortKey::size;
    const auto row = [&](ObjectId object) { return object_row(heap, object); };
    const auto line = [](Address address) -> std::optional<SourceLine> {
        if (address != Address(0x10100)) return std::nullopt;
        return SourceLine{"/srv/secret/app.py", 12};
    };
    Shown shown, redacted(true);
    const Written answer(
        render_objects(objects(heap, query, nullptr), {.row = row, .line = line}, "objects", query.sort),
        shown);
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("allocated at"));
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("/srv/secret/app.py:12"));
    CHECK(rows_of(answer)[0]["file"] == "/srv/secret/app.py");
    CHECK(rows_of(answer)[0]["line"] == 12);
    CHECK(rows_of(answer)[1]["file"].is_null());
    CHECK_THAT(answer.csv(), ContainsSubstring(",value,file,line\n"));
    const Written hidden(
        render_objects(objects(heap, query, nullptr), {.row = row, .line = line}, "objects", query.sort),
        redacted);
    CHECK_THAT(hidden.text(redacted.page), !ContainsSubstring("secret"));
    CHECK(rows_of(hidden)[0]["line"] == 12);
}

TEST_CASE("render objects: nothing is a sentence", "[cli][render]") {
    Shown shown;
    const ObjectsResult result;
    const Written answer(render_objects(result, {}, "objects of type dict", SortKey::memory), shown);
    CHECK(answer.text(shown.page) == "There are no objects of type dict in this core.\n");
    CHECK(rows_of(answer).empty());
    CHECK(answer.data["total"]["count"] == 0);
}

TEST_CASE("render show: text", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const ShowResult result = shown_object(heap, Address(0x10300));
    CHECK(Written(render_show(result), shown).text(shown.page) ==
          "str  'hunter2'\n"
          "  address     0x10300\n"
          "  bytes       64 B with what it alone owns (sys.getsizeof: 56 B)\n"
          "  retains     64 B; what holds it is not in this core: native code, or a leaked reference\n"
          "  references  2 counted, 1 found; 1 held by running code, by native code, or leaked\n"
          "  collector   not tracked\n"
          "  found       in a list of the garbage collector\n"
          "It refers to nothing.\n"
          "1 reference refers to it\n"
          "  0x10200  .name  app.\\x1b[2JEvil\n"
          "next: heapsift why 0x10300    the path that keeps it alive\n");
}

TEST_CASE("render show: what was not computed is null, and the text says how to get it", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const Written answer(render_show(show(heap, heap.snapshot().find(Address(0x10300)), 20)), shown);
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("  retains     not computed; add --retained\n"));
    for (const char* key : {"retained", "retained_size", "state", "group", "dominator"}) {
        CHECK(answer.data.contains(key));
        CHECK(answer.data[key].is_null());
    }
}

TEST_CASE("render show: JSON has the keys of the contract", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    const ShowResult result = shown_object(heap, Address(0x10300));
    const Json data = Written(render_show(result), shown).data;
    for (const std::string& key : object_keys) CHECK(data.contains(key));
    for (const char* key :
         {"block_size", "retained_size", "accounted", "referents", "referrers", "dominator"})
        CHECK(data.contains(key));
    CHECK(data["accounted"] == 1);
    CHECK(data["state"] == "held");
    CHECK(data["retained"] == 64);
    const Json& edge = data["referrers"][0];
    CHECK(edge["source"] == "0x10200");
    CHECK(edge["target"] == "0x10300");
    CHECK(edge["name"] == ".name");
    CHECK(edge["kind"] == "strong");
    CHECK(edge["followed"] == true);
}

TEST_CASE("render overview: text", "[cli][render]") {
    Shown shown;
    const HandmadeReader heap = small_heap().build();
    Work work(heap);
    OverviewResult result = overview(work, 2);
    const OverviewCore core = overview_core(heap.core(), heap.snapshot().python);
    REQUIRE(result.holders.size() == 1);
    CHECK_THAT(
        Written(render_overview(result, core), shown).text(shown.page),
        ContainsSubstring("the numpy.ndarray at 0x10100, numpy.ndarray (131072,) float64, keeps 1.0 MiB, "
                          "not all of it in use, alive.") &&
            ContainsSubstring("next: heapsift why 0x10100\n"));
    result.holders.clear();
    result.headline = choose_headline(result.memory, result.in_use_bytes, result.types.types);
    CHECK(Written(render_overview(result, core), shown).text(shown.page) ==
          "core   python3 app.py     CPython 3.11.2, x86-64, pid 100, 1 thread, alive when dumped\n"
          "       4.0 KiB in use, complete\n"
          "\n"
          "75 % of its memory (3.0 KiB of 4.0 KiB) is array data, in 1 numpy.ndarray.\n"
          "\n"
          "Where the memory is  4.0 KiB\n"
          "  array data         3.0 KiB  75.0 %  ███████████████\n"
          "  Python objects     1.0 KiB  25.0 %  █████\n"
          "\n"
          "  objects  memory ▾  array data   size  type\n"
          "        1   1.0 MiB     1.0 MiB  112 B  numpy.ndarray\n"
          "        1      64 B           –   48 B  app.\\x1b[2JEvil\n"
          "… 1 more type; these 2 are 99 % of the memory. All: heapsift types --sort memory -n 0\n"
          "next: heapsift show 0x10100    the largest numpy.ndarray\n");
}

TEST_CASE("render overview: no longer than the terminal, the sentence first", "[cli][render]") {
    Shown shown;
    shown.page.width = 80;
    const HandmadeReader heap = small_heap().build();
    Work work(heap);
    OverviewResult result = overview(work, 2);
    const OverviewCore core = overview_core(heap.core(), heap.snapshot().python);
    result.memory = {{"array data", 96'000}, {"stacks", 500}, {"free", 300}};
    result.in_use_bytes = 96'800;
    while (result.types.types.size() < 12) result.types.types.push_back(result.types.types.back());
    result.types.total_types = 20;
    const auto text_on = [&](std::size_t height) {
        shown.page.height = height;
        return Written(render_overview(result, core), shown).text(shown.page);
    };
    const auto lines = [](const std::string& text) {
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    };
    const std::string whole = text_on(0), shortest = text_on(1);
    CHECK(text_on(100) == whole);
    CHECK_THAT(shortest, ContainsSubstring("\n  array data         93.8 KiB") &&
                             ContainsSubstring("\n  the rest              800 B") &&
                             ContainsSubstring("\nnext: heapsift types") && !ContainsSubstring("\n  free "));
    std::size_t without_types = 0;
    for (std::size_t height = lines(whole) + 3; height > lines(shortest) + 3; --height) {
        const std::string text = text_on(height);
        INFO(height << " lines\n" << text);
        CHECK(lines(text) + 3 <= height);  // room is left for a prompt, and for what a script says
        CHECK_THAT(text, ContainsSubstring("the numpy.ndarray at 0x10100, numpy.ndarray"));
        CHECK_THAT(text, ContainsSubstring("\n  free "));
        without_types += text.find("\nnext: heapsift types") != std::string::npos;
        if (height == lines(whole) + 1) CHECK_THAT(text, ContainsSubstring("these 10 are"));
    }
    CHECK(without_types > 0);

    result.memory = {{"array data", 96'000}, {"free", 300}, {"stacks", 0}};
    CHECK_THAT(text_on(1), ContainsSubstring("\n  free "));  // one small row stays what it is
}

TEST_CASE("render overview: JSON, arguments redacted", "[cli][render]") {
    Shown redacted(true);
    const HandmadeReader heap = small_heap().build();
    Work work(heap);
    const OverviewResult result = overview(work, 2);
    const OverviewCore core = overview_core(heap.core(), heap.snapshot().python);
    const Json data = Written(render_overview(result, core), redacted).data;
    for (const char* key : {"process", "memory", "types", "suspects"}) CHECK(data.contains(key));
    CHECK(data["process"]["pid"] == 100);
    CHECK(data["process"]["arguments"] == "‹arguments 14 #1›");
    CHECK(data["memory"]["mapped"] == 4096);
    CHECK(data["memory"]["categories"][0] == Json({{"name", "array data"}, {"bytes", 3072}}));
    CHECK(data["types"]["types"].size() == 2);
    CHECK(data["types"]["total"]["types"] == 3);
}

TEST_CASE("render doctor: JSON has the keys of the contract", "[cli][render]") {
    Shown shown;
    const DoctorResult result = doctor(small_heap().build());
    const Written answer(render_doctor(result), shown);
    for (const char* key : {"segments", "modules", "layout", "references", "guessed"})
        CHECK(answer.data.contains(key));
    CHECK(keys(answer.data["references"]) ==
          std::vector<std::string>{"written", "learned", "emulated", "guessed"});
    CHECK(answer.data["layout"]["source"] == "built-in table for CPython 3.11");
    CHECK_THAT(answer.text(shown.page), ContainsSubstring("1 of 1 passed"));
}

TEST_CASE("render: on a terminal every line fits it", "[cli][render]") {
    Shown shown;
    shown.page.width = 80;
    shown.page.core_words = " core.1";
    HandmadeHeap made = small_heap();
    made.objects[2].value = literal("'" + std::string(200, 'x') + "'", 200);
    made.objects[1].references[0].step = item_step(literal("'" + std::string(90, 'k') + "'", 90));
    const HandmadeReader heap = made.build();
    const auto fits = [&](const std::string& text) {
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
            if (display_width(text.substr(at, text.find('\n', at) - at)) > shown.page.width) return false;
        return true;
    };
    Work work(heap);
    const OverviewResult all = overview(work, 2);
    OverviewCore core = overview_core(heap.core(), heap.snapshot().python);
    core.modules_missing = core.module_count = 3;
    core.process.arguments =
        "gunicorn: worker [a shop with a long name] and its arguments, as many as the core keeps";
    CHECK(fits(Written(render_overview(all, core), shown).text(shown.page)));
    core.file_name = "core.gunicorn.1000.0123456789abcdef0123456789abcdef.1234.1700000000000000";
    CHECK(fits(Written(render_overview(all, core), shown).text(shown.page)));
    const ObjectsResult listed = objects(heap, {}, nullptr);
    const auto row = [&](ObjectId object) { return object_row(heap, object); };
    CHECK(fits(Written(render_objects(listed, {.row = row, .line = {}}, "objects", SortKey::memory), shown)
                   .text(shown.page)));
    for (const std::uint64_t address : {0x10200, 0x10300}) {
        const ShowResult result = shown_object(heap, Address(address));
        CHECK(fits(Written(render_show(result), shown).text(shown.page)));
    }
    DoctorResult state = doctor(heap);
    Module module;
    module.build_id = "0123456789abcdef0123456789abcdef01234567";
    module.path = "/srv/applications/shop/.venv/lib/python3.11/site-packages/numpy/core/_multiarray_umath.so";
    module.file = "/mnt/sysroot" + module.path;
    module.file_state = ModuleFileState::mismatch;
    state.modules = {module};
    const std::string text = Written(render_doctor(state), shown).text(shown.page);
    CHECK(fits(text));
    CHECK_THAT(text, ContainsSubstring("0123456789ab  "));
    shown.page.width = 0;
    CHECK_THAT(Written(render_doctor(state), shown).text(shown.page), ContainsSubstring(module.build_id));
}

TEST_CASE("render doctor: files that are missing, and only those", "[cli][render]") {
    Shown shown, redacted(true);
    const std::vector<std::string> paths = {"/srv/alice/a.so", "/lib/b\n.so"};
    CHECK(Written(render_missing(paths), shown).text(shown.page) == "/srv/alice/a.so\n/lib/b\\n.so\n");
    CHECK(Written(render_missing(paths), redacted).text(redacted.page) == "a.so\nb\\n.so\n");
    CHECK(Written(render_missing(std::vector<std::string>()), shown).text(shown.page).empty());
}

TEST_CASE("process: how it ended", "[cli][render]") {
    ProcessInfo process;
    CHECK(how_it_ended(process) == "alive when dumped");
    process.from_gcore = true;
    process.signal = SIGSTOP;
    CHECK(how_it_ended(process) == "alive when dumped (gcore)");
    process.from_gcore = false;
    process.signal = 0;
    process.captured = CaptureFacts{"0.1.0", 1764234001, 5000000, false, 3};
    CHECK(how_it_ended(process) == "alive when captured, 2025-11-27 09:00:01 UTC");
    process.from_gcore = true;
    process.signal = SIGSEGV;
    process.signal_code = SEGV_MAPERR;
    process.fault_address = Address(0x10);
    CHECK(how_it_ended(process) == "killed by SIGSEGV (11): address not mapped at 0x10 (saved by gdb)");
    process = {};
    process.signal = SIGABRT;
    process.signal_code = SI_TKILL;
    CHECK(how_it_ended(process) == "killed by SIGABRT (6): abort()");
    CHECK(signal_name(77) == "signal 77");
}

TEST_CASE("envelope: bytes that are no UTF-8 still make valid JSON", "[cli][json]") {
    const std::string text = json_text({{"name", "a\xff"}});
    CHECK(Json::parse(text)["name"] == "a\xef\xbf\xbd");
}

TEST_CASE("envelope: JSON is ASCII, and tells every character", "[cli][json]") {
    CHECK(json_text({{"name", "\xc2\x9b\x7f\x1b"}}) == "{\"name\":\"\\u009b\\u007f\\u001b\"}");
    const std::string name = "\u2028\u2029\u202e\u2066\ufeff\U000e0041 naïve 日本";
    const std::string text = json_text({{name, name}});
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
    CHECK(Json::parse(text)[name] == name);
}

TEST_CASE("envelope: a string that is added is the one that the library writes", "[cli][json]") {
    std::vector<std::string> texts = {"", "plain", "'it\\'s' \"quoted\" \\",
                                      std::string("\0\x01\b\t\n\v\f\r\x1f \x7f~", 12),
                                      "\u0080\u07ff\u0800\u1234\ue000\uffff\U00010000\U0010ffff\U0001f40d"};
    for (const char* odd : {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xf0\x9f\x90", "\xe2\x28\xa1", "\xf0\x28\x8c\xbc"}) {
        texts.push_back(odd);
        texts.push_back("a\"\u20ac" + std::string(odd) + "\n" + odd);
        texts.push_back(std::string(odd) + odd + "'");
    }
    for (const std::string& text : texts) {
        std::string added = "[";
        add_json_string(added, text);
        CHECK(added == "[" + json_text(Json(text)));
    }
}

TEST_CASE("csv: what a terminal would act upon is spelled out, as in text", "[cli][csv]") {
    Redactor redactor;
    const Datum row =
        entries({{"a", "\xc2\x9b\x7f"}, {"b", "\u2028\u202e"}, {"c", Datum(Datum::List{Datum("\u2066")})}});
    CHECK(csv_line(row, {"a", "b"}, redactor) == "\\x9b\\x7f,\\u2028\\u202e\n");
    const std::string nested = csv_line(row, {"c"}, redactor);
    CHECK(std::all_of(nested.begin(), nested.end(),
                      [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
}

TEST_CASE("envelope: an error has the keys of the contract", "[cli][json]") {
    Redactor redactor(true);
    Diagnostic cut{"core-cut", "/home/alice/core.1: cut", Severity::damage, 3};
    const Json document = envelope_json({"types", nullptr, false, false, {cut}}, redactor);
    CHECK(keys(document) ==
          std::vector<std::string>{"schema", "heapsift", "complete", "certain", "warnings", "core"});
    CHECK(document["schema"] == "heapsift.types/1");
    CHECK(document["warnings"][0]["message"] == "core.1: cut (and 2 more like it)");
    const Json error = error_json(wrong_usage("no-core", "no core"), redactor);
    CHECK(error == Json({{"code", "no-core"}, {"message", "no core"}, {"hint", nullptr}}));
}
