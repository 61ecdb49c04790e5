// Most arrays are neither constant nor too wide, and their first kilobytes show it. So an array is read in
// blocks of 4 KiB, and reading stops as soon as nothing can be found any more. First the array is compared
// with itself, shifted by one element: this needs no knowledge of the dtype and no copy of an element (which
// may be gigabytes for a hostile dtype), and it is a memcmp, as fast as memory. Where two elements differ,
// reading of values begins: all elements before are equal to the first.
//
// Values: of integers the smallest and the largest; floats are converted there and back; of strings only the
// longest matters, so only bytes past the longest so far are looked at. An array that ends up listed cannot
// be handled with less than one look at each byte. The loops are plain, over blocks of fixed size, so that
// compilers vectorize them.

#include "analysis/array_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t block_size = 4096;
constexpr std::uint64_t report_every = std::uint64_t{16} << 20;
constexpr std::array<std::byte, block_size> zeros{};

/// A position in the runs.
class RunCursor {
public:
    RunCursor(std::span<const DataRun> runs, std::uint64_t offset) : runs_(runs) { advance(offset); }

    bool at_end() const { return runs_.empty(); }
    bool in_hole() const { return runs_.front().data == nullptr; }
    std::uint64_t here() const { return runs_.front().size - offset_; }  // bytes to the end of the run
    /// At most block_size bytes.
    const std::byte* bytes() const { return in_hole() ? zeros.data() : runs_.front().data + offset_; }
    void advance(std::uint64_t size) {
        while (!runs_.empty() && size >= here()) {
            size -= here();
            runs_ = runs_.subspan(1);
            offset_ = 0;
        }
        if (!runs_.empty()) offset_ += size;
    }

private:
    std::span<const DataRun> runs_;
    std::uint64_t offset_ = 0;
};

/// Adds up what is read, and reports it now and then.
class Meter {
public:
    explicit Meter(const ReadProgress& progress) : progress_(progress) {}
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    ~Meter() {
        if (progress_ && read_ > 0) progress_(read_);
    }
    void add(std::uint64_t bytes) {
        read_ += bytes;
        if (read_ < report_every) return;
        if (progress_) progress_(read_);
        read_ = 0;
    }

private:
    const ReadProgress& progress_;
    std::uint64_t read_ = 0;
};

}  // namespace

std::vector<DataRun> data_runs(const AddressSpace& memory, Address data, std::uint64_t size) {
    std::vector<DataRun> runs;
    const auto add = [&](const std::byte* bytes, std::uint64_t count) {
        if (count > 0) runs.push_back({bytes, count});
    };
    while (size > 0) {
        const Segment* segment = memory.find(data);
        if (!segment || !segment->data) return runs;
        Segment part = *segment;
        part.data += data - segment->start;
        part.size = std::min(size, segment->end() - data);
        std::uint64_t done = 0;
        memory.visit_written(part, [&](std::uint64_t from, std::uint64_t to) {
            from = std::max(from, done);  // stretches extend a little into the hole after them
            if (to <= from) return;
            add(nullptr, from - done);
            add(part.data + from, to - from);
            done = to;
        });
        add(nullptr, part.size - done);
        data = data + part.size;
        size -= part.size;
    }
    return runs;
}

std::uint64_t equal_elements(std::span<const DataRun> runs, std::uint64_t itemsize,
                             const ReadProgress& progress) {
    Meter meter(progress);
    RunCursor before(runs, 0), after(runs, itemsize);
    std::uint64_t equal = itemsize;
    while (!after.at_end()) {
        std::uint64_t size = std::min(before.here(), after.here());
        if (!before.in_hole() || !after.in_hole()) {
            size = std::min(size, block_size);
            const std::byte *a = before.bytes(), *b = after.bytes();
            meter.add(size);
            if (std::memcmp(a, b, size) != 0)
                return (equal + (std::mismatch(a, a + size, b).first - a)) / itemsize;
        }
        equal += size;
        before.advance(size);
        after.advance(size);
    }
    return equal / itemsize;
}

bool all_zero(std::span<const DataRun> runs, std::uint64_t size) {
    for (RunCursor at(runs, 0); size > 0 && !at.at_end();) {
        const std::uint64_t here = std::min({size, at.here(), at.in_hole() ? size : block_size});
        if (!at.in_hole() && std::memcmp(at.bytes(), zeros.data(), here) != 0) return false;
        at.advance(here);
        size -= here;
    }
    return true;
}

namespace {

template <class T, bool swapped>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    if constexpr (swapped && sizeof(T) == 8)
        value = std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
    if constexpr (swapped && sizeof(T) == 4)
        value = std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
    if constexpr (swapped && sizeof(T) == 2)
        value = std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
    return value;
}

