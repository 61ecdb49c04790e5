// Arrays, dtypes and scalars, with the descriptors of NumPy 1.x (32-bit elsize) and 2.x (64-bit flags before
// a 64-bit elsize). Offsets are those of numpy/ndarraytypes.h. Sizes are those of ndarray.__sizeof__: the
// struct, shape and strides, and owned data.

#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"
#include "tests/cpython/heap_questions.h"

#include <tuple>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t array_basicsize = 96;
constexpr std::uint64_t owns_data = 4;

/// The types of one NumPy release.
struct Numpy {
    Numpy(const Layout& layout, int major, std::uint64_t fields_size = array_basicsize)
        : heap(layout), old(major == 1) {
        for (const ObjectKind* kind :
             {&ndarray_kind, &numpy_scalar_kind, &numpy_void_kind, &numpy_dtype_kind})
            heap.kinds.push_back(kind);
        array_type = heap.c_type("numpy.ndarray", {.basicsize = fields_size, .own_sizeof = true});
        dtype_type = heap.c_type("numpy.dtype", {.basicsize = old ? 96UL : 136UL});
        // The class of one dtype, such as numpy.dtype[float64]: it adds nothing.
        double_type =
            heap.c_type("numpy.dtypes.Float64DType", {.base = dtype_type, .basicsize = old ? 96UL : 136UL});
        generic = heap.c_type("numpy.generic", {.own_sizeof = true});
    }

    Address descr(char kind, std::uint64_t itemsize, std::int32_t type_num) {
        const Address at = heap.object(double_type);
        heap.put(at + 24, kind);
        heap.put(at + 26, '<');
        heap.put(at + 28, type_num);
        if (old)
            heap.put(at + 32, static_cast<std::int32_t>(itemsize));
        else
            heap.put(at + 40, itemsize);
        return at;
    }

    struct Field {
        std::string name;
        Address descr;
        std::int64_t offset = 0;
    };

    Address fields(const std::vector<Field>& fields) {
        std::vector<std::pair<Address, Address>> entries;
        for (const Field& field : fields)
            entries.emplace_back(heap.str(field.name), heap.tuple({field.descr, heap.integer(field.offset)}));
        return heap.dict(entries);
    }

    Address record(std::uint64_t itemsize, const std::vector<Field>& parts) {
        const Address at = descr('V', itemsize, 20);
        heap.put(at + (old ? 48 : 96), fields(parts));
        heap.put(at + (old ? 27 : 32), std::uint8_t{1});  // there are objects in it
        return at;
    }

    Address subarray(Address base, std::uint64_t itemsize, const std::vector<std::int64_t>& shape) {
        const Address at = descr('V', itemsize, 20), pair = heap.allocate(16);
        std::vector<Address> extents;
        for (const std::int64_t extent : shape) extents.push_back(heap.integer(extent));
        heap.put(pair, base);
        heap.put(pair + 8, heap.tuple(extents));
        heap.put(at + (old ? 40 : 88), pair);
        heap.put(at + (old ? 27 : 32), std::uint8_t{1});
        return at;
    }

    Address array(Address dtype, const std::vector<std::int64_t>& shape, Address data,
                  std::uint32_t flags = owns_data, const std::vector<std::int64_t>& strides = {}) {
        const Address at = heap.object(array_type);
        const Address dimensions = heap.allocate(16 * std::max<std::size_t>(shape.size(), 1));
        for (std::size_t i = 0; i < shape.size(); ++i) heap.put(dimensions + 8 * i, shape[i]);
        for (std::size_t i = 0; i < strides.size(); ++i)
            heap.put(dimensions + 8 * (shape.size() + i), strides[i]);
        heap.put(at + 16, data);
        heap.put(at + 24, static_cast<std::int32_t>(shape.size()));
        heap.put(at + 32, dimensions);
        heap.put(at + 40, dimensions + 8 * shape.size());
        heap.put(at + 56, dtype);
        heap.put(at + 64, flags);
        return at;
    }

    std::optional<ArrayFacts> facts(Address at) { return array_facts(heap.reader(at)); }

    PythonHeapBuilder heap;
    bool old;
    Address array_type, dtype_type, double_type, generic;
};

}  // namespace

