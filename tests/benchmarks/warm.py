#!/usr/bin/env python3
"""Every question with an index at hand: what an answer costs that was asked before, and one that was not.

    warm.py HEAPSIFT CORE… [--runs N] [--commands "show {object}" …]

For each core an index is made; then each command runs once, which is `first` (the index is there, this answer is not), and N times (9), of which the
lowest is taken: CPU and wall milliseconds. What is above its aim has a mark: 25 ms for `show` and `why ADDRESS`, 50 ms for all else. Words
in braces stand for what the core's own answers name: {object}, the object that retains most; {leaf}, a small one; {type}, the type that
retains most; {cycle}, {holder}, {block} (of C code). A command whose word is not in the core is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import scale

COMMANDS = [
    "overview", "types", "types --sort memory", "types --by-holder", "types --by-holder --type {type}", "objects", "objects --sort retained",
    "objects --type {type}", "objects --where size>100", "show {object}", "show {leaf}", "show {object} --retained", "show {expression}", "show {block}",
    "why {object}", "why {leaf}", "why {leaf} --paths 3", "why {block}", "why --type {type}", "referrers {object}", "referrers {leaf}",
    "referents {object}", "referents {leaf}", "dominators", "dominators {object}", "retained {object}", "retained --type {type}",
    "retained --holder {holder}", "cycles", "cycles --all", "cycles --unreachable", "cycles --uncollectable", "cycles --id {cycle}", "gc", "gc --list",
    "refcounts", "arrays", "arrays --owners", "arrays --views", "arrays --pinned", "arrays --by-holder", "arrays --waste", "memory", "memory --regions",
    "native", "native --leaked", "threads", "threads --native", "duplicates", "waste", "tasks", "doctor", "lines", "index",
]
NEAR = {"show", "why"}
RESERVED = {"why --type {type}"}


def aim(command):
    return 25 if command.split()[0] in NEAR and command not in RESERVED else 50


def words_of(options, core, indexes):
    def ask(*words):
        said = subprocess.run([options.heapsift, *words, "--json", "--core", core, "--index-dir", indexes], capture_output=True, check=False)
        return json.loads(said.stdout)["data"] or {}

    def first(rows, key):
        return next((row[key] for row in rows or [] if row.get(key) is not None), None)

    largest = first(ask("objects", "--sort", "retained", "-n", "1").get("objects"), "address")
    kind = first(ask("types", "-n", "1").get("types"), "name")
    found = {"object": largest, "type": kind}
    if kind:
        found["leaf"] = first(ask("objects", "--type", kind, "--sort", "retained", "-n", "200").get("objects", [])[-1:], "address")
        found["holder"] = first([{"name": row["holder"] + row["attribute"]} for row in ask("types", "--by-holder", "-n", "20").get("holders", [])
                                 if "." in row["holder"] and row["attribute"].startswith(".")], "name")
    if found.get("leaf"):
        found["expression"] = first(ask("why", found["leaf"]).get("paths"), "expression")
    found["cycle"] = first(ask("cycles", "--all", "-n", "1").get("cycles"), "id")
    found["block"] = first(ask("native", "-n", "5").get("blocks"), "address")
    return found


def measure(options, core, indexes):
    began = subprocess.run([options.heapsift, "index", "--core", core, "--index-dir", indexes], stdout=subprocess.DEVNULL, check=False)
    if began.returncode not in (0, 3):
        sys.exit("index: exit %d" % began.returncode)
    found = words_of(options, core, indexes)
    for name in os.listdir(indexes):
        if ".answers" in name:
            os.unlink(os.path.join(indexes, name))
    print("%s: %.0f MB\n%-36s %9s %9s %9s %9s" % (core, os.path.getsize(core) / 1e6, "milliseconds", "first CPU", "wall", "warm CPU", "wall"))
    above = 0
    for command in options.commands:
        words = [part.format(**{name: value for name, value in found.items() if value is not None}) if part.format_map(Known(found)) != "" else None
                 for part in command.split()]
        if None in words:
            continue
        whole = [options.heapsift, *words, "--core", core, "--progress", "never", "--index-dir", indexes]
        first = scale.run(whole)
        runs = [scale.run(whole) for _ in range(options.runs)]
        cpu, wall = min(one[0] for one in runs), min(one[1] for one in runs)
        too_long = max(cpu, wall) * 1000 > aim(command)
        above += too_long
        print("%-36s %9.0f %9.0f %9.1f %9.1f%s" % (command, first[0] * 1000, first[1] * 1000, cpu * 1000, wall * 1000,
                                                  "  above %d" % aim(command) if too_long else ""), flush=True)
    print("above the aim: %d\n" % above, flush=True)


class Known(dict):
    """A word that the core does not have makes its part of a command empty."""

    def __missing__(self, name):
        return ""

    def __getitem__(self, name):
        return super().__getitem__(name) if self.get(name) is not None else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heapsift", type=os.path.abspath)
    parser.add_argument("cores", nargs="+", metavar="CORE")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--commands", nargs="*", default=COMMANDS)
    options = parser.parse_args()
    os.environ.update(HEAPSIFT_STATE="off")
    for core in options.cores:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            measure(options, os.path.abspath(core), folder)


if __name__ == "__main__":
    main()
