#!/usr/bin/env python3
"""Allocators that are loaded before malloc: mimalloc and gperftools' tcmalloc, under Python; and the mimalloc that Python has inside.

    preloaded.py --heapsift build/dev/heapsift --blocks build/dev/tests/real/heapsift-allocated-blocks [--tree SUITE=FOLDER …]
                 [--interpreters VERSION|PATH …] [--versions FOLDER] [--cases blocks owners objects] [--threads 1 8] [--kinds kernel gcore]

blocks: of a program that knows its blocks, by address and malloc_usable_size, with 1 thread and with 8, of which some have ended: those in use are
found in use, with equal size; those that were freed, by their thread or by another, are free or no longer there. What is in use in all is what the
allocator says itself: tcmalloc to the byte (generic.current_allocated_bytes), mimalloc 2 by its own visit to all blocks of its only thread. `memory`
has as many blocks, and its rows add up; `native` has each size at least as often.
owners: what objects retain in C code is what malloc_usable_size said (native.py), in gcore's cores.
objects: with PYTHONMALLOC=malloc all objects lie there, and none is missing (run.py).

Python's own, of 3.13 and later with PYTHONMALLOC=mimalloc: blocks of PyMem_Malloc, of which the program knows how many bytes it asked for. Its objects
are tested by run.py alone.

Debian 11 has tcmalloc 2.8.1; Debian 12 tcmalloc 2.10 and mimalloc 2.0.9; Debian 13 tcmalloc 2.16 and mimalloc 3.0.1. Each is tested with the
interpreters that have it beside them.
"""

import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import tempfile

import cores
import harness
import native
import run

_LIBRARIES = {"mimalloc 2": "libmimalloc.so.2", "mimalloc 3": "libmimalloc.so.3", "tcmalloc": "libtcmalloc_minimal.so.4"}
_OWN = "mimalloc of Python"
_TAKEN_BY_PYTHON = 10  # blocks that were freed, and in which there are objects by now
_FOLDER = "usr/lib/x86_64-linux-gnu"
_failures = []


def main():
    parser = argparse.ArgumentParser(description="compares heapsift's view of other allocators with what the process knows")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--blocks", required=True, metavar="PATH", help="heapsift-allocated-blocks")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--allocators", nargs="*", default=[*_LIBRARIES, _OWN], choices=[*_LIBRARIES, _OWN])
    parser.add_argument("--cases", nargs="*", default=["blocks", "owners", "objects"], metavar="NAME")
    parser.add_argument("--threads", nargs="*", default=["1", "8"], metavar="N")
    parser.add_argument("--kinds", nargs="*", default=["kernel"], choices=cores.ALL_KINDS)
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.heapsift, options.blocks, options.files = os.path.abspath(options.heapsift), os.path.abspath(options.blocks), "here"
    work, found, kinds, failures = harness.begin(options, "preloaded")
    tested = collections.Counter()
    for allocator in options.allocators:
        for interpreter in found:
            library = library_of(allocator, interpreter)
            if library is not None and not interpreter.debug:
                tested[allocator] += 1
                for kind in kinds:
                    test(allocator, library, interpreter, kind, options, work)
    for allocator in options.allocators:
        if not tested[allocator]:
            print("not tested here: %s, whose %s no interpreter at hand has" % (allocator, _LIBRARIES.get(allocator, "option")))
            if os.environ.get("CI") == "true":
                failures.append("%s has to be tested, and is not installed" % allocator)
    return harness.end(failures + _failures)


def library_of(allocator, interpreter):
    """Its path as the interpreter sees it, empty for Python's own, or None."""
    if allocator == _OWN:
        return "" if interpreter.version >= (3, 13) else None
    path = os.path.join("/", _FOLDER, _LIBRARIES[allocator])
    return path if os.path.exists((interpreter.tree or "") + path) else None


def test(allocator, library, interpreter, kind, options, work):
    def case(name, program, compare, by=kind, **environment):
        one(allocator, library, interpreter, by, options, work, name, program, compare, environment)

    if "blocks" in options.cases:
        for threads in options.threads:
            case("blocks, %s threads" % threads, "preloaded.py", compare_blocks, HEAPSIFT_THREADS=threads)
    if allocator == _OWN:
        return
    if "owners" in options.cases and shutil.which("gcore"):
        case("owners", "native_owners.py", compare_owners, by="gcore")  # the program only rests
    if "objects" in options.cases:
        cores.extra_environment = {"LD_PRELOAD": library, "PYTHONMALLOC": "malloc"}
        for program in ("zoo", "churn"):
            problem = run.run_one(options, interpreter, program, kind, work)
            report("%s, %s, %s, %s" % (interpreter.name, kind, allocator, program), [problem] if problem else [])


class Asked:
    """A core, and what heapsift says of it."""

    def __init__(self, options, interpreter, core, truth, allocator):
        self.options, self.interpreter, self.core, self.truth, self.allocator = options, interpreter, core, truth, allocator

    def answer(self, *question):
        return native.answer(self.options.heapsift, self.core, self.interpreter, question)


