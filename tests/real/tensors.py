#!/usr/bin/env python3
"""torch's tensors in real cores: each must be what torch said of it, and storages hang at what keeps them.

    tensors.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--kinds kernel gcore]

testdata/programs/tensors.py keeps parameters, rows of large storages, a loss added up with its sixty graphs, momentum buffers. What each of them
retains must be within 5 % (the loss: 20 %) of the bytes of the storages that it alone keeps, which the process added up. `arrays` must list the tensors with their dtype,
shape, strides and data, each storage once with its bytes; the rows must be pinned, what autograd saved must not.

Interpreters without torch are named and left out; with none it fails. ctest has it where torch is installed.
"""

import glob
import subprocess
import sys

import cores
import harness
import native

_TOLERANCE = 0.05
_OF_GRAPHS = 0.20  # autograd's nodes: a stale word of one may lead into another's graph, and what both reach is neither's
_RETAINED = ("total", "parameters", "rows", "optimizer", "pair")
_failures = []


def main():
    parser = harness.parser("compares heapsift's view of tensors with torch's own", kinds=("kernel",))
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "tensors")
    tested = 0
    for interpreter in found:
        if not has_torch(interpreter):
            print("not tested: %s has no torch" % interpreter.name)
            continue
        for kind in kinds:
            run(options, interpreter, kind, work)
            tested += 1
    if not tested:
        failures.append("no interpreter has torch")
    return harness.end(failures + _failures)


def has_torch(interpreter):
    return bool(glob.glob((interpreter.tree or "") + "/usr/lib/python3/dist-packages/torch/__init__.py")) and interpreter.path.startswith("/usr/bin/")


def run(options, interpreter, kind, work):
    case = "%s, %s" % (interpreter.name, kind)
    try:
        with native.at_rest(options, interpreter, "tensors.py", kind, work, "heapsift-tensors-") as (ask, expected):
            faults = [*retained_faults(ask, expected), *array_faults(ask, expected), *shown_faults(ask, expected)]
        print("%-30s torch %-10s %s" % (case, expected["version"], "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))


def retained_faults(ask, expected):
    for name in _RETAINED:
        shown = ask("show", "STORE." + name, "--retained")
        if abs(shown["native"] - expected[name]) > (_OF_GRAPHS if name == "total" else _TOLERANCE) * expected[name]:
            yield "%s retains %d bytes of C code, its storages have %d" % (name, shown["native"], expected[name])
        without = ask("show", "STORE." + name, "--retained", "--no-native")
        if without["native"] != 0:
            yield "%s retains %d bytes of C code with --no-native" % (name, without["native"])


def array_faults(ask, expected):
    summary = ask("arrays", "-n", "0")
    arrays = {row["address"]: row for row in summary["arrays"]}
    for tensor in expected["described"]:
        if not tensor["storage"] or not tensor["storage"][1]:
            continue
        row = arrays.get(tensor["address"])
        if row is None:
            yield "no tensor at %s, %s %s" % (tensor["address"], tensor["shape"], tensor["dtype"])
            continue
        strides = [stride * tensor["itemsize"] for stride in tensor["strides"]]
        said = ("torch." + row["dtype"], row["shape"], row["strides"], row["data"])
        if said != (tensor["dtype"], tensor["shape"], strides, tensor["data"]):
            yield "a tensor is %s, not %s" % (said, tensor)
        if row["owner_nbytes"] != tensor["storage"][1] and tensor["storage"][0] != expected["lent"]:
            yield "the storage of %s has %d bytes, not %d" % (tensor["address"], row["owner_nbytes"], tensor["storage"][1])
    owners = ask("arrays", "--owners", "-n", "0")["owners"]
    starts = [row["data"] for row in owners if row.get("storage")]
    if len(starts) != len(set(starts)):
        yield "a storage is counted twice"
    if expected["lent"] in starts:
        yield "memory of an array is counted as a storage as well"
    pinned = {row["data"]: row for row in ask("arrays", "--pinned", "-n", "0")["owners"]}
    for data, size, seen in expected["pinned"]:
        row = pinned.get(data)
        if row is None or row["nbytes"] != size or row["visible_bytes"] != seen:
            yield "a storage of %d bytes of which %d are seen is %s" % (size, seen, row)
    for data in expected["whole"]:
        if data in pinned:
            yield "the storage at %s is called pinned" % data


def shown_faults(ask, expected):
    for tensor in expected["described"]:
        value = ask("show", tensor["address"])["value"]
        shape = "(%s)" % (", ".join(map(str, tensor["shape"])) + ("," if len(tensor["shape"]) == 1 else ""))
        if not value or not value.startswith(shape + " " + tensor["dtype"].replace("torch.", "")) or (tensor["device"] != "cpu") != ("on " + tensor["device"] in value):
            yield "%s %s is shown as %s" % (shape, tensor["dtype"], value)


if __name__ == "__main__":
    sys.exit(main())
