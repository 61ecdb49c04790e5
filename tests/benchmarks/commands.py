#!/usr/bin/env python3
"""Two builds of heapsift on one core: CPU seconds and peak memory of each command, and their ratios.

    commands.py CORE BEFORE AFTER [--runs N] [COMMAND …]

A command is given with its words in quotes ("types --by-holder"); without any, all are measured. The builds take turns, and a figure is
the median of N runs (5), so that what else the machine does touches both alike. CPU is user and system time; peak memory includes
the mapped core. `why`, `show`, `retained` and `referrers` are asked of the object that retains most.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

import child

ALL = ["overview", "types", "types --by-holder", "types --sort memory", "objects", "objects --sort retained", "dominators",
       "cycles", "gc", "refcounts", "arrays", "threads", "doctor", "memory", "native", "duplicates", "waste", "why", "show", "retained", "referrers"]
OF_AN_OBJECT = {"why", "show", "retained", "referrers"}


def largest_object(binary, core):
    command = [binary, "objects", "--sort", "retained", "--json", "-n", "1", "--core", core]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(answer.stdout)["data"]["objects"][0]["address"]


def run(command):
    """(CPU seconds, peak bytes) of one run."""
    _, status, spent = os.wait4(child.start(command), 0)
    child.require_answer(command, status)
    return spent.ru_utime + spent.ru_stime, spent.ru_maxrss * 1024


def main():
    with tempfile.TemporaryDirectory() as nowhere:
        # Without an index, also for a build that has no --no-index.
        os.environ.update(HEAPSIFT_STATE="off", HEAPSIFT_INDEX_LIMIT="0", XDG_CACHE_HOME=nowhere)
        measure()


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("core")
    parser.add_argument("before", type=os.path.abspath)
    parser.add_argument("after", type=os.path.abspath)
    parser.add_argument("commands", nargs="*", metavar="COMMAND")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_intermixed_args()
    asked = largest_object(options.before, options.core)
    print("%-24s %10s %10s %6s %12s %12s %6s" % ("command", "before", "after", "ratio", "before", "after", "ratio"))
    for command in options.commands or ALL:
        words = command.split() + ([asked] if command in OF_AN_OBJECT else [])
        spent = {options.before: [], options.after: []}
        for _ in range(options.runs):
            for binary, figures in spent.items():
                figures.append(run([binary, *words, "--core", options.core, "--progress", "never"]))
        (cpu, peak), (new_cpu, new_peak) = ([statistics.median(column) for column in zip(*figures)] for figures in spent.values())
        print("%-24s %8.3f s %8.3f s %6.2f %8.0f MiB %8.0f MiB %6.2f" % (command, cpu, new_cpu, new_cpu / cpu, peak / 2**20,
                                                                      new_peak / 2**20, new_peak / peak), flush=True)


if __name__ == "__main__":
    main()
