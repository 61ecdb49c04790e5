#!/usr/bin/env python3
"""Memory outside Python: malloc's arenas, and the blocks of C code.

    native.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--cases owners …] [--threads 1 8]
              [--kinds kernel gcore]

malloc: what `memory` says of each arena is what malloc_info said in the process just before: bytes from the kernel, and free bytes, which it sums
with the flags in each size, so that only mallinfo's sum over all arenas is exact; and what is in use, with what threads' caches keep and the
arena's own state, is the rest. Blocks with mappings of their own: how many, and their bytes.
leak: blocks that ctypes asked for and nobody frees, and C++ objects of a library: `native` gives sizes, counts and class names exactly, that they
leaked (but for a few to which numbers lead by chance), and the variable that holds those that did not; the first sentence of the overview names the size.
numbers: the same leaks, while 10,000 ints and 10,000 floats equal addresses of blocks that leaked: none of these is hidden.
holders: objects that only C++ memory holds: `why` goes through its blocks, with their class, to the variable, the stack or the Python object that
holds them; `refcounts` and `referrers` name the same; and the one reference that was lost is the only one that `refcounts` says leaked.
fragmented: after a storm of objects and blocks what was freed is called free, and the type that keeps pymalloc's arenas is named.

owners: what objects retain in C code is what malloc_usable_size said, to the byte where structures lead to blocks, within 1 % where ints do (any other word goes
before these), 5 % for zlib and
sqlite3; numbers that equal addresses own nothing; what two objects share neither retains; a block's owner is told. With --no-native, nothing of it.

On every core: the rows of `memory` add up to what is mapped, and so do its regions.
"""

import collections
import contextlib
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
_MISSED = 3                # of a row's blocks that leaked. The last one stands on the stack as a rule; and a heap below 4 GiB covers one number
                           # of 32 bits in twenty, of which the live stack has some (nanoseconds of a file's time) that nothing tells from addresses
_OWN = 3                   # blocks of that size that the interpreter may have
_BY_CHANCE = ("owners", "numbers")  # where a word that equals an address by chance may stand in one core: what is wrong must be wrong in two
_failures = []


def main():
    parser = harness.parser("compares heapsift's view of malloc with malloc's own")
    parser.add_argument("--cases", nargs="*", default=["malloc", "fragmented", "owners", "leak", "numbers", "holders"], metavar="NAME")
    parser.add_argument("--threads", nargs="*", default=["1", "8"], metavar="N")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "native")
    for interpreter in found:
        for kind in kinds:
            if "malloc" in options.cases:
                for threads in options.threads:
                    run("malloc, %s threads" % threads, ["malloc_truth.py"], compare_malloc, options, interpreter, kind, work, HEAPSIFT_THREADS=threads)
            for name, program, compare in (("fragmented", "fragmented.py", compare_fragmented), ("owners", "native_owners.py", compare_owners),
                                           ("leak", "case_native.py", compare_leak), ("holders", "native_hold.py", compare_holders)):
                if name in options.cases:
                    run(name, [program], compare, options, interpreter, kind, work)
            if "numbers" in options.cases:
                run("numbers", ["case_native.py"], compare_numbers, options, interpreter, kind, work, HEAPSIFT_NUMBERS="1")
    return harness.end(failures + _failures)


