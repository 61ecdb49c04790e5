#!/usr/bin/env python3
"""What is suspended, in real cores: asyncio's tasks against the interpreter's own lists of them.

    tasks.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--kinds kernel gcore] [--many 100000]

`tasks` must list exactly what asyncio.all_tasks() gave for each loop, with the coroutine's name, the calls that await each other (address, function,
file, line), the line of task.get_stack(), the future that it waits for, what that is, and whether it can come; from 3.14 on who awaits it, and the
call graph, as asyncio.capture_call_graph says. Generators, coroutines and greenlets beside them: kind, name, what they wait for. `threads --tasks`
has each task below the thread that runs its loop. --many N: how long a core with N tasks takes.
"""

import json
import os
import subprocess
import sys
import time

import cores
import harness
import native

_failures = []
_LIBRARY = "/lib/python3"


def main():
    parser = harness.parser("compares what heapsift says of suspended tasks with what asyncio said", kinds=("kernel",))
    parser.add_argument("--many", type=int, default=0, metavar="N")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "tasks")
    for interpreter in found:
        if interpreter.version < (3, 9):
            continue
        for kind in kinds:
            run(options, interpreter, kind, work)
    return harness.end(failures + _failures)


def run(options, interpreter, kind, work):
    case = "%s, %s" % (interpreter.name, kind)
    try:
        with native.at_rest(options, interpreter, "tasks.py", kind, work, "heapsift-tasks-") as (ask, expected):
            faults = list(faults_of(ask, expected))
        tasks = sum(len(loop["tasks"]) for loop in expected["loops"])
        print("%-30s %d tasks, %d beside them: %s" % (case, tasks, len(expected["others"]), "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
        if options.many:
            many(options, interpreter, kind, work, case)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))


def many(options, interpreter, kind, work, case):
    with native.at_rest(options, interpreter, "tasks_many.py", kind, work, "heapsift-tasks-", HEAPSIFT_TASKS=str(options.many)) as (ask, expected):
        began = time.monotonic()
        told = ask("tasks")
        took = time.monotonic() - began
    print("%-30s %d tasks in %.1f s" % (case, len(told["tasks"]), took), flush=True)
    if told["total"]["task"] != expected["tasks"] or told["total"]["never"] != expected["never"]:
        _failures.append("%s: %s, not %s" % (case, told["total"], expected))


def faults_of(ask, expected):
    told = ask("tasks")
    rows = {row["object"]["address"]: row for row in told["tasks"]}
    if len(rows) != len(told["tasks"]):
        yield "an object has two rows"
    wanted = {task["address"]: task for loop in expected["loops"] for task in loop["tasks"]}
    is_task = {address for address, row in rows.items() if row["kind"] == "task"}
    for address in is_task - set(wanted):
        yield "%s is no task of asyncio.all_tasks()" % rows[address]["name"]
    for address, task in wanted.items():
        if address not in is_task:
            yield "%s is not listed" % task["name"]
        else:
            yield from ("%s: %s" % (task["name"], fault) for fault in faults_of_task(rows[address], task, rows, expected["main"]))
    for address, (kind, name, awaits) in expected["others"].items():
        row = rows.get(address)
        if row is None or (row["kind"], row["coroutine"], row["awaits"]) != (kind, name, awaits):
            yield "%s is %s, not %s" % (address, row and (row["kind"], row["coroutine"], row["awaits"]), (kind, name, awaits))
    inner = {call["object"] for row in told["tasks"] for call in row["calls"][1:]}
    for address in inner & set(rows):
        yield "%s is awaited by another, and has a row" % rows[address]["coroutine"]
    yield from faults_of_groups(told)
    yield from faults_of_threads(ask("threads", "--tasks"), expected)
    yield from faults_of_tree(ask, wanted, rows)


def faults_of_task(row, task, rows, main):
    if row["coroutine"] != task["coroutine"]:
        yield "is %s, not %s" % (row["coroutine"], task["coroutine"])
    if row["name"] != task["name"]:
        yield "is called %s" % row["name"]
    calls = [[call["object"], call["function"].rpartition(".")[2], call["file"], call["line"]] for call in row["calls"]]
    if row["object"]["address"] == main:
        if row["awaits"] != "running":
            yield "runs, but %s" % row["awaits"]
        return
    if calls != task["calls"]:
        yield "its calls are %s, not %s" % (calls, task["calls"])
    if task["stack"] and [calls[0][1], calls[0][3]] != task["stack"][-1]:
        yield "its first call is at %s, not at %s" % (calls[0], task["stack"])
    own = [call for call in task["calls"] if _LIBRARY not in call[2]] or task["calls"]
    if [row["file"], row["line"]] != own[-1][2:]:
        yield "stands at %s:%s, not at %s" % (row["file"], row["line"], own[-1])
    if task["awaits"] and row["awaits"] != task["awaits"] and not (task["awaits"], row["awaits"]) == ("tasks", "queue-get"):
        yield "waits for %s, not %s" % (row["awaits"], task["awaits"])
    if task["awaits"] and row["finishes"] is not task["finishes"]:
        yield "finishes: %s, not %s" % (row["finishes"], task["finishes"])
    if task["waiter"] and not row["future"] == task["waiter"]:
        yield "waits for the future %s, not %s" % (row["future"], task["waiter"])
    if task["until"] and not any(abs((row["until"] or 0) - when) < 0.001 for when in task["until_is_one_of"]):
        yield "until %s, not one of %s" % (row["until"], task["until_is_one_of"])
    if task["waiter"] and row["waits_for"] is None:
        yield "waits for nothing"
    if "awaited_by" in task and sorted(row["awaited_by"]) != task["awaited_by"]:
        yield "is awaited by %s, not %s" % ([rows[one]["name"] for one in row["awaited_by"]], [rows[one]["name"] for one in task["awaited_by"]])
    if "graph" in task:
        graph = [list(pair) for pair in task["graph"]][::-1]
        # It ends where an object that is no coroutine is awaited.
        if [[call[1], call[3]] for call in calls][:len(graph)] != graph:
            yield "its call graph is %s, not %s" % (calls, graph)


def faults_of_groups(told):
    if sum(group["count"] for group in told["groups"]) != len(told["tasks"]):
        yield "the groups have not as many as there are rows"
    handles = [group for group in told["groups"] if group["coroutine"] == "handle"]
    if len(handles) != 1 or handles[0]["count"] != 20 or handles[0]["finishes"] is not False or handles[0]["retained"] < 20 * 2000:
        yield "20 of handle() are %s" % handles


def faults_of_threads(threads, expected):
    by_thread = {int(thread["ident"], 16): {row["object"]["address"] for row in thread["tasks"]} for thread in threads["threads"]}
    for loop in expected["loops"]:
        if by_thread.get(loop["thread"]) != {task["address"] for task in loop["tasks"]}:
            yield "thread %x has %d tasks, not %d" % (loop["thread"], len(by_thread.get(loop["thread"], [])), len(loop["tasks"]))


def faults_of_tree(ask, wanted, rows):
    """Of the task that waits for twenty others."""
    asked = next(address for address, task in wanted.items() if task["name"] == "handles all")
    told = ask("tasks", asked)
    below = {node["object"] for node in told["tree"] if node["depth"] == 1}
    if [row["object"]["address"] for row in told["tasks"]] != [asked] or below != set(rows[asked]["waits_on"]) or len(below) != 20:
        yield "the tree has %d below it" % len(below)


if __name__ == "__main__":
    sys.exit(main())
