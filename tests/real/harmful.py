#!/usr/bin/env python3
"""Types whose code does harm: what heapsift emulates of them costs their own objects their exactness, and nothing else.

    harmful.py --heapsift build/release/heapsift [--interpreter PATH …]

The process (testdata/programs/harmful.py) has objects of types whose tp_traverse and getters loop for ever, jump into data or nowhere, write
wherever there is memory, call the system (unlink, open, kill, exit, fork), or recurse without an end. On its core:

  - the type beside them that does no harm is read exactly, with its attributes' names;
  - of the others each reference is found as well, none too many, and called guessed;
  - heapsift ends in time, and the file that they were after is as it was.
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import time

import cores
import harness

_HARMLESS = "harm.harmless"
_MOST_SECONDS = 60  # each function has its limits (parsers/emulation/calls.h, traverse.h)


def main():
    options = harness.parser("asks of cores with types whose code does harm").parse_args()
    work, found, kinds, failures = harness.begin(options, "harmful")
    for interpreter in found:
        for kind in kinds:
            which = "%s, %s" % (interpreter.name, kind)
            folder = harness.folder_for(interpreter, work, "heapsift-harmful-")
            try:
                faults = list(run(options, interpreter, kind, folder, which))
            except (cores.NoCore, subprocess.SubprocessError) as reason:
                faults = [str(reason)]
            finally:
                harness.leave(folder, options.keep)
            failures += ["%s: %s" % (which, fault) for fault in faults]
    return harness.end(failures)


def run(options, interpreter, kind, folder, which):
    for name in ("harmful.py", "harmful.c"):
        shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
    # Without libc, so that it loads in each tree.
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-nostdlib", "-Wl,--build-id", "-o", os.path.join(folder, "libharmful.so"),
                    os.path.join(folder, "harmful.c")], check=True)
    core, _ = cores.take_at_rest(interpreter, ["harmful.py"], kind, folder, os.path.join(folder, "truth"), HEAPSIFT_TRUTH="truth")
    with open(os.path.join(folder, "truth"), encoding="ascii") as text:
        truth = json.load(text)
    began = time.monotonic()
    called, edges = exported(options.heapsift, interpreter, core)
    seconds = time.monotonic() - began
    for name, rows in truth["types"].items():
        wanted = "exact" if name == _HARMLESS else "guessed"
        otherwise = sum(called.get(row) != wanted for row, _, _ in rows)
        missing = sum(not {one, two} <= set(edges[row]) for row, one, two in rows)
        extra = sum(len(edges[row]) > 3 for row, _, _ in rows)  # the class, and these
        named = sum(edges[row].get(one) == ".one" and edges[row].get(two) == ".two" for row, one, two in rows)
        print("%-36s %-24s %d objects, %s; %d with a reference missing, %d with one too many; %d named" % (
            which, name, len(rows), wanted, missing, extra, named), flush=True)
        if otherwise or missing or extra:
            yield "%s: of %d objects %d are not called %s, %d lack a reference, %d have one too many" % (name, len(rows), otherwise, wanted, missing, extra)
        if named != (len(rows) if name == _HARMLESS else 0):
            yield "%s: %d objects' attributes have their names" % (name, named)
    print("%-36s %.1f s" % (which, seconds), flush=True)
    if seconds > _MOST_SECONDS:
        yield "it took %.0f s" % seconds
    with open(os.path.join(folder, "victim"), encoding="ascii") as victim:
        if victim.read() != "alive":
            yield "the file was changed"


def exported(heapsift, interpreter, core):
    """({object: exact or guessed}, {object: {target: name}}). Raises NoCore if there is no answer."""
    command = [heapsift, "export", core, "-o", "-", "--format", "jsonl", "--no-index"] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600, check=False,
                          env={**os.environ, "HEAPSIFT_STATE": "off"})
    if done.returncode:
        raise cores.NoCore("heapsift ended with %d: %s" % (done.returncode, done.stderr.strip()))
    called, edges = {}, collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["table"] == "object":
            called[int(row["address"], 16)] = row["references"]
        elif row["table"] == "reference":
            edges[int(row["source"], 16)][int(row["target"], 16)] = row["name"]
    return called, edges


if __name__ == "__main__":
    sys.exit(main())
