// int, bool, float, complex and the singletons: sizes as from sys.getsizeof, values as from repr.

#include "tests/cpython/heap_questions.h"

#include <limits>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("int: four bytes a digit of thirty bits", "[cpython][int]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.integer(1)) == 28);
    CHECK(size_of(heap, heap.integer(-1)) == 28);
    CHECK(size_of(heap, heap.integer((1 << 30) - 1)) == 28);
    CHECK(size_of(heap, heap.integer(1 << 30)) == 32);
    CHECK(size_of(heap, heap.integer(std::int64_t{1} << 60)) == 36);
    CHECK(size_of(heap, heap.integer(0)) == (heap.minor() >= 11 ? 28 : 24));
}

TEST_CASE("int: values of either sign and any size", "[cpython][int]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.integer(0)) == "0");
    CHECK(text_of(heap, heap.integer(7)) == "7");
    CHECK(text_of(heap, heap.integer(-1)) == "-1");
    CHECK(text_of(heap, heap.integer(1073741824)) == "1073741824");
    CHECK(text_of(heap, heap.integer(std::numeric_limits<std::int64_t>::max())) == "9223372036854775807");
    CHECK(text_of(heap, heap.integer(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808");
    const ShortValue power = value_of(heap, heap.integer_of_digits({0, 0, 0, 1 << 10}), 60);  // 2**100
    CHECK(power.text == "1267650600228229401496703205376");
    CHECK(power.length == 31);
    CHECK(power.kind == ShortValue::Kind::literal);
}

TEST_CASE("int: a long one is cut, and says so", "[cpython][int]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.integer(1234567890123), 4) == "1234…");
    const ShortValue huge = value_of(heap, heap.integer_of_digits(std::vector<std::uint32_t>(1000, 1), true));
    CHECK(huge.text.front() == '-');
    CHECK(huge.text.ends_with("…"));
    // 2**(30*999) has 9022 decimal digits.
    CHECK(huge.length > 8900);
    CHECK(huge.length < 9100);
}

TEST_CASE("int: what cannot be an int is not plausible", "[cpython][int][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(plausible(heap, heap.integer(0)));
    CHECK(plausible(heap, heap.integer(-5)));
    CHECK_FALSE(plausible(heap, heap.integer_of_digits({5, 0})));      // the top digit is never zero
    CHECK_FALSE(plausible(heap, heap.integer_of_digits({1U << 30})));  // nor wider than thirty bits
    const Address absurd = heap.integer(5);
    if (layout->long_.lv_tag.present())
        heap.set(absurd, layout->long_.lv_tag, std::uint64_t{1} << 62);
    else
        heap.put(absurd + *layout->var_object.ob_size, std::numeric_limits<std::int64_t>::min());
    CHECK_FALSE(plausible(heap, absurd));
    ask_everything(heap, absurd);
    // The value is not known, so none is claimed.
    CHECK(text_of(heap, absurd).find_first_of("0123456789") == std::string::npos);
}

TEST_CASE("bool: True and False are names", "[cpython][bool]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.boolean(true)) == "True");
    CHECK(text_of(heap, heap.boolean(false)) == "False");
    CHECK(value_of(heap, heap.boolean(true)).kind == ShortValue::Kind::name);
    CHECK(size_of(heap, heap.boolean(true)) == 28);
}

TEST_CASE("None, Ellipsis and NotImplemented are sixteen bytes and a name", "[cpython][none]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.none()) == 16);
    CHECK(text_of(heap, heap.none()) == "None");
    CHECK(text_of(heap, heap.object("ellipsis")) == "Ellipsis");
    CHECK(text_of(heap, heap.object("NotImplementedType")) == "NotImplemented");
    CHECK(references(heap, heap.none()).empty());
}

TEST_CASE("float: the shortest text that reads back", "[cpython][float]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.real(1)) == 24);
    CHECK(text_of(heap, heap.real(1)) == "1.0");
    CHECK(text_of(heap, heap.real(0.1)) == "0.1");
    CHECK(text_of(heap, heap.real(-2.5)) == "-2.5");
    CHECK(text_of(heap, heap.real(-0.0)) == "-0.0");
    CHECK(text_of(heap, heap.real(1e100)) == "1e+100");
    CHECK(text_of(heap, heap.real(123456789012345.0)) == "123456789012345.0");
    CHECK(text_of(heap, heap.real(std::numeric_limits<double>::infinity())) == "inf");
    CHECK(text_of(heap, heap.real(std::numeric_limits<double>::quiet_NaN())) == "nan");
}

TEST_CASE("complex: both parts in brackets, a zero real part left out", "[cpython][complex]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    auto make = [&](double real, double imag) {
        const Address at = heap.object("complex");
        heap.set(at, layout->complex.real, real);
        heap.set(at, layout->complex.imag, imag);
        return at;
    };
    CHECK(size_of(heap, make(1, 2)) == 32);
    CHECK(text_of(heap, make(1, 2)) == "(1+2j)");
    CHECK(text_of(heap, make(1.5, -2)) == "(1.5-2j)");
    CHECK(text_of(heap, make(0, 2)) == "2j");
}
