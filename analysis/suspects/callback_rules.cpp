// Callbacks: functions, bound methods and partials in a list, set or dict of somebody who calls them. Each closure
// keeps its free variables, each bound method its object, each partial its arguments.

#include "analysis/suspects/rules.h"

namespace heapsift {
namespace {

constexpr const char* unsubscribe = "unsubscribe, or hold them weakly: weakref.WeakMethod";

/// What is called: those of the sample, or what each tuple of it has alone, as (key, receiver) of a signal. Empty if
/// most are something else.
std::vector<ObjectId> called(const Scene& scene, KnownType known) {
    if (scene.holds(known)) return scene.sample();
    std::vector<ObjectId> found;
    if (!scene.holds(KnownType::tuple)) return found;
    for (const ObjectId tuple : scene.sample()) {
        ObjectId one = no_object;
        scene.heap().visit_references(tuple, [&](const Reference& reference) {
            const ObjectId item = scene.heap().snapshot().find(reference.target);
            if (one == no_object && scene.is(item, known) && scene.dominates(tuple, item)) one = item;
        });
        if (one != no_object) found.push_back(one);
    }
    if (2 * found.size() <= scene.sample().size()) found.clear();
    return found;
}

/// A free variable of a function that it alone keeps.
struct FreeVariable {
    std::string name;
    std::uint64_t bytes = 0;
    ObjectId content = no_object;
};

/// The largest; its name is empty if there is none.
FreeVariable largest_free_variable(const Scene& scene, ObjectId function) {
    const PythonHeap& python = scene.python();
    const HeapSnapshot& columns = scene.heap().snapshot();
    const auto& l = python.layout();
    const std::vector<std::string> names = free_variables(python, columns.address_of(function));
    const Address closure = scene.read(function).pointer(l.function.func_closure);
    FreeVariable largest;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const ObjectId cell = columns.find(python.pointer(closure + *l.tuple.ob_item + 8 * i));
        if (cell == no_object || !scene.dominates(function, cell)) continue;
        if (const std::uint64_t bytes = scene.retained(cell); bytes > largest.bytes)
            largest = {names[i], bytes, columns.find(scene.read(cell).pointer(l.cell.ob_ref))};
    }
    return largest;
}

/// The function whose variable has most of it: a wrapper has the one that it wraps as a variable of its own.
ObjectId innermost(const Scene& scene, ObjectId function) {
    constexpr int most_wrappers = 8;
    for (int i = 0; i < most_wrappers; ++i) {
        const FreeVariable largest = largest_free_variable(scene, function);
        if (!scene.is(largest.content, KnownType::function) || !scene.dominates(function, largest.content) ||
            2 * scene.retained(largest.content) < scene.retained(function))
            break;
        function = largest.content;
    }
    return function;
}

/// " Audit.on_update(), app.py:4; each keeps its app.Audit": of most of them.
std::string words_of_methods(const Scene& scene, const std::vector<ObjectId>& methods) {
    const auto& l = scene.python().layout().method;
    MostFrequent<SourcePlace> places;
    MostFrequent<std::string> types;
    for (const ObjectId method : methods) {
        places.add(place_of_function(scene.python(), scene.read(method).pointer(l.im_func)));
        types.add(scene.type_of(scene.heap().snapshot().find(scene.read(method).pointer(l.im_self))));
    }
    std::string text;
    if (const SourcePlace* place = places.get(); place && place->known()) text += " " + words_of(*place);
    if (const std::string* type = types.get(); type && !type->empty()) text += "; each keeps its " + *type;
    return text;
}

/// The name that it has in every version: functools.wraps gives a function another one, and up to 3.10 its code has only
/// the last part of its own.
std::string stable_name(const PythonHeap& python, Address function, const SourcePlace& place) {
    const LayoutOffset code = python.layout().function.func_code;
    if (!code.present()) return place.function;
    const std::string own = place_of_code(python, python.pointer(function + *code)).function;
    const std::size_t dot = place.function.rfind('.');
    const bool agrees = own.empty() || place.function == own ||
                        (dot != std::string::npos && place.function.substr(dot + 1) == own);
    return agrees ? place.function : own;
}

std::optional<Cause> closures(const Scene& scene) {
    const std::vector<ObjectId> functions = called(scene, KnownType::function);
    if (functions.empty()) return std::nullopt;
    const PythonHeap& python = scene.python();
    const HeapSnapshot& columns = scene.heap().snapshot();
    MostFrequent<SourcePlace> places;
    MostFrequent<std::string> names;
    FreeVariable largest;
    std::vector<ObjectId> methods;  // that they have, and little else
    std::size_t with_closure = 0;
    for (const ObjectId outer : functions) {
        const ObjectId function = innermost(scene, outer);
        const SourcePlace here = place_of_function(python, columns.address_of(function));
        names.add(stable_name(python, columns.address_of(function), here));
        places.add(here);
        with_closure += !free_variables(python, columns.address_of(function)).empty();
        FreeVariable own = largest_free_variable(scene, function);
        if (scene.is(own.content, KnownType::method) && 2 * own.bytes >= scene.retained(outer))
            methods.push_back(own.content);
        if (own.bytes > largest.bytes) largest = std::move(own);
    }
    if (2 * with_closure <= functions.size()) return std::nullopt;  // plain functions: code, no data
    const SourcePlace* place = places.get();
    const std::string name = names.get() ? *names.get() : std::string();
    CauseWords cause = words("closures");
    if (place && place->known()) cause << " of " + words_of(*place);
    if (2 * methods.size() > functions.size())
        return Cause{.kind = {},
                     .words = std::move(cause << ", around bound methods" + words_of_methods(scene, methods)),
                     .fix = unsubscribe,
                     .function = name};
    std::string fix = "unsubscribe what is done with";
    if (!largest.name.empty()) fix += ", or let it keep less than `" + largest.name + "`";
    if (!largest.name.empty())
        cause << "; each keeps its `" + largest.name + "` (" << CauseWords::size(largest.bytes) << ")";
    return Cause{.kind = {}, .words = std::move(cause), .fix = std::move(fix), .function = name};
}

std::optional<Cause> bound_methods(const Scene& scene) {
    const std::vector<ObjectId> methods = called(scene, KnownType::method);
    if (methods.empty()) return std::nullopt;
    return Cause{
        .kind = {}, .words = words("bound methods", words_of_methods(scene, methods)), .fix = unsubscribe};
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
    std::vector<ObjectId> methods;
    std::vector<Address> functions;
    for (const ObjectId object : scene.held_by_group()) {
        if (scene.is(object, KnownType::method)) methods.push_back(object);
        if (scene.is(object, KnownType::function))
            functions.push_back(scene.heap().snapshot().address_of(object));
    }
    const std::string fix =
        "atexit.unregister what is done with, or register one function that cleans up all";
    if (methods.size() > functions.size())
        return Cause{.kind = {},
                     .words = words("bound methods", words_of_methods(scene, methods),
                                    "; atexit calls them when the process ends"),
                     .fix = fix,
                     .made_by = {"atexit"}};
    std::string called = first_function(scene);
    if (const std::string most = functions.empty() ? std::string() : words_of_most(scene, functions);
        called.empty() && !most.empty())
        called = ", " + most + ",";
    return Cause{.kind = {},
                 .words = words("arguments of callbacks", called, " that atexit calls when the process ends"),
                 .fix = fix,
                 .made_by = {"atexit"}};
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
