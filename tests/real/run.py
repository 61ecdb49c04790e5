#!/usr/bin/env python3
"""Real cores: heapsift must list every object that the process itself listed, with type and size, and no ghost.

    run.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found, each program of testdata/programs and each kind of core: take the core and the truth (`cores.py`), ask
heapsift, compare (`compare.py`), print a line. Exit 1 if anything is missing, wrong or unexplained, or a --required one is absent.
"""

import argparse
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cores
import files_away
import interpreters
from compare import ALLOCATED, CONTENT, FOUND_BY, REFERRER, compare, load_truth

PROGRAMS = ("plain", "crash", "views", "churn", "zoo", "work")
_FOR_2 = ("plain", "zoo27")  # instead of those, on 2.7
_FAULTS = ("missing", "missing in closure", "type", "size", "tracked", "count", "twice", "unexplained", "recording")
_FOR_DEBUG_BUILDS = ("plain", "crash", "zoo")  # the others are about allocators, which these builds share with the rest
_OFFENDERS = 20
_ENOUGH_NAMES = 99.5  # percent of the objects, without any file


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
    if options.files == "away" and files_away.BareRoot.why_not():
        print("not tested here: " + files_away.BareRoot.why_not())
    if not kinds:
        failures.append("no core can be taken")
    covered = []
    print(_HEAD, flush=True)
    for interpreter in found:
        if interpreter.old:
            programs = [program for program in _FOR_2 if program.replace("27", "") in options.programs]
        else:
            programs = [program for program in options.programs if (interpreter.numpy or program != "views") and
                    (not interpreter.debug or program in _FOR_DEBUG_BUILDS)]
        good = True
        for program in programs:
            for kind in kinds:
                if kind == "gcore" and program not in options.by_gcore:
                    continue
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
    parser.add_argument("--kinds", nargs="*", default=cores.KINDS, choices=cores.ALL_KINDS)
    parser.add_argument("--by-gcore", nargs="*", default=PROGRAMS, choices=PROGRAMS, help="of these, if gcore is among the kinds; default: all")
    parser.add_argument("--files", default="here", choices=("here", "away", "unknown"),
                        help="away: heapsift finds no file of the process; unknown: nor is any build one it knows. Of names it must then tell %s %%%%" % _ENOUGH_NAMES)
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE", help="for the processes: PYTHONMALLOC=debug")
    parser.add_argument("--blocks", metavar="PATH", help="a program that tells the blocks of the processes' allocator, which must be there (jemalloc_blocks)")
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
    why = {kind: cores.why_not(kind) for kind in kinds}
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
        if options.blocks and subprocess.run([options.blocks, taken.core], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60).returncode:
            print("not tested here: %s has not that allocator" % interpreter.name)
            return "the allocator is not there" if os.environ.get("CI") == "true" else None
        take_files_away(options.files, taken)
        began = time.monotonic()
        rows_path, problem = ask_heapsift(options, taken, interpreter)
        seconds = time.monotonic() - began
        problem = problem or layout_problem(options, taken, interpreter)
        if problem:
            return problem
        result = compare(load_truth(taken.truth), taken.core, read_rows(rows_path), options.blocks)
        print_line(interpreter, program, kind, result, seconds)
        return ", ".join(faults_of(result, options.files)) or None
    finally:
        if options.keep:
            print("  kept: %s" % taken.core)
        else:
            taken.delete()


def faults_of(result, files):
    """Without files a few types stay anonymous: this measures how many objects of the truth have the right type name; all else is as always."""
    faults = ["%s %d" % (kind, result.faults[kind]) for kind in _FAULTS if result.faults[kind] and (kind != "type" or files == "here")]
    if files != "here":
        share = 100 - 100 * result.faults["type"] / max(1, result.collected + result.closure)
        print("  named rightly without files: %.3f %%" % share)
        if share < _ENOUGH_NAMES:
            faults.append("type names right: %.3f %%" % share)
    return faults


def take_files_away(files, taken):
    if files != "here":
        taken.own()
    if files == "away":
        files_away.move_files_away(taken.core)
    elif files == "unknown":
        files_away.forget_builds(taken.core)


def ask_heapsift(options, taken, interpreter):
    rows_path = os.path.join(taken.folder, "rows.jsonl")
    command = [options.heapsift, "objects", taken.core, "--format", "jsonl", "-n", "0"]
    command, enter = where_files_are(options, taken, interpreter, command)
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder}
    with open(rows_path, "wb") as rows:
        done = subprocess.run(command, stdout=rows, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, timeout=600, preexec_fn=enter)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing on standard error"]
        return rows_path, "heapsift ended with %d: %s" % (done.returncode, said[-1])
    return rows_path, None


def where_files_are(options, taken, interpreter, command):
    """(the command for the core, from where the process's files are as they shall be; what the new process runs first)."""
    files = getattr(options, "files", "here")  # some scripts know nothing else
    if interpreter.tree and files == "here":
        return command + ["--sysroot", interpreter.tree], None
    if files == "away" and not files_away.BareRoot.why_not():
        return (["/core" if word == taken.core else word for word in command],
                files_away.BareRoot(options.heapsift, taken.core, taken.folder).enter)
    return command, None


def layout_problem(options, taken, interpreter):
    """There is no table for debug builds: their own debug information, which Debian leaves in the file, must have been used."""
    if not interpreter.debug or options.files != "here":
        return None
    command = [options.heapsift, "doctor", taken.core, "--json"] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "HEAPSIFT_STATE": "off"}, timeout=600)
    source = json.loads(done.stdout)["data"]["layout"]["source"]
    return None if "debug information of" in source else "its layout came from: %s" % source


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
    print_offenders(result.offenders)


def print_offenders(offenders):
    """Equal faults are one line, with how many and where the first is."""
    groups = {}
    for fault, type_name, address, expected, got in offenders:
        what = "%s (found by: %s)" if fault == "unexplained" else "expected %s, got %s"
        if fault in ("size", "count"):
            what, expected = "not the expected %s; first: %s, got %s" % (fault, expected, got), None
        text = what if expected is None else what % (expected, re.sub("0x[0-9a-f]+", "0x…", str(got)))
        groups.setdefault((_FAULTS.index(fault), fault, type_name, text if expected is not None else ""), []).append((address, text))
    for (_, fault, type_name, _), found in sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1])))[:_OFFENDERS]:
        print("  %6d %-12s %s: %s, at %#x" % (len(found), fault, type_name, found[0][1], found[0][0]))
    if len(groups) > _OFFENDERS:
        print("  … and %d more kinds" % (len(groups) - _OFFENDERS))


if __name__ == "__main__":
    sys.exit(main())
