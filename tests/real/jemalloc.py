#!/usr/bin/env python3
"""Memory under jemalloc, preloaded or linked into a program, compared with what jemalloc and the program say.

    jemalloc.py --heapsift build/dev/heapsift --blocks build/dev/tests/real/jemalloc_blocks [--tree SUITE=FOLDER …] [--interpreter PATH …]
                [--threads 1 8] [--kinds kernel gcore] [--cases preloaded linked]

preloaded: a Python whose malloc is jemalloc's (LD_PRELOAD). The bytes in use are jemalloc's own "stats.allocated" without what it says that threads'
caches hold and without its own tables, to the byte; every block that the program knows is found, in use and with its usable size, and each that it
freed is free; `memory` has the same sum, and its rows and regions add up; `native` counts what leaked, and what is reached, by size; the address of an object in a
freed block is no reference, in another it is.
linked: a program without Python that has jemalloc inside, which no name of a file tells (where libjemalloc-dev is installed); and one that has
musl inside, which is told from one with glibc.

Interpreters whose suite has no libjemalloc2 are left out; with CI=true, that is a failure.
"""

import argparse
import collections
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import cores
import harness
from native import answer, sum_faults

_LIBRARY = "usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
_LINKS = 500  # jemalloc_truth.c
_UNTOUCHED = 1 << 20  # bytes of blocks of Python that it never wrote to
_SMALL_OWN = 64  # bytes that 5.2 has asked itself for, besides its tables
_CHANCE = 3  # blocks of a size to which a number leads by chance; and one for what each thread has left on its stack
_failures = []


def _class(size):
    """The size of its class: jemalloc counts by these, and since 5.3.1 large blocks have as many pages as were asked for."""
    step = 16 if size <= 128 else 1 << ((size - 1).bit_length() - 3)
    return 8 if size <= 8 else (size + step - 1) // step * step


def main():
    parser = argparse.ArgumentParser(description="compares heapsift's view of jemalloc with jemalloc's own")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--blocks", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    parser.add_argument("--interpreters", action="extend", nargs="*", metavar="PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--threads", nargs="*", default=["1", "8"], metavar="N")
    parser.add_argument("--kinds", nargs="*", default=["kernel", "gcore"])
    parser.add_argument("--cases", nargs="*", default=["preloaded", "linked"], metavar="NAME")
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "jemalloc")
    for interpreter in found:
        if not os.path.exists(os.path.join(interpreter.tree or "/", _LIBRARY)):
            leave_out(interpreter.name + ": libjemalloc2 is not installed")
            continue
        for kind in kinds:
            for threads in options.threads if "preloaded" in options.cases else []:
                in_folder("%s, %s, %s threads" % (interpreter.name, kind, threads), interpreter.tree, work, options.keep,
                          lambda folder: preloaded(options, interpreter, kind, threads, folder))
    if "linked" in options.cases and "kernel" in kinds:
        if glob.glob("/usr/lib/x86_64-linux-gnu/libjemalloc.a"):
            in_folder("linked into a program", "", work, options.keep, lambda folder: linked(options, folder))
        else:
            leave_out("libjemalloc-dev is not installed: no program has it inside")
        if shutil.which("musl-gcc"):
            in_folder("musl, linked into a program", "", work, options.keep, lambda folder: musl(options, folder))
        else:
            leave_out("musl-tools is not installed")
    return harness.end(failures + _failures)


def leave_out(what):
    print("not tested here: " + what)
    if os.environ.get("CI") == "true":
        _failures.append(what)


