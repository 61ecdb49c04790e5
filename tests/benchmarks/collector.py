#!/usr/bin/env python3
"""What replaying the collector costs, compared with gc.collect() in the process whose core it is.

    collector.py --tools build/release/tests/benchmarks                 10 million objects, a million of them in cycles; 4 GiB of memory, 1.5 GiB of disk

gcore takes the core of the waiting process, which then collects and says its CPU seconds. heapsift's are those of the replay alone
(the median of three), and of finding the references, which every command about references must do first. Exit 1 if the replay takes
more than --most times the collection, or finds another number of objects.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "real"))

import cores  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="measures the replay of the collector against the collector")
    parser.add_argument("--tools", required=True, metavar="DIR", help="where benchmark-passes is")
    parser.add_argument("--objects", type=int, default=10000000)
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--most", type=float, metavar="RATIO")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if cores.why_no_gcore():
        print("not tested here: " + cores.why_no_gcore())
        return 0
    work = tempfile.mkdtemp(prefix="heapsift-collector-", dir="/var/tmp")
    try:
        return measure(options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def measure(options, work):
    process = subprocess.Popen([options.interpreter, os.path.join(HERE, "collected_heap.py"), str(options.objects)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        core = cores.gcore(process.pid, os.path.join(work, "core"))
        process.stdin.write("\n")
        process.stdin.flush()
        seconds, found = process.stdout.readline().split()
    finally:
        process.kill()
        process.wait()
    runs = [passes(options, core) for _ in range(options.runs)]
    replay = statistics.median(run["collector"] for run in runs)
    references = statistics.median(run["references"] + run["guesses"] + run["native references"] for run in runs)
    ratio = replay / float(seconds)
    print("%d objects, %s found: gc.collect() %.2f s, the replay %.2f s: %.2f of it; the references before it %.2f s; %d found" % (
        options.objects, found, float(seconds), replay, ratio, references, runs[0]["garbage found"]))
    if runs[0]["garbage found"] != int(found):
        print("failed: the collector found %s" % found)
        return 1
    if options.most and ratio > options.most:
        print("failed: above %.2f" % options.most)
        return 1
    return 0


def passes(options, core):
    out = subprocess.run([os.path.join(options.tools, "benchmark-passes"), core], check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split("\t") for line in out.splitlines())}


if __name__ == "__main__":
    sys.exit(main())
