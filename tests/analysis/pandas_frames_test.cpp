// DataFrames and Series, found by what they lead to, in handmade heaps; arrays and their elements are in
// memory.

#include "analysis/pandas_frames.h"

#include "analysis/arrays.h"
#include "parsers/numpy/kinds.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

#include <cstring>
#include <limits>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t memory_start = 0x100000;
constexpr const char* frame_type = "pandas.core.frame.DataFrame";
constexpr const char* series_type = "pandas.core.series.Series";
constexpr const char* index_type = "pandas.core.indexes.base.Index";
constexpr const char* range_index_type = "pandas.core.indexes.range.RangeIndex";
constexpr const char* manager_type = "pandas.core.internals.managers.BlockManager";
constexpr const char* single_manager_type = "pandas.core.internals.managers.SingleBlockManager";
constexpr const char* block_type = "pandas.core.internals.blocks.NumpyBlock";
constexpr const char* categorical_type = "pandas.core.arrays.categorical.Categorical";
constexpr const char* dtype_type = "pandas.core.dtypes.dtypes.CategoricalDtype";

using Addresses = std::vector<std::uint64_t>;

/// Objects of pandas, one after the other.
struct PandasHeap {
    HandmadeHeap heap;
    std::string bytes = std::string(1 << 16, '\0');
    std::uint64_t next = memory_start, next_word = memory_start + (1 << 15);

