// The collector visits its objects in the order of its lists, and each visit of a reference is a jump to
// anywhere. Here objects are read in address order, their targets are gathered some thousands at a time, and
// index entries are prefetched some lookups ahead.

#include "parsers/snapshot/reported_references.h"

#include <algorithm>

namespace heapsift {
namespace {

class Gatherer final : public ReferenceVisitor {
public:
    Gatherer(std::span<const std::uint8_t> asked, const TypeColumn& types, const ObjectIndex& index,
             const ReferenceGraph& graph)
        : asked_(asked), types_(types), index_(index), graph_(graph) {
        begin_.reserve(asked.size() + 1);
    }

    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (kind == ReferenceKind::strong || kind == ReferenceKind::reported)
            pending_.push_back(target);
        else if (kind == ReferenceKind::guess && !exact_)
            add_guess(target, name);
    }

    /// Call before the visits of `source`; sources come in ascending order. `exact`: what it reports is known,
    /// and no guess is among it.
    void start(ObjectId source, bool exact) {
        source_ = source;
        exact_ = exact;
        sources_.push_back({source, pending_.size()});
    }
    bool full() const { return pending_.size() >= at_once || sources_.size() >= at_once; }

    /// Looks up the gathered targets, and adds them as rows.
    void resolve() {
        for (std::size_t i = 0; i < std::min(ahead, pending_.size()); ++i) index_.fetch(pending_[i]);
        std::size_t at = 0;
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            begin_up_to(std::size_t{sources_[s].source} + 1);
            const std::size_t end = s + 1 < sources_.size() ? sources_[s + 1].first : pending_.size();
            for (; at < end; ++at) {
                if (at + ahead < pending_.size()) index_.fetch(pending_[at + ahead]);
                const ObjectId target = index_.find(pending_[at]);
                if (target != no_object && asked_[target]) targets_.push_back(target);
            }
        }
        pending_.clear();
        sources_.clear();
    }

    ReportedReferences finish() {
        resolve();
        begin_up_to(asked_.size() + 1);
        return {graph_, begin_.finish(), std::move(targets_), std::move(guesses_)};
    }

private:
    static constexpr std::size_t at_once = 4096, ahead = 24;
    struct Source {
        ObjectId source;
        std::size_t first;  // index in pending_
    };

    /// So many rows begin before what comes next, or there.
    void begin_up_to(std::size_t rows) {
        while (begin_.size() < rows) begin_.push_back(targets_.size());
    }

    void add_guess(Address target, const ReferenceName& name) {
        const ObjectId object = index_.find(target);
        if (object == no_object || !asked_[object] ||
            graph_.verdict(source_, types_[source_], name.number) == GuessVerdict::refused)
            return;
        guesses_.push_back({source_, object});
    }

    std::span<const std::uint8_t> asked_;
    const TypeColumn& types_;
    const ObjectIndex& index_;
    const ReferenceGraph& graph_;
    ObjectId source_{0};
    bool exact_ = false;
    std::vector<Address> pending_;
    std::vector<Source> sources_;
    RowStartsBuilder begin_;
    std::vector<ObjectId> targets_;
    std::vector<ReportedReferences::Guess> guesses_;
};

}  // namespace

ReportedReferences gather_reported_references(AddressView addresses, const TypeColumn& types,
                                              std::span<const std::uint8_t> asked, const ObjectAccess& access,
                                              const ObjectIndex& index, const ReferenceGraph& graph,
                                              const ProgressCallback& progress) {
    constexpr std::size_t ahead = 24;
    const TypeTable& table = access.heap().types();
    Gatherer gatherer(asked, types, index, graph);
    const auto wanted = [&](std::size_t id) {
        return asked[id] && !graph.reports_what_it_owns(static_cast<ObjectId>(id));
    };
    for (ObjectId id{0}; id < asked.size(); ++id) {
        if (progress && id % (1 << 20) == 0)
            progress("what the collector sees", static_cast<double>(id) / static_cast<double>(asked.size()));
        if (id + ahead < asked.size() && wanted(id + ahead))
            access.fetch_references(addresses[id + ahead], table[types[id + ahead]]);
        if (!wanted(id)) continue;
        gatherer.start(id, access.references_exact(addresses[id], table[types[id]]));
        access.visit_references(addresses[id], table[types[id]], gatherer);
        if (gatherer.full()) gatherer.resolve();
    }
    return gatherer.finish();
}

}  // namespace heapsift