TEST_CASE("ndarray: shape, itemsize and bytes, with the descriptors of both releases", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address data = numpy.heap.allocate(480);
    const Address array = numpy.array(numpy.descr('f', 8, 12), {5, 4, 3}, data);
    const auto facts = numpy.facts(array);
    REQUIRE(facts);
    CHECK(facts->nd == 3);
    CHECK(facts->shape[0] == 5);
    CHECK(facts->shape[2] == 3);
    CHECK(facts->itemsize == 8);
    CHECK(facts->nbytes == 480);
    CHECK(facts->owns_data());
    CHECK(shape_text(*facts) == "(5, 4, 3)");
    CHECK(text_of(numpy.heap, array) == "(5, 4, 3) float64");
    CHECK(size_of(numpy.heap, array) == array_basicsize + 3 * 16 + 480);
    CHECK(buffers(numpy.heap, array) ==
          std::vector<SeenBuffer>{{facts->dimensions, 48, false}, {data, 480, true}});
    CHECK(plausible(numpy.heap, array));
}

TEST_CASE(
    "ndarray: NumPy 1.19 sizes an instance of a subclass as an ndarray, and has no handler of its memory",
    "[numpy]") {
    const std::uint64_t fields_size = GENERATE(80, 88, 96);
    Numpy numpy(*layouts_of_3().front(), 1, fields_size);
    numpy.array_type = numpy.heap.python_class("Kind", {.base = numpy.array_type});
    const std::uint64_t subclass_size = numpy.heap.type(numpy.array_type).basicsize;
    REQUIRE(subclass_size > fields_size);
    const Address array = numpy.array(numpy.descr('f', 8, 12), {3}, numpy.heap.allocate(24));
    numpy.heap.put(array + 88,
                   numpy.heap.none());  // the handler, from 1.22 on; before, what the subclass keeps there
    CHECK(size_of(numpy.heap, array) == (fields_size == 80 ? 80 : subclass_size) + 16 + 24);
    const auto seen = references(numpy.heap, array);
    const bool handler =
        std::any_of(seen.begin(), seen.end(), [](const auto& r) { return r.name == ".<mem_handler>"; });
    CHECK(handler == (fields_size == 96));
}

TEST_CASE("ndarray: a view owns shape and strides, and holds its base", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address dtype = numpy.descr('f', 8, 12);
    const Address data = numpy.heap.allocate(480);
    const Address owner = numpy.array(dtype, {60}, data);
    const Address view = numpy.array(dtype, {30}, data + 240, 0);
    numpy.heap.put(view + 48, owner);
    CHECK(size_of(numpy.heap, view) == array_basicsize + 16);
    REQUIRE(buffers(numpy.heap, view).size() == 1);
    CHECK_FALSE(buffers(numpy.heap, view)[0].array_data);
    CHECK(reference(numpy.heap, view, ".base") == Seen{owner, ".base", ReferenceKind::hidden});
    CHECK(reference(numpy.heap, view, ".dtype") == Seen{dtype, ".dtype", ReferenceKind::hidden});
    CHECK(referents(numpy.heap, view).empty());  // ndarray takes no part in collection
    CHECK(text_of(numpy.heap, view) == "(30,) float64, a view");
    numpy.heap.put(view + 64, owns_data);  // a copy that is to be written back: its base is where to
    CHECK(text_of(numpy.heap, view) == "(30,) float64");
}

TEST_CASE("ndarray: the owner of the elements is the end of the chain of bases", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address dtype = numpy.descr('f', 8, 12);
    const Address data = numpy.heap.allocate(480);
    const auto view_of = [&](Address base) {
        const Address view = numpy.array(dtype, {30}, data, 0);
        numpy.heap.put(view + 48, base);
        return view;
    };
    const auto owner_of = [&](Address array) { return array_owner(numpy.heap.reader(array)); };
    const Address owner = numpy.array(dtype, {60}, data);
    CHECK(owner_of(owner) == owner);
    CHECK(owner_of(view_of(view_of(owner))) == owner);
    const Address bytes = numpy.heap.bytes("some bytes");
    CHECK(owner_of(view_of(bytes)) == bytes);
    CHECK(owner_of(view_of(Address())).is_null());  // memory that C code lent
    const Address first = view_of(Address()), second = view_of(first);
    numpy.heap.put(first + 48, second);
    CHECK(owner_of(first).is_null());  // a ring
}

