#!/usr/bin/env python3
"""heapsift beside other tools that answer a like question about the same heap, in one run.

    peers.py HEAPSIFT --tools build/release/tests/benchmarks [--objects N] [--core CORE] [--chap PATH] [--memlab PATH] [--runs N]

The heap: mixed_heap.py with a million objects (--objects), in order; --core gives a core of it that is there already. Who is not there is left
out, and the table says so.

- **chap** (https://github.com/vmware/chap), --chap: `count used` on the core: how many blocks malloc handed out, and their bytes. It
  knows no Python. Beside `types --sort memory`, which answers the same for every type. The first of its runs, which writes a file beside
  the core, is not counted.
- **memlab** (npm), --memlab: `analyze object-size` on heapsift's export: the objects that retain most. Beside `dominators` and `types`,
  which find the objects, their references and retained sizes in the core; memlab reads a file that lists them.
- **Boost.Graph**: lengauer_tarjan_dominator_tree beside our dominators, on this graph, in one process (benchmark-passes --boost, on at most 3
  million objects). Both begin with the edges in memory, and walk them; Boost's are there in both directions, ours have to be turned round.
- **in the process** (live_heap.py): gc.get_objects closed over gc.get_referents with sys.getsizeof, which is the least that such a tool must
  do; Pympler's muppy with summary, and asizeof; guppy3's heap. Beside `types --sort memory` and `types`.

CPU seconds, user and system, the median of N runs (3), all in turn; own memory at the peak, of what runs in the process what it grew by. The
ratio is the other's seconds to heapsift's: above 1 heapsift is faster. `aim` is what was set for it.
"""

import argparse
import collections
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "real"))  # behind this folder: both have a scale.py

import cores  # noqa: E402
import interpreters  # noqa: E402
import scale  # noqa: E402

OURS = ["types --sort memory", "types", "dominators"]
INSIDE = {"closure": "gc.get_objects, closed", "muppy": "Pympler: muppy, summary", "asizeof": "Pympler: asizeof", "guppy": "guppy3: heap()"}
AIMS = {"chap: count used": 20, "memlab: object-size": 20, "Boost: dominators": 10, INSIDE["closure"]: 10, INSIDE["muppy"]: 15,
        INSIDE["asizeof"]: 15, INSIDE["guppy"]: 10}
COMPARED = {"chap: count used": ["types --sort memory"], "memlab: object-size": ["dominators", "types"], "Boost: dominators": ["our dominators"],
            **{name: ["types --sort memory", "types"] for name in INSIDE.values()}}
MOST_FOR_BOOST = 3000000


