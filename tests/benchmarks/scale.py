#!/usr/bin/env python3
"""Each command on each core: how its cost grows with the heap, with the threads, and with an index at hand.

    scale.py HEAPSIFT CORE… [--runs N] [--jobs N] [--commands "types --sort memory" …]

For each core first what `cat` of it takes; then for each command, cold (without an index) on one thread: CPU seconds, their ratio to `cat`,
own memory at the peak and its ratio to the core's size; on N threads (--jobs, 2): wall seconds, how many times faster that is by the wall
than one thread, and CPU seconds beside one thread's; warm (with an index that `heapsift index` made): CPU and wall milliseconds. A figure is
the median of N runs (5). Own memory is what is not mapped from a file (RssAnon), looked at every two milliseconds.

At the end the growth: CPU seconds an object on the last core beside the first one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import child

COMMANDS = ["types --sort memory", "types", "overview", "objects", "dominators", "why", "show", "referrers", "cycles", "gc", "refcounts", "arrays",
            "threads", "doctor", "memory", "native"]
OF_AN_OBJECT = {"why", "show", "referrers"}


def run(command, most_seconds=None, given=None):
    """(CPU seconds, wall seconds, own bytes at the peak)"""
    began = time.monotonic()
    process = child.start(command, most_seconds, given)
    own = 0
    while True:
        pid, status, spent = os.wait4(process, os.WNOHANG)
        if pid:
            break
        own = max(own, anonymous(process))
        time.sleep(0.002)
    child.require_answer(command, status)
    return spent.ru_utime + spent.ru_stime, time.monotonic() - began, own


def anonymous(process):
    try:
        with open("/proc/%d/status" % process) as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def medians(command, runs):
    return [statistics.median(column) for column in zip(*(run(command) for _ in range(runs)))]


def measure(options, core, indexes):
    size = os.path.getsize(core)
    answer = subprocess.run([options.heapsift, "types", "--sort", "memory", "--json", "--no-index", "--core", core], capture_output=True, check=False)
    objects = sum(row["count"] for row in json.loads(answer.stdout)["data"]["types"])
    cat = medians(["/bin/cat", core], options.runs)[0]
    print("%s: %.1f million objects, %.0f MB; cat %.3f s of CPU" % (core, objects / 1e6, size / 1e6, cat))
    print("%-20s | %7s %6s %9s %6s | %7s %6s %7s | %9s %9s" % ("command", "CPU", "/ cat", "own", "/ core", "wall", "faster", "CPU", "warm CPU",
                                                            "wall"))
    answer = subprocess.run([options.heapsift, "index", "--core", core, "--index-dir", indexes], stdout=subprocess.DEVNULL, check=False)
    if answer.returncode not in (0, 3):
        sys.exit("index: exit %d" % answer.returncode)
    answer = subprocess.run([options.heapsift, "objects", "--sort", "retained", "--json", "-n", "1", "--core", core, "--index-dir", indexes],
                            capture_output=True, check=False)
    asked = json.loads(answer.stdout)["data"]["objects"][0]["address"]
    costs = {}
    for command in options.commands:
        words = [options.heapsift, *command.split(), *([asked] if command in OF_AN_OBJECT else []), "--core", core, "--progress", "never"]
        cpu, wall, own = medians([*words, "--no-index", "-j", "1"], options.runs)
        many_cpu, many_wall, _ = medians([*words, "--no-index", "-j", str(options.jobs)], options.runs)
        run([*words, "--index-dir", indexes])  # what only this question needs
        warm_cpu, warm_wall, _ = medians([*words, "--index-dir", indexes], options.runs)
        print("%-20s | %6.2fs %6.1f %5.0f MiB %6.2f | %6.2fs %6.2f %6.2fs | %6.0f ms %6.0f ms" % (
            command, cpu, cpu / cat, own / 2**20, own / size, many_wall, wall / many_wall, many_cpu, warm_cpu * 1000, warm_wall * 1000), flush=True)
        costs[command] = cpu / objects
    print("", flush=True)
    return costs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heapsift", type=os.path.abspath)
    parser.add_argument("cores", nargs="+", metavar="CORE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--commands", nargs="*", default=COMMANDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.environ.update(HEAPSIFT_STATE="off")
        costs = [measure(options, os.path.abspath(core), folder) for core in options.cores]
    if len(costs) > 1:
        print("CPU an object, the last core beside the first:")
        for command in options.commands:
            print("%-20s %.2f" % (command, costs[-1][command] / costs[0][command]))


if __name__ == "__main__":
    main()
