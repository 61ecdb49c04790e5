#include "analysis/array_lists.h"

#include "analysis/arrays_in_hand.h"
#include "analysis/object_paths.h"

#include <algorithm>

namespace heapsift {
namespace {

template <class Less>
std::vector<std::uint32_t> first_of(std::vector<std::uint32_t> places, std::size_t limit, Less less) {
    const std::size_t wanted = limit == 0 ? places.size() : std::min(limit, places.size());
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(wanted), places.end(),
                      less);
    places.resize(wanted);
    return places;
}

}  // namespace

std::vector<std::uint32_t> list_owners(const ArrayTable& table, OwnerChoice choice, std::size_t limit) {
    const std::vector<ArrayOwner>& owners = table.owners;
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < owners.size(); ++i)
        if (choice == OwnerChoice::all || owners[i].pinned()) places.push_back(i);
    const auto key = [&](std::uint32_t i) {
        const std::uint64_t bytes =
            choice == OwnerChoice::pinned ? owners[i].unseen_bytes() : owners[i].nbytes();
        return std::pair(~bytes, owners[i].object);
    };
    return first_of(std::move(places), limit,
                    [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

std::vector<std::uint32_t> list_arrays(const ArrayTable& table, bool views, std::size_t limit) {
    const std::vector<SeenArray>& all = table.arrays;
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (!all[i].is_scalar && !(views && all[i].owns_bytes)) places.push_back(i);
    const auto key = [&](std::uint32_t i) { return std::pair(~all[i].nbytes, all[i].object); };
    return first_of(std::move(places), limit,
                    [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

std::vector<ArrayPlace> places_of(const HeapGraph& graph, const ArrayTable& table,
                                  const std::vector<PandasFrame>& frames,
                                  const std::vector<std::uint32_t>& owners, const ProgressCallback& progress,
                                  KeptAnswers* answers) {
    std::vector<ArrayPlace> places(owners.size());
    const FramesOfArrays frame_of = frames_of_arrays(frames);
    for (std::size_t i = 0; i < owners.size(); ++i) {
        places[i].example = in_hand(table, table.owners[owners[i]], nullptr);
        if (const auto frame = frame_of.find(places[i].example); frame != frame_of.end())
            places[i].example = frame->second->object;
    }
    express(places, graph, progress, answers);
    return places;
}

void express(std::vector<ArrayPlace>& places, const HeapGraph& graph, const ProgressCallback& progress,
             KeptAnswers* answers) {
    std::vector<ObjectId> objects;
    for (const ArrayPlace& place : places)
        if (place.example != no_object) objects.push_back(place.example);
    if (objects.empty()) return;
    const ExpressionFinder expressions(graph, objects, progress, answers);
    for (ArrayPlace& place : places) {
        if (place.example == no_object) continue;
        auto found = expressions.of(place.example);
        if (!found) continue;
        place.expression = std::move(found->expression);
        place.root = root_words(graph, found->root);
    }
}

std::uint64_t kept_by_frame(const ArrayTable& table, const PandasFrame& frame) {
    std::vector<const ArrayOwner*> owners;
    for (const ObjectId array : frame.arrays)
        if (const ArrayOwner* owner = table.owner_of(array)) owners.push_back(owner);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    std::uint64_t bytes = 0;
    for (const ArrayOwner* owner : owners) bytes += owner->nbytes();
    return bytes;
}

}  // namespace heapsift
