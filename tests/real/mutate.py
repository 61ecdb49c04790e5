#!/usr/bin/env python3
"""Overwrites random words of real heaps and asks heapsift about each: no crash, no hang, no absurd number, and damage is reported.

    mutate.py --heapsift build/dev/heapsift [--mutants 40] [--tree trixie=DIR] [--versions DIR] [--interpreters 3.11 …] [--seed 7]

A mutant is a real core in which 1 to 20,000 words of writable memory are overwritten in place, and restored afterwards. The words: any; those
that are not zero; or those of one kind: type objects, the collector's heads, lengths and keys tables, pool headers, chunk headers, the
interpreter's and threads' state. The new values: random bits, small numbers, powers of two, addresses of other words of the heap, the old
value plus a little, the old value's sign-extended lower half. Each mutant is asked for `types`, `objects` or `doctor`, in turn.

An answer must be as damage.py says, and come within twice the time of the good core plus half a second. Exit 1 if one does not.
"""

import argparse
import os
import random
import shutil
import struct
import sys
import tempfile

import cores
import damage
import interpreters

_QUESTIONS = (["types"], ["objects", "-n", "200", "--sort", "retained"], ["doctor"], ["threads"], ["memory"], ["native"])
_COUNTS = (1, 3, 10, 100, 1000, 5000, 20000)
_EXTRA_SECONDS = 0.5
_PAGE = 4096
_READY, _POOLS = 1 << 12, 16384


