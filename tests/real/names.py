#!/usr/bin/env python3
"""Names of references: what heapsift calls a reference must lead to the right object, in the process of which the core was taken.

    names.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found: testdata/programs/places.py plants an object in every kind of place and writes down who holds it; gcore takes
its core, and it lives on; heapsift exports the core; the names of the references from holder to object go back to the process, which
evaluates each (`places.py` says how). Exit 1 if a name leads elsewhere or nowhere, if there is no reference at a place, or if it has no
name although Python has one. The tables below say where Python has none, and where there need not be a reference. If heapsift reads the
holder's type by guess, its references may be unnamed; these are counted separately.
"""

import argparse
import atexit
import collections
import glob
import json
import os
import shutil
import sys
import tempfile
import time

import cores
import harness
import interpreters
from reference_graph import exact_among, names_of
from references import ask_heapsift
from run import missing_interpreters

_PATIENCE = 120  # seconds
_OUTCOMES = ("right", "by key", "no name", "guessed", "no literal", "no edge", "fault")

# Place, or the function of testdata/programs/places_*.py that has it: why Python reaches the object through no expression on its holder.
UNNAMED = {
    "iterators": "what an iterator goes over is a field of C",
    "iterators_of_the_library": "what an iterator goes over is a field of C",
    "small_holders: memoryview's buffer": "Python does not see the buffer that views share",
    "small_holders: memoryview's object": "Python does not see the buffer that views share",
    "small_holders: mappingproxy": "a proxy does not show the mapping itself",
    "small_holders: dict_keys": "before 3.10 a view has no attribute `mapping`, which gives a proxy later",
    "small_holders: dict_items": "before 3.10 a view has no attribute `mapping`, which gives a proxy later",
    "contexts: default": "a ContextVar gives its default to a call only",
    "weak_references: proxy": "a proxy hides its target",
    "generators: local in a cell: the cell": "Python shows the content of a cell variable, never the cell",
    "generators: argument in a cell: the cell": "Python shows the content of a cell variable, never the cell",
    "frames: local in a cell: the cell": "Python shows the content of a cell variable, never the cell",
    "coroutines: step of a stream: the stream": "what a step of an asynchronous generator holds are fields of C",
    "coroutines: step of a stream: what is sent": "what a step of an asynchronous generator holds are fields of C",
    "coroutines: __await__: the coroutine": "the wrapper that __await__ makes shows nothing",
    "generators: delegated to": "up to 3.10 it lies on the stack of the frame, and only the generator names it",
    "coroutines: awaited by a coroutine": "up to 3.10 it lies on the stack of the frame, and only the coroutine names it",
    "caches: unbounded: the cache": "a cache of functools does not show what it holds",
    "caches: bounded: the element": "a cache of functools does not show what it holds",
    "futures_and_tasks: FutureIter": "the iterator that awaits a future shows nothing",
    "futures_and_tasks: list of further callbacks": "_callbacks is a list made anew",
    "futures_and_tasks: Task's name": "get_name() is a call",
    "expressions: Struct's format": "format is a str made anew",
    "streams: BytesIO's buffer": "getvalue() is a call",
    "dates: timezone's name": "a timezone tells its name by a call only",
    "dates: timezone's offset": "a timezone tells its offset by a call only",
    "databases: data of a row": "a Row shows its columns, not their tuple",
    "elements: attributes": "attrib is kept beside the element from C",
    "text_readers: reader's iterator": "the lines that a csv.reader reads are a field of C",
    "functions_of_arrays: frompyfunc": "a ufunc does not show its Python function",
    "exception_groups: exceptions": "exceptions is a tuple made anew",
    "functions: annotation": "annotations may be a tuple still",
}

# Places whose key is no literal: a name that does not evaluate is accepted there, one that leads elsewhere is not.
NO_LITERAL = {
    "dict_values: " + what + more: reason for what, reason in (
        ("infinity", "there is no literal of it"), ("frozenset", "a name in it is no literal"), ("empty frozenset", "a name in it is no literal"),
        ("enum member", "its class is not at hand"), ("int enum member", "its class is not at hand"), ("type", "there is no literal of it"),
        ("function", "there is no literal of it"), ("object", "there is no literal of it"), ("range", "a name in it is no literal"))
    for more in ("", " among others")
}
NO_LITERAL.update(("odd_attribute_names: " + what, "Python's syntax has no such attribute") for what in (
    "blank", "keyword", "empty", "quote", "number", "line end", "dots", "normalised by the compiler"))
NO_LITERAL.update(("long_keys: " + what, "heapsift shortens what is long") for what in (
    "str of 100", "str of 1000", "str of 100000", "bytes of 1000", "tuple of 100", "int of 1000 digits"))

# Places where no reference need be: what the holder shows is held by another.
NO_REFERENCE = {
    "frames: frame.f_globals": "from 3.11 on it is the function that the frame keeps which holds them",
    "frames: frame.f_builtins": "from 3.11 on it is the function that the frame keeps which holds them",
}


