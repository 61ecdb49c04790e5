#!/usr/bin/env python3
"""How fast heapsift is, as ratios to what is measured in the same run: `cat` of the core, and a plain sum of its words.

    run.py --heapsift build/release/heapsift --tools build/release/tests/benchmarks            10 million objects, in order and aged
    run.py … --cores FILE …                                                                    cores that are there already
    run.py … --objects 300000 --most types/sum=80 …                                            fail where a figure is above its bound

Times are CPU seconds, user and system, the median of five runs. Other programs on the machine disturb them little, and where they do
(caches, memory) they disturb the yardstick too. heapsift works on one thread; the core is in the page cache.

- **cat**: `cat CORE >/dev/null`, the read() of every byte. **sum**: the words of the mapped file added up, first touch of each page.
- **types**: `heapsift types CORE`, all of it. **find**: finding all objects (allocators, types, pools, proofs; not the interpreter, which
  costs the same for any heap); **scan**: only the pass over pymalloc's pools; **size**: adding up what `types` shows. The last three are
  timed inside one process.
- **references**: all references of all objects, with guesses judged and native words found (ReferenceGraph), in the same process
  after `types`; the graph's memory per reference.
- **graph**: roots, groups and one walk over everything they reach, after the references; **retained**: dominators and the sums over their
  tree; for each, the memory that it keeps per object. `benchmark-passes CORE --boost` compares Boost.Graph's dominators.
- **memory**: the peak of heapsift's own memory, relative to the size of the core. Pages of the mapped core count as resident, but belong
  to the page cache and go when memory is short; so the figure is RssAnon of /proc/PID/status, read every millisecond. That misses shorter
  peaks, of which none are known: the large tables live until the end.
- **version**: `heapsift --version`, milliseconds.
"""

import argparse
import atexit
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
import interpreters  # noqa: E402

RUNS = 5
REFERENCE_PASSES = ("references", "guesses", "native references")


def main():
    options = parse()
    figures = []
    for name, core in (named_cores(options) if options.cores else made_cores(options)):
        figure = measure(options, core)
        print_figures(name, figure)
        figures.append((name, figure))
    failures = ["%s: %s is %.3g, above %.3g" % (name, what, figure[what], bound)
                for name, figure in figures for what, bound in options.bounds.items() if figure[what] > bound]
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="measures heapsift against cat and a plain sum of words")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tools", required=True, metavar="DIR", help="where benchmark-sum-words and benchmark-passes are")
    parser.add_argument("--cores", nargs="*", default=[], metavar="FILE", help="measure these; else cores are made and deleted")
    parser.add_argument("--objects", type=int, default=10000000)
    parser.add_argument("--orders", nargs="*", default=["in-order", "aged"], choices=["in-order", "aged"])
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--work", metavar="DIR", help="where cores are made and kept; default: a folder that goes")
    parser.add_argument("--most", action="append", default=[], metavar="FIGURE=BOUND", help="types/cat, types/sum, find ns, references ns, graph ns, retained ns, memory, version ms")
    options = parser.parse_args()
    options.bounds = {what: float(bound) for what, bound in (one.rsplit("=", 1) for one in options.most)}
    return options


def named_cores(options):
    return [(os.path.basename(path), path) for path in options.cores]


def made_cores(options):
    """Makes one after the other: two at a time need not be on the disk."""
    work = options.work or tempfile.mkdtemp(prefix="heapsift-benchmark-", dir="/var/tmp")
    if not options.work:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
    interpreter = next(iter(interpreters.find({}, None, [options.interpreter])), None)
    if interpreter is None:
        sys.exit("benchmarks: %s is no Python that heapsift reads" % options.interpreter)
    kinds = [kind for kind, why in (("kernel", cores.why_no_kernel_cores), ("gcore", cores.why_no_gcore)) if not why()]
    if not kinds:
        sys.exit("benchmarks: no core can be taken here")
    for order in options.orders:
        folder = os.path.join(work, order)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        program = [os.path.join(HERE, "mixed_heap.py"), str(options.objects), order]
        core, _ = cores.take_at_rest(interpreter, program, kinds[0], folder, os.path.join(folder, "ready"))
        yield "%s %s" % (interpreter.name, order), core
        if not options.work:
            shutil.rmtree(folder, ignore_errors=True)


