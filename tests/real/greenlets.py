#!/usr/bin/env python3
"""Greenlets that wait, in real cores: their calls, and what their locals hold.

    greenlets.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--kinds kernel gcore]

Nothing but the calls of a greenlet holds these locals, and no thread's chain has those calls. For each: `why` leads through the greenlet,
the function and the local's name; the greenlet retains what the local does; all references to it are found; `threads` counts the
greenlets by where they wait. With every interpreter that has greenlet; at least one must.
"""

import collections
import subprocess
import sys

import cores
import harness
import native

_failures, _covered = [], []


def main():
    parser = harness.parser("compares what heapsift says of greenlets that wait with what they hold", kinds=("kernel",))
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "greenlets")
    for interpreter in found:
        for kind in kinds:
            run(options, interpreter, kind, work)
    if not _covered:
        _failures.append("no interpreter has greenlet")
    return harness.end(failures + _failures)


def run(options, interpreter, kind, work):
    case = "%s, %s" % (interpreter.name, kind)
    try:
        with native.at_rest(options, interpreter, "greenlets.py", kind, work, "heapsift-greenlets-") as (ask, expected):
            faults = list(faults_of(ask, expected))
        _covered.append(case)
        print("%-30s greenlet %s: %d wait, %d locals: %s" % (
            case, expected["greenlet"], len(expected["waiting"]), sum(len(one["locals"]) for one in expected["waiting"].values()),
            "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        if "No module named" in str(reason):
            print("%-30s has no greenlet" % case, flush=True)
        else:
            _failures.append("%s: %s" % (case, reason))


def faults_of(ask, expected):
    for address, state in expected["others"].items():
        told = ask("why", address)["target"]["value"]
        if told != state:
            yield "%s is %s, not %s" % (address, told, state)
    threads = ask("threads")
    if threads["greenlet_count"] != len(expected["waiting"]) + len(expected["alone"]):
        yield "%d greenlets wait, not %d" % (threads["greenlet_count"], len(expected["waiting"]) + len(expected["alone"]))
    for greenlet in expected["alone"]:
        if not ask("why", greenlet)["reachable"]:
            yield "%s waits, and is called garbage" % greenlet
    told = {tuple(frame["function"].rpartition(".")[2] for frame in row["frames"]): row for row in threads["greenlets"]}
    for calls, count in collections.Counter(tuple(one["calls"]) for one in expected["waiting"].values()).items():
        row = told.get(calls)
        if row is None or row["count"] != count:
            yield "%d greenlets wait in %s, not %d; there are %s" % (row["count"] if row else 0, calls, count, list(told))
    for row in threads["greenlets"]:
        line = next(iter(expected["waiting"].values()))["line"]
        if row["frames"][0]["line"] != line and not row["frames"][0]["function"].endswith("alone"):
            yield "a greenlet waits at line %s, not %s" % (row["frames"][0]["line"], line)
    for greenlet, one in expected["waiting"].items():
        for function, name, local in one["locals"]:
            yield from faults_of_local(ask, greenlet, function, name, local)


def faults_of_local(ask, greenlet, function, name, local):
    if name == "at":  # a number, which others hold too
        return
    found = ask("why", local)
    what = "%s of %s" % (name, function)
    if not found["reachable"] or not found["paths"]:
        yield "%s: nothing reaches it" % what
        return
    steps = found["paths"][0]["steps"]
    last = next((step for step in reversed(steps) if step["target"] == local), None)
    if last is None or "'%s'" % name not in last["name"]:
        yield "%s: its path ends with %s" % (what, last and last["name"])
    elif not any(step["source"] == greenlet for step in steps):
        yield "%s: its path does not lead through its greenlet" % what
    elif last["source"] == greenlet and not last["name"].rpartition(" local ")[0].rpartition(".")[2].endswith(function + "()"):
        yield "%s: its path says %s" % (what, last["name"])
    target = found["target"]
    if target["refcount"] != found["referrers"]:
        yield "%s: of %d references %d were found" % (what, target["refcount"], found["referrers"])
    if function != "wait":
        return
    retained = ask("why", greenlet)["target"]["retained"]
    if retained is None or retained < target["memory"]:
        yield "the greenlet retains %s bytes, less than its local %s" % (retained, name)


if __name__ == "__main__":
    sys.exit(main())