def main():
    options = parse()
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-names-", dir="/var/tmp"))
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
    print("%-16s %7s" % ("interpreter", "places") + " %10s" * len(_OUTCOMES) % _OUTCOMES, flush=True)
    for interpreter in found:
        problem = run_one(options, interpreter, work)
        if problem:
            failures.append("%s: %s" % (interpreter.name, problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="evaluates heapsift's names of references in the process that the core was taken of")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--names", action="store_true", help="print each place with the names that heapsift has for it")
    parser.add_argument("--kind", default="gcore", choices=("gcore", "capture"), help="capture, where gdb cannot read the stacks of threads (it is older than glibc)")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and heapsift's export")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, work):
    """Prints the line of the table; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-names-")
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        return ask_the_process(options, interpreter, folder)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def ask_the_process(options, interpreter, folder):
    process = cores.start(interpreter, ["places.py"], folder)
    try:
        places = read_lines(wait_for(os.path.join(folder, "places.jsonl"), process))
        cores.of_living(options.kind, process.pid, os.path.join(folder, "core"))
        core = os.path.join(folder, "core.%d" % process.pid)
        export, problem = ask_heapsift(options, cores.TakenCore(core, "", folder, ""), interpreter)
        if problem:
            return problem
        edges = names_of(export, {pair_of(place) for place in places})
        names = [{"place": index, "name": name} for index, place in enumerate(places)
                 for name in sorted({name for _, name in edges.get(pair_of(place), ())}) if not is_unnamed(name)]
        with open(os.path.join(folder, "names.part"), "w", encoding="ascii") as out:
            out.writelines(json.dumps(row) + "\n" for row in names)
        os.rename(os.path.join(folder, "names.part"), os.path.join(folder, "names.jsonl"))
        verdicts = collections.defaultdict(dict)
        for row in read_lines(wait_for(os.path.join(folder, "verdicts.jsonl"), process)):
            verdicts[row["place"]][row["name"]] = row["verdict"]
    finally:
        process.kill()
        process.wait()
    if sum(map(len, verdicts.values())) != len(names):
        return "%d names were sent and %d verdicts came back" % (len(names), sum(map(len, verdicts.values())))
    return judge(options, interpreter, places, edges, verdicts, exact_among(export, {pair_of(place)[0] for place in places}))


def wait_for(path, process):
    end = time.monotonic() + _PATIENCE
    while not os.path.exists(path):
        if process.poll() is not None and not os.path.exists(path):
            raise cores.NoCore("places.py ended with %s: %s" % (process.returncode, cores.last_words(os.path.dirname(path))))
        if time.monotonic() > end:
            raise cores.NoCore("places.py wrote no %s in %d seconds" % (os.path.basename(path), _PATIENCE))
        time.sleep(0.05)
    return path


def read_lines(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def pair_of(place):
    return int(place["holder"], 16), int(place["target"], 16)


def is_unnamed(name):
    """`<field>`, `.<module state>`: said for people."""
    return name.startswith(("<", ".<"))


def reason_of(table, label):
    return table.get(label) or table.get(label.split(":")[0])


def judge(options, interpreter, places, edges, verdicts, exact):
    counts, faults, shown = collections.Counter(), [], []
    unnamed = {"no name": collections.Counter(), "guessed": collections.Counter()}
    for index, place in enumerate(places):
        found = edges.get(pair_of(place), [])
        outcome, fault = judge_place(place["label"], found, verdicts.get(index, {}), pair_of(place)[0] in exact)
        counts["fault" if fault else outcome] += 1
        what = "%s (%s of %s)" % (place["label"], place["target_type"], place["holder_type"])
        if fault:
            faults.append("%s: %s, %s -> %s" % (what, fault, place["holder"], place["target"]))
        elif outcome in unnamed:
            unnamed[outcome][place["holder_type"]] += 1
        shown.append("  %-60s %s" % (what, ", ".join("%s %s" % edge for edge in found) or "nothing"))
    print("%-16s %7d" % (interpreter.name, len(places)) + " %10d" * len(_OUTCOMES) % tuple(counts[outcome] for outcome in _OUTCOMES), flush=True)
    for line in shown if options.names else ():
        print(line)
    for outcome, kinds in unnamed.items():
        print("  %s: %s" % (outcome, ", ".join("%d %s" % (count, kind) for kind, count in sorted(kinds.items())) or "nothing"))
    for fault in faults:
        print("  " + fault)
    sys.stdout.flush()
    return "%d faults" % len(faults) if faults else None


def judge_place(label, found, verdicts, exact):
    """Its outcome, and the fault or None."""
    for name, verdict in verdicts.items():
        if verdict not in ("right", "key") and not (verdict.startswith("error") and reason_of(NO_LITERAL, label)):
            return "wrong", "%s: %s" % (name, verdict)
    if "right" in verdicts.values():
        return "right", None
    if "key" in verdicts.values():
        return "by key", None
    if verdicts:
        return "no literal", None
    if not found:
        return "no edge", None if reason_of(NO_REFERENCE, label) else "no reference"
    if reason_of(UNNAMED, label) or reason_of(NO_LITERAL, label):
        return "no name", None
    return "guessed", "it has no name: " + ", ".join("%s %s" % edge for edge in found) if exact else None


if __name__ == "__main__":
    sys.exit(main())
