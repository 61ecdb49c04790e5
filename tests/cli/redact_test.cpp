// What leaves the machine under --redact.

#include "cli/redact.h"

#include "parsers/base/text.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using heapsift::test::literal;

TEST_CASE("redact: one number a value, everywhere", "[cli][redact]") {
    Redactor redactor(true);
    CHECK(redactor.value(literal("'hunter2'", 7), "str") == "‹str 7 #1›");
    CHECK(redactor.value(literal("'alice'", 5), "str") == "‹str 5 #2›");
    CHECK(redactor.value(literal("'hunter2'", 7), "str") == "‹str 7 #1›");
    CHECK(redactor.reference_name(item_step(literal("'hunter2'", 7))) == "[‹str 7 #1›]");
}

TEST_CASE("redact: an attribute whose name is no identifier is a value", "[cli][redact]") {
    ReferenceStep odd;
    odd.kind = ReferenceStep::Kind::odd_attribute;
    odd.name = "'customer 7'";
    odd.number = 10;
    Redactor redactor(true);
    CHECK(redactor.reference_name(odd) == ".__dict__[‹str 10 #1›]");
    CHECK(redactor.value(literal("'customer 7'", 10), "str") == "‹str 10 #1›");
    CHECK(redactor.reference_name(attribute_step("customer_7")) == ".customer_7");
    CHECK(Redactor(false).reference_name(odd) == ".__dict__['customer 7']");
    odd.any = true;
    CHECK(redactor.reference_name(odd) == ".__dict__['*']");
}

TEST_CASE("redact: names and summaries stay, paths in them do not", "[cli][redact]") {
    Redactor redactor(true);
    CHECK(redactor.value({ShortValue::Kind::summary, "list of 100", 0}, "list") == "list of 100");
    CHECK(redactor.value({ShortValue::Kind::name, "<function app.load>", 0}) == "<function app.load>");
    CHECK(redactor.value({ShortValue::Kind::name, "<code object f, file \"/home/alice/app.py\", line 3>",
                          0}) == "<code object f, file \"app.py\", line 3>");
}

TEST_CASE("redact: of a text with values in it the rest stays", "[cli][redact]") {
    const ShortValue items{
        .kind = ShortValue::Kind::summary, .text = "list of 2: 'a', 'b'", .without_values = "list of 2"};
    CHECK(Redactor(true).value(items, "list") == "list of 2");
    CHECK(Redactor(false).value(items, "list") == "list of 2: 'a', 'b'");
    const ShortValue member{
        .kind = ShortValue::Kind::literal, .text = "Color.RED", .without_values = "Color.RED"};
    CHECK(Redactor(true).reference_name(item_step(member)) == "[Color.RED]");
}

TEST_CASE("redact: without it nothing changes", "[cli][redact]") {
    Redactor redactor;
    CHECK(redactor.value(literal("'x'", 1), "str") == "'x'");
    CHECK(redactor.path("/home/alice/core.1") == "/home/alice/core.1");
    CHECK(redactor.message("/home/alice/core.1: no such file") == "/home/alice/core.1: no such file");
    CHECK(redactor.arguments("python app.py --token x") == "python app.py --token x");
}

TEST_CASE("redact: paths become base names, arguments and directories numbers", "[cli][redact]") {
    Redactor redactor(true);
    CHECK(redactor.path("/home/alice/core.1") == "core.1");
    CHECK(redactor.arguments("python app.py --token x") == "‹arguments 23 #1›");
    CHECK(redactor.directory("/home/alice") == "‹directory #2›");
    CHECK(redactor.directory("/home/alice") == "‹directory #2›");
    CHECK(redactor.arguments("").empty());
}

TEST_CASE("redact: a message keeps base names, whatever the paths", "[cli][redact]") {
    Redactor redactor(true);
    CHECK(redactor.message("/home/alice/core.1: this is a core of /usr/bin/bash (pid 7)") ==
          "core.1: this is a core of bash (pid 7)");
    CHECK(redactor.message("found '/srv/x/libfoo.so', ~/a/b and ../c/d.so.") ==
          "found 'libfoo.so', b and d.so.");
    CHECK(redactor.message("C/C++ memory, 3/4 read") == "C/C++ memory, 3/4 read");
}

TEST_CASE("redact: known paths go whole, blanks and all", "[cli][redact]") {
    Redactor redactor(true);
    redactor.know_path("/home/al ice/my core");
    redactor.know_path("cores/alice/core.1");
    redactor.know_directory("/srv/alice root");
    CHECK(redactor.message("/home/al ice/my core: cut") == "my core: cut");
    CHECK(redactor.message("using cores/alice/core.1 here") == "using core.1 here");
    CHECK(redactor.message("nothing in /srv/alice root") == "nothing in ‹directory #1›");
}

TEST_CASE("redact: known paths go in every spelling", "[cli][redact]") {
    Redactor redactor(true);
    redactor.know_path("/home/al\x1b[1m ice/core");
    CHECK(redactor.message("/home/al\\x1b[1m ice/core: cut") == "core: cut");
    CHECK(redactor.message("heapsift show 0x10 $'/home/al\\033[1m ice/core'") == "heapsift show 0x10 core");
}

TEST_CASE("redact: the type of a key is told from its literal", "[cli][redact]") {
    CHECK(literal_type("'a'") == "str");
    CHECK(literal_type("b'a'") == "bytes");
    CHECK(literal_type("12") == "int");
    CHECK(literal_type("-1.5") == "float");
    CHECK(literal_type("1e10") == "float");
    CHECK(literal_type("2j") == "complex");
    CHECK(literal_type("(1, 'a')") == "tuple");
    CHECK(literal_type("datetime.date(2024, 2, 29)") == "datetime.date");
    CHECK(literal_type("Color.RED") == "Color");
    CHECK(literal_type("Decimal of 500 digits") == "value");
    CHECK(literal_type("") == "value");
}

TEST_CASE("base name: what follows the last slash", "[cli][redact]") {
    CHECK(base_name("/a/b") == "b");
    CHECK(base_name("b") == "b");
    CHECK(base_name("/a/b/") == "b");
    CHECK(base_name("/") == "/");
}
