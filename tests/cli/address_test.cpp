// Addresses as people type them, and what is found there; conditions for --where.

#include "cli/address_argument.h"
#include "cli/address_lookup.h"
#include "cli/where.h"
#include "parsers/base/error.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::vector<std::uint64_t> readings(const std::string& text) {
    std::vector<std::uint64_t> values;
    for (const Address address : parse_address(text).readings) values.push_back(address.value);
    return values;
}

bool is_bad(const std::string& text) {
    try {
        parse_address(text);
    } catch (const Error& error) {
        return error.code() == "bad-address" && error.exit() == ExitCode::wrong_usage;
    }
    return false;
}

using Kind = AddressFinding::Kind;

// One object at 0x10010, which is decimal 65552 and inside the core's only segment, 0x10000 to 0x11000.
HandmadeHeap one_object(AddressFinding finding = {Kind::unmapped, no_object, no_object}) {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10010), "dict", facts(64, 80), {}, {}}};
    heap.finding = finding;
    return heap;
}

std::string error_code(const HandmadeHeap& heap, const std::string& typed) {
    try {
        find_object(heap.build(), parse_address(typed));
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        return error.code();
    }
    return "none";
}

}  // namespace

TEST_CASE("address: every way to write one", "[cli][address]") {
    CHECK(readings("0x7f31c2a4d5e0") == std::vector<std::uint64_t>{0x7f31c2a4d5e0});
    CHECK(readings("0X7F31C2A4D5E0") == std::vector<std::uint64_t>{0x7f31c2a4d5e0});
    CHECK(readings("7f31c2a4d5e0") == std::vector<std::uint64_t>{0x7f31c2a4d5e0});
    CHECK(readings("140581112638464") == std::vector<std::uint64_t>{140581112638464, 0x140581112638464});
    CHECK(readings("1234") == std::vector<std::uint64_t>{1234});
    CHECK(readings(" 0x10 ") == std::vector<std::uint64_t>{0x10});
    CHECK(readings("<__main__.Node object at 0x7f31c2a4d5e0>") == std::vector<std::uint64_t>{0x7f31c2a4d5e0});
    CHECK(readings("0xffffffffffffffff") == std::vector<std::uint64_t>{~std::uint64_t{0}});
}

TEST_CASE("address: what is none", "[cli][address]") {
    for (const char* text : {"", "0x", "0xzz", "app.CACHE['x'", "func(.x", "app.", "0x10000000000000000",
                             "<Node object>", "-1", "<bound method A.f of <A object at 0x10>, 0x20>",
                             "18446744073709551616", "99999999999999999999999.x"})
        CHECK(is_bad(text));
}

TEST_CASE("address: every other word is an expression", "[cli][address][expression]") {
    for (const char* text : {"foo", "dead", "app.CACHE['x']", "func().x", "0x7f31c2a4d5e0.x",
                             "<Node object at 0x10>.x", " app "}) {
        CHECK(parse_address(text).expression);
        CHECK(parse_address(text).readings.empty());
    }
    CHECK(parse_address(" app ").typed == "app");
    CHECK_FALSE(parse_address("0x10").expression);
    CHECK(looks_like_expression("app.CACHE['x']"));
    CHECK(looks_like_expression("0x10.x"));
    CHECK_FALSE(looks_like_expression("app.CACHE"));
    CHECK(may_be_expression("app.CACHE"));
    CHECK_FALSE(may_be_expression("core.1"));
}

TEST_CASE("address: words that can be nothing else", "[cli][address]") {
    CHECK(looks_like_address("0x10"));
    CHECK(looks_like_address("7f31c2a4d5e0"));
    CHECK(looks_like_address("<Node object at 0x10>"));
    CHECK_FALSE(looks_like_address("1234"));
    CHECK_FALSE(looks_like_address("deadbee"));
    CHECK_FALSE(looks_like_address("core.1"));
}

TEST_CASE("lookup: an object's own address, in hexadecimal and as id() prints it", "[cli][address]") {
    const HandmadeHeap made = one_object();
    const HandmadeReader heap = made.build();
    CHECK(find_object(heap, parse_address("0x10010")).object == 0);
    CHECK(find_object(heap, parse_address("65552")).object == 0);
    CHECK(find_object(heap, parse_address("00010010")).object == 0);  // decimal 10010 is not mapped
    CHECK(find_object(heap, parse_address("0x10010")).note.empty());
}

TEST_CASE("lookup: a pasted object whose address is too long for one is not looked up for ever",
          "[cli][address]") {
    for (const char* typed :
         {"<Node object at 0x10000000000000000>", "<Node object at 0x10000000000000000>.x"})
        CHECK((is_bad(typed) || error_code(one_object(), typed) == "no-such-object"));
}

TEST_CASE("lookup: inside an object or its buffer it is that object, with a note", "[cli][address]") {
    CHECK_THAT(find_object(one_object({Kind::inside_object, ObjectId(0), no_object}).build(),
                           parse_address("0x10018"))
                   .note,
               ContainsSubstring("0x10018 lies inside the dict at 0x10010"));
    CHECK_THAT(find_object(one_object({Kind::buffer_of_object, ObjectId(0), no_object}).build(),
                           parse_address("0x10800"))
                   .note,
               ContainsSubstring("owned by the dict at 0x10010"));
}

