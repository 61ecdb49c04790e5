#include "parsers/emulation/libc_functions.h"

// strlen, memcpy and their like, as the C library would do them.
//
// glibc has several versions of each, and picks one when a program starts: on today's machines those for AVX2
// or AVX-512 (sysdeps/x86_64/multiarch). Unicorn 2 knows neither. So where the emulated code calls the picked
// version, the work is done here, by plain code. What it reads and writes is checked as if it were emulated.

#include <algorithm>
#include <vector>

namespace heapsift {
namespace {

using Arguments = std::array<std::uint64_t, 3>;
using Result = std::optional<std::uint64_t>;

constexpr std::uint64_t longest = 1 << 20, no_limit = ~std::uint64_t{0};

/// The byte at `at`, read a piece at a time.
class Text {
public:
    Text(const GuestMemory& memory, std::uint64_t start) : memory_(memory), start_(start) {}
    std::optional<unsigned char> operator[](std::uint64_t index) {
        if (index > longest) return std::nullopt;
        if (index < from_ || index >= from_ + have_) {
            // No piece crosses a page: the next page need not be there.
            const std::uint64_t at = start_ + index;
            have_ = std::min<std::uint64_t>(piece_.size(), GuestMemory::page - at % GuestMemory::page);
            from_ = index;
            if (!memory_.read(Address(at), piece_.data(), have_)) {
                have_ = 0;
                return std::nullopt;
            }
        }
        return piece_[index - from_];
    }

private:
    const GuestMemory& memory_;
    std::uint64_t start_, from_ = 0, have_ = 0;
    std::array<unsigned char, 64> piece_{};
};

/// Where the first (or last) of `limit` bytes is that is `wanted`; `no_limit` if none is. A text ends with
/// its NUL, if `ends`.
Result search(GuestMemory& memory, std::uint64_t start, unsigned char wanted, std::uint64_t limit, bool ends,
              bool last) {
    Text text(memory, start);
    std::uint64_t found = no_limit;
    for (std::uint64_t i = 0; i < limit; ++i) {
        const auto byte = text[i];
        if (!byte) return std::nullopt;
        if (*byte == wanted) {
            found = i;
            if (!last) return found;
        }
        if (ends && *byte == 0) break;
    }
    return found;
}

Result length(GuestMemory& memory, std::uint64_t start, std::uint64_t limit) {
    const Result end = search(memory, start, 0, limit, true, false);
    return end && *end == no_limit ? limit : end;
}

Result place(Result found, std::uint64_t start) {
    if (!found) return found;
    return *found == no_limit ? 0 : start + *found;
}

Result compare(GuestMemory& memory, const Arguments& a, std::uint64_t limit, bool text) {
    Text one(memory, a[0]), other(memory, a[1]);
    for (std::uint64_t i = 0; i < limit; ++i) {
        const auto x = one[i], y = other[i];
        if (!x || !y) return std::nullopt;
        if (*x != *y) return static_cast<std::uint32_t>(*x - *y);
        if (text && *x == 0) break;
    }
    return 0;
}

Result copy(GuestMemory& memory, const Arguments& a, std::uint64_t result) {
    if (a[2] > longest) return std::nullopt;
    std::vector<std::byte> bytes(a[2]);
    if (!bytes.empty() &&
        (!memory.read(Address(a[1]), bytes.data(), a[2]) || !memory.write(Address(a[0]), bytes.data(), a[2])))
        return std::nullopt;
    return result;
}

Result fill(GuestMemory& memory, const Arguments& a) {
    if (a[2] > longest) return std::nullopt;
    const std::vector<std::byte> bytes(a[2], static_cast<std::byte>(a[1]));
    if (!bytes.empty() && !memory.write(Address(a[0]), bytes.data(), a[2])) return std::nullopt;
    return a[0];
}

unsigned char character(const Arguments& a) { return static_cast<unsigned char>(a[1]); }

constexpr LibcFunction functions[] = {
    {"memcpy", [](GuestMemory& m, const Arguments& a) { return copy(m, a, a[0]); }},
    {"memmove", [](GuestMemory& m, const Arguments& a) { return copy(m, a, a[0]); }},
    {"mempcpy", [](GuestMemory& m, const Arguments& a) { return copy(m, a, a[0] + a[2]); }},
    {"memset", fill},
    {"memcmp", [](GuestMemory& m, const Arguments& a) { return compare(m, a, a[2], false); }},
    {"bcmp", [](GuestMemory& m, const Arguments& a) { return compare(m, a, a[2], false); }},
    {"memchr",
     [](GuestMemory& m, const Arguments& a) {
         return place(search(m, a[0], character(a), a[2], false, false), a[0]);
     }},
    {"memrchr",
     [](GuestMemory& m, const Arguments& a) {
         return place(search(m, a[0], character(a), a[2], false, true), a[0]);
     }},
    {"rawmemchr",
     [](GuestMemory& m, const Arguments& a) {
         return place(search(m, a[0], character(a), no_limit, false, false), a[0]);
     }},
    {"strlen", [](GuestMemory& m, const Arguments& a) { return length(m, a[0], no_limit); }},
    {"strnlen", [](GuestMemory& m, const Arguments& a) { return length(m, a[0], a[1]); }},
    {"strchr",
     [](GuestMemory& m, const Arguments& a) {
         return place(search(m, a[0], character(a), no_limit, true, false), a[0]);
     }},
    {"strrchr",
     [](GuestMemory& m, const Arguments& a) {
         return place(search(m, a[0], character(a), no_limit, true, true), a[0]);
     }},
    {"strchrnul",
     [](GuestMemory& m, const Arguments& a) {
         const Result found = search(m, a[0], character(a), no_limit, true, false);
         if (found && *found != no_limit) return Result(a[0] + *found);
         const Result end = length(m, a[0], no_limit);
         return end ? Result(a[0] + *end) : end;
     }},
    {"strcmp", [](GuestMemory& m, const Arguments& a) { return compare(m, a, no_limit, true); }},
    {"strncmp", [](GuestMemory& m, const Arguments& a) { return compare(m, a, a[2], true); }},
};

}  // namespace

std::span<const LibcFunction> libc_functions() { return functions; }

}  // namespace heapsift
