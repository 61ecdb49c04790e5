#!/usr/bin/env python3
"""The second question at once: with an index at hand, an answer about a large core takes little more than the same about a small one.

    index_speed.py --heapsift build/release/heapsift [--interpreter PATH] [--objects N] [--blocks N] [--work FOLDER]

Three cores: of a few objects; of half a million, aged; and of a million blocks of C code. Each question is asked of each until its answer is kept.
From then on it may take at most 2.5 times the CPU time of the small core's, and 5 ms (the lowest of five runs, in turn): what it
found is not found anew, and neither are malloc's heaps. As JSON the answer is the one without an index.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cores
import interpreters

# Each takes a while without an index: the objects, their graph, paths to all of them, the blocks of C code, debug information.
_QUESTIONS = ("types", "types --sort memory", "types --by-holder", "types --by-holder --type {type}", "overview", "objects", "objects --type {type}",
              "dominators", "cycles", "gc", "refcounts", "memory", "memory --regions", "native", "threads", "threads --native", "doctor",
              "show {object}", "why {object}", "why {object} --paths 3", "why --type {type}", "referents {object}", "referrers {object}",
              "retained {object}", "retained --type {type}")
_TIMES, _MORE, _RUNS = 2.5, 0.005, 5
_BENCHMARKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benchmarks")
_failures = []


def main():
    parser = argparse.ArgumentParser(description="asks twice, and looks at the clock")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--objects", type=int, default=500_000)
    parser.add_argument("--blocks", type=int, default=1_000_000)
    parser.add_argument("--work", metavar="FOLDER", default="/var/tmp")
    options = parser.parse_args()
    interpreter = next(iter(interpreters.find({}, None, [options.interpreter])), None)
    if interpreter is None:
        sys.exit("%s is no Python that heapsift reads" % options.interpreter)
    kind = "gcore" if cores.why_no_kernel_cores() else "kernel"
    work = tempfile.mkdtemp(prefix="heapsift-speed-", dir=options.work)
    try:
        def asked(name, program, *more):
            folder = os.path.join(work, name)
            os.mkdir(folder)
            return Asked(os.path.abspath(options.heapsift), name, cores.take_at_rest(
                interpreter, [os.path.join(_BENCHMARKS, program), *more], kind, folder, os.path.join(folder, "ready"))[0])

        small = asked("small", "mixed_heap.py", "1000", "aged")
        for large in (asked("objects", "mixed_heap.py", str(options.objects), "aged"), asked("blocks", "native_heap.py", str(options.blocks))):
            compare(large, small)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%s: %d failures" % (interpreter.name, len(_failures)))
    return 1 if _failures else 0


class Asked:
    def __init__(self, heapsift, name, core):
        self.heapsift, self.name, self.core = heapsift, name, core
        self.folder = os.path.join(os.path.dirname(core), "index")
        self.ask("index")
        kind = json.loads(self.ask("types", "-n", "1", "--json"))["data"]["types"][0]["name"]
        largest = json.loads(self.ask("objects", "--sort", "retained", "-n", "1", "--json"))["data"]["objects"][0]["address"]
        self.words = {"type": kind, "object": largest}

    def command(self, question, *more):
        return [self.heapsift, *(word.format(**self.words) for word in question.split()), *more, "--core", self.core]

    def ask(self, *words):
        return self.run([self.heapsift, *words, "--core", self.core, "--index-dir", self.folder])[0]

    def run(self, command):
        """(what it prints, CPU seconds)"""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                   env={**os.environ, "HEAPSIFT_STATE": "off"})
        out = process.stdout.read()
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            fail(self.name, "%s: exit %d" % (" ".join(command), process.returncode))
        return out, spent.ru_utime + spent.ru_stime


def fail(case, what):
    _failures.append(case)
    print("FAIL  %s: %s" % (case, what), flush=True)


def answer(out):
    """Without what doctor says of the index itself."""
    document = json.loads(out)
    if document["schema"].startswith("heapsift.doctor/"):
        document["data"].pop("index", None)
    return document


def compare(large, small):
    slowest = (0, "")
    for question in _QUESTIONS:
        anew = answer(large.run(large.command(question, "--json", "--no-index", "-n", "50"))[0])
        for turn in ("found", "kept"):
            if answer(large.run(large.command(question, "--json", "-n", "50", "--index-dir", large.folder))[0]) != anew:
                fail(large.name, "%s: another answer with an index, %s" % (question, turn))
        both = [[one.run(one.command(question, "--index-dir", one.folder))[1] for one in (small, large)] for _ in range(_RUNS + 1)][1:]
        of_small, of_large = (min(times) for times in zip(*both))
        slowest = max(slowest, (of_large / (_TIMES * of_small + _MORE), "%s: %.0f ms, of the small core %.0f ms" % (
            question, of_large * 1000, of_small * 1000)))
        if of_large > _TIMES * of_small + _MORE:
            fail(large.name, "%s takes %.0f ms, of the small core %.0f ms" % (question, of_large * 1000, of_small * 1000))
    print("%s: %d questions; the slowest: %s" % (large.name, len(_QUESTIONS), slowest[1]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
