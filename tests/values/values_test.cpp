// Values of objects as they should be, and of damaged ones: those have no value, or a shorter one, and reading
// them ends.

#include "parsers/values/values.h"
#include "tests/cpython/heap_questions.h"

#include <array>
#include <cstring>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const Layout& newest() { return *builtin_layout({3, 13, false, false}); }

ShortValue value_in(PythonHeapBuilder& heap, Address object, std::size_t limit = 60) {
    const PythonHeap& python = heap.heap();
    const TypeId type = python.type_of(object);
    REQUIRE(type != no_type);
    return Values(python).value(object, python.types()[type], limit);
}

std::string described(PythonHeapBuilder& heap, Address object, std::size_t limit = 60) {
    return value_in(heap, object, limit).text;
}

/// A date, datetime or time whose bytes after `hastzinfo` are these.
template <std::size_t Size>
Address moment(PythonHeapBuilder& heap, const std::string& type, std::uint64_t basicsize,
               const std::array<std::uint8_t, Size>& bytes) {
    const Address object = heap.object(heap.c_type(type, {.basicsize = basicsize}));
    const std::uint64_t first = *heap.layout().datetime.hastzinfo + 1;
    for (std::size_t i = 0; i < Size; ++i) heap.put(object + first + i, bytes[i]);
    return object;
}

Address decimal(PythonHeapBuilder& heap, std::uint8_t flags, std::int64_t exponent, std::int64_t digits,
                const std::vector<std::uint64_t>& words) {
    const auto& l = heap.layout().decimal;
    const Address object = heap.object(heap.c_type("decimal.Decimal", {.basicsize = *l.size}));
    const Address data = heap.allocate(8 * std::max<std::size_t>(words.size(), 1));
    for (std::size_t i = 0; i < words.size(); ++i) heap.put(data + 8 * i, words[i]);
    heap.set(object, l.dec_flags, flags);
    heap.put(object + (*l.dec_alloc - 24), exponent);
    heap.put(object + (*l.dec_alloc - 16), digits);
    heap.put(object + (*l.dec_alloc - 8), static_cast<std::int64_t>(words.size()));
    heap.set(object, l.dec_alloc, std::int64_t{4});
    heap.set(object, l.dec_data, data);
    return object;
}

}  // namespace

TEST_CASE("a date is read from its four bytes, in every version", "[values]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto date = [&](std::array<std::uint8_t, 4> bytes) {
        return described(heap, moment(heap, "datetime.date", 32, bytes));
    };
    CHECK(date({0x07, 0xe8, 2, 29}) == "datetime.date(2024, 2, 29)");
    CHECK(date({0x07, 0xe8, 13, 29}).empty());
    CHECK(date({0x07, 0xe8, 2, 0}).empty());
    CHECK(date({0x00, 0x00, 2, 1}).empty());
    CHECK(date({0xff, 0xff, 2, 1}).empty());
}

TEST_CASE("a datetime leaves out zeros at its end, and has no value with an hour of 24", "[values]") {
    PythonHeapBuilder heap(newest());
    const auto datetime = [&](std::array<std::uint8_t, 11> bytes) {
        return described(heap, moment(heap, "datetime.datetime", 48, bytes));
    };
    CHECK(datetime({0x07, 0xe8, 1, 2, 3, 4, 0, 0, 0, 0, 0}) == "datetime.datetime(2024, 1, 2, 3, 4)");
    CHECK(datetime({0x07, 0xe8, 1, 2, 3, 4, 0, 0, 0, 7, 1}) ==
          "datetime.datetime(2024, 1, 2, 3, 4, 0, 7, fold=1)");
    CHECK(datetime({0x07, 0xe8, 1, 2, 24, 4, 0, 0, 0, 0, 0}).empty());
    CHECK(datetime({0x07, 0xe8, 1, 2, 3, 4, 0, 0xff, 0xff, 0xff, 0}).empty());
}

TEST_CASE("a timedelta out of its range has no value", "[values]") {
    PythonHeapBuilder heap(newest());
    const auto duration = [&](std::int32_t days, std::int32_t seconds, std::int32_t microseconds) {
        const Address object = heap.object(heap.c_type("datetime.timedelta", {.basicsize = 40}));
        heap.put(object + 24, days);
        heap.put(object + 28, seconds);
        heap.put(object + 32, microseconds);
        return described(heap, object);
    };
    CHECK(duration(-1, 5, 0) == "datetime.timedelta(days=-1, seconds=5)");
    CHECK(duration(0, 0, 0) == "datetime.timedelta(0)");
    CHECK(duration(0, 86400, 0).empty());
    CHECK(duration(2000000000, 0, 0).empty());
    CHECK(duration(0, 0, -1).empty());
}

