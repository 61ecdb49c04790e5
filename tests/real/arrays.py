#!/usr/bin/env python3
"""NumPy's arrays in real cores: each must be what NumPy said of it in the process, and every byte must have one owner.

    arrays.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter with NumPy and each kind of core: testdata/programs/array_zoo.py makes arrays of every kind and writes down what
NumPy says of each one that lives; array_unsaved.py makes some whose data is not in the core. `heapsift export` must have the same
arrays, no more and no fewer, with the same attributes, owners and elements; the data must be counted once, with its owner. Python
cannot list an array that only C code holds (NumPy 2 has one in a static variable), so an array may be extra if all of its references
are native. Prints a line for each core; exit 1 unless all of it agrees.

Retained sizes are exact. array_data is nbytes (1 if that is 0) for an array that owns its data and 0 for any other, so that the sum
over all arrays is the sum over the owners; a holder retains the sum of the memory of everything that it alone keeps alive.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

import cores
import harness

PROGRAMS = ("array_zoo", "array_unsaved")
_COLUMNS = ("dtype", "shape", "strides", "nbytes", "data", "owns_data", "base", "owner")
_WRONG = ("missing", "extra", "type") + _COLUMNS + ("elements", "counted", "retained", "saved")
_SHOWN = 8  # differences of a kind
_SECONDS = 600
_LINE = "%-16s %-7s %-13s %-6s %7s %7s %8s %6s %12s  %s"
_OTHERS_WITH_DATA = ("numpy.void", "numpy.record", "array.array")  # types that are no arrays and own elements


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "arrays")
    for interpreter in found:
        if not interpreter.numpy:
            print("not tested: %s has no NumPy" % interpreter.name)
    print(_LINE % ("interpreter", "numpy", "program", "core", "arrays", "owners", "elements", "only C", "data", "wrong"), flush=True)
    for interpreter in found:
        for program in options.programs:
            for kind in kinds if interpreter.numpy else ():
                problem = run_one(options, interpreter, program, kind, work)
                if problem:
                    failures.append("%s %s %s: %s" % (interpreter.name, program, kind, problem))
    return harness.end(failures)


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift's arrays with what NumPy said of them in real processes")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--kinds", nargs="*", default=cores.KINDS, choices=cores.ALL_KINDS)
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE", help="for the processes: PYTHONMALLOC=debug")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and heapsift's export")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    cores.extra_environment.update(variable.split("=", 1) for variable in options.environment)
    return options


def run_one(options, interpreter, program, kind, work):
    """Prints the line of the table and what is wrong; returns what went wrong, or None."""
    try:
        taken = cores.take(interpreter, program, kind, work)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    try:
        left_out = [line for line in taken.notes.splitlines() if "left out here: " in line and not line.endswith("nothing")]
        with open(taken.truth, encoding="ascii") as file:
            truth = json.load(file)
        path = os.path.join(taken.folder, "rows.jsonl")
        problem = export(options, taken, interpreter, path)
        return problem or compare_core(interpreter, program, kind, truth, Rows(path), left_out)
    finally:
        if options.keep:
            print("  kept: %s" % taken.folder)
        else:
            taken.delete()


def export(options, taken, interpreter, path):
    command = [options.heapsift, "export", taken.core, "-o", "-", "--format", "jsonl"] + (["--sysroot",
    interpreter.tree] if interpreter.tree else [])
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder}
    with open(path, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, timeout=_SECONDS)
    said = done.stderr.strip().splitlines() or ["nothing on standard error"]
    return "heapsift ended with %d: %s" % (done.returncode, said[-1]) if done.returncode else None


class Rows:
    """The export's rows by address, and the references from arrays that are elements, in order."""

    def __init__(self, path):
        self.objects, self.arrays, self.elements, self.native = {}, {}, collections.defaultdict(list), collections.Counter()
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith('{"table":"object"'):
                    row = json.loads(line)
                    self.objects[int(row["address"], 16)] = row
                elif line.startswith('{"table":"array"'):
                    row = json.loads(line)
                    for column in ("address", "data", "base", "owner"):
                        row[column] = None if row[column] is None else int(row[column], 16)
                    self.arrays[row["address"]] = row
                elif line.startswith('{"table":"reference"') and ('"name":"[' in line or '"kind":"native"' in line):
                    row = json.loads(line)
                    if row["kind"] == "native":
                        self.native[int(row["target"], 16)] += 1
                    else:
                        self.elements[int(row["source"], 16)].append([row["name"], int(row["target"], 16)])

    def only_c_holds(self, address):
        return self.objects[address]["refcount"] == self.native[address] > 0


