// Callbacks and errors that are kept: closures, bound methods, partials; exceptions with their tracebacks.

#include "analysis/suspects/rules.h"

#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("suspects: closures are named with the variable by which each keeps most", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = program.cell(payload(program));
        functions.push_back(program.function(
            "make.<locals>.on_paid", {{"number", program.cell(program.heap.real(i))}, {"body", last}}));
    }
    const Address callbacks = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"CALLBACKS", callbacks}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(callbacks) == "closures");
    CHECK(suspected.words_of(callbacks) ==
          "closures of make.<locals>.on_paid(), app.py:10; each keeps its `body` (" +
              suspected.size_of(last) + ")");
    CHECK(suspected.fix_of(callbacks) == "unsubscribe what is done with, or let it keep less than `body`");
    CHECK_FALSE(suspected.of(callbacks).general);
}

TEST_CASE("suspects: a closure that functools.wraps called by another name is called by its code's",
          "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    for (int i = 0; i < 20; ++i) {
        const Address function =
            program.function("audit.<locals>.keeper", {{"last", program.cell(payload(program))}});
        program.heap.set(function, program.heap.layout().function.func_qualname, program.heap.str("view"));
        functions.push_back(function);
    }
    const Address wrapped = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"WRAPPED", wrapped}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(wrapped) == "closures");
    CHECK(suspected.words_of(wrapped).starts_with("closures of audit.<locals>.keeper(), app.py:10; each"));
}

TEST_CASE("suspects: what all closures share is not said to be each one's", "[program][suspects]") {
    ProgramHeap program;
    const Address shared = program.cell(payload(program));
    std::vector<Address> functions;
    for (int i = 0; i < 200; ++i) functions.push_back(program.function("on_paid", {{"body", shared}}));
    const Address callbacks = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"CALLBACKS", callbacks}, {"SHARED", shared}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(callbacks) == "closures");
    CHECK(suspected.words_of(callbacks) == "closures of on_paid(), app.py:10");
    CHECK(suspected.fix_of(callbacks) == "unsubscribe what is done with");
}

TEST_CASE("suspects: plain functions are no closures, nor are few closures among them",
          "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    for (int i = 0; i < 200; ++i) functions.push_back(program.function("handle"));
    functions.push_back(program.function("on_paid", {{"body", program.cell(payload(program, 100))}}));
    const Address handlers = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"HANDLERS", handlers}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(handlers) == "module-container");
}