TEST_CASE("ndarray: the owner is behind a record that is a view, and behind what NumPy makes for a window",
          "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address dtype = numpy.descr('f', 8, 12);
    const Address data = numpy.heap.allocate(480);
    const Address owner = numpy.array(dtype, {60}, data);
    const auto owner_of_view = [&](Address base) {
        const Address view = numpy.array(dtype, {2}, data + 16, 0);
        numpy.heap.put(view + 48, base);
        return array_owner(numpy.heap.reader(view));
    };
    const Address record =
        numpy.heap.object(numpy.heap.c_type("numpy.void", {.base = numpy.generic, .basicsize = 64}));
    numpy.heap.put(record + 24, data + 16);
    numpy.heap.put(record + 48, owner);
    CHECK(owner_of_view(record) == owner);
    numpy.heap.put(record + 40, owns_data);
    CHECK(owner_of_view(record) == record);
    numpy.heap.put(record + 40, std::uint32_t{0});
    numpy.heap.put(record + 48, Address());
    CHECK(owner_of_view(record).is_null());

    const std::string module = GENERATE("numpy.lib.stride_tricks", "numpy.lib._stride_tricks_impl", "app");
    const Address window =
        numpy.heap.object(numpy.heap.python_class("DummyArray", {.module = module, .attributes = {"base"}}));
    numpy.heap.put(numpy.heap.minor() >= 11 ? window - 24 : window + 16,
                   numpy.heap.dict({{numpy.heap.str("base"), owner}}));
    CHECK(owner_of_view(window) == (module == "app" ? window : owner));
}

TEST_CASE("ndarray: strides are the array's own; where they are not in the core there are none", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address array = numpy.array(numpy.descr('f', 8, 12), {5, 4}, numpy.heap.allocate(160));
    const Address elsewhere = numpy.heap.allocate(16);
    numpy.heap.put(elsewhere, std::int64_t{-8});
    numpy.heap.put(elsewhere + 8, std::int64_t{40});
    numpy.heap.put(array + 40, elsewhere);
    const auto facts = numpy.facts(array);
    REQUIRE(facts);
    CHECK(array_strides(numpy.heap.reader(array), *facts) == std::vector<std::int64_t>{-8, 40});
    numpy.heap.put(array + 40, Address(0x1000));
    CHECK_FALSE(array_strides(numpy.heap.reader(array), *facts).has_value());
}

TEST_CASE("dtype.str: byte order, kind, length, and the unit of a date", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const int release = GENERATE(1, 2);
    Numpy numpy(*layout, release);
    const auto str_of = [&](Address dtype) {
        return descr_str(numpy.heap.heap(), descr_facts(numpy.heap.heap(), dtype).value());
    };
    CHECK(str_of(numpy.descr('f', 8, 12)) == "<f8");
    CHECK(str_of(numpy.descr('U', 160, 19)) == "<U40");
    const Address native = numpy.descr('i', 4, 5), objects = numpy.descr('O', 8, 17),
                  date = numpy.descr('M', 8, 21);
    numpy.heap.put(native + 26, '=');
    numpy.heap.put(objects + 26, '|');
    CHECK(str_of(native) == "<i4");
    CHECK(str_of(objects) == "|O");
    CHECK(str_of(date) == "<M8");
    const Address unit = numpy.heap.allocate(48);
    numpy.heap.put(date + (release == 1 ? 80 : 112), unit);
    numpy.heap.put(unit + 32, std::int32_t{10});
    numpy.heap.put(unit + 36, std::int32_t{1});
    CHECK(str_of(date) == "<M8[ns]");
    numpy.heap.put(unit + 36, std::int32_t{25});
    CHECK(str_of(date) == "<M8[25ns]");
    numpy.heap.put(unit + 32, std::int32_t{14});  // without a unit
    CHECK(str_of(date) == "<M8");
    numpy.heap.put(unit + 32, std::int32_t{-3});
    CHECK(str_of(date) == "<M8");
}

TEST_CASE("ndarray: the objects of an object array are the owner's, and hidden", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address item = numpy.heap.list({});
    const Address data = numpy.heap.allocate(24);
    numpy.heap.put(data, item);
    numpy.heap.put(data + 16, item);
    const Address dtype = numpy.descr('O', 8, 17);
    const Address array = numpy.array(dtype, {3}, data);
    CHECK(reference(numpy.heap, array, "[0]") == Seen{item, "[0]", ReferenceKind::hidden});
    CHECK(reference(numpy.heap, array, "[1]").target.is_null());
    CHECK(reference(numpy.heap, array, "[2]").target == item);
    const Address view = numpy.array(dtype, {3}, data, 0);
    CHECK(reference(numpy.heap, view, "[0]").target.is_null());
}

