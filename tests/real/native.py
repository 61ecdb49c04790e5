#!/usr/bin/env python3
"""Memory outside Python: malloc's arenas, and the blocks of C code.

    native.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--threads 1 8] [--kinds kernel gcore]

malloc: what `memory` says of each arena is what malloc_info said in the process just before: bytes from the kernel, and free bytes, which it sums
with the flags in each size, so that only mallinfo's sum over all arenas is exact; and what is in use, with what threads' caches keep and the
arena's own state, is the rest. Blocks with mappings of their own: how many, and their bytes.
leak: blocks that ctypes asked for and nobody frees, and C++ objects of a library: `native` gives sizes, counts and class names exactly, that they
leaked (but for a few to which numbers lead by chance), and the variable that holds those that did not; the first sentence of the overview names the size.
fragmented: after a storm of objects and blocks what was freed is called free, and the type that keeps pymalloc's arenas is named.

On every core: the rows of `memory` add up to what is mapped, and so do its regions.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import cores
import harness

_STATE = 0x30 + 0x898 + 8  # heap_info and malloc_state at the start of an arena's first heap, and what aligns its first chunk
_HEAP = 0x30 + 0x20        # a later heap's, and the fence behind its last chunk
_MISSED = 3                # of a row's blocks that leaked: to which a number leads by chance
_OWN = 3                   # blocks of that size that the interpreter may have
_failures = []


def main():
    parser = argparse.ArgumentParser(description="compares heapsift's view of malloc with malloc's own")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--threads", nargs="*", default=["1", "8"], metavar="N")
    parser.add_argument("--kinds", nargs="*", default=["kernel", "gcore"])
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "native")
    for interpreter in found:
        for kind in kinds:
            for threads in options.threads:
                run("malloc, %s threads" % threads, ["malloc_truth.py"], compare_malloc, options, interpreter, kind, work, HEAPSIFT_THREADS=threads)
            run("fragmented", ["fragmented.py"], compare_fragmented, options, interpreter, kind, work)
            run("leak", ["case_native.py"], compare_leak, options, interpreter, kind, work)
    return harness.end(failures + _failures)


def run(name, program, compare, options, interpreter, kind, work, **environment):
    case = "%s, %s, %s" % (interpreter.name, kind, name)
    folder = tempfile.mkdtemp(prefix="heapsift-native-", dir=os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        compile_library("malloc_truth.c", folder)
        compile_library("native_leak.cpp", folder)
        truth = os.path.join(folder, "truth")
        core, _ = cores.take_at_rest(interpreter, program, kind, folder, truth, HEAPSIFT_TRUTH="truth", **environment)

        def ask(*question):
            return answer(options.heapsift, core, interpreter, question)

        faults = [*sum_faults(ask), *compare(ask, truth)]
        print("%-44s %s" % (case, "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))
    finally:
        if options.keep:
            print("  kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def compile_library(source, folder):
    name, ending = os.path.splitext(source)
    subprocess.run(["c++" if ending == ".cpp" else "cc", "-shared", "-fPIC", "-O1", "-s", "-Wno-deprecated-declarations", "-o", os.path.join(folder, "lib%s.so" % name),
                    os.path.join(cores.PROGRAMS, source)], check=True)


def answer(heapsift, core, interpreter, question):
    done = subprocess.run([heapsift, *question, "--json", "--no-index", "--core", core, *(["--sysroot", interpreter.tree] if interpreter.tree else [])],
                          capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "HEAPSIFT_STATE": "off"}, timeout=600, check=False)
    if done.returncode != 0:
        raise cores.NoCore("%s: exit %d: %s" % (" ".join(question), done.returncode, done.stderr.decode(errors="replace")))
    return json.loads(done.stdout)["data"]


def sum_faults(ask):
    memory = ask("memory", "--regions")
    rows = sum(row["bytes"] for row in memory["categories"])
    if rows != memory["mapped"]:
        yield "the rows are %d bytes of %d" % (rows, memory["mapped"])
    for row in memory["categories"]:
        if row["parts"] and sum(part["bytes"] for part in row["parts"]) != row["bytes"]:
            yield "the parts of %s do not add up" % row["name"]
    regions = 0
    for region in memory["regions"]:
        size = int(region["end"], 16) - int(region["start"], 16)
        regions += size
        if sum(region["bytes"].values()) != size:
            yield "the mapping at %s has %d bytes, and %d have an owner" % (region["start"], size, sum(region["bytes"].values()))
    if regions != memory["mapped"]:
        yield "the mappings are %d bytes of %d" % (regions, memory["mapped"])


def compare_malloc(ask, truth):
    with open(truth, encoding="ascii") as text:
        in_use, free, in_fast_bins = map(int, text.readline().split())
        said = xml.etree.ElementTree.fromstring(text.read())
    memory = ask("memory")
    malloc = next(row for row in memory["allocators"] if row["name"] == "malloc")
    heaps = said.findall("heap")
    if len(heaps) != len(malloc["arenas"]):
        yield "%d arenas, malloc says %d" % (len(malloc["arenas"]), len(heaps))
        return
    for number, (heap, arena) in enumerate(zip(heaps, malloc["arenas"])):
        system = int(heap.find("system[@type='current']").get("size"))
        fast, rest = (int(heap.find("total[@type='%s']" % kind).get("size")) for kind in ("fast", "rest"))
        chunks = int(heap.find("total[@type='rest']").get("count")) - 1  # but the top
        if arena["mapped"] != system:
            yield "arena %d: %d bytes, malloc says %d" % (number, arena["mapped"], system)
        if not chunks <= rest - arena["free"] <= 5 * chunks:
            yield "arena %d: %d bytes free, malloc says %d" % (number, arena["free"], rest)
        if arena["kept"] < fast or (number > 0 and arena["kept"] == fast):
            yield "arena %d: %d bytes in caches and fast bins, of it in fast bins %d" % (number, arena["kept"], fast)
        # The main arena has chunks alone; of the others every heap begins with what describes it.
        state = system - arena["free"] - arena["in_use"] - arena["kept"]
        if not (state == 0 if number == 0 else 0 < state <= _STATE + _HEAP * (system // (64 << 20) + 1)):
            yield "arena %d: %d bytes are neither in use nor free" % (number, state)
    if sum(arena["free"] for arena in malloc["arenas"]) != free - in_fast_bins:
        yield "%d bytes free, malloc says %d" % (sum(arena["free"] for arena in malloc["arenas"]), free - in_fast_bins)
    if sum(arena["mapped"] for arena in malloc["arenas"]) != in_use + free:
        yield "%d bytes in all arenas, malloc says %d" % (sum(arena["mapped"] for arena in malloc["arenas"]), in_use + free)
    mapped = next(total for total in said.findall("total") if total.get("type") == "mmap")
    if (malloc["mapped_blocks"], malloc["mapped_bytes"]) != (int(mapped.get("count")), int(mapped.get("size"))):
        yield "%d blocks with mappings of their own, %d bytes; malloc says %s, %s" % (malloc["mapped_blocks"], malloc["mapped_bytes"],
                                                                                   mapped.get("count"), mapped.get("size"))


def compare_fragmented(ask, truth):
    with open(truth, encoding="ascii") as text:
        truth = json.load(text)
    memory = ask("memory")
    free = {part["name"]: part["bytes"] for row in memory["categories"] if row["name"].startswith("free") for part in row["parts"]}
    malloc = next(row for row in memory["allocators"] if row["name"] == "malloc")
    for name, found, least in (("of pymalloc", free.get("by pymalloc", 0), truth["of_pymalloc"]), ("of malloc", free.get("by malloc", 0), truth["of_malloc"]),
                               ("that a trim gives back", malloc["trim"], truth["of_malloc"])):
        if not 0.9 * least <= found <= 2 * least + (4 << 20):  # debug hooks add to each block
            yield "%d bytes are free %s; %d were freed" % (found, name, least)
    sparse = memory["sparse_arenas"]
    kept = {row["name"]: row["objects"] for row in sparse["types"]}.get(truth["type"], 0)
    if not 0.8 * truth["kept"] <= kept <= truth["kept"]:
        yield "%d of %s keep arenas, of %d that are left" % (kept, truth["type"], truth["kept"])
    if not 0.8 * truth["of_pymalloc"] <= sparse["free"] <= memory["in_use"]:
        yield "%d bytes are free in sparse arenas; %d were freed" % (sparse["free"], truth["of_pymalloc"])


def compare_leak(ask, truth):
    with open(truth, encoding="ascii") as text:
        truth = json.load(text)
    native = ask("native")
    sizes = {row["size"]: row for row in native["sizes"]}
    classes = {row["name"]: row for row in native["classes"]}
    for size, count in [*truth["sizes"].items(), (truth["lost"], 1)]:
        found = sizes.get(int(size), {"count": 0, "leaked": 0})
        if not count <= found["count"] <= count + _OWN or not count - _MISSED <= found["leaked"] <= found["count"]:
            yield "%d blocks of %s bytes, %d of them leaked, not %d" % (found["count"], size, found["leaked"], count)
    for name, count in truth["classes"].items():
        found = classes.get(name, {"count": 0, "leaked": 0, "holder": None})
        leaked = 0 if name == truth["kept"] else count
        if found["count"] != count or not leaked - _MISSED <= found["leaked"] <= leaked:
            yield "%d objects of %s, %d of them leaked, not %d, %d" % (found["count"], name, found["leaked"], count, leaked)
        if not leaked and found["holder"] != "libnative_leak.so " + truth["kept_in"]:
            yield "objects of %s are held by %s" % (name, found["holder"])
    size, count = max(((int(size), count) for size, count in truth["sizes"].items()), key=lambda row: row[0] * row[1])
    sentence = ask("overview")["headline"]
    if "{:,} blocks of {:,} bytes".format(count, size) not in sentence or "leaked" not in sentence:
        yield "the first sentence names no size: " + sentence


if __name__ == "__main__":
    sys.exit(main())