class Core:
    """A core whose words can be overwritten and restored."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "r+b")
        self.mapped = damage.mapped_bytes(path)
        self.segments = []  # address, file offset, words
        header = self._read(0, 64)
        start, count = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<H", header, 56)[0]
        for i in range(count):
            kind, flags, offset, address, _, size, _, _ = struct.unpack("<IIQQQQQQ", self._read(start + 56 * i, 56))
            if kind == 1 and flags & 2 and size >= 8:
                self.segments.append((address, offset, struct.unpack("<%dQ" % (size // 8), self._read(offset, size // 8 * 8))))
        self.groups = self._find_groups()
        self.undo = []

    def _read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def _find_groups(self):
        """File offsets of words worth overwriting, by kind; they are recognised by their shape."""
        groups = {name: [] for name in ("any", "types", "collector", "lengths", "pools", "chunks", "state")}
        start_of = {}
        self.addresses = []
        for address, offset, words in self.segments:
            start_of[address] = (offset, words)
            self.addresses += [address + 8 * i for i in range(0, len(words), max(1, len(words) // 4096))]
        lowest, highest = min(start_of), max(address + 8 * len(start_of[address][1]) for address in start_of)
        type_type = self._type_type(lowest, highest)
        for address, offset, words in self.segments:
            for i in range(len(words) - 1):
                word, after, at = words[i], words[i + 1], offset + 8 * i
                if word:
                    groups["any"].append(at)
                if after == type_type and 0 < word < 1 << 33:
                    groups["types"] += [at + 8 * k for k in range(0, min(50, len(words) - i))]
                elif 0 < word < 10000 and lowest <= after < highest and after % 16 == 0:  # a count and a type: an object
                    groups["lengths"] += [at, at + 8, at + 16, at + 24, at + 32][: len(words) - i]
                if lowest <= word < highest and lowest <= after < highest and not word & 7 and not after & 7:
                    groups["collector"].append(at)
                if (address + 8 * i) % _PAGE == 0 and 0 < word < 1024:
                    groups["pools"] += [at, at + 8, at + 16, at + 24, at + 32, at + 40][: len(words) - i]
                if word & 7 == 1 and 32 <= word < 1 << 20 and i % 2 == 1:
                    groups["chunks"].append(at)
            if lowest <= address and len(words) <= 65536:
                groups["state"] += [offset + 8 * i for i in range(len(words)) if words[i]]
        return {name: found for name, found in groups.items() if found}

    def _type_type(self, lowest, highest):
        for address, _, words in self.segments:
            for i in range(1, len(words)):
                if words[i] == address + 8 * (i - 1) and i + 20 < len(words) and words[i - 1] < 1 << 33:
                    return words[i]
        return None

    def overwrite(self, offset, value):
        self.undo.append((offset, self._read(offset, 8)))
        self.file.seek(offset)
        self.file.write(struct.pack("<Q", value & (1 << 64) - 1))

    def restore(self):
        for offset, old in reversed(self.undo):
            self.file.seek(offset)
            self.file.write(old)
        self.undo = []
        self.file.flush()

    def mutate(self, chance):
        group = chance.choice(sorted(self.groups))
        count = min(chance.choice(_COUNTS), len(self.groups[group]))
        way = chance.choice(("random", "small", "power", "pointer", "off", "sign", "mixed"))
        for offset in chance.sample(self.groups[group], count):
            self.overwrite(offset, self._value(chance, way, struct.unpack("<Q", self._read(offset, 8))[0]))
        self.file.flush()
        return "%d words of %s, %s" % (count, group, way)

    def _value(self, chance, way, old):
        if way == "mixed":
            way = chance.choice(("random", "small", "power", "pointer", "off", "sign"))
        if way == "random":
            return chance.getrandbits(64)
        if way == "small":
            return chance.randrange(0, 300)
        if way == "power":
            return (1 << chance.randrange(64)) - chance.randrange(2)
        if way == "pointer":
            return chance.choice(self.addresses)
        if way == "off":
            return old + chance.choice((-16, -8, -1, 1, 8, 16))
        return old & 0xffffffff | (0xffffffff << 32 if old & 1 << 31 else 0)


def main():
    options = parse()
    work = tempfile.mkdtemp(prefix="heapsift-mutate-", dir=options.work)
    try:
        found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
        if not found:
            print("failed: no interpreter was found")
            return 1
        print("%-16s %-7s %8s %7s %7s %7s %8s %8s  %s" % (
            "interpreter", "core", "mutants", "exit 0", "exit 3", "exit 1", "longest", "good", "warnings"), flush=True)
        failures = []
        for n, interpreter in enumerate(found):
            share = options.mutants // len(found) + (n < options.mutants % len(found))
            failures += run(options, interpreter, share, work)
        for failure in failures:
            print("failed: " + failure)
        return 1 if failures else 0
    finally:
        shutil.rmtree(work, ignore_errors=True)


def parse():
    parser = argparse.ArgumentParser(description="overwrites random words of real heaps")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--mutants", type=int, default=40, metavar="N", help="of all interpreters together")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--program", default="plain", help="of testdata/programs")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", metavar="DIR", default="/var/tmp", help="where cores are taken")
    parser.add_argument("--keep", metavar="DIR", help="copies of the mutants that failed")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run(options, interpreter, mutants, work):
    kind = "kernel" if cores.why_no_kernel_cores() is None else "gcore"
    try:
        taken = cores.take(interpreter, options.program, kind, work)
    except cores.NoCore as reason:
        return ["%s: %s" % (interpreter.name, reason)]
    try:
        taken.own()
        return mutate_core(options, interpreter, kind, taken.core, mutants, work)
    finally:
        taken.delete()


def mutate_core(options, interpreter, kind, path, mutants, work):
    core = Core(path)
    sysroot = ["--sysroot", interpreter.tree] if interpreter.tree else []
    good, failures, codes, told, longest = {}, [], {0: 0, 1: 0, 3: 0}, {}, 0

    def ask(question, timeout):
        return damage.Answer([options.heapsift, *question, path, "--json", *sysroot], work, timeout, core.mapped)

    for question in _QUESTIONS:
        answers = [ask(question, 300) for _ in range(3)]
        for answer in answers:
            if answer.code != 0 or answer.faults:
                failures.append("%s: the good core: %s: exit %s %s" % (interpreter.name, question[0], answer.code, answer.faults or answer.warnings()))
        good[question[0]] = max(answer.seconds for answer in answers)
    for n in range(mutants):
        question = _QUESTIONS[n % len(_QUESTIONS)]
        seed = "%d/%s/%d" % (options.seed, interpreter.name, n)
        what = core.mutate(random.Random(seed))
        limit = 2 * good[question[0]] + _EXTRA_SECONDS
        answer = ask(question, max(20 * limit, 30))
        if answer.seconds > limit and not answer.faults:  # the machine may have been busy
            answer = ask(question, max(20 * limit, 30))
            if answer.seconds > limit:
                answer.faults.append("%.2f seconds, the good core takes %.2f" % (answer.seconds, good[question[0]]))
        if answer.faults:
            failures.append("%s %s (mutant %s: %s): %s" % (interpreter.name, question[0], seed, what, "; ".join(answer.faults)))
            if options.keep:
                shutil.copy(path, os.path.join(options.keep, "%s-%d" % (interpreter.name.replace(" ", "-"), n)))
        core.restore()
        longest = max(longest, answer.seconds / good[question[0]])
        if answer.code in codes:
            codes[answer.code] += 1
        for code in answer.warnings():
            told[code] = told.get(code, 0) + 1
    print("%-16s %-7s %8d %7d %7d %7d %7.1fx %7.2fs  %s" % (
        interpreter.name, kind, mutants, codes[0], codes[3], codes[1], longest, max(good.values()),
        ", ".join("%s %d" % one for one in sorted(told.items(), key=lambda one: -one[1])[:8])), flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
