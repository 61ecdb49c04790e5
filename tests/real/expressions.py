#!/usr/bin/env python3
"""Expressions: what heapsift prints, and what people type, must lead to the right object.

    expressions.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found it takes the core of testdata/programs/expressions.py, which plants objects in every kind of place
(places.py) and in places that have their own expressions, runs functions in two threads and says where everything is. Two tests:

    names         a sample of the references between holders and planted objects: the holder's address and the name of the reference,
                  as heapsift prints it, must lead to the object; or, if the holder has several references of that name, the object
                  must be among those that heapsift lists
    expressions   those that the program wrote down, each with the address that it must lead to

Exit 1 if one leads elsewhere or nowhere.
"""

import argparse
import atexit
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import cores
import harness
import interpreters
from reference_graph import names_of
from references import ask_heapsift
from run import missing_interpreters

_SECONDS = 120
_SEED = 7


def main():
    options = parse()
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-expressions-", dir="/var/tmp"))
    os.makedirs(work, exist_ok=True)
    if not options.work and not options.keep:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
    found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
    failures = missing_interpreters(found, options.required)
    if not found:
        failures.append("no interpreter was found")
    if cores.why_not(options.kind):
        failures.append(cores.why_not(options.kind))
        found = []
    print("%-16s %7s %7s %7s %12s %7s" % ("interpreter", "names", "right", "several", "expressions", "right"), flush=True)
    for interpreter in found:
        problem = run_one(options, interpreter, work)
        if problem:
            failures.append("%s: %s" % (interpreter.name, problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="asks heapsift for objects by expressions, and compares with where they are")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--names", type=int, default=150, metavar="N", help="how many references are tried; 0 for all; default: 150")
    parser.add_argument("--kind", default="gcore", choices=("gcore", "capture"), help="capture, where gdb cannot read the stacks of threads (it is older than glibc)")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and heapsift's export")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, work):
    """Prints the line of the table; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-expressions-")
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        core, _ = cores.take_at_rest(interpreter, ["expressions.py"], options.kind, folder, os.path.join(folder, "expressions.jsonl"))
        export, problem = ask_heapsift(options, cores.TakenCore(core, "", folder, ""), interpreter)
        return problem or compare(options, interpreter, core, folder, export)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def compare(options, interpreter, core, folder, export):
    pairs = {(int(place["holder"], 16), int(place["target"], 16)) for place in read_lines(os.path.join(folder, "places.jsonl"))}
    # names_of gives the edges of a pair of objects; several targets of one name are told from them below.
    names = sorted({("%#x%s" % (holder, name), target) for (holder, target), edges in names_of(export, pairs).items() for _, name in edges})
    if options.names and len(names) > options.names:
        names = random.Random(_SEED).sample(names, options.names)
    typed = [(row["expression"], int(row["address"], 16)) for row in read_lines(os.path.join(folder, "expressions.jsonl"))]
    command = [options.heapsift, "referents", "-n", "1", "--json", "--core", core]
    command += ["--sysroot", interpreter.tree] if interpreter.tree else []
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, len(os.sched_getaffinity(0)))) as pool:
        outcomes = list(pool.map(lambda one: outcome(command, *one), names + typed))
    of_names, of_typed = collections.Counter(map(first, outcomes[:len(names)])), collections.Counter(map(first, outcomes[len(names):]))
    print("%-16s %7d %7d %7d %12d %7d" % (interpreter.name, len(names), of_names["right"], of_names["several"], len(typed), of_typed["right"]))
    faults = [(expression, said) for (expression, _), (kind, said) in zip(names + typed, outcomes) if kind == "wrong"]
    faults += [(expression, said) for (expression, _), (kind, said) in zip(typed, outcomes[len(names):]) if kind == "several"]
    for fault in faults:
        print("  %s: %s" % fault)
    sys.stdout.flush()
    return "%d faults" % len(faults) if faults else None


def first(pair):
    return pair[0]


def read_lines(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def outcome(command, expression, address):
    """right, several (the address is among those listed) or wrong; and what heapsift said."""
    environment = {**os.environ, "HEAPSIFT_STATE": "off"}
    done = subprocess.run([*command, "--", expression], env=environment, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return "wrong", "exit %d, no document: %s" % (done.returncode, done.stderr.strip())
    if document.get("error"):
        error = document["error"]
        listed = re.findall(r"0x[0-9a-f]+(?= \()", error["message"])
        several = error["code"] == "ambiguous-address" and ("%#x" % address in listed or "more" in error["message"])
        return "several" if several else "wrong", "%(code)s: %(message)s" % error
    found = document["data"]["object"]["address"]
    return ("right", "") if int(found, 16) == address else ("wrong", "%s and not %#x" % (found, address))


if __name__ == "__main__":
    sys.exit(main())
