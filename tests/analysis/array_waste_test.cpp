// Arrays that waste memory, and for each kind one that does not; laid out as in NumPy 1.x.

#include "analysis/array_waste.h"

#include "parsers/numpy/kinds.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Dtype {
    char kind;
    std::int32_t type_num;
    std::int32_t itemsize;
    char order = '<';
    bool has_objects = false;
};
constexpr Dtype bool_{'b', 0, 1, '|'}, int8{'i', 1, 1, '|'}, int16{'i', 3, 2}, uint16{'u', 4, 2},
    int32{'i', 5, 4}, int64{'i', 7, 8}, uint64{'u', 8, 8}, float32{'f', 11, 4}, float64{'f', 12, 8},
    complex128{'c', 15, 16}, objects{'O', 17, 8, '|', true}, date{'M', 21, 8};
constexpr Dtype big(Dtype dtype) {
    dtype.order = '>';
    return dtype;
}
constexpr Dtype bytes(std::int32_t length) { return {'S', 18, length, '|'}; }
constexpr Dtype text(std::int32_t length) { return {'U', 19, 4 * length}; }
constexpr Dtype record(std::int32_t size) { return {'V', 20, size, '|'}; }

template <class T>
std::string packed(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::string repeated(std::size_t count, T value, std::optional<T> last = std::nullopt) {
    std::vector<T> values(count, value);
    if (last) values.back() = *last;
    return packed(values);
}
std::string padded(std::size_t count, const std::string& element, std::size_t itemsize) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += element + std::string(itemsize - element.size(), '\0');
    return all;
}
std::string text_of(std::u32string characters) {
    return {reinterpret_cast<const char*>(characters.data()), 4 * characters.size()};
}

/// Arrays of one axis, unless a test says otherwise; headers at 0x10000, 0x10400, …, data at 0x1000000,
/// 0x1100000, …
class Arrays {
public:
    Arrays() {
        TypeInfo of_array, of_dtype;
        of_array.address = Address(array_type);
        of_array.name = "numpy.ndarray";
        of_array.kind = &ndarray_kind;
        of_array.basicsize = 96;
        of_dtype.address = Address(dtype_type);
        of_dtype.name = "numpy.dtype";
        of_dtype.basicsize = 96;
        heap_.types = {of_array, of_dtype};
        heap_.layout = *builtin_layout({3, 11, false, false});
    }

    static std::uint64_t data_of(std::size_t array) {
        return 0x1000000 + 0x100000 * static_cast<std::uint64_t>(array);
    }

    Arrays& add(Dtype dtype, const std::string& data) {
        const auto count = static_cast<std::int64_t>(data.size()) / std::max(dtype.itemsize, 1);
        core_.load(data_of(count_), data);
        return header(dtype, data_of(count_), {count}, {dtype.itemsize});
    }
    Arrays& header(Dtype dtype, std::uint64_t data, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
        const std::uint64_t at = start + 0x400 * count_++, descr = at + 0x100, dimensions = at + 0x200;
        headers_.resize(0x400 * count_);
        put(at + 8, array_type);
        put(at + 16, data);
        put(at + 24, static_cast<std::int32_t>(shape.size()));
        put(at + 32, dimensions);
        put(at + 40, dimensions + 64);
        put(at + 56, descr);
        put(at + 64, std::uint32_t{4});
        put(descr + 8, dtype_type);
        put(descr + 24, dtype.kind);
        put(descr + 26, dtype.order);
        put(descr + 27, static_cast<char>(dtype.has_objects));
        put(descr + 28, dtype.type_num);
        put(descr + 32, dtype.itemsize);
        for (std::size_t i = 0; i < shape.size(); ++i) {
            put(dimensions + 8 * i, shape[i]);
            put(dimensions + 64 + 8 * i, strides[i]);
        }
        heap_.objects.push_back({Address(at), "numpy.ndarray", facts(112, 128), {}, {}});
        return *this;
    }
    CoreWriter& core() { return core_; }
    std::size_t count() const { return count_; }

    ArrayWasteResult answer(std::size_t limit = 0) {
        CoreWriter writer = core_;
        heap_.core_bytes =
            writer.thread(100, 0).process(100, "python3", "python3").load(start, headers_).bytes();
        std::vector<ObjectId> owners(count_);
        for (std::size_t i = 0; i < count_; ++i) owners[i] = static_cast<ObjectId>(i);
        return array_waste(heap_.build(), owners, limit);
    }

private:
    static constexpr std::uint64_t array_type = 0x800, dtype_type = 0x900, start = 0x10000;

