// heapsift arrays, in text and JSON.

#include "cli/render/arrays.h"

#include "cli/units.h"
#include "tests/analysis/handmade_arrays.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

using handmade_arrays::data_start;

/// 1000 elements that a slice of ten keeps alive, and 100 that are used.
struct Pinned {
    ArrayHeap made;
    std::uint64_t owner = made.array(data_start, {1000}, {8});
    std::uint64_t slice = made.array(data_start, {10}, {8}, owner);
    std::uint64_t used = made.array(data_start + 8000, {100}, {8});
    std::uint64_t list = made.list({slice, used});
    HandmadeReader heap = made.build();
    Work work{heap};

    ArraysResult ask(ArraysQuery query) {
        query.rows = 0;
        query.every_frame = true;
        return arrays(work, query);
    }
    ArraysRows rows(const ArraysResult& result) const {
        ArraysRows each;
        each.arrays = [&](const std::function<void(const ShownArray&)>& visit) {
            for (std::size_t i = 0; i < result.arrays.size(); ++i) visit(shown_array(heap, result, i));
        };
        each.owners = [&](const std::function<void(const ArrayOwnerRow&)>& visit) {
            for (std::size_t i = 0; i < result.owners.size(); ++i) visit(array_owner_row(heap, result, i));
        };
        each.first_array = [&] { return shown_array(heap, result, 0); };
        each.first_owner = [&] { return array_owner_row(heap, result, 0); };
        return each;
    }
};

}  // namespace

TEST_CASE("render arrays: owners, views and what is pinned, in sums and by holder", "[cli][arrays]") {
    Pinned made;
    Shown shown;
    const ArraysResult result = made.ask({});
    const Written answer(render_arrays(kept(result), made.rows(result)), shown);
    const std::string text = answer.text(shown.page);
    CHECK_THAT(text,
               ContainsSubstring("3 arrays: 2 own their elements, 1 of them are views. 8.6 KiB of data."));
    CHECK_THAT(text,
               ContainsSubstring("1 slice (80 B) is all that keeps 1 whole array (7.8 KiB) in memory."));
    CHECK_THAT(text, ContainsSubstring("next: heapsift arrays --pinned"));
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["dtype"] == "<f8");
    CHECK(rows[0]["shape"] == Json{1000});
    CHECK(rows[0]["owner_nbytes"] == 8000);
    CHECK(rows[2]["owner"] == "0x10000");
    CHECK(rows[2]["owns_data"] == false);
    REQUIRE(answer.document.more_tables.size() == 4);
    CHECK(answer.document.more_tables[0].key == "owners");
    CHECK(answer.document.more_tables[1].key == "holders");
    CHECK(answer.data["total"]["pinned_bytes"] == 8000);
    CHECK_THAT(answer.csv(),
               ContainsSubstring("\n0x10800,numpy.ndarray,<f8,[100],[8],800,0x1001f40,true,,0x10800,800\n"));
}

TEST_CASE("render arrays: pinned owners, with what keeps each", "[cli][arrays]") {
    Pinned made;
    Shown shown;
    const ArraysResult result = made.ask({.table = ArraysQuery::Table::owners, .only_pinned = true});
    const Written answer(render_arrays(kept(result), made.rows(result)), shown);
    const std::vector<Json> rows = rows_of(answer);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["owner"]["address"] == "0x10000");
    CHECK(rows[0]["nbytes"] == 8000);
    CHECK(rows[0]["visible_bytes"] == 80);
    CHECK(rows[0]["pinned"] == true);
    CHECK(rows[0]["example"] == "0x10400");
    const std::string text = answer.text(shown.page);
    CHECK_THAT(text, ContainsSubstring("0x10000  numpy.ndarray"));
    CHECK_THAT(text, ContainsSubstring("fix: store copies"));
}

TEST_CASE("render arrays: nothing is a sentence", "[cli][arrays]") {
    HandmadeHeap empty;
    empty.objects = {{Address(0x10100), "app.Node", facts(48, 64), {}, {}}};
    const HandmadeReader heap = empty.build();
    Work work(heap);
    Shown shown;
    for (const ArraysQuery::Table table : {ArraysQuery::Table::summary, ArraysQuery::Table::owners,
                                           ArraysQuery::Table::views, ArraysQuery::Table::holders}) {
        const ArraysResult result = arrays(work, {.table = table});
        CHECK(Written(render_arrays(kept(result), {}), shown).text(shown.page) ==
              "There are no NumPy arrays in this core.\n");
    }
}

TEST_CASE("render arrays: views with their owners, holders with what they keep, waste with what would do",
          "[cli][arrays]") {
    Pinned made;
    Shown shown;
    const auto answer_of = [&](const ArraysResult& result) {
        return Written(render_arrays(kept(result), made.rows(result)), shown);
    };
    const ArraysResult views = made.ask({.table = ArraysQuery::Table::views});
    const std::string of_views = answer_of(views).text(shown.page);
    CHECK_THAT(of_views, ContainsSubstring("0x10400     80 B  7.8 KiB"));
    CHECK_THAT(of_views, ContainsSubstring("next: heapsift show 0x10400"));
    CHECK(rows_of(answer_of(views)).size() == 1);

    const ArraysResult holders = made.ask({.table = ArraysQuery::Table::holders});
    const std::string of_holders = answer_of(holders).text(shown.page);
    CHECK_THAT(of_holders, ContainsSubstring("they keep"));
    CHECK_THAT(of_holders, ContainsSubstring("8.6 KiB"));  // both owners
    const std::vector<Json> rows = rows_of(answer_of(holders));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["arrays"] == 2);
    CHECK(rows[0]["kept_bytes"] == 8800);
    CHECK(rows[0]["dominator"] == hexadecimal(made.list));
    CHECK(answer_of(holders).data["total"]["holders"] == 1);

    const ArraysResult waste = made.ask({.table = ArraysQuery::Table::waste});
    const std::string of_waste = answer_of(waste).text(shown.page);
    CHECK_THAT(of_waste, ContainsSubstring("2 arrays take 8.6 KiB and would do with 16 B."));
    CHECK_THAT(of_waste, ContainsSubstring("one value"));
    CHECK(rows_of(answer_of(waste))[0]["kind"] == "constant");
    CHECK(rows_of(answer_of(waste))[0]["needed"] == 8);
}
