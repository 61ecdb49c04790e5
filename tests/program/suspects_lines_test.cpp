// The lines that a suspect comes from, where it is not one name that is filled: locals, attributes put onto objects,
// cycles, settings of the collector, functions of C.

#include "analysis/suspects/collector_calls.h"
#include "analysis/suspects/cycle_code.h"
#include "analysis/suspects/foreign_functions.h"
#include "parsers/snapshot/memory_rows.h"
#include "tests/catch.h"
#include "tests/program/suspects_of.h"
#include "tests/program/written_code.h"

#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr int nodes = 200, large = 60'000, small = 15'000;

/// `node.name = value`, of an argument that is not the first.
std::vector<Instruction> sets_attribute(std::uint8_t name) {
    return {{op_load_local, 2}, {op_load_local, 1}, {op_store_attribute, name}};
}

/// `node.name = None`.
std::vector<Instruction> clears_attribute(std::uint8_t name) {
    return {{op_load_const, 0}, {op_load_local, 1}, {op_store_attribute, name}};
}

/// `name.attribute()`, of a global.
std::vector<Instruction> calls_method(std::uint8_t global, std::uint8_t method) {
    return {{op_load_global, static_cast<std::uint8_t>(global << 1)},
            {op_load_attribute, static_cast<std::uint8_t>(method << 1 | 1)},
            {op_call, 0},
            {op_pop, 0}};
}

/// A list of objects that each keep much in two attributes.
Address list_of_nodes(ProgramHeap& program) {
    const Address type = program.class_with("Node", {.attributes = {"word", "h", "c"}});
    std::vector<Address> all;
    for (int i = 0; i < nodes; ++i)
        all.push_back(program.instance_with(
            type, {program.heap.none(), payload(program, large), payload(program, small)}));
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"data", program.list(all)}});
    return type;
}

}  // namespace

TEST_CASE("suspect lines: a local of a running function, where that fills it", "[program][suspects]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    const Address code = program.call("work", {{"jobs", list_of_closures(program, a_little)}});
    program.heap.set(code, program.heap.layout().code.co_names,
                     program.heap.tuple({program.heap.str("append")}));
    write_lines(
        program, code,
        {{1, {{op_load_const, 0}, {op_store_local, 0}}},
         {3, {{op_load_local, 0}, {op_load_attribute, 1}, {op_load_const, 0}, {op_call, 1}, {op_pop, 0}}}});
    SuspectsOf asked(program);
    const Suspect row = asked.row("closures", true);
    CHECK(places_of(row.used_in) == Kinds{"work:14"});
    CHECK(row.filled_in == 1);
    CHECK_FALSE(row.set_in_first);
}

TEST_CASE("suspect lines: a local that is only set", "[program][suspects]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    const Address code = program.call("work", {{"jobs", list_of_closures(program, a_little)}});
    write_lines(program, code,
                {{6, {{op_load_const, 0}, {op_store_local, 0}}}, {1, {{op_load_local, 0}, {op_pop, 0}}}});
    SuspectsOf asked(program);
    const Suspect row = asked.row("closures", true);
    CHECK(places_of(row.used_in) == Kinds{"work:16"});
    CHECK(row.filled_in == 0);
    CHECK(row.set_in_first);
}

TEST_CASE("suspect lines: attributes that are put onto what a list keeps", "[program][suspects]") {
    const bool only_at_first = GENERATE(false, true), makes_them = GENERATE(false, true);
    ProgramHeap program;
    list_of_nodes(program);
    const std::vector<std::string> names = {"h", "c", "word"};
    std::vector<std::string> names_there = names;
    std::vector<WrittenLine> lines = {{4, sets_attribute(1)}, {2, sets_attribute(0)}};
    if (makes_them) {
        names_there.push_back("Node");
        lines.insert(lines.begin(), {1, {{op_load_global, 3 << 1 | 1}, {op_call, 0}, {op_pop, 0}}});
        lines[1].steps = 3;
    }
    code_with_lines(program, only_at_first ? "Node.__init__" : "Model.forward", names_there, lines);
    code_with_lines(program, "Model.clear", names, {{1, clears_attribute(0)}, {1, clears_attribute(1)}});
    code_with_lines(program, "Node.show", names,
                    {{1, {{op_load_local, 0}, {op_load_attribute, 0}, {op_pop, 0}}}});
    SuspectsOf asked(program);
    const Suspect row = asked.row("module-container", true);
    CHECK(row.set_later.has_value() == !(only_at_first || makes_them));
    if (!row.set_later) return;
    CHECK(row.set_later->of_class == "app.Node");
    CHECK(row.set_later->attributes == Kinds{"h", "c"});
    CHECK(places_of(row.set_later->set_in) == Kinds{"Model.forward:14"});
    CHECK(row.set_later->bytes * 10 > row.set_later->sampled * 9);
    CHECK(row.set_later->bytes <= row.set_later->sampled);
}

