// A list of samples keeps all that hangs on them. If the program puts results onto objects that live as long as the data,
// the list is not what grows. So a sample of what the holder keeps is followed down the dominator tree: each object
// counts for the attribute of the nearest instance of a class of the program above it. Attributes that only `__init__`
// sets, or who made the object, are as old as it, and say nothing.

#include "analysis/suspects/content_attributes.h"

#include "analysis/object_paths.h"
#include "analysis/steps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_nodes = 4'000, most_attributes_of_class = 32, most_setters = 8;
constexpr std::uint64_t least_instances = 16;

/// An attribute of a class, by its name.
using AttributeOfClass = std::pair<TypeId, std::string>;

class ContentSample {
public:
    ContentSample(const RetainedLookup& retained, const Scene& scene)
        : retained_(retained), graph_(retained.graph()), scene_(scene) {}

    void take() {
        const std::vector<ObjectId>& sample = scene_.sample();
        for (std::size_t i = 0; i < sample.size(); ++i) walk(sample[i], most_nodes * (i + 1) / sample.size());
        name_steps();
        for (const Visited& one : visited_) {
            const std::uint64_t bytes = graph_.heap().facts(one.object).memory;
            all_ += bytes;
            if (one.named_by != none) bytes_[named_[one.named_by].of] += bytes;
        }
    }

    std::uint64_t all() const { return all_; }
    std::uint64_t instances(TypeId type) const {
        const auto found = instances_.find(type);
        return found == instances_.end() ? 0 : found->second;
    }
    /// By class, the attributes with most bytes first.
    std::map<TypeId, std::vector<std::pair<std::uint64_t, std::string>>> by_class() const {
        std::map<TypeId, std::vector<std::pair<std::uint64_t, std::string>>> sums;
        for (const auto& [attribute, bytes] : bytes_)
            if (!attribute.second.empty()) sums[attribute.first].emplace_back(bytes, attribute.second);
        for (auto& [type, attributes] : sums) {
            std::sort(attributes.begin(), attributes.end(), [](const auto& a, const auto& b) {
                return a.first != b.first ? a.first > b.first : a.second < b.second;
            });
            if (attributes.size() > most_attributes_of_class) attributes.resize(most_attributes_of_class);
        }
        return sums;
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    /// An object, and the attribute for which it counts.
    struct Visited {
        ObjectId object;
        std::size_t named_by = none;  // of named_
    };
    /// What hangs directly on an instance, or on its dict.
    struct Named {
        ObjectId instance, dict, child;  // dict: no_object where there is none between them
        AttributeOfClass of;
    };

    /// Down the dominator tree, until `most` have been visited in all.
    void walk(ObjectId top, std::size_t most) {
        struct Pending {
            ObjectId object, instance, dict;
            std::size_t named_by;
        };
        std::vector<Pending> pending{{top, no_object, no_object, none}};
        while (!pending.empty() && visited_.size() < most) {
            Pending one = pending.back();
            pending.pop_back();
            const TypeId type = graph_.columns().type_of(one.object);
            const bool is_dict = type != no_type && graph_.columns().types[type].known == KnownType::dict;
            if (one.instance != no_object && is_dict && one.dict == no_object &&
                is_own_dict(one.instance, one.object)) {
                visited_.push_back({one.object, one.named_by});
                one.dict = one.object;
            } else {
                if (one.instance != no_object) {
                    named_.push_back(
                        {one.instance, one.dict, one.object, {graph_.columns().type_of(one.instance), {}}});
                    one.named_by = named_.size() - 1;
                }
                visited_.push_back({one.object, one.named_by});
                one.dict = one.instance = no_object;
                if (is_own_class(type)) {
                    ++instances_[type];
                    one.instance = one.object;
                }
            }
            retained_.visit_children(HeapGraph::node_of(one.object), [&](NodeId node) {
                if (graph_.kind(node) == NodeKind::object && pending.size() < most_nodes)
                    pending.push_back({HeapGraph::object_of(node), one.instance, one.dict, one.named_by});
            });
        }
    }

    bool is_own_class(TypeId type) {
        const auto [known, is_new] = own_.try_emplace(type, false);
        if (is_new) known->second = class_in_source(graph_.heap(), type).has_value();
        return known->second;
    }

    bool is_own_dict(ObjectId instance, ObjectId dict) const {
        bool own = false;
        const Address at = graph_.columns().address_of(dict);
        graph_.heap().visit_references(instance, [&](const Reference& reference) {
            own = own || (reference.target == at && reference.step.is(Field::attributes));
        });
        return own;
    }

    void name_steps() {
        std::vector<StepsBetween::Pair> pairs;
        for (const Named& one : named_)
            pairs.push_back({one.dict == no_object ? one.instance : one.dict, one.child});
        const StepsBetween steps(graph_.heap(), pairs);
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const ReferenceStep& step = steps.of(pairs[i].source, pairs[i].target).step;
            const auto attribute = named_[i].dict == no_object ? std::optional(step) : as_attribute(step);
            if (attribute && attribute->kind == ReferenceStep::Kind::attribute && !attribute->nameless &&
                !is_dunder(*attribute))
                named_[i].of.second = attribute->name;
        }
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const Scene& scene_;
    std::vector<Visited> visited_;
    std::vector<Named> named_;
    std::map<TypeId, bool> own_;
    std::map<TypeId, std::uint64_t> instances_;
    std::map<AttributeOfClass, std::uint64_t> bytes_;
    std::uint64_t all_ = 0;
};

}  // namespace

std::optional<AttributesSetLater> attributes_set_later(const RetainedLookup& retained, const Scene& scene,
                                                       const CodeThatNames& code) {
    ContentSample sample(retained, scene);
    sample.take();
    std::optional<AttributesSetLater> found;
    std::uint64_t most = 0;
    for (const auto& [type, attributes] : sample.by_class()) {
        std::uint64_t possible = 0;
        for (const auto& [bytes, name] : attributes) possible += bytes;
        if (sample.instances(type) < least_instances || possible * 2 < sample.all() || possible <= most)
            continue;
        const auto owner = class_in_source(scene.heap(), type);
        const std::vector<ClassInSource> classes = classes_in_source(scene.heap(), type);
        AttributesSetLater later{.of_class = type_name(scene.heap().snapshot().types, type)};
        std::uint64_t sum = 0;
        std::vector<NameInSource> names;
        for (const auto& [bytes, name] : attributes) {
            const NameInSource one{
                .text = name, .of_class = owner->name, .of_file = owner->file, .of_classes = classes};
            if (bytes * 100 < sample.all() || code.that_set({one}, 1, false).places.empty()) continue;
            sum += bytes;
            later.attributes.push_back(name);
            names.push_back(one);
        }
        if (sum * 2 < sample.all() || sum <= most) continue;
        most = sum;
        CodePlaces places = code.that_set(names, most_setters, false);
        later.bytes = sum;
        later.sampled = sample.all();
        later.set_in = std::move(places.places);
        later.more_set_in = places.more;
        found = std::move(later);
    }
    return found;
}

}  // namespace heapsift