def main():
    options = parse()
    os.environ.update(HEAPSIFT_STATE="off")
    work = tempfile.mkdtemp(prefix="heapsift-peers-", dir="/var/tmp")
    try:
        measure(options, options.core or made(options, work), work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heapsift", type=os.path.abspath)
    parser.add_argument("--tools", metavar="DIR", type=os.path.abspath, help="where benchmark-passes is")
    parser.add_argument("--core", type=os.path.abspath, help="of mixed_heap.py with --objects")
    parser.add_argument("--objects", type=int, default=1000000)
    parser.add_argument("--chap", metavar="PATH", type=os.path.abspath, help="its program")
    parser.add_argument("--memlab", metavar="PATH", type=os.path.abspath, help="node_modules/.bin/memlab")
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def made(options, work):
    interpreter = next(iter(interpreters.find({}, None, [options.interpreter])), None)
    why = cores.why_no_gcore()
    if interpreter is None or why:
        sys.exit("peers: " + (why or "%s is no Python that heapsift reads" % options.interpreter))
    program = [os.path.join(HERE, "mixed_heap.py"), str(options.objects), "in-order"]
    return cores.take_at_rest(interpreter, program, "gcore", work, os.path.join(work, "ready"))[0]


def measure(options, core, work):
    with open(core, "rb") as file:  # into the page cache
        while file.read(1 << 20):
            pass
    answer = subprocess.run([options.heapsift, "types", "--sort", "memory", "--json", "--no-index", "--core", core], capture_output=True, check=False)
    objects = sum(row["count"] for row in json.loads(answer.stdout)["data"]["types"])
    print("%s objects, a core of %.0f MiB" % ("{:,}".format(objects), os.path.getsize(core) / 2**20))
    askers = {command: lambda command=command: ours(options, core, command) for command in OURS}
    askers.update(others(options, core, work, objects))
    figures = collections.defaultdict(list)
    for number in range(options.runs):
        for name, ask in askers.items():
            for what, figure in ask().items():
                figures[what or name].append(figure)
    table({name: [statistics.median(column) for column in zip(*runs)] for name, runs in figures.items() if None not in runs})


def ours(options, core, command):
    seconds, _, own = scale.run([options.heapsift, *command.split(), "--core", core, "--no-index", "-j", "1", "--progress", "never"])
    return {command: (seconds, own)}


def others(options, core, work, objects):
    """What measures each that is there: name -> function."""
    found = {}
    if options.chap and os.path.exists(options.chap):
        beside = os.path.join(work, "chap-core")
        os.symlink(core, beside)
        asked = os.path.join(work, "asked")
        with open(asked, "w") as file:
            file.write("count used\n")
        said = subprocess.run([options.chap, beside], input="count used\n", capture_output=True, text=True, check=False).stdout
        print("chap: " + next((line.split("> ")[-1] for line in said.splitlines() if "allocations use" in line), "no answer"))
        found["chap: count used"] = lambda: {None: timed([options.chap, beside], asked)}
    if options.memlab and os.path.exists(options.memlab) and shutil.which("node"):
        export = os.path.join(work, "core.heapsnapshot")
        seconds, _, own = scale.run([options.heapsift, "export", "-o", export, "--core", core, "--no-index", "-j", "1", "--progress", "never"])
        print("export for memlab: %.2f s, own memory %.0f MiB, a file of %.0f MiB" % (seconds, own / 2**20, os.path.getsize(export) / 2**20))
        found["memlab: object-size"] = lambda: {None: timed([
            shutil.which("node"), "--max-old-space-size=12000", options.memlab, "analyze", "object-size", "--snapshot", export,
            "--work-dir", os.path.join(work, "memlab")])}
    if options.tools and objects <= MOST_FOR_BOOST:
        found["Boost: dominators"] = lambda: boost(options, core)
    for how, name in INSIDE.items():
        found[name] = lambda how=how: {None: inside(options, how)}
    return found


def timed(command, given=None):
    seconds, _, own = scale.run(command, given=given)
    return seconds, own


def boost(options, core):
    said = subprocess.run([os.path.join(options.tools, "benchmark-passes"), core, "--boost"], check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds = {line.split("\t")[0]: float(line.split("\t")[1]) for line in said.splitlines()}
    return {"our dominators": (seconds["dominators alone"], 0), "Boost: dominators": (seconds["dominators by Boost"], 0)}


def inside(options, how):
    said = subprocess.run([options.interpreter, os.path.join(HERE, "live_heap.py"), str(options.objects), how], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.split()
    return None if said == ["not", "there"] else (float(said[0]), int(said[3]) * 1024)


def table(figures):
    print("%-26s %9s %10s" % ("", "CPU", "own"))
    for name in [*OURS, "our dominators"]:
        if name in figures:
            print("%-26s %7.3f s %10s" % (name, figures[name][0], mib(figures[name][1])))
    for name, beside in COMPARED.items():
        if name not in figures:
            print("%-26s not there" % name)
            continue
        seconds, own = figures[name]
        print("%-26s %7.3f s %10s   %s   (aim %d)" % (name, seconds, mib(own), ", ".join(
            "%.1f times %s" % (seconds / figures[other][0], other) for other in beside), AIMS[name]))


def mib(own):
    return "%.0f MiB" % (own / 2**20) if own else ""


if __name__ == "__main__":
    main()
