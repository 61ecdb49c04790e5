// tasks: how a handmade result is printed, for a terminal and for programs.

#include "cli/render/tasks.h"

#include "cli/render/threads.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <fmt/format.h>

using namespace heapsift;
using namespace heapsift::test;

namespace {

TaskRow row_of_task(std::uint32_t number, std::uint32_t place, Awaits awaits, std::optional<bool> finishes) {
    TaskRow row;
    row.object = ObjectId(number);
    row.address = Address(0x10000 + 0x100 * number);
    row.awaits = awaits;
    row.place = place;
    row.finishes = finishes;
    row.retained = 4096;
    return row;
}

/// 1,000 tasks of handle(), which never finish, one that sleeps, and a generator.
TasksResult example_tasks() {
    TasksResult result;
    result.places = {{"handle", "handle", "/srv/shop/server.py", 41},
                     {"Poller.run", "wait_a_while", "/srv/shop/poll\x1b.py", 7, false},
                     {"rows", "", "", 0}};
    result.rows = {row_of_task(1, 0, Awaits::queue_get, false), row_of_task(2, 1, Awaits::sleep, true),
                   row_of_task(3, 2, Awaits::caller, std::nullopt)};
    result.rows[1].until = 5021.25;
    result.rows[2].kind = TaskKind::generator;
    for (const TaskRow& row : result.rows)
        result.groups.push_back({.kind = row.kind,
                                 .awaits = row.awaits,
                                 .place = row.place,
                                 .finishes = row.finishes,
                                 .count = row.place == 0 ? 1000U : 1U,
                                 .retained = row.place == 0 ? 4096000U : 4096U,
                                 .example = row.address});
    result.counts[static_cast<std::size_t>(TaskKind::task)] = 1001;
    result.counts[static_cast<std::size_t>(TaskKind::generator)] = 1;
    result.never = 1000;
    result.ended = 1;
    return result;
}

TaskToShow read_example(const TaskRow& row) {
    TaskToShow task;
    task.details.object.address = row.address;
    task.details.object.type = "_asyncio.Task";
    task.details.name = "job of alice";
    task.expression.root = "app";
    if (row.awaits == Awaits::queue_get) {
        task.details.waits_for.emplace();
        task.details.waits_for->address = Address(0x77700);
        task.details.waits_for->type = "asyncio.queues.Queue";
        PythonFrame frame;
        frame.name = "handle";
        frame.file = "/srv/shop/server.py";
        frame.line = 41;
        task.details.calls.push_back({Address(0x66600), frame});
        task.details.awaited_by.emplace_back();
        task.details.awaited_by[0].address = Address(0x10200);
        task.details.awaited_by_count = 3;
    }
    return task;
}

Written groups_shown(TasksResult result, Shown& shown, std::size_t limit = 0) {
    return {render_tasks(std::move(result), read_example, false, limit), shown};
}

}  // namespace

TEST_CASE("render tasks: the first sentence says what most of them are, and that they never finish",
          "[cli][render][tasks]") {
    Shown shown;
    const std::string text = groups_shown(example_tasks(), shown).text(shown.page);
    CHECK(text.starts_with(
        "1,001 tasks and 1 generator: 1,000 of them are handle() at server.py:41, waiting for a "
        "queue that nobody puts into: they never finish.\n"));
    INFO(text);
    CHECK(text.find("1,000     3.9 MiB  handle()") != std::string::npos);
    CHECK(text.find("poll\\x1b.py:7 in wait_a_while()") != std::string::npos);
    CHECK(text.find("1 more task is done, and still in memory.") != std::string::npos);
    CHECK(text.find("tasks 0x10100") != std::string::npos);
    CHECK(groups_shown(example_tasks(), shown, 1).text(shown.page).find("2 more places") !=
          std::string::npos);
}

TEST_CASE("render tasks: other first sentences", "[cli][render][tasks]") {
    Shown shown;
    TasksResult many = example_tasks();
    many.groups[0].count = 2;
    many.never = 2;
    CHECK(groups_shown(many, shown)
              .text(shown.page)
              .starts_with("1,001 tasks and 1 generator. 2 of them never finish: nothing that still runs can "
                           "reach what they "
                           "wait for.\n"));
    many.never = 0;
    CHECK(groups_shown(many, shown)
              .text(shown.page)
              .starts_with("1,001 tasks and 1 generator are suspended.\n"));
    TasksResult sleep = example_tasks();
    sleep.groups[1].count = 900;
    sleep.groups[0].count = 101;
    sleep.never = 101;
    CHECK(
        groups_shown(sleep, shown)
            .text(shown.page)
            .starts_with("1,001 tasks and 1 generator: 900 of them are Poller.run() at poll\\x1b.py:7 in "
                         "wait_a_while(), waiting for a time (sleep). 101 of them never finish: nothing that "
                         "still runs can reach what they wait for.\n"));
    CHECK(groups_shown({}, shown).text(shown.page) ==
          "No task, greenlet, coroutine or generator is suspended in this core.\n");
}

