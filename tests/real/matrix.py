#!/usr/bin/env python3
"""The table of all interpreters at hand and their variants: how much of what each process said of itself heapsift says as well.

    matrix.py --heapsift build/release/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--allocators malloc debug]
              [--kinds kernel gcore] [--subinterpreters] [--files away] [--markdown]

A row is an interpreter, one of its allocators (PYTHONMALLOC), and a kind of core. One core of `work`, the program that has something of
nearly every kind (2.7: `zoo27`), answers for all columns: objects (gc.get_objects() and its closure), how many of these are missing, have another type
name, another size, another list of references than gc.get_referents returned; for which share of mortal objects the references that were
found are as many as their count; and the seconds that the two questions took. Exit 1 if one of the four numbers is not 0.

With --subinterpreters there is a row more for each that can have them (3.8 and later), of `subinterpreters`: what is in any of four interpreters of the process.

With --files away the core is the only file, with `unknown` its build is none that heapsift knows either. Then a few types have no name, and the share of
objects whose type has the right name must be 99.8 %.

A process with threads whose stacks gdb cannot read (its kind of core then says `zoo`) is replaced by one without.

It takes a minute for each four rows, so it is for a release, and for whoever adds an interpreter; ctest runs the parts of it (`run`,
`references`, `newest_*`).
"""

import collections
import itertools
import os
import sys
import time

import cores
import harness
import references
import run
from compare import compare, load_truth
from reference_graph import BadExport, Comparison, Graph

PROGRAM, WITHOUT_THREADS, FOR_2, SEVERAL = "work", "zoo", "zoo27", "subinterpreters"
ALLOCATORS = ("", "malloc", "debug", "malloc_debug", "mimalloc")
_MIMALLOC_SINCE, _SEVERAL_SINCE = (3, 13), (3, 8)
_COLUMNS = ("interpreter", "PYTHONMALLOC", "core", "objects", "missing", "type", "size", "references", "counts closed", "seconds")
_WIDTHS = (16, 16, 10, 9, 7, 5, 5, 10, 13, 7)
_ENOUGH_NAMES = 99.8  # percent of the objects, without any file


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "matrix")
    options.blocks, options.environment = None, []
    print_row(options.markdown, _COLUMNS)
    if options.markdown:
        print("|" + " --- |" * 3 + " ---: |" * (len(_COLUMNS) - 3))
    for interpreter, allocator, kind in itertools.product(found, options.allocators, kinds):
        if allocator == "mimalloc" and interpreter.version < _MIMALLOC_SINCE:
            continue
        if allocator and interpreter.debug:
            continue  # these have their own debug hooks around everything
        cores.extra_environment.clear()
        if allocator:
            cores.extra_environment["PYTHONMALLOC"] = allocator
        if interpreter.old and allocator:
            continue  # 2.7 has no PYTHONMALLOC
        problem = row(options, interpreter, allocator, kind, work, FOR_2 if interpreter.old else PROGRAM)
        if problem and kind == "gcore" and "gdb could not read the stacks" in problem:  # with the glibc of that tree
            problem = row(options, interpreter, allocator, kind, work, WITHOUT_THREADS)
        if problem:
            failures.append("%s %s %s: %s" % (interpreter.name, allocator or "default", kind, problem))
    cores.extra_environment.clear()
    for interpreter, kind in itertools.product(found if options.subinterpreters else (), kinds):
        if interpreter.version >= _SEVERAL_SINCE:
            problem = row(options, interpreter, "", kind, work, SEVERAL)
            if problem:
                failures.append("%s sub-interpreters %s: %s" % (interpreter.name, kind, problem))
    return harness.end(failures)


def parse():
    parser = harness.parser("one table of all interpreters: heapsift against what their processes say", kinds=("kernel",))
    parser.add_argument("--allocators", nargs="*", default=[""], choices=ALLOCATORS, metavar="NAME",
                        help="values of PYTHONMALLOC; '' is the default. Of: %s" % " ".join(ALLOCATORS[1:]))
    parser.add_argument("--subinterpreters", action="store_true", help="also rows of processes with several interpreters")
    parser.add_argument("--files", default="here", choices=("here", "away", "unknown"), help="away: the core is the only file; unknown: and of a build never seen")
    parser.add_argument("--markdown", action="store_true", help="as it stands in tests/README.md")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def row(options, interpreter, allocator, kind, work, program):
    """Prints it; returns what is wrong, or None."""
    try:
        taken = cores.take(interpreter, program, kind, work, HEAPSIFT_TRUTH_REFERENTS="1", **({"HEAPSIFT_ALONE": "1"} if program == WITHOUT_THREADS else {}))
    except cores.NoCore as reason:
        return str(reason)
    try:
        run.take_files_away(options.files, taken)
        began = time.monotonic()
        rows_path, problem = run.ask_heapsift(options, taken, interpreter)
        graph_path, other = references.ask_heapsift(options, taken, interpreter)
        seconds = time.monotonic() - began
        if problem or other:
            return problem or other
        truth = load_truth(taken.truth, with_referents=True)
        objects = compare(truth, taken.core, run.read_rows(rows_path), None)
        graph = Comparison(truth, Graph(graph_path))
        wrong = {"missing": objects.faults["missing"] + objects.faults["missing in closure"], "type": objects.faults["type"],
                 "size": objects.faults["size"], "references": sum(len(pairs) for pairs in graph.faults.values())}
        closed = references.share(graph.total(graph.balances))
        print_row(options.markdown, (interpreter.name, "sub-interpreters" if program == SEVERAL else allocator or "default", kind if program != WITHOUT_THREADS else "%s, %s" % (kind, program), "%d" % (objects.collected + objects.closure),
                                     *("%d" % number for number in wrong.values()), "%.2f %%" % closed, "%.1f" % seconds))
        if options.files != "here":
            named = 100 - 100 * wrong["type"] / max(1, objects.collected + objects.closure)
            print("  named rightly: %.3f %%; the others: %s" % (named, ", ".join(
                "%d %s" % (count, name) for name, count in collections.Counter(
                    offender[1] for offender in objects.offenders if offender[0] == "type").most_common(12)) or "none"))
            if named >= _ENOUGH_NAMES:
                del wrong["type"]
        return ", ".join("%s %d" % item for item in wrong.items() if item[1]) or None
    except BadExport as reason:
        return str(reason)
    finally:
        if options.keep:
            print("  kept: %s" % taken.core)
        else:
            taken.delete()


def print_row(markdown, cells):
    if markdown:
        print("| " + " | ".join(cells) + " |", flush=True)
    else:
        print("  ".join(cell.ljust(width) if at < 3 else cell.rjust(width) for at, (cell, width) in enumerate(zip(cells, _WIDTHS))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