    PandasHeap() {
        heap.layout = *builtin_layout({3, 11, false, false});
        add_type("numpy.ndarray", no_type).kind = &ndarray_kind;
        add_type("numpy.dtype", no_type).basicsize = 96;
        add_type("pandas._libs.internals.BlockManager", no_type);
        add_type(manager_type, TypeId(2));
        add_type("pandas._libs.internals.Block", no_type);
        add_type(block_type, TypeId(4));
        add_type(index_type, no_type);
        add_type(range_index_type, TypeId(6));
        add_type(frame_type, no_type);
        add_type("app.Frame", no_type);
        heap.types[0].basicsize = 96;
    }
    TypeInfo& add_type(const char* name, TypeId base) {
        TypeInfo type;
        type.address = Address(0x1000 + 0x100 * heap.types.size());
        type.name = name;
        type.base = base;
        heap.types.push_back(type);
        return heap.types.back();
    }
    template <class T>
    void put(std::uint64_t at, T value) {
        put_at(bytes, at - memory_start, value);
    }
    std::uint64_t words(const std::vector<std::int64_t>& values) {
        const std::uint64_t at = next_word;
        for (std::size_t i = 0; i < values.size(); ++i) put(at + 8 * i, values[i]);
        next_word += 8 * std::max<std::size_t>(values.size(), 1);
        return at;
    }
    std::uint64_t object(const std::string& type, std::vector<Reference> references,
                         std::int64_t refcount = 1) {
        const std::uint64_t at = next;
        next += 0x80;
        heap.objects.push_back({Address(at), type, facts(64, 64, 0, refcount), {}, std::move(references)});
        return at;
    }
    std::uint64_t value(const std::string& type, const std::string& text) {
        const std::uint64_t at = object(type, {});
        heap.objects.back().value = literal(text, text.size());
        return at;
    }
    std::uint64_t sequence(const char* type, const Addresses& items) {
        std::vector<Reference> references;
        for (const std::uint64_t item : items) references.push_back(reference(item, "[i]"));
        return object(type, std::move(references));
    }
    /// An array of int64 (or of pointers), with its elements if they are given.
    std::uint64_t array(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& elements = {},
                        char kind = 'i') {
        const std::uint64_t dtype = object("numpy.dtype", {}),
                            at = object("numpy.ndarray", {reference(dtype, ".dtype")});
        put(dtype + 8, std::uint64_t{0x1100});
        put(dtype + 24, kind);
        put(dtype + 26, kind == 'O' ? '|' : '<');
        put(dtype + 28, std::int32_t{kind == 'O' ? 17 : 7});
        put(dtype + 32, std::int32_t{8});
        const std::size_t nd = shape.size();
        for (std::size_t i = 0; i < nd; ++i) shape.push_back(i + 1 == nd ? 8 : 8 * shape[nd - 1]);
        const std::uint64_t dimensions = words(shape);
        put(at + 8, std::uint64_t{0x1000});
        put(at + 16, words(elements));
        put(at + 24, static_cast<std::int32_t>(nd));
        put(at + 32, dimensions);
        put(at + 40, dimensions + 8 * nd);
        put(at + 56, dtype);
        put(at + 64, std::uint32_t{4});
        return at;
    }
    /// An array of one dimension of another dtype, whose elements are these bytes; `unit` as NumPy numbers
    /// those of dates.
    std::uint64_t typed(char kind, std::int32_t type_num, std::int32_t itemsize, const std::string& elements,
                        std::int32_t unit = -1) {
        const auto count = static_cast<std::int64_t>(elements.size()) / itemsize;
        std::vector<std::int64_t> padded(elements.size() / 8 + 1);
        std::memcpy(padded.data(), elements.data(), elements.size());
        const std::uint64_t at = array({count}, padded), dtype = at - 0x80;
        put(next_word - 8 * padded.size() - 8, std::int64_t{itemsize});  // the stride
        put(dtype + 24, kind);
        put(dtype + 26, itemsize == 1 ? '|' : '<');
        put(dtype + 28, type_num);
        put(dtype + 32, itemsize);
        if (unit < 0) return at;
        const std::uint64_t metadata = words({0, 0, 0, 0, 0});
        put(metadata + 32, unit);
        put(metadata + 36, std::int32_t{1});
        put(dtype + 80, metadata);
        return at;
    }
    std::uint64_t index(std::uint64_t values) { return object(index_type, {reference(values, "._data")}); }
    std::uint64_t range_index(std::int64_t start, std::int64_t step, std::int64_t length) {
        const auto number = [&](std::int64_t n) { return value("int", std::to_string(n)); };
        const std::uint64_t range =
            object("range", {reference(number(start), ".start"), reference(number(step), ".step"),
                             reference(number(length), ".<length>")});
        return object(range_index_type, {reference(range, "._range")});
    }
    std::uint64_t names(const std::vector<std::string>& labels) {
        std::vector<std::int64_t> pointers;
        for (const std::string& label : labels)
            pointers.push_back(static_cast<std::int64_t>(value("str", label)));
        return object(index_type, {reference(array({static_cast<std::int64_t>(labels.size())}, pointers, 'O'),
                                             "._data")});
    }
    std::uint64_t block(std::uint64_t values) {
        const std::uint64_t placement = object("pandas._libs.internals.BlockPlacement", {});
        return object(block_type,
                      {reference(placement, "<+24>"), reference(values, "<+40>", ReferenceKind::hidden)});
    }
    std::uint64_t manager(const Addresses& axes, const Addresses& blocks, std::uint64_t parent = 0,
                          std::int64_t refcount = 1) {
        std::vector<Reference> references = {
            reference(sequence("tuple", blocks), "<+24>", ReferenceKind::hidden),
            reference(sequence("list", axes), "<+32>", ReferenceKind::hidden)};
        if (parent != 0) references.push_back(reference(parent, "<+72>", ReferenceKind::hidden));
        return object(axes.size() == 1 ? single_manager_type : manager_type, std::move(references), refcount);
    }
    std::uint64_t frame(std::uint64_t manager, const char* type = frame_type) {
        return object(type, {reference(manager, "._mgr")});
    }
    HandmadeReader build() {
        heap.core_bytes =
            CoreWriter().thread(100, 0).process(100, "python3", "python3").load(memory_start, bytes).bytes();
        return heap.build();
    }
};