TEST_CASE("suspect lines: who makes what a list has most of", "[program][suspects]") {
    const auto callers = GENERATE(0, 1, 8, 9);
    ProgramHeap program;
    list_of_nodes(program);
    for (int i = 0; i < callers; ++i)
        code_with_lines(program, "read_" + std::to_string(i), {"Node"},
                        {{3, {{op_load_global, 1}, {op_load_const, 0}, {op_call, 1}, {op_pop, 0}}}});
    code_with_lines(program, "is_node", {"Node"}, {{2, {{op_load_global, 0}, {op_pop, 0}}}});
    SuspectsOf asked(program);
    const Suspect row = asked.row("module-container", true);
    CHECK(row.content_calls.has_value() == (callers == 1 || callers == 8));
    if (!row.content_calls) return;
    CHECK(row.content_calls->call == "Node()");
    CHECK(row.content_calls->called_in.size() == static_cast<std::size_t>(callers));
    CHECK(places_of(row.content_calls->called_in).front() == "read_0:13");
}

TEST_CASE("suspect lines: who calls another class of that name makes none of these", "[program][suspects]") {
    ProgramHeap program;
    const Address type = list_of_nodes(program),
                  another = program.class_with("Node", {.module = "other", .attributes = {"x"}});
    program.module("other", "/srv/app/other.py", {{"Node", another}, {"Leaf", type}});
    program.module("third", "/srv/app/third.py", {{"Tree", another}});
    const auto function = [&](const std::string& name, const std::string& file,
                              const std::vector<std::string>& names, std::uint8_t called) {
        write_lines(
            program, program.code_using(name, "/srv/app/" + file, names),
            {{4, {{op_load_global, static_cast<std::uint8_t>(called << 1 | 1)}, {op_call, 0}, {op_pop, 0}}}});
    };
    function("plant", "other.py", {"Node"}, 0);
    function("by_another_name", "other.py", {"Leaf"}, 0);
    function("by_module", "third.py", {"app", "Node"}, 1);
    function("of_something", "third.py", {"db", "Node"}, 1);
    function("of_another_class", "third.py", {"Tree", "Node"}, 1);
    function("elsewhere", "fourth.py", {"Node"}, 0);
    SuspectsOf asked(program);
    const Suspect row = asked.row("module-container", true);
    REQUIRE(row.content_calls);
    CHECK(places_of(row.content_calls->called_in) == Kinds{"by_another_name:14", "by_module:14"});
}

TEST_CASE("suspect lines: who makes one where it is filled is told once", "[program][suspects]") {
    ProgramHeap program;
    list_of_nodes(program);
    code_with_lines(program, "read", {"data", "append", "Node"},
                    {{3,
                      {{op_load_global, 0},
                       {op_load_attribute, 1 << 1 | 1},
                       {op_load_global, 2 << 1 | 1},
                       {op_call, 0},
                       {op_call, 1},
                       {op_pop, 0}}}});
    SuspectsOf asked(program);
    const Suspect row = asked.row("module-container", true);
    CHECK(places_of(row.used_in) == Kinds{"read:13"});
    CHECK(row.filled_in == 1);
    CHECK_FALSE(row.content_calls.has_value());
}

TEST_CASE("suspect lines: attributes of a class that something else sets are not meant",
          "[program][suspects]") {
    ProgramHeap program;
    list_of_nodes(program);
    // self.h of another class
    code_with_lines(program, "Model.reset", {"h"},
                    {{4, {{op_load_local, 2}, {op_load_local, 0}, {op_store_attribute, 0}}}});
    SuspectsOf asked(program);
    CHECK_FALSE(asked.row("module-container", true).set_later.has_value());
}

