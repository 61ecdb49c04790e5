// What instructions do, by the numbers that CPython's own `opcode` and `dis` have for them.

#include "parsers/cpython/build/instructions.h"

#include "tests/catch.h"

#include <vector>

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
                                           {13, 212, 9, 209, 113, 80, {45, 25}, {45, 12}},
                                           {14, 38, 8, 110, 115, 78, {44, 13}, {44, 26}},
                                           {15, 208, 8, 205, 114, 77, {42, 25}, {42, 0}}}));
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
    CHECK(operations->is_instrumented({253, 0}) == (of.minor >= 12));
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
    CHECK_FALSE(operations_of({.major = 3, .minor = 5}));
    CHECK_FALSE(operations_of({.major = 3, .minor = 16}));
}

TEST_CASE("instructions: what uses a name, and which; what defines or imports one does not", "[cpython]") {
    struct Case {
        int minor;
        std::uint8_t load_name, load_global, load_attribute, store_attribute, specialized;
        int global_shift, attribute_shift;
        std::vector<std::uint8_t>
            others;  // STORE_NAME, DELETE_NAME, IMPORT_NAME, IMPORT_FROM, LOAD_CONST, LOAD_FAST
    };
    const auto of = GENERATE(values<Case>({{6, 101, 116, 106, 95, 97, 0, 0, {90, 91, 108, 109, 100, 124}},
                                           {10, 101, 116, 106, 95, 160, 0, 0, {90, 91, 108, 109, 100, 124}},
                                           {11, 101, 116, 106, 95, 63, 1, 0, {90, 91, 108, 109, 100, 124}},
                                           {12, 101, 116, 106, 95, 148, 1, 1, {90, 91, 108, 109, 100, 124}},
                                           {13, 92, 91, 82, 108, 211, 1, 1, {114, 67, 75, 74, 83, 85}},
                                           {14, 93, 92, 80, 110, 200, 1, 1, {116, 65, 73, 72, 82, 84}},
                                           {15, 92, 91, 79, 109, 207, 1, 1, {115, 63, 72, 71, 81, 83}}}));
    const Operations* operations = operations_of({.major = 3, .minor = of.minor});
    REQUIRE(operations);
    const auto name = [&](std::uint8_t operation, std::uint32_t argument) {
        return operations->used_name({operation, 0}, argument);
    };
    CHECK(name(of.load_name, 300) == 300U);
    CHECK(name(of.load_global, 300) == 300U >> of.global_shift);
    CHECK(name(of.load_attribute, 300) == 300U >> of.attribute_shift);
    CHECK(name(of.store_attribute, 300) == 300U);
    CHECK(name(of.specialized, 300) == 300U);
    for (const std::uint8_t other : of.others) CHECK_FALSE(name(other, 3));
}

TEST_CASE("instructions: constants, shared variables, and arguments of more than a byte", "[cpython]") {
    const auto [minor, extended, constant, cell] = GENERATE(table<int, int, int, int>(
        {{9, 144, 100, 136}, {11, 34, 44, 137}, {11, 144, 100, 138}, {12, 144, 84, 137}, {13, 71, 83, 84}}));
    const Operations* operations = operations_of({.major = 3, .minor = minor});
    REQUIRE(operations);
    const auto number = [](int operation) { return Instruction{static_cast<std::uint8_t>(operation), 0}; };
    CHECK(operations->extends_argument(number(extended)));
    CHECK_FALSE(operations->extends_argument(number(constant)));
    CHECK(operations->does(number(constant)) == Does::load_constant);
    const Does of_cell = operations->does(number(cell));
    CHECK((of_cell == Does::load_cell || of_cell == Does::store_cell));
    CHECK(operations->numbers_cells_with_locals() == (minor >= 11));
}

TEST_CASE("instructions: how many values they take and give", "[cpython]") {
    struct Case {
        int minor, operation;
        std::uint32_t argument;
        int effect;
    };
    // LOAD_CONST, CALL_FUNCTION, CALL, LOAD_GLOBAL with what is called, BUILD_SLICE, FORMAT_VALUE, MAKE_FUNCTION,
    // CALL_FUNCTION_EX, STORE_SLICE, BUILD_LIST
    const auto of = GENERATE(values<Case>({{9, 100, 300, 1},
                                           {9, 131, 3, -3},
                                           {11, 171, 3, -4},
                                           {13, 53, 2, -3},
                                           {9, 116, 1, 1},
                                           {12, 116, 7, 2},
                                           {12, 116, 6, 1},
                                           {10, 133, 2, -1},
                                           {10, 133, 3, -2},
                                           {8, 155, 3, 0},
                                           {8, 155, 4, -1},
                                           {8, 132, 9, -3},
                                           {9, 142, 1, -2},
                                           {12, 27, 0, -4},
                                           {9, 103, 1000, -999}}));
    CAPTURE(of.minor, of.operation, of.argument);
    const Operations& operations = *operations_of({.major = 3, .minor = of.minor});
    const Instruction one{static_cast<std::uint8_t>(of.operation), static_cast<std::uint8_t>(of.argument)};
    CHECK(operations.effect(one, of.argument) == of.effect);
    CHECK_FALSE(operations_of({.major = 3, .minor = 9})->effect({103, 0}, 1 << 30));
}

TEST_CASE("instructions: methods, and what is got out of something", "[cpython]") {
    const Operations &of_6 = *operations_of({.major = 3, .minor = 6}),
                     &of_10 = *operations_of({.major = 3, .minor = 10}),
                     &of_13 = *operations_of({.major = 3, .minor = 13}),
                     &of_14 = *operations_of({.major = 3, .minor = 14});
    CHECK_FALSE(of_6.tells_methods());
    CHECK(of_10.tells_methods());
    CHECK(of_10.gets_method({160, 3}, 3));
    CHECK_FALSE(of_10.gets_method({106, 3}, 3));
    CHECK(of_13.gets_method({82, 3}, 3));
    CHECK_FALSE(of_13.gets_method({82, 2}, 2));
    CHECK(of_13.takes_subscript({5, 0}));
    CHECK(of_14.takes_subscript({44, 26}));
    CHECK_FALSE(of_14.takes_subscript({44, 0}));
}
