// Which functions of a program use what holds much, and by which names.

#include "tests/catch.h"
#include "tests/program/suspects_of.h"

using namespace heapsift;
using namespace heapsift::test;

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
    const bool key_is_used = GENERATE(false, true);
    ProgramHeap program;
    const Address type = program.class_with("Application", {.module = "web", .attributes = {"_state"}});
    const Address cache = list_of_closures(program, a_little);
    program.module("web", "/srv/env/lib/python3.13/site-packages/web.py", {{"Application", type}});
    program.module("app", "/srv/app/app.py",
                   {{"APP", program.instance_with(type, {program.dict({{"cache", cache}})})}});
    const Address serve = program.code_using("serve", "/srv/app/app.py", {"request", "app"});
    if (key_is_used)
        program.heap.set(serve, program.heap.layout().code.co_consts,
                         program.heap.tuple({program.heap.str("cache")}));
    program.code_using("main", "/srv/app/app.py", {"APP"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(functions_of(found[0]) == Kinds{key_is_used ? "serve" : "main"});
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
    program.code_using("draw", "/srv/app/app.py", {"plt", "subplots"});
    program.code_using("other", "/srv/app/app.py", {"plt", "figs"});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects(true);
    REQUIRE(found.size() == 1);
    CHECK(found[0].made_here);
    CHECK(functions_of(found[0]) == Kinds{"draw"});
}
