// threads: how a handmade result is printed, for a terminal and for programs.

#include "cli/render/threads.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Shown {
    Redactor redactor;
    Page page;
    explicit Shown(bool redact = false) : redactor(redact) { page.redactor = &redactor; }
};

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

}  // namespace

TEST_CASE("render threads: a stack as a traceback has it, its locals below each call",
          "[cli][render][threads]") {
    Shown shown;
    const ThreadsResult result = example();
    CHECK(render_threads(result, shown.redactor).text(shown.page) ==
          "2 threads of Python; the most recent call is the last\n"
          "\n"
          "MainThread, tid 100, has the GIL\n"
          "  <module>, app.py\n"
          "      its variables are the module's: 0x10500\n"
          "  load(), app.py, line 41\n"
          "      secret  0x10300  str                        'hunter2'\n"
          "      gone    0x999    no object was found there\n"
          "      … 3 more: add -n 0\n"
          "\n"
          "evil\\x1b[2J\\n\n"
          "  It runs no Python function.\n"
          "\n"
          "2 threads more, of which Python knows nothing: tid 101, 102\n"
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
    const Answer answer = render_threads(result, shown.redactor);
    CHECK(answer.text(shown.page) ==
          "1 thread of Python; the most recent call is the last\n"
          "bytes are what a thread, a call or a variable retains: what would come free without it\n"
          "\n"
          "worker, has the GIL, retains 3.0 KiB\n"
          "  run(), app.py, line 7\n"
          "  load(), app.py, line 41, retains 2.5 KiB\n"
          "      rows  0x10300  2.0 KiB  list\n"
          "      gone  0x999             no object was found there\n"
          "\n");
    answer.rows([](const Json& json) {
        CHECK(json["retained"] == 3072);
        CHECK(json["frames"][0]["retained"] == 2560);
        CHECK(json["frames"][0]["locals"][0]["object"]["retained"] == 2048);
        CHECK(json["frames"][1]["retained"] == 0);
    });
    render_threads(example(), shown.redactor).rows([](const Json& json) {
        CHECK(json["retained"].is_null());
    });
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
    CHECK(render_threads(result, shown.redactor).text(shown.page) ==
          "1 thread of Python; the most recent call is the last; none had the GIL (the interpreter's lock): "
          "all waited or were "
          "in C "
          "code\n"
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

TEST_CASE("render threads: JSON has the keys of the contract, and is redacted", "[cli][render][threads]") {
    Shown shown, redacted(true);
    const ThreadsResult result = example();
    const auto rows = [&](Shown& how) {
        std::vector<Json> all;
        render_threads(result, how.redactor).rows([&](const Json& row) { all.push_back(row); });
        return all;
    };
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
    CHECK(render_threads(result, redacted.redactor).text(redacted.page).find("hunter2") == std::string::npos);
    CHECK(render_threads(ThreadsResult{}, shown.redactor).text(shown.page) ==
          "No thread of Python was found in this core.\n");
}
