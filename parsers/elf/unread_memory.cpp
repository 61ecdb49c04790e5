// gcore copies a mapping piece by piece, and stops at the first that it cannot read; what is left of the mapping
// becomes zeros in the file, and no header says so. Since glibc 2.42 that happens to every thread but the first:
// its stack and the guard below it are one mapping, in which the guard is marked by madvise (MADV_GUARD_INSTALL,
// Linux 6.13) and cannot be read. What the kernel joined to such a stack, an arena say, is lost with it.
//
// Such a stack is recognised by its end. There is the thread's control block, whose first word is its own address
// (x86-64 ABI, thread-local storage, variant II) and so not zero in a thread that runs; nor are the words above its
// stack pointer all zeros, since the functions to return to stand there.
//
// Source: gdb's gcore.c (gcore_copy_callback); glibc's nptl/allocatestack.c and the x86-64 tls.h at 2.42.

#include "parsers/elf/unread_memory.h"

#include "parsers/base/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <vector>

namespace heapsift {
namespace {

constexpr std::uint64_t page = 4096;

bool holds(const LoadHeader& load, std::uint64_t address) {
    return address >= load.start.value && address - load.start.value < load.saved.size();
}

/// How many bytes stand before the zeros at the end.
std::uint64_t without_zeros(Bytes bytes) {
    std::uint64_t size = bytes.size();
    while (size % 8 != 0 && bytes[size - 1] == std::byte{0}) --size;
    if (size % 8 != 0) return size;
    for (; size > 0; size -= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + size - 8, 8);
        if (word != 0) break;
    }
    return size;
}

}  // namespace

void leave_out_unread_stacks(const std::string& path, std::span<const CoreThread> threads,
                             CoreHeaders& headers, Diagnostics& diagnostics) {
    if (!headers.has_section_headers) return;
    std::uint64_t stacks = 0, lost = 0;
    std::vector<AddressRange> left_out;
    for (const CoreThread& thread : threads) {
        if (std::any_of(left_out.begin(), left_out.end(), [&](const AddressRange& range) {
                return range.contains(Address(thread.stack_pointer()));
            })) {
            ++stacks;  // another's, in the same mapping
            continue;
        }
        for (LoadHeader& load : headers.loads) {
            if (!load.writable || !holds(load, thread.fs_base()) || !holds(load, thread.stack_pointer()))
                continue;
            const std::uint64_t control = thread.fs_base() - load.start.value;
            std::uint64_t first_word = 0;
            if (load.saved.size() - control < sizeof first_word) break;
            std::memcpy(&first_word, load.saved.data() + control, sizeof first_word);
            if (first_word != 0) break;
            const std::uint64_t kept = (without_zeros(load.saved) + page - 1) / page * page;
            if (kept > std::min(control, thread.stack_pointer() - load.start.value)) break;
            lost += load.saved.size() - kept;
            left_out.push_back({load.start + kept, load.start + load.saved.size()});
            ++stacks;
            load.saved = load.saved.first(kept);
            break;
        }
    }
    if (stacks == 0) return;
    headers.cut_bytes = headers.cut_bytes > UINT64_MAX - lost ? UINT64_MAX : headers.cut_bytes + lost;
    diagnostics.add(
        "stack-unread",
        fmt::format(
            "{}: gdb could not read {} and wrote zeros ({}): newer versions of glibc have guards there; "
            "a core that the kernel writes has {}",
            escape_for_terminal(path),
            stacks == 1 ? "the stack of a thread" : fmt::format("the stacks of {} threads", stacks),
            fmt::format("{:.1f} MiB", static_cast<double>(lost) / (1 << 20)), stacks == 1 ? "it" : "them"),
        Severity::damage);
}

}  // namespace heapsift
