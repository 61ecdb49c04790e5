// What libraries are known to keep until they are told otherwise. A row names what is on the path or what is held;
// each is a fact of that library's documentation.

#include "analysis/suspects/rules.h"

#include <algorithm>
#include <array>
#include <functional>

namespace heapsift {
namespace {

/// Kept by a library under an attribute, a variable or a class of its own.
struct Known {
    const char* on_path;  // an instance of this, or this class itself, is on the path; null: not asked
    std::array<const char*, 3>
        steps;          // a written step of one of these names is on the path; all null: not asked
    const char* holds;  // what is held derives from this; null: not asked
    const char* words;
    const char* fix;
    const char* keeper = "";                          // Cause::keeper
    std::initializer_list<const char*> made_by = {};  // Cause::made_by
};

constexpr Known known[] = {
    {"matplotlib._pylab_helpers.Gcf",
     {"figs"},
     nullptr,
     "figures that pyplot keeps until they are closed",
     "plt.close(figure) once it is drawn",
     "",
     {"subplots", "figure", "subplot_mosaic"}},
    {"django.db.backends.base.base.BaseDatabaseWrapper",
     {"queries_log"},
     nullptr,
     "every statement of SQL, kept with settings.DEBUG or force_debug_cursor",
     "set DEBUG = False, or call django.db.reset_queries()",
     "django.db.connection.queries"},
    {"sqlalchemy.orm.session.Session",
     {"identity_map", "_transaction", "_deleted"},
     nullptr,
     "a Session that keeps what it has loaded or changed",
     "close the session after each unit of work"},
    {"sqlalchemy.orm.identity.WeakInstanceDict",
     {},
     nullptr,
     "the identity map of a Session: what it has loaded or changed",
     "close the session after each unit of work"},
    {"django.db.models.query.QuerySet",
     {"_result_cache"},
     nullptr,
     "the rows of a QuerySet that is kept: it stores them once somebody has looped over it",
     "keep what is needed of the rows (values_list), or loop over .iterator(), which stores none"},
    {nullptr,
     {},
     "unittest.case.TestCase",
     "test cases that keep their attributes until the whole suite has run",
     "del self.x in tearDown, or addCleanup"},
    {"weakref.finalize",
     {},
     nullptr,
     "arguments of weakref.finalize, kept until the watched object goes",
     "pass it only what it needs: not the object itself, nor a bound method of it"},
    {nullptr,
     {},
     "lxml.etree._Element",
     "elements of lxml, each of which keeps its whole document",
     "keep strings (element.text), or copy.deepcopy(element)"},
    {"unittest.mock.Base",
     {"_mock_mock_calls", "_mock_call_args_list", "_mock_method_calls"},
     nullptr,
     "a mock that records every call with its arguments",
     "mock.reset_mock(), or a new mock for each test"},
};

bool is_on_path(const Scene& scene, const char* type) {
    const HeapSnapshot& columns = scene.heap().snapshot();
    return std::any_of(scene.path().begin(), scene.path().end(), [&](ObjectId object) {
        if (scene.is_a(object, {type})) return true;
        const TypeId as_class = columns.types.find(columns.address_of(object));
        return as_class != no_type && columns.types[as_class].name == type;
    });
}

/// On the path, or on that of one of those that hold it together.
bool is_step(const Scene& scene, std::string_view name) {
    const auto is_on = [&](const PathExpression& expression) {
        return std::any_of(expression.steps.begin(), expression.steps.end(),
                           [&](const PrintedStep& step) { return step.name.name == name; });
    };
    const TopHolder& holder = scene.holder();
    return is_on(holder.expression) || (holder.joint && std::any_of(holder.joint->expressions.begin(),
                                                                    holder.joint->expressions.end(), is_on));
}

bool is_any_step(const Scene& scene, const Known& row) {
    return !row.steps[0] || std::any_of(row.steps.begin(), row.steps.end(),
                                        [&](const char* name) { return name && is_step(scene, name); });
}

bool is_loaded(const Scene& scene, std::string_view module) {
    const auto& modules = scene.heap().snapshot().roots->modules();
    return std::any_of(modules.begin(), modules.end(),
                       [&](const LoadedModule& one) { return one.name == module; });
}

std::optional<Cause> known_library(const Scene& scene) {
    if (entries_of_table(scene, scene.object()) == 0)
        return std::nullopt;  // what it once had is the library's no more
    for (const Known& one : known)
        if ((!one.on_path || is_on_path(scene, one.on_path)) && is_any_step(scene, one) &&
            (!one.holds || scene.holds({one.holds})))
            return Cause{.kind = {},
                         .words = words(one.words),
                         .fix = one.fix,
                         .keeper = one.keeper,
                         .made_by = {one.made_by.begin(), one.made_by.end()}};
    return std::nullopt;
}

/// The function that is called when one of the objects is due, of most of them; not known if they have none in common.
/// `callee` finds it.
SourcePlace called_when_due(const Scene& scene, const std::function<Address(ObjectId)>& callee) {
    std::vector<Address> called;
    for (const ObjectId one : scene.sample()) called.push_back(callee(one));
    return called_by_most(scene, called);
}

/// What weakref.finalize is to call, in its table of all of them: a bound method of the watched object keeps that.
std::optional<Cause> finalizers(const Scene& scene) {
    if (!is_on_path(scene, "weakref.finalize") || !scene.holds({"weakref.finalize._Info"}))
        return std::nullopt;
    const PythonHeap& python = scene.python();
    const auto& l = python.layout();
    std::size_t of_themselves = 0;
    const SourcePlace callee = called_when_due(scene, [&](ObjectId info) {
        const Address function = scene.attribute(info, "func"), watched = scene.attribute(info, "weakref");
        if (scene.is(scene.heap().snapshot().find(function), KnownType::method) && !watched.is_null() &&
            l.weakref.wr_object.present())
            of_themselves += python.pointer(function + *l.method.im_self) ==
                             python.pointer(watched + *l.weakref.wr_object);
        return function;
    });
    if (!callee.known()) return std::nullopt;
    const std::string called = words_of(callee);
    if (2 * of_themselves > scene.sample().size())
        return Cause{.kind = {},
                     .words = words("weakref.finalize is to call ", called,
                                    ", a bound method of the watched object: this keeps the object alive"),
                     .fix = "pass it a function, and only what that needs of the object",
                     .made_by = {"finalize"},
                     .made_of = names_of_callee(callee)};
    return Cause{.kind = {},
                 .words = words("arguments of ", called,
                                ", which weakref.finalize is to call when the watched object goes"),
                 .fix = "pass it only what it needs: not the object itself, nor a bound method of it",
                 .made_by = {"finalize"},
                 .made_of = names_of_callee(callee)};
}

/// Twisted's, each with a list of callbacks: ((callback, arguments, keywords), (errback, …)).
std::optional<Cause> deferreds(const Scene& scene) {
    if (!scene.holds({"twisted.internet.defer.Deferred"})) return std::nullopt;
    const PythonHeap& python = scene.python();
    const auto first_item = [&](Address container) {
        const ObjectId object = scene.heap().snapshot().find(container);
        if (python.var_size(container) <= 0) return Address();
        if (scene.is(object, KnownType::tuple))
            return python.pointer(container + *python.layout().tuple.ob_item);
        if (scene.is(object, KnownType::list))
            return python.pointer(python.pointer(container + *python.layout().list.ob_item));
        return Address();
    };
    const std::string place = words_of(called_when_due(scene, [&](ObjectId deferred) {
        return first_item(first_item(first_item(scene.attribute(deferred, "callbacks"))));
    }));
    return Cause{
        .kind = {},
        .words = words("Deferreds that are kept, ",
                       place.empty() ? "with their callbacks and what these refer to"
                                     : "with what they are to call, " + place + ", and its arguments"),
        .fix = "fire or cancel() those that are done with; addTimeout"};
}

/// Of Twisted's reactor.
std::optional<Cause> delayed_calls(const Scene& scene) {
    if (!scene.holds({"twisted.internet.base.DelayedCall"})) return std::nullopt;
    const SourcePlace callee =
        called_when_due(scene, [&](ObjectId call) { return scene.attribute(call, "func"); });
    const std::string place = words_of(callee);
    return Cause{.kind = {},
                 .words = words("calls of reactor.callLater that are still to come",
                                place.empty() ? "" : ": " + place),
                 .fix = "cancel() those that are done with",
                 .made_by = {"callLater"},
                 .made_of = names_of_callee(callee)};
}

/// The dict of results that a running shell of IPython keeps in `__main__`; null if there is none.
Address results_of_cells(const Scene& scene) {
    if (!is_loaded(scene, "IPython")) return {};
    for (const LoadedModule& one : scene.heap().snapshot().roots->modules())
        if (one.name == "__main__" && !one.dict.is_null())
            if (const Address results = scene.python().dict_value(one.dict, "_oh"); !results.is_null())
                return results;
    return {};
}

/// Whether most of what is held together are values of that dict: the modules that have them by other names as well
/// (_, _7, the shell's own namespaces) hold them together, and neither alone.
bool are_results(const Scene& scene, Address results) {
    const std::vector<ObjectId>& held = scene.sample();
    std::size_t found = 0;
    scene.python().visit_dict(results, [&](Address, Address value) {
        found += std::any_of(held.begin(), held.end(),
                             [&](ObjectId one) { return scene.heap().snapshot().address_of(one) == value; });
    });
    return 2 * found > held.size();
}

/// Out, and the names _, __, ___ and _N that are given to results.
bool is_name_of_result(const std::string& name) {
    const std::size_t bars = std::min(name.find_first_not_of('_'), name.size());
    const bool is_number =
        bars == 1 && name.size() > 1 &&
        std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
    return name == "Out" || name == "_oh" || is_number || (bars == name.size() && bars > 0 && bars <= 3);
}

std::optional<Cause> notebook_results(const Scene& scene) {
    const Address results = results_of_cells(scene);
    if (results.is_null()) return std::nullopt;  // a script that imports IPython
    const auto& steps = scene.holder().expression.steps;
    const bool by_name =
        scene.root() == "__main__" && !steps.empty() && is_name_of_result(steps.front().name.name);
    if (!by_name && !(scene.holder().joint && are_results(scene, results))) return std::nullopt;
    return Cause{
        .kind = {},
        .words = words("results of earlier cells, which the notebook keeps as Out and _"),
        .fix = "end a cell with a semicolon; %reset -f frees them with all names (%reset out does not)",
        .keeper = scene.holder().joint ? "Out" : ""};
}

/// IPython keeps, besides each result, the text that was shown of it (history_manager.output_hist_reprs).
std::optional<Cause> notebook_texts(const Scene& scene) {
    if (!is_step(scene, "output_hist_reprs") || !is_on_path(scene, "IPython.core.history.HistoryManager"))
        return std::nullopt;
    return Cause{.kind = {},
                 .words = words("texts that the notebook has shown of earlier results, each in full"),
                 .fix = "end a cell with a semicolon, or show less of a large result"};
}

/// What a Session was told to insert, and has not yet: closing it would lose these. And what was changed: its identity
/// map, which is weak, keeps that until it is written.
std::optional<Cause> pending_instances(const Scene& scene) {
    const bool is_new = is_step(scene, "_new"), is_changed = is_step(scene, "_modified");
    if ((!is_new && !is_changed) || !is_on_path(scene, "sqlalchemy.orm.session.Session")) return std::nullopt;
    if (entries_of_table(scene, scene.object()) == 0) return std::nullopt;  // all of it is written
    return Cause{.kind = {},
                 .words = is_new ? words("a Session with instances that it has not written yet")
                                 : words("a Session with changes that it has not written yet: it keeps each "
                                         "changed instance until then"),
                 .fix = "flush and commit from time to time"};
}

/// Of a few connections: many are a matter of closing them.
std::optional<Cause> sqlite_memory(const Scene& scene) {
    constexpr std::uint64_t many = 16;
    if (scene.count() >= many || !scene.content_is_a({"sqlite3.Connection"})) return std::nullopt;
    return Cause{
        .kind = {},
        .words = words("a connection of SQLite: the cache of its pages, or the whole database if that is "
                       "in memory (:memory:)"),
        .usual = true,
        .fix = "keep the database in a file, or delete rows that are done with"};
}

/// Classes that are made again and again: each has its dict, its MRO, its descriptors.
std::optional<Cause> many_classes(const Scene& scene) {
    if (scene.sample().size() < 16 || !scene.is_class(scene.sample().front())) return std::nullopt;
    const HeapSnapshot& columns = scene.heap().snapshot();
    MostFrequent<std::string> names;
    for (const ObjectId object : scene.sample()) {
        const TypeId as_class = columns.types.find(columns.address_of(object));
        names.add(as_class == no_type ? std::string() : columns.types[as_class].name);
    }
    const std::string* name = names.get();
    if (!name || name->empty()) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("a class that is made again and again: ", *name),
                 .fix = "make it once, outside the function"};
}

constexpr Rule rules_of_libraries[] = {{"notebook-results", notebook_results},
                                       {"notebook-texts", notebook_texts},
                                       {"pending-instances", pending_instances},
                                       {"library", finalizers},
                                       {"library", known_library},
                                       {"library", deferreds},
                                       {"library", delayed_calls},
                                       {"sqlite-memory", sqlite_memory},
                                       {"classes", many_classes}};

}  // namespace

std::span<const Rule> library_rules() { return rules_of_libraries; }

}  // namespace heapsift