/// Calls `add` with 64 elements at a time while that many are left: loops of fixed length are vectorized.
template <class Add>
void in_groups(const std::byte* at, std::uint64_t count, std::uint64_t itemsize, Add add) {
    constexpr std::uint64_t group = 64;
    for (; count >= group; count -= group, at += group * itemsize)
        add(at, std::integral_constant<std::uint64_t, group>());
    for (; count > 0; --count, at += itemsize) add(at, std::integral_constant<std::uint64_t, 1>());
}

std::uint64_t signed_size(std::int64_t low, std::uint64_t high) {
    const auto holds = [&]<class T>(T) { return std::in_range<T>(low) && std::in_range<T>(high); };
    return holds(std::int8_t{}) ? 1 : holds(std::int16_t{}) ? 2 : holds(std::int32_t{}) ? 4 : 8;
}

std::uint64_t unsigned_size(std::uint64_t high) {
    return high >> 8 == 0 ? 1 : high >> 16 == 0 ? 2 : high >> 32 == 0 ? 4 : 8;
}

template <class T, bool swapped>
class IntegerScan {
public:
    static constexpr std::uint64_t itemsize = sizeof(T);

    void add(const std::byte* at, std::uint64_t count) {
        in_groups(at, count, sizeof(T), [&](const std::byte* from, auto group) {
            T low = low_, high = high_;
            for (std::uint64_t i = 0; i < group(); ++i) {
                const T value = load<T, swapped>(from + i * sizeof(T));
                low = std::min(low, value);
                high = std::max(high, value);
            }
            low_ = low;
            high_ = high;
        });
    }
    bool hopeless() const { return smaller().itemsize == sizeof(T); }
    /// With the same signedness if that is as small.
    ElementFormat smaller() const {
        const std::uint64_t high = high_ > T{} ? static_cast<std::uint64_t>(high_) : 0;
        const ElementFormat as_unsigned{'u', unsigned_size(high), swapped};
        if constexpr (std::is_signed_v<T>) {
            const ElementFormat as_signed{'i', signed_size(std::min(low_, T{}), high), swapped};
            return low_ < 0 || as_signed.itemsize <= as_unsigned.itemsize ? as_signed : as_unsigned;
        }
        return as_unsigned;
    }
    std::string range() const {
        const auto low = +low_, high = +high_;
        return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
    }

private:
    T low_ = std::numeric_limits<T>::max(), high_ = std::numeric_limits<T>::min();
};

/// Also for the parts of complex numbers. A NaN stays a NaN, whatever its other bits.
template <bool swapped>
class FloatScan {
public:
    static constexpr std::uint64_t itemsize = 8;

    void add(const std::byte* at, std::uint64_t count) {
        in_groups(at, count, itemsize, [&](const std::byte* from, auto group) {
            std::int64_t changed = 0;
            for (std::uint64_t i = 0; i < group(); ++i) {
                const auto value = load<double, swapped>(from + i * itemsize);
                const auto narrow = static_cast<double>(static_cast<float>(value));
                changed |=
                    static_cast<std::int64_t>(narrow != value) & static_cast<std::int64_t>(value == value);
            }
            changed_ = changed_ || changed != 0;
        });
    }
    bool hopeless() const { return changed_; }

private:
    bool changed_ = false;
};

/// Feeds the scan with elements from number `first` on. One element from a hole is enough, since all of them
/// are equal. An element that the end of a run cuts is put together.
template <class Scan>
void scan_from(std::span<const DataRun> runs, std::uint64_t first, Scan& scan, Meter& meter) {
    std::array<std::byte, Scan::itemsize> torn{};
    std::uint64_t have = 0;
    for (RunCursor at(runs, first * Scan::itemsize); !at.at_end() && !scan.hopeless();) {
        std::uint64_t size = std::min(at.here(), block_size);
        if (have > 0 || size < Scan::itemsize) {
            size = std::min(size, Scan::itemsize - have);
            std::memcpy(torn.data() + have, at.bytes(), size);
            have += size;
            if (have == Scan::itemsize) scan.add(torn.data(), 1);
            have %= Scan::itemsize;
        } else if (at.in_hole()) {
            size = at.here() / Scan::itemsize * Scan::itemsize;
            scan.add(zeros.data(), 1);
        } else {
            scan.add(at.bytes(), size / Scan::itemsize);
            size -= size % Scan::itemsize;
            meter.add(size);
        }
        at.advance(size);
    }
}

