#include "parsers/snapshot/owned_memory.h"

#include "parsers/memory/region_map.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t believed_bytes = 512;

}  // namespace

class PlaceCollector final : public PlaceVisitor {
public:
    explicit PlaceCollector(const Allocations& allocations)
        : allocations_(allocations), pymalloc_(allocations.pymalloc()) {
        std::uint64_t blocks = 0;
        for (const Pool& pool : pymalloc_.pools()) {
            places_.first_block_.push_back(blocks);
            blocks += pool.carved;
        }
        places_.blocks_.assign(blocks / 64 + 1, 0);
    }

    void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) override {
        if (const Pool* pool = pymalloc_.pool_at(start))
            add_pool_block(*pool, start);
        else if (bytes > 0)
            add_place(start, bytes, held);
        if (role != Role::array_data) return;
        const std::uint64_t there = held.whole ? bytes : std::min(bytes, held.bytes);
        if (there > 0 && start + there > start) places_.array_data_.push_back({start, start + there});
    }

    OwnedPlaces finish() {
        join_ranges(places_.ranges_);
        places_.ranges_.shrink_to_fit();
        places_.overlaps_ += join_ranges(places_.array_data_);
        return std::move(places_);
    }

private:
    void add_pool_block(const Pool& pool, Address start) {
        const std::uint64_t offset =
            start - pool.start - std::min<std::uint64_t>(pymalloc_.header_size(), start - pool.start);
        const std::uint32_t block =
            static_cast<std::uint32_t>(offset) / pool.block_size;  // 64 bits take longer
        if (block >= pool.carved) return;
        const auto index = static_cast<std::size_t>(&pool - pymalloc_.pools().data());
        const std::uint64_t at = places_.first_block_[index] + block;
        const std::uint64_t bit = std::uint64_t{1} << (at % 64);
        places_.overlaps_ += places_.blocks_[at / 64] & bit ? 1 : 0;
        places_.blocks_[at / 64] |= bit;
    }

    void add_place(Address start, std::uint64_t bytes, const Allocations::Held& held) {
        if (held.bytes > 0 && !allocations_.in_divided_memory(start) && start + held.bytes > start)
            places_.elsewhere_.push_back({start, start + held.bytes});
        // A false length must not claim the neighbours' memory; a small one cannot claim much.
        if (bytes > believed_bytes && (!held.whole || held.bytes < bytes))
            if (const Allocations::Held real = allocations_.held(start, bytes); !real.whole)
                bytes = real.bytes;
        if (start + bytes > start) places_.ranges_.push_back({start, start + bytes});
    }

    const Allocations& allocations_;
    const Pymalloc& pymalloc_;
    OwnedPlaces places_;
};

namespace {

/// Calls `look` with each object, and prefetches what it will read of the next ones.
template <class Look>
void for_each_object(const char* pass, const FoundObjects& objects, const ObjectAccess& access,
                     const ProgressCallback& progress, Look look) {
    constexpr std::size_t ahead = 16, stride = 1 << 20;
    const TypeTable& table = access.heap().types();
    const std::size_t count = objects.addresses.size();
    if (progress && count == 0) progress(pass, 0);
    for (std::size_t i = 0; i < count; ++i) {
        if (progress && i % stride == 0) progress(pass, static_cast<double>(i) / static_cast<double>(count));
        if (i + ahead < count)
            access.fetch_parts(objects.addresses[i + ahead], table[objects.types[i + ahead]]);
        look(objects.addresses[i], table[objects.types[i]]);
    }
}

}  // namespace

OwnedMemory measure_objects(const FoundObjects& objects, const ObjectAccess& access,
                            const ProgressCallback& progress) {
    PlaceCollector places(access.allocations());
    SizeColumnBuilder sizes;
    sizes.reserve(objects.addresses.size());
    for_each_object("sizes", objects, access, progress, [&](Address object, const TypeInfo& type) {
        sizes.add(access.sizes(object, type, &places));
    });
    return {sizes.finish(), places.finish()};
}

OwnedPlaces find_places(const FoundObjects& objects, const ObjectAccess& access,
                        const ProgressCallback& progress) {
    PlaceCollector places(access.allocations());
    for_each_object("places", objects, access, progress,
                    [&](Address object, const TypeInfo& type) { access.visit_places(object, type, places); });
    return places.finish();
}

}  // namespace heapsift