Addresses addresses(const HeapReader& heap, const std::vector<ObjectId>& objects) {
    Addresses result;
    for (const ObjectId object : objects) result.push_back(heap.snapshot().address_of(object).value);
    return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("pandas: a frame has the shape of its axes, and the arrays of its blocks and axes", "[pandas]") {
    PandasHeap made;
    const std::uint64_t floats = made.array({2, 5}), integers = made.array({1, 5}),
                        columns = made.names({"a", "b", "c"});
    made.frame(
        made.manager({columns, made.range_index(0, 1, 5)}, {made.block(floats), made.block(integers)}));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 2);
    REQUIRE(frames.size() == 1);
    const PandasFrame& frame = frames[0];
    CHECK_FALSE(frame.series);
    CHECK(frame.type_name == frame_type);
    CHECK(frame.shape_known);
    CHECK(frame.rows == 5);
    CHECK(frame.columns == 3);
    CHECK(frame.column_names == Names{"a", "b"});
    CHECK(frame.column_count == 3);
    CHECK(addresses(heap, frame.value_arrays) == Addresses{floats, integers});
    CHECK(frame.arrays.size() == 3);
    CHECK(frame.blocks.size() == 2);
    CHECK(frame.parent == no_object);
}

TEST_CASE("pandas: a Series has one axis, one column and its name; attributes may be in a __dict__",
          "[pandas]") {
    PandasHeap made;
    const std::uint64_t values = made.array({7});
    const std::uint64_t manager = made.manager({made.range_index(0, 1, 7)}, {made.block(values)});
    const ShortValue name = literal("'_mgr'", 4);
    const std::uint64_t dict =
        made.object("dict", {key(made.value("str", "'_mgr'"), name), item(manager, name)});
    made.object(series_type, {reference(dict, ".__dict__")});
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].series);
    CHECK(frames[0].rows == 7);
    CHECK(frames[0].columns == 1);
    CHECK(frames[0].shape_known);
    CHECK(frames[0].column_names.empty());
    CHECK(addresses(heap, frames[0].arrays) == Addresses{values});
}

TEST_CASE("pandas: a class that has DataFrame among its bases is one, whatever its tp_base", "[pandas]") {
    PandasHeap made;
    made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, 4)},
                            {made.block(made.array({1, 4}))}),
               "app.Frame");
    made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, 4)}, {}), "app.Other");
    const std::uint64_t mro = made.object("tuple", {reference(0x1900, "[0]"), reference(0x1800, "[1]")});
    made.heap.objects.push_back(
        {Address(0x1900), "type", facts(1000, 1000), {}, {reference(mro, ".__mro__")}});
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].type_name == "app.Frame");
    CHECK(frames[0].rows == 4);
    CHECK(frames[0].column_names == Names{"0"});
}

TEST_CASE("pandas: an extension array's arrays are the frame's, once, and no step leads into another frame",
          "[pandas]") {
    PandasHeap made;
    const std::uint64_t codes = made.array({4}, {0, 1, -1, 0}), categories = made.names({"x", "y"});
    const std::uint64_t dtype = made.object(dtype_type, {reference(categories, "._categories")});
    const std::uint64_t categorical = made.object(
        categorical_type, {reference(codes, "<+24>", ReferenceKind::hidden), reference(dtype, "<+32>")});
    const std::uint64_t other = made.array({1, 9});
    const std::uint64_t other_frame =
        made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, 9)}, {made.block(other)}));
    const std::uint64_t cache = made.sequence("dict", {other_frame, categories});
    const std::uint64_t columns =
        made.object(index_type, {reference(categorical, "._data"), reference(cache, "._cache")});
    made.frame(made.manager({columns, made.range_index(3, 1, 4)}, {made.block(categorical)}));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 2);
    CHECK(frames[1].column_names == Names{"x", "y", "nan", "x"});
    CHECK(addresses(heap, frames[1].value_arrays).front() == codes);
    CHECK(frames[1].arrays.size() == 2);
    CHECK(addresses(heap, frames[0].arrays) == Addresses{other});
}

