// The blocks of C code on a page and in JSON: by size, and one by one.

#include "cli/render/native.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

NativeResult two_sizes() {
    NativeResult result;
    result.sizes = {
        {.size = 3000, .count = 2, .bytes = 6000, .example = Address(0x5000), .held = {.leaked = 2}},
        {.size = 24,
         .count = 1,
         .bytes = 24,
         .example = Address(0x7000),
         .held = {.by = "libfoo.so kept", .by_count = 1}}};
    result.size_count = 2;
    result.count = 3;
    result.bytes = 6024;
    result.leaked_count = 2;
    result.leaked_bytes = 6000;
    return result;
}

NativeDetails details() {
    return {.list =
                [] {
                    NativeList list;
                    list.blocks = {Address(0x5000), Address(0x6000), Address(0x7000)};
                    list.rows = {0, 0, 1};
                    return list;
                },
            .row =
                [](Address block, std::uint32_t row) {
                    NativeListRow made;
                    made.address = block;
                    made.bytes = row == 0 ? 3000 : 24;
                    made.content = row == 0 ? "text" : "";
                    made.held_by = row == 0 ? "" : "libfoo.so kept";
                    made.leaked = row == 0;
                    made.by_number = block == Address(0x6000);
                    return made;
                },
            .contents =
                [] {
                    return std::vector<NativeContent>{{"text", 2, 6000, 2}, {"", 1, 24, 0}};
                },
            .line = {}};
}

std::vector<Json> table(const Written& answer, const std::string& key) {
    std::vector<Json> rows;
    for (const Document::Table& more : answer.document.more_tables)
        if (more.key == key)
            more.rows(
                [&](const Datum& row) { rows.push_back(Json::parse(json_text(row, answer.redactor))); });
    return rows;
}

}  // namespace

TEST_CASE("render native: sizes on the page, blocks and contents in JSON", "[cli][render]") {
    Shown shown;
    const Written answer(render_native(two_sizes(), details(), {}), shown);
    const std::string text = answer.text(shown.page);
    CHECK(text.find("3,000") != std::string::npos);
    CHECK(text.find("0x6000") == std::string::npos);
    CHECK(text.find("next: heapsift native --leaked ") != std::string::npos);
    const std::vector<Json> blocks = table(answer, "blocks"), contents = table(answer, "contents");
    REQUIRE(blocks.size() == 3);
    CHECK(blocks[0]["address"] == "0x5000");
    CHECK(blocks[0]["size"] == 3000);
    CHECK(blocks[0]["content"] == "text");
    CHECK(blocks[0]["class"].is_null());
    CHECK(blocks[0]["held_by"].is_null());
    CHECK(blocks[0]["leaked"] == true);
    CHECK(blocks[1]["from_number"] == true);
    CHECK(blocks[2]["held_by"] == "libfoo.so kept");
    CHECK(blocks[2]["leaked"] == false);
    CHECK(contents[0]["content"] == "text");
    CHECK(contents[0]["leaked"] == 2);
    CHECK(contents[1]["content"].is_null());
    CHECK(rows_of(answer).size() == 2);
    CHECK(rows_of(answer)[0]["size"] == 3000);
}

TEST_CASE("render native: one by one", "[cli][render]") {
    Shown shown;
    const Written answer(render_native(two_sizes(), details(), {.blocks = true}), shown);
    const std::string text = answer.text(shown.page);
    for (const char* words :
         {"0x5000", "0x6000", "0x7000", "leaked, unless an int is its handle", "libfoo.so kept"})
        CHECK(text.find(words) != std::string::npos);
    CHECK(rows_of(answer).size() == 3);
    CHECK(rows_of(answer)[1]["address"] == "0x6000");
    CHECK(table(answer, "sizes").size() == 2);
    CHECK(answer.csv().starts_with("address,size,class,content,held_by"));
    NativeDetails traced = details();
    traced.line = [](const AddressRange& block) -> std::optional<SourceLine> {
        if (block.start != Address(0x6000) || block.size() != 3000) return std::nullopt;
        return SourceLine{"/srv/app.py", 12};
    };
    const Written with_lines(render_native(two_sizes(), traced, {.blocks = true}), shown);
    CHECK(with_lines.text(shown.page).find("/srv/app.py:12") != std::string::npos);
    CHECK(rows_of(with_lines)[1]["line"] == 12);
    CHECK(rows_of(with_lines)[0]["file"].is_null());
    CHECK(with_lines.csv().find(",/srv/app.py,12\n") != std::string::npos);
    const Written leaked(render_native(two_sizes(), details(), {.leaked_only = true}), shown);
    CHECK(leaked.text(shown.page).find("next: heapsift native --leaked --blocks") != std::string::npos);
}
