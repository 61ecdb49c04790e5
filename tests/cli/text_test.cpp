// Text from a core, words, widths, numbers.

#include "parsers/base/text.h"

#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "tests/catch.h"

using namespace heapsift;

TEST_CASE("escape: what a terminal acts upon is spelled out", "[cli][text]") {
    CHECK(escape_for_terminal("plain, naïve, 日本") == "plain, naïve, 日本");
    CHECK(escape_for_terminal("\x1b[2J") == "\\x1b[2J");
    CHECK(escape_for_terminal("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(escape_for_terminal(std::string_view("\0\x7f", 2)) == "\\x00\\x7f");
    CHECK(escape_for_terminal("\xc2\x9b") == "\\x9b");
    CHECK(escape_for_terminal("\u202e\u2066\u200b\ufeff") == "\\u202e\\u2066\\u200b\\ufeff");
    CHECK(escape_for_terminal("\U000e0041") == "\\U000e0041");
}

TEST_CASE("escape: bytes that are no UTF-8 are spelled out one by one", "[cli][text]") {
    CHECK(escape_for_terminal("\xff") == "\\xff");
    CHECK(escape_for_terminal("a\xe6\x97") == "a\\xe6\\x97");
    CHECK(escape_for_terminal("\xc0\xaf") == "\\xc0\\xaf");
    CHECK(escape_for_terminal("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(escape_for_terminal("\xf5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");
}

TEST_CASE("escape: escaped text is left as it is", "[cli][text]") {
    const std::string once = escape_for_terminal("\x1b\\n\xff");
    CHECK(escape_for_terminal(once) == once);
}

TEST_CASE("escape: any bytes give text that decodes and holds no control character", "[cli][text]") {
    std::string bytes;
    for (int i = 0; i < 65536; ++i) bytes += static_cast<char>((i * 7919) >> (i % 5));
    std::string_view rest;
    const std::string escaped = escape_for_terminal(bytes);
    for (rest = escaped; !rest.empty();) {
        const DecodedCharacter c = decode_utf8(rest);
        REQUIRE(c.valid);
        REQUIRE(c.value >= 0x20);
        REQUIRE((c.value < 0x7f || c.value > 0x9f));
        rest.remove_prefix(c.bytes);
    }
}

TEST_CASE("edit distance: insert, delete, replace, swap", "[cli][text]") {
    CHECK(edit_distance("types", "types") == 0);
    CHECK(edit_distance("tpyes", "types") == 1);
    CHECK(edit_distance("type", "types") == 1);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("nearest words: near ones only, nearest first", "[cli][text]") {
    const std::vector<std::string> words = {"types", "objects", "show", "doctor"};
    CHECK(nearest_words("tpes", words) == std::vector<std::string>{"types"});
    CHECK(nearest_words("obj", words) == std::vector<std::string>{"objects"});
    CHECK(nearest_words("xyzzy", words).empty());
    CHECK(nearest_words(std::string(10000, 'x'), words).empty());
}

TEST_CASE("shell quoting: only where it is needed", "[cli][text]") {
    CHECK(shell_quoted("core.1234") == "core.1234");
    CHECK(shell_quoted("func().selected[37]") == "'func().selected[37]'");
    CHECK(shell_quoted("it's") == "\"it's\"");
    CHECK(shell_quoted("") == "''");
    CHECK(shell_quoted("naïve core") == "'naïve core'");
}

TEST_CASE("shell quoting: what a terminal would act upon is spelled out for the shell", "[cli][text]") {
    CHECK(shell_quoted("a\x1b[31mb/core") == "$'a\\033[31mb/core'");
    CHECK(shell_quoted("a\n1") == "$'a\\0121'");
    CHECK(shell_quoted("it's \\ \xff") == "$'it\\'s \\\\ \\377'");
    CHECK(shell_quoted("\u202ena\u00efve") == "$'\\342\\200\\256na\\303\\257ve'");
    CHECK(shell_quoted("\x7f\xc2\x9b") == "$'\\177\\302\\233'");
}

TEST_CASE("width: combining marks take none, wide characters two columns", "[cli][text]") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("naïve") == 5);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("日本") == 4);
    CHECK(display_width("███▏") == 4);
}

TEST_CASE("width: a name is shortened in its middle, never to more than asked", "[cli][text]") {
    CHECK(shortened_in_the_middle("numpy.ndarray", 20) == "numpy.ndarray");
    CHECK(shortened_in_the_middle("package.module.ClassName", 15) == "package…assName");
    CHECK(shortened_in_the_middle("abc", 1) == "…");
    CHECK(shortened_in_the_middle("abc", 0).empty());
    for (std::size_t width = 0; width < 14; ++width) {
        CHECK(display_width(shortened_in_the_middle("日本語のクラス名", width)) <= width);
        CHECK(display_width(shortened_in_the_middle(
                  "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", width)) <= width);
    }
}

TEST_CASE("units: sizes are binary, with one decimal", "[cli][units]") {
    CHECK(binary_size(0) == "0 B");
    CHECK(binary_size(1023) == "1023 B");
    CHECK(binary_size(1024) == "1.0 KiB");
    CHECK(binary_size(11429478) == "10.9 MiB");
    CHECK(binary_size(1024 * 1024 - 1) == "1.0 MiB");
    CHECK(binary_size(~std::uint64_t{0}) == "16.0 EiB");
    CHECK(bytes_text(1234567, true) == "1,234,567 B");
}

TEST_CASE("units: thousands, counts, addresses", "[cli][units]") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped_signed(-1234) == "-1,234");
    CHECK(grouped_signed(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
    CHECK(counted(1, "object") == "1 object");
    CHECK(counted(1000, "object") == "1,000 objects");
    CHECK(counted(2, "reference refers", "references refer") == "2 references refer");
    CHECK(hexadecimal(0x7f31c2a4d5e0) == "0x7f31c2a4d5e0");
}

TEST_CASE("units: a share is 0 or 100 % only where it is", "[cli][units]") {
    CHECK(percent(0, 10) == "0 %");
    CHECK(percent(10, 10) == "100 %");
    CHECK(percent(1, 1000000) == "< 0.1 %");
    CHECK(percent(999999, 1000000) == "99 %");
    CHECK(percent(26, 100) == "26 %");
    CHECK(percent(45, 1000) == "4.5 %");
    CHECK(percent(1, 0) == "0 %");
    CHECK(percent_in_table(795, 1000) == "79.5 %");
    CHECK(percent_in_table(1, 1000000) == "< 0.1 %");
}

TEST_CASE("units: what people type", "[cli][units]") {
    CHECK(parse_quantity("100") == 100);
    CHECK(parse_quantity("64K") == 65536);
    CHECK(parse_quantity("1.5M") == 1572864);
    CHECK(parse_quantity("2GiB") == 2147483648);
    CHECK(parse_quantity("2 kb") == 2048);
    CHECK(parse_quantity("7B") == 7);
    for (const char* wrong :
         {"", "K", "1.5", "1.", ".5M", "-1", "1X", "1Kx", "1..5M", "99999999999999999999"})
        CHECK_FALSE(parse_quantity(wrong).has_value());
}

TEST_CASE("table: columns are aligned, lines do not end in blanks", "[cli][table]") {
    using Align = TableColumn::Align;
    Table table(
        {{Align::right, "objects"}, {Align::left, "type", TableColumn::Fit::middle}, {Align::left, "value"}});
    table.add({"5", "dict", ""});
    table.add({"1,234", "日本.Node", "x"});
    CHECK(table.text(0, false) ==
          "  objects  type       value\n"
          "        5  dict\n"
          "    1,234  日本.Node  x\n");
}

TEST_CASE("width: text is broken at blanks, and a tail is not", "[cli][text]") {
    CHECK(wrapped("one two three", 0, 2) == "one two three");
    CHECK(wrapped("one two three", 13, 2) == "one two three");
    CHECK(wrapped("one two  three", 9, 2) == "one two\n  three");
    CHECK(wrapped("one two", 9, 4, 6) == "one\n    two");
    CHECK(wrapped("/a/very/long/path and", 9, 2) == "/a/very/long/path\n  and");
    CHECK(wrapped("日本 日本 日本", 9, 1) == "日本 日本\n 日本");
    CHECK(wrapped_with_tail("one two.", "All: a b", 20, 2) == "one two. All: a b");
    CHECK(wrapped_with_tail("one two.", "All: a b", 12, 2) == "one two.\n  All: a b");
    CHECK(wrapped_with_tail("one two.", "All: a b", 0, 2) == "one two. All: a b");
}

TEST_CASE("width: a value is shortened at its end, never to more than asked", "[cli][text]") {
    CHECK(shortened_at_the_end("'abcdef'", 8) == "'abcdef'");
    CHECK(shortened_at_the_end("'abcdef'", 5) == "'abc…");
    for (std::size_t width = 0; width < 40; ++width) {
        const std::string text = "<block of C code> 0x7f31c2a4d5e0, 1 not found";
        for (const std::string& cut :
             {shortened_at_the_end(text, width), shortened_in_the_middle(text, width)}) {
            CHECK(display_width(cut) <= width);
            const bool whole = cut.find("0x7f31c2a4d5e0") != std::string::npos;
            CHECK((whole || (cut.find("0x") == std::string::npos && cut.find("d5e0") == std::string::npos)));
        }
    }
    CHECK(shortened_at_the_end("at 0x7f31c2a4d5e0 of all", 17) == "at …");
    CHECK(shortened_at_the_end("at 0x7f31c2a4d5e0 of all", 18) == "at 0x7f31c2a4d5e0…");
    CHECK(shortened_in_the_middle("the list at 0x7f31c2a4d5e0", 20) == "the list …");
    for (std::size_t width = 0; width < 14; ++width)
        CHECK(display_width(shortened_at_the_end("日本語のクラス名", width)) <= width);
}

TEST_CASE("table: values give way first, then names, an address never", "[cli][table]") {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table(
        {{Align::left, "address"}, {Align::left, "type", Fit::middle}, {Align::left, "value", Fit::end}});
    table.add({"0x7f31c2a4d5e0", "package.module.ClassName", "'" + std::string(100, 'x') + "'"});
    for (std::size_t width = 26; width < 200; ++width) {
        const std::string text = table.text(width, false);
        CHECK_THAT(text, ContainsSubstring("  0x7f31c2a4d5e0  "));
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
            CHECK(display_width(text.substr(at, text.find('\n', at) - at)) <=
                  std::max<std::size_t>(width, 2 + 14 + 2 + 8 + 2 + 1));
    }
    CHECK_THAT(table.text(60, false), ContainsSubstring("package.module.ClassName  'xxxx"));
    CHECK_THAT(table.text(0, false), ContainsSubstring(std::string(100, 'x')));
}

TEST_CASE("table: a sentence goes on below itself", "[cli][table]") {
    Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, "", TableColumn::Fit::wrap}});
    table.add({"references", "2 counted, 1 found; 1 held by native code"});
    CHECK(table.text(40, false) ==
          "  references  2 counted, 1 found; 1 held\n"
          "              by native code\n");
}