TEST_CASE("pandas: labels of levels, of days and of numbers", "[pandas]") {
    PandasHeap made;
    const std::uint64_t levels = made.sequence("list", {made.names({"n", "s"}), made.range_index(1, 1, 2)});
    const std::uint64_t codes = made.sequence("list", {made.array({2}, {0, 1}), made.array({2}, {1, -1})});
    const std::uint64_t multi =
        made.object(index_type, {reference(levels, "._levels"), reference(codes, "._codes")});
    const std::uint64_t numbers = made.object(index_type, {reference(made.array({2}, {10, -30}), "._data")});
    const std::uint64_t rows = made.range_index(0, 1, 0);
    made.frame(made.manager({multi, rows}, {}));
    made.frame(made.manager({numbers, rows}, {}));
    made.frame(made.manager({made.range_index(100, -10, 3), rows}, {}));
    made.frame(made.manager({made.range_index(std::numeric_limits<std::int64_t>::max(), 2, 2), rows}, {}));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 4);
    CHECK(frames[0].column_names == Names{"(n, 2)", "(s, nan)"});
    CHECK(frames[1].column_names == Names{"10", "-30"});
    CHECK(frames[2].column_names == Names{"100", "90", "80"});
    CHECK(frames[3].column_names == Names{"9223372036854775807", "?"});
    CHECK(frames[0].rows == 0);
    CHECK(frames[0].shape_known);
}

namespace {

template <class T>
std::string elements(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The names of the columns of a frame for each of these indexes.
std::vector<Names> labels(PandasHeap& made, const Addresses& indexes) {
    const std::uint64_t rows = made.range_index(0, 1, 0);
    for (const std::uint64_t index : indexes) made.frame(made.manager({index, rows}, {}));
    const HandmadeReader heap = made.build();
    std::vector<Names> result;
    for (const PandasFrame& frame : pandas_frames(heap, 20)) result.push_back(frame.column_names);
    return result;
}

}  // namespace

TEST_CASE("pandas: labels of every width of number are as pandas prints them", "[pandas]") {
    PandasHeap made;
    const auto narrow = [&](char kind, std::int32_t type, const auto& values) {
        return made.index(
            made.typed(kind, type, static_cast<std::int32_t>(sizeof(values[0])), elements(values)));
    };
    const std::vector<Names> found = labels(
        made,
        {narrow('i', 1, std::vector<std::int8_t>{-1, 7}), narrow('i', 3, std::vector<std::int16_t>{-300, 7}),
         narrow('i', 5, std::vector<std::int32_t>{-70000, 7}), narrow('u', 2, std::vector<std::uint8_t>{200}),
         narrow('u', 4, std::vector<std::uint16_t>{60000}),
         narrow('u', 6, std::vector<std::uint32_t>{4000000000}),
         narrow('u', 8, std::vector<std::uint64_t>{18446744073709551615u}),
         narrow('f', 12, std::vector<double>{1, 2.5, -0.1}), narrow('f', 11, std::vector<float>{1, 0.1F}),
         narrow('b', 0, std::vector<std::uint8_t>{1, 0}),
         narrow('f', 23, std::vector<std::uint16_t>{0x3c00})});
    REQUIRE(found.size() == 11);
    CHECK(found[0] == Names{"-1", "7"});
    CHECK(found[1] == Names{"-300", "7"});
    CHECK(found[2] == Names{"-70000", "7"});
    CHECK(found[3] == Names{"200"});
    CHECK(found[4] == Names{"60000"});
    CHECK(found[5] == Names{"4000000000"});
    CHECK(found[6] == Names{"18446744073709551615"});
    CHECK(found[7] == Names{"1.0", "2.5", "-0.1"});
    CHECK(found[8] == Names{"1.0", "0.1"});
    CHECK(found[9] == Names{"True", "False"});
    CHECK(found[10] == Names{"?"});  // float16
}

TEST_CASE("pandas: labels that are days have the time only where it is not midnight", "[pandas]") {
    PandasHeap made;
    constexpr std::int64_t day = 86400, nothing = std::numeric_limits<std::int64_t>::min(),
                           billion = 1000000000;
    const auto dates = [&](std::int32_t unit, const std::vector<std::int64_t>& ticks) {
        return made.index(made.typed('M', 21, 8, elements(ticks), unit));
    };
    const std::vector<Names> found = labels(
        made, {dates(10, {19723 * day * billion, (19723 * day + 3661) * billion + 5, nothing, -1}),  // ns
               dates(9, {-day * 1000000}), dates(8, {day * 1000}),
               dates(7, {day, std::numeric_limits<std::int64_t>::max()}), dates(4, {19723})});
    REQUIRE(found.size() == 5);
    CHECK(found[0] == Names{"2024-01-01", "2024-01-01 01:01:01", "NaT", "1969-12-31 23:59:59"});
    CHECK(found[1] == Names{"1969-12-31"});
    CHECK(found[2] == Names{"1970-01-02"});
    CHECK(found[3] == Names{"1970-01-02", "?"});  // after the year 9999
    CHECK(found[4] == Names{"?"});                // pandas has no days
}

TEST_CASE("pandas: labels that are objects, of many levels, or of what is not read", "[pandas]") {
    PandasHeap made;
    std::uint64_t none = made.object("NoneType", {}), key = made.object("app.Key", {});
    made.heap.objects[made.heap.objects.size() - 2].value = literal("None", 4);
    const std::uint64_t objects = made.index(
        made.array({3}, {static_cast<std::int64_t>(none), static_cast<std::int64_t>(key), 0x10}, 'O'));
    Addresses levels, codes, short_codes;
    for (int i = 0; i < 9; ++i) {
        levels.push_back(made.range_index(i, 1, 1));
        codes.push_back(made.array({1}, {0}));
    }
    short_codes.assign(codes.begin(), codes.begin() + 2);
    const auto multi = [&](const Addresses& arrays) {
        return made.object(index_type, {reference(made.sequence("list", levels), "._levels"),
                                        reference(made.sequence("list", arrays), "._codes")});
    };
    const std::uint64_t periods = made.index(made.object("pandas.core.arrays.period.PeriodArray",
                                                         {reference(made.array({2}, {1, 2}), "._ndarray")}));
    const std::vector<Names> found = labels(made, {objects, multi(codes), multi(short_codes), periods});
    REQUIRE(found.size() == 4);
    CHECK(found[0] == Names{"None", "<app.Key>", "?"});
    CHECK(found[1] == Names{"(0, 1, 2, 3, 4, 5, 6, 7, …)"});
    CHECK(found[2] == Names{"?"});  // codes for two of nine levels
    CHECK(found[3] == Names{"?", "?"});
}

TEST_CASE("pandas: a sparse column has no length of its own", "[pandas]") {
    PandasHeap made;
    const std::uint64_t sparse = made.object("pandas.core.arrays.sparse.array.SparseArray",
                                             {reference(made.array({2}, {1, 2}), "._sparse_values")});
    made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, 100)}, {made.block(sparse)}));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].rows == 100);
    CHECK(frames[0].shape_known);  // two values are no contradiction
}

