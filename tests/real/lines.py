#!/usr/bin/env python3
"""Source lines in real cores: what heapsift reads of tracemalloc's tables must be what tracemalloc itself says, line by line.

    lines.py --heapsift build/release/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreter PATH …]

For each interpreter the process traces one call, and ten calls, of each block; its twin writes its traces, and the process dumps core
(testdata/programs/traced_lines.py). By line, by traceback and by domain, the blocks and bytes must be the same: no row is missing,
none is too many. So must functions and objects of a class by line (`types --by-line`), and the calls that `show` says of single ones. A process
that did not trace must be said not to.
"""

import collections
import csv
import io
import json
import os

import cores
import cycles
import harness

_FRAMES = (1, 10)
_LISTED = 10
_DEEP = "100"


def main():
    options = harness.parser(__doc__.splitlines()[0]).parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "lines")
    print("%-18s %-7s %6s %9s %11s %7s %10s %6s" % ("interpreter", "core", "calls", "blocks", "bytes", "lines", "tracebacks", "wrong"), flush=True)
    for interpreter in found if kinds else ():
        if interpreter.old:
            continue
        for kind in kinds:
            for frames in _FRAMES if kind == kinds[0] else _FRAMES[:1]:
                one(options, interpreter, kind, frames, work, failures)
        one_off(options, interpreter, kinds[0], work, failures)
    return harness.end(failures)


def one(options, interpreter, kind, frames, work, failures):
    folder = harness.folder_for(interpreter, work, "heapsift-lines-")
    name = "%s %s %d" % (interpreter.name, kind, frames)
    try:
        core, truth = take(interpreter, kind, folder, PYTHONTRACEMALLOC=str(frames))
        faults, figures = compare(Asked(options, interpreter, core, folder), truth, frames)
    except cores.NoCore as reason:
        faults, figures = [str(reason)], (0, 0, 0, 0)
    failures.extend("%s: %s" % (name, fault) for fault in faults)
    print("%-18s %-7s %6d %9d %11d %7d %10d %6d" % (interpreter.name, kind, frames, *figures, len(faults)), flush=True)
    harness.leave(folder, options.keep)


def one_off(options, interpreter, kind, work, failures):
    folder = harness.folder_for(interpreter, work, "heapsift-lines-")
    try:
        core, _ = take(interpreter, kind, folder)
        data = Asked(options, interpreter, core, folder).data("lines")
        if data["tracing"] or data["lines"]:
            failures.append("%s: says that a process traced which did not" % interpreter.name)
    except cores.NoCore as reason:
        failures.append("%s: %s" % (interpreter.name, reason))
    harness.leave(folder, options.keep)


def take(interpreter, kind, folder, **environment):
    """(the core's path, the truth)"""
    path = os.path.join(cores.PROGRAMS, "traced_lines.py")
    with open(path) as source, open(os.path.join(folder, "traced_lines.py"), "w") as copy:
        copy.write(source.read())
    sign = os.path.join(folder, "truth.json")
    core, _ = cores.take_at_rest(interpreter, ["traced_lines.py"], kind, folder, sign, HEAPSIFT_TRUTH="truth.json", **environment)
    with open(sign) as file:
        return core, json.load(file)


class Asked(cycles.Asked):
    """heapsift's answers about one core, each found anew."""

    def __init__(self, options, interpreter, core, folder):
        super().__init__(options, interpreter, core, folder)
        self._end.append("--no-index")


def compare(asked, truth, frames):
    """(what is wrong, (blocks, bytes, lines, tracebacks))"""
    faults = []
    by_traceback, by_line = collections.Counter(), collections.Counter()
    for domain, calls, count, size in truth["traces"]:
        calls = tuple((file, line) for file, line in reversed(calls))
        add(by_traceback, (domain, calls), count, size)
        add(by_line, calls[-1], count, size)
    deep = asked.data("lines", "--by-domain", "--traceback", _DEEP)
    if not deep["tracing"]:
        faults.append("says that tracemalloc was off")
    if deep["frames"] not in (frames, None):
        faults.append("says that %s calls were traced" % deep["frames"])
    if deep["counted_size"] != sum(domain["size"] for domain in deep["domains"]):
        faults.append("counts %s, the interpreter %s" % (sum(domain["size"] for domain in deep["domains"]), deep["counted_size"]))
    found = collections.Counter()
    for row in deep["lines"]:
        calls = tuple((call["file"], call["line"] or 0) for call in row["traceback"])
        add(found, (row["domain"], calls), row["count"], row["size"])
    differ(by_traceback, found, "traceback", faults)
    found = collections.Counter()
    shallow = asked.data("lines")
    for row in shallow["lines"]:
        add(found, (row["file"], row["line"] or 0), row["count"], row["size"])
    differ(by_line, found, "line", faults)
    rows = list(csv.DictReader(io.StringIO(asked.text("lines", "--format", "csv"))))
    if sum(int(row["size"]) for row in rows) != shallow["total"]["size"] or len(rows) != len(shallow["lines"]):
        faults.append("csv has other rows than json")
    compare_objects(asked, truth, faults)
    return faults, (*(sum(row[i] for row in truth["traces"]) for i in (2, 3)), len(by_line), len(by_traceback))


def compare_objects(asked, truth, faults):
    """Objects by line, and the calls that `show` says of one."""
    for name, lines in truth["types"].items():
        data = asked.data("types", "--by-line", "--type", name)
        found = {(row["file"], row["line"] or 0): row["count"] for row in data["types"]}
        found[None, 0] = data["total"]["untraced"]["count"]
        for file, line, count in lines:
            if found.pop((file, line), 0) != count:
                faults.append("%s at %s:%d: %d expected" % (name, file, line, count))
        if any(found.values()):
            faults.append("%s: %s too many" % (name, found))
    for address, calls in truth["objects"]:
        said = asked.data("show", hex(address))["allocated_at"] or []
        if [[call["file"], call["line"] or 0] for call in reversed(said)] != calls:
            faults.append("%#x was allocated at %s, not %s" % (address, calls, said))
    lines_of_objects = {row["address"]: [row["file"], row["line"] or 0] for row in asked.data("objects")["objects"]}
    for address, calls in truth["objects"]:
        if lines_of_objects.get(hex(address), [None, 0]) != (calls[0] if calls else [None, 0]):
            faults.append("objects: %#x at %s, not %s" % (address, lines_of_objects.get(hex(address)), calls[:1]))
    native = {(row["file"], row["line"] or 0): (row["count"], row["size"]) for row in asked.data("lines", "--native")["lines"]}
    file, line, count, size = truth["native"]
    if native.get((file, line)) != (count, size):
        faults.append("lines --native: line %d has %s, not %s" % (line, native.get((file, line)), (count, size)))
    blocks = sum([row["file"], row["line"]] == [file, line] for row in asked.data("native", "--blocks")["blocks"])
    if blocks != count:
        faults.append("native --blocks: line %d has %d, not %d" % (line, blocks, count))
    if not truth["objects"]:
        faults.append("the process wrote of no object")


def add(rows, key, count, size):
    rows[key, "blocks"] += count
    rows[key, "bytes"] += size


def differ(truth, found, what, faults):
    wrong = sorted((key for key in truth.keys() | found.keys() if truth[key] != found[key]), key=str)
    for key in wrong[:_LISTED]:
        faults.append("%s %s: tracemalloc has %d, heapsift %d" % (what, key, truth[key], found[key]))
    if len(wrong) > _LISTED:
        faults.append("%d more of a %s" % (len(wrong) - _LISTED, what))


if __name__ == "__main__":
    raise SystemExit(main())
