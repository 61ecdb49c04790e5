// A freed block goes to a stack that its thread keeps for each size class, up to some hundred blocks of each, and
// the slab's bits still show it as in use.
//
// The stacks' heads are in thread-local storage: somewhere below the thread's fs register or, for a jemalloc in a
// library that was loaded later, in a block that the thread's vector of such blocks names (dtv, at fs + 8). What
// proves a cache is the descriptor by which its arena knows it, a link in a ring, followed by the address of the
// cache's bins. Since 5.3 the word before the bins leads back to the struct that holds the descriptor; before, the
// descriptor lies between the small bins and the large ones and has the addresses of both. From there the ring leads
// to the other caches of the arena, also those that a program has made for itself.
//
// A bin of 5.3 has the address of the top of its stack, and the low 16 bits of its bottom; one of 5.2 a count and the
// address of the bottom. The tables of the stacks hold the addresses of blocks that were given out again, too.
//
// Source: jemalloc's tcache_structs.h, cache_bin.h, tsd.h (5.2.1, 5.3.0, 5.3.1).

#include "parsers/memory/jemalloc_caches.h"

#include <algorithm>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t below_fs = 64 << 10, in_a_block = 8 << 10;
constexpr std::uint64_t most_modules = 4096, most_caches = 1 << 14, most_in_stack = 1 << 16,
                        most_blocks = 1 << 23;
constexpr std::uint64_t apart = 8192;  // a thread's part of jemalloc is smaller
// 5.3: descriptor (next, previous, bins) in the struct that the word before the bins leads to.
constexpr std::uint64_t descriptor_at = 16, bins_in_descriptor = 16;
constexpr unsigned bin_bytes = 24;
constexpr unsigned bins_5_3_0 = 73, bins_5_3_1 = 41;  // tcache_types.h, TCACHE_NBINS_MAX

class CacheSearch {
public:
    CacheSearch(const AddressSpace& memory, JemallocVersion version) : memory_(memory), version_(version) {}

    JemallocCaches find(std::span<const CoreThread> threads) {
        for (const CoreThread& thread : threads) {
            const Address fs(thread.fs_base());
            if (fs.value < below_fs || !fs.aligned(8)) continue;
            look_in({fs - below_fs, fs});
            const auto vector = memory_.read_address(fs + 8);
            if (!vector || vector->value < 16) continue;
            const std::uint64_t count =
                std::min(memory_.read<std::uint64_t>(*vector - 16).value_or(0), most_modules);
            for (std::uint64_t i = 1; i <= count; ++i)
                if (const auto block = memory_.read_address(*vector + 16 * i); block && block->aligned(8))
                    look_in({*block, *block + in_a_block});
        }
        for (std::size_t i = 0; i < descriptors_.size() && descriptors_.size() < most_caches; ++i)
            follow_ring(descriptors_[i]);
        std::sort(descriptors_.begin(), descriptors_.end());
        descriptors_.erase(std::unique(descriptors_.begin(), descriptors_.end()), descriptors_.end());
        for (const Address descriptor : descriptors_) take(descriptor);
        return std::move(found_);
    }

private:
    std::uint64_t word(Address at) const { return memory_.read<std::uint64_t>(at).value_or(0); }

    /// Looks for descriptors, by the address of bins in them.
    void look_in(const AddressRange& range) {
        for (Address at = range.start; at < range.end; at = at + 8) {
            const Address bins(word(at));
            if (bins.is_null() || !bins.aligned(8) || (bins - at >= apart && at - bins >= apart)) continue;
            const Address descriptor = at - bins_in_descriptor;
            if (is_descriptor(descriptor)) descriptors_.push_back(descriptor);
        }
    }