template <class Scan>
Scan scan_all(std::span<const DataRun> runs, std::uint64_t first, Meter& meter) {
    Scan scan;
    std::array<std::byte, Scan::itemsize> element{};
    std::uint64_t have = 0;
    for (RunCursor at(runs, 0); have < element.size() && !at.at_end();) {
        const std::uint64_t size = std::min(at.here(), element.size() - have);
        std::memcpy(element.data() + have, at.bytes(), size);
        have += size;
        at.advance(size);
    }
    scan.add(element.data(), 1);
    scan_from(runs, first, scan, meter);
    return scan;
}

template <class T>
ElementFit fit_integers(std::span<const DataRun> runs, ElementFormat format, std::uint64_t first,
                        Meter& meter) {
    const auto fit = [&](const auto& scan) {
        ElementFit result{scan.smaller(), scan.range()};
        if (result.smaller.itemsize == format.itemsize) result.smaller = format;
        return result;
    };
    return format.big_endian ? fit(scan_all<IntegerScan<T, true>>(runs, first, meter))
                             : fit(scan_all<IntegerScan<T, false>>(runs, first, meter));
}

/// Offset of the end of the last byte that is not zero; 0 if all are zero.
std::uint64_t used_bytes(const std::byte* bytes, std::uint64_t size) {
    while (size >= 8 && load<std::uint64_t, false>(bytes + size - 8) == 0) size -= 8;
    while (size > 0 && bytes[size - 1] == std::byte{}) --size;
    return size;
}

/// Length in bytes of the longest string, up to the last character that is not NUL.
std::uint64_t longest_string(std::span<const DataRun> runs, ElementFormat format, std::uint64_t first,
                             Meter& meter) {
    const std::uint64_t unit = format.kind == 'U' ? 4 : 1;
    std::uint64_t longest = 0;
    const auto read = [&](std::uint64_t from, std::uint64_t end) {
        std::uint64_t in_element = 0;  // offset of the next byte in its element
        for (RunCursor at(runs, from); from < end && !at.at_end() && longest < format.itemsize;) {
            const std::uint64_t left = format.itemsize - in_element;
            std::uint64_t size = std::min({at.here(), end - from});
            if (!at.in_hole()) {
                size = std::min({size, left, block_size});
                const std::uint64_t skip = std::min(size, longest > in_element ? longest - in_element : 0);
                const std::uint64_t used = used_bytes(at.bytes() + skip, size - skip);
                if (used > 0) longest = (in_element + skip + used + unit - 1) / unit * unit;
                meter.add(size);
            }
            at.advance(size);
            from += size;
            in_element = (in_element + size) % format.itemsize;
        }
    };
    read(0, format.itemsize);
    read(first * format.itemsize, std::numeric_limits<std::uint64_t>::max());
    return longest;
}

}  // namespace

ElementFit fit_elements(std::span<const DataRun> runs, ElementFormat format, std::uint64_t first,
                        const ReadProgress& progress) {
    Meter meter(progress);
    ElementFit result{format, {}};
    switch (format.kind) {
        case 'i':
            if (format.itemsize == 1) return fit_integers<std::int8_t>(runs, format, first, meter);
            if (format.itemsize == 2) return fit_integers<std::int16_t>(runs, format, first, meter);
            if (format.itemsize == 4) return fit_integers<std::int32_t>(runs, format, first, meter);
            if (format.itemsize == 8) return fit_integers<std::int64_t>(runs, format, first, meter);
            break;
        case 'u':
            if (format.itemsize == 1) return fit_integers<std::uint8_t>(runs, format, first, meter);
            if (format.itemsize == 2) return fit_integers<std::uint16_t>(runs, format, first, meter);
            if (format.itemsize == 4) return fit_integers<std::uint32_t>(runs, format, first, meter);
            if (format.itemsize == 8) return fit_integers<std::uint64_t>(runs, format, first, meter);
            break;
        case 'f':
        case 'c': {
            const std::uint64_t parts = format.kind == 'c' ? 2 : 1;
            if (format.itemsize != 8 * parts) break;
            // From the previous element on, which is equal to the first: it has a second part, too.
            const std::uint64_t from = (first > 0 ? first - 1 : 0) * parts;
            const bool fits = format.big_endian ? !scan_all<FloatScan<true>>(runs, from, meter).hopeless()
                                                : !scan_all<FloatScan<false>>(runs, from, meter).hopeless();
            if (fits) result.smaller.itemsize /= 2;
            break;
        }
        case 'U':
        case 'S':
            if (const std::uint64_t longest = longest_string(runs, format, first, meter); longest > 0)
                result.smaller.itemsize = longest;
            break;
        default:
            break;
    }
    return result;
}

}  // namespace heapsift