TEST_CASE("suspects: bound methods are named with the class of the objects that they keep",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.python_class("Widget", {"text"}),
                  function = program.function("Widget.redraw");
    std::vector<Address> methods;
    for (int i = 0; i < 20; ++i)
        methods.push_back(bound_method(program, program.instance(type, {payload(program)}), function));
    const Address listeners = program.heap.set(methods, 64);
    program.module("app", "/srv/app/app.py", {{"Widget", type}, {"LISTENERS", listeners}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(listeners) == "bound-methods");
    CHECK(suspected.words_of(listeners) ==
          "bound methods Widget.redraw(), app.py:10; each keeps its app.Widget");
    CHECK(suspected.fix_of(listeners) == "unsubscribe, or hold them weakly: weakref.WeakMethod");
}

TEST_CASE("suspects: methods of many functions and classes are called by neither", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> methods;
    ProgramHeap::Named globals;
    for (const char* name : {"A", "B", "C", "D", "E"}) {
        const Address type = program.python_class(name, {"text"});
        globals.emplace_back(name, type);
        for (int i = 0; i < 4; ++i)
            methods.push_back(bound_method(program, program.instance(type, {payload(program)}),
                                           program.function(std::string(name) + ".run")));
    }
    const Address jobs = program.list(methods);
    globals.emplace_back("JOBS", jobs);
    program.module("app", "/srv/app/app.py", globals);
    const Suspected suspected(program);
    CHECK(suspected.kind_of(jobs) == "bound-methods");
    CHECK(suspected.words_of(jobs) == "bound methods");
}

TEST_CASE("suspects: partials are named with the function that they call", "[program][suspects]") {
    ProgramHeap program;
    const Address send = program.function("send");
    std::vector<Address> partials, calls;
    for (int i = 0; i < 20; ++i) {
        partials.push_back(partial(program, send, payload(program)));
        calls.push_back(program.heap.tuple({send, payload(program)}));
    }
    const Address jobs = program.list(partials), others = program.list(calls);
    program.module("app", "/srv/app/app.py", {{"send", send}, {"JOBS", jobs}, {"CALLS", others}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(jobs) == "partials");
    CHECK(suspected.words_of(jobs) == "partials of send(), app.py:10; each keeps its arguments");
    CHECK(suspected.fix_of(jobs) == "unsubscribe what is done with");
    CHECK(suspected.kind_of(others) == "module-container");  // tuples of the same content
}

TEST_CASE("suspects: exceptions are named with where they were raised, and the local that each keeps",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "ValueError");
    std::vector<Address> errors;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = payload(program);
        const Address outer = program.frame_object("main", {}),
                      inner = program.frame_object("fail", {{"big_local", last}});
        errors.push_back(exception(program, type, {}, {outer, inner}));
    }
    const Address kept = program.list(errors);
    program.module("app", "/srv/app/app.py", {{"ERRORS", kept}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(kept) == "exceptions");
    CHECK(suspected.words_of(kept) ==
          "ValueError raised in fail(), app.py:12; each traceback keeps `big_local` (" +
              suspected.size_of(last) + ")");
    CHECK(suspected.fix_of(kept) == "keep str(error), or error.with_traceback(None)");
}

TEST_CASE("suspects: no local is named where several of a traceback keep as much", "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "ValueError");
    std::vector<Address> errors;
    for (int i = 0; i < 20; ++i)
        errors.push_back(exception(
            program, type, {},
            {program.frame_object(
                "fail", {{"a", payload(program)}, {"b", payload(program)}, {"c", payload(program)}})}));
    const Address kept = program.list(errors);
    program.module("app", "/srv/app/app.py", {{"ERRORS", kept}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(kept) ==
          "ValueError raised in fail(), app.py:12; each keeps its traceback, with the locals of those calls");
}

TEST_CASE("suspects: what exceptions keep themselves is not said to be kept by tracebacks",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "HTTPError");
    std::vector<Address> never_raised, with_argument, with_attribute;
    Address attribute;
    for (int i = 0; i < 20; ++i) {
        never_raised.push_back(exception(program, type, {payload(program)}, {}));
        const auto raised = [&](const std::vector<Address>& args) {
            return exception(program, type, args,
                             {program.frame_object("fetch", {{"number", program.heap.real(i)}})});
        };
        with_argument.push_back(raised({payload(program)}));
        attribute = payload(program);
        with_attribute.push_back(raised({}));
        program.heap.set(with_attribute.back(), program.heap.layout().exception.dict,
                         program.dict({{"response", attribute}}));
    }
    const Address kept = program.list(never_raised), by_argument = program.list(with_argument),
                  by_attribute = program.list(with_attribute);
    program.module("app", "/srv/app/app.py",
                   {{"KEPT", kept}, {"BY_ARGUMENT", by_argument}, {"BY_ATTRIBUTE", by_attribute}});
    const Suspected suspected(program);
    for (const Address errors : {kept, by_argument, by_attribute})
        CHECK(suspected.kind_of(errors) == "exceptions");
    CHECK(suspected.words_of(kept) == "HTTPError objects that are kept, without tracebacks");
    CHECK(suspected.fix_of(kept) == "keep only the last few: collections.deque(maxlen=…)");
    CHECK_THAT(suspected.words_of(by_argument),
               ContainsSubstring("HTTPError raised in fetch(), app.py:12; each keeps its `args` ("));
    CHECK(suspected.words_of(by_attribute) ==
          "HTTPError raised in fetch(), app.py:12; each keeps its `response` (" +
              suspected.size_of(attribute) + ")");
    for (const Address errors : {by_argument, by_attribute})
        CHECK(suspected.fix_of(errors) == "keep str(error), not the error");
}

TEST_CASE("suspects: of several attributes of exceptions with as much each none is named",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "HTTPError");
    std::vector<Address> errors;
    for (int i = 0; i < 20; ++i) {
        errors.push_back(exception(program, type, {},
                                   {program.frame_object("fetch", {{"number", program.heap.real(i)}})}));
        program.heap.set(
            errors.back(), program.heap.layout().exception.dict,
            program.dict(
                {{"request", payload(program)}, {"response", payload(program)}, {"body", payload(program)}}));
    }
    const Address kept = program.list(errors);
    program.module("app", "/srv/app/app.py", {{"ERRORS", kept}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(kept) == "HTTPError raised in fetch(), app.py:12");
    CHECK(suspected.fix_of(kept) == "keep str(error), not the error");
}

TEST_CASE("suspects: exceptions that keep the errors which they were raised from", "[program][suspects]") {
    ProgramHeap program;
    const auto& l = program.heap.layout().exception;
    const Address type = exception_type(program, "HTTPError"), cause = exception_type(program, "OSError");
    // Whose call has much: the first error's, or that of the one raised from it.
    const bool of_first = GENERATE(true, false), explicitly = GENERATE(true, false);
    std::vector<Address> errors;
    for (int i = 0; i < 20; ++i) {
        const Address little = program.heap.real(i), much = payload(program);
        const Address first = exception(
            program, cause, {}, {program.frame_object("connect", {{"packet", of_first ? much : little}})});
        errors.push_back(exception(program, type, {},
                                   {program.frame_object("fetch", {{"body", of_first ? little : much}})}));
        program.heap.set(errors.back(), explicitly ? l.cause : l.context, first);
    }
    const Address kept = program.list(errors);
    program.module("app", "/srv/app/app.py", {{"ERRORS", kept}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(kept) == "exceptions");
    if (of_first) {
        CHECK(suspected.words_of(kept) ==
              "HTTPError objects; each keeps the error that it was raised from, and the locals of that "
              "error's calls");
        CHECK(suspected.fix_of(kept) == "keep str(error), or set its __context__ and __cause__ to None");
    } else {
        CHECK_THAT(suspected.words_of(kept),
                   ContainsSubstring("raised in fetch(), app.py:12; each traceback keeps `body` ("));
    }
}

TEST_CASE("suspects: the last error of sys is known by its name there", "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "KeyError");
    const Address rows = program.list(payloads(program, 20)), arguments = program.list(payloads(program, 20));
    const Address error = exception(program, type, {}, {program.frame_object("broken", {{"rows", rows}})});
    const std::string name = GENERATE("last_value", "last_exc", "last_error");
    program.module("sys", "", {{name, error}, {"argv", arguments}});
    const Suspected suspected(program);
    if (name == "last_error") {  // no name that Python gives
        CHECK(suspected.kind_of(rows) == "traceback");
    } else {
        CHECK(suspected.kind_of(rows) == "last-error");
        CHECK(suspected.words_of(rows) ==
              "the last error that nothing caught: its frames are kept for debuggers");
        CHECK(suspected.fix_of(rows) == "del sys.last_value, sys.last_traceback, sys.last_exc");
    }
    CHECK(suspected.kind_of(arguments) == "module-container");
}

TEST_CASE("suspects: a local that one stored exception keeps is told by that exception",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "KeyError");
    const Address rows = program.list(payloads(program, 20)), argument = program.list(payloads(program, 20));
    const Address error = exception(program, type, {}, {program.frame_object("broken", {{"rows", rows}})}),
                  unraised = exception(program, type, {argument}, {});
    program.module("app", "/srv/app/app.py", {{"LAST", error}, {"NEXT", unraised}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "traceback");
    CHECK(suspected.words_of(rows) == "KeyError raised in broken(), app.py:12 keeps the locals of its calls");
    CHECK(suspected.fix_of(rows) == "keep str(error), or error.with_traceback(None)");
    CHECK(suspected.kind_of(argument) == "container");  // no traceback keeps an argument
}

TEST_CASE("suspects: what was told to atexit is kept until the process ends", "[program][suspects]") {
    ProgramHeap program;
    const Address clean_up = program.function("clean_up");
    std::vector<std::pair<Address, Address>> callbacks;
    for (int i = 0; i < 20; ++i) callbacks.emplace_back(clean_up, program.heap.tuple({payload(program)}));
    const Address first = callbacks.front().second;
    program.call_at_exit(callbacks);
    program.module("app", "/srv/app/app.py", {{"clean_up", clean_up}});
    const Analysed analysed(program);
    CHECK(analysed.group(first) == "atexit callbacks");
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 20 * 4000, 10);
    REQUIRE(holders.size() == 1);
    CHECK_FALSE(holders[0].object);
    CHECK(holders[0].many >= 20);
    const Cause cause = find_cause(Scene(analysed.retained, holders[0]));
    CHECK(cause.kind == "atexit");
    CHECK(sentence(cause.words) ==
          "arguments of callbacks, clean_up(), app.py:10, that atexit calls when the process ends");
    CHECK(cause.fix == "atexit.unregister what is done with, or register one function that cleans up all");
}

TEST_CASE("suspects: methods that atexit is to call, with what they keep", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.python_class("Workspace", {"rows"}),
                  clean_up = program.function("Workspace.clean_up");
    std::vector<std::pair<Address, Address>> callbacks;
    for (int i = 0; i < 20; ++i)
        callbacks.emplace_back(bound_method(program, program.instance(type, {payload(program)}), clean_up),
                               program.heap.tuple({}));
    program.call_at_exit(callbacks);
    program.module("app", "/srv/app/app.py", {{"Workspace", type}, {"clean_up", clean_up}});
    const Analysed analysed(program);
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 20 * 4000, 10);
    REQUIRE(holders.size() == 1);
    const Cause cause = find_cause(Scene(analysed.retained, holders[0]));
    CHECK(cause.kind == "atexit");
    CHECK(sentence(cause.words) ==
          "bound methods Workspace.clean_up(), app.py:10; each keeps its app.Workspace; atexit "
          "calls them when the process ends");
}

