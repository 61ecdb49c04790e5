// Caches: functools.lru_cache and cache, and dictionaries with weak keys whose values refer to their own keys.
//
// lru_cache(maxsize=None), which is what functools.cache makes, has no bound: its field maxsize is negative
// (_functoolsmodule.c, lru_cache_new). On a method every key has `self` in it, so the cache keeps each instance
// alive for as long as the class lives.

#include "analysis/suspects/rules.h"

namespace heapsift {
namespace {

/// The cache of a decorated function: the wrapper, for its dict or itself.
ObjectId wrapper_of(const Scene& scene) {
    for (const ObjectId object : {scene.object(), scene.owner()})
        if (scene.is_a(object, {"functools._lru_cache_wrapper"})) return object;
    return no_object;
}

/// The class that a method's qualified name names: "Page" of "Page.render"; "" of a plain function.
std::string class_in(const std::string& qualname) {
    const auto dot = qualname.rfind('.');
    if (dot == std::string::npos || dot == 0 || qualname[dot - 1] == '>') return {};
    const auto before = qualname.rfind('.', dot - 1);
    return qualname.substr(before == std::string::npos ? 0 : before + 1,
                           dot - (before == std::string::npos ? 0 : before + 1));
}

/// Whether the keys of a cache begin with instances of that class, or of a subclass.
bool keys_have_instances(const Scene& scene, Address cache, const std::string& of_class) {
    constexpr int most_keys = 16;
    int looked_at = 0, with = 0;
    const PythonHeap& python = scene.python();
    const HeapSnapshot& columns = scene.heap().snapshot();
    python.visit_dict(cache, [&](Address key, Address) {
        if (looked_at >= most_keys) return;
        ++looked_at;
        // The arguments are a tuple, or its subclass functools._HashedSeq a list: both begin with `self`.
        Address first = key;
        if (python.types().is(python.type_of(key), KnownType::tuple) && python.var_size(key) > 0)
            first = python.pointer(key + *python.layout().tuple.ob_item);
        TypeId type = python.type_of(first);
        for (int steps = 0; type != no_type && steps < 100; ++steps, type = columns.types[type].base) {
            const std::string& name = columns.types[type].name;
            if (name == of_class || name.ends_with("." + of_class)) {
                ++with;
                break;
            }
        }
    });
    return looked_at > 0 && 2 * with > looked_at;
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
    if (!of_class.empty() && keys_have_instances(scene, cache, of_class))
        return Cause{
            .kind = {},
            .words = words("the cache", of, " keeps the `self` of every call: ", CauseWords::count(entries),
                           " entries", maxsize < 0 ? ", maxsize=None" : ""),
            .fix = "use functools.cached_property, or set maxsize"};
    if (maxsize >= 0)
        return Cause{.kind = {},
                     .words = words("the cache", of, ": ", CauseWords::count(entries),
                                    " entries of maxsize=", std::to_string(maxsize)),
                     .fix = "lower maxsize, or cache something smaller"};
    return Cause{.kind = {},
                 .words = words("a cache without a bound", of, ": ", CauseWords::count(entries),
                                " entries, maxsize=None"),
                 .fix = "set maxsize, or call cache_clear()"};
}

/// Values that keep their own keys alive: the entries can never go.
std::optional<Cause> weak_keys_held(const Scene& scene) {
    const ObjectId owner = scene.owner();
    if (!scene.is_a(owner, {"weakref.WeakKeyDictionary"})) return std::nullopt;
    const auto& l = scene.python().layout().weakref;
    const HeapSnapshot& columns = scene.heap().snapshot();
    constexpr int most_entries = 64;
    int looked_at = 0, held = 0;
    std::string key_type;
    scene.python().visit_dict(columns.address_of(scene.object()), [&](Address key, Address value) {
        if (looked_at >= most_entries || !l.wr_object.present()) return;
        ++looked_at;
        const ObjectId target = columns.find(scene.python().pointer(key + *l.wr_object));
        const ObjectId kept = columns.find(value);
        if (target == no_object || kept == no_object || !scene.dominates(kept, target)) return;
        key_type = scene.type_of(target);
        ++held;
    });
    if (looked_at == 0 || 2 * held <= looked_at) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("a WeakKeyDictionary that cannot shrink: each value refers to its own key, ",
                                key_type),
                 .fix = "keep a weakref.ref to the key in the value"};
}

constexpr Rule rules_of_caches[] = {{"lru-cache", unbounded_cache}, {"weak-keys", weak_keys_held}};

}  // namespace

std::span<const Rule> cache_rules() { return rules_of_caches; }

}  // namespace heapsift
