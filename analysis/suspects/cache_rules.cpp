// Caches: functools.lru_cache and cache, and dictionaries with weak keys whose values refer to their own keys.
//
// lru_cache(maxsize=None), which is what functools.cache makes, has no bound: its field maxsize is negative
// (_functoolsmodule.c, lru_cache_new). On a method every key has `self` in it, so the cache keeps each instance
// alive for as long as the class lives.

#include "analysis/suspects/rules.h"

#include <algorithm>

namespace heapsift {
namespace {

/// The cache of a decorated function: the wrapper, for its dict or itself.
ObjectId wrapper_of(const Scene& scene) {
    if (scene.is_a(scene.object(), {"functools._lru_cache_wrapper"})) return scene.object();
    const ObjectId owner = scene.owner();
    if (!scene.is_a(owner, {"functools._lru_cache_wrapper"})) return no_object;
    const auto& cache = scene.python().layout().lru_cache.cache;
    const HeapSnapshot& columns = scene.heap().snapshot();
    const bool entries =
        cache.present() && scene.object() != no_object &&
        scene.python().pointer(columns.address_of(owner) + *cache) == columns.address_of(scene.object());
    return entries ? owner : no_object;  // else an attribute that the program gave the function
}

/// The class that a method's qualified name names: "Page" of "Page.render"; "" of a plain function.
std::string class_in(const std::string& qualname) {
    const auto dot = qualname.rfind('.');
    if (dot == std::string::npos || dot == 0 || qualname[dot - 1] == '>') return {};
    const auto before = qualname.rfind('.', dot - 1);
    return qualname.substr(before == std::string::npos ? 0 : before + 1,
                           dot - (before == std::string::npos ? 0 : before + 1));
}

enum class SelfInKeys { no, alone, with_arguments };

/// Whether the keys of a cache begin with instances of that class, or of a subclass.
SelfInKeys self_in_keys(const Scene& scene, Address cache, const std::string& of_class) {
    constexpr int most_keys = 16;
    bool arguments = false;
    int looked_at = 0, with = 0;
    const PythonHeap& python = scene.python();
    const HeapSnapshot& columns = scene.heap().snapshot();
    python.visit_dict(cache, [&](Address key, Address) {
        if (looked_at >= most_keys) return;
        ++looked_at;
        // The arguments are a tuple, or its subclass functools._HashedSeq a list: both begin with `self`.
        Address first = key;
        if (python.types().is(python.type_of(key), KnownType::tuple) && python.var_size(key) > 0) {
            first = python.pointer(key + *python.layout().tuple.ob_item);
            arguments = arguments || python.var_size(key) > 1;
        }
        TypeId type = python.type_of(first);
        for (int steps = 0; type != no_type && steps < 100; ++steps, type = columns.types[type].base) {
            const std::string& name = columns.types[type].name;
            if (name == of_class || name.ends_with("." + of_class)) {
                ++with;
                break;
            }
        }
    });
    if (looked_at == 0 || 2 * with <= looked_at) return SelfInKeys::no;
    return arguments ? SelfInKeys::with_arguments : SelfInKeys::alone;
}

std::optional<Cause> unbounded_cache(const Scene& scene) {
    const ObjectId wrapper = wrapper_of(scene);
    if (wrapper == no_object) return std::nullopt;
    const auto& l = scene.python().layout().lru_cache;
    const ObjectReader reader = scene.read(wrapper);
    if (!l.maxsize.present() || !l.cache.present()) return std::nullopt;
    const SourcePlace place = place_of_function(scene.python(), reader.pointer(l.func));
    const auto maxsize = reader.integer<std::int64_t>(l.maxsize);
    const Address cache = reader.pointer(l.cache);
    const auto dict = scene.python().dict(cache);
    const std::uint64_t entries = dict ? dict->used : 0;
    const std::string of = place.known() ? " of " + words_of(place) : std::string();
    const std::string of_class = class_in(place.function);
    const SelfInKeys self = of_class.empty() ? SelfInKeys::no : self_in_keys(scene, cache, of_class);
    if (self != SelfInKeys::no)
        return Cause{
            .kind = {},
            .words = words("the cache", of, " keeps the `self` of every call: ", CauseWords::count(entries),
                           " entries", maxsize < 0 ? ", maxsize=None" : ""),
            .fix = self == SelfInKeys::alone ? "use functools.cached_property, or set maxsize"
                                             : "keep the results in a dict of the instance, or cache a "
                                               "function that takes values, not `self`"};
    if (maxsize >= 0)
        return Cause{.kind = {},
                     .words = words("the cache", of, ": ", CauseWords::count(entries),
                                    " entries of maxsize=", std::to_string(maxsize),
                                    entries >= static_cast<std::uint64_t>(maxsize) ? ", full" : ""),
                     .usual = true,  // it is bounded
                     .fix = "lower maxsize, or cache something smaller"};
    return Cause{.kind = {},
                 .words = words("a cache without a bound", of, ": ", CauseWords::count(entries),
                                " entries, maxsize=None"),
                 .fix = "set maxsize, or call cache_clear()"};
}

/// "app.Point.tag": the first attribute, found from `value` on, that refers to `key`; "" if it is none of an instance.
std::string attribute_with(const Scene& scene, ObjectId value, ObjectId key) {
    constexpr std::size_t most_objects = 300;
    const HeapSnapshot& columns = scene.heap().snapshot();
    std::vector<ObjectId> found{value};
    std::string attribute;
    for (std::size_t i = 0; i < found.size() && attribute.empty(); ++i)
        scene.heap().visit_references(found[i], [&](const Reference& reference) {
            if (!reference.followed || !attribute.empty()) return;
            const ObjectId target = columns.find(reference.target);
            if (target == key) {
                if (reference.step.kind == ReferenceStep::Kind::attribute && !reference.step.nameless)
                    attribute = scene.type_of(found[i]) + "." + reference.step.name;
            } else if (target != no_object && found.size() < most_objects && scene.dominates(value, target) &&
                       std::find(found.begin(), found.end(), target) == found.end()) {
                found.push_back(target);
            }
        });
    return attribute;
}

/// Values that keep their own keys alive: the entries can never go.
std::optional<Cause> weak_keys_held(const Scene& scene) {
    const ObjectId owner = scene.owner();
    if (!scene.is_a(owner, {"weakref.WeakKeyDictionary"})) return std::nullopt;
    const auto& l = scene.python().layout().weakref;
    const HeapSnapshot& columns = scene.heap().snapshot();
    constexpr int most_entries = 64;
    int looked_at = 0, held = 0;
    std::string key_type, attribute;
    scene.python().visit_dict(columns.address_of(scene.object()), [&](Address key, Address value) {
        if (looked_at >= most_entries || !l.wr_object.present()) return;
        ++looked_at;
        const ObjectId target = columns.find(scene.python().pointer(key + *l.wr_object));
        const ObjectId kept = columns.find(value);
        if (target == no_object || kept == no_object || !scene.dominates(kept, target)) return;
        key_type = scene.type_of(target);
        if (held++ == 0) attribute = attribute_with(scene, kept, target);
    });
    if (looked_at == 0 || 2 * held <= looked_at) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("a WeakKeyDictionary that cannot shrink: each value refers to its own key, ",
                                key_type, attribute.empty() ? "" : ", by ", attribute),
                 .fix = attribute.empty() ? "keep a weakref.ref to the key in the value"
                                          : "make " + attribute + " a weakref.ref"};
}

constexpr Rule rules_of_caches[] = {{"lru-cache", unbounded_cache}, {"weak-keys", weak_keys_held}};

}  // namespace

std::span<const Rule> cache_rules() { return rules_of_caches; }

}  // namespace heapsift
