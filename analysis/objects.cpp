// Single objects in sorted order. The sort key takes 16 bytes per object; with a limit, a heap of that many
// entries is kept, with the worst of them at the top, so that twelve million objects take no more memory than
// twenty.

#include "analysis/objects.h"

#include "analysis/pass.h"

#include <algorithm>
#include <tuple>

namespace heapsift {
namespace {

// The smaller one comes first. Ids are in address order.
struct Ranked {
    std::uint64_t order;      // the value sorted by, inverted if larger comes first
    std::uint32_t type_rank;  // index of the type's name among all names
    ObjectId object;
    bool operator<(const Ranked& other) const {
        return std::tie(order, type_rank, object) < std::tie(other.order, other.type_rank, other.object);
    }
};

std::vector<std::uint32_t> rank_types_by_name(const TypeTable& types) {
    std::vector<TypeId> by_name(types.size());
    for (TypeId id{0}; id < by_name.size(); ++id) by_name[id] = id;
    std::sort(by_name.begin(), by_name.end(),
              [&](TypeId a, TypeId b) { return std::tie(types[a].name, a) < std::tie(types[b].name, b); });
    std::vector<std::uint32_t> rank(types.size());
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < by_name.size(); ++i) {
        if (i > 0 && types[by_name[i]].name != types[by_name[i - 1]].name)
            ++next;  // types of one name are mixed, by address
        rank[by_name[i]] = next;
    }
    return rank;
}

std::uint64_t order_of(const ObjectFacts& facts, std::uint64_t retained, SortKey sort) {
    switch (sort) {
        case SortKey::memory:
            return ~facts.memory;
        case SortKey::size:
            return ~facts.size;
        case SortKey::array_data:
            return ~facts.array_data;
        case SortKey::retained:
            return ~retained;
        case SortKey::count:
        case SortKey::name:
            break;
    }
    return 0;
}

std::vector<bool> wanted_types(const TypeTable& types, const ObjectsQuery& query) {
    std::vector<bool> wanted(types.size() + 1, query.types.empty());  // the last one: type not found
    for (TypeId type : query.types) wanted[type] = true;
    if (query.include_subclasses)
        for (TypeId type{0}; type < types.size(); ++type)
            for (TypeId ancestor : query.types)
                if (types.derives(type, ancestor)) wanted[type] = true;
    return wanted;
}

bool holds(std::int64_t measured, const ObjectCondition& condition) {
    using Operator = ObjectCondition::Operator;
    switch (condition.op) {
        case Operator::less:
            return measured < condition.value;
        case Operator::less_equal:
            return measured <= condition.value;
        case Operator::equal:
            return measured == condition.value;
        case Operator::not_equal:
            return measured != condition.value;
        case Operator::greater_equal:
            return measured >= condition.value;
        case Operator::greater:
            return measured > condition.value;
    }
    return false;
}

std::int64_t measure(const ObjectFacts& facts, std::uint64_t retained, ObjectCondition::Field field) {
    using Field = ObjectCondition::Field;
    switch (field) {
        case Field::size:
            return static_cast<std::int64_t>(facts.size);
        case Field::memory:
            return static_cast<std::int64_t>(facts.memory);
        case Field::array_data:
            return static_cast<std::int64_t>(facts.array_data);
        case Field::retained:
            return static_cast<std::int64_t>(retained);
        case Field::refcount:
            return facts.refcount;
        case Field::block_size:
            return static_cast<std::int64_t>(facts.block_size);
    }
    return 0;
}

}  // namespace

bool satisfies(const ObjectFacts& facts, std::uint64_t retained,
               const std::vector<ObjectCondition>& conditions) {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const ObjectCondition& c) { return holds(measure(facts, retained, c.field), c); });
}

namespace {

ObjectsResult find_objects(const HeapReader& heap, const ObjectsQuery& query, const RetainedLookup* retained,
                           const ProgressCallback& progress) {
    const HeapSnapshot& columns = heap.snapshot();
    const std::vector<bool> wanted = wanted_types(columns.types, query);
    const std::vector<std::uint32_t> rank = rank_types_by_name(columns.types);
    ObjectsResult result;
    std::vector<Ranked> kept;
    for_each_object(columns, "listing objects", progress, [&](ObjectId object) {
        const std::size_t type = std::min<std::size_t>(columns.type_of(object), rank.size());
        if (!wanted[type]) return;
        const ObjectFacts facts = heap.facts(object);
        result.damaged_objects += facts.damaged ? 1 : 0;
        const std::uint64_t retains = retained ? retained->memory(object) : 0;
        if (!satisfies(facts, retains, query.where)) return;
        ++result.total_count;
        result.total_size += facts.size;
        result.total_memory += facts.memory;
        const Ranked entry{order_of(facts, retains, query.sort), type < rank.size() ? rank[type] : no_type,
                           object};
        if (query.limit == 0 || kept.size() < query.limit) {
            kept.push_back(entry);
            if (query.limit != 0) std::push_heap(kept.begin(), kept.end());
        } else if (entry < kept.front()) {
            std::pop_heap(kept.begin(), kept.end());
            kept.back() = entry;
            std::push_heap(kept.begin(), kept.end());
        }
    });
    std::sort(kept.begin(), kept.end());
    result.objects.reserve(kept.size());
    for (const Ranked& entry : kept) {
        result.objects.push_back(entry.object);
        result.shown_memory += query.limit == 0 ? 0 : heap.facts(entry.object).memory;
    }
    if (query.limit == 0) result.shown_memory = result.total_memory;
    return result;
}

/// As it is kept.
struct KeptObjects {
    ObjectsResult result;

    std::size_t rows() const { return result.objects.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        auto& result = self.result;
        kept_object_list(result.objects, part, heap);
        for (auto* number : {&result.total_count, &result.total_size, &result.total_memory,
                             &result.shown_memory, &result.damaged_objects})
            part.number(*number);
    }
};

KeptQuestion question_about_objects(const ObjectsQuery& query, bool with_retained) {
    auto question = KeptQuestion("objects").with_all(query.types).with(query.include_subclasses);
    question.with(query.sort).with(query.limit).with(with_retained).with(query.where.size());
    for (const ObjectCondition& condition : query.where)
        question.with(condition.field).with(condition.op).with(condition.value);
    return question;
}

}  // namespace

ObjectsResult objects(const HeapReader& heap, const ObjectsQuery& query, const RetainedLookup* retained,
                      const ProgressCallback& progress, KeptAnswers* answers) {
    return kept_answer(answers, question_about_objects(query, asks_retained(query) && retained), heap,
                       [&] { return KeptObjects{find_objects(heap, query, retained, progress)}; })
        .result;
}

bool asks_retained(const ObjectsQuery& query) {
    return query.sort == SortKey::retained ||
           std::any_of(query.where.begin(), query.where.end(), [](const ObjectCondition& condition) {
               return condition.field == ObjectCondition::Field::retained;
           });
}

ObjectRow object_row(const RetainedLookup& retained, const ObjectStates& states, ObjectId object) {
    ObjectRow row = object_row(retained.graph().heap(), object);
    row.retained = retained.memory(object);
    row.state = states.of(object);
    return row;
}

}  // namespace heapsift