    template <class T>
    void put(std::uint64_t at, T value) {
        put_at(headers_, at - start, value);
    }

    HandmadeHeap heap_;
    CoreWriter core_;
    std::string headers_;
    std::size_t count_ = 0;
};

/// "zero <i8 8", "smaller <i8 100 |i1 -3 to 90"; "nothing"; or what was not read or not saved.
std::string said_of(Dtype dtype, const std::string& data) {
    const ArrayWasteResult result = Arrays().add(dtype, data).answer();
    if (result.not_read > 0) return "not read";
    if (result.not_saved > 0) return "not saved";
    if (result.rows.empty()) return "nothing";
    const ArrayWaste& row = result.rows.front();
    CHECK(row.nbytes == data.size());
    constexpr std::array kinds = {"zero", "constant", "smaller"};
    std::string said = kinds[static_cast<std::size_t>(row.kind)];
    said += " " + row.dtype + " " + std::to_string(row.needed);
    if (!row.suggested.empty()) said += " " + row.suggested;
    if (!row.range.empty()) said += " " + row.range;
    return said;
}

template <class T>
T swapped(T value) {
    std::string all = bytes_of(value);
    std::reverse(all.begin(), all.end());
    std::memcpy(&value, all.data(), sizeof value);
    return value;
}

}  // namespace

TEST_CASE("array waste: all zero, and all but the last byte", "[numpy]") {
    for (const Dtype dtype :
         {bool_, int8, int16, uint64, float32, float64, complex128, date, bytes(16), text(4), record(32)}) {
        const std::string zeros(32 * 1000, '\0');
        CHECK(said_of(dtype, zeros).starts_with("zero "));
        std::string other = zeros;
        other.back() = 1;
        CHECK_FALSE(said_of(dtype, other).starts_with("zero "));
        CHECK_FALSE(said_of(dtype, other).starts_with("constant "));
    }
    CHECK(said_of(float64, repeated(1000, -0.0)) == "constant <f8 8");
    CHECK(said_of(float64, repeated<double>(1000, 0.0, -0.0)) == "smaller <f8 4000 <f4");
}

TEST_CASE("array waste: constant, whatever the dtype; one element that differs at the end", "[numpy]") {
    CHECK(said_of(int64, repeated<std::int64_t>(1000, -7)) == "constant <i8 8 -7");
    CHECK(said_of(bool_, repeated<char>(1000, 1)) == "constant |b1 1");
    CHECK(said_of(bool_, repeated<char>(1000, 1, 0)) == "nothing");
    CHECK(said_of(float64, repeated(1000, 0.1)) == "constant <f8 8");
    CHECK(said_of(float64, repeated<double>(1000, 0.1, 0.2)) == "nothing");
    CHECK(said_of(record(24), padded(1000, "one row of a table", 24)) == "constant |V24 24");
    CHECK(said_of(record(24), padded(1000, "one row of a table", 24) + padded(1, "another", 24)) ==
          "nothing");
    CHECK(said_of({'f', 256, 2}, repeated<std::uint16_t>(1000, 3)) == "constant <f2 2");  // a user's dtype
    CHECK(said_of(text(2), padded(1000, text_of(U"ab"), 8)) == "constant <U2 8");
}

TEST_CASE("array waste: integers go into the smallest dtype that holds the least and the largest",
          "[numpy]") {
    const auto of = [](std::int64_t low, std::int64_t high) {
        return said_of(int64, repeated<std::int64_t>(999, high) + repeated<std::int64_t>(1, low));
    };
    CHECK(of(-128, 127) == "smaller <i8 1000 |i1 -128 to 127");
    CHECK(of(-129, 127) == "smaller <i8 2000 <i2 -129 to 127");
    CHECK(of(-1, 128) == "smaller <i8 2000 <i2 -1 to 128");
    CHECK(of(0, 127) == "smaller <i8 1000 |i1 0 to 127");
    CHECK(of(0, 200) == "smaller <i8 1000 |u1 0 to 200");
    CHECK(of(5, 32768) == "smaller <i8 2000 <u2 5 to 32768");
    CHECK(of(-5, 32768) == "smaller <i8 4000 <i4 -5 to 32768");
    CHECK(of(0, 4294967295) == "smaller <i8 4000 <u4 0 to 4294967295");
    CHECK(of(-1, 4294967295) == "nothing");
    CHECK(of(std::numeric_limits<std::int64_t>::min(), 0) == "nothing");
    CHECK(said_of(uint64, repeated<std::uint64_t>(1000, 100, 255)) == "smaller <u8 1000 |u1 100 to 255");
    CHECK(said_of(uint64, repeated<std::uint64_t>(1000, 1, ~std::uint64_t{0})) == "nothing");
    CHECK(said_of(int8, repeated<std::int8_t>(1000, 1, 2)) == "nothing");
    CHECK(said_of(uint16, repeated<std::uint16_t>(1000, 1, 256)) == "nothing");
    CHECK(said_of(date, repeated<std::int64_t>(1000, 1, 2)) == "nothing");
}

