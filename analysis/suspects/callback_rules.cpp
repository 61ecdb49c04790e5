// Callbacks: functions, bound methods and partials in a list, set or dict of somebody who calls them. Each closure
// keeps its free variables, each bound method its object, each partial its arguments.

#include "analysis/suspects/rules.h"

namespace heapsift {
namespace {

constexpr const char* unsubscribe = "unsubscribe, or hold them weakly: weakref.WeakMethod";

std::optional<Cause> closures(const Scene& scene) {
    if (!scene.holds(KnownType::function)) return std::nullopt;
    const PythonHeap& python = scene.python();
    const HeapSnapshot& columns = scene.heap().snapshot();
    MostFrequent<SourcePlace> places;
    struct Variable {
        std::string name;
        std::uint64_t bytes = 0;
    };
    Variable largest;
    std::size_t with_closure = 0;
    for (const ObjectId function : scene.sample()) {
        const Address at = columns.address_of(function);
        places.add(place_of_function(python, at));
        const std::vector<std::string> names = free_variables(python, at);
        with_closure += !names.empty();
        const Address closure = scene.read(function).pointer(python.layout().function.func_closure);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const ObjectId cell =
                columns.find(python.pointer(closure + *python.layout().tuple.ob_item + 8 * i));
            if (cell == no_object || !scene.dominates(function, cell)) continue;
            if (const std::uint64_t bytes = scene.retained(cell); bytes > largest.bytes)
                largest = {names[i], bytes};
        }
    }
    if (2 * with_closure <= scene.sample().size()) return std::nullopt;  // plain functions: code, no data
    const SourcePlace* place = places.get();
    CauseWords cause = words("closures");
    if (place && place->known()) cause << " of " + words_of(*place);
    std::string fix = "unsubscribe what is done with";
    if (!largest.name.empty()) fix += ", or let it keep less than `" + largest.name + "`";
    if (!largest.name.empty())
        cause << "; each keeps its `" + largest.name + "` (" << CauseWords::size(largest.bytes) << ")";
    return Cause{.kind = {}, .words = std::move(cause), .fix = std::move(fix)};
}

std::optional<Cause> bound_methods(const Scene& scene) {
    if (!scene.holds(KnownType::method)) return std::nullopt;
    const PythonHeap& python = scene.python();
    MostFrequent<SourcePlace> places;
    MostFrequent<std::string> types;
    for (const ObjectId method : scene.sample()) {
        const auto& l = python.layout().method;
        places.add(place_of_function(python, scene.read(method).pointer(l.im_func)));
        types.add(scene.type_of(scene.heap().snapshot().find(scene.read(method).pointer(l.im_self))));
    }
    CauseWords cause = words("bound methods");
    if (const SourcePlace* place = places.get(); place && place->known()) cause << " " + words_of(*place);
    if (const std::string* type = types.get(); type && !type->empty()) cause << "; each keeps its " + *type;
    return Cause{.kind = {}, .words = std::move(cause), .fix = unsubscribe};
}

std::optional<Cause> partials(const Scene& scene) {
    if (!scene.holds({"functools.partial"})) return std::nullopt;
    const PythonHeap& python = scene.python();
    MostFrequent<SourcePlace> places;
    for (const ObjectId partial : scene.sample())
        places.add(place_of_function(python, scene.read(partial).pointer(python.layout().partial.fn)));
    CauseWords cause = words("partials");
    if (const SourcePlace* place = places.get(); place && place->known()) cause << " of " + words_of(*place);
    cause << "; each keeps its arguments";
    return Cause{.kind = {}, .words = std::move(cause), .fix = "unsubscribe what is done with"};
}

/// atexit's and signal's own tables of callbacks.
bool is_held_by_callbacks(const Scene& scene, std::string_view which) {
    return scene.holder().group_kind == GroupKind::callbacks && scene.holder().group == which;
}

/// ", on_signal(), app.py:12,": the first function on the path; "" if there is none.
std::string first_function(const Scene& scene) {
    for (const ObjectId object : scene.path()) {
        if (!scene.is(object, KnownType::function)) continue;
        const SourcePlace place =
            place_of_function(scene.python(), scene.heap().snapshot().address_of(object));
        if (place.known()) return ", " + words_of(place) + ",";
    }
    return {};
}

std::optional<Cause> at_exit(const Scene& scene) {
    if (!is_held_by_callbacks(scene, "atexit callbacks")) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("arguments of callbacks", first_function(scene),
                                " that atexit calls when the process ends"),
                 .fix = "atexit.unregister what is done with, or register one function that cleans up all"};
}

std::optional<Cause> signal_handler(const Scene& scene) {
    if (!is_held_by_callbacks(scene, "signal handlers")) return std::nullopt;
    return Cause{
        .kind = {},
        .words = words("kept by a signal handler", first_function(scene), " as long as it is installed"),
        .fix = "let the handler keep less, or signal.signal(…, signal.SIG_DFL) when it is done with"};
}

constexpr Rule rules_of_callbacks[] = {{"atexit", at_exit},
                                       {"signal-handler", signal_handler},
                                       {"closures", closures},
                                       {"bound-methods", bound_methods},
                                       {"partials", partials}};

}  // namespace

std::span<const Rule> callback_rules() { return rules_of_callbacks; }

}  // namespace heapsift
