#include "parsers/snapshot/traversed.h"

// Reading what is known of one object. A row of visited addresses does not say which words they came from:
// for their names, the object's words are compared with them.

namespace heapsift {

bool TraversedReferences::visits_of(const Reading& reading, Address object, const AddressSpace& memory,
                                    VisitList& visits) const {
    if (const Planned planned = plan_for(reading, object, memory); planned.plan) {
        planned.plan->visit(planned.bytes, [&](std::uint64_t target, const LearnedSlots::Slot& slot) {
            visits.add(Address(target), slot.offset);
        });
        return true;
    }
    const std::uint32_t row = row_of(object);
    if (row == none) return false;
    visits.nothing_asked = begin_[row + 1] - begin_[row] == 1 && targets_[begin_[row]] == not_asked;
    if (visits.nothing_asked) return true;
    for (std::uint64_t at = begin_[row]; at < begin_[row + 1]; ++at) visits.add(targets_[at], -1);
    return true;
}

void TraversedReferences::index_types(std::size_t types) {
    by_type_.assign(types, none);
    for (std::uint32_t i = 0; i < readings_.size(); ++i) by_type_[readings_[i].type] = i;
}

}  // namespace heapsift