TEST_CASE("suspects: what a signal handler refers to", "[program][suspects]") {
    ProgramHeap program;
    const std::uint64_t number = GENERATE(1, 10, 64);
    const Address rows = program.list(payloads(program, 20)),
                  handler = program.function("on_signal", {{"rows", program.cell(rows)}});
    program.handle_signal(number, handler);
    program.module("app", "/srv/app/app.py", {});
    const Suspected suspected(program);
    CHECK(suspected.analysed.group(handler) == "signal handlers");
    CHECK(suspected.kind_of(rows) == "signal-handler");
    CHECK(suspected.words_of(rows) ==
          "kept by a signal handler, on_signal(), app.py:10, as long as it is installed");
}

TEST_CASE("suspects: C code that holds a function is no table of signal handlers", "[program][suspects]") {
    ProgramHeap program;
    const Address rows = program.list(payloads(program, 20)),
                  function = program.function("on_data", {{"rows", program.cell(rows)}});
    program.hold_natively(function);
    program.module("app", "/srv/app/app.py", {});
    const Suspected suspected(program);
    CHECK(suspected.analysed.group(function) == "native");
    CHECK(suspected.kind_of(rows) == "container");
}

TEST_CASE("suspects: a traceback keeps the local of a call that did not raise", "[program][suspects]") {
    ProgramHeap program;
    const Address type = exception_type(program, "KeyError");
    std::vector<Address> errors;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = payload(program);
        const Address outer = program.frame_object("ingest", {{"raw", last}}),
                      inner = program.frame_object("parse", {});
        errors.push_back(exception(program, type, {}, {outer, inner}));
    }
    const Address kept = program.list(errors);
    program.module("app", "/srv/app/app.py", {{"ERRORS", kept}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(kept) ==
          "KeyError raised in parse(), app.py:12; each traceback keeps `raw` of "
          "ingest() (" +
              suspected.size_of(last) + ")");
}

