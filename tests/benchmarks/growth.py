#!/usr/bin/env python3
"""Every command, in text and in JSON without a limit, on a heap and on one several times as large: does its cost grow faster than the heap?

    growth.py HEAPSIFT [--runs N] [--heaps mixed list …] [--commands TEXT …] [--work DIR]       15 minutes, 3 GiB of memory, 1 GiB of disk

The heaps: 0.1 and 0.9 million mixed objects (mixed_heap.py), and half and whole of each shape (shaped_heap.py): a list of 500,000, a dict of
200,000, a chain of 100,000, 200,000 objects of garbage, 50,000 arrays, 200,000 blocks of C code. A row is a command in one format: CPU seconds and own memory at the
peak on an empty heap, the smaller and the larger, and how many times faster than the number of objects they grew beyond the empty one's: 1.0
is in step with the heap, 2.0 on a shape the square. One thread, no index; the median of N runs (1).

Exit 1 if one grew more than --most times (1.3) as fast as the heap, by more than the slack (50 ms, 8 MiB), or needs more own memory than
--most-memory bytes (300) for each object of the larger heap, or does not answer in a minute of CPU; these are named at the end. A time above
its bound is measured again before it counts, as the median of three. With --work the cores stay, and are used again.
"""

import argparse
import dataclasses
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "real"))  # behind this folder: both have a scale.py

import child  # noqa: E402
import cores  # noqa: E402
import interpreters  # noqa: E402
import scale  # noqa: E402

HEAPS = {"mixed": (100000, 900000), "list": (250000, 500000), "dict": (100000, 200000), "chain": (50000, 100000), "garbage": (100000, 200000),
         "arrays": (25000, 50000), "blocks": (50000, 100000)}
EMPTY = 100

# BIG: the container; LAST: the last of its parts; PART: their type; HOLDER: their attribute; BLOCK: one of C code; FRESH: a folder or file that
# is not there yet.
COMMANDS = ["overview",
            "types", "types --sort memory", "holders", "holders --type PART",
            "objects", "objects --sort retained", "objects --type PART --where retained>=1",
            "show BIG", "show --retained BIG", "show LAST", "show PART",
            "why BIG", "why LAST", "why LAST --paths 5", "why --type PART",
            "dominators", "dominators BIG", "dominators --depth 400 --min 0",
            "retained BIG", "retained LAST", "retained --type PART", "retained --holder HOLDER",
            "referrers BIG", "referrers LAST", "referrers PART", "referents BIG",
            "cycles", "cycles --all", "cycles --unreachable", "cycles --uncollectable", "gc", "gc --list",
            "suspects", "refcounts", "refcounts --type PART",
            "arrays", "arrays --owners", "arrays --views", "arrays --pinned", "arrays --by-holder", "arrays --waste",
            "threads", "duplicates", "waste", "tasks", "doctor", "lines", "memory", "memory --regions", "native", "native --leaked", "show BLOCK", "show --retained BLOCK", "why BLOCK",
            "overview --no-native", "types --no-native"]
# Without a choice of format.
WHOLE = ["index --index-dir FRESH", "batch CORE", "export -o FRESH.db", "export -o FRESH.jsonl", "export -o FRESH.heapsnapshot", "export -o FRESH.folded",
         "export -o FRESH.dot", "export -o FRESH.dot --object LAST"]
FORMATS = {"text": ["-n", "0"], "json": ["-n", "0", "--json"]}
PATIENCE = 60  # CPU seconds
SECONDS_SLACK, BYTES_SLACK = 0.05, 8 << 20


@dataclasses.dataclass
class Heap:
    core: str
    words: dict  # what stands for BIG, LAST, …
    objects: int = 0

    @property
    def size(self):
        return os.path.getsize(self.core)


@dataclasses.dataclass
class Cost:
    seconds: float
    own: float


def main():
    options = parse()
    interpreter = next(iter(interpreters.find({}, None, [options.interpreter])), None)
    if interpreter is None:
        sys.exit("growth: %s is no Python that heapsift reads" % options.interpreter)
    kind = next((kind for kind, why in (("gcore", cores.why_no_gcore), ("kernel", cores.why_no_kernel_cores)) if not why()), None)
    if kind is None:
        print("not tested here: no core can be taken")
        return 0
    os.environ.update(HEAPSIFT_STATE="off")
    work = options.work or tempfile.mkdtemp(prefix="heapsift-growth-", dir="/var/tmp")
    try:
        failures = []
        for name in options.heaps:
            failures += grown(options, work, *(made(options, interpreter, kind, work, name, count) for count in (EMPTY, *HEAPS[name])), name)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print("grows faster than the heap: " + failure)
    if not failures:
        print("nothing grows faster than the heap")
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heapsift", type=os.path.abspath)
    parser.add_argument("--heaps", nargs="*", default=list(HEAPS), choices=list(HEAPS))
    parser.add_argument("--commands", nargs="*", metavar="TEXT", help="only commands that begin with one of these")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--most", type=float, default=1.3)
    parser.add_argument("--most-memory", type=float, default=300)
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--work", metavar="DIR", type=os.path.abspath)
    return parser.parse_args()


