#!/usr/bin/env python3
"""How long a process stands while its core is taken: by `heapsift capture`, by `capture --fork`, and by gdb's gcore, in one run.

    capture.py --heapsift build/release/heapsift                       1 GiB of objects, idle and under load; 1 minute, 3 GiB of memory, 2 GiB of disk
    capture.py --heapsift build/release/heapsift --mebibytes 4096

The process itself says how long it stood: the longest gap between the ticks of a thread that wakes every millisecond (ticking_server.py). That gap has
the waits of a loaded machine in it, and of a loaded interpreter; the line `nothing` shows how long it is when nobody takes a core. The file's
size is what it takes on the disk, the seconds are until the command has ended. gcore's core stays in the page cache, capture's is on the disk by then.
`gcore, zstd -1`: gcore, and then that command on its core, with as many threads as there are processors; the seconds are those of both.

The aims: capture stands 8 times less than gcore, --fork 50 times.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "real"))

import cores  # noqa: E402

COMPRESSORS = {"gcore, zstd -1": ("zstd", "-1"), "gcore, zstd -3": ("zstd", "-3"), "gcore, lz4": ("lz4", "-1")}
WAYS = ("nothing", "gcore", *COMPRESSORS, "capture", "capture .zst", "capture .lz4", "--fork", "--fork .zst")


def main():
    parser = argparse.ArgumentParser(description="measures how long a process stands while its core is taken")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--loads", nargs="*", default=["idle", "busy"], choices=["idle", "busy"])
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", metavar="FOLDER", help="where cores are written, on a disk")
    parser.add_argument("--least", type=float, nargs=2, metavar=("COPY", "FORK"), help="fail where capture and --fork stand less than so many times shorter")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work = options.work or tempfile.mkdtemp(prefix="heapsift-capture-", dir="/var/tmp")
    failures = []
    try:
        for load in options.loads:
            failures += measure(options, work, load)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def measure(options, work, load):
    ways = [way for way in options.ways if not way.startswith("gcore") or not cores.why_no_gcore() and (way == "gcore" or shutil.which(COMPRESSORS[way][0]))]
    process = subprocess.Popen([options.interpreter, os.path.join(HERE, "ticking_server.py"), str(options.mebibytes), load], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        print("%d MiB of objects, %s" % (options.mebibytes, load))
        print("  %-14s %12s %14s %10s %12s %10s" % ("", "longest gap", "it says", "of gcore", "on disk", "seconds"), flush=True)
        gaps = {}
        for way in ways:
            rounds = [take(options, process, way, work) for _ in range(options.rounds)]
            gap, says, size, seconds = (statistics.median(column) for column in zip(*rounds))
            gaps[way] = gap
            of_gcore = "1/%.1f" % (gaps["gcore"] / gap) if "gcore" in gaps and not way.startswith("gcore") else ""
            print("  %-14s %9.1f ms %11s %10s %8.0f MiB %10.1f" % (way, gap, "%.1f ms" % says if says else "", of_gcore, size / 2**20, seconds), flush=True)
    finally:
        process.kill()
        process.wait()
    if not options.least or "gcore" not in gaps:
        return []
    return ["%s, %s: it stood %.1f ms, gcore's %.1f" % (load, way, gaps[way], gaps["gcore"])
            for way, least in zip(("capture", "--fork"), options.least) if gaps["gcore"] / gaps[way] < least]


def take(options, process, way, work):
    """(the longest gap in ms, what capture says it was, bytes on the disk, seconds)"""
    def longest_gap():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline().split()[0])

    time.sleep(0.3)
    longest_gap()
    began = time.monotonic()
    path, says = os.path.join(work, "core"), 0.0
    if way == "nothing":
        time.sleep(2)
    elif way == "gcore":
        path = cores.gcore(process.pid, path)
    elif way in COMPRESSORS:
        path = compressed(cores.gcore(process.pid, path), COMPRESSORS[way])
    else:
        path += way[way.rfind("."):] if "." in way else ""
        says = cores.capture(options.heapsift, process.pid, path, *(["--fork"] if "--fork" in way else []))["captures"][0]["stood_ns"] / 1e6
    seconds = time.monotonic() - began
    time.sleep(0.5)  # the thread that ticks notes its gap when it runs again
    gap = longest_gap()
    size = 0
    if os.path.exists(path):
        size = os.stat(path).st_blocks * 512
        os.remove(path)
    return gap, says, size, seconds


def compressed(core, command):
    """The path of the compressed core; the other is removed."""
    path = "%s.%s" % (core, command[0])
    threads = ["-T%d" % os.cpu_count()] if command[0] == "zstd" else []
    subprocess.run([*command, "-q", *threads, core, *(["-o", path] if command[0] == "zstd" else [path])], check=True)
    os.remove(core)
    return path


if __name__ == "__main__":
    sys.exit(main())
