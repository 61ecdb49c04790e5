// What instructions do, by the numbers that CPython's own `opcode` and `dis` have for them.

#include "parsers/cpython/build/instructions.h"

#include "tests/catch.h"

using namespace heapsift;

TEST_CASE("instructions: what stores and what takes out, by version", "[cpython]") {
    struct Case {
        int minor;
        std::uint8_t store_subscr, delete_subscr, store_attr, store_global, list_append;
        Instruction add_in_place, add;
    };
    const auto of = GENERATE(values<Case>({{6, 60, 61, 95, 97, 145, {55, 0}, {23, 0}},
                                           {10, 60, 61, 95, 97, 145, {55, 0}, {23, 0}},
                                           {11, 60, 61, 95, 97, 145, {122, 13}, {122, 0}},
                                           {11, 169, 61, 154, 97, 145, {3, 13}, {3, 0}},
                                           {12, 60, 61, 95, 97, 145, {122, 13}, {122, 0}},
                                           {12, 159, 61, 113, 97, 145, {122, 25}, {122, 12}},
                                           {13, 39, 9, 108, 113, 80, {45, 13}, {45, 0}},
                                           {13, 212, 9, 209, 113, 80, {45, 25}, {45, 12}}}));
    const Operations* operations = operations_of({.major = 3, .minor = of.minor});
    REQUIRE(operations);
    CHECK(operations->stores_item({of.store_subscr, 0}));
    CHECK_FALSE(operations->stores_item({of.delete_subscr, 0}));
    CHECK_FALSE(operations->stores_item({of.store_subscr, 1}));  // it has no argument: a number of a cache
    CHECK(operations->deletes_item({of.delete_subscr, 0}));
    CHECK_FALSE(operations->deletes_item({of.store_subscr, 0}));
    CHECK(operations->stores_name({of.store_attr, 3}));
    CHECK(operations->stores_name({of.store_global, 3}));
    CHECK_FALSE(operations->stores_name({of.store_subscr, 0}));
    CHECK(operations->adds_to_display({of.list_append, 2}));
    CHECK(operations->changes_in_place(of.add_in_place));
    CHECK_FALSE(operations->changes_in_place(of.add));
    CHECK(operations->is_instrumented({254, 0}) == (of.minor >= 12));
    CHECK_FALSE(operations->is_instrumented({of.store_attr, 0}));
}

TEST_CASE("instructions: with what is cached behind them", "[cpython]") {
    // LOAD_GLOBAL, STORE_ATTR and its specialized one, STORE_SUBSCR; LOAD_CONST has none
    CHECK(operations_of({.major = 3, .minor = 10})->size({116, 0}) == 2);
    CHECK(operations_of({.major = 3, .minor = 11})->size({116, 0}) == 12);
    CHECK(operations_of({.major = 3, .minor = 11})->size({154, 0}) == 10);
    CHECK(operations_of({.major = 3, .minor = 12})->size({116, 0}) == 10);
    CHECK(operations_of({.major = 3, .minor = 12})->size({60, 0}) == 4);
    CHECK(operations_of({.major = 3, .minor = 12})->size({100, 0}) == 2);
    CHECK(operations_of({.major = 3, .minor = 13})->size({108, 0}) == 10);
    CHECK(operations_of({.major = 3, .minor = 13})->size({210, 0}) == 10);
    CHECK(operations_of({.major = 3, .minor = 13})->size({83, 0}) == 2);
}

TEST_CASE("instructions: of versions whose numbers are not known nothing is said", "[cpython]") {
    CHECK_FALSE(operations_of({.major = 2, .minor = 7}));
    CHECK_FALSE(operations_of({.major = 3, .minor = 14}));
}
