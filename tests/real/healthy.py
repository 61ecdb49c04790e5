#!/usr/bin/env python3
"""Healthy processes over well-known packages (testdata/programs/healthy.py): nothing of them may be said to be wrong.

    healthy.py --heapsift build/dev/heapsift [--interpreter PATH …] [--cases django_queries …] [--kinds kernel gcore] [--overwritten 5]

Of each: exit 0, and no warning of damage, whatever is asked; no suspect; and for the table, in how many of 100 mortal objects the counts are closed, with
what C code holds. A process whose package leaks, by what the process itself counted (mypy 1.15 on 3.13 keeps all that it ever checked), must be told that
references leak. (A few references of Cython's modules are in fact nowhere: its constants are variables that the compiler leaves out.) Then, in each core,
so many times, a reference of a list, a tuple or a dict's values is overwritten with what leads to no object: this must be said each time,
and exit 3. Packages that the interpreter does not have are named; with CI=true, on Debian 12 and 13, that is a failure.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer
from library_leaks import has, is_debian_12_or_13
from mutate import Core

_PROGRAM = os.path.join(cores.PROGRAMS, "healthy.py")
_QUESTIONS = ("overview", "types", "suspects", "refcounts", "cycles", "memory", "threads", "doctor")
_WITH_GARBAGE = ("mypy_check",)  # it lets the collector run once in 150,000 allocations: a fifth of it waits
_CLOSED = 0.99
_MANY = 10000  # objects: what was left from doing the same again
_OF_ITEMS = 0x18  # where a tuple's first item lies (Include/cpython/tupleobject.h), in builds without debug hooks


def all_cases():
    with open(_PROGRAM, encoding="utf-8") as file:
        return re.findall(r"^def (\w+_\w+)\(\)", file.read(), re.M)


def main():
    parser = harness.parser("asks heapsift about healthy processes over well-known packages", kinds=("kernel",))
    parser.add_argument("--cases", nargs="*", default=all_cases(), choices=all_cases(), metavar="NAME")
    parser.add_argument("--overwritten", type=int, default=5, metavar="N", help="words in each core, one by one")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "healthy")
    print("%-18s %-22s %-7s %9s %9s %8s %7s" % ("interpreter", "process", "core", "objects", "closed", "noticed", "seconds"))
    untested = set(options.cases)
    for interpreter in found:
        if interpreter.debug or interpreter.tree:
            continue
        for case in options.cases:
            package = case.split("_")[0]
            if package != "python" and not has(interpreter, package):
                print("%-18s not tested: it has no %s" % (interpreter.name, package))
                continue
            untested.discard(case)
            for kind in kinds:
                faults = run_one(options, interpreter, case, kind, work)
                failures += ["%s %s %s: %s" % (interpreter.name, case, kind, fault) for fault in faults]
    if untested and os.environ.get("CI") == "true" and is_debian_12_or_13():
        failures.append("CI must test these as well: %s" % ", ".join(sorted(untested)))
    return harness.end(failures)


def run_one(options, interpreter, case, kind, work):
    folder, began = harness.folder_for(interpreter, work, "heapsift-healthy-"), time.monotonic()
    try:
        for name in ("healthy.py", "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        core, _ = cores.take_at_rest(interpreter, ["healthy.py", case], kind, folder, os.path.join(folder, "truth.json"), HOME=folder)
        asked = AskedCore(options.heapsift, core, folder)
        asked.case = case
        with open(os.path.join(folder, "truth.json"), encoding="ascii") as file:
            leaked = json.load(file).get("objects_leaked", 0)
        faults = list(faults_of(asked) if leaked < _MANY else faults_of_leaking(asked))
        objects = asked.data("refcounts")["total"]["checked"]
        noticed, more = overwritten(options, core, folder)
        faults += more
        print("%-18s %-22s %-7s %9d %8.2f%% %8s %7.1f%s" % (interpreter.name, case, kind, objects, 100 * closed(asked), noticed, time.monotonic() - began,
                                                            "" if leaked < _MANY else "  leaks %d objects a time" % leaked), flush=True)
        if leaked < _MANY and case not in _WITH_GARBAGE and kind == "kernel":
            faults += faults_of_stopped(options, interpreter, case, folder)
        return faults
    except (cores.NoCore, BadAnswer, OSError, KeyError, TypeError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


def faults_of_stopped(options, interpreter, case, folder):
    """Of a process that another one stops, a batch's signature has neither a cause nor where it ended."""
    sign = os.path.join(folder, "truth.json")
    for name in os.listdir(folder):
        if name.startswith("core"):
            os.remove(os.path.join(folder, name))
    os.remove(sign)
    process = cores.start(interpreter, ["healthy.py", case], folder, HEAPSIFT_CORE_BY="nobody", HOME=folder)
    try:
        cores.wait_for(sign, process)
        process.send_signal(signal.SIGABRT)
    finally:
        process.wait(60)
    core, = (os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("core"))
    done = subprocess.run([options.heapsift, "batch", "--brief", "-q", core], capture_output=True, text=True, check=False)
    signature = json.loads(done.stdout)["signature"]
    return [] if signature.startswith("healthy.py; no suspect; ") else ["nothing is wrong, and yet its signature is '%s'" % signature]