TEST_CASE("pandas: axes and blocks that do not agree, or are not there, leave the shape unknown",
          "[pandas]") {
    PandasHeap made;
    made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, 5)},
                            {made.block(made.array({1, 4}))}));
    made.frame(made.manager({made.range_index(0, 1, 1), made.range_index(0, 1, -5)}, {}));
    made.frame(made.object("dict", {}));
    made.object(frame_type, {});
    const HandmadeReader heap = made.build();
    for (const PandasFrame& frame : pandas_frames(heap, 10)) CHECK_FALSE(frame.shape_known);
    CHECK(pandas_frames(heap, 10).size() == 4);
}

TEST_CASE("pandas: rings of managers, blocks and indexes end", "[pandas]") {
    PandasHeap made;
    const std::uint64_t list = made.next, index = list + 0x80, manager = list + 0x100;
    made.object("list", {reference(list, "[0]"), reference(index, "[1]"), reference(manager, "[2]")});
    made.object(index_type, {reference(index, "._data"), reference(list, "._cache"),
                             reference(list, "._levels"), reference(list, "._codes")});
    made.object(manager_type,
                {reference(list, "<+24>"), reference(manager, "<+72>"), reference(manager + 0x80, "<+80>")});
    made.object(manager_type, {reference(list, "<+24>"), reference(manager, "<+72>")});
    made.frame(manager);
    made.frame(made.manager({index}, {}, manager + 0x80));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    CHECK(frames.size() == 2);
    CHECK(dropped_frames(heap, frames, 10).size() == 1);
}