def in_folder(case, tree, work, keep, run):
    folder = tempfile.mkdtemp(prefix="heapsift-jemalloc-", dir=os.path.join(tree, "var/tmp") if tree else work)
    try:
        faults = list(run(folder))
        print("%-44s %s" % (case, "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))
    finally:
        if keep:
            print("  kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def preloaded(options, interpreter, kind, threads, folder):
    for path in glob.glob(cores.PROGRAMS + "/*.py"):
        shutil.copy(path, folder)
    compile_truth(os.path.join(folder, "libjemalloc_truth.so"), "-shared", "-fPIC")
    truth = os.path.join(folder, "truth")
    core, _ = cores.take_at_rest(interpreter, ["jemalloc_truth.py"], kind, folder, truth, HEAPSIFT_TRUTH="truth", HEAPSIFT_THREADS=threads,
                                 LD_PRELOAD="/" + _LIBRARY)
    said, kept, freed = read_truth(truth)
    in_use = yield from block_faults(options, core, said, kept, freed)

    def ask(*question):
        return answer(options.heapsift, core, interpreter, question)

    yield from sum_faults(ask)
    row = next((row for row in ask("memory")["allocators"] if row["name"] == "jemalloc"), None)
    # What was handed out and never touched is reserved, where the core tells: the blocks of 3 MB.
    untouched = sum(size for size in kept.values() if size >= 3000000) if kind == "kernel" else 0
    if not row or not in_use - untouched - _UNTOUCHED <= row["in_use"] <= in_use:
        yield "memory says %s of jemalloc, whose blocks have %d bytes" % (row, in_use)
    holders = {int(edge["source"], 16) for edge in ask("referrers", "%#x" % said["object"])["edges"] if edge["kind"] == "native"}
    if said["live"] + 40 not in holders or any(said["dead"] <= word < said["dead"] + 640 for word in holders):
        yield "a list is held by %s; the blocks are %#x, in use, and %#x, free" % (sorted(map(hex, holders)), said["live"], said["dead"])
    native = {row["size"]: row for row in ask("native")["sizes"]}
    for size, count in collections.Counter(kept.values()).items():
        found = native.get(size, {"count": 0, "leaked": 0})
        if found["count"] < count or found["leaked"] < count - _CHANCE - int(threads):
            yield "%d blocks of %d bytes, %d of them leaked; the program has lost %d" % (found["count"], size, found["leaked"], count)
    found = native.get(896, {"count": 0, "leaked": 0})
    if not _LINKS <= found["count"] <= _LINKS + 20 or found["leaked"] > _CHANCE:
        yield "%d blocks of 896 bytes, %d of them leaked; the program holds %d" % (found["count"], found["leaked"], _LINKS)


def linked(options, folder):
    program = os.path.join(folder, "program")
    compile_truth(program, "-DMAIN", "-Wl,-Bstatic", "-ljemalloc", "-Wl,-Bdynamic", "-lstdc++", "-lm", "-lpthread", "-ldl")
    truth = os.path.join(folder, "truth")

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    subprocess.run([program, "8", "truth", "kernel"], cwd=folder, preexec_fn=prepare, stdin=subprocess.DEVNULL, timeout=60, check=False)
    core, = glob.glob(folder + "/core*")
    yield from block_faults(options, core, *read_truth(truth))


def musl(options, folder):
    program = os.path.join(folder, "program")
    source = os.path.join(cores.PROGRAMS, "jemalloc_truth.c")
    for compiler, expected in (("musl-gcc", "musl 1"), ("cc", "musl 0")):
        subprocess.run([compiler, "-static", "-O1", "-DMAIN", "-o", program, source], check=True)
        core = cores.take_of_command([program, "1", "truth", "rest"], folder)
        done = subprocess.run([options.blocks, core], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        if expected not in done.stdout.splitlines() or "no jemalloc" not in done.stdout.splitlines():
            yield "of a program by %s: %r" % (compiler, done.stdout)
        os.remove(core)


def compile_truth(output, *options):
    source = os.path.join(cores.PROGRAMS, "jemalloc_truth.c")
    subprocess.run(["cc", "-O1", "-s", "-o", output, source, *options], check=True)


def read_truth(path):
    said, kept, freed = {}, {}, []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, *values = line.split()
            if name == "class":
                said.setdefault("classes", {})[int(values[0])] = int(values[1])
            elif name == "kept":
                kept[int(values[0], 16)] = int(values[1])
            elif name == "freed":
                freed.append(int(values[0], 16))
            else:
                said[name] = int(values[0])
    return said, kept, freed


def block_faults(options, core, said, kept, freed):
    """Returns the bytes in use."""
    asked = "\n".join("%#x" % address for address in [*kept, *freed])
    done = subprocess.run([options.blocks, core], input=asked, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise cores.NoCore("jemalloc's blocks: exit %d: %s%s" % (done.returncode, done.stdout[:200], done.stderr))
    found, sums, classes = {}, {}, {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0].startswith("0x"):
            found[int(words[0], 16)] = (int(words[1], 16), int(words[2]), words[3] == "in_use") if len(words) == 4 else None
        elif words[0] == "class":
            size = _class(int(words[1]))
            classes[size] = classes.get(size, 0) + int(words[2])
        else:
            sums[words[0]] = int(words[1])
    for doubt in ("extents", "cached", "no_caches"):
        if sums[doubt] != 0:
            yield "%d doubts of %s" % (sums[doubt], doubt)
    if not sums["in_order"]:
        yield "the blocks are not in order"
    prefix = "stats.arenas.4096."
    cached = sums["cached_in_slabs"] + sums["cached_large"]
    if sums["in_use"] + cached + sums["own"] != said["stats.allocated"]:
        yield "%d bytes in use, %d in caches and %d in tables of its own; jemalloc says %d" % (sums["in_use"], cached, sums["own"], said["stats.allocated"])
    if not 0 <= said[prefix + "internal"] - sums["own"] <= _SMALL_OWN:
        yield "%d bytes in tables of its own; jemalloc says %d" % (sums["own"], said[prefix + "internal"])
    # 5.2 adds up other bins than the large ones (arena.c, arena_stats_merge: bins_large[i], with i from the number of small ones on).
    if said[prefix + "tcache_bytes"] not in (cached, sums["cached_in_slabs"]):
        yield "%d bytes in caches; jemalloc says %d" % (cached, said[prefix + "tcache_bytes"])
    wrong = [size for size in {*classes, *said["classes"]} if classes.get(size, 0) > said["classes"].get(size, 0)]
    if wrong:
        yield "more blocks of %s bytes than jemalloc has given out" % sorted(wrong)
    if not kept or not freed or cached == 0:
        yield "the program has no blocks, or freed none"
    wrong = [address for address, size in kept.items() if found[address] != (address, size, True)]
    if wrong:
        yield "%d of %d blocks in use are not found so: %#x is %s" % (len(wrong), len(kept), wrong[0], found[wrong[0]])
    wrong = [address for address in freed if found[address] is None or found[address][2]]
    if wrong:
        yield "%d of %d freed blocks are not free: %#x is %s" % (len(wrong), len(freed), wrong[0], found[wrong[0]])
    return sums["in_use"]


if __name__ == "__main__":
    sys.exit(main())
