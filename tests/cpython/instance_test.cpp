// What a class statement adds: a __dict__ at a fixed place (3.9, 3.10), values and a dict before the object
// (3.11), one tagged word (3.12), values inside the object (3.13); __slots__; and the same after a list or a
// tuple.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;

struct Instance {
    Address object;
    Address values_block;  // null if the values have no separate block
};

/// An instance whose attributes are not yet a dict: inline values (3.13), separate ones (3.11, 3.12); before
/// that, a split dict.
Instance instance_with(PythonHeapBuilder& heap, Address type, const std::vector<Address>& attributes) {
    const Layout& l = heap.layout();
    Instance instance;
    instance.object = heap.object(type);
    if (heap.minor() >= 13) {
        const Address values = instance.object + 16;
        heap.set(values, l.dict_values.capacity, std::uint8_t{5});
        heap.set(values, l.dict_values.embedded, std::uint8_t{1});
        heap.set(values, l.dict_values.valid, std::uint8_t{1});
        for (std::size_t i = 0; i < attributes.size(); ++i)
            heap.put(values + *l.dict_values.values + 8 * i, attributes[i]);
    } else if (heap.minor() >= 11) {
        Address first;
        instance.values_block = heap.values(attributes, 5, first);
        if (heap.minor() == 12)
            heap.put(instance.object - 24, first - 1);
        else
            heap.put(instance.object - 32, first);
    } else {
        heap.put(instance.object + 16, heap.split_dict(heap.shared_keys_of(type), attributes, 5));
    }
    return instance;
}

void set_dict(PythonHeapBuilder& heap, Address object, Address dict) {
    heap.put(heap.minor() >= 11 ? object - 24 : object + 16, dict);
}

}  // namespace

TEST_CASE("instance: attributes are named by the keys of the class", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x", "y", "label"}});
    const Address x = heap.integer(1);
    const Address label = heap.str("origin");
    const Instance point = instance_with(heap, type, {x, Address(), label});
    const auto seen = references(heap, point.object);
    REQUIRE(!seen.empty());
    CHECK(seen[0] == Seen{type, ".__class__", strong});
    if (heap.minor() >= 11) {
        CHECK(seen ==
              std::vector<Seen>{{type, ".__class__", strong}, {x, ".x", strong}, {label, ".label", strong}});
    } else {
        REQUIRE(seen.size() == 2);
        CHECK(seen[1].name == ".__dict__");
        CHECK(references(heap, seen[1].target) ==
              std::vector<Seen>{{x, "['x']", strong}, {label, "['label']", strong}});
    }
}

TEST_CASE("instance: separate values are a block of the instance", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Instance point = instance_with(heap, type, {heap.none()});
    const auto found = buffers(heap, point.object);
    if (point.values_block.is_null()) {
        CHECK(found.empty());
        return;
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0].start == point.values_block);
    CHECK(found[0].bytes == 8 + 5 * 8);  // order, size and prefix take one word; room for five values
}

TEST_CASE("instance: a __dict__ that was asked for holds the attributes instead", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Address value = heap.integer(5);
    const Instance point = instance_with(heap, type, {value});
    const Address dict = heap.dict({{heap.str("x"), value}});
    set_dict(heap, point.object, dict);
    const bool in_instance = layout->dict_values.embedded.present();
    const bool reports_dict = GENERATE(true, false);
    heap.runtime().instance_reports_dict = reports_dict;
    std::vector<Seen> expected{
        {type, ".__class__", strong},
        {dict, ".__dict__", in_instance && !reports_dict ? ReferenceKind::hidden : strong}};
    // They are still in the instance, which reports them up to 3.13.12; the dict owns them.
    if (in_instance && !reports_dict) expected.push_back({value, ".x", ReferenceKind::reported});
    CHECK(references(heap, point.object) == expected);
    if (heap.minor() != 11) CHECK(buffers(heap, point.object).empty());
}

TEST_CASE("instance: inline values that are no longer valid are not read", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->dict_values.embedded.present()) return;
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Instance point = instance_with(heap, type, {heap.none()});
    heap.set(point.object + 16, layout->dict_values.valid, std::uint8_t{0});
    CHECK(references(heap, point.object) == std::vector<Seen>{{type, ".__class__", strong}});
}

