// Where a holder stands, if nothing more special is known of it: how long what it keeps lives, and how a person
// makes it live shorter.

#include "analysis/object_paths.h"
#include "analysis/steps.h"
#include "analysis/suspects/rules.h"
#include "parsers/libraries/greenlets.h"

#include <algorithm>

namespace heapsift {
namespace {

std::string bound_it(const std::string& container) {
    if (container == "list") return "remove what is done with, or give it a bound";
    if (container == "deque")
        return "remove what is done with, or give it a bound: a maxlen, or a smaller one";
    if (container == "set") return "remove what is done with, or use weakref.WeakSet";
    return "remove entries that are done with, or give it a bound";
}

/// "; each app.Person keeps its `history` (48.9 KiB)": an attribute of instances that has most of what
/// is held, so that these grow, or are large; nothing if their memory is in no one attribute. If they are few: which it is.
Cause::AttributeOfEach add_what_each_keeps(const Scene& scene, CauseWords& cause) {
    constexpr std::uint64_t worth_a_word = 1024, few = 100;
    MostFrequent<std::string> names;
    std::uint64_t largest = 0;
    std::string type;
    for (const ObjectId object : scene.sample()) {
        const TypeId of = scene.heap().snapshot().type_of(object);
        if (of == no_type || !scene.heap().snapshot().types[of].python_class) return {};
        const auto part = scene.largest_part(object);
        names.add(part && !part->is_local ? part->name : std::string(), scene.retained(object));
        if (part && part->bytes > largest) largest = part->bytes;
        if (type.empty()) type = scene.type_of(object);
    }
    const std::string* name = names.get();
    if (!name || name->empty() || largest < worth_a_word) return {};
    cause << "; each " + short_type_name(type) + " keeps its `" + *name + "` (up to "
          << CauseWords::size(largest) << ")";
    std::vector<ClassInSource> classes =
        scene.classes_in_source(scene.heap().snapshot().type_of(scene.sample().front()));
    if (classes.empty() || scene.count() >= few) return {};
    return {*name, std::move(classes)};
}

/// The type of what is largest in a tuple, list or dict, by way of others inside it: of instances of classes, arrays and
/// the like; `no_type` if nothing has most of it, or that is a str, or another thing of everyday.
TypeId largest_type_in(const Scene& scene, ObjectId container) {
    constexpr int most_levels = 4;
    const auto is_wrapping = [&](ObjectId object) {
        return scene.is(object, KnownType::tuple) || !container_word(scene, object).empty();
    };
    ObjectId at = container;
    for (int level = 0; level < most_levels && is_wrapping(at); ++level) {
        const ObjectId child = scene.largest_below(at);
        if (child == no_object) return no_type;
        at = child;
    }
    const TypeId type = scene.heap().snapshot().type_of(at);
    const bool told = type != no_type && !is_wrapping(at) &&
                      (scene.heap().snapshot().types[type].python_class ||
                       scene.is_a(at, {"numpy.ndarray", "torch.Tensor"}));
    return told ? type : no_type;
}

/// "; most of each tuple is a sklearn.svm.SVC": where the type of what is held says nothing of that.
void add_what_is_in_each(const Scene& scene, CauseWords& cause) {
    MostFrequent<TypeId> types;
    std::string of;
    for (const ObjectId object : scene.sample()) {
        if (!scene.is(object, KnownType::tuple) && container_word(scene, object).empty()) return;
        if (of.empty()) of = scene.type_of(object);
        types.add(largest_type_in(scene, object), scene.retained(object));
    }
    const TypeId* type = types.get();
    if (type && *type != no_type)
        cause << "; most of each " + of + " is of type " + type_name(scene.heap().snapshot().types, *type);
}

/// A table that is much larger than what it holds: dicts and sets grow with what is put in, and never shrink by what
/// is taken out (CPython, Objects/dictobject.c and setobject.c, 2.7 to 3.13).
std::optional<Cause> emptied(const Scene& scene) {
    constexpr std::uint64_t of_an_item = 1024;  // bytes; a full table has at most 100
    const ObjectId object = scene.object();
    const std::string container = container_word(scene, object);
    const auto entries = entries_of_table(scene, object);
    if (!entries) return std::nullopt;
    const std::uint64_t used = *entries, own = scene.heap().facts(object).memory;
    if (2 * own < scene.retained(object) || own / of_an_item < used + 1) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("a table for what it once had: ", CauseWords::size(own), " for ",
                                CauseWords::count(used), used == 1 ? " entry" : " entries",
                                "; taking entries out does not shrink it"),
                 .fix = "make a new one of what is left: " + container + "(…)"};
}

/// Of objects that nothing else reaches.
std::optional<Cause> counted_and_not_found(const Scene& scene) {
    if (scene.holder().group_kind != GroupKind::held || scene.holder().joint) return std::nullopt;
    if (scene.heap().core().extent().cut())
        return Cause{
            .kind = {},
            .words = words("references to it are counted and were not found: this core is cut, and what "
                           "refers to it may lie in the part that is missing"),
            .fix = "take a whole core (ulimit -c, room on the disk)"};
    return Cause{
        .kind = {},
        .words = words("references to it are counted, and are nowhere in the core: C code took them and did "
                       "not give them back (Py_DECREF), or keeps them out of sight"),
        .fix = "find the extension that returns or takes such objects"};
}

std::optional<Cause> default_argument(const Scene& scene) {
    const auto& steps = scene.holder().expression.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const ReferenceStep& step = steps[i].name;
        if (step.within != ".__defaults__" && step.name != "__defaults__" && step.name != "__kwdefaults__")
            continue;
        const std::size_t at = i == 0 ? 0 : steps[i - 1].leads_to;
        if (at >= scene.path().size()) continue;
        const SourcePlace place =
            place_of_function(scene.python(), scene.heap().snapshot().address_of(scene.path()[at]));
        return Cause{.kind = {},
                     .words = words("the default of an argument",
                                    place.known() ? " of " + words_of(place) : std::string(),
                                    ": one object for all calls"),
                     .fix = "use None as the default; make the object inside"};
    }
    return std::nullopt;
}

