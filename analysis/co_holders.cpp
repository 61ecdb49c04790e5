// A list in an attribute of a singleton is emptied, or the singleton goes; and if the second is what the program
// forgot, both its holders must let go. Dominators tell how far up the path that is a question: to the highest object
// that has all of it. What this object itself refers to by way of others does not hold it.

#include "analysis/co_holders.h"

#include <algorithm>

namespace heapsift {
namespace {

bool is_let_go(const HeapGraph& graph, ObjectId object) {
    const HeapSnapshot& columns = graph.columns();
    const TypeId type = columns.type_of(object);
    if (type == no_type || graph.is_structural(object)) return false;
    switch (columns.types[type].known) {
        case KnownType::module:
        case KnownType::function:
        case KnownType::frame:
        case KnownType::traceback:
            return false;
        default:
            return columns.types.find(columns.address_of(object)) == no_type;
    }
}

}  // namespace

ObjectId owner_of(const RetainedLookup& retained, ObjectId object) {
    constexpr int most_steps = 16;
    const HeapGraph& graph = retained.graph();
    ObjectId owner = no_object;
    NodeId at = HeapGraph::node_of(object);
    for (int steps = 0; steps < most_steps; ++steps) {
        at = retained.dominator(at);
        if (at == no_node || graph.kind(at) != NodeKind::object) break;
        if (!is_let_go(graph, HeapGraph::object_of(at))) break;
        owner = HeapGraph::object_of(at);
    }
    return owner;
}

std::vector<ObjectId> OutsideReferrers::of(ObjectId owner) const {
    std::vector<ObjectId> sources;
    for (const Link& link : links)
        if (link.owner == owner && std::find(sources.begin(), sources.end(), link.source) == sources.end())
            sources.push_back(link.source);
    return sources;
}

OutsideReferrers outside_referrers(const RetainedLookup& retained, std::vector<ObjectId> owners,
                                   std::size_t most, KeptAnswers* answers) {
    const HeapGraph& graph = retained.graph();
    std::erase_if(owners, [&](ObjectId owner) {
        if (owner == no_object) return true;
        const ObjectFacts facts = graph.heap().facts(owner);
        return facts.immortal || facts.refcount < 2;
    });
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    if (owners.empty()) return {};
    return kept_answer(answers, KeptQuestion("owners").with(most).with_all(owners), graph.heap(), [&] {
        OutsideReferrers found;
        std::vector<std::size_t> count(owners.size());
        std::vector<bool> wanted(graph.object_count());
        for (const ObjectId owner : owners) wanted[owner] = true;
        for (ObjectId source{0}; source < graph.object_count(); ++source)
            for (const ObjectId target : graph.targets(source)) {
                if (!wanted[target] || !graph.follows(source, target) || retained.dominates(target, source))
                    continue;
                const auto at = static_cast<std::size_t>(
                    std::lower_bound(owners.begin(), owners.end(), target) - owners.begin());
                if (count[at]++ <= most) found.links.push_back({target, source});
            }
        return found;
    });
}

}  // namespace heapsift