TEST_CASE("array waste: big-endian", "[numpy]") {
    CHECK(said_of(big(int64),
                  repeated<std::int64_t>(1000, swapped<std::int64_t>(-3), swapped<std::int64_t>(300))) ==
          "smaller >i8 2000 >i2 -3 to 300");
    CHECK(said_of(big(int32), repeated<std::int32_t>(1000, 0, swapped<std::int32_t>(200))) ==
          "smaller >i4 1000 |u1 0 to 200");
    CHECK(said_of(big(float64), repeated<double>(1000, swapped(0.5), swapped(0.25))) ==
          "smaller >f8 4000 >f4");
    CHECK(said_of(big(float64), repeated<double>(1000, swapped(0.5), swapped(0.1))) == "nothing");
    std::string first(16, '\0'), second(16, '\0');
    first[3] = 'a';
    second[3] = second[7] = 'b';
    std::string data;
    for (int i = 0; i < 100; ++i) data += i % 2 ? first : second;
    CHECK(said_of(big(text(4)), data) == "smaller >U4 800 >U2");
}

TEST_CASE("array waste: float64 goes into float32 where each value converts exactly", "[numpy]") {
    const auto of = [](double value) { return said_of(float64, repeated<double>(1000, 1.5, value)); };
    const std::string fits = "smaller <f8 4000 <f4";
    CHECK(of(0.1) == "nothing");
    CHECK(of(0.1F) == fits);
    CHECK(of(-0.0) == fits);
    CHECK(of(std::numeric_limits<double>::infinity()) == fits);
    CHECK(of(std::numeric_limits<double>::quiet_NaN()) == fits);
    CHECK(of(1e300) == "nothing");
    CHECK(of(5e-324) == "nothing");
    CHECK(of(0x1p-149) == fits);
    CHECK(of(16777217) == "nothing");
    CHECK(said_of(float32, repeated<float>(1000, 1, 2)) == "nothing");
    CHECK(said_of(complex128, repeated<double>(1000, 1.5, 0.5)) == "smaller <c16 4000 <c8");
    CHECK(said_of(complex128, repeated<double>(1000, 1.5, 0.1)) == "nothing");
    std::string imaginary = repeated<double>(1000, 1.5, 2.5);
    put_at(imaginary, 8, 0.1);  // of the first element, the imaginary part
    CHECK(said_of(complex128, imaginary) == "nothing");
}

TEST_CASE("array waste: strings lose the NULs that all end with", "[numpy]") {
    CHECK(said_of(bytes(20), padded(100, "a", 20) + padded(1, "abcde", 20)) == "smaller |S20 505 |S5");
    CHECK(said_of(bytes(20), padded(100, "a", 20) + padded(1, std::string("a\0c", 3), 20)) ==
          "smaller |S20 303 |S3");
    CHECK(said_of(bytes(20), padded(100, "a", 20) + padded(1, std::string(20, 'x'), 20)) == "nothing");
    CHECK(said_of(text(5), padded(100, text_of(U"a"), 20) + padded(1, text_of(U"\U0001F600b"), 20)) ==
          "smaller <U5 808 <U2");
    CHECK(said_of(text(5), padded(100, text_of(U"a"), 20) + padded(1, text_of(U"abcde"), 20)) == "nothing");
    CHECK(said_of(bytes(9000), padded(3, std::string(4500, 'a'), 9000) + padded(1, "b", 9000)) ==
          "smaller |S9000 18000 |S4500");
}

TEST_CASE("array waste: nothing of arrays too small to save 256 bytes", "[numpy]") {
    CHECK(said_of(int64, "") == "nothing");
    CHECK(said_of(record(1000), std::string(1000, '\0')) == "nothing");
    CHECK(said_of(int64, std::string(256, '\0')) == "nothing");
    CHECK(said_of(int64, std::string(264, '\0')) == "zero <i8 8");
    CHECK(said_of(bytes(0), "") == "nothing");
}

