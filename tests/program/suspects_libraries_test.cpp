// What libraries keep until they are told otherwise.

#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// Objects of that type with much in them each.
std::vector<Address> full_instances(ProgramHeap& program, Address type, int count = 20) {
    std::vector<Address> made;
    for (int i = 0; i < count; ++i) made.push_back(program.instance(type, {payload(program)}));
    return made;
}

}  // namespace

TEST_CASE("suspects: figures that pyplot keeps are known by the class that has them", "[program][suspects]") {
    const bool own = GENERATE(false, true);  // a class of the program by the same name
    ProgramHeap program;
    const Address figure = program.python_class("Figure", {"axes"});
    const Address figures = program.list(full_instances(program, figure));
    const std::string module = own ? "app" : "matplotlib._pylab_helpers";
    const Address gcf = program.class_with("Gcf", {.module = module, .members = {{"figs", figures}}});
    program.module("app", "/srv/app/app.py", {{"Figure", figure}, {"Gcf", gcf}});
    const Suspected suspected(program);
    if (own) {
        CHECK(suspected.kind_of(figures) == "class-attribute");
        return;
    }
    CHECK(suspected.kind_of(figures) == "library");
    CHECK(suspected.words_of(figures) == "figures that pyplot keeps until they are closed");
    CHECK(suspected.fix_of(figures) == "plt.close(figure) once it is drawn");
}

TEST_CASE("suspects: a log of queries is Django's in a connection of Django", "[program][suspects]") {
    const bool of_django = GENERATE(false, true);  // else a class of the program that calls something so
    ProgramHeap program;
    const Address type = program.class_with(
        "BaseDatabaseWrapper",
        {.module = of_django ? "django.db.backends.base.base" : "app", .attributes = {"queries_log"}});
    const Address log = deque(program, payloads(program, 20));
    program.module("app", "/srv/app/app.py",
                   {{"Connection", type}, {"CONNECTION", program.instance_with(type, {log})}});
    program.module("django", "/srv/env/lib/python3.13/site-packages/django/__init__.py", {});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(log) == (of_django ? "library" : "container"));
    if (of_django) {
        CHECK(suspected.of(log).keeper == "django.db.connection.queries");
        CHECK_THAT(suspected.words_of(log), ContainsSubstring("every statement of SQL"));
        CHECK_THAT(suspected.fix_of(log), ContainsSubstring("DEBUG = False"));
    }
}