def made(options, interpreter, kind, work, name, count):
    folder = os.path.join(work, "%s-%d" % (name, count))
    ready = os.path.join(folder, "ready")
    if not os.path.exists(ready):
        os.makedirs(folder, exist_ok=True)
        program = [os.path.join(HERE, "mixed_heap.py"), str(count), "in-order"] if name == "mixed" else [
            os.path.join(HERE, "shaped_heap.py"), name, str(count)]
        cores.take_at_rest(interpreter, program, kind, folder, ready)
    core = next(os.path.join(folder, file) for file in os.listdir(folder) if re.fullmatch(r"core(\.\d+)?", file))
    with open(ready) as file:
        last, block = (file.read() + " - -").split()[:2]
    words = {"BIG": "__main__.big", "LAST": last, "PART": "__main__.Part", "HOLDER": "__main__.Part.held", "BLOCK": block}
    if name == "mixed":
        words = {"BIG": "main().records", "LAST": "main().records[-1].name", "PART": "__main__.Record", "HOLDER": "__main__.Record.name"}
    elif name == "arrays":
        words["PART"] = "numpy.ndarray"
    if name in ("garbage", "arrays", "blocks"):
        del words["HOLDER"]
    if name != "blocks":
        words.pop("BLOCK", None)
    answer = subprocess.run([options.heapsift, "types", "--sort", "memory", "--json", "--no-index", "--core", core], capture_output=True, check=False)
    return Heap(core, words, sum(row["count"] for row in json.loads(answer.stdout)["data"]["types"]))


def grown(options, work, empty, small, large, name):
    """Prints the table of one heap; returns what is above its bound."""
    more = (large.objects - empty.objects) / (small.objects - empty.objects)
    print("%s: %s and %s objects, cores of %.0f and %.0f MiB; an empty heap has %s" % (
        name, *("{:,}".format(heap.objects) for heap in (small, large)), small.size / 2**20, large.size / 2**20, "{:,}".format(empty.objects)))
    print("%-40s %-4s | %7s %7s %7s %7s | %6s %6s %6s %7s %6s" % (
        "command", "", "empty s", "small", "large", "growth", "MiB", "small", "large", "growth", "bytes"))
    failures = []
    for command, form in rows(options, large.words):
        runs = options.runs
        while True:
            nothing, less, all_of_it = (cost(options, work, heap, command, form, runs) for heap in (empty, small, large))
            bad = []
            # A cost is the same for all heaps and what grows, together; or the larger of them, as peaks and short lists are.
            time_growth, own_growth = (
                min(growth(*figures, more, slack), growth(0, *figures[1:], large.objects / small.objects, slack)) for figures, slack in (
                    ((nothing.seconds, less.seconds, all_of_it.seconds), SECONDS_SLACK), ((nothing.own, less.own, all_of_it.own), BYTES_SLACK)))
            own_an_object = max(0, all_of_it.own - nothing.own - BYTES_SLACK) / (large.objects - empty.objects)
            if time_growth > options.most:
                bad.append("no answer in %d CPU seconds" % PATIENCE if math.isinf(all_of_it.seconds) else "time by %.2f times as much" % time_growth)
            if own_growth > options.most:
                bad.append("memory by %.2f times as much" % own_growth)
            if own_an_object > options.most_memory:
                bad.append("memory is %.0f bytes an object" % own_an_object)
            if time_growth <= options.most or math.isinf(all_of_it.seconds) or runs >= 3:
                break
            runs = 3
        print("%-40s %-4s | %7.3f %7.3f %7.3f %7.2f | %6.0f %6.0f %6.0f %7.2f %6.0f %s" % (
            command, form, nothing.seconds, less.seconds, all_of_it.seconds, time_growth, nothing.own / 2**20, less.own / 2**20,
            all_of_it.own / 2**20, own_growth, own_an_object, "<-" if bad else ""), flush=True)
        failures += ["%s, %s %s: %s" % (name, command, form, "; ".join(bad))] if bad else []
    print()
    return failures


def rows(options, words):
    wanted = tuple(options.commands) if options.commands else ("",)
    absent = {"HOLDER", "BLOCK"} - set(words)
    yield from ((command, form) for command in COMMANDS if command.startswith(wanted) and not absent & set(command.split()) for form in FORMATS)
    yield from ((command, "") for command in WHOLE if command.startswith(wanted))


def growth(nothing, less, all_of_it, more, slack):
    """How many times as fast as the heap. The slack is what a figure may err by."""
    return max(0, all_of_it - nothing - slack) / ((max(0, less - nothing) + slack / 3) * more)


def cost(options, work, heap, command, form, runs):
    seconds, own = zip(*(once(options, work, heap, command, form) for _ in range(runs)))
    return Cost(statistics.median(seconds), statistics.median(own))


def once(options, work, heap, command, form):
    with tempfile.TemporaryDirectory(dir=work) as folder:
        words = {**heap.words, "CORE": heap.core, "FRESH": os.path.join(folder, "made")}
        asked = [expanded(word, words) for word in command.split()]
        whole = [] if command.startswith("batch") else ["--core", heap.core]
        index = [] if command.startswith("index") else ["--no-index"]
        try:
            seconds, _, own = scale.run([options.heapsift, *asked, *whole, *index, *FORMATS.get(form, []), "-j", "1", "--progress", "never"], PATIENCE)
        except child.OutOfTime:
            return math.inf, 0
        return seconds, own


def expanded(word, words):
    stem, dot, ending = word.partition(".")
    return words[stem] + dot + ending if stem in words else word


if __name__ == "__main__":
    sys.exit(main())