TEST_CASE("pandas: a manager that only slices keep as their parent is a dropped frame", "[pandas]") {
    PandasHeap made;
    const std::uint64_t whole = made.array({2, 100}), columns = made.names({"a", "b"});
    const std::uint64_t gone =
        made.manager({columns, made.range_index(0, 1, 100)}, {made.block(whole)}, 0, 2);
    const std::uint64_t between =
        made.manager({columns, made.range_index(0, 1, 50)}, {made.block(made.array({2, 50}))}, gone, 2);
    made.frame(made.manager({columns, made.range_index(0, 1, 3)}, {made.block(made.array({2, 3}))}, gone));
    made.frame(made.manager({columns, made.range_index(0, 1, 4)}, {made.block(made.array({2, 4}))}, between));
    const std::uint64_t alive =
        made.manager({columns, made.range_index(0, 1, 9)}, {made.block(made.array({2, 9}))});
    made.frame(alive);
    made.frame(made.manager({columns, made.range_index(0, 1, 2)}, {made.block(made.array({2, 2}))}, alive));
    const HandmadeReader heap = made.build();
    const auto frames = pandas_frames(heap, 10);
    REQUIRE(frames.size() == 4);
    CHECK(heap.snapshot().address_of(frames[0].parent).value == gone);
    CHECK(frames[0].value_arrays.size() == 1);
    const auto dropped = dropped_frames(heap, frames, 10);
    REQUIRE(dropped.size() == 2);
    CHECK(heap.snapshot().address_of(dropped[0].frame.manager).value == gone);
    CHECK(dropped[0].frame.rows == 100);
    CHECK(dropped[0].frame.column_names == Names{"a", "b"});
    CHECK(addresses(heap, dropped[0].frame.value_arrays) == Addresses{whole});
    CHECK(dropped[0].slices == std::vector<std::size_t>{0, 1});
    CHECK(dropped[0].kept_by_slices_alone);
    CHECK(dropped[1].slices == std::vector<std::size_t>{1});
    CHECK_FALSE(dropped[1].kept_by_slices_alone);
}

TEST_CASE("pandas: rows of frames say what they show and keep; in text the few that keep most", "[pandas]") {
    PandasHeap made;
    const std::uint64_t columns = made.names({"a", "b"});
    std::vector<std::uint64_t> frames;
    for (std::int64_t rows = 1; rows <= 8; ++rows)
        frames.push_back(made.frame(
            made.manager({columns, made.range_index(0, 1, rows)}, {made.block(made.array({2, rows}))})));
    const std::uint64_t gone =
        made.manager({columns, made.range_index(0, 1, 100)}, {made.block(made.array({2, 100}))});
    frames.push_back(made.frame(
        made.manager({columns, made.range_index(0, 1, 3)}, {made.block(made.array({2, 3}))}, gone)));
    const HandmadeReader heap = made.build();
    Work work(heap);
    const ArraysResult all = arrays(work, {.rows = 0, .every_frame = true});
    REQUIRE(all.frames.size() == 9);
    CHECK(all.frame_count == 9);
    const std::uint64_t names = 2 * 8;  // the array of the labels
    for (std::size_t i = 0; i < 8; ++i) {
        const PandasFrameRow& row = all.frames[i];
        CHECK(row.object.address == Address(frames[i]));
        CHECK(row.rows == i + 1);
        CHECK(row.columns == 2);
        CHECK(row.arrays == 2);
        CHECK(row.nbytes == 2 * 8 * (i + 1) + names);
        CHECK(row.kept_bytes == row.nbytes);  // they own what they show
    }
    REQUIRE(all.dropped.rows.size() == 1);
    const DroppedRow& dropped = all.dropped.rows[0];
    CHECK(dropped.frame.object.address == Address(gone));
    CHECK(dropped.slices == std::vector<Address>{Address(frames[8])});
    CHECK(dropped.kept_by_slices_alone);
    CHECK(all.dropped.kept_bytes == 2 * 8 * 100 + names);
    const ArraysResult few = arrays(work, {.rows = 0});
    REQUIRE(few.frames.size() == 6);
    CHECK(few.frame_count == 9);
    CHECK(few.frames[0].object.address == Address(frames[7]));
    CHECK(few.frames[1].object.address == Address(frames[6]));
    REQUIRE(few.dropped.rows.size() == 1);
    CHECK(few.dropped.rows[0].slices_show == 2 * 8 * 3 + names);
}
