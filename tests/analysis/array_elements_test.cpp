// Random elements, in random runs and holes, compared with reading one element after the other.

#include "analysis/array_elements.h"

#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace heapsift;

namespace {

__extension__ using Integer = __int128;  // holds what any element holds

std::vector<std::string> elements(const std::string& data, const ElementFormat& format) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < data.size(); at += format.itemsize) {
        all.push_back(data.substr(at, format.itemsize));
        if (format.big_endian && format.kind != 'U' && format.kind != 'S' && format.kind != 'c')
            std::reverse(all.back().begin(), all.back().end());
    }
    return all;
}

Integer integer(const std::string& element, bool is_signed) {
    std::uint64_t value = 0;
    std::memcpy(&value, element.data(), element.size());
    const auto shift = 64 - 8 * element.size();
    if (!is_signed) return value;
    return static_cast<std::int64_t>(value << shift) >> shift;
}

/// The smallest itemsize and its kind, as "i2".
std::string naive_fit(const std::string& data, const ElementFormat& format) {
    const auto answer = [](char kind, std::uint64_t size) { return kind + std::to_string(size); };
    const auto all = elements(data, format);
    if (format.kind == 'i' || format.kind == 'u') {
        for (const std::uint64_t size : {1, 2, 4, 8})
            for (const char kind : {'i', 'u'}) {
                if (format.kind == 'u' && kind == 'i') continue;
                const Integer one = 1;
                const Integer low = kind == 'i' ? -(one << (8 * size - 1)) : 0;
                const Integer high = (one << (8 * size - (kind == 'i' ? 1 : 0))) - 1;
                if (std::all_of(all.begin(), all.end(), [&](const std::string& element) {
                        const Integer value = integer(element, format.kind == 'i');
                        return value >= low && value <= high;
                    }))
                    return answer(size == format.itemsize ? format.kind : kind, size);
            }
    }
    if (format.kind == 'f' || format.kind == 'c') {
        ElementFormat part = format;
        part.kind = 'f';
        part.itemsize = 8;
        for (const std::string& element : elements(data, part)) {
            double value = 0;
            std::memcpy(&value, element.data(), 8);
            if (!std::isnan(value) && static_cast<double>(static_cast<float>(value)) != value)
                return answer(format.kind, format.itemsize);
        }
        return answer(format.kind, format.itemsize / 2);
    }
    const std::uint64_t unit = format.kind == 'U' ? 4 : 1;
    std::uint64_t longest = 0;
    for (const std::string& element : all)
        for (std::uint64_t i = 0; i < element.size(); ++i)
            if (element[i] != 0) longest = std::max(longest, i / unit * unit + unit);
    return answer(format.kind, longest == 0 ? format.itemsize : longest);
}

std::uint64_t naive_equal(const std::string& data, std::uint64_t itemsize) {
    std::uint64_t equal = 1;
    while (equal * itemsize < data.size() && data.compare(equal * itemsize, itemsize, data, 0, itemsize) == 0)
        ++equal;
    return equal;
}

/// Data cut anywhere; stretches of zeros are often holes.
std::vector<DataRun> random_runs(std::mt19937& random, const std::string& data) {
    std::vector<DataRun> runs;
    for (std::size_t at = 0; at < data.size();) {
        const std::size_t size =
            std::min<std::size_t>(data.size() - at, 1 + random() % (random() % 3 ? 20 : 9000));
        const bool zero = data.find_first_not_of('\0', at) >= at + size;
        runs.push_back(
            {zero && random() % 2 ? nullptr : reinterpret_cast<const std::byte*>(data.data()) + at, size});
        at += size;
    }
    return runs;
}

std::string random_element(std::mt19937& random, const ElementFormat& format) {
    std::string element(format.itemsize, '\0');
    if (format.kind == 'f' || format.kind == 'c') {
        for (std::uint64_t at = 0; at < format.itemsize; at += 8) {
            double value = static_cast<float>(random()) / 7.0F;
            if (random() % 300 == 0) value = NAN;
            if (random() % 400 == 0) value = INFINITY;
            if (random() % 3000 == 0) value = 0.1;
            std::memcpy(element.data() + at, &value, 8);
            if (format.big_endian) std::reverse(element.begin() + at, element.begin() + at + 8);
        }
        return element;
    }
    const bool number = format.kind == 'i' || format.kind == 'u';
    const std::size_t used =
        number ? std::min<std::size_t>(format.itemsize, random() % 500 ? 1 : 1 + random() % 8)
               : random() % (format.itemsize / (random() % 300 ? 2 : 1) + 1);
    for (std::size_t i = 0; i < used; ++i) element[i] = static_cast<char>(random() % 200);
    if (number && random() % 400 == 0)
        for (std::size_t i = used; i < element.size(); ++i) element[i] = -1;
    if (number && format.big_endian) std::reverse(element.begin(), element.end());
    return element;
}

}  // namespace

