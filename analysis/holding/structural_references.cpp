#include "analysis/holding/structural_references.h"

#include <algorithm>

namespace heapsift {

StructuralTargets::StructuralTargets(const HeapSnapshot& heap) : heap_(heap) {
    const RootSet& roots = *heap.roots;
    for (const auto* part :
         {&roots.modules_and_dicts(), &roots.thread_local_dicts(), &roots.running_frames()})
        listed_.insert(listed_.end(), part->begin(), part->end());
    for (const RootSet::NamedClass& named : roots.named_classes()) {
        listed_.push_back(named.type);
        owners_.emplace_back(named.dict, named.type);
    }
    std::sort(listed_.begin(), listed_.end());
    for (const LoadedModule& module : roots.modules()) owners_.emplace_back(module.address, module.dict);
    std::sort(owners_.begin(), owners_.end());
}

bool StructuralTargets::contains(Address target) const {
    if (std::binary_search(listed_.begin(), listed_.end(), target)) return true;
    const TypeId as_type = heap_.types.find(target);
    return as_type != no_type && !heap_.types[as_type].heap_type;
}

bool StructuralTargets::is_owner(Address source, Address target) const {
    return std::binary_search(owners_.begin(), owners_.end(), std::pair(source, target));
}

}  // namespace heapsift
