#include "parsers/emulation/guest_memory.h"

// The core and the module files are mapped in this process already, and their pages are given to the emulator
// where they lie: nothing is copied, so emulation takes no memory worth counting, whatever the size of the
// heap. They are given read-only. What the emulated code may write is its stack and its output. Code of a
// core is not to be trusted: what it could write into the heap, the code that runs after it would read. (A
// type's tp_traverse has nothing to write. The few that do, where the dynamic linker has not bound a function
// yet, count as failed.)
//
// Segments that continue each other, in the process and in the core, are given as one: an emulator's cost
// grows faster than the number of its regions. The last page of a module's file is not a whole one in the
// file; the loader fills it with zeros, and so does the copy that is made of it.

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t code_bytes = GuestMemory::page, stack_bytes = 1 << 20,
                        calls_bytes = 16 * GuestMemory::calls_at_once,
                        ends_bytes = 8 * GuestMemory::calls_at_once,
                        visits_bytes = 8 * GuestMemory::most_visits;
constexpr std::uint64_t gap = 1 << 20;  // unmapped, between the parts of the room
constexpr std::uint64_t user_end = std::uint64_t{1} << 47;

bool continues(const Segment& before, const Segment& after) {
    return before.data && after.data && before.end() == after.start &&
           before.data + before.size == after.data && before.state == after.state &&
           before.executable == after.executable && before.size % GuestMemory::page == 0;
}

}  // namespace

std::unique_ptr<GuestMemory> GuestMemory::of(const AddressSpace& process) {
    std::unique_ptr<GuestMemory> memory(new GuestMemory(process));
    if (!memory->make_room()) return nullptr;
    return memory;
}

GuestMemory::~GuestMemory() {
    if (reserved_) ::munmap(reserved_, reserved_bytes_);
}

bool GuestMemory::make_room() {
    struct Part {
        std::uint64_t bytes;
        bool writable, executable;
    };
    const Part parts[] = {{code_bytes, false, true},   {stack_bytes, true, false},
                          {calls_bytes, false, false}, {ends_bytes, true, false},
                          {visits_bytes, true, false}, {most_copied, false, false}};
    std::uint64_t wanted = gap;
    for (const Part& part : parts) wanted += part.bytes + gap;
    // Processes leave most of the lower 128 TiB free: look at every hundredth of it.
    Address start;
    constexpr std::uint64_t tries = 100;
    for (std::uint64_t i = 1; i < tries && start.is_null(); ++i) {
        const Address at = Address(user_end / tries * i).rounded_down(1 << 20);
        if (process_.mapped_bytes(at, 1) != 0) continue;
        const auto segments = process_.segments();
        const auto next = std::upper_bound(segments.begin(), segments.end(), at,
                                           [](Address a, const Segment& s) { return a < s.start; });
        if (next == segments.end() || next->start - at >= wanted) start = at;
    }
    if (start.is_null()) return false;
    void* const where =
        ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (where == MAP_FAILED) return false;
    reserved_ = static_cast<std::byte*>(where);
    reserved_bytes_ = wanted;
    std::uint64_t at = gap;
    for (const Part& part : parts) {
        own_.push_back(
            {{start + at, start + at + part.bytes}, reserved_ + at, part.writable, part.executable});
        at += part.bytes + gap;
    }
    room_ = {own_[0].range.start, own_[1].range.end,   own_[2].range.start,
             own_[3].range.start, own_[4].range.start, own_[5].range.start};
    return true;
}

const GuestMemory::Own* GuestMemory::own_at(Address address, std::uint64_t size) const {
    for (const Own& own : own_)
        if (own.range.contains(address) && own.range.end - address >= size) return &own;
    return nullptr;
}

std::span<std::byte> GuestMemory::own(Address address, std::uint64_t size) {
    const Own* const own = own_at(address, size);
    if (!own) return {};
    return {own->bytes + (address - own->range.start), size};
}

std::optional<GuestRegion> GuestMemory::region_at(Address address) {
    if (const Own* const own = own_at(address, 1))
        return GuestRegion{own->range.start, own->range.size(), own->bytes, own->writable, own->executable};
    if (address.value >= user_end) return std::nullopt;
    const Segment* const found = process_.find(address);
    if (!found || !found->data) return std::nullopt;
    const auto segments = process_.segments();
    auto first = static_cast<std::size_t>(found - segments.data()), last = first;
    while (first > 0 && continues(segments[first - 1], segments[first])) --first;
    while (last + 1 < segments.size() && continues(segments[last], segments[last + 1])) ++last;
    const Address start = segments[first].start.rounded_up(page),
                  end = segments[last].end().rounded_down(page);
    if (address < start) return std::nullopt;
    if (address >= end) return last_page(segments[last], address);
    return GuestRegion{start, end - start, segments[first].data + (start - segments[first].start), false,
                       found->executable};
}

bool GuestMemory::make_writable(const GuestRegion& region) {
    const auto start = reinterpret_cast<std::uintptr_t>(region.bytes) & ~(page - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(region.bytes) + region.size;
    return ::mprotect(reinterpret_cast<void*>(start), end - start, PROT_READ | PROT_WRITE) == 0;
}

std::optional<GuestRegion> GuestMemory::last_page(const Segment& segment, Address address) {
    const Address start = address.rounded_down(page);
    if (segment.state != ByteState::from_file || segment.start > start) return std::nullopt;
    const Segment* const after = process_.find(segment.end());
    if (after && after->data && after->start < start + page) return std::nullopt;
    std::vector<std::byte>& bytes = last_pages_[start];
    if (bytes.empty()) {
        bytes.resize(page);
        std::memcpy(bytes.data(), segment.data + (start - segment.start), segment.end() - start);
    }
    return GuestRegion{start, page, bytes.data(), false, segment.executable};
}

bool GuestMemory::read(Address address, void* out, std::uint64_t size) const {
    if (const Own* const own = own_at(address, size)) {
        std::memcpy(out, own->bytes + (address - own->range.start), size);
        return true;
    }
    return process_.read_bytes(address, out, size);
}

bool GuestMemory::write(Address address, const void* bytes, std::uint64_t size) {
    const Own* const own = own_at(address, size);
    if (!own) return write_elsewhere_ && write_elsewhere_(address, bytes, size);
    if (!own->writable) return false;
    std::memcpy(own->bytes + (address - own->range.start), bytes, size);
    return true;
}

}  // namespace heapsift
