// Which functions of a program use what holds much, and by which names.

#include "analysis/suspects/code_that_names.h"
#include "tests/catch.h"
#include "tests/program/suspects_of.h"
#include "tests/program/written_code.h"

#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("suspects: the line that uses what holds it, first where something is added",
          "[program][suspects]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {{"PAID", list_of_closures(program, a_little)}});
    code_with_lines(program, "show", {"len", "PAID"}, {{1, {{op_load_global, 1 << 1}}}});
    code_with_lines(program, "fill", {"PAID"},
                    {{2, {{op_load_global, 0}}},
                     {2, {{op_load_const, 0}, {op_load_global, 0}, {op_load_const, 0}, {op_store_item, 0}}}});
    code_with_lines(program, "<module>", {"PAID"}, {{1, {{op_store_name, 0}}}});
    code_with_lines(program, "<module>", {"x", "PAID"},
                    {{20, {{op_store_name, 1}}},
                     {7, {{op_load_const, 0}, {op_load_name, 1}, {op_load_const, 0}, {op_store_item, 0}}}});
    code_with_lines(program, "traced", {"PAID"}, {{5, {{op_instrumented_line, 0}, {op_load_global, 0}}}});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(places_of(found[0].used_in) == Kinds{"fill:14", "<module>:37", "traced:10", "show:11"});
}

TEST_CASE("suspects: lines where a key and a shared variable are used", "[program][suspects]") {
    ProgramHeap program;
    const auto& l = program.heap.layout().code;
    const Address by_key = code_with_lines(program, "serve", {}, {{4, {{op_load_const, 1}}}});
    program.heap.set(by_key, l.co_consts,
                     program.heap.tuple({program.heap.none(), program.heap.str("cache")}));
    const Address shares = code_with_lines(program, "main.<locals>.handle", {}, {{6, {{op_load_deref, 1}}}});
    program.heap.set(shares, l.co_localsplusnames,
                     program.heap.tuple({program.heap.str("x"), program.heap.str("seen")}));
    program.heap.set(shares, l.co_nfreevars, std::int32_t{1});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    CHECK(places_of(code.of({{.kind = NameInSource::Kind::key, .text = "cache"}}, 8)) == Kinds{"serve:14"});
    CHECK(places_of(code.of({{.kind = NameInSource::Kind::variable,
                              .text = "seen",
                              .file = "app.py",
                              .within = "main.<locals>."}},
                            8)) == Kinds{"main.<locals>.handle:16"});
}

TEST_CASE("suspects: what makes such things also names what they are made of; the body of a module may",
          "[program][suspects]") {
    ProgramHeap program;
    code_with_lines(program, "warm", {"submit", "quick"}, {{1, {{op_load_attribute, 0}}}});
    code_with_lines(program, "<module>", {"submit", "slow"},
                    {{25, {{op_load_attribute, 0}, {op_load_name, 1}}}});
    code_with_lines(program, "flood", {"slow", "submit"},
                    {{2, {{op_load_global, 0}}}, {1, {{op_load_attribute, 2}}}});
    code_with_lines(program, "<module>", {"slow", "submit"}, {{1, {{op_import_from, 1}}}});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    CHECK(places_of(code.that_make({"submit"}, {"slow"}, 8)) == Kinds{"flood:13", "<module>:35"});
    const CodePlaces one = code.that_make({"submit"}, {}, 1);
    CHECK(places_of(one) == Kinds{"warm:11"});
    CHECK(one.more == 2);
    CHECK(code.that_make({"submit"}, {"other"}, 8).places.empty());
    CHECK(names_of_callee({"Cache.expire", "app.py", 3}) == Kinds{"expire"});
    CHECK(names_of_callee({"f.<locals>.g", "app.py", 3}).empty());
    CHECK(names_of_callee({}).empty());
}

