#include "parsers/snapshot/owned_memory.h"

#include "parsers/base/in_pieces.h"
#include "parsers/memory/region_map.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace heapsift {

namespace {

constexpr std::uint64_t believed_bytes = 512;
constexpr std::size_t objects_a_piece = 1 << 16;

}  // namespace

/// All that the pieces of a pass have found. Blocks of pools are marked by all threads at once.
class PlaceCollector {
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

    /// The places of one piece of the objects.
    class Piece final : public PlaceVisitor {
    public:
        explicit Piece(PlaceCollector& all) : all_(all) {}

        void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) override {
            if (held.pool)
                add_pool_block(*held.pool, start);
            else if (bytes > 0 || held.bytes > held.before)
                // realloc() to nothing leaves a block behind, as under an emptied list.
                add_place(start, std::max<std::uint64_t>(bytes, 1), held);
            if (role != Role::array_data) return;
            const std::uint64_t there = held.whole ? bytes : std::min(bytes, held.bytes);
            if (there > 0 && start + there > start) array_data_.push_back({start, start + there});
        }

    private:
        friend class PlaceCollector;
        void add_pool_block(const Pool& pool, Address start) {
            const std::uint64_t offset =
                start - pool.start -
                std::min<std::uint64_t>(all_.pymalloc_.header_size(), start - pool.start);
            const std::uint32_t block =
                static_cast<std::uint32_t>(offset) / pool.block_size;  // 64 bits take longer
            if (block >= pool.carved) return;
            const auto index = static_cast<std::size_t>(&pool - all_.pymalloc_.pools().data());
            const std::uint64_t at = all_.places_.first_block_[index] + block;
            const std::uint64_t bit = std::uint64_t{1} << (at % 64);
            std::uint64_t& word = all_.places_.blocks_[at / 64];
            // What a locked instruction costs, one thread need not pay.
            const std::uint64_t before = all_.shared_
                                             ? std::atomic_ref(word).fetch_or(bit, std::memory_order_relaxed)
                                             : std::exchange(word, word | bit);
            overlaps_ += before & bit ? 1 : 0;
        }

        void add_place(Address start, std::uint64_t bytes, const Allocations::Held& held) {
            const std::uint64_t behind = held.bytes - std::min(held.before, held.bytes);
            if (behind > 0 && !all_.allocations_.in_divided_memory(start) && start + behind > start)
                elsewhere_.push_back({start, start + behind});
            // A false length must not claim the neighbours' memory; a small one cannot claim much.
            if (bytes > believed_bytes && (!held.whole || held.bytes < bytes))
                if (const Allocations::Held real = all_.allocations_.held(start, bytes); !real.whole)
                    bytes = real.bytes;
            if (start + bytes > start) ranges_.push_back({start, start + bytes});
        }

        PlaceCollector& all_;
        std::vector<AddressRange> ranges_, array_data_, elsewhere_;
        std::uint64_t overlaps_ = 0;
    };

    /// Takes what a piece found, and empties it; in the order of objects.
    void take(Piece& piece) {
        move_to_end(piece.ranges_, places_.ranges_);
        move_to_end(piece.array_data_, places_.array_data_);
        move_to_end(piece.elsewhere_, places_.elsewhere_);
        places_.overlaps_ += std::exchange(piece.overlaps_, 0);
    }

    OwnedPlaces finish() {
        join_ranges(places_.ranges_);
        places_.ranges_.shrink_to_fit();
        places_.overlaps_ += join_ranges(places_.array_data_);
        return std::move(places_);
    }

private:
    const Allocations& allocations_;
    const Pymalloc& pymalloc_;
    const bool shared_ = threads() > 1;
    OwnedPlaces places_;
};

namespace {

/// For each piece of the objects, look(object, type, result) with each of them, prefetching what it will read
/// of the next ones; then take(result), in order.
template <class Result, class Look, class Take>
void for_each_object(const char* pass, const FoundObjects& objects, const ObjectAccess& access,
                     const ProgressCallback& progress, Look look, Take take) {
    constexpr std::size_t ahead = 24, parts_ahead = 12, at_once = 1024;
    const TypeTable& table = access.heap().types();
    const std::size_t count = objects.addresses.size();
    if (progress) progress(pass, 0);
    in_pieces<Result>(
        piece_count(count, objects_a_piece),
        [&](std::size_t piece, Result& result) {
            const auto [begin, end] = piece_of(piece, count, objects_a_piece);
            Address addresses[at_once + ahead];
            for (std::size_t first = begin; first < end; first += at_once) {
                const std::size_t last = std::min(end, first + at_once),
                                  known = std::min(count, last + ahead);
                objects.addresses.view().copy(first, known, addresses);
                for (std::size_t i = first; i < last; ++i) {
                    if (i + ahead < known) access.fetch_object(addresses[i + ahead - first]);
                    if (const std::size_t next = i + parts_ahead; next < known)
                        access.fetch_parts(addresses[next - first], table[objects.types[next]]);
                    look(addresses[i - first], table[objects.types[i]], result);
                }
            }
        },
        [&](std::size_t piece, Result& result) {
            if (progress)
                progress(pass, static_cast<double>(piece_of(piece, count, objects_a_piece).begin) /
                                   static_cast<double>(count));
            take(result);
        });
}

}  // namespace

OwnedMemory measure_objects(const FoundObjects& objects, const ObjectAccess& access,
                            const ProgressCallback& progress) {
    PlaceCollector places(access.allocations());
    SizeColumnBuilder sizes;
    sizes.reserve(objects.addresses.size());
    struct Found {
        std::optional<PlaceCollector::Piece> places;
        SizeColumnBuilder sizes;
    };
    for_each_object<Found>(
        "sizes", objects, access, progress,
        [&](Address object, const TypeInfo& type, Found& found) {
            if (!found.places) found.places.emplace(places);
            found.sizes.add(access.sizes(object, type, &*found.places));
        },
        [&](Found& found) {
            places.take(*found.places);
            sizes.take(found.sizes);
        });
    return {sizes.finish(), places.finish()};
}

SizeColumn measure_sizes(const FoundObjects& objects, const ObjectAccess& access,
                         const ProgressCallback& progress) {
    SizeColumnBuilder sizes;
    sizes.reserve(objects.addresses.size());
    for_each_object<SizeColumnBuilder>(
        "sizes", objects, access, progress,
        [&](Address object, const TypeInfo& type, SizeColumnBuilder& found) {
            found.add(access.sizes(object, type, nullptr));
        },
        [&](SizeColumnBuilder& found) { sizes.take(found); });
    return sizes.finish();
}

OwnedPlaces find_places(const FoundObjects& objects, const ObjectAccess& access,
                        const ProgressCallback& progress) {
    PlaceCollector places(access.allocations());
    using Found = std::optional<PlaceCollector::Piece>;
    for_each_object<Found>(
        "places", objects, access, progress,
        [&](Address object, const TypeInfo& type, Found& found) {
            if (!found) found.emplace(places);
            access.visit_places(object, type, *found);
        },
        [&](Found& found) { places.take(*found); });
    return places.finish();
}

}  // namespace heapsift