TEST_CASE("array waste: what is not read is counted", "[numpy]") {
    CHECK(said_of(objects, repeated<std::uint64_t>(1000, 0)) == "not read");
    // a record with an object
    CHECK(said_of({'V', 20, 16, '|', true}, repeated<std::uint64_t>(1000, 0)) == "not read");
    CHECK(said_of({'T', 2056, 16, '|'}, repeated<std::uint64_t>(1000, 0)) == "not read");
    Arrays arrays;
    arrays.core().load(Arrays::data_of(0), std::string(8000, '\0'));
    const auto with = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
        arrays.header(int64, Arrays::data_of(0), shape, strides);
    };
    with({10, 100}, {800, 8});
    with({10, 100}, {8, 80});
    with({5, 1, 10, 20}, {8, 12345, 800, 40});
    with({1000}, {16});
    with({1000}, {0});
    with({1000}, {-8});
    with({10, 100}, {800, 800});
    const ArrayWasteResult result = arrays.answer();
    CHECK(result.rows.size() == 3);
    CHECK(result.looked_at == 3);
    CHECK(result.not_read == 4);
}

TEST_CASE("array waste: of data that is not wholly saved nothing is claimed", "[numpy]") {
    Arrays arrays;
    const std::uint64_t at = Arrays::data_of(0);
    arrays.core().load(at, std::string(8192, '\0'), 12288);  // the last page was not saved
    arrays.header(int64, at, {1024}, {8});
    arrays.header(int64, at, {1025}, {8});
    arrays.header(int64, at + 8192, {128}, {8});
    arrays.header(int64, at, {std::int64_t{1} << 50}, {8});
    arrays.header(int64, 0, {1000}, {8});
    arrays.header(int64, ~std::uint64_t{0} - 100, {1000}, {8});
    arrays.header(int64, at, {std::int64_t{1} << 62}, {8});  // its size overflows
    arrays.header(int64, at, {-5}, {8});
    const ArrayWasteResult result = arrays.answer();
    REQUIRE(result.rows.size() == 1);
    CHECK(result.rows[0].nbytes == 8192);
    CHECK(result.looked_at == 1);
    CHECK(result.not_saved == 5);
    CHECK(result.not_read == 2);
}

TEST_CASE("array waste: elements that lie across segments", "[numpy]") {
    Arrays arrays;
    std::string data = repeated<std::int64_t>(3 * 512, 5, 200);
    const std::uint64_t at = Arrays::data_of(0);
    arrays.core()
        .load(at, data.substr(0, 4099))
        .load(at + 4099, data.substr(4099, 3))
        .load(at + 4102, data.substr(4102));
    arrays.header(int64, at, {3 * 512}, {8});
    arrays.header(int64, at + 8, {3 * 512 - 2}, {8});
    const ArrayWasteResult result = arrays.answer();
    REQUIRE(result.rows.size() == 2);
    CHECK(result.rows[0].kind == WasteKind::constant);
    CHECK(result.rows[1].range == "5 to 200");
    CHECK(result.rows[1].suggested == "|u1");
}

TEST_CASE("array waste: rows by what they save, then by address; a limit cuts rows, not totals", "[numpy]") {
    Arrays arrays;
    for (const std::size_t count : {100U, 300U, 200U, 300U})
        arrays.add(int64, repeated<std::int64_t>(count, 1));
    const ArrayWasteResult all = arrays.answer();
    std::vector<ObjectId> order;
    for (const ArrayWaste& row : all.rows) order.push_back(row.array);
    CHECK(order == std::vector<ObjectId>{ObjectId(1), ObjectId(3), ObjectId(2), ObjectId(0)});
    const ArrayWasteResult cut = arrays.answer(2);
    CHECK(cut.rows.size() == 2);
    CHECK(cut.rows[1].array == 3);
    CHECK(cut.total_rows == 4);
    CHECK(cut.total_nbytes == 7200);
    CHECK(cut.total_needed == 32);
}

TEST_CASE("array waste: arrays that all name the same data do not read it for ever", "[numpy]") {
    Arrays arrays;
    const std::uint64_t at = Arrays::data_of(0);
    arrays.core().load(at, std::string(1 << 20, '\0'));
    for (int i = 0; i < 40; ++i) arrays.header(int64, at, {1 << 17}, {8});
    const ArrayWasteResult result = arrays.answer();
    CHECK(result.looked_at >= 4);
    CHECK(result.looked_at <= 6);
    CHECK(result.looked_at + result.not_read == 40);
}
