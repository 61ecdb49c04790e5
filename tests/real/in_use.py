#!/usr/bin/env python3
"""What is in use: heapsift's figure beside the kernel's, which the process wrote down just before the core was taken.

    in_use.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--threads 1 4 64] [--kinds kernel gcore]

With 1, 4 and 64 threads, whose arenas and stacks are mostly never touched, in the kernel's core, copies of it without its holes and with a
hole for each page of zeros, and gcore's:
`in_use` is RssAnon + RssShmem + VmSwap within 3 %, all rows add up to the mapped memory.
"""

import argparse
import json
import os
import subprocess
import sys

import cores
import harness

_MOST = 0.03
_failures = []


def main():
    parser = argparse.ArgumentParser(description="compares what is in use with what the kernel says")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    parser.add_argument("--interpreters", action="extend", nargs="*", metavar="PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--threads", nargs="*", default=["1", "4", "64"], metavar="N")
    parser.add_argument("--kinds", nargs="*", default=["kernel", "gcore"])
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "in-use")
    heapsift = os.path.abspath(options.heapsift)
    print("%-20s %-14s %7s %12s %12s %7s %12s" % ("interpreter", "core", "threads", "kernel says", "in use", "", "reserved"))
    for interpreter in found:
        if interpreter.tree and not os.path.exists(os.path.join(interpreter.tree, "proc/self/status")):
            print("%-20s not tested: without /proc in its tree a process cannot say what it uses" % interpreter.name)
            continue
        for threads in options.threads:
            for kind in kinds:
                try:
                    taken = cores.take(interpreter, "in_use", kind, work, HEAPSIFT_THREADS=threads)
                except cores.NoCore as reason:
                    failures.append("%s, %s threads: %s" % (interpreter.name, threads, reason))
                    continue
                try:
                    with open(taken.truth, encoding="ascii") as truth:
                        truth = json.load(truth)
                    compare(heapsift, taken.core, interpreter, kind, int(threads), truth)
                    if kind == "kernel" and threads == options.threads[0]:
                        for what, sparse in (("without holes", "never"), ("more holes", "always")):
                            copy = taken.core + "." + sparse
                            subprocess.run(["cp", "--sparse=" + sparse, taken.core, copy], check=True)
                            compare(heapsift, copy, interpreter, what, int(threads), truth)
                finally:
                    taken.delete()
    return harness.end(failures + _failures)


def compare(heapsift, core, interpreter, kind, threads, truth):
    done = subprocess.run([heapsift, "overview", "--json", "--no-index", "--core", core, *(["--sysroot", interpreter.tree] if interpreter.tree else [])],
                          capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "HEAPSIFT_STATE": "off"}, timeout=600)
    case = "%s, %s, %d threads" % (interpreter.name, kind, threads)
    if done.returncode != 0:
        _failures.append("%s: exit %d: %s" % (case, done.returncode, done.stderr.decode(errors="replace")))
        return
    memory = json.loads(done.stdout)["data"]["memory"]
    of_kernel = truth["RssAnon"] + truth["RssShmem"] + truth["VmSwap"]
    off = memory["in_use"] / of_kernel - 1
    print("%-20s %-14s %7d %12s %12s %+6.1f%% %12s" % (interpreter.name, kind, threads, mebibytes(of_kernel), mebibytes(memory["in_use"]),
                                                    100 * off, mebibytes(memory["reserved"])), flush=True)
    if abs(off) > _MOST:
        _failures.append("%s: %d bytes in use, the kernel says %d" % (case, memory["in_use"], of_kernel))
    if sum(row["bytes"] for row in memory["categories"]) != memory["mapped"]:
        _failures.append("%s: the rows do not add up to the mapped memory" % case)
    if memory["reserved"] < 64 << 20 or memory["reserved"] + memory["in_use"] > memory["mapped"]:
        _failures.append("%s: %d bytes reserved of %d mapped" % (case, memory["reserved"], memory["mapped"]))


def mebibytes(count):
    return "%.1f MiB" % (count / 2**20)


if __name__ == "__main__":
    sys.exit(main())