TEST_CASE("instance: inline values make the block larger, not the size", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x", "y"}});
    const Instance point = instance_with(heap, type, {heap.none()});
    CHECK(size_of(heap, point.object) == (heap.minor() >= 11 ? 16 : 24));
    // A header word, five values, and an order byte for each.
    CHECK(inline_values_size(heap.reader(point.object)) == (heap.minor() >= 13 ? 8 + 5 * 8 + 8 : 0));
}

TEST_CASE("instance: __slots__ of a class and of its base, by name", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address base = heap.python_class("Base", {.slots = {"a", "b"}});
    const Address type = heap.python_class("Derived", {.base = base, .slots = {"c"}});
    const Address object = heap.object(type);
    const Address one = heap.integer(1);
    const Address two = heap.integer(2);
    heap.put(object + 16, one);  // a; b is not set
    heap.put(object + 32, two);  // c
    CHECK(size_of(heap, object) == 40);
    const auto seen = references(heap, object);
    CHECK(seen.size() == 3);
    CHECK(reference(heap, object, ".__class__").target == type);
    CHECK(reference(heap, object, ".a") == Seen{one, ".a", strong});
    CHECK(reference(heap, object, ".c") == Seen{two, ".c", strong});
}

TEST_CASE("instance: a subclass of list has items, attributes and its class", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Stack", {.base = heap.builtin("list")});
    const Address object = heap.object(type);
    const Address item = heap.integer(3);
    const Address array = heap.allocate(16);
    heap.put(array, item);
    heap.put(object + *layout->var_object.ob_size, std::int64_t{1});
    heap.set(object, layout->list.ob_item, array);
    heap.set(object, layout->list.allocated, std::uint64_t{2});
    const Address dict = heap.dict({});
    heap.put(heap.minor() >= 11 ? object - 24 : object + 40, dict);
    CHECK(references(heap, object) == std::vector<Seen>{{item, "[0]", strong},
                                                        {type, ".__class__", strong},
                                                        {dict, ".__dict__", strong}});
    CHECK(size_of(heap, object) == (heap.minor() >= 11 ? 40U : 48U) + 2 * 8);
}

TEST_CASE("instance: a subclass of tuple has its __dict__ behind the items", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Row", {.base = heap.builtin("tuple")});
    const Address object = heap.object(type, 3);
    const Address item = heap.integer(3);
    const Address dict = heap.dict({});
    const std::uint64_t items = *layout->tuple.ob_item;
    heap.put(object + items, item);
    heap.put(object + items + 3 * 8, dict);
    CHECK(reference(heap, object, "[0]").target == item);
    CHECK(reference(heap, object, ".__dict__").target == dict);
    CHECK(size_of(heap, object) == items + 8 + 3 * 8);
    heap.put(object + *layout->var_object.ob_size, std::int64_t{1} << 60);
    ask_everything(heap, object);
}

TEST_CASE("instance: of object itself there is nothing", "[cpython][instance]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address object = heap.object("object");
    CHECK(references(heap, object).empty());
    CHECK(size_of(heap, object) == 16);
}

TEST_CASE("instance: values in unmapped memory are fewer references, not a crash",
          "[cpython][instance][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Address object = heap.object(type);
    const Address nowhere(0x123456789000);
    SECTION("a dict that is not mapped is still a reference") {
        set_dict(heap, object, nowhere);
        CHECK(reference(heap, object, ".__dict__").target == nowhere);
    }
    SECTION("values that are not mapped are none") {
        if (heap.minor() == 11) heap.put(object - 32, nowhere);
        if (heap.minor() == 12) heap.put(object - 24, nowhere - 1);
        CHECK(references(heap, object) == std::vector<Seen>{{type, ".__class__", strong}});
    }
    SECTION("a class whose keys are not mapped") {
        heap.set(type, layout->heap_type.ht_cached_keys, nowhere);
        CHECK(reference(heap, object, ".__class__").target == type);
    }
    SECTION("a class with an absurd number of slots") {
        heap.put(type + *layout->var_object.ob_size, std::int64_t{1} << 60);
        CHECK(references(heap, object).size() <= 2);
    }
    ask_everything(heap, object);
}