TEST_CASE("render tasks: single ones, with the time and the expression", "[cli][render][tasks]") {
    Shown shown;
    const Written single(render_tasks(example_tasks(), read_example, true, 2), shown);
    const std::string text = single.text(shown.page);
    CHECK(text.find("a time (sleep), until 5021.2") != std::string::npos);
    CHECK(text.find("0x77700") != std::string::npos);
    CHECK(text.find("1 more") != std::string::npos);
    CHECK(rows_of(single).size() == 2);
}

TEST_CASE("render tasks: JSON has the keys of the contract, and is redacted", "[cli][render][tasks]") {
    Shown shown, redacted(true);
    const Json row = rows_of(groups_shown(example_tasks(), shown)).at(0);
    CHECK(row["object"]["address"] == "0x10100");
    CHECK(row["kind"] == "task");
    CHECK(row["coroutine"] == "handle");
    CHECK(row["file"] == "/srv/shop/server.py");
    CHECK(row["line"] == 41);
    CHECK(row["waits_for"]["address"] == "0x77700");
    CHECK(row["finishes"] == false);
    CHECK(row["retained"] == 4096);
    CHECK(row["expression"] == "app");
    CHECK(row["awaits"] == "queue-get");
    CHECK(row["until"].is_null());
    CHECK(row["name"] == "job of alice");
    CHECK(row["calls"][0]["function"] == "handle");
    CHECK(row["awaited_by_count"] == 3);
    const Json generator = rows_of(groups_shown(example_tasks(), shown)).at(2);
    CHECK(generator["file"].is_null());
    CHECK(generator["finishes"].is_null());
    CHECK(generator["waits_for"].is_null());
    const Written answer = groups_shown(example_tasks(), shown);
    CHECK(answer.data["total"]["task"] == 1001);
    CHECK(answer.data["groups"][0]["count"] == 1000);
    const Json hidden = rows_of(groups_shown(example_tasks(), redacted)).at(0);
    CHECK(hidden["file"] == "server.py");
    CHECK(hidden["name"] != "job of alice");
    CHECK(hidden["coroutine"] == "handle");
    CHECK_FALSE(answer.csv().empty());
}

TEST_CASE("render tasks: every wait has a word for programs and one for people", "[cli][render][tasks]") {
    Shown shown;
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Awaits::object); ++i) {
        TasksResult result = example_tasks();
        result.rows[0].awaits = result.groups[0].awaits = static_cast<Awaits>(i);
        result.groups[0].finishes = result.rows[0].finishes = std::nullopt;
        CHECK(rows_of(groups_shown(result, shown)).at(0)["awaits"] != "");
        CHECK(groups_shown(result, shown).text(shown.page).find("for .") == std::string::npos);
    }
    for (const TaskKind kind : {TaskKind::greenlet, TaskKind::coroutine, TaskKind::async_generator}) {
        TasksResult result = example_tasks();
        result.counts[static_cast<std::size_t>(kind)] = 2;
        CHECK(groups_shown(result, shown).text(shown.page).starts_with("1,001 tasks, 2 "));
    }
}

TEST_CASE("render tasks: the tree of one shows its calls, and whom it waits for", "[cli][render][tasks]") {
    Shown shown;
    const TasksResult result = example_tasks();
    const std::vector<TaskNode> nodes = {{result.rows[0], 0, false}, {result.rows[1], 1, false}};
    const Written tree(render_task_tree(result, read_example, nodes), shown);
    const std::string text = tree.text(shown.page);
    CHECK(text.find("handle(), server.py, line 41\n") != std::string::npos);
    CHECK(text.find("It never finishes.") != std::string::npos);
    CHECK(text.find("awaited by 0x10200 and 2 more") != std::string::npos);
    CHECK(text.find("What it waits for:") != std::string::npos);
    CHECK(tree.data["tree"].size() == 2);
    CHECK(tree.data["tree"][1]["depth"] == 1);
    CHECK(rows_of(tree).size() == 1);
}

TEST_CASE("render threads: the tasks of a thread's loop stand below it", "[cli][render][threads][tasks]") {
    Shown shown;
    ThreadsResult threads;
    threads.threads.resize(2);
    lay_out(threads);
    auto tasks = std::make_shared<TasksOfThreads>();
    tasks->tasks = example_tasks();
    tasks->rows = {{0, 1}, {}};
    tasks->read = read_example;
    const Written answer(render_threads(threads, tasks), shown);
    const std::string text = answer.text(shown.page);
    CHECK(text.find("Its event loop has 2 tasks that are not done:") != std::string::npos);
    CHECK(text.find("1 handle() at server.py:41, waiting for a queue that nobody puts into: never") !=
          std::string::npos);
    CHECK(rows_of(answer).at(0)["tasks"].size() == 2);
    CHECK(rows_of(answer).at(1)["tasks"].empty());
}