TEST_CASE("suspects: the functions that use the name of what holds it, if they are asked for",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with("Board", {.attributes = {"callbacks"}});
    program.module("app", "/srv/app/app.py",
                   {{"Board", type},
                    {"PAID", list_of_closures(program, 2 * a_little)},
                    {"BOARD", program.instance_with(type, {list_of_closures(program, a_little)})}});
    for (const char* name : {"subscribe", "a", "b", "c"})
        program.code_using(name, "/srv/app/app.py", {"PAID", "append"});
    program.code_using("Board.attach", "/srv/app/app.py", {"callbacks"});
    program.code_using("other", "/srv/app/app.py", {"BOARD"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 2);
    CHECK(functions_of(found[0]) == Kinds{"a", "b", "c", "subscribe"});
    CHECK(found[0].more_used_in == 0);
    CHECK(functions_of(found[1]) == Kinds{"Board.attach"});  // the name nearest to what keeps it
    CHECK(found[1].more_used_in == 0);
    for (const Suspect& suspect : asked.suspects()) CHECK(suspect.used_in.empty());
}

TEST_CASE("suspects: a local has no name that another function uses", "[program][suspects]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    program.call("work", {{"callbacks", list_of_closures(program, a_little)}});
    program.code_using("attach", "/srv/app/app.py", {"callbacks"});
    SuspectsOf asked(program);
    CHECK(functions_of(asked.row("closures", true)).empty());
}

TEST_CASE("suspects: a global is used by each name that the program's modules have for it",
          "[program][suspects]") {
    ProgramHeap program;
    const Address paid = list_of_closures(program, a_little);
    program.module("app", "/srv/app/app.py", {{"PAID", paid}});
    program.module("shop", "/srv/app/shop.py", {{"listeners", paid}});  // from app import PAID as listeners
    program.module("bus", "/srv/env/lib/python3.13/site-packages/bus.py", {{"hooks", paid}});
    program.code_using("subscribe", "/srv/app/shop.py", {"listeners"});
    program.code_using("publish", "/srv/app/app.py", {"PAID"});
    program.code_using("other", "/srv/app/shop.py", {"hooks"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(functions_of(found[0]) == Kinds{"publish", "subscribe"});
}

TEST_CASE("suspects: what a library's mapping has is used by its key", "[program][suspects]") {
    const bool key_is_used = GENERATE(false, true), in_local = GENERATE(false, true);
    ProgramHeap program;
    const Address type = program.class_with("Application", {.module = "web", .attributes = {"_state"}});
    const Address cache = list_of_closures(program, a_little);
    program.module("web", "/srv/env/lib/python3.13/site-packages/web.py", {{"Application", type}});
    const Address app = program.instance_with(type, {program.dict({{"cache", cache}})});
    program.module("app", "/srv/app/app.py", {{"APP", in_local ? program.heap.none() : app}});
    if (in_local) {
        const Address work = program.call("work", {{"app", app}});
        write_lines(program, work, {{2, {{op_load_local, 0}, {op_pop, 0}}}});
    }
    const Address serve = program.code_using("serve", "/srv/app/app.py", {"request", "app"});
    if (key_is_used)
        program.heap.set(serve, program.heap.layout().code.co_consts,
                         program.heap.tuple({program.heap.str("cache")}));
    program.code_using("main", "/srv/app/app.py", {"APP"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(functions_of(found[0]) == Kinds{key_is_used ? "serve" : in_local ? "work" : "main"});
}

TEST_CASE("suspects: a variable is used by the functions that share it", "[program][suspects]") {
    ProgramHeap program;
    const Address kept = list_of_closures(program, a_little), seen = list_of_closures(program, a_little),
                  cell = program.cell(kept);
    const Address wrapper = program.function("memoize.<locals>.wrapper", {{"cache", cell}});
    program.function("memoize.<locals>.clear", {{"cache", cell}});
    program.function("other.<locals>.clear", {{"cache", program.cell(program.list({}))}});
    program.function("main.<locals>.handle", {{"seen", program.cell(seen)}});
    program.function("serve.<locals>.handle", {{"seen", program.cell(program.list({}))}});
    program.module("app", "/srv/app/app.py", {{"render", wrapper}});
    program.call("main", {{"seen", seen}});
    SuspectsOf asked(program);
    for (const Suspect& suspect : asked.suspects(true)) {
        const bool is_local = !suspect.holder->local.empty();
        CHECK(functions_of(suspect) == (is_local
                                            ? Kinds{"main.<locals>.handle"}
                                            : Kinds{"memoize.<locals>.clear", "memoize.<locals>.wrapper"}));
    }
    CHECK(asked.suspects(true).size() == 2);
}

TEST_CASE("suspects: what two globals keep together is used by the names of both", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    for (int i = 0; i < 20 * of_a_holder; ++i)
        functions.push_back(program.function("on_paid", {{"body", program.cell(payload(program))}}));
    program.module("app", "/srv/app/app.py",
                   {{"LEFT", program.list(functions)}, {"RIGHT", program.list(functions)}});
    program.code_using("put", "/srv/app/app.py", {"LEFT"});
    program.code_using("take", "/srv/app/app.py", {"RIGHT"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(!found.empty());
    REQUIRE(found[0].holder->joint);
    CHECK(functions_of(found[0]) == Kinds{"put", "take"});
}

TEST_CASE("suspects: what a library keeps of its own is made by functions that call the library's",
          "[program][suspects]") {
    ProgramHeap program;
    const Address figures = list_of(program, a_little);
    const Address gcf =
        program.class_with("Gcf", {.module = "matplotlib._pylab_helpers", .members = {{"figs", figures}}});
    program.module("matplotlib._pylab_helpers",
                   "/srv/env/lib/python3.13/site-packages/matplotlib/_pylab_helpers.py", {{"Gcf", gcf}});
    program.module("app", "/srv/app/app.py", {});
    code_with_lines(program, "draw", {"plt", "subplots"}, {{1, {{op_load_attribute, 1 << 1}}}});
    code_with_lines(program, "prepare", {"subplots"}, {{1, {{op_import_from, 0}}}});
    program.code_using("other", "/srv/app/app.py", {"plt", "figs"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(found[0].made_here);
    CHECK(functions_of(found[0]) == Kinds{"draw"});
}