TEST_CASE("ndarray: an element is named by an index for each dimension", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address item = numpy.heap.list({}), data = numpy.heap.allocate(48), dtype = numpy.descr('O', 8, 17);
    numpy.heap.put(data + 40, item);
    numpy.heap.put(data + 8, item);
    auto names = [&](Address array) {
        std::vector<std::string> found;
        for (const Seen& seen : references(numpy.heap, array))
            if (seen.target == item) found.push_back(seen.name);
        return found;
    };
    using Names = std::vector<std::string>;
    CHECK(names(numpy.array(dtype, {2, 3}, data, owns_data, {24, 8})) == Names{"[0, 1]", "[1, 2]"});
    // Fortran order
    CHECK(names(numpy.array(dtype, {2, 3}, data, owns_data, {8, 16})) == Names{"[1, 0]", "[1, 2]"});
    CHECK(names(numpy.array(dtype, {1, 6, 1}, data, owns_data, {0, 8, 48})) ==
          Names{"[0, 1, 0]", "[0, 5, 0]"});
    CHECK(names(numpy.array(dtype, {}, data + 8)) == Names{"[()]"});
    CHECK(names(numpy.array(dtype, {2, 3}, data, owns_data, {-24, 8})) == Names{"<element>", "<element>"});
    CHECK(names(numpy.array(dtype, {2, 3}, data, owns_data, {96, 40})) == Names{"<element>", "[0, 1]"});
}

TEST_CASE("ndarray: an object in a record is named by index and field", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address object = numpy.descr('O', 8, 17), number = numpy.descr('i', 8, 7);
    const Address two = numpy.subarray(object, 16, {2}), grid = numpy.subarray(object, 48, {2, 3});
    const Address inner = numpy.record(64, {{"it's", grid, 0}, {"more", two, 48}});
    const Address record = numpy.record(
        80, {{"number", number, 0}, {"overlaid", number, 8}, {"what", object, 8}, {"inner", inner, 16}});
    const Address item = numpy.heap.list({}), data = numpy.heap.allocate(160);
    for (const std::uint64_t at : {0, 8, 16 + 40, 64 + 8, 80 + 8}) numpy.heap.put(data + at, item);
    std::vector<std::string> found;
    for (const Seen& seen : references(numpy.heap, numpy.array(record, {2}, data, owns_data, {80})))
        if (seen.target == item) found.push_back(seen.name);
    CHECK(found == std::vector<std::string>{"[0]['what']", "[0]['inner'][\"it's\"][1, 2]",
                                            "[0]['inner']['more'][1]", "[1]['what']"});
    // A dtype that contains itself comes to an end.
    numpy.heap.put(inner + (numpy.old ? 48 : 96), numpy.fields({{"again", inner, 0}}));
    ask_everything(numpy.heap, numpy.array(record, {2}, data, owns_data, {80}));
}

TEST_CASE("ndarray: of no dimensions it has one element, with a length of zero none", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address dtype = numpy.descr('i', 4, 5);
    const Address scalar = numpy.array(dtype, {}, numpy.heap.allocate(4));
    REQUIRE(numpy.facts(scalar));
    CHECK(numpy.facts(scalar)->nbytes == 4);
    CHECK(text_of(numpy.heap, scalar) == "() int32");
    const Address empty = numpy.array(dtype, {0, 1000}, numpy.heap.allocate(4));
    CHECK(numpy.facts(empty)->nbytes == 0);
    CHECK(size_of(numpy.heap, empty) == array_basicsize + 32);
}

TEST_CASE("ndarray: what cannot be an array gives nothing", "[numpy][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address array = numpy.array(numpy.descr('f', 8, 12), {5, 4}, numpy.heap.allocate(160));
    const Address dimensions = numpy.facts(array)->dimensions;
    SECTION("65 dimensions") { numpy.heap.put(array + 24, std::int32_t{65}); }
    SECTION("minus one dimension") { numpy.heap.put(array + 24, std::int32_t{-1}); }
    SECTION("a negative length") { numpy.heap.put(dimensions, std::int64_t{-5}); }
    SECTION("more bytes than can be counted") {
        numpy.heap.put(dimensions, std::int64_t{1} << 40);
        numpy.heap.put(dimensions + 8, std::int64_t{1} << 40);
    }
    SECTION("a shape that is not there") { numpy.heap.put(array + 32, Address(0x123456789000)); }
    SECTION("a shape of null") { numpy.heap.put(array + 32, Address()); }
    SECTION("a dtype that is none") { numpy.heap.put(array + 56, dimensions); }
    SECTION("a dtype of null") { numpy.heap.put(array + 56, Address()); }
    CHECK_FALSE(numpy.facts(array));
    CHECK(size_of(numpy.heap, array) == array_basicsize);
    CHECK(buffers(numpy.heap, array).empty());
    CHECK(references(numpy.heap, array).empty());
    CHECK_FALSE(plausible(numpy.heap, array));
    ask_everything(numpy.heap, array);
}