TEST_CASE("lookup: free, not saved, unmapped, no object's: each is said", "[cli][address]") {
    CHECK(error_code(one_object({Kind::free_block, no_object, ObjectId(0)}), "0x10800") == "address-free");
    CHECK(error_code(one_object({Kind::not_saved, no_object, ObjectId(0)}), "0x10800") ==
          "address-not-saved");
    CHECK(error_code(one_object({Kind::unmapped, no_object, no_object}), "0x10") == "address-unmapped");
    CHECK(error_code(one_object({Kind::other_memory, no_object, ObjectId(0)}), "0x10800") ==
          "address-not-an-object");
}

TEST_CASE("lookup: in no object's memory, the command that tells of C code's blocks", "[cli][address]") {
    const HandmadeReader heap = one_object({Kind::other_memory, no_object, ObjectId(0)}).build();
    Redactor redactor;
    for (const bool may_be_block : {true, false}) try {
            find_object(heap, parse_address("67584"), redactor, may_be_block);
            CHECK(false);
        } catch (const Error& error) {
            CHECK((error.hint().find("show 0x10800") != std::string::npos) == may_be_block);
            CHECK_THAT(error.hint(), ContainsSubstring("nearest live object: the dict at 0x10010"));
        }
}

namespace {

// A dict with two values of one name, and a secret key.
HandmadeHeap dict_of_two() {
    HandmadeHeap heap;
    const Reference secret = item(0x10030, literal("'secret'", 6));
    heap.objects = {
        {Address(0x10010),
         "dict",
         {},
         {.kind = ShortValue::Kind::summary, .text = "dict of 2", .says_type = true},
         {reference(0x10020, ".twice"), reference(0x10030, ".twice"), secret, reference(0x10040, ".lost")}},
        {Address(0x10020), "str", {}, literal("'a\033b'", 3), {}},
        {Address(0x10030), "app.Node", {}, {}, {}}};
    return heap;
}

struct Complaint {
    std::string code, message, hint;
};

Complaint complaint(const std::string& typed, bool redact = false) {
    Redactor redactor(redact);
    try {
        find_object(dict_of_two().build(), parse_address(typed), redactor);
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        CHECK(error.message().find('\n') == std::string::npos);
        return {error.code(), error.message(), error.hint()};
    }
    return {"none", "", ""};
}

}  // namespace

TEST_CASE("lookup: an expression that one object fits", "[cli][address][expression]") {
    const HandmadeHeap made = dict_of_two();
    const HandmadeReader heap = made.build();
    CHECK(heap.snapshot().address_of(find_object(heap, parse_address("0x10010[secret]")).object) ==
          Address(0x10030));
}

TEST_CASE("lookup: an expression that several objects fit lists them, escaped",
          "[cli][address][expression]") {
    const Complaint several = complaint("0x10010.twice");
    CHECK(several.code == "ambiguous-address");
    CHECK(several.message == "0x10010.twice fits 2 objects: 0x10030 (app.Node), 0x10020 (str, 'a\\x1bb')");
    CHECK_THAT(complaint("0x10010.twice", true).message, ContainsSubstring("(str, ‹str 3 #"));
}

TEST_CASE("lookup: an expression that nothing fits says how far it got", "[cli][address][expression]") {
    const Complaint missing = complaint("0x10010['secre']");
    CHECK(missing.code == "no-such-object");
    CHECK(missing.message == "0x10010 was found, 0x10010 (dict of 2), but has nothing called ['secre']");
    CHECK(missing.hint == "did you mean ['secret']");
    CHECK_THAT(complaint("0x10010['secre']", true).hint, !ContainsSubstring("secret"));
    CHECK_THAT(complaint("0x10010.lost").message, ContainsSubstring("0x10040, where no object was found"));
    CHECK_THAT(complaint("nobody.x").message, ContainsSubstring("nobody was not found"));
    for (const char* text : {"0x20.x", "generator(0x20).x", "threadlocal( 0x20 )"})
        CHECK(complaint(text).code == "address-unmapped");
    CHECK_THAT(complaint("thread('worker').run().x").message,
               ContainsSubstring("thread('worker') was not found"));
}

TEST_CASE("where: comparisons, joined by commas", "[cli][where]") {
    const auto conditions = parse_conditions("size>1M, refcount >= 3,array_data!=0,memory==64,block_size<2K");
    REQUIRE(conditions.size() == 5);
    CHECK(conditions[0].field == ObjectCondition::Field::size);
    CHECK(conditions[0].op == ObjectCondition::Operator::greater);
    CHECK(conditions[0].value == 1048576);
    CHECK(conditions[1].op == ObjectCondition::Operator::greater_equal);
    CHECK(conditions[2].op == ObjectCondition::Operator::not_equal);
    CHECK(conditions[3].op == ObjectCondition::Operator::equal);
    CHECK(conditions[4].value == 2048);
}

TEST_CASE("where: what is no comparison", "[cli][where]") {
    for (const char* text : {"", "size", "size>", ">3", "sise>3", "size>>3", "size>3,", "size!3", "size>x"})
        CHECK_THROWS_AS(parse_conditions(text), Error);
}
