// Which holders of a program are worth a row, which rows are one to a person, and what else is a row beside them.

#include "tests/catch.h"
#include "tests/program/suspects_of.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("suspects: a cause that is known is a row with little, a place only with much",
          "[program][suspects]") {
    ProgramHeap program;
    const bool with_much = GENERATE(false, true);
    const Address paid = list_of_closures(program, a_little), rows = list_of(program, a_little),
                  table = list_of(program, with_much ? much : 1);
    program.module("app", "/srv/app/app.py", {{"PAID", paid}, {"ROWS", rows}, {"TABLE", table}});
    SuspectsOf asked(program);
    if (!with_much) {
        CHECK(asked.kinds() == Kinds{"closures"});
        return;
    }
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == 2);
    CHECK(found[0].cause.kind == "module-container");
    CHECK(found[0].bytes == asked.memory(table));
    REQUIRE(found[0].holder);
    CHECK(found[0].holder->object->address == table);
    CHECK(found[1].cause.kind == "closures");
    CHECK(found[1].bytes == asked.memory(paid));
    const SuspectsResult one = suspects(asked.work, asked.overview, 1);
    CHECK(one.suspects.size() == 1);
    CHECK(one.total == 2);
    CHECK(one.bytes == found[0].bytes + found[1].bytes);
}

TEST_CASE("suspects: the same local of two threads is one row", "[program][suspects]") {
    const std::string other = GENERATE("rows", "cache");
    ProgramHeap program;
    const Address first = list_of(program, 130'000), second = list_of(program, 130'000);
    program.module("app", "/srv/app/app.py", {});
    program.call("work", {{"rows", first}});
    program.start_thread("worker");
    program.call("work", {{other, second}});
    SuspectsOf asked(program);
    if (other == "cache") {  // each alone has too little
        CHECK(asked.kinds().empty());
        return;
    }
    const Suspect row = asked.row("local");
    CHECK(row.alike == 2);
    CHECK(row.bytes == asked.memory(first) + asked.memory(second));
}