TEST_CASE("ndarray: an object array longer than its memory ends where that ends", "[numpy][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address item = numpy.heap.none();
    const Address data = numpy.heap.map(Address(0x600000000000), 64);
    for (std::uint64_t i = 0; i < 8; ++i) numpy.heap.put(data + 8 * i, item);
    const Address array = numpy.array(numpy.descr('O', 8, 17), {std::int64_t{1} << 50}, data);
    const auto seen = references(numpy.heap, array);
    CHECK(std::count_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.target == item; }) == 8);
}

TEST_CASE("dtype: names as NumPy writes them, negative sizes are none", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const auto name = [&](char kind, std::uint64_t itemsize) {
        // Before asking for the heap, since each allocation invalidates it.
        const Address descr = numpy.descr(kind, itemsize, 12);
        return descr_facts(numpy.heap.heap(), descr)->name();
    };
    CHECK(name('f', 8) == "float64");
    CHECK(name('i', 2) == "int16");
    CHECK(name('u', 1) == "uint8");
    CHECK(name('c', 16) == "complex128");
    CHECK(name('b', 1) == "bool");
    CHECK(name('O', 8) == "object");
    CHECK(name('U', 20) == "str160");
    CHECK(name('S', 5) == "bytes40");
    CHECK(name('V', 3) == "void24");
    const Address negative = numpy.descr('f', 0, 12);
    numpy.heap.put(negative + (numpy.old ? 32 : 40), std::int64_t{-1});
    CHECK_FALSE(descr_facts(numpy.heap.heap(), negative));
    CHECK_FALSE(descr_facts(numpy.heap.heap(), Address()));
    CHECK_FALSE(descr_facts(numpy.heap.heap(), Address(0x123456789000)));
}

TEST_CASE("dtype: fields and names of a record are hidden references", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address descr = numpy.descr('V', 24, 20);
    const Address fields = numpy.heap.dict({});
    const Address names = numpy.heap.tuple({});
    numpy.heap.put(descr + (numpy.old ? 48 : 96), fields);
    numpy.heap.put(descr + (numpy.old ? 56 : 104), names);
    CHECK(reference(numpy.heap, descr, ".fields") == Seen{fields, ".fields", ReferenceKind::hidden});
    CHECK(reference(numpy.heap, descr, ".names") == Seen{names, ".names", ReferenceKind::hidden});
    CHECK(text_of(numpy.heap, descr) == "void192");
}

namespace {

/// The dtype of a record with objects: its fields by name, dtype and offset.
Address record(Numpy& numpy, std::uint64_t itemsize,
               const std::vector<std::tuple<std::string, Address, std::int64_t>>& fields) {
    const Address descr = numpy.descr('V', itemsize, 20);
    Entries entries;
    for (const auto& [name, dtype, offset] : fields)
        entries.emplace_back(numpy.heap.str(name), numpy.heap.tuple({dtype, numpy.heap.integer(offset)}));
    numpy.heap.put(descr + (numpy.old ? 48 : 96), numpy.heap.dict(entries));
    numpy.heap.put(descr + (numpy.old ? 27 : 32), std::uint8_t{1});
    return descr;
}

/// `itemsize` bytes of elements of `base`.
Address subarray(Numpy& numpy, Address base, std::uint64_t itemsize) {
    const Address descr = numpy.descr('V', itemsize, 20), array = numpy.heap.allocate(16);
    numpy.heap.put(array, base);
    numpy.heap.put(array + 8, numpy.heap.tuple({}));
    numpy.heap.put(descr + (numpy.old ? 40 : 88), array);
    numpy.heap.put(descr + (numpy.old ? 27 : 32), std::uint8_t{1});
    return descr;
}

}  // namespace