TEST_CASE("array elements: as one after the other, on random data", "[numpy]") {
    std::mt19937 random(7);
    const std::vector<ElementFormat> formats = {{'i', 1}, {'i', 2},  {'i', 4}, {'i', 8},  {'u', 1},
                                                {'u', 2}, {'u', 4},  {'u', 8}, {'f', 8},  {'c', 16},
                                                {'S', 1}, {'S', 13}, {'U', 4}, {'U', 40}, {'S', 5000}};
    for (int round = 0; round < 3000; ++round) {
        ElementFormat format = formats[random() % formats.size()];
        format.big_endian = random() % 3 == 0 && format.itemsize > 1;
        const std::size_t count = 2 + random() % (format.itemsize > 100 ? 10 : random() % 5 ? 300 : 3000);
        std::string data;
        const std::string common =
            random() % 3 ? std::string(format.itemsize, '\0') : random_element(random, format);
        const bool mostly_common = random() % 2 == 0;
        while (data.size() < count * format.itemsize)
            data += mostly_common && random() % 500 ? common : random_element(random, format);
        const std::vector<DataRun> runs = random_runs(random, data);
        const std::uint64_t equal = equal_elements(runs, format.itemsize);
        INFO(round << " " << format.kind << format.itemsize << " " << count);
        REQUIRE(equal == naive_equal(data, format.itemsize));
        REQUIRE(all_zero(runs, format.itemsize) == (data.find_first_not_of('\0') >= format.itemsize));
        const ElementFit fit = fit_elements(runs, format, equal);
        REQUIRE(fit.smaller.kind + std::to_string(fit.smaller.itemsize) == naive_fit(data, format));
        if ((format.kind == 'i' || format.kind == 'u') && fit.smaller.itemsize < format.itemsize &&
            equal < count) {
            Integer low = integer(elements(data, format)[0], format.kind == 'i'), high = low;
            for (const std::string& element : elements(data, format)) {
                low = std::min(low, integer(element, format.kind == 'i'));
                high = std::max(high, integer(element, format.kind == 'i'));
            }
            REQUIRE(fit.range == std::to_string(static_cast<std::int64_t>(low)) + " to " +
                                     std::to_string(static_cast<std::int64_t>(high)));
        }
    }
}

TEST_CASE("array elements: an array that has nothing in common is left after a block", "[numpy]") {
    std::mt19937_64 random(3);
    std::vector<std::uint64_t> values(1 << 16);
    for (std::uint64_t& value : values) value = random();
    const std::vector<DataRun> runs = {
        {reinterpret_cast<const std::byte*>(values.data()), 8 * values.size()}};
    for (const ElementFormat& format :
         {ElementFormat{'i', 8}, {'u', 4}, {'i', 2}, {'f', 8}, {'c', 16}, {'U', 32}, {'S', 7}}) {
        std::uint64_t read = 0;
        const ReadProgress sum = [&](std::uint64_t bytes) { read += bytes; };
        fit_elements(runs, format, equal_elements(runs, format.itemsize, sum), sum);
        CHECK(read <= 2 * 4096);
    }
}

TEST_CASE("array elements: holes are not read, and end what is saved nowhere", "[numpy]") {
    std::vector<std::byte> bytes(64 * 4096);
    bytes[4095] = std::byte{1};
    Segment segment;
    segment.start = Address(0x10000);
    segment.size = bytes.size();
    segment.data = bytes.data();
    segment.state = ByteState::in_core;
    AddressSpace space({segment});
    space.set_holes({std::span<const std::byte>(bytes).subspan(4096, 8192),
                     std::span<const std::byte>(bytes).subspan(16384)});
    const auto sizes = [&](std::uint64_t at, std::uint64_t size) {
        std::vector<std::int64_t> found;  // negative: of a hole
        for (const DataRun& run : data_runs(space, Address(at), size))
            found.push_back(run.data ? static_cast<std::int64_t>(run.size)
                                     : -static_cast<std::int64_t>(run.size));
        return found;
    };
    using Sizes = std::vector<std::int64_t>;
    CHECK(sizes(0x10000, bytes.size()) == Sizes{4103, -8185, 4103, -(60 * 4096 - 7)});
    CHECK(sizes(0x10000 + 4000, 100) == Sizes{100});
    CHECK(sizes(0x10000 + 5000, 100) == Sizes{-100});
    CHECK(sizes(0x10000 + 62 * 4096, 1 << 20) == Sizes{-8192});
    CHECK(sizes(0x8000, 100).empty());
}
