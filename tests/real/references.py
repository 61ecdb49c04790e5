#!/usr/bin/env python3
"""The references of real cores: what an object refers to must be what its process said, and the counts must add up.

    references.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found and each program: take the core and what gc.get_referents returned for every object in it, ask heapsift for
all edges, compare (`reference_graph.py`), print a line. Exit 1 if a reference of a kind that heapsift reads exactly is missing or extra,
or if for more than 1 % of the mortal objects on the heap the references found are not as many as the count says.
"""

import argparse
import os
import subprocess
import sys
import time

import cores
import harness
import run
from compare import load_truth
from reference_graph import KINDS, BadExport, Comparison, Graph, offenders

PROGRAMS = ("plain", "zoo", "work")
_OFFENDERS = 30
_WORST = 10
_ENOUGH_IN_BALANCE = 99.0  # percent
_SECONDS = 600


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "references")
    print(_HEAD, flush=True)
    for interpreter in found:
        for program in programs_for(interpreter, options.programs):
            for kind in kinds:
                problem = run_one(options, interpreter, program, kind, work)
                if problem:
                    failures.append("%s %s %s: %s" % (interpreter.name, program, kind, problem))
    return harness.end(failures)


def programs_for(interpreter, programs):
    """On 2.7 zoo27.py is the zoo, and there is no workshop."""
    return [interpreter.program(name) if name == "zoo" else name for name in programs if not interpreter.old or name in ("plain", "zoo")]


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift's references with what real processes say about themselves")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, metavar="NAME", help="of testdata/programs; default: %s" % " ".join(PROGRAMS))
    parser.add_argument("--kinds", nargs="*", default=("kernel",), choices=cores.ALL_KINDS)
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE", help="for the processes: PYTHONMALLOC=debug")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken; some 1.3 GB free")
    parser.add_argument("--keep", action="store_true", help="keep the cores and heapsift's export")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    cores.extra_environment.update(variable.split("=", 1) for variable in options.environment)
    return options


_HEAD = "%-16s %-6s %-6s %8s %9s %9s %7s %7s %10s %8s %8s %8s %9s %7s" % (
    "interpreter", "run", "core", "objects", "edges", "written", "missing", "extra", "right", "guessed", "right", "mortal", "balanced", "seconds")


def run_one(options, interpreter, program, kind, work):
    """Prints the line of the table; returns what went wrong, or None."""
    try:
        taken = cores.take(interpreter, program, kind, work, HEAPSIFT_TRUTH_REFERENTS="1")
    except cores.NoCore as reason:
        return str(reason)
    try:
        began = time.monotonic()
        path, problem = ask_heapsift(options, taken, interpreter)
        seconds = time.monotonic() - began
        if problem:
            return problem
        truth = load_truth(taken.truth, with_referents=True)
        graph = Graph(path)
        result = Comparison(truth, graph)
        print_line("%-16s %-6s %-6s" % (interpreter.name, program, kind), result, graph, seconds)
        print_dangling(graph)
        print_offenders(offenders(result, truth, graph))
        print_worst("guessed wrongly", result.guessed, "%d of %d objects; edges: %d missing, %d too many; at %#x (%d and %d)")
        print_worst("not in balance", result.balances, "%d of %d objects; references: %d not found, %d too many; at %#x (%d found, count %d)")
        return ", ".join(faults_of(result, graph)) or None
    except BadExport as reason:
        return str(reason)
    finally:
        if options.keep:
            print("  kept: %s" % taken.core)
        else:
            taken.delete()


def ask_heapsift(options, taken, interpreter):
    path = os.path.join(taken.folder, "graph.jsonl")
    command, enter = run.where_files_are(options, taken, interpreter, [options.heapsift, "export", taken.core, "-o", "-", "--format", "jsonl"])
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder}
    with open(path, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, timeout=_SECONDS, preexec_fn=enter)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing on standard error"]
        return path, "heapsift ended with %d: %s" % (done.returncode, said[-1])
    return path, None


def share(tally):
    return 100 * tally.right / max(1, tally.objects)


def faults_of(result, graph):
    written, balances = result.total(result.written), result.total(result.balances)
    faults = []
    if result.without_row:
        faults.append("%d objects without a row" % result.without_row)
    if graph.dangling:
        faults.append("%d references with an end that is no object" % len(graph.dangling))
    if not written.objects:
        faults.append("no object's references are exact")
    faults += ["%s %d" % (fault, len(pairs)) for fault, pairs in result.faults.items() if pairs]
    if share(balances) < _ENOUGH_IN_BALANCE:
        faults.append("in balance: %.3f %%" % share(balances))
    return faults


def print_line(which, result, graph, seconds):
    written, guessed, balances = (result.total(tallies) for tallies in (result.written, result.guessed, result.balances))
    exact = sum(row.exact for row in graph.rows.values())
    right = "all" if written.right == written.objects else "%.4f%%" % share(written)
    print("%s %8d %9d %8.3f%% %7d %7d %10s %8d %7.2f%% %8d %8.3f%% %7.2f" % (
        which, len(graph.rows), sum(graph.kinds.values()), 100 * exact / max(1, len(graph.rows)), written.missing, written.extra, right,
        guessed.objects, share(guessed), balances.objects, share(balances), seconds))
    print("  edges: %s; written kinds: %d objects, %d of them in the truth, %d of these right" % (
        ", ".join("%d %s" % (graph.kinds[index], kind) for index, kind in enumerate(KINDS)), exact, written.objects, written.right), flush=True)


def print_dangling(graph):
    """References with an end that is no object, by the type of the source."""
    groups = {}
    for source, target in graph.dangling:
        row = graph.rows.get(source)
        groups.setdefault(row.type if row else "something without a row", []).append((source, target))
    for source_type, pairs in sorted(groups.items(), key=lambda group: -len(group[1]))[:_WORST]:
        print("  %6d no object  %s -> ?, at %#x -> %#x" % (len(pairs), source_type, *pairs[0]))


def print_offenders(groups):
    for group in groups[:_OFFENDERS]:
        print("  %6d %-8s %s -> %s: %s, at %#x -> %#x" % (group.count, group.fault, group.source_type, group.target_type, group.names, *group.example))
    if len(groups) > _OFFENDERS:
        print("  … and %d more kinds" % (len(groups) - _OFFENDERS))


def print_worst(title, tallies, what):
    """The types with most objects that are not right."""
    wrong = {name: tally for name, tally in tallies.items() if tally.right < tally.objects}
    for name, tally in sorted(wrong.items(), key=lambda item: item[1].right - item[1].objects)[:_WORST]:
        print("  %s: %s: %s" % (title, name, what % (tally.objects - tally.right, tally.objects, tally.missing, tally.extra, *tally.example)))
    if len(wrong) > _WORST:
        print("  %s: … and %d more types" % (title, len(wrong) - _WORST))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