/// logging's own table of loggers, by name: nothing ever takes one out (Lib/logging/__init__.py, Manager.getLogger).
std::optional<Cause> loggers(const Scene& scene) {
    if (!scene.holds({"logging.Logger"}) || !scene.is_a(scene.owner(), {"logging.Manager"}))
        return std::nullopt;
    CauseWords cause = words(CauseWords::count(scene.count()), " loggers, which logging never frees");
    add_what_each_keeps(scene, cause);
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .fix = "one logger for all, with a logging.LoggerAdapter or extra=",
                 .made_by = {"getLogger"}};
}

std::optional<Cause> thread_local_data(const Scene& scene) {
    const std::string& name = scene.holder().thread_local_name;
    if (name.empty()) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("thread-local data of ", name, ": kept until the thread ends"),
                 .fix = "clear it at the end of each request or job"};
}

std::optional<Cause> class_attribute(const Scene& scene) {
    const ObjectId owner = scene.owner();
    const std::string container = container_word(scene, scene.object());
    if (container.empty() || !scene.is_class(owner)) return std::nullopt;
    const HeapSnapshot& columns = scene.heap().snapshot();
    const TypeId as_class = columns.types.find(columns.address_of(owner));
    CauseWords cause =
        words("an attribute of the class ", short_type_name(type_name(columns.types, as_class)),
              ", shared by all instances");
    add_what_each_keeps(scene, cause);
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .fix = "make it in __init__, if each should have its own; else " + bound_it(container)};
}

std::optional<Cause> suspended_holder(const Scene& scene) {
    const HeapSnapshot& columns = scene.heap().snapshot();
    for (auto at = scene.path().rbegin(); at != scene.path().rend(); ++at) {
        const TypeId type = columns.type_of(*at);
        if (type == no_type) continue;
        const bool greenlet = is_greenlet(columns.types[type]);
        if (!greenlet && !has_own_frame(columns.types[type].known)) continue;
        const std::string where = suspended_words(scene.heap(), *at);
        if (where.empty()) continue;
        return Cause{.kind = {},
                     .words = words("a ", columns.types[type].name, " ", where, " keeps it as a local"),
                     .fix = greenlet ? "let it end: kill() it, or give what it waits for a timeout"
                            : columns.types[type].known == KnownType::coroutine
                                ? "keep less in it, del the local, or let the call end"
                                : "run it to its end, call close(), or del the local"};
    }
    return std::nullopt;
}

std::optional<Cause> local_of_call(const Scene& scene) {
    const TopHolder& holder = scene.holder();
    if (holder.in_work)
        return Cause{
            .kind = {},
            .words = words("an argument or a result that the call is still working with: kept until the "
                           "call ends"),
            .fix = "work in smaller parts, or use a generator"};
    if (holder.local.empty()) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("kept until that call ends"),
                 .fix = "del the local when it is done with, or keep less in it"};
}

std::optional<Cause> module_container(const Scene& scene) {
    const std::string container = container_word(scene, scene.object());
    if (container.empty() || scene.root().empty() || scene.holder().expression.from_address)
        return std::nullopt;
    if (scene.holder().expression.steps.size() > 1) return std::nullopt;
    CauseWords cause = words(container.front() == 'O' ? "an " : "a ", container,
                             " in a module: it lives as long as the process");
    Cause::AttributeOfEach grows_in = add_what_each_keeps(scene, cause);
    add_what_is_in_each(scene, cause);
    return Cause{
        .kind = {}, .words = std::move(cause), .fix = bound_it(container), .grows_in = std::move(grows_in)};
}

