// What a block holds is told by a count that nothing else explains: a word that is an object's address is often only
// borrowed (a cache, a way back), and then the count has no room for it. Where the pointer has a mark (torch adds 1
// when its side owns the Python one), the object's count must have room, too.

#include "parsers/snapshot/held_objects.h"

#include "parsers/base/in_pieces.h"
#include "parsers/cpython/build/refcount.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t held_a_piece = 1 << 16;
constexpr std::uint64_t most_of_marked = 16;  // references that were found to an object that is looked for

}  // namespace

HeldObjects::HeldObjects(const ObjectAccess& access, const FoundObjects& objects,
                         const ReferenceGraph& references)
    : access_(access), objects_(objects), references_(references) {}

void HeldObjects::find(const std::function<std::optional<std::uint32_t>(Address word)>& block_of) {
    const auto has_room = [&](ObjectId object) {
        const std::uint64_t found = references_.found(object);
        if (found >= most_of_marked) return false;
        const std::uint64_t stored = references_counted(access_.heap(), objects_.addresses[object]);
        return !is_immortal_count(access_.heap().layout(), stored) && stored > found;
    };
    // What has no room in its count without C code's references has none with them.
    const std::vector<ObjectId>* const only =
        references_.unexplained() ? &*references_.unexplained() : nullptr;
    const std::size_t objects = only ? only->size() : objects_.addresses.size();
    std::vector<ObjectId> with_room;
    in_pieces<std::vector<ObjectId>>(
        piece_count(objects, held_a_piece),
        [&](std::size_t piece, std::vector<ObjectId>& some) {
            const auto [begin, end] = piece_of(piece, objects, held_a_piece);
            for (std::size_t i = begin; i < end; ++i)
                if (const ObjectId object = only ? (*only)[i] : ObjectId(i); has_room(object))
                    some.push_back(object);
        },
        [&](std::size_t, std::vector<ObjectId>& some) { move_to_end(some, with_room); });
    std::vector<bool> is_one(objects_.addresses.size());
    for (const ObjectId object : with_room) is_one[object] = true;
    std::vector<ObjectId> held;  // of these, once for each word
    for (const NativeReference& native : references_.natives())
        if (is_one[native.target]) held.push_back(native.target);
    std::sort(held.begin(), held.end());
    std::vector<std::uint64_t> unexplained;
    for (const ObjectId object : with_room) {
        const Address address = objects_.addresses[object];
        const auto [first, last] = std::equal_range(held.begin(), held.end(), object);
        if (references_counted(access_.heap(), address) >
            references_.found(object) + static_cast<std::uint64_t>(last - first))
            unexplained.push_back(address.value);
    }
    marked_ = AddressSet(std::move(unexplained));
    for (const NativeReference& native : references_.natives()) {
        if (native.place != NativePlace::block) continue;
        if (const auto block = block_of(native.word)) held_.push_back({*block, native.target, native.word});
    }
}

void HeldObjects::look_at(std::uint32_t number, Address start, std::span<const std::byte> bytes) {
    if (marked_.empty()) return;
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        if (word % 8 != 1 || !marked_.contains(word - 1)) continue;
        const ObjectId object = objects_.find(Address(word - 1));
        if (object != no_object) held_.push_back({number, object, start + at});
    }
}

void HeldObjects::finish(std::size_t block_count) {
    std::sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) {
        return a.number != b.number ? a.number < b.number : a.word < b.word;
    });
    holds_.assign(block_count, false);
    for (const Held& held : held_) {
        holds_[held.number] = true;
        if (references_.found(held.object) == 0) waits_.push_back({held.object});
    }
    std::ranges::sort(waits_, {}, &Waits::object);
    // Not std::ranges::unique: clang 14 does not read what it returns.
    const auto same = [](const Waits& a, const Waits& b) { return a.object == b.object; };
    waits_.erase(std::unique(waits_.begin(), waits_.end(), same), waits_.end());
}

std::span<const HeldObjects::Held> HeldObjects::of_block(std::uint32_t number) const {
    if (!holds_[number]) return {};
    return {std::ranges::lower_bound(held_, number, {}, &Held::number),
            std::ranges::upper_bound(held_, number, {}, &Held::number)};
}

const HeldObjects::Waits* HeldObjects::waiting(ObjectId object) const {
    const auto at = std::ranges::lower_bound(waits_, object, {}, &Waits::object);
    return at != waits_.end() && at->object == object ? &*at : nullptr;
}

HeldObjects::Waits* HeldObjects::waiting(ObjectId object) {
    return const_cast<Waits*>(std::as_const(*this).waiting(object));
}

void HeldObjects::let_go(ObjectId object) {
    std::erase_if(held_, [&](const Held& held) { return held.object == object; });
}

}  // namespace heapsift
