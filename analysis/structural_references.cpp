#include "analysis/structural_references.h"

#include <algorithm>

namespace heapsift {

StructuralTargets::StructuralTargets(const HeapSnapshot& heap, const RootSet& roots) : heap_(heap) {
    for (const auto* part : {&roots.modules_and_dicts(), &roots.thread_local_dicts(), &roots.running_frames()})
        listed_.insert(listed_.end(), part->begin(), part->end());
    std::sort(listed_.begin(), listed_.end());
    for (const LoadedModule& module : roots.modules()) own_dicts_.emplace_back(module.address, module.dict);
    std::sort(own_dicts_.begin(), own_dicts_.end());
}

bool StructuralTargets::contains(Address target) const {
    if (std::binary_search(listed_.begin(), listed_.end(), target)) return true;
    const TypeId as_type = heap_.types().find(target);
    return as_type != no_type && !heap_.types()[as_type].heap_type;
}

bool StructuralTargets::is_own_dict(Address module, Address dict) const {
    return std::binary_search(own_dicts_.begin(), own_dicts_.end(), std::pair(module, dict));
}

}  // namespace heapsift
