// Equal values and other waste, as text and in the keys of the contract.

#include "cli/render/duplicates.h"
#include "cli/render/waste.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::shared_ptr<const DuplicatesResult> two_values() {
    DuplicatesResult result;
    result.names = {{"app", "ROWS[*]['*']"}, {"app.Order", "state"}, {}};
    result.holders_of_values = {{0, 5000}, {1, 12}, {2, 3}};
    DuplicateValue country, number;
    country.first = ObjectId(7);
    country.count = 5012;
    country.size = 5012 * 56;
    country.memory = 5012 * 64;
    country.saves = 5011 * 64;
    country.holders = 2;
    number.first = ObjectId(9);
    number.count = 3;
    number.memory = 96;
    number.saves = 64;
    number.holders_begin = 2;
    number.holders = 1;
    number.fix = DuplicateFix::collect;
    result.values = {country, number};
    result.types = {{TypeId(3), "str", 4'000'000, 500, 1, 5012 * 56, 5012 * 64, 5011 * 64}};
    result.by_holder = {{"app", "ROWS[*]['*']", false, false, 4999, 319'936}};
    result.total_values = 4;
    result.total_saves = result.shown_saves = 5011 * 64 + 64;
    result.unread = 2;
    return kept(std::move(result));
}

DuplicateRow row_of(const DuplicatesResult& result, const DuplicateValue& value) {
    DuplicateRow row{
        Address(0x7f0000000000 + 16 * std::uint64_t{value.first}), "str", literal("'germany'", 7), {}};
    if (value.first == ObjectId(9)) {
        row.type = "float";
        row.value = literal("2.5", 3);
    }
    for (std::uint64_t i = 0; i < value.holders; ++i) {
        row.holders.push_back(result.names[result.holders_of_values[value.holders_begin + i].holder]);
        row.holders.back().count = result.holders_of_values[value.holders_begin + i].count;
    }
    return row;
}

Document rendered(const std::shared_ptr<const DuplicatesResult>& result) {
    return render_duplicates(result,
                             [result](const DuplicateValue& value) { return row_of(*result, value); });
}

WasteResult some_waste() {
    WasteResult result;
    WasteRow nodes, equal, lists, arrays;
    nodes.sort = WasteSort::instance_dicts;
    nodes.type = "app.Node";
    nodes.holder = {"app.Tree", "nodes[*]"};
    nodes.count = 20'000;
    nodes.bytes = 2 << 20;
    nodes.saves = 1 << 20;
    nodes.example_address = Address(0x7f0000001000);
    equal.sort = WasteSort::duplicates;
    equal.holder = {"app", "ROWS"};
    equal.count = 500;
    equal.bytes = 300'000;
    equal.saves = 200'000;
    lists.sort = WasteSort::list_room;
    lists.type = "list";
    lists.count = 1;
    lists.bytes = 3000;
    lists.saves = 2000;
    arrays.sort = WasteSort::arrays;
    arrays.type = "numpy.ndarray";
    arrays.holder = {"main()", "data"};
    arrays.count = 2;
    arrays.bytes = 8000;
    arrays.saves = 1500;
    result.rows = {nodes, equal, lists, arrays};
    result.total_rows = 4;
    result.total_saves = 1'252'076;
    return result;
}

}  // namespace

TEST_CASE("render duplicates: the saving and its holder first, then types, values, and the fix",
          "[cli][render]") {
    Shown shown;
    const std::string text = Written(rendered(two_values()), shown).text(shown.page);
    CHECK_THAT(text, ContainsSubstring("313.2 KiB could be saved by sharing equal values. The largest part, "
                                       "312.4 KiB, is held as app.ROWS[*]['*']."));
    CHECK_THAT(text, ContainsSubstring("4,000,000 str are 500 different values"));
    CHECK_THAT(text, ContainsSubstring("5,012"));
    CHECK_THAT(text, ContainsSubstring("'germany'"));
    CHECK_THAT(text, ContainsSubstring("app.ROWS[*]['*'] and 1 more"));
    CHECK_THAT(text, ContainsSubstring("garbage"));
    CHECK_THAT(text, ContainsSubstring("2 more values"));
    CHECK_THAT(text, ContainsSubstring("fix for the first: text = sys.intern(text)"));
    CHECK_THAT(text, ContainsSubstring("2 values were not compared"));
    CHECK_THAT(text, ContainsSubstring("next: heapsift why 0x7f0000000070"));
}