def run(name, program, compare, options, interpreter, kind, work, again=False, **environment):
    case = "%s, %s, %s" % (interpreter.name, kind, name)
    folder = tempfile.mkdtemp(prefix="heapsift-native-", dir=os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        compile_library("malloc_truth.c", folder)
        compile_library("native_leak.cpp", folder)
        compile_library("native_hold.cpp", folder)
        truth = os.path.join(folder, "truth")
        core, _ = cores.take_at_rest(interpreter, program, kind, folder, truth, HEAPSIFT_TRUTH="truth", **environment)

        def ask(*question):
            return answer(options.heapsift, core, interpreter, question)

        faults = [*sum_faults(ask), *compare(ask, truth)]
        if faults and name in _BY_CHANCE and not again:
            print("%-44s once more, for %s" % (case, "; ".join(faults)), flush=True)
            run(name, program, compare, options, interpreter, kind, work, again=True, **environment)
            return
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


@contextlib.contextmanager
def at_rest(options, interpreter, program, kind, work, prefix, **environment):
    """A core of a program that wrote JSON about itself: yields `ask`, which asks heapsift about it, and what the program wrote."""
    folder = harness.folder_for(interpreter, work, prefix)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        truth = os.path.join(folder, "truth")
        core, _ = cores.take_at_rest(interpreter, [program], kind, folder, truth, HEAPSIFT_TRUTH="truth", **environment)
        with open(truth, encoding="ascii") as text:
            expected = json.load(text)
        yield (lambda *question: answer(options.heapsift, core, interpreter, question)), expected
    finally:
        harness.leave(folder, options.keep)


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


def compare_owners(ask, truth):
    with open(truth, encoding="ascii") as text:
        expected = json.load(text)
    for name, tolerance in (("left", 0), ("right", 0), ("pair", 0), ("handles", 0.01), ("compressors", 0.05), ("connection", 0.05)):
        if name not in expected:
            continue
        shown = ask("show", "STORE." + name, "--retained")
        if abs(shown["native"] - expected[name]) > tolerance * expected[name]:
            yield "%s retains %d bytes of C code, not %d" % (name, shown["native"], expected[name])
        without = ask("show", "STORE." + name, "--retained", "--no-native")
        if without["native"] != 0 or without["retained"] != shown["retained"] - shown["native"]:
            yield "%s retains %d bytes of objects, and %d with --no-native" % (name, shown["retained"] - shown["native"], without["retained"])
    for document in ask("referents", "STORE.pair")["edges"]:
        if ask("show", document["target"], "--retained")["native"] != 0:
            yield "one of a pair retains what both share"
    for name in ("ints", "floats", "array"):
        if ask("show", "STORE." + name, "--retained")["native"] != 0:
            yield "numbers own blocks: " + name
    block = ask("show", expected["block"])
    if block["owner"]["type"] != "__main__.Document" or block["credit"] != "sure":
        yield "a block's owner: %s" % block
    shared = ask("show", expected["shared_block"])
    if shared["owner"]["type"] != "list" or {row["object"]["type"] for row in shared["beginnings"]} != {"__main__.Document"} or len(shared["beginnings"]) != 2:
        yield "a shared block's owner: %s" % shared
    if not {step["target_type"] for step in ask("why", expected["block"])["paths"][0]["steps"]} >= {"__main__.Document"}:
        yield "why of a block does not lead to its owner"


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
        fasts, rests = (heap.find("total[@type='%s']" % kind) for kind in ("fast", "rest"))
        fast, rest = 0 if fasts is None else int(fasts.get("size")), int(rests.get("size"))  # 2.43 has no fast bins
        chunks = int(rests.get("count")) - 1  # but the top
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
    if sum(row["count"] for row in native["contents"]) != native["total"]["count"] or len(native["blocks"]) != native["total"]["count"]:
        yield "%d blocks are listed, of %d" % (len(native["blocks"]), native["total"]["count"])
    sizes_listed = collections.Counter(block["size"] for block in native["blocks"] if block["leaked"])
    for row in native["sizes"]:
        if sizes_listed[row["size"]] != row["leaked"]:
            yield "of %d bytes %d leaked blocks are listed, not %d" % (row["size"], sizes_listed[row["size"]], row["leaked"])
    addresses = {int(block["address"], 16) for block in native["blocks"] if block["leaked"]}
    missing = [masked ^ truth["mask"] for masked in truth["some"] if masked ^ truth["mask"] not in addresses]
    if len(missing) > _MISSED:
        yield "%d of %d blocks that leaked are not listed, as %#x" % (len(missing), len(truth["some"]), missing[0])
    size, count = max(((int(size), count) for size, count in truth["sizes"].items()), key=lambda row: row[0] * row[1])
    sentence = ask("overview")["headline"]
    if "{:,} blocks of {:,} bytes".format(count, size) not in sentence or "leaked" not in sentence:
        yield "the first sentence names no size: " + sentence


def compare_numbers(ask, truth):
    yield from compare_leak(ask, truth)
    with open(truth, encoding="ascii") as text:
        truth = json.load(text)
    expected = truth["numbers"]
    # Of their size: an int may also be the address of an object that is gone, where a block lies now.
    found = sum(row["from_numbers"] for row in ask("native", "-n", "0")["sizes"] if str(row["size"]) in truth["sizes"])
    if not expected - _MISSED <= found <= expected + _OWN:
        yield "ints lead to %d blocks, not %d" % (found, expected)


def compare_holders(ask, truth):
    with open(truth, encoding="ascii") as text:
        address = json.load(text)
    library = "libnative_hold.so "
    for name, root, entry in (("keep_in_vector", library + "hold::registry", None), ("keep_in_map", library + "hold::table", "hold::Entry"),
                              ("keep_in_variable", library + "hold::single", None), ("keep_and_leak", "C code's memory that leaked", "hold::Entry"),
                              ("keep_on_stack", "the stack of thread waiter", None),
                              ("keep_for_owner", "module __main__", "hold::Entry"), ("keep_marked", "module __main__", "hold::Entry")):
        path, = ask("why", address[name])["paths"]
        blocks = path.get("blocks", [])
        if not path["root"]["name"].startswith(root):
            yield "%s: held by %s" % (name, path["root"]["name"])
        if bool(blocks) == (name in ("keep_in_variable", "keep_on_stack")) or (blocks and blocks[-1]["holds"] != address[name]):
            yield "%s: held by the blocks %s" % (name, blocks)
        elif blocks and blocks[-1]["class"] != entry:
            yield "%s: held by a block of class %s" % (name, blocks[-1]["class"])
        types = {step["source_type"] for step in path["steps"]}
        if root == "module __main__" and "__main__.Owner" not in types:
            yield "%s: held by %s" % (name, types)
        edge, = ask("referrers", address[name])["edges"]
        if edge["holder"]["marked"] != (name == "keep_marked") or (entry and edge["holder"]["way"][0]["words"] != entry):
            yield "%s: referrers names %s" % (name, edge["holder"])
    suspect = ask("overview")["suspects"][0]
    if suspect["kind"] != "c-variable" or not suspect["sentence"].startswith(library + "hold::registry, in it ") or suspect["bytes"] < 6_000_000:
        yield "the first suspect is %s" % suspect
    for question, unexplained in ((["refcounts", "-n", "0"], 1), (["refcounts", "-n", "0", "--no-native"], 2)):
        counts = ask(*question, "--type", "__main__.Thing")
        leaked = {row["address"]: row["leaked"] for row in counts["objects"] if row["leaked"]}
        if leaked != {address["lose_reference"]: 1}:
            yield "%s: leaked are %s" % (question, leaked)
        if counts["total"]["excess"] - counts["total"]["explained"] != unexplained:  # without blocks, a marked pointer is none
            yield "%s: of %d excess references %d have a word" % (question, counts["total"]["excess"], counts["total"]["explained"])


if __name__ == "__main__":
    sys.exit(main())