    bool is_descriptor(Address descriptor) const {
        if (!descriptor.aligned(8)) return false;
        const Address next(word(descriptor)), previous(word(descriptor + 8));
        if (word(next + 8) != descriptor.value || word(previous) != descriptor.value) return false;
        const Address bins(word(descriptor + bins_in_descriptor));
        if (bins.is_null() || !bins.aligned(8)) return false;
        if (version_ == JemallocVersion::v5_3) return word(bins - 8) == descriptor.value - descriptor_at;
        // Behind the small bins lie links, and then the descriptor; behind that the large bins.
        const Address large(word(descriptor + bins_in_descriptor + 8));
        const std::uint64_t small_bytes = std::uint64_t{jemalloc_slab_classes} * bin_bytes;
        return large.aligned(8) && descriptor - bins >= small_bytes &&
               descriptor - bins < small_bytes + 128 && large > descriptor && large - descriptor < 256;
    }

    void follow_ring(Address first) {
        Address at(word(first));
        while (at != first && descriptors_.size() < most_caches && is_descriptor(at) &&
               std::find(descriptors_.begin(), descriptors_.end(), at) == descriptors_.end()) {
            descriptors_.push_back(at);
            at = Address(word(at));
        }
    }

    void take(Address descriptor) {
        ++found_.caches;
        const Address bins(word(descriptor + bins_in_descriptor));
        if (version_ == JemallocVersion::v5_3) {
            const unsigned count = counts_room(bins) ? bins_5_3_1 : bins_5_3_0;
            for (unsigned i = 0; i < count; ++i) take_bin_5_3(bins + i * bin_bytes, i);
            return;
        }
        const Address large(word(descriptor + bins_in_descriptor + 8));
        for (unsigned i = 0; i < jemalloc_classes; ++i)
            if (!take_bin_5_2(i < jemalloc_slab_classes ? bins + i * bin_bytes
                                                        : large + (i - jemalloc_slab_classes) * bin_bytes,
                              i))
                break;
    }

    /// Since 5.3.1 a bin ends with how many blocks it has room for; before, with two bytes that are 0.
    bool counts_room(Address bins) const {
        for (unsigned i = 0; i < jemalloc_slab_classes; ++i)
            if (memory_.read<std::uint16_t>(bins + i * bin_bytes + 22).value_or(0) != 0) return true;
        return false;
    }

    /// stack_head, a count of requests, and 16 bits each: of the top when it was lowest, of a full stack's top, of
    /// the bottom.
    void take_bin_5_3(Address bin, unsigned size_class) {
        const Address top(word(bin));
        if (top.is_null() || !top.aligned(8)) return;
        const auto bottom = memory_.read<std::uint16_t>(bin + 20);
        if (!bottom) return;
        const std::uint64_t bytes = (*bottom - top.value) & 0xffff;
        if (size_class == 0) found_.tables.push_back(top + bytes - 8);
        take_stack(top, bytes / 8, size_class);
    }

    /// Two 32-bit counts, the second how many there are; a count of requests; avail, the end of the stack. False if
    /// there is no such bin.
    bool take_bin_5_2(Address bin, unsigned size_class) {
        const std::uint64_t count = word(bin) >> 32;
        const Address end(word(bin + 16));
        if (end.is_null() || !end.aligned(8) || count > most_in_stack) return false;
        if (size_class == 0) found_.tables.push_back(end - 8);
        take_stack(end - 8 * count, count, size_class);
        return true;
    }

    void take_stack(Address top, std::uint64_t count, unsigned size_class) {
        for (std::uint64_t i = 0; i < count && found_.blocks.size() < most_blocks; ++i) {
            const auto block = memory_.read_address(top + 8 * i);
            if (!block) return;
            found_.blocks.push_back({*block, static_cast<std::uint8_t>(size_class)});
        }
    }

    const AddressSpace& memory_;
    JemallocVersion version_;
    JemallocCaches found_;
    std::vector<Address> descriptors_;
};

}  // namespace

JemallocCaches find_jemalloc_caches(const AddressSpace& memory, std::span<const CoreThread> threads,
                                    JemallocVersion version) {
    return CacheSearch(memory, version).find(threads);
}

}  // namespace heapsift
