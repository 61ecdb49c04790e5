#!/usr/bin/env python3
"""pandas' DataFrames and Series: what `heapsift arrays` reads of them from a core must be what pandas itself said.

    frames.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter that has pandas, and each kind of core: testdata/programs/frames.py makes frames of many kinds, keeps pieces of
frames that are gone, and writes down the shape, the columns and the arrays of every frame in the process. Prints a line for each
core; exit 1 unless all of it agrees.
"""

import argparse
import atexit
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cores
import harness
import interpreters

_WRONG = ("frames", "kind", "type", "shape", "columns", "count", "arrays", "nbytes")


def main():
    options = parse()
    work = options.work or tempfile.mkdtemp(prefix="heapsift-frames-", dir="/var/tmp")
    os.makedirs(work, exist_ok=True)
    if not options.work:
        atexit.register(shutil.rmtree, work, True)
    trees = dict(pair.split("=", 1) for pair in options.tree)
    found = [(one, version) for one in interpreters.find(trees, options.versions, options.interpreters) for version in [pandas_of(one)] if version]
    failures = ["Python %s with pandas is not at hand" % wanted for wanted in options.required
                if not any(interpreters.is_version(one, wanted) for one, _ in found)]
    if not found:
        print("no interpreter has pandas")
    print("%-16s %-8s %-7s %7s %7s   wrong:" % ("interpreter", "pandas", "core", "frames", "arrays") + " %7s" * len(_WRONG) % _WRONG, flush=True)
    for interpreter, version in found:
        for kind in options.kinds:
            problem = cores.why_not(kind) or run_one(options, interpreter, version, kind, work)
            if problem:
                failures.append("%s, %s: %s" % (interpreter.name, kind, problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift's DataFrames and Series with what the processes said")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with pandas, is not at hand")
    parser.add_argument("--kinds", nargs="*", default=("kernel",), choices=cores.ALL_KINDS)
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and truth.json")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def pandas_of(interpreter):
    """Its version, or None."""
    done = subprocess.run([interpreter.path, "-c", "import pandas; print(pandas.__version__)"], env=interpreter.environment(), text=True,
                          capture_output=True, timeout=120, preexec_fn=lambda: interpreter.enter(interpreter.tree or "/"))
    return done.stdout.strip() if done.returncode == 0 else None


def run_one(options, interpreter, version, kind, work):
    """Prints the line of the table and what is wrong; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-frames-%s-" % kind)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        truth_path = os.path.join(folder, "truth.json")
        core, _ = cores.take_at_rest(interpreter, ["frames.py"], kind, folder, truth_path)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        return compare_core(options, interpreter, version, kind, core, truth)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def compare_core(options, interpreter, version, kind, core, truth):
    command = [options.heapsift, "arrays", core, "--json"]
    if interpreter.tree:
        command += ["--sysroot", interpreter.tree]
    done = subprocess.run(command, env={**os.environ, "HEAPSIFT_STATE": "off"}, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return "heapsift: exit %d: %s" % (done.returncode, done.stderr.strip())
    wrong, examples = compare(truth, json.loads(done.stdout)["data"]["frames"])
    print("%-16s %-8s %-7s %7d %7d         " % (interpreter.name, version, kind, len(truth["frames"]), sum(len(one["arrays"]) for one in truth["frames"]))
          + " %7d" * len(_WRONG) % tuple(wrong[what] for what in _WRONG), flush=True)
    for example in examples[:20]:
        print("    " + example)
    return "%d differences" % sum(wrong.values()) if wrong else None


def compare(truth, frames):
    wrong, examples = collections.Counter(), []

    def check(what, where, said, read):
        if said != read:
            wrong[what] += 1
            examples.append("%s: %s: pandas said %s, heapsift %s" % (where, what, ascii(said), ascii(read)))

    names = {address: name for name, address in truth["names"].items()}
    names.update({piece["address"]: piece["name"] for piece in truth["pieces"]})
    read_by_address = {frame["object"]["address"]: frame for frame in frames}
    check("frames", "all", sorted(one["address"] for one in truth["frames"]), sorted(read_by_address))
    for said in truth["frames"]:
        read = read_by_address.get(said["address"])
        if read is None:
            continue
        where = "%s %s" % (names.get(said["address"], "another"), said["address"])
        columns = said["columns"] if said["kind"] == "DataFrame" else [said["name"]] if said["name"] is not None else []
        check("kind", where, said["kind"], read["kind"])
        check("type", where, said["type"], read["object"]["type"])
        check("shape", where, list(said["shape"]), read["shape"])
        check("columns", where, columns[: len(read["columns"])], read["columns"])
        check("columns", where, min(len(columns), 3), min(len(read["columns"]), 3))
        check("count", where, len(columns), read["column_count"])
        check("arrays", where, len(said["arrays"]), read["arrays"])
        check("nbytes", where, said["nbytes"], read["nbytes"])
    return wrong, examples


if __name__ == "__main__":
    sys.exit(main())
