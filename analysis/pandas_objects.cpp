// A class is recognized by its name, and a subclass by its bases: `class GeoDataFrame(GeoPandasBase,
// DataFrame)` has GeoPandasBase as its tp_base, and DataFrame only in its __mro__. The public classes of
// pandas 3 have the module `pandas`.
//
// Walks stay within pandas objects and plain containers: a cached accessor or the name of an index may lead
// anywhere. Frames, managers and blocks end them, too: what is behind them belongs to another frame.

#include "analysis/pandas_objects.h"

#include "analysis/path_expression.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_ancestors = 256, most_parts = 65536, most_steps = 4096;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void add_name(PandasKind& kind, std::string_view name) {
    if (!name.starts_with("pandas.")) return;
    kind.frame |= is_one_of(name, {"pandas.core.frame.DataFrame", "pandas.DataFrame"});
    kind.series |= is_one_of(name, {"pandas.core.series.Series", "pandas.Series"});
    kind.manager |=
        is_one_of(name, {"pandas._libs.internals.BlockManager", "pandas.core.internals.managers.BlockManager",
                         "pandas.core.internals.managers.SingleBlockManager"});
    kind.block |= is_one_of(name, {"pandas._libs.internals.Block", "pandas._libs.internals.SharedBlock",
                                   "pandas.core.internals.blocks.Block"});
    kind.index |= is_one_of(name, {"pandas.core.indexes.base.Index", "pandas.Index"});
    kind.below |= !name.starts_with("pandas.core.groupby.");
}

}  // namespace

PandasReader::PandasReader(const HeapReader& heap)
    : heap_(heap), kinds_(heap.snapshot().types.size() + 1), known_(heap.snapshot().types.size() + 1) {}

const PandasKind& PandasReader::kind(ObjectId object) {
    const TypeId type = columns().type_of(object);
    const std::size_t at = std::min<std::size_t>(type, kinds_.size() - 1);
    if (!known_[at]) {
        known_[at] = 1;
        if (type != no_type) kinds_[at] = kind_of_type(type);
    }
    return kinds_[at];
}

PandasKind PandasReader::kind_of_type(TypeId type) const {
    PandasKind kind;
    const TypeInfo& info = columns().types[type];
    kind.array = info.kind == &ndarray_kind;
    kind.container = is_one_of(info.name, {"dict", "list", "tuple"});
    if (kind.array || kind.container) return kind;
    visit_ancestors(type, [&](TypeId ancestor) { add_name(kind, columns().types[ancestor].name); });
    kind.below &= !kind.frame && !kind.series && !kind.manager && !kind.block;
    return kind;
}

/// The type itself, and the types in its __mro__, or in its chain of tp_base if that is missing.
template <class F>
void PandasReader::visit_ancestors(TypeId type, F&& visit) const {
    const TypeTable& types = columns().types;
    TypeId at = type;
    for (std::size_t steps = 0; at != no_type && steps < most_ancestors; ++steps, at = types[at].base)
        visit(at);
    const ObjectId object = columns().find(types[type].address);
    const ObjectId mro = object == no_object ? no_object : attribute(object, "__mro__");
    if (mro == no_object) return;
    std::size_t count = 0;
    heap_.visit_references(mro, [&](const Reference& base) {
        const TypeId ancestor = types.find(base.target);
        if (ancestor != no_type && count++ < most_ancestors) visit(ancestor);
    });
}

std::vector<NamedObject> PandasReader::attributes(ObjectId object) const {
    std::vector<NamedObject> result;
    ObjectId dict = no_object;
    const auto add = [&](const Reference& reference, const std::optional<ReferenceStep>& name) {
        const ObjectId target =
            reference.followed && name && name->known() ? columns().find(reference.target) : no_object;
        if (target == no_object || result.size() >= most_parts) return;
        if (name->is(Field::attributes))
            dict = target;
        else
            result.push_back(
                {name->kind == ReferenceStep::Kind::attribute ? name->name : std::string(), target});
    };
    heap_.visit_references(object, [&](const Reference& reference) { add(reference, reference.step); });
    if (const ObjectId items = dict; items != no_object)
        heap_.visit_references(items, [&](const Reference& item) { add(item, as_attribute(item.step)); });
    return result;
}

ObjectId PandasReader::attribute(ObjectId object, std::string_view name) const {
    for (const NamedObject& one : attributes(object))
        if (one.name == name) return one.object;
    return no_object;
}

const std::vector<ObjectId>& PandasReader::parts(ObjectId object) {
    const auto [at, added] = parts_.try_emplace(object);
    std::vector<ObjectId>& result = at->second;
    if (!added) return result;
    heap_.visit_references(object, [&](const Reference& reference) {
        const ObjectId target =
            reference.followed && result.size() < most_parts ? columns().find(reference.target) : no_object;
        if (target == no_object) return;
        const PandasKind& is = kind(target);
        if (is.array || is.container || is.below || is.block || is.manager) result.push_back(target);
    });
    return result;
}

const std::vector<ObjectId>& PandasReader::arrays_below(ObjectId object) {
    const auto [at, added] = arrays_.try_emplace(object);
    std::vector<ObjectId>& result = at->second;
    if (!added) return result;
    std::vector<ObjectId> queue{object};
    std::unordered_set<ObjectId> seen{object};
    for (std::size_t i = 0; i < queue.size() && i < most_steps; ++i) {
        const ObjectId next = queue[i];
        if (kind(next).array) result.push_back(next);
        if (!kind(next).below && !kind(next).container) continue;
        for (const ObjectId part : parts(next))
            if (queue.size() < most_steps && seen.insert(part).second) queue.push_back(part);
    }
    return result;
}

}  // namespace heapsift