TEST_CASE("suspect lines: where a cycle is tied, and who told the collector not to look",
          "[program][suspects]") {
    ProgramHeap program;
    const Address pair = program.python_class("Pair", {"other", "body"}),
                  peer = program.python_class("Peer", {"pair"});
    for (int i = 0; i < nodes; ++i) {
        const Address one = program.instance(pair, {Address(), payload(program, large)});
        program.set_slot(one, 0, program.instance(peer, {one}));
    }
    program.module("app", "/srv/app/app.py", {{"Pair", pair}, {"Peer", peer}});
    code_with_lines(program, "tie", {"other", "pair"}, {{2, sets_attribute(0)}, {3, sets_attribute(1)}});
    code_with_lines(program, "Pair.move", {"other"}, {{5, sets_attribute(0)}});
    code_with_lines(program, "untie", {"other", "pair"},
                    {{2, clears_attribute(0)}, {3, clears_attribute(1)}});
    code_with_lines(program, "quiet", {"gc", "disable"}, {{3, calls_method(0, 1)}});
    code_with_lines(program, "tell", {"gc", "disable"},
                    {{1, {{op_load_global, 0}, {op_load_attribute, 1 << 1}, {op_pop, 0}}}});
    code_with_lines(program, "other", {"board", "disable"}, {{3, calls_method(0, 1)}});
    code_with_lines(program, "limit", {"gc", "set_threshold"}, {{2, calls_method(0, 1)}});
    SuspectsOf asked(program);
    asked.overview.garbage_reason = CycleReason{.kind = CycleReason::Kind::disabled};
    const Suspect row = asked.row("garbage", true);
    CHECK(row.calls == "gc.disable()");
    CHECK(places_of(row.used_in) == Kinds{"quiet:13"});
    REQUIRE(row.tied_in.size() == 1);
    CHECK(row.tied_in[0].place.function == "tie");
    CHECK(row.tied_in[0].place.line == 12);
    CHECK(row.tied_in[0].references == Kinds{"Pair.other", "Peer.pair"});
    const CyclesResult found = cycles(asked.work, {});
    REQUIRE(found.kinds.size() == 1);
    const CycleCode code = cycle_code(asked.work, found);
    REQUIRE(code.kinds.size() == 1);
    CHECK(code.kinds[0].examples == std::vector<std::uint32_t>{found.kinds[0].example});
    CHECK(code.kinds[0].in.size() == 1);
    REQUIRE(code.calls.size() == 1);
    CHECK(code.calls[0].name == "gc.set_threshold()");
    CHECK(cycle_code(asked.work, cycle_row(asked.work, found, found.cycles[0], {})).kinds.size() == 1);
}

TEST_CASE("suspect lines: each setting of the collector has its call", "[program][suspects]") {
    ProgramHeap program;
    for (const char* name : {"set_debug", "freeze", "disable", "set_threshold"})
        code_with_lines(program, name, {"gc", name}, {{1, calls_method(0, 1)}});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    const auto names_of = [&](const GcState& state) {
        std::vector<std::string> names;
        for (const CollectorCall& call : collector_calls(code, std::vector<GcState>{state}))
            names.push_back(call.name);
        return names;
    };
    GcState usual;
    for (std::size_t i = 0; i < 3; ++i) usual.generations[i].threshold = i == 0 ? 700 : 10;
    CHECK(names_of(usual).empty());
    GcState set;  // its thresholds are 0
    set.enabled = false;
    set.debug = gc_debug_saveall;
    set.frozen.objects = 7;
    GcResult collectors;
    collectors.interpreters.resize(2);  // the first does not read
    collectors.interpreters[1].state = set;
    CHECK(collector_calls(code, collectors).size() == 4);
    CHECK(names_of(set) == Kinds{"gc.disable()", "gc.set_threshold()", "gc.set_debug()", "gc.freeze()"});
    using Kind = CycleReason::Kind;
    CHECK(call_behind(Kind::disabled) == "disable");
    CHECK(call_behind(Kind::threshold_0) == "set_threshold");
    CHECK(call_behind(Kind::frozen) == "freeze");
    CHECK(call_behind(Kind::saved) == "set_debug");
    CHECK(call_behind(Kind::young).empty());
}

