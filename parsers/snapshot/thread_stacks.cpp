// Stacks hold what earlier functions left behind, so no fact is believed because a word on a stack says so.
//
// A stack is the mapping that contains the thread's stack pointer: the whole mapping, even if a truncated
// core has only its first part. This fails if a signal was handled on an alternate stack (sigaltstack;
// faulthandler's is a malloc block): then that block is a stack, but the heap around it is not, and the
// thread's own stack is elsewhere. The first thread's own stack is still known: the kernel puts the program's
// name at its upper end (AT_EXECFN; getauxval(3)).
//
// Above the stack of any other thread there may be more. Before Linux 6.7 the kernel joins it with what was mapped above it
// (since then a stack's pages are never huge, so the two differ): with Python's arenas, as a rule. A C library puts the thread's
// control block at the stack's upper end, and the thread's fs register leads there: the page that ends behind the block is the
// stack's last. (glibc 2.31 to 2.42: of 0x900 bytes or more, nptl/allocatestack.c; musl: some 200, and 1 KiB for the thread's
// own keys, src/thread/pthread_create.c.)

#include "parsers/snapshot/thread_stacks.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t auxiliary_program_name = 31;  // AT_EXECFN
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t least_control_block = 0x500;
// bytes below the stack pointer that a leaf function may use (System V ABI, x86-64)
constexpr std::uint64_t red_zone = 128;

/// The segment at `index`, joined with a neighbour that touches it if one of the two was not saved: both are
/// parts of one mapping. (What was cut off ends a mapping, so what begins behind it is another.)
AddressRange whole_mapping(std::span<const Segment> segments, std::size_t index) {
    const auto parts_of_one = [&](std::size_t low) {
        const Segment &a = segments[low], &b = segments[low + 1];
        return a.end() == b.start && a.writable == b.writable && a.module < 0 && b.module < 0 &&
               (a.data == nullptr) != (b.data == nullptr) && !a.cut;
    };
    std::size_t first = index, last = index;
    if (first > 0 && parts_of_one(first - 1)) --first;
    if (last + 1 < segments.size() && parts_of_one(last)) ++last;
    return {segments[first].start, segments[last].end()};
}

/// Without what lies above the control block of the thread whose stack this is.
AddressRange up_to_control_block(AddressRange mapping, Address stack_pointer, Address control_block) {
    if (control_block > stack_pointer && mapping.contains(control_block))
        mapping.end = std::min(mapping.end, (control_block + least_control_block).rounded_up(page));
    return mapping;
}

}  // namespace

std::vector<AddressRange> thread_stacks(const CoreFile& core, const Allocations& allocations) {
    std::vector<AddressRange> stacks;
    const auto add = [&](Address address, Address control_block) {
        const MallocHeaps& heaps = allocations.malloc_heaps();
        const Allocator* const other = allocations.other_at(address);
        if (const auto block = heaps.block_containing(address)) {
            stacks.push_back({block->start, block->start + block->usable});
        } else if (other) {
            if (const auto of_other = other->block_at(address)) stacks.push_back(of_other->range());
        } else if (const Segment* segment = core.memory().find(address);
                   segment && segment->writable && !heaps.heap_at(address)) {
            const auto segments = core.memory().segments();
            stacks.push_back(up_to_control_block(
                whole_mapping(segments, static_cast<std::size_t>(segment - segments.data())), address,
                control_block));
        }
    };
    for (const CoreThread& thread : core.threads())
        add(Address(thread.stack_pointer()), Address(thread.fs_base()));
    if (const auto name = core.auxiliary(auxiliary_program_name)) add(Address(*name), Address());
    std::sort(stacks.begin(), stacks.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    return stacks;
}

AddressRange live_part(const CoreFile& core, const AddressRange& stack) {
    Address top;
    for (const CoreThread& thread : core.threads())
        if (const Address pointer(thread.stack_pointer()); stack.contains(pointer))
            top = std::max(top, pointer);
    return {top - stack.start > red_zone && !top.is_null() ? top - red_zone : stack.start, stack.end};
}

}  // namespace heapsift