TEST_CASE("suspects: a local that is small in each of many threads is one row, of all of them",
          "[program][suspects]") {
    constexpr int threads = 150;
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    std::vector<Address> rows;
    for (int i = 0; i < threads; ++i) {
        if (i > 0) program.start_thread("worker");
        rows.push_back(program.list(payloads(program, 2, 25'000)));
        program.call("work", {{"rows", rows.back()}});
    }
    SuspectsOf asked(program);
    const Suspect row = asked.row("local");
    CHECK(row.alike == 150);
    REQUIRE(row.holder);
    CHECK(row.holder->local == "rows");
    CHECK(row.holder->alike == 150);
    std::uint64_t all = 0;
    for (const Address one : rows) all += asked.memory(one);
    CHECK(row.bytes == all);
    CHECK(asked.suspects().size() == 1);
    // Of one of them, what it has itself.
    REQUIRE(row.holder->object);
    CHECK(row.holder->object->retained == asked.memory(rows.front()));
}

TEST_CASE("suspects: objects of many types that two hold together are one row", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> objects;
    ProgramHeap::Named names;
    for (int i = 0; i < 19; ++i) {
        const std::string name = "Kind" + std::to_string(i);
        const Address type = program.class_with(name, {.attributes = {"data"}});
        names.emplace_back(name, type);
        objects.push_back(program.instance_with(type, {program.list(payloads(program, 5, 80'000))}));
    }
    const Address left = program.list(objects), right = program.list(objects);
    names.emplace_back("LEFT", left);
    names.emplace_back("RIGHT", right);
    program.module("app", "/srv/app/app.py", names);
    SuspectsOf asked(program);
    const Suspect row = asked.row("joint-holders");
    REQUIRE(row.holder);
    REQUIRE(row.holder->joint);
    CHECK(row.holder->joint->types == 19);
    CHECK(row.holder->joint->count == 19);
    CHECK(row.holder->joint->type.empty());
    CHECK(row.holder->joint->holders.size() == 2);
    std::uint64_t all = 0;
    for (const Address one : objects) all += asked.memory(one);
    CHECK(row.bytes == all);
    CHECK(asked.suspects().size() == 1);
}

TEST_CASE("suspects: the same attribute of two instances is one row", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with("Board", {.attributes = {"rows"}});
    const Address first = list_of(program, 130'000), second = list_of(program, 130'000);
    program.module("app", "/srv/app/app.py",
                   {{"Board", type},
                    {"ONE", program.instance_with(type, {first})},
                    {"OTHER", program.instance_with(type, {second})}});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == 1);
    CHECK(found[0].cause.kind == "container");
    CHECK(found[0].alike == 2);
    CHECK(found[0].bytes == asked.memory(first) + asked.memory(second));
}

TEST_CASE("suspects: two queues of the library are two rows, two of a class of the program's are one",
          "[program][suspects]") {
    const bool own = GENERATE(false, true);
    ProgramHeap program;
    const Address base = program.class_with("Queue", {.module = "queue", .attributes = {"queue"}}),
                  type = own ? program.class_with("Jobs", {.base = base, .attributes = {"queue"}}) : base;
    const Address first = list_of(program, a_little), second = list_of(program, a_little);
    program.module("queue", "/usr/lib/python3.13/queue.py", {{"Queue", base}});
    program.module("app", "/srv/app/app.py",
                   {{"Type", type},
                    {"ORDERS", program.instance_with(type, {first})},
                    {"LETTERS", program.instance_with(type, {second})}});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects();
    CHECK(asked.kinds() == (own ? Kinds{"queue"} : Kinds{"queue", "queue"}));
    for (const Suspect& suspect : found) CHECK(suspect.alike == (own ? 2 : 1));
}

TEST_CASE("suspects: what several hold together is no row beside those that it consists of",
          "[program][suspects]") {
    ProgramHeap program;
    const Address one = list_of_closures(program, a_little), two = list_of_closures(program, a_little);
    program.module("app", "/srv/app/app.py", {{"PAID", program.list({one, two})}});
    program.module("shop", "/srv/shop/shop.py", {{"PAID", program.list({one, two})}});
    SuspectsOf asked(program);
    const auto is_joint = [](const TopHolder& holder) { return holder.joint.has_value(); };
    REQUIRE(std::any_of(asked.overview.holders.begin(), asked.overview.holders.end(), is_joint));
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == 2);
    for (const Suspect& suspect : found) CHECK(suspect.cause.kind == "closures");
    CHECK(found[0].bytes + found[1].bytes == asked.memory(one) + asked.memory(two));
}

TEST_CASE("suspects: what several hold together is a row where what it consists of is none",
          "[program][suspects]") {
    ProgramHeap program;
    const Address one = list_of(program, 130'000), two = list_of(program, 130'000);
    program.module("app", "/srv/app/app.py", {{"ROWS", program.list({one, two})}});
    program.module("shop", "/srv/shop/shop.py", {{"ROWS", program.list({one, two})}});
    SuspectsOf asked(program);
    CHECK(asked.kinds() == Kinds{"joint-holders"});
    CHECK(asked.row("joint-holders").bytes == asked.memory(one) + asked.memory(two));
}

TEST_CASE("suspects: garbage is one row, with why it is still there", "[program][suspects]") {
    // What waits for the collector has to be more: any program has some.
    const auto [enabled, threshold, each, fix] = GENERATE(table<std::int32_t, std::int32_t, int, std::string>(
        {{1, 700, a_little, ""},
         {1, 700, much,
          "call gc.collect() at a quiet moment, or break the cycles: a weakref.ref in one direction"},
         {0, 700, a_little, "gc.enable(), or gc.collect() at a quiet moment"},
         {1, 0, a_little, "gc.set_threshold(700, 10, 10), or gc.collect() at a quiet moment"}}));
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    for (int ring = 0; ring < of_a_holder; ++ring) {
        const Address one = program.instance(type, {payload(program, each)}),
                      two = program.instance(type, {Address(), one});
        program.set_slot(one, 1, two);
    }
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    program.bytes();  // which writes the collector's state
    const Layout& l = program.heap.layout();
    const Address collector = program.interpreter + *l.interpreter_state.gc;
    program.heap.set(collector, l.gc_state.enabled, enabled);
    program.heap.set(collector + *l.gc_state.generations, l.gc_generation.threshold, threshold);
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == (fix.empty() ? 0 : 1));
    if (found.empty()) return;
    CHECK(found[0].cause.kind == "garbage");
    CHECK(found[0].kind == Suspect::Kind::garbage);
    CHECK(found[0].bytes == asked.overview.garbage_memory);
    CHECK_THAT(sentence(found[0].cause.words), ContainsSubstring("garbage that has not been freed: "));
    CHECK(found[0].cause.fix == fix);
}

TEST_CASE("suspects: who turned the collector off", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    for (int ring = 0; ring < of_a_holder; ++ring) {
        const Address one = program.instance(type, {payload(program, much)}),
                      two = program.instance(type, {Address(), one});
        program.set_slot(one, 1, two);
    }
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    program.code_using("load", "/srv/app/app.py", {"gc", "disable"});
    program.code_using("look", "/srv/app/app.py", {"gc", "collect"});
    program.code_using("close", "/srv/app/app.py", {"door", "disable"});
    program.bytes();  // which writes the collector's state
    const bool enabled = GENERATE(false, true);
    const Layout& l = program.heap.layout();
    program.heap.set(program.interpreter + *l.interpreter_state.gc, l.gc_state.enabled,
                     std::int32_t{enabled});
    SuspectsOf asked(program);
    const Suspect row = asked.row("garbage", true);
    CHECK(functions_of(row) == (enabled ? Kinds{} : Kinds{"load"}));
    CHECK(row.calls == (enabled ? "" : "gc.disable()"));
}

TEST_CASE("suspects: a queue that each instance of a class of the program has is one row",
          "[program][suspects]") {
    ProgramHeap program;
    const Address queue = program.class_with("Queue", {.module = "queue", .attributes = {"queue"}}),
                  reader = program.class_with("Reader", {.attributes = {"outbox"}});
    std::vector<Address> items, readers;
    for (int i = 0; i < 3; ++i) {
        items.push_back(deque(program, payloads(program, of_a_holder, much)));
        readers.push_back(program.instance_with(reader, {program.instance_with(queue, {items.back()})}));
    }
    program.module("app", "/srv/app/app.py",
                   {{"Queue", queue},
                    {"Reader", reader},
                    {"FIRST", readers[0]},
                    {"SECOND", readers[1]},
                    {"THIRD", readers[2]}});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == 1);
    CHECK(found[0].cause.kind == "queue");
    CHECK(found[0].alike == 3);
    CHECK(found[0].bytes == asked.memory(items[0]) + asked.memory(items[1]) + asked.memory(items[2]));
}

TEST_CASE("suspects: what gc.garbage alone holds is a row; what the program holds too is not",
          "[program][suspects]") {
    ProgramHeap program;
    const Address alone = list_of(program, a_little), held = list_of(program, a_little);
    program.collector_garbage({alone, held});
    program.module("app", "/srv/app/app.py", {{"ROWS", held}});
    SuspectsOf asked(program);
    const std::vector<Suspect> found = asked.suspects();
    REQUIRE(found.size() == 1);
    CHECK(found[0].cause.kind == "gc-garbage");
    CHECK(found[0].bytes >= asked.memory(alone));
    CHECK(found[0].bytes < asked.memory(alone) + asked.memory(held));
    CHECK_THAT(sentence(found[0].cause.words), ContainsSubstring("held by gc.garbage alone"));
    CHECK_THAT(found[0].cause.fix, ContainsSubstring("gc.garbage.clear()"));
}

TEST_CASE("suspects: each reason why garbage is there has its fix", "[program][suspects]") {
    using Kind = CycleReason::Kind;
    const std::pair<Kind, std::string> fixes[] = {{Kind::disabled, "gc.enable()"},
                                                  {Kind::threshold_0, "gc.set_threshold(700, 10, 10)"},
                                                  {Kind::frozen, "gc.unfreeze()"},
                                                  {Kind::saved, "gc.set_debug(0)"},
                                                  {Kind::legacy_finalizer, "gc.garbage.clear()"},
                                                  {Kind::in_garbage_list, "gc.garbage.clear()"},
                                                  {Kind::invisible, "the collector cannot see them"},
                                                  {Kind::guessed, "the collector cannot see them"},
                                                  {Kind::old, "call gc.collect() at a quiet moment"}};
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    SuspectsOf asked(program);
    asked.overview.garbage_is_much = true;
    asked.overview.garbage_memory = 64 * mib;
    for (const auto& [reason, fix] : fixes) {
        asked.overview.garbage_reason = CycleReason{.kind = reason};
        CHECK_THAT(asked.row("garbage").cause.fix, ContainsSubstring(fix));
    }
    asked.overview.garbage_reason.reset();
    CHECK(asked.row("garbage").cause.fix == "break the cycles: a weakref.ref in one direction");
    CHECK(sentence(asked.row("garbage").cause.words) == "garbage that has not been freed");
    asked.overview.garbage_is_much = false;
    CHECK(asked.kinds().empty());
}

TEST_CASE("suspects: array data that slices pin is a row, and who holds the slices is none beside it",
          "[program][suspects]") {
    ProgramHeap program;
    const Address slice = payload(program, much);
    std::vector<Address> slices = payloads(program, of_a_holder, much);
    slices.push_back(slice);
    const Address rows = program.list(slices);
    program.module("app", "/srv/app/app.py", {{"ROWS", rows}});
    program.code_using("cut", "/srv/app/app.py", {"tails"});
    SuspectsOf asked(program);
    CHECK(asked.kinds() == Kinds{"module-container"});
    ArrayHolderRow pinned;
    pinned.pinned_bytes = 64 * mib;
    pinned.pinned_visible = mib;
    pinned.attribute = "tails[*].data";
    asked.overview.pinned = pinned;
    CHECK(asked.kinds() == Kinds{"pinned-arrays", "module-container"});
    asked.overview.pinned->example = asked.analysed.id(slice);
    CHECK(asked.kinds() == Kinds{"pinned-arrays"});
    const Suspect row = asked.row("pinned-arrays", true);
    CHECK(row.bytes == 63 * mib);
    CHECK(sentence(row.cause.words) == "array data that nothing can reach any more");
    CHECK(row.cause.fix == "store copies, not slices: data[i].copy()");
    CHECK(functions_of(row) == Kinds{"cut"});
    asked.overview.pinned->local = "tails";  // of a call: no other function means it by that name
    CHECK(functions_of(asked.row("pinned-arrays", true)).empty());
    asked.overview.dropped_frames = 1;
    CHECK(sentence(asked.row("pinned-arrays").cause.words) ==
          "array data that nothing can reach any more, of 1 DataFrame that is gone");
    asked.overview.dropped_frames = 3;
    asked.overview.pinned_tensor = true;
    CHECK_THAT(sentence(asked.row("pinned-arrays").cause.words),
               ContainsSubstring("of 3 DataFrames that are gone"));
    CHECK(asked.row("pinned-arrays").cause.fix == "store copies, not slices: data[i].clone()");
}

TEST_CASE("suspects: objects that C code has, each by itself, are one row, unless one has most",
          "[program][suspects]") {
    ProgramHeap program;
    const Address session = program.python_class("Session", {"data"});
    for (const Address data : payloads(program, of_a_holder, much))
        program.hold_in_library(program.instance(session, {data}), "/usr/lib/libpool.so");
    program.module("app", "/srv/app/app.py", {{"Session", session}});
    SuspectsOf asked(program);
    CHECK(asked.kinds() == Kinds{"c-variable"});
    const Suspect row = asked.row("c-variable");
    CHECK(row.bytes > much);
    REQUIRE(row.holder);
    CHECK(row.holder->by_c_code);
    CHECK(row.holder->content_type == "app.Session");
    CHECK(row.holder->content_count == of_a_holder);
    CHECK(!row.holder->example.is_null());
    CHECK_THAT(row.cause.fix, ContainsSubstring("hands them to " + row.holder->group));

    ProgramHeap one_has_most;
    const Address type = one_has_most.python_class("Session", {"data"});
    for (const int count : {of_a_holder, 1})
        one_has_most.hold_in_library(
            one_has_most.instance(type, {one_has_most.list(payloads(one_has_most, count, much))}),
            "/usr/lib/libpool.so");
    one_has_most.module("app", "/srv/app/app.py", {{"Session", type}});
    SuspectsOf other(one_has_most);
    CHECK(other.kinds() != Kinds{"c-variable"});
}

TEST_CASE("suspects: blocks of C code are leaked if nothing refers to most of them", "[program][suspects]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    SuspectsOf asked(program);
    NativeCulprit culprit;
    culprit.bytes = 64 * mib;
    culprit.count = 1000;
    culprit.held.leaked = 501;
    asked.overview.culprit = culprit;
    asked.overview.memory = {{c_code_row, 100 * mib}};
    const Suspect leaked = asked.row("native-leak");
    CHECK(leaked.bytes == 64 * mib);
    CHECK(sentence(leaked.cause.words) == "blocks of C code that nothing refers to any more");
    CHECK(leaked.cause.fix == "whoever makes them must free them (free, delete, close)");
    asked.overview.culprit->held.leaked = 500;
    CHECK(asked.kinds() == Kinds{"native-blocks"});
    CHECK(asked.row("native-blocks").cause.fix == "see what holds them");
    asked.overview.culprit->held = {.by = "libfoo.so kept", .by_count = 501};
    CHECK(asked.row("native-blocks").cause.fix ==
          "find what adds to libfoo.so kept, and what of it ends or has a bound");
    asked.overview.culprit->held.by_type = true;
    CHECK(asked.row("native-blocks").cause.fix ==
          "let go of libfoo.so kept objects that are done with, or close them");
    asked.overview.memory = {{c_code_row, 40 * mib}};  // blocks are larger than what of them was touched
    CHECK(asked.row("native-blocks").bytes == 40 * mib);
    CHECK(asked.row("native-blocks").untouched == 24 * mib);
    asked.overview.culprit->bytes = 3 * mib;
    CHECK(asked.kinds().empty());
    asked.overview.culprit->held.leaked = 501;
    CHECK(asked.kinds() == Kinds{"native-leak"});
}

TEST_CASE("suspects: what has most of each instance is named", "[program][suspects]") {
    ProgramHeap program;
    const bool in_one = GENERATE(true, false);  // else each of its lists has a third
    const Address type =
        program.class_with("Person", {.attributes = {"name", "history", "friends", "orders"}});
    std::vector<Address> people;
    for (int i = 0; i < of_a_holder; ++i)
        people.push_back(program.instance_with(
            type, {program.heap.str("p"), list_of(program, 15'000), list_of(program, in_one ? 1 : 15'000),
                   list_of(program, in_one ? 1 : 15'000)}));
    const Address known = program.list(people);
    program.module("app", "/srv/app/app.py", {{"Person", type}, {"KNOWN", known}});
    SuspectsOf asked(program);
    const std::string words = sentence(asked.row("module-container").cause.words);
    if (in_one)
        CHECK_THAT(words,
                   Catch::Matchers::StartsWith("a list in a module: it lives as long as the process; each "
                                               "Person keeps its `history` (up to "));
    else
        CHECK(words == "a list in a module: it lives as long as the process");
}

TEST_CASE("suspects: the owner of what is kept may be held by another", "[program][suspects]") {
    ProgramHeap program;
    const int others = GENERATE(0, 1, 2, 3);
    const Address type = program.class_with("Catalog", {.attributes = {"rows"}}),
                  service = program.class_with("Service", {.attributes = {"catalog"}});
    const Address rows = list_of(program, much), catalog = program.instance_with(type, {rows});
    ProgramHeap::Named globals = {{"Catalog", type}, {"Service", service}, {"CATALOG", catalog}};
    for (int i = 0; i < others; ++i)
        globals.emplace_back("SERVICE" + std::to_string(i), program.instance_with(service, {catalog}));
    program.module("app", "/srv/app/app.py", globals);
    SuspectsOf asked(program);
    const Suspect row = asked.row("container");
    REQUIRE(row.holder);
    const std::string fix = "remove what is done with, or give it a bound";
    // More than two are not told: then it is the catalog that everybody uses.
    const std::size_t told = others > 2 ? 0 : static_cast<std::size_t>(others);
    CHECK(row.holder->owner_also_held_by.size() == told);
    CHECK(row.cause.fix == fix + (told == 0   ? ""
                                  : told == 1 ? "; or drop the Catalog from both that hold it"
                                              : "; or drop the Catalog from all that hold it"));
    if (told == 0) return;
    CHECK(row.holder->owner_address == catalog);
    CHECK(row.holder->owner.root == "app");
    CHECK(row.holder->owner_also_held_by[0].steps.size() == 2);
}

TEST_CASE("suspects: the same thread-local of two threads is one row", "[program][suspects]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout();
    const Address local_type = heap.c_type("_thread._local",
                                           {.basicsize = *l.thread_locals.size, .flags = test::have_gc_flag}),
                  dummy_type = heap.c_type("_thread._localdummy", {.basicsize = 24});
    const Address first = list_of(program, 130'000), second = list_of(program, 130'000),
                  local = program.object(local_type), dummy = heap.object(dummy_type),
                  other_dummy = heap.object(dummy_type);
    heap.set(local, l.thread_locals.dummies,
             program.dict_of({{dummy, program.dict({{"rows", first}})},
                              {other_dummy, program.dict({{"rows", second}})}}));
    program.module("app", "/srv/app/app.py", {{"LOCAL", local}});
    heap.put(program.thread + *l.thread_state.size - 8, dummy);
    program.call("work", {});
    const Address of_main = program.thread;
    program.start_thread("worker");
    REQUIRE(program.thread == of_main);
    heap.put(program.last_thread() + *l.thread_state.size - 8, other_dummy);
    program.call("work", {});
    SuspectsOf asked(program);
    const Suspect row = asked.row("thread-local");
    CHECK(row.alike == 2);
    CHECK(row.bytes == asked.memory(first) + asked.memory(second));
    CHECK(row.holder->thread_local_name == "app.LOCAL");
}

TEST_CASE("suspects: what a call is at work on is none, unless it is most of the memory",
          "[program][suspects]") {
    ProgramHeap program;
    const bool most = GENERATE(false, true);
    const int in_hand = GENERATE(1, 20);  // things in the local
    const Address type = program.class_with("Frame", {.attributes = {"blocks"}});
    const Address blocks = program.list(payloads(program, in_hand, 12'000'000 / in_hand));
    if (!most) program.module("data", "/srv/app/data.py", {{"ROWS", list_of(program, 2'000'000)}});
    program.module("app", "/srv/app/app.py", {{"Frame", type}});
    program.call("work", {{"blocks", blocks}});
    SuspectsOf asked(program);
    CHECK(asked.kinds().size() == std::size_t{!most} + std::size_t{most || in_hand >= 16});
}

TEST_CASE("suspects: a large object beside a suspect is told, and is none", "[program][suspects]") {
    ProgramHeap program;
    const Address closures = list_of_closures(program, much), text = payload(program, 7'000'000),
                  small = payload(program, 3'000'000);
    program.module("app", "/srv/app/app.py", {{"CALLBACKS", closures}, {"TEXT", text}, {"SMALL", small}});
    SuspectsOf found(program);
    const SuspectsResult result = suspects(found.work, found.overview, 0);
    REQUIRE(result.suspects.size() == 1);
    CHECK(result.suspects[0].cause.kind == "closures");
    REQUIRE(result.others.size() == 1);  // the other one has less than the suspect
    CHECK(result.others[0].bytes == found.memory(text));
    CHECK(result.others[0].cause.fix.empty());
    const std::vector<Suspect> all = result.with_others();
    REQUIRE(all.size() == 2);
    CHECK(all[0].bytes == found.memory(text));
    CHECK(result.bytes == result.suspects[0].bytes);
}

TEST_CASE("suspects: where there is none, no large object is told beside it", "[program][suspects]") {
    ProgramHeap program;
    ProgramHeap::Named texts;
    for (const char* name : {"FIRST", "SECOND", "THIRD"})
        texts.emplace_back(name, payload(program, 6'000'000));
    program.module("app", "/srv/app/app.py", texts);
    SuspectsOf found(program);
    const SuspectsResult result = suspects(found.work, found.overview, 0);
    CHECK(result.suspects.empty());
    CHECK(result.others.empty());
}
