// What only CPython 2.7 has: ints of a C long, names that are bytes, open tables, old-style classes.

#include "parsers/cpython/build/names_in_3.h"
#include "parsers/cpython/old_classes.h"
#include "tests/catch.h"
#include "tests/cpython/heap_questions.h"
#include "tests/cpython/python_heap_builder.h"

#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const Layout& layout_of_2() { return *builtin_layout({2, 7}); }

Address old_class(PythonHeapBuilder& heap, const std::string& name, const std::vector<Address>& bases,
                  const Entries& members) {
    const Address at = heap.object("classobj");
    const auto& l = heap.layout().old_class;
    heap.set(at, l.cl_name, heap.str(name));
    heap.set(at, l.cl_bases, heap.tuple(bases));
    heap.set(at, l.cl_dict, heap.dict(members));
    return at;
}

Address old_instance(PythonHeapBuilder& heap, Address of, const Entries& attributes) {
    const Address at = heap.object("instance");
    heap.set(at, heap.layout().old_instance.in_class, of);
    heap.set(at, heap.layout().old_instance.in_dict, heap.dict(attributes));
    return at;
}

}  // namespace

TEST_CASE("2.7: a str is of bytes, a unicode has its characters apart", "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const Address name = heap.str("name"), text = heap.str32(U"na\u00efve"), utf8 = heap.str("na\xc3\xafve"),
                  latin1 = heap.str("na\xefve");
    CHECK(heap.heap().unicode_text(name) == "name");
    CHECK(heap.heap().unicode_text(text) == "na\u00efve");
    CHECK(heap.heap().unicode_text(utf8) == "na\u00efve");
    CHECK(heap.heap().unicode_text(latin1) == "na\u00efve");  // no UTF-8: byte by byte
    CHECK(heap.heap().unicode_equals(name, "name"));
    CHECK(heap.heap().is_unicode(name));
    CHECK(heap.heap().is_unicode(text));
    CHECK(heap.type(heap.builtin("str")).known == KnownType::bytes);
    CHECK(heap.type(heap.builtin("unicode")).known == KnownType::str);
    CHECK(size_of(heap, name) == 37 + 4);
    CHECK(size_of(heap, text) == 48 + 6 * 4);
    const Address number = heap.integer(1);
    CHECK_FALSE(heap.heap().unicode(number));
}

TEST_CASE("2.7: an int has a C long", "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const Address number = heap.integer(-5), text = heap.str("5");
    CHECK(heap.heap().c_long(number) == -5);
    CHECK_FALSE(heap.heap().c_long(text));
    CHECK(size_of(heap, number) == 24);
}

TEST_CASE("2.7: a dict's table is inside up to eight entries, and reports keys and values",
          "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const Address key = heap.str("key"), value = heap.list({}), dummy = heap.str("<dummy key>");
    const Address small = heap.dict({{key, value}, {dummy, Address()}});
    CHECK(heap.heap().dict_value(small, "key") == value);
    CHECK(size_of(heap, small) == 248);
    CHECK(reference(heap, small, "key key").target == key);
    CHECK(reference(heap, small, "['key']").target == value);
    CHECK(reference(heap, small, ".<deleted>").kind == ReferenceKind::hidden);
    CHECK(referents(heap, small) == std::vector{key, value});
    Entries many;
    for (int i = 0; i < 9; ++i) many.emplace_back(heap.str("k" + std::to_string(i)), value);
    const Address large = heap.dict(many);
    CHECK(size_of(heap, large) == 248 + 24 * 16);
    CHECK(referents(heap, large).size() == 18);
}

TEST_CASE("2.7: a dict whose table cannot be is not read", "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const auto& l = heap.layout().dict;
    const Address dict = heap.dict({{heap.str("a"), heap.str("b")}});
    heap.set(dict, l.ma_mask, std::uint64_t{6});  // no power of two
    CHECK_FALSE(heap.heap().dict(dict));
    heap.set(dict, l.ma_mask, ~std::uint64_t{0});
    CHECK_FALSE(heap.heap().dict(dict));
    heap.set(dict, l.ma_mask, (std::uint64_t{1} << 30) - 1);  // more than is there
    CHECK_FALSE(heap.heap().dict(dict));
    heap.set(dict, l.ma_mask, std::uint64_t{7});
    heap.set(dict, l.ma_used, std::uint64_t{9});
    CHECK_FALSE(heap.heap().dict(dict));
}

TEST_CASE("2.7: an instance inherits from its class's bases, the first one first", "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const Address function = heap.list({});
    const Address base = old_class(
        heap, "Base", {}, {{heap.str("__module__"), heap.str("app")}, {heap.str("__del__"), function}});
    const Address other = old_class(heap, "Other", {}, {{heap.str("__del__"), heap.list({})}});
    const Address derived =
        old_class(heap, "Derived", {base, other}, {{heap.str("__module__"), heap.str("app")}});
    const Address with = old_instance(heap, derived, {}),
                  without = old_instance(heap, old_class(heap, "Plain", {}, {}), {});
    CHECK(old_class_name(heap.heap(), derived) == "app.Derived");
    CHECK(old_class_attribute(heap.heap(), derived, "__del__") == function);
    CHECK(old_class_attribute(heap.heap(), derived, "absent").is_null());
    OldFinalizers finalizers(heap.heap());
    CHECK(finalizers.has(with, heap.type(heap.builtin("instance"))));
    CHECK(finalizers.has(with, heap.type(heap.builtin("instance"))));
    CHECK(old_class_of(heap.heap(), with) == derived);
    CHECK(old_class_of(heap.heap(), derived) == derived);
    CHECK(old_class_of(heap.heap(), function).is_null());
    CHECK_FALSE(finalizers.has(without, heap.type(heap.builtin("instance"))));
    CHECK(referents(heap, with).front() == derived);
}

TEST_CASE("2.7: classes that derive from themselves are looked through once and for all", "[cpython][2.7]") {
    PythonHeapBuilder heap(layout_of_2());
    const Address one = old_class(heap, "One", {}, {});
    const Address two = old_class(heap, "Two", {one, one}, {});
    heap.set(one, heap.layout().old_class.cl_bases, heap.tuple({two, two}));
    CHECK(old_class_attribute(heap.heap(), one, "absent").is_null());
}

TEST_CASE("2.7: C types have the names of 3 where they are the same", "[cpython][2.7]") {
    const LayoutVersion old{2, 7};
    CHECK(name_in_3(old, "str") == "bytes");
    CHECK(name_in_3(old, "long") == "int");
    CHECK(name_in_3(old, "exceptions.OSError") == "OSError");
    CHECK(name_in_3(old, "list") == "list");
    CHECK(name_in_3({3, 13}, "str") == "str");
    CHECK(attribute_in_3(old, "func_code") == "__code__");
    CHECK(attribute_in_3(old, "__code__").empty());
    CHECK(attribute_in_3({3, 13}, "func_code").empty());
}