class Findings:
    def __init__(self):
        self.wrong, self.examples = collections.Counter(), []

    def check(self, what, where, said, read):
        if said == read:
            return
        self.wrong[what] += 1
        if self.wrong[what] <= _SHOWN:
            self.examples.append("%s: %s: the process said %s, heapsift %s" % (where, what, ascii(said)[:200], ascii(read)[:200]))


def compare_core(interpreter, program, kind, truth, rows, left_out):
    findings = Findings()
    said = {array["address"]: array for array in truth["arrays"]}
    native = {address for address in rows.arrays.keys() - said.keys() if rows.only_c_holds(address)}
    for address in sorted(said.keys() ^ rows.arrays.keys() - native):
        array = said.get(address) or rows.arrays[address]
        findings.check("missing" if address in said else "extra", "%#x, %s %s" % (address, array["dtype"], array["shape"]), address in said,
            address in rows.arrays)
    for address in said.keys() & rows.arrays.keys():
        compare_array(findings, said[address], rows.arrays[address], rows)
    count_data(findings, said, native, rows)
    for holder in truth["holders"]:
        kept = [rows.objects.get(address) for address in holder["kept"]]
        row = rows.objects.get(holder["holder"], {})
        # without what C code's blocks have: no object says that these are its own
        read = row.get("retained", 0) - (row.get("native") or 0)
        findings.check("retained", holder["what"], sum(row["memory"] for row in kept if row), read if all(kept) else "not all objects")
    check_saved(findings, said, truth.get("unsaved", {}), rows)
    owners = [array for array in said.values() if array["owns_data"]]
    print(_LINE % (
        interpreter.name, truth["numpy"], program, kind, len(said), len(owners), sum(len(array.get("elements", ())) for array in owners),
        len(native), sum(array["nbytes"] for array in owners),
        ", ".join("%s %d" % (what, findings.wrong[what]) for what in _WRONG if findings.wrong[what]) or "nothing"), flush=True)
    for line in left_out + findings.examples:
        print("    " + line)
    return "%d differences" % sum(findings.wrong.values()) if findings.wrong else None


def compare_array(findings, said, read, rows):
    where = "%#x, %s %s" % (said["address"], said["dtype"], said["shape"])
    for column in _COLUMNS:
        findings.check(column, where, said[column], read[column])
    findings.check("type", where, said["type"], rows.objects[said["address"]]["type"])
    findings.check("elements", where, said.get("elements", []), rows.elements.get(said["address"], []))


def count_data(findings, said, native, rows):
    """What no array owns is not array data, except for scalar records that own their bytes, and array.array."""
    for address, array in said.items():
        row = rows.objects.get(address)
        if not row:
            continue
        where, owned = "%#x, %s %s" % (address, array["dtype"], array["shape"]), max(array["nbytes"], 1) if array["owns_data"] else 0
        findings.check("counted", where, owned, row["array_data"])
        findings.check("counted", where + ", damaged", False, row["damaged"])
        # Beside its data: itself, shape and strides, a subclass's attributes; what malloc rounds up.
        findings.check("counted", where + ", memory", True, owned <= row["memory"] <= owned + 8192)
    for address, row in rows.objects.items():
        if address not in said and address not in native and row["type"] not in _OTHERS_WITH_DATA:
            findings.check("counted", "%#x, %s" % (address, row["type"]), 0, row["array_data"])


def check_saved(findings, said, unsaved, rows):
    for address in said:
        if address in rows.objects:
            findings.check("saved", "%#x, bytes not saved" % address, unsaved.get("%#x" % address, 0),
                rows.objects[address].get("not_saved"))


if __name__ == "__main__":
    sys.exit(main())