TEST_CASE("render duplicates: the keys of the contract", "[cli][render]") {
    Shown shown;
    const Written answer(rendered(two_values()), shown);
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0]["type"] == "str");
    CHECK(rows[0]["count"] == 5012);
    CHECK(rows[0]["bytes"] == 5012 * 64);
    CHECK(rows[0]["saves"] == 5011 * 64);
    CHECK(rows[0]["value"] == "'germany'");
    CHECK(rows[0]["holders"][0]["attribute"] == "ROWS[*]['*']");
    CHECK(rows[0]["holders"][1]["count"] == 12);
    CHECK(rows[0]["fix"] == "intern");
    CHECK(rows[1]["holders"][0]["holder"].is_null());
    CHECK(rows[1]["fix"] == "collect");
    CHECK(answer.data["total"]["saves"] == 5011 * 64 + 64);
    CHECK(answer.data["types"][0]["values"] == 500);
    CHECK(answer.data["by_holder"][0]["saves"] == 319'936);
    CHECK(answer.csv().starts_with("type,count,size,bytes,saves,value,address,fix\n"));
}

TEST_CASE("render duplicates: --redact keeps the numbers and no value", "[cli][render][redact]") {
    Shown shown(true);
    const Written answer(rendered(two_values()), shown);
    CHECK_THAT(answer.text(shown.page), !ContainsSubstring("germany"));
    CHECK(rows_of(answer)[0]["value"].dump().find("germany") == std::string::npos);
    CHECK(rows_of(answer)[0]["count"] == 5012);
}

TEST_CASE("render duplicates: nothing is a sentence", "[cli][render]") {
    Shown shown;
    const std::string text = Written(rendered(kept(DuplicatesResult())), shown).text(shown.page);
    CHECK_THAT(text, ContainsSubstring("No two values of this core are equal"));
}

TEST_CASE("render duplicates: each fix has its words and its name", "[cli][render]") {
    std::vector<std::string> names, words;
    for (const DuplicateFix fix :
         {DuplicateFix::intern, DuplicateFix::category, DuplicateFix::numeric_column,
          DuplicateFix::number_array, DuplicateFix::one_number, DuplicateFix::one_object,
          DuplicateFix::one_array, DuplicateFix::collect}) {
        names.emplace_back(name_of(fix));
        words.emplace_back(fix_words(fix));
    }
    std::sort(names.begin(), names.end());
    std::sort(words.begin(), words.end());
    CHECK(std::unique(names.begin(), names.end()) == names.end());
    CHECK(std::unique(words.begin(), words.end()) == words.end());
}

TEST_CASE("render waste: the largest saving first, with its holder and its fix", "[cli][render]") {
    Shown shown;
    const Written answer(render_waste(some_waste()), shown);
    const std::string text = answer.text(shown.page);
    CHECK_THAT(text,
               ContainsSubstring("The largest saving is 1.0 MiB: 20,000 app.Node with a __dict__, held as "
                                 "app.Tree.nodes[*]."));
    CHECK_THAT(text, ContainsSubstring("equal values"));
    CHECK_THAT(text, ContainsSubstring("unused room"));
    CHECK_THAT(text, ContainsSubstring("wider than needed  numpy.ndarray"));
    CHECK_THAT(text, ContainsSubstring("fix for the first: give the class"));
    CHECK_THAT(text, ContainsSubstring("next: heapsift why 0x7f0000001000"));
    const std::vector<Json> rows = rows_of(answer);
    CHECK(rows[0]["kind"] == "instance_dicts");
    CHECK(rows[0]["holder"] == "app.Tree");
    CHECK(rows[0]["saves"] == 1 << 20);
    CHECK(rows[1]["type"].is_null());
    CHECK(rows[2]["holder"].is_null());
    CHECK(answer.data["total"]["rows"] == 4);
}

TEST_CASE("render waste: the next command lists the values or the arrays if these are first",
          "[cli][render]") {
    Shown shown;
    WasteResult result = some_waste();
    result.rows.erase(result.rows.begin());
    CHECK_THAT(Written(render_waste(result), shown).text(shown.page),
               ContainsSubstring("next: heapsift duplicates"));
    result.rows.erase(result.rows.begin(), result.rows.begin() + 2);
    CHECK_THAT(Written(render_waste(result), shown).text(shown.page),
               ContainsSubstring("next: heapsift arrays --waste"));
}

TEST_CASE("render waste: each sort has words of its own", "[cli][render]") {
    Shown shown;
    for (const WasteSort sort : {WasteSort::dict_room, WasteSort::set_room, WasteSort::bytearray_room,
                                 WasteSort::boxed_floats, WasteSort::boxed_ints, WasteSort::boxed_bools}) {
        WasteResult result = some_waste();
        result.rows.resize(1);
        result.rows[0].sort = sort;
        const Written answer(render_waste(result), shown);
        CHECK(rows_of(answer)[0]["kind"] != "arrays");
        CHECK_THAT(answer.text(shown.page), ContainsSubstring("20,000 "));
    }
}

TEST_CASE("render waste: nothing is a sentence", "[cli][render]") {
    Shown shown;
    CHECK_THAT(Written(render_waste({}), shown).text(shown.page),
               ContainsSubstring("Nothing here wastes 1.0 KiB"));
}