TEST_CASE("Decimal: as str() writes it; digits that do not agree with their count have no value",
          "[values]") {
    PythonHeapBuilder heap(newest());
    CHECK(described(heap, decimal(heap, 0, -2, 3, {110})) == "Decimal('1.10')");
    CHECK(described(heap, decimal(heap, 1, -8, 1, {5})) == "Decimal('-5E-8')");
    CHECK(described(heap, decimal(heap, 0, 2, 20, {1, 1})) == "Decimal('1.0000000000000000001E+21')");
    CHECK(described(heap, decimal(heap, 2, 0, 0, {0})) == "Decimal('Infinity')");
    CHECK(value_in(heap, decimal(heap, 4, 0, 0, {0})).nan);
    CHECK(described(heap, decimal(heap, 0, 0, 4, {110})).empty());
    CHECK(described(heap, decimal(heap, 0, 0, -3, {110})).empty());
    CHECK(described(heap, decimal(heap, 0, 0, 19, {10000000000000000000U})).empty());
    CHECK(described(heap, decimal(heap, 0, std::int64_t{1} << 62, 3, {110})).empty());
    const Address torn = decimal(heap, 0, 0, 3, {110});
    heap.set(torn, heap.layout().decimal.dec_data, Address(0x1000));
    CHECK(described(heap, torn).empty());
}

TEST_CASE("a UUID is an int of at most 128 bits", "[values]") {
    PythonHeapBuilder heap(newest());
    const auto uuid = [&](const std::vector<std::uint32_t>& digits) {
        const Address number = heap.integer_of_digits(digits);
        const Address type = heap.python_class("UUID", {.module = "uuid", .slots = {"int", "is_safe"}});
        const Address object = heap.object(type);
        heap.put(object + 16, number);
        return described(heap, object);
    };
    CHECK(uuid({7}) == "UUID('00000000-0000-0000-0000-000000000007')");
    CHECK(uuid({0, 0, 0, 0, 1U << 7}) == "UUID('80000000-0000-0000-0000-000000000000')");
    CHECK(uuid({0, 0, 0, 0, 1U << 8}).empty());
}

TEST_CASE("an exception shows its arguments; without a tuple of them it has no value", "[values]") {
    PythonHeapBuilder heap(newest());
    const auto& l = heap.layout().exception;
    const Address type =
        heap.c_type("BaseException", {.basicsize = *l.size, .flags = exception_subclass_flag});
    const Address error = heap.object(type);
    heap.set(error, l.args, heap.tuple({heap.str("it's"), heap.integer(2)}));
    CHECK(described(heap, error) == "BaseException(\"it's\", 2)");
    heap.set(error, l.args, heap.integer(3));
    CHECK(described(heap, error).empty());
    heap.set(error, l.args, Address(0x10));
    CHECK(described(heap, error).empty());
}

TEST_CASE("containers show their first items; a list in itself ends", "[values]") {
    PythonHeapBuilder heap(newest());
    CHECK(described(heap, heap.list({heap.integer(1), heap.str("b")})) == "list of 2: 1, 'b'");
    const ShortValue dict = value_in(heap, heap.dict({{heap.str("k"), heap.real(1.5)}}));
    CHECK(dict.text == "dict of 1: 'k': 1.5");
    CHECK(dict.without_values == "dict of 1");
    const Address list = heap.list({heap.integer(1)}, 4);
    heap.put(heap.heap().pointer(list + *heap.layout().list.ob_item), list);
    CHECK(described(heap, list) == "list of 1");
    // A length that cannot be true is printed as it stands, and not followed.
    heap.put(list + *heap.layout().var_object.ob_size, std::int64_t{1} << 50);
    CHECK(described(heap, list).starts_with("list of 1125899906842624"));
    CHECK(value_in(heap, heap.set({heap.integer(5)})).text == "set of 1: 5");
}

TEST_CASE("an instance shows the attributes that tell it from others", "[values]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Shop", {.module = "app", .slots = {"rest", "name", "id"}});
    const Address shop = heap.object(type);
    heap.put(shop + 16, heap.list({}));
    heap.put(shop + 24, heap.str("corner"));
    heap.put(shop + 32, heap.integer(17));
    const ShortValue value = value_in(heap, shop);
    CHECK(value.text == "Shop(id=17, name='corner', …)");
    CHECK(value.without_values == "Shop(…)");
    // A slot that points nowhere is left out.
    heap.put(shop + 32, Address(0x123456789));
    CHECK(described(heap, shop) == "Shop(name='corner', …)");
}

TEST_CASE("a text as long as the memory is cut", "[values]") {
    PythonHeapBuilder heap(newest());
    const Address type = heap.python_class("Shop", {.module = "app", .slots = {"name"}});
    const Address shop = heap.object(type);
    heap.put(shop + 16, heap.str(std::string(100000, 'x')));
    const ShortValue value = value_in(heap, shop);
    CHECK(value.text.size() < 100);
}

TEST_CASE("a class written in Python is not read as the C type of its name", "[values]") {
    PythonHeapBuilder heap(newest());
    const Address type = heap.python_class("date", {.module = "datetime", .slots = {"id"}});
    const Address object = heap.object(type);
    heap.put(object + 16, heap.integer(3));
    CHECK(described(heap, object) == "date(id=3)");
}