TEST_CASE("suspects: a Session keeps what it has loaded, and what it has yet to write",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with("Session", {.module = "sqlalchemy.orm.session",
                                                        .attributes = {"identity_map", "_new"}}),
                  row = program.python_class("Row", {"text"});
    const Address loaded = program.list(full_instances(program, row)),
                  pending = program.list(full_instances(program, row));
    const Address session = program.instance_with(type, {loaded, program.heap.none()}),
                  writing = program.instance_with(type, {program.heap.none(), pending});
    program.module("app", "/srv/app/app.py",
                   {{"Session", type}, {"Row", row}, {"SESSION", session}, {"WRITING", writing}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(loaded) == "library");
    CHECK(suspected.words_of(loaded) == "a Session that keeps what it has loaded or changed");
    CHECK(suspected.fix_of(loaded) == "close the session after each unit of work");
    CHECK(suspected.kind_of(pending) == "pending-instances");
    CHECK(suspected.words_of(pending) == "a Session with instances that it has not written yet");
    CHECK(suspected.fix_of(pending) == "flush and commit from time to time");
}

TEST_CASE("suspects: test cases, mocks and finalizers are known by their bases", "[program][suspects]") {
    ProgramHeap program;
    const Address test_case = program.class_with("TestCase", {.module = "unittest.case"}),
                  own_case = program.class_with("Suite", {.base = test_case, .slots = {"large"}}),
                  base = program.class_with("Base", {.module = "unittest.mock"}),
                  mock = program.class_with(
                      "Mock", {.base = base, .module = "unittest.mock", .attributes = {"_mock_mock_calls"}}),
                  finalize = program.class_with("finalize", {.module = "weakref", .attributes = {"args"}});
    const Address suite = program.list(full_instances(program, own_case)),
                  calls = program.list(payloads(program, 20)),
                  arguments = program.list(payloads(program, 20));
    program.module("app", "/srv/app/app.py",
                   {{"types", program.list({test_case, own_case, base, mock, finalize})},
                    {"SUITE", suite},
                    {"API", program.instance_with(mock, {calls})},
                    {"FINALIZER", program.instance_with(finalize, {arguments})}});
    const Suspected suspected(program);
    for (const Address of : {suite, calls, arguments}) CHECK(suspected.kind_of(of) == "library");
    CHECK(suspected.words_of(suite) == "test cases that keep their attributes until the whole suite has run");
    CHECK(suspected.fix_of(suite) == "del self.x in tearDown, or addCleanup");
    CHECK(suspected.words_of(calls) == "a mock that records every call with its arguments");
    CHECK(suspected.fix_of(calls) == "mock.reset_mock(), or a new mock for each test");
    CHECK(suspected.words_of(arguments) ==
          "arguments of weakref.finalize, kept until the watched object goes");
    CHECK(suspected.fix_of(arguments) ==
          "pass it only what it needs: not the object itself, nor a bound method of it");
}

TEST_CASE("suspects: what weakref.finalize is to call, and whether that keeps the watched object",
          "[program][suspects]") {
    const bool of_itself = GENERATE(false, true);
    ProgramHeap program;
    const Address finalize =
                      program.class_with("finalize", {.module = "weakref", .attributes = {"_registry"}}),
                  info_type = program.class_with("finalize._Info",
                                                 {.module = "weakref", .slots = {"weakref", "func", "args"}}),
                  upload = program.python_class("Upload", {"chunks"}),
                  discard = program.function("Upload.discard");
    std::vector<Address> infos;
    for (int i = 0; i < 20; ++i) {
        const Address watched = program.instance(upload, {payload(program)});
        infos.push_back(program.instance(
            info_type,
            {weak_reference(program, watched), of_itself ? bound_method(program, watched, discard) : discard,
             program.heap.tuple({payload(program)})}));
    }
    const Address registry = program.list(infos);
    program.module("app", "/srv/app/app.py",
                   {{"types", program.list({finalize, info_type, upload, discard})},
                    {"FINALIZE", program.instance_with(finalize, {registry})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(registry) == "library");
    CHECK(suspected.words_of(registry) ==
          (of_itself
               ? "weakref.finalize is to call Upload.discard(), app.py:10, a bound method of the watched "
                 "object: this keeps the object alive"
               : "arguments of Upload.discard(), app.py:10, which weakref.finalize is to call when the "
                 "watched object goes"));
}

TEST_CASE("suspects: results of a notebook have the names that IPython gives them", "[program][suspects]") {
    // `shell`: a running one keeps its dict of results as `_oh`; a script may import IPython.
    const auto [name, module, shell, is_result] =
        GENERATE(table<std::string, std::string, bool, bool>({{"Out", "IPython", true, true},
                                                              {"_oh", "IPython", true, true},
                                                              {"_12", "IPython", true, true},
                                                              {"___", "IPython", true, true},
                                                              {"_", "IPython", false, false},
                                                              {"____", "IPython", true, false},
                                                              {"_1a", "IPython", true, false},
                                                              {"__12", "IPython", true, false},
                                                              {"rows", "IPython", true, false},
                                                              {"Out", "code", true, false}}));
    ProgramHeap program;
    const Address results = program.list(payloads(program, 20));
    std::vector<std::pair<std::string, Address>> globals{{name, results}};
    if (shell && name != "_oh") globals.emplace_back("_oh", program.list({}));
    program.module("__main__", "/srv/app/run.py", globals);
    program.module(module, "/srv/env/lib/python3.13/site-packages/" + module + "/__init__.py", {});
    const Suspected suspected(program);
    INFO(name);
    CHECK(suspected.kind_of(results) == (is_result ? "notebook-results" : "module-container"));
    if (is_result) {
        CHECK(suspected.words_of(results) ==
              "results of earlier cells, which the notebook keeps as Out and _");
        CHECK(suspected.fix_of(results) ==
              "end a cell with a semicolon; %reset -f frees them with all names (%reset out does not)");
    }
}

TEST_CASE("suspects: classes of one name are one that is made again and again", "[program][suspects]") {
    const auto [count, alike] = GENERATE(table<int, bool>({{20, true}, {20, false}, {12, true}}));
    ProgramHeap program;
    std::vector<Address> classes;
    for (int i = 0; i < count; ++i)
        classes.push_back(program.class_with(alike ? "Row" : "Row" + std::to_string(i),
                                             {.members = {{"body", payload(program)}}}));
    const Address made = program.list(classes);
    program.module("app", "/srv/app/app.py", {{"CLASSES", made}});
    const Suspected suspected(program);
    INFO(count << " classes");
    if (count == 20 && alike) {
        CHECK(suspected.kind_of(made) == "classes");
        CHECK(suspected.words_of(made) == "a class that is made again and again: app.Row");
        CHECK(suspected.fix_of(made) == "make it once, outside the function");
    } else {
        CHECK(suspected.kind_of(made) == "module-container");
    }
}

TEST_CASE("suspects: results of cells that modules hold together are Out's, if that has them",
          "[program][suspects]") {
    const bool in_out = GENERATE(true, false);
    ProgramHeap program;
    std::vector<Address> results = payloads(program, 20);
    ProgramHeap::Named globals, of_shell;
    Entries out;
    for (std::size_t i = 0; i < results.size(); ++i) {
        globals.emplace_back("_" + std::to_string(i), results[i]);
        of_shell.emplace_back("result" + std::to_string(i), results[i]);
        if (in_out) out.emplace_back(program.heap.integer(static_cast<std::int64_t>(i)), results[i]);
    }
    globals.emplace_back("_oh", program.dict_of(out));
    program.module("__main__", "/srv/app/run.py", globals);
    program.module("IPython", "/srv/env/lib/python3.13/site-packages/IPython/__init__.py", of_shell);
    const Suspected suspected(program);
    CHECK(suspected.joint().kind == (in_out ? "notebook-results" : "joint-holders"));
    CHECK(suspected.joint().keeper == (in_out ? "Out" : ""));
}

TEST_CASE("suspects: the texts that a notebook has shown are kept by its history", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with(
        "HistoryManager", {.module = "IPython.core.history", .attributes = {"output_hist_reprs"}});
    const Address texts = program.list(payloads(program, 20));
    program.module("IPython", "/srv/env/lib/python3.13/site-packages/IPython/__init__.py",
                   {{"HISTORY", program.instance_with(type, {texts})}, {"HistoryManager", type}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(texts) == "notebook-texts");
    CHECK(suspected.words_of(texts) == "texts that the notebook has shown of earlier results, each in full");
}

TEST_CASE("suspects: rows of a QuerySet, and changes that a Session has not written", "[program][suspects]") {
    ProgramHeap program;
    const Address query = program.class_with(
                      "QuerySet", {.module = "django.db.models.query", .attributes = {"_result_cache"}}),
                  session = program.class_with(
                      "Session", {.module = "sqlalchemy.orm.session", .attributes = {"_modified"}}),
                  row = program.python_class("Row", {"text"});
    const Address rows = program.list(full_instances(program, row)),
                  changed = program.list(full_instances(program, row));
    program.module("app", "/srv/app/app.py",
                   {{"types", program.list({query, session, row})},
                    {"LATEST", program.instance_with(query, {rows})},
                    {"SESSION", program.instance_with(session, {changed})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "library");
    CHECK_THAT(suspected.words_of(rows), ContainsSubstring("rows of a QuerySet"));
    CHECK_THAT(suspected.fix_of(rows), ContainsSubstring(".iterator()"));
    CHECK(suspected.kind_of(changed) == "pending-instances");
    CHECK_THAT(suspected.words_of(changed), ContainsSubstring("changes that it has not written yet"));
    CHECK(suspected.fix_of(changed) == "flush and commit from time to time");
}

TEST_CASE("suspects: a table of a Session that has nothing in it waits for nothing", "[program][suspects]") {
    ProgramHeap program;
    const Address session =
        program.class_with("Session", {.module = "sqlalchemy.orm.session", .attributes = {"_modified"}});
    const Address changed = program.heap.set({}, 1 << 16);
    program.module(
        "app", "/srv/app/app.py",
        {{"types", program.list({session})}, {"SESSION", program.instance_with(session, {changed})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(changed) == "emptied");
}

TEST_CASE(
    "suspects: of what a Session and a list hold together the list is named, for the Session holds weakly",
    "[program][suspects]") {
    ProgramHeap program;
    const Address state = program.class_with("InstanceState",
                                             {.module = "sqlalchemy.orm.state", .slots = {"dict"}}),
                  session = program.class_with(
                      "Session", {.module = "sqlalchemy.orm.session", .attributes = {"identity_map"}});
    std::vector<Address> states;
    for (int i = 0; i < 20; ++i) states.push_back(program.instance(state, {payload(program)}));
    program.module("app", "/srv/app/app.py",
                   {{"types", program.list({session, state})},
                    {"SESSION", program.instance_with(session, {program.list(states)})},
                    {"AUDIT", program.list(states)}});
    const Suspected suspected(program);
    CHECK(suspected.joint().kind == "joint-holders");
    CHECK_THAT(sentence(suspected.joint().words), ContainsSubstring("it holds instances weakly"));
    CHECK_THAT(suspected.joint().fix, ContainsSubstring("from what is named first"));
    const Analysed analysed(program);
    const auto holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    const auto joint = std::find_if(holders.begin(), holders.end(),
                                    [](const TopHolder& one) { return one.joint.has_value(); });
    REQUIRE(joint != holders.end());
    REQUIRE(joint->joint->holders.size() == 2);
    CHECK(joint->joint->holders[0].type == "list");
    CHECK(joint->joint->expressions[0].steps.front().name.name == "AUDIT");
}

TEST_CASE("suspects: Deferreds and delayed calls of Twisted say what they are to call",
          "[program][suspects]") {
    const bool with_callbacks = GENERATE(true, false);
    ProgramHeap program;
    const Address deferred = program.class_with(
                      "Deferred", {.module = "twisted.internet.defer", .attributes = {"callbacks"}}),
                  call = program.class_with(
                      "DelayedCall", {.module = "twisted.internet.base", .attributes = {"func", "args"}}),
                  client = program.python_class("Client", {"text"}),
                  answered = program.function("Client.answered"), expire = program.function("expire");
    const auto tuple = [&](const std::vector<Address>& items) { return program.heap.tuple(items); };
    std::vector<Address> waiting, calls;
    for (int i = 0; i < 20; ++i) {
        const Address method = bound_method(program, program.instance(client, {payload(program)}), answered);
        const Address pair = tuple({tuple({method, tuple({}), program.heap.none()}), tuple({})});
        waiting.push_back(program.instance_with(
            deferred, {with_callbacks ? program.list({pair}) : program.list({payload(program)})}));
        calls.push_back(program.instance_with(
            call, {with_callbacks ? expire : program.heap.none(), tuple({payload(program)})}));
    }
    const Address pending = program.list(waiting), later = program.list(calls);
    program.module(
        "app", "/srv/app/app.py",
        {{"PENDING", pending}, {"LATER", later}, {"types", program.list({deferred, call, client, expire})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(pending) == "library");
    CHECK(suspected.kind_of(later) == "library");
    CHECK(suspected.words_of(pending) ==
          (with_callbacks ? "Deferreds that are kept, with what they are to call, Client.answered(), "
                            "app.py:10, and its arguments"
                          : "Deferreds that are kept, with their callbacks and what these refer to"));
    CHECK(suspected.words_of(later) ==
          (with_callbacks ? "calls of reactor.callLater that are still to come: expire(), app.py:10"
                          : "calls of reactor.callLater that are still to come"));
}