TEST_CASE("suspects: receivers beside their keys, in tuples", "[program][suspects]") {
    ProgramHeap program;
    const bool all = GENERATE(true, false);  // few are receivers
    const Address type = program.python_class("Report", {"text"}),
                  function = program.function("Report.changed"), on_change = program.function("on_change");
    std::vector<Address> receivers, functions;
    for (int i = 0; i < 20; ++i) {
        const Address text = payload(program), key = program.heap.real(i);
        receivers.push_back(program.heap.tuple(
            {key, all || i < 5 ? bound_method(program, program.instance(type, {text}), function) : text}));
        functions.push_back(
            program.heap.tuple({key, all ? program.function("watch.<locals>.on_change",
                                                            {{"rows", program.cell(payload(program))}})
                                         : on_change}));
    }
    const Address listed = program.list(receivers), closures = program.list(functions);
    program.module(
        "app", "/srv/app/app.py",
        {{"Report", type}, {"RECEIVERS", listed}, {"CLOSURES", closures}, {"on_change", on_change}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(listed) == (all ? "bound-methods" : "module-container"));
    if (!all) return;
    CHECK(suspected.words_of(listed) ==
          "bound methods Report.changed(), app.py:10; each keeps its app.Report");
    CHECK(suspected.kind_of(closures) == "closures");
}

TEST_CASE("suspects: a wrapper's closure is that of the function which it wraps", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = program.cell(payload(program));
        const Address trace = program.function("export.<locals>.trace", {{"lines", last}}),
                      wrap = program.function("listen.<locals>.wrap", {{"original", program.cell(trace)}});
        functions.push_back(wrap);
    }
    const Address listeners = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"LISTENERS", listeners}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(listeners) ==
          "closures of export.<locals>.trace(), app.py:10; each keeps its `lines` (" +
              suspected.size_of(last) + ")");
}

TEST_CASE("suspects: closures that only pass a call on are told by the bound methods that they have",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.python_class("Audit", {"rows"}),
                  function = program.function("Audit.on_update");
    std::vector<Address> functions;
    for (int i = 0; i < 20; ++i) {
        const Address method = bound_method(program, program.instance(type, {payload(program)}), function);
        functions.push_back(program.function("listen.<locals>.wrap", {{"fn", program.cell(method)}}));
    }
    const Address listeners = program.list(functions);
    program.module("app", "/srv/app/app.py", {{"LISTENERS", listeners}, {"Audit", type}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(listeners) == "closures");
    CHECK(suspected.words_of(listeners) ==
          "closures of listen.<locals>.wrap(), app.py:10, around bound methods Audit.on_update(), app.py:10; "
          "each "
          "keeps its app.Audit");
    CHECK(suspected.fix_of(listeners) == "unsubscribe, or hold them weakly: weakref.WeakMethod");
}
