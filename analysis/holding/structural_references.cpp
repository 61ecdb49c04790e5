#include "analysis/holding/structural_references.h"

#include <algorithm>

namespace heapsift {

StructuralTargets structural_targets(const HeapSnapshot& heap) {
    const RootSet& roots = *heap.roots;
    StructuralTargets targets;
    std::vector<Address>& listed = targets.listed;
    for (const auto* part :
         {&roots.modules_and_dicts(), &roots.thread_local_dicts(), &roots.running_frames()})
        listed.insert(listed.end(), part->begin(), part->end());
    for (const RootSet::NamedClass& named : roots.named_classes()) {
        listed.push_back(named.type);
        targets.owners.emplace_back(named.dict, named.type);
    }
    for (const TypeInfo& type : heap.types)
        if (!type.heap_type) listed.push_back(type.address);
    std::sort(listed.begin(), listed.end());
    for (const LoadedModule& module : roots.modules())
        targets.owners.emplace_back(module.address, module.dict);
    std::sort(targets.owners.begin(), targets.owners.end());
    return targets;
}

bool StructuralTargets::contains(Address target) const {
    return std::binary_search(listed.begin(), listed.end(), target);
}

bool StructuralTargets::is_owner(Address source, Address target) const {
    return std::binary_search(owners.begin(), owners.end(), std::pair(source, target));
}

}  // namespace heapsift
