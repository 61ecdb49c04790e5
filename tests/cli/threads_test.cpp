// threads: how a handmade result is printed, for a terminal and for programs.

#include "cli/render/threads.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

LocalRow local(std::string name, std::uint64_t address, std::string type, ShortValue value) {
    LocalRow row;
    row.name = std::move(name);
    row.object.id = ObjectId(0);
    row.object.address = Address(address);
    row.object.type = std::move(type);
    row.object.value = std::move(value);
    return row;
}

FrameRow frame(std::string function, std::uint64_t code, std::int32_t line,
               std::vector<LocalRow> locals = {}) {
    FrameRow row;
    row.frame.name = std::move(function);
    row.frame.file = "/srv/shop/app.py";
    row.frame.line = line;
    row.frame.code = Address(code);
    row.local_count = locals.size();
    row.locals = std::move(locals);
    return row;
}

ThreadsResult example() {
    ThreadsResult result;
    ThreadRow& main = result.threads.emplace_back();
    main.thread.name = "MainThread";
    main.thread.tid = 100;
    main.thread.thread_id = 0x7f00;
    main.thread.gil = true;
    LocalRow shared = local("secret", 0x10300, "str", literal("'hunter2'", 7));
    shared.cell = Address(0x10400);
    FrameRow body = frame("<module>", 0x20100, 0);
    body.frame.variables = body.frame.globals = Address(0x10500);
    body.variables_of_module = true;
    main.frames = {frame("load", 0x20200, 41, {shared, local("gone", 0x999, "", {})}), body};
    main.frames[0].local_count = 5;
    ThreadRow& worker = result.threads.emplace_back();
    worker.thread.name = "evil\x1b[2J\n";
    result.native_threads = {101, 102};
    result.largest = {"load", shared};
    return result;
}

Written rendered(ThreadsResult result, Shown& shown) {
    lay_out(result);
    return {render_threads(std::move(result)), shown};
}

}  // namespace

TEST_CASE("render threads: a stack as a traceback has it, its locals below each call",
          "[cli][render][threads]") {
    Shown shown;
    const ThreadsResult result = example();
    CHECK(rendered(result, shown).text(shown.page) ==
          "2 Python threads, most recent call last.\n"
          "\n"
          "MainThread, tid 100, has the GIL\n"
          "  <module>, app.py\n"
          "      variables: those of the module, 0x10500\n"
          "  load(), app.py, line 41\n"
          "      secret  0x10300  str                        'hunter2'\n"
          "      gone    0x999    no object was found there\n"
          "      … 3 more: add -n 0\n"
          "\n"
          "evil\\x1b[2J\\n\n"
          "  It runs no Python function.\n"
          "\n"
          "2 more threads never ran Python code (tid 101, 102)\n"
          "next: heapsift show 0x10300    the largest of them: secret of load\n");
}

TEST_CASE("render threads: what a thread, a call and a variable retain", "[cli][render][threads]") {
    Shown shown;
    ThreadsResult result;
    ThreadRow& row = result.threads.emplace_back();
    row.thread.name = "worker";
    row.thread.gil = true;
    row.retained = 3072;
    LocalRow rows = local("rows", 0x10300, "list", {});
    rows.object.retained = 2048;
    row.frames = {frame("load", 0x20200, 41, {rows, local("gone", 0x999, "", {})}), frame("run", 0x20100, 7)};
    row.frames[0].retained = 2560;
    row.frames[1].retained = 0;
    const Written answer = rendered(result, shown);
    CHECK(answer.text(shown.page) ==
          "1 Python thread, most recent call last.\n"
          "sizes: what would be freed without that thread, call or variable\n"
          "\n"
          "worker, has the GIL, retains 3.0 KiB\n"
          "  run(), app.py, line 7\n"
          "  load(), app.py, line 41, retains 2.5 KiB\n"
          "      rows  0x10300  2.0 KiB  list\n"
          "      gone  0x999             no object was found there\n"
          "\n");
    for (const Json& json : rows_of(answer)) {
        CHECK(json["retained"] == 3072);
        CHECK(json["frames"][0]["retained"] == 2560);
        CHECK(json["frames"][0]["locals"][0]["object"]["retained"] == 2048);
        CHECK(json["frames"][1]["retained"] == 0);
    }
    for (const Json& json : rows_of(rendered(example(), shown))) CHECK(json["retained"].is_null());
}

