#!/usr/bin/env python3
"""Two cores of a program that grows in a known way: `diff` must name the place, how many units, and what each of them has.

    diff.py --heapsift build/dev/heapsift [--tree forky=/var/cache/heapsift/forky] [--versions DIR] [--interpreter PATH …] [--cases NAME …]

testdata/programs/growth.py takes both cores of copies of itself, and writes what it did between them; its `nothing` must have no
culprit. Besides: the same core twice, warm and cold, three cores, limits and their exit code. Exit 1 if an answer is wrong.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import time

import cores
import harness
import native

CASES = ("sessions", "thread_local", "attribute", "of_class", "lru_cache", "closures", "linked", "buffer", "strings", "garbage", "references", "native",
         "arrays", "pools", "moved", "two_attributes", "two_chains", "instances", "in_hand", "archive", "replaced", "made_up", "library_sessions", "activations", "views", "classes", "nothing")
_ARENA = 1 << 20  # bytes of an arena since 3.10
_HERE_ALONE = ("classes", "archive", "replaced")  # what a tree of another suite lacks: the library's C++ library, gcore
_WITH_NUMPY = ("arrays", "activations", "views")
_HEAD = "%-16s %-13s %7s %8s" % ("interpreter", "case", "faults", "seconds")


def main():
    parser = harness.parser("compares two cores of programs that grow in known ways", kinds=("kernel",))
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, _, failures = harness.begin(options, "diff")
    print(_HEAD, flush=True)
    for interpreter in found:
        for case in options.cases:
            if case in _WITH_NUMPY and not interpreter.numpy or case in _HERE_ALONE and interpreter.tree:
                continue
            began = time.monotonic()
            faults = run_one(options, interpreter, case, work)
            print("%-16s %-13s %7d %8.1f" % (interpreter.name, case, len(faults), time.monotonic() - began))
            for fault in faults:
                print("  wrong: " + fault)
            sys.stdout.flush()
            failures += ["%s %s: %s" % (interpreter.name, case, fault) for fault in faults]
    return harness.end(failures)


def run_one(options, interpreter, case, work):
    folder = harness.folder_for(interpreter, work, "heapsift-diff-%s-" % case)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        if case == "classes":
            native.compile_library("native_leak.cpp", folder)
        process = cores.start(interpreter, ["growth.py", case, "."], folder)
        if process.wait(timeout=300) != 0:
            return ["the program ended with %d: %s" % (process.returncode, cores.last_words(folder))]
        pair = [glob.glob(os.path.join(folder, number, "core*"))[0] for number in "12"]
        with open(os.path.join(folder, "truth.json")) as file:
            truth = json.load(file)
        asked = Asked(options.heapsift, interpreter, folder)
        faults = list(growth_faults(asked.data("diff", *pair), case, truth))
        if case in ("sessions", "nothing"):
            faults += list(manner_faults(asked, pair, case))
        return faults
    except (OSError, ValueError, KeyError, IndexError, subprocess.TimeoutExpired) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


class Asked:
    def __init__(self, heapsift, interpreter, folder):
        self.heapsift, self.options = heapsift, ["--sysroot", interpreter.tree] if interpreter.tree else []
        self.environment = dict(os.environ, HEAPSIFT_STATE="off", XDG_CACHE_HOME=folder)

    def run(self, *arguments):
        return subprocess.run([self.heapsift, *arguments, *self.options], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300)

    def data(self, *arguments, exit_code=0):
        done = self.run(*arguments, "--json")
        if done.returncode != exit_code:
            raise ValueError("%s: exit %d: %s" % (" ".join(arguments[:1]), done.returncode, done.stderr.strip()[-300:]))
        return json.loads(done.stdout)["data"]


def without_names(data):
    """Files are called otherwise."""
    return {**data, "cores": [{**core, "file": ""} for core in data["cores"]]}


def growth_faults(data, case, truth):
    counts = {row["name"]: row["count_delta"] for row in data["types"]}
    for name, count in truth["counts"].items():
        if counts.get(name, 0) != count:
            yield "%s grew by %d, and not by %s" % (name, count, counts.get(name))
    if case == "nothing":
        if data["cause"] != "nothing" or not data["headline"].startswith("Nothing grew"):
            yield "said of what did not grow: " + data["headline"]
        return
    if case == "classes":
        grown = {row["class"]: row["count_delta"] for row in data["native"] if row["class"]}
        if {name: grown.get(name) for name in truth["classes"]} != truth["classes"]:
            yield "the classes grew by %s" % grown
        if data["cause"] != "native" or not any(name in data["headline"] for name in truth["classes"]):
            yield "the classes are not the cause: " + data["headline"]
        return
    if case == "native":
        blocks = [row for row in data["native"] if row["class"] is None and row["count_delta"] == truth["blocks"] and row["size"] >= 3000]
        if data["cause"] != "native" or not blocks:
            yield "the blocks are not the cause: " + data["headline"]
        return
    yield from place_faults(data, truth)
    rows = {row["attribute"]: row for row in data["holders"] if (row["type"], row["holder"]) == ("numpy.ndarray", truth["holder"])}
    for name, numbers in truth["held"].items():
        row = rows.get(name, {"count_delta": 0, "size_delta": 0})
        if [row["count_delta"], row["size_delta"]] != numbers:
            yield "%s.%s grew by %s, and not by %s" % (truth["holder"], name, [row["count_delta"], row["size_delta"]], numbers)


def place_faults(data, truth):
    """The first place is the cause; each of the others that grew is as large as it is, and told with the first if it is like it."""
    if data["cause"] != "place":
        yield "no place is the cause: " + data["headline"]
        return
    place = data["places"][0]
    if truth["holder"] not in (None, place["holder"]) or truth["attribute"] not in (None, place["attribute"]):
        yield "the place is %s.%s" % (place["holder"], place["attribute"])
    if place["units"] != truth["units"]:
        yield "%s units, and not %s: %s" % (place["units"], truth["units"], data["headline"])
    if truth["unit"] and place["parts"][0]["type"] != truth["unit"]:
        yield "the unit is %s" % place["parts"][0]["type"]
    if truth["path"] not in str(place["expression"]):
        yield "the path is %s" % place["expression"]
    yield from part_faults(place, truth["each"], data)
    explained = place["bytes_delta"]
    for holder, attribute, units, each in truth["also"]:
        found = [one for one in data["places"] if (one["holder"], one["attribute"]) == (holder, attribute)]
        if not found or found[0]["units"] != units:
            yield "%s.%s grew by %s, and not by %d" % (holder, attribute, [one["units"] for one in found], units)
            continue
        yield from part_faults(found[0], each, data)
        if "%s.%s" % (holder, attribute) not in data["headline"]:
            yield "%s.%s is not told: %s" % (holder, attribute, data["headline"])
        if found[0] is not place:
            explained += found[0]["bytes_delta"]
    # A little of it is the program's own work between the two; and where the kernel gives a whole new arena of pymalloc at
    # once, as a huge page, what is free of it has grown too.
    free = sum(row["bytes_delta"] for row in data["memory"] if row["name"] == "free, not given back to the system")
    rest = data["growth"] - explained - min(max(free, 0), _ARENA)
    if not data["growth"] or (rest > max(0.1 * data["growth"], 32 << 10) and not truth["freed"]):
        yield "it is %d of %d bytes of growth" % (explained, data["growth"])


def part_faults(place, parts, data):
    each = {part["type"]: part["each"] for part in place["parts"]}
    for name, number in parts.items():
        if each.get(name) != number:
            yield "each has %s %s, and not %d: %s" % (each.get(name), name, number, data["headline"])


def manner_faults(asked, pair, case):
    """Warm as cold, itself, three cores, limits."""
    cold, warm = asked.run("diff", *pair, "--no-index", "--json"), asked.run("diff", *pair, "--json")
    if cold.stdout != warm.stdout:
        yield "with an index the answer is another"
    if asked.data("diff", pair[0], pair[0])["cause"] != "nothing":
        yield "a core grew against itself"
    three = asked.data("diff", pair[0], pair[1], pair[1])
    if three["types"] and "counts" not in three["types"][0]:
        yield "three cores have no counts by core"
    export = pair[0] + ".db"
    if asked.run("export", "-o", export, pair[0]).returncode != 0 or without_names(asked.data("diff", export, pair[1])) != without_names(
            asked.data("diff", *pair)):
        yield "an export in place of its core gives another answer"
    grows = case == "sessions"
    for arguments in (["--max-growth", "5%"], ["--max-growth", "100K"], ["--fail-on", "retained(__main__.REGISTRY)>10%"],
                      ["--fail-on", "count(__main__.Session)>8"], ["--fail-on", "memory(__main__.Session)>1K"]):
        code = asked.run("diff", *pair, *arguments).returncode
        if code != (4 if grows else 0):
            yield "%s: exit %d" % (" ".join(arguments), code)
    for arguments, code in ((["--max-growth", "many"], 2), (["--fail-on", "retained(x"], 2), (["--fail-on", "retained(__main__.NO)>1"], 2)):
        if asked.run("diff", *pair, *arguments).returncode != code:
            yield "%s: not exit %d" % (" ".join(arguments), code)
    if asked.run("diff", pair[0]).returncode != 2 or asked.run("diff", pair[0], "/no/such/core").returncode != 1:
        yield "one core is not exit 2, or none of that name not exit 1"
    for table in ("type", "holder", "array", "native", "memory"):
        for manner in ([], ["--format", "csv"], ["--format", "jsonl"]):
            done = asked.run("diff", *pair, "--by", table, *manner)
            if done.returncode != 0 or (not done.stdout.strip() and "jsonl" not in manner):
                yield "--by %s %s: exit %d, %d letters" % (table, " ".join(manner), done.returncode, len(done.stdout))


if __name__ == "__main__":
    sys.exit(main())