TEST_CASE("dtype: objects in the fields of a record, and in those of its fields, each place once",
          "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, GENERATE(1, 2));
    const Address object = numpy.descr('O', 8, 17), number = numpy.descr('f', 8, 12);
    const Address inner = record(numpy, 16, {{"n", number, 0}, {"o", object, 8}});
    const Address pair = subarray(numpy, inner, 32);
    const Address outer =
        record(numpy, 48, {{"o", object, 0}, {"title", object, 0}, {"pair", pair, 8}, {"n", number, 40}});
    CHECK(object_places(numpy.heap.heap(), outer) == std::vector<std::uint64_t>{0, 16, 32});
    CHECK(reference(numpy.heap, pair, ".base") == Seen{inner, ".base", ReferenceKind::hidden});
    const Address data = numpy.heap.allocate(96), item = numpy.heap.list({});
    for (const std::uint64_t at : {0, 32, 48 + 16}) numpy.heap.put(data + at, item);
    const auto seen = references(numpy.heap, numpy.array(outer, {2}, data));
    CHECK(std::count_if(seen.begin(), seen.end(), [&](const Seen& one) { return one.target == item; }) == 3);
    // A field beyond the element does not belong to it.
    const Address torn = record(numpy, 16, {{"a", object, 8}, {"b", object, 9}, {"c", object, 1 << 20}});
    CHECK(object_places(numpy.heap.heap(), torn) == std::vector<std::uint64_t>{8});
}

TEST_CASE("dtype: those that are fields of each other come to an end", "[numpy][damaged]") {
    Numpy numpy(*layouts_of_3().back(), GENERATE(1, 2));
    const Address descr = record(numpy, 64, {});
    Entries entries;
    for (int i = 0; i < 5; ++i)
        entries.emplace_back(numpy.heap.str(std::string(1, static_cast<char>('a' + i))),
                             numpy.heap.tuple({descr, numpy.heap.integer(0)}));
    numpy.heap.put(descr + (numpy.old ? 48 : 96), numpy.heap.dict(entries));
    CHECK(object_places(numpy.heap.heap(), descr).empty());
    Address many = numpy.descr('f', 1, 12);
    for (int depth = 1; depth < 10; ++depth) many = subarray(numpy, many, std::uint64_t{1} << (3 * depth));
    CHECK(object_places(numpy.heap.heap(), many).empty());
}

TEST_CASE("ufunc: what it reports, and the loops that it hides", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const std::uint64_t size = GENERATE(216, 232);
    Numpy numpy(*layout, 2);
    for (const ObjectKind& kind : numpy_internal_kinds()) numpy.heap.kinds.push_back(&kind);
    const Address type =
        numpy.heap.c_type("numpy.ufunc", {.basicsize = size, .flags = heapsift::test::have_gc_flag});
    const Address ufunc = numpy.heap.object(type), object = numpy.heap.list({}), loops = numpy.heap.dict({}),
                  identity = numpy.heap.integer(0);
    numpy.heap.put(ufunc + 88, object);
    numpy.heap.put(ufunc + 96, loops);
    numpy.heap.put(ufunc + 208, identity);
    CHECK(references(numpy.heap, ufunc) ==
          std::vector<Seen>{{object, ".<object>", ReferenceKind::strong},
                            {loops, ".<user loops>", ReferenceKind::hidden}});
    numpy.heap.put(ufunc + 28, std::int32_t{-3});
    CHECK(reference(numpy.heap, ufunc, ".identity").target == identity);
    if (size <= 224) return;
    numpy.heap.put(ufunc + 224, loops);
    CHECK(reference(numpy.heap, ufunc, ".<loops>").kind == ReferenceKind::hidden);
}

TEST_CASE("scalars: the header, and the value once more", "[numpy]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    Numpy numpy(*layout, 2);
    const Address double_scalar =
        numpy.heap.c_type("numpy.float64", {.base = numpy.generic, .basicsize = 24});
    const Address byte_scalar = numpy.heap.c_type("numpy.uint8", {.base = numpy.generic, .basicsize = 24});
    const Address real = numpy.heap.object(double_scalar);
    numpy.heap.put(real + 16, 2.5);
    CHECK(text_of(numpy.heap, real) == "2.5");
    numpy.heap.put(real + 16, 3.0);
    CHECK(text_of(numpy.heap, real) == "3.0");
    // sys.getsizeof(numpy.float64(2.5)) is 32, of numpy.uint8 25.
    CHECK(size_of(numpy.heap, real) == 32);
    const Address byte = numpy.heap.object(byte_scalar);
    numpy.heap.put(byte + 16, std::uint8_t{200});
    CHECK(size_of(numpy.heap, byte) == 25);
    CHECK(text_of(numpy.heap, byte) == "200");
}
