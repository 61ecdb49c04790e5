// Which functions of the program use a name.

#include "analysis/suspects/code_that_names.h"

#include "tests/catch.h"
#include "tests/program/program_heap.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::vector<std::string> functions(const CodeThatNames& code, const std::string& name, std::size_t most = 9) {
    std::vector<std::string> found;
    for (const SourcePlace& place : code.of({{.text = name}}, most).places) found.push_back(place.function);
    return found;
}

}  // namespace

TEST_CASE("code that names: functions of the program that use a name, and no one else's",
          "[program][suspects]") {
    ProgramHeap program;
    program.code_using("fill", "/srv/app/app.py", {"append", "JOBS"});
    program.code_using("Board.__init__", "/srv/app/app.py", {"JOBS", "jobs"});
    program.code_using("Board", "/srv/app/app.py", {"__name__", "__module__", "__qualname__", "JOBS"});
    program.code_using("<module>", "/srv/app/app.py", {"JOBS", "LIMIT"});
    program.code_using("put", "/usr/lib/python3.13/queue.py", {"JOBS"});
    program.code_using("get", "/srv/env/lib/python3.11/site-packages/jobs.py", {"JOBS"});
    program.code_using("_load", "<frozen importlib._bootstrap>", {"JOBS"});
    program.code_using("pour", "/opt/lib/python/app.py", {"POOL"});  // not the folder of os.py
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    CHECK(functions(code, "JOBS") == std::vector<std::string>{"fill"});
    CHECK(functions(code, "POOL") == std::vector<std::string>{"pour"});
    // What runs once is told where nothing else uses the name.
    CHECK(functions(code, "jobs") == std::vector<std::string>{"Board.__init__"});
    CHECK(functions(code, "LIMIT") == std::vector<std::string>{"<module>"});
    CHECK(functions(code, "append").empty());  // of whatever list
    CHECK(functions(code, "").empty());
    CHECK(functions(code, "nobody's").empty());
}

TEST_CASE("code that names: an attribute called as a builtin function is used by methods of its class alone",
          "[program][suspects]") {
    ProgramHeap program;
    program.code_using("Pager.start", "/srv/app/app.py", {"functions", "jobs"});
    program.code_using("ready", "/srv/app/app.py", {"functions", "jobs"});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    CHECK(code.of({{.text = "functions", .of_class = "Pager"}}, 9).places.size() ==
          1);  // of the builtins here
    CHECK(code.of({{.text = "jobs", .of_class = "Pager"}}, 9).places.size() == 2);
}

TEST_CASE("code that names: of many functions some are told, and how many there are", "[program][suspects]") {
    ProgramHeap program;
    for (const char* name : {"d", "b", "a", "c"}) program.code_using(name, "/srv/app/app.py", {"JOBS"});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodePlaces found = CodeThatNames(analysed.heap).of({{.text = "JOBS"}}, 2);
    const std::vector<SourcePlace>& places = found.places;
    REQUIRE(places.size() == 2);
    CHECK(places[0].function == "a");
    CHECK(places[1].function == "b");
    CHECK(places[0].file == "app.py");
    CHECK(found.more == 2);
}

TEST_CASE("code that names: keys are constants of the code, unless many functions have them",
          "[program][suspects]") {
    const bool many = GENERATE(false, true);
    ProgramHeap program;
    const auto& l = program.heap.layout().code;
    for (int i = 0; i < (many ? 9 : 2); ++i) {
        const Address code = program.code_using("serve" + std::to_string(i), "/srv/app/app.py", {"cache"});
        program.heap.set(code, l.co_consts,
                         program.heap.tuple({program.heap.integer(7), program.heap.str("cache")}));
    }
    program.code_using("clear", "/srv/app/app.py", {"cache"});  // an attribute
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    CHECK(code.of({{.kind = NameInSource::Kind::key, .text = "cache"}}, 9).places.size() == (many ? 0 : 2));
    // Only where that is used nowhere is the other asked for.
    const auto names = std::vector<NameInSource>{{.kind = NameInSource::Kind::key, .text = "cache"},
                                                 {.text = "cache", .only_else = true}};
    CHECK(code.of(names, 20).places.size() == (many ? 10 : 2));
}

TEST_CASE("code that names: methods of the class come before others that use an attribute",
          "[program][suspects]") {
    ProgramHeap program;
    for (const char* name : {"Audit.results", "Trial.run", "work"})
        program.code_using(name, "/srv/app/app.py", {"results"});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const auto places = CodeThatNames(analysed.heap).of({{.text = "results", .of_class = "Trial"}}, 9).places;
    REQUIRE(places.size() == 3);
    CHECK(places[0].function == "Trial.run");
    CHECK(places[1].function == "Audit.results");
}