/// "`cache` of memoize.<locals>.wrapper(), app.py:6", which lives as long as that function; "" of anything else.
std::string words_of_free_variable(const Scene& scene) {
    const ReferenceStep* step = scene.step();
    const ObjectId cell = scene.owner(), function = scene.owner(2);  // .__closure__[0].cell_contents
    if (!step || !step->is(Field::cell_contents) || !scene.is(function, KnownType::function)) return {};
    const Address at = scene.heap().snapshot().address_of(function);
    const std::string name = name_of_cell(scene.python(), at, scene.heap().snapshot().address_of(cell));
    const SourcePlace place = place_of_function(scene.python(), at);
    return name.empty() || !place.known() ? std::string() : "`" + name + "` of " + words_of(place);
}

std::optional<Cause> any_container(const Scene& scene) {
    const std::string container = container_word(scene, scene.object());
    if (container.empty()) return std::nullopt;
    const ObjectId owner = scene.owner();
    std::string kept = (container.front() == 'O' ? "an " : "a ") + container;
    if (const std::string variable = words_of_free_variable(scene); !variable.empty())
        kept += ", the variable " + variable;
    else if (const ReferenceStep* step = scene.step(); step && step->kind == ReferenceStep::Kind::attribute &&
                                                       owner != no_object && !scene.is_class(owner))
        kept += " in an object of type " + scene.type_of(owner);
    CauseWords cause = words(kept);
    Cause::AttributeOfEach grows_in = add_what_each_keeps(scene, cause);
    add_what_is_in_each(scene, cause);
    return Cause{
        .kind = {}, .words = std::move(cause), .fix = bound_it(container), .grows_in = std::move(grows_in)};
}

/// Of what a Session and others hold together: its identity map is weak (sqlalchemy/orm/identity.py, WeakInstanceDict), so
/// that the others keep it.
bool is_state_of_session(const Scene& scene) {
    const std::vector<ObjectRow>& holders = scene.holder().joint->holders;
    return holders.size() > 1 && scene.holds({"sqlalchemy.orm.state.InstanceState"}) &&
           scene.is_a(holders.back().id, {"sqlalchemy.orm.session.Session"}) &&
           !scene.is_a(holders.front().id, {"sqlalchemy.orm.session.Session"});
}

/// No holder has it alone, so letting go of one frees nothing.
std::optional<Cause> held_together(const Scene& scene) {
    if (!scene.holder().joint) return std::nullopt;
    if (is_state_of_session(scene))
        return Cause{
            .kind = {},
            .words =
                words("what a Session of SQLAlchemy notes of each instance: it holds instances weakly, and "
                      "lets go of this by itself once nothing else holds them"),
            .fix = "remove what is done with from what is named first; the Session needs nothing"};
    const TypeId type = scene.holder().joint->content;
    const bool weakly = type != no_type && scene.heap().snapshot().types[type].weaklistoffset != 0;
    return Cause{.kind = {},
                 .words = words("each of them keeps all of it: it is freed when the last one lets go"),
                 .fix = scene.holder().joint->native ? "close all of them, or let go of all of them"
                        : weakly
                            ? "remove from every one of them what is done with, or hold weakly in all but one"
                            : "remove from every one of them what is done with"};
}

std::optional<Cause> c_variable(const Scene& scene) {
    const TopHolder& holder = scene.holder();
    if (!holder.by_c_code) return std::nullopt;
    CauseWords cause = words(holder.variable.empty() ? "C code of " + holder.group + " keeps each of them"
                                                     : "a variable of C code, in " + holder.group);
    add_what_each_keeps(scene, cause);
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .fix = "find the call that hands them to " + holder.group +
                        ", and the one that takes them out again (remove, close, clear)"};
}

constexpr Rule rules_of_places[] = {{"c-variable", c_variable, true},
                                    {"joint-holders", held_together, true},
                                    {"emptied", emptied},
                                    {"leaked-reference", counted_and_not_found, true},
                                    {"default-argument", default_argument},
                                    {"loggers", loggers},
                                    {"thread-local", thread_local_data, true},
                                    {"class-attribute", class_attribute, true},
                                    {"suspended-local", suspended_holder, true},
                                    {"local", local_of_call, true},
                                    {"module-container", module_container, true, true},
                                    {"container", any_container, true, true}};

}  // namespace

std::span<const Rule> place_rules() { return rules_of_places; }

}  // namespace heapsift
