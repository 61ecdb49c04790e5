#!/usr/bin/env python3
"""Values: what heapsift prints of an object must be what the object is, and a key that it prints must lead to its value when typed back.

    values.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreter PATH …]

For each interpreter found: testdata/programs/values.py stores one or several of each type that programs store, and writes down what each
should read as (repr() where heapsift prints that); values_libraries.py does the same for objects of pandas, Django and SQLAlchemy, where
the interpreter has them. The cores are taken, and heapsift is asked

    show       of each object: its value
    show       of KEYS[…] of each key, as its value is printed, as a person may type it, and as `referents` prints it: the object that
               the key leads to
    --redact   of each object: nothing of its value may be there

Exit 1 if anything is wrong.
"""

import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer

# What --redact leaves: names of classes and members, functions, modes, states, counts.
_KEPT = ("enum", "flag", "lock", "event", "semaphore", "queue", "empty", "pending", "cancelled", "socket", "BytesIO", "lru_cache", "coroutine", "UTC", "without arguments")


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "values")
    print("%-16s %-6s %7s %7s %7s %7s %8s" % ("interpreter", "core", "values", "right", "typed", "right", "seconds"), flush=True)
    for interpreter in found:
        for kind in kinds[:1]:
            problem = run_one(options, interpreter, kind, work)
            if problem:
                failures.append("%s %s: %s" % (interpreter.name, kind, problem))
    return harness.end(failures)


def parse():
    options = harness.parser("compares the values that heapsift prints with what a process says of its objects").parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, kind, work):
    """Prints the line of the table; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-values-")
    began = time.monotonic()
    counts, problems = collections.Counter(), []
    try:
        for program, truth in (("values.py", "values.json"), ("values_libraries.py", "libraries.json")):
            problems += judge(options, interpreter, kind, program, truth, folder, counts)
        print("%-16s %-6s %7d %7d %7d %7d %8.1f" % (interpreter.name, kind, counts["values"], counts["right"], counts["typed"], counts["led"],
                                                    time.monotonic() - began))
        for problem in problems:
            print("  " + problem)
        sys.stdout.flush()
        return "%d faults" % len(problems) if problems else None
    except (cores.NoCore, BadAnswer, OSError, subprocess.SubprocessError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def judge(options, interpreter, kind, program, truth, parent, counts):
    """What is wrong with the values of one program."""
    folder = os.path.join(parent, os.path.splitext(program)[0])
    os.mkdir(folder)
    for name in (program, "older.py", "standstill.py"):
        shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
    core, _ = cores.take_at_rest(interpreter, [program], kind, folder, os.path.join(folder, truth))
    with open(os.path.join(folder, truth), encoding="ascii") as file:
        rows = json.load(file)
    if not rows:
        return []
    asked = AskedCore(options.heapsift, core, folder, interpreter.tree)
    asked.data("show", rows[0]["address"])  # makes the index
    typed = [(row, expression) for row in rows if row["key"] for expression in [row["value"], *row["typed"]]]
    if typed:
        names = {edge["target"]: edge["name"] for edge in asked.data("referents", "__main__.KEYS", "-n", "0")["edges"] if edge["name"].startswith("[")}
        typed += [(row, names[row["target"]][1:-1]) for row in rows if row["key"]]
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, len(os.sched_getaffinity(0)))) as pool:
        shown = list(pool.map(lambda row: value_problem(asked, row), rows))
        led = list(pool.map(lambda one: key_problem(asked, *one), typed))
        redacted = list(pool.map(lambda row: redact_problem(asked, row), rows[::7] if typed else []))
    counts.update(values=len(rows), right=shown.count(None), typed=len(typed), led=led.count(None))
    return [problem for problem in shown + led + redacted if problem]


def value_problem(asked, row):
    try:
        value = asked.data("show", row["address"], "-n", "1").get("value") or ""
    except BadAnswer as reason:
        return "%s: %s" % (row["name"], reason)
    if value != row["value"]:
        return "%s: %s and not %s" % (row["name"], value or "nothing", row["value"])
    return None


def key_problem(asked, row, key):
    expression = "__main__.KEYS[%s]" % key
    try:
        address = asked.data("show", expression, "-n", "1")["address"]
    except BadAnswer as reason:
        return "%s: %s" % (row["name"], reason)
    return None if int(address, 16) == int(row["target"], 16) else "%s leads to %s and not %s" % (expression, address, row["target"])


def redact_problem(asked, row):
    if not row["value"] or any(word in row["name"] for word in _KEPT) or row["value"].startswith("<Task pending coro="):  # a task without a name
        return None
    try:
        value = asked.data("show", row["address"], "--redact", "-n", "1").get("value") or ""
    except BadAnswer as reason:
        return "%s: %s" % (row["name"], reason)
    return "%s: --redact leaves %s" % (row["name"], value) if value == row["value"] else None


if __name__ == "__main__":
    sys.exit(main())
