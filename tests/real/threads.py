#!/usr/bin/env python3
"""Threads, their calls and their local variables: what `heapsift threads` reads from a core must be what Python itself said.

    threads.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found and each kind of core: testdata/programs/stacks.py makes threads stand still in every kind of call, and writes
down what sys._current_frames() says of them: names, numbers, functions, files, lines, and the address of every local. Prints a line for
each core; exit 1 unless all of it agrees.
"""

import argparse
import atexit
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cores
import interpreters

_WRONG = ("threads", "tid", "name", "gil", "frames", "function", "file", "line", "locals")


def main():
    options = parse()
    work = options.work or tempfile.mkdtemp(prefix="heapsift-threads-", dir="/var/tmp")
    os.makedirs(work, exist_ok=True)
    if not options.work:
        atexit.register(shutil.rmtree, work, True)
    trees = dict(pair.split("=", 1) for pair in options.tree)
    found = interpreters.find(trees, options.versions, options.interpreters)
    failures = ["Python %s is not at hand" % wanted for wanted in options.required
                if not any(interpreters.is_version(one, wanted) for one in found)]
    if not found:
        failures.append("no interpreter was found")
    print("%-16s %-7s %8s %7s %7s   wrong:" % ("interpreter", "core", "threads", "frames", "locals") + " %8s" * len(_WRONG) % _WRONG,
          flush=True)
    for interpreter in found:
        for kind in options.kinds:
            problem = cores.why_not(kind) or run_one(options, interpreter, kind, work)
            if problem:
                failures.append("%s, %s: %s" % (interpreter.name, kind, problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift's threads, calls and locals with what the processes said")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these is not at hand")
    parser.add_argument("--kinds", nargs="*", default=cores.KINDS, choices=cores.ALL_KINDS)
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, kind, work):
    """Prints the line of the table and what is wrong; returns what went wrong, or None."""
    try:
        taken = cores.take(interpreter, interpreter.program("stacks"), kind, work)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    try:
        return compare_core(options, interpreter, kind, taken)
    finally:
        if options.keep:
            print("  kept: %s" % taken.folder)
        else:
            taken.delete()


def compare_core(options, interpreter, kind, taken):
    command = [options.heapsift, "threads", taken.core, "--json"]
    if interpreter.tree:
        command += ["--sysroot", interpreter.tree]
    done = subprocess.run(command, env={**os.environ, "HEAPSIFT_STATE": "off"}, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return "heapsift: exit %d: %s" % (done.returncode, done.stderr.strip())
    answer = json.loads(done.stdout)
    with open(taken.truth, encoding="ascii") as file:
        truth = json.load(file)
    if interpreter.free_threaded:  # nobody has what there is not
        truth["gil"] = None
    wrong, examples = compare(truth, answer["data"]["threads"])
    frames = [frame for thread in truth["threads"] for frame in thread["frames"]]
    print("%-16s %-7s %8d %7d %7d         " % (interpreter.name, kind, len(truth["threads"]), len(frames), sum(len(f["locals"]) for f in frames))
          + " %8d" * len(_WRONG) % tuple(wrong[what] for what in _WRONG), flush=True)
    for example in examples[:20]:
        print("    " + example)
    return "%d differences" % sum(wrong.values()) if wrong else None


def compare(truth, threads):
    wrong, examples = collections.Counter(), []

    def check(what, where, said, read):
        if said != read:
            wrong[what] += 1
            examples.append("%s: %s: Python said %s, heapsift %s" % (where, what, ascii(said), ascii(read)))

    read_by_ident = {int(thread["ident"], 16): thread for thread in threads}
    check("threads", "all", sorted(thread["ident"] for thread in truth["threads"]), sorted(read_by_ident))
    for said in truth["threads"]:
        where = said["name"] or "without a name"
        read = read_by_ident.get(said["ident"], {"tid": None, "name": None, "gil": None, "frames": []})
        check("tid", where, said["native_id"], read["tid"])
        check("name", where, said["name"], read["name"])
        check("gil", where, truth["gil"] == said["ident"], read["gil"])
        check("frames", where, [frame["function"] for frame in said["frames"]], [frame["function"] for frame in read["frames"]])
        for said_frame, read_frame in zip(said["frames"], read["frames"]):
            place = "%s, %s()" % (where, said_frame["function"])
            for what in ("function", "file", "line"):
                check(what, place, said_frame[what], read_frame[what])
            listed = {local["name"]: int(local["address"], 16) for local in read_frame["locals"] if local["name"] not in said_frame["unsaid"]}
            check("locals", place, said_frame["locals"], listed)
            for local in read_frame["locals"]:
                check("locals", place + " " + local["name"], True, local["object"] is not None)
    return wrong, examples


if __name__ == "__main__":
    sys.exit(main())
