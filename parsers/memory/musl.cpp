// A process that runs with musl has its loader, which is also its C library, under a name of its own. A program that
// was linked statically has no such module, and no glibc either; then the allocator's state is looked for in the
// program's data. mallocng (musl 1.2.1 and later) has a random number there, which is repeated at the start of each
// of its pages of metadata, so that an overwritten pointer is noticed:
//
//     secret, init_done (4 bytes), mmap_counter (4), free_meta_head, avail_meta, two counts, a shift, the first and
//     the last page of metadata, …
//
// Its blocks lie in groups that these metadata describe; they are not read. Source: musl 1.2.5,
// src/malloc/mallocng/meta.h.

#include "parsers/memory/musl.h"

#include "parsers/base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::size_t secret_at = 0, init_done_at = 1, first_page_at = 7, last_page_at = 8;  // words
constexpr std::size_t words = 9;

bool is_state(const AddressSpace& memory, const std::byte* at) {
    std::array<std::uint64_t, words> state;
    std::memcpy(state.data(), at, sizeof state);
    const Address first(state[first_page_at]), last(state[last_page_at]);
    if (first.is_null() || last.is_null() || !first.aligned(page) || !last.aligned(page)) return false;
    if (state[secret_at] == 0 || (state[init_done_at] & 0xffffffff) != 1) return false;
    return memory.read<std::uint64_t>(first) == state[secret_at] &&
           memory.read<std::uint64_t>(last) == state[secret_at];
}

bool is_glibc(std::string_view file) { return file.starts_with("libc.so.6") || file.starts_with("libc-2."); }

}  // namespace

bool has_musl(const AddressSpace& memory, std::span<const Module> modules) {
    const auto any = [&](auto&& is_it) {
        return std::any_of(modules.begin(), modules.end(),
                           [&](const Module& module) { return is_it(base_name(module.path)); });
    };
    if (any([](std::string_view file) {
            return file.starts_with("ld-musl-") || file.starts_with("libc.musl-");
        }))
        return true;
    if (any(is_glibc)) return false;
    for (const Module& module : modules) {
        if (!module.is_executable) continue;
        for (const Segment& segment : memory.segments()) {
            if (segment.end() <= module.start) continue;
            if (segment.start >= module.image_end) break;
            if (segment.state != ByteState::in_core || !segment.writable || segment.size < 8 * words)
                continue;
            for (std::uint64_t at = 0; at + 8 * words <= segment.size; at += 8)
                if (is_state(memory, segment.data + at)) return true;
        }
    }
    return false;
}

}  // namespace heapsift