def one(allocator, library, interpreter, kind, options, work, name, program, compare, environment):
    folder = tempfile.mkdtemp(prefix="heapsift-preloaded-", dir=os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        native.compile_library("preloaded.c", folder)
        truth = os.path.join(folder, "truth")
        cores.extra_environment = {"LD_PRELOAD": library} if library else {"PYTHONMALLOC": "mimalloc", "HEAPSIFT_DOMAIN": "python"}
        core, said = cores.take_at_rest(interpreter, [program], kind, folder, truth, HEAPSIFT_TRUTH="truth", **environment)
        if "cannot be preloaded" in said:
            raise cores.NoCore(said.splitlines()[0])
        asked = Asked(options, interpreter, core, truth, allocator)
        report("%s, %s, %s, %s" % (interpreter.name, kind, allocator, name), [*native.sum_faults(asked.answer), *compare(asked)])
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        report("%s, %s, %s, %s" % (interpreter.name, kind, allocator, name), [str(reason)])
    finally:
        cores.extra_environment = {}
        if options.keep:
            print("  kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def report(case, faults):
    print("%-60s %s" % (case, "right" if not faults else "WRONG"), flush=True)
    _failures.extend("%s: %s" % (case, fault) for fault in faults)


def compare_owners(asked):
    """To the byte where structures lead to blocks. What libraries have counts by what they asked for, and classes of sizes are up to a fifth larger;
    it may be less: zlib does not clear its tables, and in memory that was used before, words of them lead to what others have, which then is shared."""
    for fault in native.compare_owners(asked.answer, asked.truth):
        library = re.match(r"(compressors|connection) retains (\d+) bytes of C code, not (\d+)", fault)
        if not library or int(library[2]) > 1.2 * int(library[3]):
            yield fault


def compare_blocks(asked):
    used, freed, told = read_truth(asked.truth)
    found, totals = ask_blocks(asked, [*used, *freed])
    wrong = collections.Counter()
    for start, usable in used.items():
        block = found[start]
        wrong["not found"] += block is None
        wrong["free"] += block is not None and block[2] != "in_use"
        wrong["of another size"] += block is not None and not (block[0] == start and is_size(asked.allocator, block[1], usable))
    for start in freed:
        wrong["in use though freed"] += found[start] is not None and found[start][2] == "in_use"
    if asked.allocator == _OWN and wrong["in use though freed"] <= _TAKEN_BY_PYTHON:
        del wrong["in use though freed"]
    yield from ("%d blocks of %d are %s" % (count, len(used) + len(freed), what) for what, count in wrong.items() if count)
    if len(used) < 1000 or len(freed) < 1000:
        yield "the program knows of %d blocks in use and %d freed" % (len(used), len(freed))
    name = asked.allocator.split()[0]
    if list(totals) != [name]:
        yield "allocators: %s" % totals
        return
    blocks, in_use = totals[name]
    if "allocated" in told and told["allocated"] != [in_use]:
        yield "%d bytes are in use, and tcmalloc says %d" % (in_use, told["allocated"][0])
    if not told and asked.allocator != _OWN:
        yield "the allocator said nothing"
    # Of one thread: all blocks in mimalloc 2; in 3 none of full pages, which are nobody's.
    if asked.allocator == "mimalloc 2" and len(used) < 3000 and told["visited"] != [blocks, in_use]:
        yield "%d blocks and %d bytes are in use, and mimalloc says %s" % (blocks, in_use, told["visited"])
    if asked.allocator == "mimalloc 3" and not 0.9 * blocks < told["visited"][0] <= blocks and len(used) < 3000:
        yield "%d blocks are in use, and mimalloc says %s" % (blocks, told["visited"])
    rows = [row for row in asked.answer("memory")["allocators"] if row["name"] == name]
    if len(rows) != 1 or rows[0]["blocks"] != blocks:
        yield "`memory` has %s, and not %d blocks in use" % (rows, blocks)
    if asked.allocator != _OWN:
        yield from compare_native(asked, used)


def is_size(allocator, found, known):
    """Of Python's own the program knows what it asked for: classes of sizes are up to a quarter larger, large blocks are whole slices."""
    if allocator != _OWN:
        return found == known
    return known <= found <= known + max(16, known // 4) + (65536 if known > 131072 else 0)


def compare_native(asked, used):
    sizes = {row["size"]: row["count"] for row in asked.answer("native", "-n", "0")["sizes"]}
    for size, count in collections.Counter(used.values()).items():
        if sizes.get(size, 0) < count:
            yield "`native` has %d blocks of %d bytes, and the program knows of %d" % (sizes.get(size, 0), size, count)


def read_truth(path):
    """Blocks in use by address, those that were freed and not handed out again, and what the allocator said."""
    used, freed, told = {}, set(), {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            what, *numbers = line.split()
            if what == "used":
                used[int(numbers[0], 16)] = int(numbers[1])
            elif what == "free":
                freed.add(int(numbers[0], 16))
            else:
                told[what] = [int(number) for number in numbers]
    return used, freed - set(used), told


def ask_blocks(asked, addresses):
    done = subprocess.run([asked.options.blocks, asked.core], input="".join("%x\n" % address for address in addresses), capture_output=True, text=True,
                          check=True, timeout=600)
    found, totals = {}, {}
    for line in done.stdout.splitlines():
        first, second, *rest = line.split()
        if first == "total":
            totals[second] = tuple(int(number) for number in rest)
        else:
            found[int(first, 16)] = None if second == "none" else (int(second, 16), int(rest[0]), rest[1])
    return found, totals


if __name__ == "__main__":
    raise SystemExit(main())
