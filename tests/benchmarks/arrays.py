#!/usr/bin/env python3
"""What `arrays --pinned` costs, beside `types` on the same core: a million arrays, a tenth of them slices of larger ones that are gone.

    arrays.py --heapsift build/release/heapsift                 a million arrays; 1.5 GiB of memory, 1 GiB of disk

CPU seconds, user and system, the median of three runs.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "real"))

import cores  # noqa: E402

PARTIAL = 3


def main():
    parser = argparse.ArgumentParser(description="measures arrays --pinned against types")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--arrays", type=int, default=1000000)
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--most", type=float, metavar="RATIO")
    options = parser.parse_args()
    if cores.why_no_gcore():
        print("not tested here: " + cores.why_no_gcore())
        return 0
    work = tempfile.mkdtemp(prefix="heapsift-arrays-", dir="/var/tmp")
    try:
        return measure(options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def measure(options, work):
    process = subprocess.Popen([options.interpreter, os.path.join(HERE, "many_arrays.py"), str(options.arrays)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        core = cores.gcore(process.pid, os.path.join(work, "core"))
    finally:
        process.kill()
        process.wait()
    seconds = {}
    for words in (["types"], ["arrays", "--pinned"], ["arrays"], ["overview"]):
        seconds[" ".join(words)] = statistics.median(cpu_seconds([options.heapsift, *words, core, "--no-index", "-j", "1"]) for _ in range(3))
    ratio = seconds["arrays --pinned"] / seconds["types"]
    print("%d arrays: %s; arrays --pinned is %.2f of types" % (
        options.arrays, ", ".join("%s %.2f s" % item for item in seconds.items()), ratio))
    if options.most and ratio > options.most:
        print("failed: above %.2f" % options.most)
        return 1
    return 0


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, env=dict(os.environ, HEAPSIFT_STATE="off"))
    if done.returncode not in (0, PARTIAL):  # what makes it partial is on standard error; how right the answers are is tests/real's to say
        raise subprocess.CalledProcessError(done.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