TEST_CASE("table: a sentence stands below its row where there is no room beside it", "[cli][table]") {
    Table table({{TableColumn::Align::left, "allocator"},
                 {TableColumn::Align::right, "in use"},
                 {TableColumn::Align::left, "and", TableColumn::Fit::wrap}});
    table.add({"the main arena", "2.5 MiB", "56 KiB of the free are in caches"});
    table.add({"another one", "1.0 MiB", ""});
    CHECK(table.text(36, false) ==
          "  allocator        in use\n"
          "      and\n"
          "  the main arena  2.5 MiB\n"
          "      56 KiB of the free are in\n"
          "      caches\n"
          "  another one     1.0 MiB\n");
    for (const std::size_t wide : {0, 80})
        CHECK_THAT(table.text(wide, false), ContainsSubstring("2.5 MiB  56 KiB of the free are in caches\n"));
}

TEST_CASE("table: only type names are shortened, and only so far", "[cli][table]") {
    using Align = TableColumn::Align;
    Table table({{Align::left, "address"}, {Align::left, "type", TableColumn::Fit::middle}});
    table.add({"0x7f31c2a4d5e0", "a.very.long.package.name.of.a.module.ClassName"});
    const std::string shortened = table.text(40, false);
    CHECK_THAT(shortened, ContainsSubstring("  0x7f31c2a4d5e0  a.very.lon…e.ClassName\n"));
    CHECK_THAT(table.text(10, false), ContainsSubstring("0x7f31c2a4d5e0"));
    CHECK_THAT(table.text(0, false), ContainsSubstring("a.very.long.package.name.of.a.module.ClassName"));
}

TEST_CASE("bar: eighths, and something for anything", "[cli][table]") {
    CHECK(bar(0, 10).empty());
    CHECK(bar(0.0001, 10) == "▏");
    CHECK(bar(0.5, 4) == "██");
    CHECK(bar(1, 3) == "███");
    CHECK(bar(0.3125, 4) == "█▎");
}
