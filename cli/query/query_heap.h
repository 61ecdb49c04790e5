#pragma once

// What the tables of SQL share: the heap, and what is worked out about it once a query needs it.
//
// A query knows what it needs only as it runs: `SELECT count(*) FROM object` reads one number, `ORDER BY retained`
// needs dominators. So nothing is computed ahead. A cell that needs a column of the heap asks for it here; the first one
// waits until that is there, while the query's clock stands (cli/database/sql_query.h), and all others find it. What was
// computed goes into the core's index like that of any other question.

#include "analysis/content_hashes.h"
#include "analysis/generations.h"
#include "analysis/holding/structural_references.h"
#include "cli/database/sql_query.h"
#include "cli/question.h"

#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

/// The objects of each type: their ids, type by type, those without a type first; within one by id.
struct ObjectsByType {
    std::vector<ObjectId> objects;
    std::vector<std::uint32_t> begin;  // by TypeId + 1, and one more

    std::span<const ObjectId> of(std::size_t row) const {
        if (row + 1 >= begin.size()) return {};
        return {objects.data() + begin[row], objects.data() + begin[row + 1]};
    }
};

/// What refers to each object: sources by target, with multiplicity; owned references and others.
struct Referrers {
    std::vector<std::uint64_t> begin;  // by target, and one more
    std::vector<ObjectId> sources;

    std::span<const ObjectId> of(ObjectId target) const {
        return {sources.data() + begin[target], sources.data() + begin[std::size_t{target} + 1]};
    }
};

class QueryHeap {
public:
    /// `question` needs to have declared nothing. `clock` may be null.
    QueryHeap(Session& session, std::shared_ptr<Question> question, SqlClock* clock);

    Session& session() { return session_; }
    const std::shared_ptr<Question>& question() { return question_; }
    Redactor& redactor() { return session_.redactor(); }
    const HeapReader& heap() const { return question_->heap(); }
    const HeapSnapshot& columns() const { return heap().snapshot(); }
    ObjectId find(std::int64_t address) const {
        return columns().find(Address(static_cast<std::uint64_t>(address)));
    }

    const HeapGraph& graph();
    const RetainedLookup& retained();
    const ObjectStates& states();
    /// The references, those from C code's blocks among them.
    void need_references();
    /// Whether something needed them.
    bool has_references() const { return has_references_; }
    const StructuralTargets& structural();
    const std::vector<std::int8_t>& generations();
    const ObjectsByType& by_type();
    /// 8 bytes an object and 4 a reference; some 30 ns a reference.
    const Referrers& referrers();
    const ContentHashes& hashes();
    const std::vector<ContentKind>& kinds();
    /// ndarrays, by id.
    const std::vector<ObjectId>& arrays();
    /// str and bytes, by id.
    const std::vector<ObjectId>& strings();
    /// The cheapest path of each object.
    const EveryRootPath& paths();

    /// Declares and fills; the clock stands meanwhile.
    void need(Need need);
    /// Computes something while the clock stands.
    template <class Compute>
    decltype(auto) compute(const Compute& work) {
        std::optional<SqlClock::Pause> pause;
        if (clock_) pause.emplace(*clock_);
        return work();
    }

private:
    template <class T, class Compute>
    const T& once(std::optional<T>& kept, const Compute& work) {
        if (!kept) compute([&] { kept.emplace(work()); });
        return *kept;
    }

    Session& session_;
    std::shared_ptr<Question> question_;
    SqlClock* clock_;
    unsigned filled_ = 0;  // one bit for each Need
    bool has_references_ = false;
    std::optional<RetainedLookup> retained_;
    std::optional<StructuralTargets> structural_;
    std::optional<std::vector<std::int8_t>> generations_;
    std::optional<ObjectsByType> by_type_;
    std::optional<Referrers> referrers_;
    std::optional<ContentHashes> hashes_;
    std::optional<std::vector<ContentKind>> kinds_;
    std::optional<std::vector<ObjectId>> arrays_, strings_;
};

}  // namespace heapsift