def measure(options, core):
    environment = {**os.environ, "HEAPSIFT_STATE": "off"}
    types = [options.heapsift, "types", core, "--no-index", "-j", "1"]
    with open(core, "rb") as file:  # into the page cache
        while file.read(1 << 20):
            pass
    figure = {"bytes": os.path.getsize(core)}
    figure["cat"] = median(cpu_seconds(["cat", core], environment)[0] for _ in range(RUNS))
    figure["sum"] = median(rows_of([os.path.join(options.tools, "benchmark-sum-words"), core])["first touch"] for _ in range(RUNS))
    measured = [cpu_seconds(types, environment) for _ in range(RUNS)]
    figure["types"] = median(seconds for seconds, _ in measured)
    figure["memory"] = max(peak for _, peak in measured) / figure["bytes"]
    passes = [rows_of([os.path.join(options.tools, "benchmark-passes"), core]) for _ in range(RUNS)]
    figure["objects"], figure["edges"], figure["edge bytes"] = (int(passes[0].pop(name)) for name in ("objects", "edges", "edge bytes"))
    figure["graph bytes"], figure["retained bytes"] = (passes[0].pop(name) / figure["objects"] for name in ("graph bytes", "retained bytes"))
    figure["passes"] = {name: median(run.get(name, 0) for run in passes) for name in passes[0] if not name.endswith(" bytes")}
    figure["size"] = figure["passes"]["sizes"] + figure["passes"]["adding up types"]
    figure["scan"] = figure["passes"].get("pymalloc blocks", 0)
    figure["references"] = sum(figure["passes"].get(name, 0) for name in REFERENCE_PASSES)
    figure["graph"], figure["retained"] = figure["passes"]["roots"] + figure["passes"]["graph"], figure["passes"]["dominators and retained"]
    figure["graph ns"], figure["retained ns"] = (figure[name] / figure["objects"] * 1e9 for name in ("graph", "retained"))
    figure["references ns"] = figure["references"] / figure["objects"] * 1e9
    # The collector's replay finds no objects; and what finding the interpreter costs, up to 0.2 s where debug information is read, is the
    # same for any heap: in a figure for each object it would be noise.
    beside = figure["passes"].get("collector", 0) + figure["passes"].get("garbage found", 0) + figure["passes"].get("interpreter", 0)
    figure["find"] = sum(figure["passes"].values()) - figure["size"] - figure["references"] - figure["graph"] - figure["retained"] - beside
    figure["types/cat"] = figure["types"] / figure["cat"]
    figure["types/sum"] = figure["types"] / figure["sum"]
    figure["find ns"] = figure["find"] / figure["objects"] * 1e9
    figure["version ms"] = 1000 * median(cpu_seconds([options.heapsift, "--version"], environment)[0] for _ in range(RUNS))
    return figure


def median(values):
    return statistics.median(list(values))


def cpu_seconds(command, environment):
    """User and system time of one run, and the largest RssAnon seen, in bytes."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        peak = max(peak, anonymous_bytes(process.pid))
        time.sleep(0.001)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit("benchmarks: %s ended with %d" % (command[0], process.returncode))
    return usage.ru_utime + usage.ru_stime, peak


def anonymous_bytes(pid):
    try:
        with open("/proc/%d/status" % pid) as status:
            return next((1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def rows_of(command):
    """Tab-separated lines: name, number."""
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split("\t")[0]: float(line.split("\t")[1]) for line in text.splitlines()}


def print_figures(name, figure):
    objects = figure["objects"]
    print("%s: %s objects, %.0f MB, %.0f bytes an object" % (name, "{:,}".format(objects), figure["bytes"] / 1e6, figure["bytes"] / objects))
    print("  %-28s %8s %8s %8s %10s %14s" % ("", "CPU s", "x cat", "x sum", "ns/object", "objects/s"))
    for what, label in (("cat", "cat CORE >/dev/null"), ("sum", "sum of all words"), ("types", "heapsift types"), ("find", "  finding objects"),
                        ("scan", "    scan of the pools"), ("size", "  adding up types"), ("references", "references"),
                        ("graph", "graph"), ("retained", "dominators, retained")):
        seconds = figure[what]
        print("  %-28s %8.3f %8.1f %8.1f %10.1f %14s" % (label, seconds, seconds / figure["cat"], seconds / figure["sum"],
                                                        seconds / objects * 1e9, "{:,.0f}".format(objects / seconds) if seconds else "-"))
    print("  passes: " + ", ".join("%s %.3f" % (pass_name, seconds) for pass_name, seconds in figure["passes"].items()))
    print("  %s references, %.2f an object, %.1f ns each; %.1f bytes a reference; %.2f x types" % (
        "{:,}".format(figure["edges"]), figure["edges"] / objects, figure["references"] / figure["edges"] * 1e9,
        figure["edge bytes"] / figure["edges"], figure["references"] / figure["types"]))
    print("  graph keeps %.1f bytes an object, dominators and retained sizes %.1f" % (figure["graph bytes"], figure["retained bytes"]))
    print("  own memory, peak: %.1f %% of the core; --version: %.1f ms" % (100 * figure["memory"], figure["version ms"]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