TEST_CASE("render threads: threads that stand at one place are one, with the locals of what retains most",
          "[cli][render][threads]") {
    Shown shown(false);
    ThreadsResult result;
    for (int i = 0; i < 14; ++i) {
        ThreadRow& row = result.threads.emplace_back();
        row.thread.name = i == 0 ? "MainThread" : "pool-" + std::to_string(i);
        row.thread.tid = 100 + i;
        row.retained = i == 3 ? 4096 : 1024;
        LocalRow rows = local("rows", 0x10000 + 16 * static_cast<std::uint64_t>(i), "list", {});
        rows.object.retained = 512;
        row.frames = {i == 0 ? frame("main", 0x20100, 5) : frame("work", 0x20200, i == 13 ? 8 : 7, {rows})};
        row.frames.front().retained = 0;
    }
    const Written answer = rendered(result, shown);
    CHECK(answer.text(shown.page) ==
          "14 Python threads, most recent call last. None held the GIL: all were waiting or in C code.\n"
          "sizes: what would be freed without that thread, call or variable\n"
          "\n"
          "MainThread, tid 100, retains 1.0 KiB\n"
          "  main(), app.py, line 5\n"
          "\n"
          "12 threads stand here, retain 15.0 KiB together; locals and sizes of pool-3, tid 103, retains 4.0 "
          "KiB\n"
          "  work(), app.py, line 7\n"
          "      rows  0x10030  512 B  list\n"
          "  the others: pool-1 101, pool-2 102, pool-4 104, pool-5 105, pool-6 106, pool-7 107, pool-8 108, "
          "pool-9 109, and 3 more: --json has each with its locals\n"
          "\n"
          "pool-13, tid 113, retains 1.0 KiB\n"
          "  work(), app.py, line 8\n"
          "      rows  0x100d0  512 B  list\n"
          "\n");
    CHECK(rows_of(answer).size() == 14);
    // What tells a thread from the others is not hidden among them; three are not many.
    result.threads[5].got_signal = true;
    CHECK(rendered(result, shown).text(shown.page).find("11 threads stand here") != std::string::npos);
    result.threads.resize(4);
    CHECK(rendered(result, shown).text(shown.page).find("stand here") == std::string::npos);
    Shown redacted(true);
    CHECK(rendered(example(), redacted).text(redacted.page).find("evil") == std::string::npos);
}

TEST_CASE("render threads: a recursion is not written out", "[cli][render][threads]") {
    Shown shown;
    ThreadsResult result;
    ThreadRow& row = result.threads.emplace_back();
    row.thread.name = "deep";
    for (std::uint64_t depth = 0; depth < 1000; ++depth)
        row.frames.push_back(
            frame("descend", 0x20100, 7, {local("depth", 0x10000 + 16 * depth, "int", literal("0", 1))}));
    row.frames.push_back(frame("start", 0x20200, 9));
    row.frames.insert(row.frames.begin(), frame("descend", 0x20100, 5));
    CHECK(rendered(result, shown).text(shown.page) ==
          "1 Python thread, most recent call last. None held the GIL: all were waiting or in C code.\n"
          "\n"
          "deep\n"
          "  start(), app.py, line 9\n"
          "  descend(), app.py, line 7\n"
          "      depth  0x13e70  int  0\n"
          "  descend(), app.py, line 7\n"
          "      depth  0x13e60  int  0\n"
          "  … 997 more calls at the same line …\n"
          "  descend(), app.py, line 7\n"
          "      depth  0x10000  int  0\n"
          "  descend(), app.py, line 5\n"
          "\n");
}

