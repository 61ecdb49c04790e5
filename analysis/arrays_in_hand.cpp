#include "analysis/arrays_in_hand.h"

namespace heapsift {

FramesOfArrays frames_of_arrays(const std::vector<PandasFrame>& frames) {
    FramesOfArrays found;
    for (const PandasFrame& frame : frames)
        for (const ObjectId array : frame.arrays) found.emplace(array, &frame);
    return found;
}

ObjectId in_hand(const ArrayTable& table, const ArrayOwner& owner, const RootPaths* paths) {
    if (owner.object != no_object && !owner.kept_by_views) return owner.object;
    ObjectId best = no_object;
    for (const std::uint32_t i : table.of_owner(owner)) {
        const SeenArray& seen = table.arrays[i];
        if (seen.held_by_base) continue;
        if (!paths) return seen.object;
        if (best == no_object || paths->cost(seen.object) < paths->cost(best)) best = seen.object;
    }
    return best;
}

}  // namespace heapsift
