// Columns that SQL needs and no other question has: objects by type, and referrers by object. Both are made by counting:
// one pass says how long each row is, a second one fills it. That is quick enough to do it anew for each query, and needs
// no place in the index.

#include "cli/query/query_heap.h"

#include "analysis/array_row.h"

namespace heapsift {
namespace {

/// By counting.
ObjectsByType objects_by_type(const HeapSnapshot& heap) {
    ObjectsByType by_type;
    const std::size_t objects = heap.object_count(), types = heap.types.size();
    const auto row_of = [&](ObjectId object) {
        const TypeId type = heap.type_of(object);
        return type == no_type ? std::size_t{0} : std::size_t{type} + 1;
    };
    by_type.begin.assign(types + 2, 0);
    for (ObjectId object{0}; object < objects; ++object) ++by_type.begin[row_of(object) + 1];
    for (std::size_t i = 1; i < by_type.begin.size(); ++i) by_type.begin[i] += by_type.begin[i - 1];
    std::vector<std::uint32_t> next(by_type.begin.begin(), by_type.begin.end() - 1);
    by_type.objects.resize(objects);
    for (ObjectId object{0}; object < objects; ++object) by_type.objects[next[row_of(object)]++] = object;
    return by_type;
}

Referrers all_referrers(const HeapSnapshot& heap) {
    Referrers all;
    const ReferenceGraph& references = *heap.references;
    const std::size_t objects = heap.object_count();
    const auto each = [&](const auto& visit) {
        for (ObjectId source{0}; source < objects; ++source)
            for (const ObjectId target : references.targets(source)) visit(source, target);
        references.visit_unowned(visit);
    };
    all.begin.assign(objects + 2, 0);
    each([&](ObjectId, ObjectId target) { ++all.begin[std::size_t{target} + 2]; });
    for (std::size_t i = 2; i < all.begin.size(); ++i) all.begin[i] += all.begin[i - 1];
    all.sources.resize(all.begin.back());
    // What begins one place later moves to where its row ends.
    each([&](ObjectId source, ObjectId target) {
        all.sources[all.begin[std::size_t{target} + 1]++] = source;
    });
    all.begin.pop_back();
    return all;
}

template <class Keep>
std::vector<ObjectId> objects_that(const HeapSnapshot& heap, const Keep& keep) {
    std::vector<ObjectId> kept;
    for (ObjectId object{0}; object < heap.object_count(); ++object)
        if (keep(object)) kept.push_back(object);
    return kept;
}

}  // namespace

QueryHeap::QueryHeap(Session& session, std::shared_ptr<Question> question, SqlClock* clock)
    : session_(session), question_(std::move(question)), clock_(clock) {}

void QueryHeap::need(Need need) {
    const unsigned bit = 1U << static_cast<unsigned>(need);
    if (filled_ & bit) return;
    filled_ |= bit;
    has_references_ =
        has_references_ || need == Need::holders || need == Need::retained || need == Need::states;
    compute([&] {
        question_->also(need);
        question_->filled();
        return 0;
    });
    session_.clear_progress();
}

const HeapGraph& QueryHeap::graph() {
    need(Need::retained);
    return compute([&]() -> const HeapGraph& { return question_->graph(); });
}

const RetainedLookup& QueryHeap::retained() {
    const HeapGraph& graph = this->graph();
    if (!retained_) compute([&] { return retained_.emplace(graph, question_->retained()), 0; });
    return *retained_;
}

const ObjectStates& QueryHeap::states() {
    need(Need::states);
    return compute([&]() -> const ObjectStates& { return question_->states(); });
}

void QueryHeap::need_references() { need(Need::holders); }

const StructuralTargets& QueryHeap::structural() {
    need_references();
    return once(structural_, [&] { return structural_targets(columns()); });
}

const std::vector<std::int8_t>& QueryHeap::generations() {
    return once(generations_, [&] { return heapsift::generations(heap()); });
}

const ObjectsByType& QueryHeap::by_type() {
    return once(by_type_, [&] { return objects_by_type(columns()); });
}

const Referrers& QueryHeap::referrers() {
    need_references();
    return once(referrers_, [&] { return all_referrers(columns()); });
}

const ContentHashes& QueryHeap::hashes() {
    need(Need::sizes);
    need_references();
    return once(hashes_, [&] { return content_hashes(heap(), session_.progress()); });
}

const std::vector<ContentKind>& QueryHeap::kinds() {
    return once(kinds_, [&] { return content_kinds(heap()); });
}

const std::vector<ObjectId>& QueryHeap::arrays() {
    return once(arrays_, [&] {
        return objects_that(columns(), [&](ObjectId object) { return is_array(columns(), object); });
    });
}

const std::vector<ObjectId>& QueryHeap::strings() {
    const std::vector<ContentKind>& kinds = this->kinds();
    return once(strings_, [&] {
        return objects_that(columns(), [&](ObjectId object) {
            const TypeId type = columns().type_of(object);
            if (type == no_type) return false;
            const ContentKind kind = kinds[type];
            return kind == ContentKind::text || kind == ContentKind::bytes;
        });
    });
}

const EveryRootPath& QueryHeap::paths() {
    graph();
    return compute([&]() -> const EveryRootPath& { return question_->work().every_path(); });
}

}  // namespace heapsift