TEST_CASE("render threads: neither is a recursion through other calls", "[cli][render][threads]") {
    Shown shown;
    ThreadsResult result;
    ThreadRow& row = result.threads.emplace_back();
    row.thread.name = "deep";
    row.thread.gil = true;
    for (std::uint64_t depth = 0; depth < 100; ++depth) {
        row.frames.push_back(frame("visit", 0x20100, 7));
        row.frames.push_back(frame("key", 0x20200, 9));
    }
    row.frames.push_back(frame("start", 0x20300, 1));
    row.frames.insert(row.frames.begin(), frame("end", 0x20400, 2));
    CHECK(rendered(result, shown).text(shown.page) ==
          "1 Python thread, most recent call last.\n"
          "\n"
          "deep, has the GIL\n"
          "  start(), app.py, line 1\n"
          "  key(), app.py, line 9\n"
          "  visit(), app.py, line 7\n"
          "  … 196 more calls: these 2 again and again …\n"
          "  key(), app.py, line 9\n"
          "  visit(), app.py, line 7\n"
          "  end(), app.py, line 2\n"
          "\n");
    // Two times are written out.
    row.frames.erase(row.frames.begin() + 5, row.frames.end());
    for (const FrameRow& one : row.frames) CHECK(one.run_before == 0);
    lay_out(result);
    for (const FrameRow& one : result.threads[0].frames) CHECK_FALSE(one.in_run);
}

TEST_CASE("render threads: JSON has the keys of the contract, and is redacted", "[cli][render][threads]") {
    Shown shown, redacted(true);
    const ThreadsResult result = example();
    const auto rows = [&](Shown& how) { return rows_of(rendered(result, how)); };
    const Json thread = rows(shown).at(0);
    CHECK(thread["tid"] == 100);
    CHECK(thread["name"] == "MainThread");
    CHECK(thread["gil"] == true);
    CHECK(thread["ident"] == "0x7f00");
    const Json& call = thread["frames"][0];
    CHECK(call["kind"] == "python");
    CHECK(call["function"] == "load");
    CHECK(call["file"] == "/srv/shop/app.py");
    CHECK(call["line"] == 41);
    CHECK(call["locals"][0]["name"] == "secret");
    CHECK(call["locals"][0]["object"]["address"] == "0x10300");
    CHECK(call["locals"][0]["cell"] == "0x10400");
    CHECK(call["locals"][1]["object"].is_null());
    CHECK(call["locals"][1]["address"] == "0x999");
    CHECK(thread["frames"][1]["line"].is_null());
    CHECK(rows(shown).at(1)["tid"].is_null());
    CHECK(rows(redacted).at(0)["name"] == "MainThread");
    CHECK(rows(redacted).at(1)["name"] == "‹str 9 #2›");
    CHECK(rows(redacted).at(0)["frames"][0]["file"] == "app.py");
    CHECK(rows(redacted).at(0)["frames"][0]["locals"][0]["object"]["value"] == "‹str 7 #1›");
    CHECK(rendered(result, redacted).text(redacted.page).find("hunter2") == std::string::npos);
    CHECK(rendered({}, shown).text(shown.page) == "This core has no Python thread.\n");
}

