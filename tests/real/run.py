#!/usr/bin/env python3
"""Real cores: heapsift must list every object that the process itself listed, with type and size, and no ghost.

    run.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter at hand, each program of testdata/programs and each kind of core: take the core and the truth (`cores.py`), ask
heapsift, compare (`compare.py`), print a line. Exit 1 if anything is missing, wrong or unexplained, or a --required one is absent.
"""

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cores
import interpreters
from compare import ALLOCATED, CONTENT, FOUND_BY, REFERRER, compare, load_truth

PROGRAMS = ("plain", "views", "churn", "zoo")
_FAULTS = ("missing", "missing in closure", "type", "size", "tracked", "count", "twice", "unexplained", "recording")
_OFFENDERS = 20


def main():
    options = parse()
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-real-", dir="/var/tmp"))
    os.makedirs(work, exist_ok=True)
    if not options.work and not options.keep:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
    found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
    failures = missing_interpreters(found, options.required)
    kinds, unavailable = kinds_at_hand(options.kinds)
    for line in unavailable:
        print("not tested here: " + line)
    if not kinds:
        failures.append("no core can be taken")
    covered = []
    print(_HEAD, flush=True)
    for interpreter in found:
        programs = [program for program in options.programs if interpreter.numpy or program != "views"]
        good = True
        for program in programs:
            for kind in kinds:
                problem = run_one(options, interpreter, program, kind, work)
                if problem:
                    failures.append("%s %s %s: %s" % (interpreter.name, program, kind, problem))
                    good = False
        covered.append("%s (%s%s)" % (interpreter.name, "NumPy " + interpreter.numpy if interpreter.numpy else "no NumPy, so no views",
                                      "" if good else "; FAILED"))
    print("\ncovered: %s" % ("; ".join(covered) or "no interpreter"))
    if not found:
        failures.append("no interpreter was found")
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift with what real processes say about themselves")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--kinds", nargs="*", default=cores.KINDS, choices=cores.KINDS)
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE", help="for the processes: PYTHONMALLOC=debug")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken; some 1.3 GB free")
    parser.add_argument("--keep", action="store_true", help="keep the cores and heapsift's rows")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    cores.extra_environment.update(variable.split("=", 1) for variable in options.environment)
    return options


def missing_interpreters(found, required):
    problems = []
    for version in required:
        fitting = [one for one in found if interpreters.is_version(one, version)]
        if not fitting:
            problems.append("Python %s is required and not at hand" % version)
        elif not any(one.numpy for one in fitting):
            problems.append("Python %s is required with NumPy, and has none (package python3-numpy)" % version)
    return problems


def kinds_at_hand(kinds):
    reasons = {"kernel": cores.why_no_kernel_cores, "gcore": cores.why_no_gcore}
    why = {kind: reasons[kind]() for kind in kinds}
    return [kind for kind in kinds if not why[kind]], ["%s cores: %s" % (kind, why[kind]) for kind in kinds if why[kind]]


_HEAD = "%-16s %-6s %-6s %9s %9s %8s %5s %5s  %-36s %8s %6s %6s %7s %7s" % (
    "interpreter", "run", "core", "collected", "closure", "missing", "type", "size", "extra: gc/pymalloc/malloc/static/ref", "referrer", "chars", "alone",
    "unexpl.", "seconds")


def run_one(options, interpreter, program, kind, work):
    """Prints the line of the table; returns what went wrong, or None."""
    try:
        taken = cores.take(interpreter, program, kind, work)
    except cores.NoCore as reason:
        return str(reason)
    try:
        began = time.monotonic()
        rows_path, problem = ask_heapsift(options.heapsift, taken, interpreter)
        seconds = time.monotonic() - began
        if problem:
            return problem
        result = compare(load_truth(taken.truth), taken.core, read_rows(rows_path))
        print_line(interpreter, program, kind, result, seconds)
        return ", ".join("%s %d" % (kind, result.faults[kind]) for kind in _FAULTS if result.faults[kind]) or None
    finally:
        if options.keep:
            print("  kept: %s" % taken.core)
        else:
            taken.delete()


def ask_heapsift(heapsift, taken, interpreter):
    rows_path = os.path.join(taken.folder, "rows.jsonl")
    command = [heapsift, "objects", taken.core, "--format", "jsonl", "-n", "0"]
    if interpreter.tree:
        command += ["--sysroot", interpreter.tree]
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder}
    with open(rows_path, "wb") as rows:
        done = subprocess.run(command, stdout=rows, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, timeout=600)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing on standard error"]
        return rows_path, "heapsift ended with %d: %s" % (done.returncode, said[-1])
    return rows_path, None


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def print_line(interpreter, program, kind, result, seconds):
    faults = result.faults
    extras = "/".join(str(result.extras[found_by]) for found_by in FOUND_BY)
    if result.extras[None]:
        extras = "%d, not said how" % result.extras[None]
    print("%-16s %-6s %-6s %9d %9d %8d %5d %5d  %-36s %8d %6d %6d %7d %7.2f" % (
        interpreter.name, program, kind, result.collected, result.closure, faults["missing"] + faults["missing in closure"], faults["type"],
        faults["size"], extras, result.proofs[REFERRER], result.proofs[CONTENT], result.proofs[ALLOCATED], faults["unexplained"], seconds), flush=True)
    if result.sized_in_python:
        print("  sized by Python code, so not compared: " + ", ".join("%d %s" % (count, name) for name, count in result.sized_in_python.most_common(8)))
    for fault, type_name, address, expected, got in sorted(result.offenders, key=lambda one: _FAULTS.index(one[0]))[:_OFFENDERS]:
        what = "%s (found by: %s)" if fault == "unexplained" else "expected %s, got %s"
        print("  %-18s %s at %#x: %s" % (fault, type_name, address, what % (expected, got)))
    if len(result.offenders) > _OFFENDERS:
        print("  … and %d more" % (len(result.offenders) - _OFFENDERS))


if __name__ == "__main__":
    sys.exit(main())