def closed(asked):
    """The share of the mortal objects whose counts are explained, by what other objects and C code refer to."""
    data = asked.data("refcounts", "-n", "0")
    mortal = data["total"]["checked"] - data["total"]["immortal"]
    unexplained = sum(1 for row in data["objects"] if row.get("leaked"))
    unexplained += data["total"]["deficit_objects"] if data["total"]["deficit_explained"] < data["total"]["deficit"] else 0
    return 1 - unexplained / mortal if mortal else 1


def faults_of(asked):
    for command in _QUESTIONS:
        data = asked.data(command)
        for warning in asked.warnings(command):
            if not warning["code"].startswith("size"):  # that a size is not known
                yield "%s warns: %s" % (command, warning["message"])
        for suspect in data.get("suspects", ()):
            if suspect["kind"] == "garbage" and asked.case in _WITH_GARBAGE:
                continue
            yield "%s: nothing is wrong, and yet: %s, %d bytes: %s: %s" % (command, suspect["kind"], suspect["bytes"], suspect["sentence"], suspect["fix"])
    if closed(asked) < _CLOSED:
        yield "%.3f %% of the counts are closed: %s" % (100 * closed(asked), asked.data("refcounts")["by_type"][:8])


def faults_of_leaking(asked):
    for command in _QUESTIONS:
        asked.data(command)
    kinds = [suspect["kind"] for suspect in asked.data("overview")["suspects"]]
    if "leaked-reference" not in kinds:
        yield "its package leaks references, and the suspects are: %s" % kinds


def overwritten(options, path, folder):
    """("5 of 5", what was not noticed)"""
    if not options.overwritten:
        return "-", []
    chance = random.Random(os.path.basename(folder))
    listed = subprocess.run([options.heapsift, "objects", "--type", "tuple", "--format", "jsonl", "-n", "0", path], capture_output=True, text=True, check=True,
                            env={**os.environ, "XDG_CACHE_HOME": folder, "HEAPSIFT_STATE": "off"})
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    places = [int(row["address"], 16) + _OF_ITEMS for row in rows if row["size"] >= 64 and row.get("gc_tracked", True)]
    core, faults, noticed = Core(path), [], 0
    for place in chance.sample(places, min(len(places), options.overwritten)):
        offset = next((offset + place - address for address, offset, words in core.segments if address <= place < address + 8 * len(words)), None)
        if offset is None:
            faults.append("%#x is in no memory that can be written" % place)
            continue
        core.file.seek(offset)
        before = core.file.read(8)
        write(core, offset, (int.from_bytes(before, "little") + 8).to_bytes(8, "little"))
        done = subprocess.run([options.heapsift, "types", "--json", "--no-index", path], capture_output=True, text=True, check=False)
        codes = [warning["code"] for warning in json.loads(done.stdout)["warnings"]] if done.returncode in (0, 3) else []
        if done.returncode == 3 and "references-dangling" in codes:
            noticed += 1
        else:
            faults.append("the word at %#x, overwritten, is not noticed: exit %d, %s" % (place, done.returncode, codes))
        write(core, offset, before)
    core.file.close()
    return "%d of %d" % (noticed, min(len(places), options.overwritten)), faults


def write(core, offset, value):
    core.file.seek(offset)
    core.file.write(value)
    core.file.flush()


if __name__ == "__main__":
    sys.exit(main())
