#!/usr/bin/env python3
"""`heapsift duplicates` and `waste`, compared with what processes count of themselves (testdata/programs/duplicates.py).

    duplicates.py --heapsift build/dev/heapsift [--interpreter PATH …] [--cases records …] [--kinds kernel gcore] [--tree trixie=FOLDER]

Each value with more than one copy that a process knows of must be a row, with as many copies, the same sum of sys.getsizeof, and the same bytes.
heapsift finds more: what C code holds, of which the collector does not tell. Such a copy may be added to a value of the interpreter's own, but not to
one that the program planted, and no copy may be missing.
"""

import json
import os
import shutil
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer

CASES = ("records", "rows", "columns", "tuples", "settings", "packages", "waste")
_FILES = ("duplicates.py", "standstill.py")
_BY_GCORE = ("records",)
_FAULTS_SHOWN = 5
_OTHER_COPIES = 0.1  # of the values, at most this share may have more copies than the process knows of


def main():
    parser = harness.parser("compares equal values with those that processes found in themselves")
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "duplicates")
    for interpreter in found:
        if interpreter.debug or interpreter.old:
            continue
        for case in options.cases:
            for kind in kinds if case in _BY_GCORE else kinds[:1]:
                faults = run_one(options, interpreter, case, kind, work)
                failures += ["%s %s %s: %s" % (interpreter.name, case, kind, fault) for fault in faults[:_FAULTS_SHOWN]]
                if len(faults) > _FAULTS_SHOWN:
                    failures.append("%s %s %s: %d more" % (interpreter.name, case, kind, len(faults) - _FAULTS_SHOWN))
    return harness.end(failures)


def run_one(options, interpreter, case, kind, work):
    folder = harness.folder_for(interpreter, work, "heapsift-duplicates-")
    try:
        for name in _FILES:
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        truth_path = os.path.join(folder, "truth.json")
        core, _ = cores.take_at_rest(interpreter, ["duplicates.py", case], kind, folder, truth_path)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        asked = AskedCore(options.heapsift, core, folder, interpreter.tree)
        began = time.monotonic()
        comparison = Comparison(asked.data("duplicates", "--no-index"), truth["values"])
        faults = list(comparison.faults())
        if truth["waste"]:
            faults += faults_of_waste(asked.data("waste", "--no-index")["waste"], truth["waste"])
        print("%-20s %-9s %-6s %s, %.1f s" % (interpreter.name, case, kind, comparison.summary(), time.monotonic() - began), flush=True)
        return faults
    except (cores.NoCore, BadAnswer, OSError, KeyError, TypeError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


def faults_of_waste(rows, truth):
    """Each attribute of the wasteful object is a row, with what the process says could be saved; its containers that are full are none."""
    faults = []
    of_program = {(row["kind"], row["attribute"]): row for row in rows if row["holder"] == "__main__.Wasteful"}
    for says in truth:
        row = of_program.pop((says["kind"], says["attribute"]), None)
        words = "waste: %s %s" % (says["kind"], says["attribute"])
        if row is None:
            faults.append("%s: no row" % words)
        elif row["count"] != says["count"]:
            faults.append("%s: %d, and not %d" % (words, row["count"], says["count"]))
        elif "saves" in says and row["saves"] != says["saves"]:
            faults.append("%s: saves %d, and not %d" % (words, row["saves"], says["saves"]))
        elif "needed" in says and row["bytes"] - row["saves"] != says["needed"]:
            faults.append("%s: needs %d, and not %d" % (words, row["bytes"] - row["saves"], says["needed"]))
    return faults + ["waste: %s %s is none" % key for key in of_program]


class Comparison:
    def __init__(self, data, values):
        self.data, self.values = data, values
        self.row_of = {row["address"]: row for row in data["values"]}
        self.row_with = {(row["type"], row["value"]): row for row in data["values"]}
        self.planted = self.equal = self.copies = self.more = self.equal_bytes = 0

    def row(self, value):
        """By the copy at the lowest address; a copy that only heapsift knows may lie below it."""
        for address in value["addresses"]:
            if hex(address) in self.row_of:
                return self.row_of[hex(address)]
        return self.row_with.get((value["type"], value["value"]))

    def faults(self):
        for value in self.values:
            count = len(value["addresses"])
            self.copies += count
            words = "%d %s %s" % (count, value["type"], value["value"])
            row = self.row(value)
            if row is None:
                if value["planted"]:
                    yield "%s: no row" % words
                elif value["immortal"]:  # all of them static
                    self.equal += 1
                elif value["type"] in ("tuple", "frozenset"):  # with a copy that has a lower address
                    self.more += 1
                else:
                    yield "%s: no row" % words
            elif row["type"].split(".")[-1] != value["type"]:
                yield "%s: its type is %s" % (words, row["type"])
            elif row["count"] < count:
                yield "%s: only %d copies" % (words, row["count"])
            elif row["count"] > count:
                self.more += 1
                if value["planted"]:
                    yield "%s: %d copies" % (words, row["count"])
            elif row["size"] != value["size"]:
                yield "%s: their sizes are %d, and not %d" % (words, row["size"], value["size"])
            elif value["memory"] is not None and (row["bytes"], row["saves"]) != (value["memory"], value["saves"]) and (
                    value["planted"] or row["bytes"] < value["memory"]):  # a str that was made too long may keep its block
                yield "%s: %d bytes, of which %d could be saved; and not %d and %d" % (
                    words, row["bytes"], row["saves"], value["memory"], value["saves"])
            else:
                self.equal += 1
                self.planted += value["planted"]
                self.equal_bytes += value["memory"] is not None
        if self.more > len(self.values) * _OTHER_COPIES:
            yield "%d of %d values have more copies than the process knows of" % (self.more, len(self.values))
        if self.data["total"]["saves"] != sum(row["saves"] for row in self.data["values"]):
            yield "the total is not the sum of the rows"

    def summary(self):
        return "%d of %d values equal (%d also in bytes; %d of %d planted), %d objects; %d with more copies; %d rows, %d bytes could be saved" % (
            self.equal, len(self.values), self.equal_bytes, self.planted, sum(value["planted"] for value in self.values), self.copies, self.more, len(self.row_of), self.data["total"]["saves"])


if __name__ == "__main__":
    sys.exit(main())