namespace {

FrameRow native(std::string function, std::uint64_t address, std::string file, std::uint32_t line) {
    FrameRow row;
    row.native.emplace();
    row.native->function = std::move(function);
    row.native->module = "/srv/shop/lib/libpay.so.1";
    row.native->instruction = Address(address);
    row.native->module_offset = address & 0xffff;
    row.native->file = std::move(file);
    row.native->line = line;
    return row;
}

/// pay() in C++, called by Python, which the interpreter's loop runs; and a thread of C++.
ThreadsResult with_native() {
    ThreadsResult result;
    result.native = true;
    result.machinery = 1;
    result.process.signal = 11;
    result.process.signal_code = 1;
    result.process.fault_address = Address(0x10);
    result.signal.emplace();
    result.signal->tid = 100;
    result.signal->instruction = Address(0x7f0000001234);
    result.signal->module = "/srv/shop/lib/libpay.so.1";
    result.signal->function = "shop::pay(int)";
    result.signal->offset = 0x34;
    ThreadRow& main = result.threads.emplace_back();
    main.thread.name = "MainThread";
    main.thread.tid = 100;
    main.thread.gil = true;
    main.got_signal = true;
    main.native_end = NativeStack::End::outermost;
    FrameRow inlined = native("shop::check(int)", 0x7f0000001234, "/build/shop/src/pay.cpp", 7);
    inlined.native->inlined = true;
    FrameRow pay = native("shop::pay(int)", 0x7f0000001234, "/build/shop/src/pay.cpp", 21);
    pay.native->offset = 0x34;
    FrameRow nameless = native("", 0x7f0000005678, "", 0);
    FrameRow handler = native("__restore_rt", 0x7f0000002345, "", 0);
    handler.native->signal_handler = true;
    FrameRow symbol = native("poll", 0x7f0000003456, "", 0);
    symbol.native->offset = 0x4f;
    FrameRow loop = native("_PyEval_EvalFrameDefault", 0x560000001111, "", 0);
    loop.native->evaluates = loop.native->machinery = true;
    main.frames = {inlined, pay, nameless, handler, symbol, frame("order", 0x20100, 12), loop};
    ThreadRow& alone = result.threads.emplace_back();
    alone.known = false;
    alone.thread.tid = 101;
    alone.native_end = NativeStack::End::no_module;
    alone.frames = {native("", 0, "", 0)};
    alone.frames[0].native->module.clear();
    alone.frames[0].native->module_offset.reset();
    alone.frames[0].native->instruction = Address(0x7f11223344);
    result.native_threads = {101};
    return result;
}

}  // namespace

TEST_CASE("render threads: native calls stand among Python's, and the signal comes first",
          "[cli][render][threads]") {
    Shown shown;
    CHECK(rendered(with_native(), shown).text(shown.page) ==
          "Thread 100 got SIGSEGV (11): address not mapped at 0x10, in shop::pay(int)+0x34 (libpay.so.1).\n"
          "1 Python thread, most recent call last.\n"
          "[C]: native calls, without 1 that only show how the interpreter makes calls; --json has all\n"
          "\n"
          "MainThread, tid 100, has the GIL, got the signal\n"
          "  order(), app.py, line 12\n"
          "  [C] poll+0x4f, libpay.so.1\n"
          "  [C] a signal arrived; its handler:\n"
          "  [C] libpay.so.1+0x5678, a function without a name\n"
          "  [C] shop::pay(int), pay.cpp, line 21\n"
          "  [C] shop::check(int), pay.cpp, line 7 (inlined)\n"
          "\n"
          "thread that Python does not know, tid 101\n"
          "  Older native calls are not known: the code of the first one below is in no file.\n"
          "  [C] 0x7f11223344, in no file\n"
          "\n");
}

TEST_CASE("render threads: JSON has all native calls, without directories if redacted",
          "[cli][render][threads]") {
    Shown shown, redacted(true);
    const auto rows = rows_of(rendered(with_native(), shown));
    const Json& frames = rows.at(0)["frames"];
    REQUIRE(frames.size() == 7);
    CHECK(frames[0]["kind"] == "native");
    CHECK(frames[0]["inlined"] == true);
    CHECK(frames[0]["offset"].is_null());
    CHECK(frames[1]["function"] == "shop::pay(int)");
    CHECK(frames[1]["module"] == "/srv/shop/lib/libpay.so.1");
    CHECK(frames[1]["offset"] == 0x34);
    CHECK(frames[1]["address"] == "0x7f0000001234");
    CHECK(frames[1]["file"] == "/build/shop/src/pay.cpp");
    CHECK(frames[1]["locals"].empty());
    CHECK(frames[2]["function"].is_null());
    CHECK(frames[3]["signal_handler"] == true);
    CHECK(frames[5]["kind"] == "python");
    CHECK(frames[6]["machinery"] == true);
    CHECK(rows.at(0)["got_signal"] == true);
    CHECK(rows.at(0)["native_end"] == "outermost");
    CHECK(rows.at(1)["native_end"] == "no-module");
    CHECK(rows.at(1)["name"].is_null());
    const auto hidden = rows_of(rendered(with_native(), redacted));
    CHECK(hidden.at(0)["frames"][1]["module"] == "libpay.so.1");
    CHECK(hidden.at(0)["frames"][1]["file"] == "pay.cpp");
}