TEST_CASE("suspect lines: slices in a local, where that is filled", "[program][suspects]") {
    ProgramHeap program;
    const Address slices = program.list(payloads(program, of_a_holder, much));
    program.module("app", "/srv/app/app.py", {{"ROWS", program.list({})}});
    const Address code = program.call("work", {{"kept", slices}});
    program.heap.set(code, program.heap.layout().code.co_names,
                     program.heap.tuple({program.heap.str("append")}));
    write_lines(
        program, code,
        {{5, {{op_load_local, 0}, {op_load_attribute, 1}, {op_load_const, 0}, {op_call, 1}, {op_pop, 0}}}});
    SuspectsOf asked(program);
    ArrayHolderRow pinned;
    pinned.pinned_bytes = 64 * mib;
    pinned.attribute = pinned.local = "kept";
    pinned.begins_at = asked.analysed.id(slices);
    asked.overview.pinned = pinned;
    const Suspect row = asked.row("pinned-arrays", true);
    CHECK(places_of(row.used_in) == Kinds{"work:15"});
    CHECK(row.filled_in == 1);
}

TEST_CASE("suspect lines: blocks of C code, where the program asked for them", "[program][suspects]") {
    ProgramHeap program;
    const Address pointer = program.class_with("CFuncPtr", {.module = "_ctypes"}),
                  function = program.class_with("_FuncPtr", {.base = pointer, .module = "ctypes"}),
                  type = program.class_with("CDLL", {.module = "ctypes", .attributes = {"malloc"}});
    program.module("app", "/srv/app/app.py",
                   {{"libc", program.instance_with(type, {program.instance_with(function, {})})}});
    code_with_lines(program, "fill", {"libc", "malloc"}, {{7, calls_method(0, 1)}});
    SuspectsOf asked(program);
    NativeCulprit culprit;
    culprit.bytes = 64 * mib;
    culprit.count = culprit.held.leaked = 1000;
    asked.overview.culprit = culprit;
    asked.overview.memory = {{c_code_row, 100 * mib}};
    const Suspect row = asked.row("native-leak", true);
    CHECK(row.calls == "malloc()");
    CHECK(places_of(row.used_in) == Kinds{"fill:17"});
}

TEST_CASE("suspect lines: functions of C that the program calls through ctypes", "[program][suspects]") {
    const bool calls_malloc = GENERATE(false, true);
    ProgramHeap program;
    const Address pointer = program.class_with("CFuncPtr", {.module = "_ctypes"}),
                  function = program.class_with("_FuncPtr", {.base = pointer, .module = "ctypes"});
    const Address library_type = program.class_with(
        "CDLL", {.module = "ctypes", .attributes = {"_name", "malloc", "free", "leak_shapes", "x"}});
    const auto library = [&](Address name, const std::string& one) {
        const Address value = program.instance_with(function, {});
        const bool first = one == "malloc";
        return program.instance_with(library_type, {name, first ? value : Address(),
                                                    first ? program.instance_with(function, {}) : Address(),
                                                    first ? Address() : value, program.heap.none()});
    };
    const Address libc = library(program.heap.none(), "malloc"),
                  shapes = library(program.heap.str("/srv/lib/libshapes.so"), "leak_shapes");
    program.module("app", "/srv/app/app.py", {{"libc", libc}, {"shapes", shapes}});
    program.module("cells", "/srv/app/cells.cpython-313.so", {});
    if (calls_malloc) {
        code_with_lines(program, "fill", {"libc", "malloc"}, {{2, calls_method(0, 1)}});
        code_with_lines(program, "copy", {"libc", "malloc", "free"}, {{2, calls_method(0, 1)}});
    }
    code_with_lines(program, "draw", {"shapes", "leak_shapes", "free"},
                    {{4, calls_method(0, 1)}, {1, calls_method(0, 2)}});
    code_with_lines(program, "model", {"cells"}, {{3, {{op_load_global, 0}, {op_pop, 0}}}});
    const Analysed analysed(program);
    const CodeThatNames code(analysed.heap);
    const ForeignCalls any = foreign_calls(analysed.heap, code, {}, 8);
    CHECK(any.words == (calls_malloc ? "malloc()" : "leak_shapes()"));
    CHECK(places_of(any.in) == Kinds{calls_malloc ? "fill:12" : "draw:14"});
    const ForeignCalls of_library = foreign_calls(analysed.heap, code, "libshapes.so", 8);
    CHECK(of_library.words == "leak_shapes()");
    CHECK(places_of(of_library.in) == Kinds{"draw:14"});
    const ForeignCalls of_module = foreign_calls(analysed.heap, code, "cells.cpython-313.so", 8);
    CHECK(of_module.words == "C code of cells");
    CHECK(places_of(of_module.in) == Kinds{"model:13"});
    CHECK(foreign_calls(analysed.heap, code, "libother.so", 8).in.places.empty());
}
