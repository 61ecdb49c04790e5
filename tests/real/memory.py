#!/usr/bin/env python3
"""Little memory: what does not fit lies in files, and every answer is the same; or the question is refused before the work.

    memory.py --heapsift build/dev/heapsift [--interpreter PATH] [--work FOLDER]

One core of some 600,000 objects or more, and one of few objects beside 600,000 blocks of C code. Each question is asked as it is, and once more where the process may have little more memory than a
core of a few objects takes (RLIMIT_DATA, which counts memory of its own and no files; an emulator alone would take more): without --memory that ends with `out-of-memory`, with
it in the same bytes. What a small core takes is measured: to read an interpreter's layout from its debug information takes 60 MB.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import cores
import interpreters

_QUESTIONS = ("types", "overview", "suspects", "holders", "types --sort memory", "objects -n 50", "dominators -n 50", "cycles", "gc", "refcounts",
              "arrays", "threads", "threads --redact", "tasks", "why --type Place", "retained --type dict", "doctor", "memory", "native", "lines", "duplicates -n 50", "waste", "types --no-native")
_QUESTIONS_OF_BLOCKS = ("types", "dominators -n 50", "native", "show --retained main().heads")
_BENCHMARKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benchmarks")
_MORE_BYTES = 20_000_000  # than a small core takes, for small arrays
_FEWEST_OBJECTS, _FEW_OBJECTS, _BLOCKS = 600_000, 1000, 600_000
_NEEDED_BYTES_AN_OBJECT, _NEEDED_BYTES_A_BLOCK = 78, 59
_failures = []


def main():
    parser = argparse.ArgumentParser(description="asks with little memory")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreter", default="/usr/bin/python3", metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], help="not used: one interpreter is enough")
    parser.add_argument("--work", metavar="FOLDER", default="/var/tmp", help="on a disk, not in memory")
    options = parser.parse_args()
    interpreter = next(iter(interpreters.find({}, None, [options.interpreter])), None)
    if interpreter is None:
        sys.exit("%s is no Python that heapsift reads" % options.interpreter)
    kind = "gcore" if cores.why_no_kernel_cores() else "kernel"
    work = tempfile.mkdtemp(prefix="heapsift-memory-", dir=options.work)
    try:
        def core_of(program, count, *more):
            folder = os.path.join(work, program + str(count))
            os.mkdir(folder)
            return cores.take_at_rest(interpreter, [os.path.join(_BENCHMARKS, program), str(count), *more], kind, folder, os.path.join(folder, "ready"))[0]

        heapsift, cache = os.path.abspath(options.heapsift), os.path.join(work, "cache")
        least = least_memory(Asked(heapsift, core_of("mixed_heap.py", _FEW_OBJECTS, "aged"), cache))
        asked = Asked(heapsift, core_of("mixed_heap.py", max(_FEWEST_OBJECTS, 2 * least // _NEEDED_BYTES_AN_OBJECT), "aged"), cache)
        check_answers(asked, _QUESTIONS, least + _MORE_BYTES)
        check_refusals(asked)
        shutil.rmtree(cache, ignore_errors=True)
        # What is needed for a small core may be given back before the blocks are looked at (an interpreter's debug information).
        blocks = max(_BLOCKS, 3 * least // _NEEDED_BYTES_A_BLOCK)
        check_blocks(Asked(heapsift, core_of("native_heap.py", blocks), cache), least + _MORE_BYTES)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%s: %d failures" % (interpreter.name, len(_failures)))
    return 1 if _failures else 0


class Asked:
    def __init__(self, heapsift, core, folder):
        self.heapsift, self.core, self.folder = heapsift, core, folder

    def ask(self, question, *more, memory=None):
        """(exit code, JSON, standard error); `memory`: bytes that the process may have of its own."""
        def limited():
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

        done = subprocess.run([self.heapsift, *question.split(), "--core", self.core, "--index-dir", self.folder, "--json", "-j", "1", *more],
                              capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "HEAPSIFT_STATE": "off", "HEAPSIFT_EMULATION": "off"},
                              timeout=600, preexec_fn=limited if memory else None)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def fail(case, what):
    _failures.append(case)
    print("FAIL  %s: %s" % (case, what), flush=True)


def least_memory(asked):
    """Bytes without which not even a core of a few objects is read."""
    for memory in range(10_000_000, 500_000_000, 5_000_000):
        if asked.ask("types", "--no-index", memory=memory)[0] == 0:
            return memory
    sys.exit("types needs more than 500 MB for a small core")


def check_answers(asked, questions, memory):
    refused_for_memory = in_files = 0
    for question in questions:
        expected = asked.ask(question, "--no-index")
        if expected[0] != 0:
            fail(question, "exit %d: %s" % (expected[0], expected[2]))
        if b'"out-of-memory"' in asked.ask(question, "--no-index", memory=memory)[1]:
            refused_for_memory += 1
        got = asked.ask(question, "--no-index", "--memory", "1M", memory=memory)
        if got[:2] != expected[:2]:
            fail(question, "in files: exit %d, %s" % (got[0], got[2].strip()[-300:] or "another answer"))
        in_files += "its columns lie in" in got[2]
        if os.listdir(asked.folder):
            fail(question, "left behind: %s" % os.listdir(asked.folder))
    for question in ("types", "overview", "types"):  # with an index: written from files, then read
        got = asked.ask(question, "--memory", "1M", memory=memory)
        if got[:2] != asked.ask(question, "--no-index")[:2]:
            fail(question, "with an index: exit %d: %s" % (got[0], got[2]))
    if not [name for name in os.listdir(asked.folder) if name.endswith(".index")]:
        fail("index", "none was written")
    print("%d questions with %d MB of memory: without --memory %d end for want of it, with it %d lie in files" %
          (len(questions), memory // 1_000_000, refused_for_memory, in_files), flush=True)
    if refused_for_memory < len(questions) // 2 or in_files < len(questions) // 2:
        fail("answers", "the limits are too wide: nothing was shown")


def check_refusals(asked):
    """A folder in memory, where there is one, and none at all: refused, with the need, which is that of the objects."""
    shutil.rmtree(asked.folder)
    objects = json.loads(asked.ask("types --sort memory", "--no-index")[1])["data"]["total"]["count"]
    if not is_in_memory("/dev/shm"):
        print("not tested here: a folder in memory, for /dev/shm is none")
    in_memory = tempfile.mkdtemp(prefix="heapsift-memory-", dir="/dev/shm")
    try:
        cases = [("tmpfs", ["--index-dir", in_memory])] if is_in_memory("/dev/shm") else []
        for case, more in [*cases, ("no folder", ["--index-dir", "/proc/none"])]:
            code, out, errors = asked.ask("types", "--no-index", "--memory", "20M", *more)
            error = json.loads(out)["error"] if out else {}
            if code != 1 or error.get("code") != "too-little-memory" or "--memory allows 20.0 MiB" not in errors:
                fail(case, "exit %d: %s" % (code, errors))
            needed, said = objects * _NEEDED_BYTES_AN_OBJECT / 2**20 + 64, re.search(r"needs some ([\d.]+) MiB", errors)
            if not said or not needed - 0.1 < float(said[1]) < needed + 1:  # some blocks of C code are there too
                fail(case, "%.1f MiB needed, says: %s" % (needed, errors))
        if os.listdir(in_memory):
            fail("tmpfs", "left behind: %s" % os.listdir(in_memory))
        got = asked.ask("types", "--no-index", "--memory", "2G", "--index-dir", in_memory)
        if got[:2] != asked.ask("types", "--no-index")[:2] or got[2]:
            fail("enough memory", "exit %d: %s" % (got[0], got[2]))
    finally:
        shutil.rmtree(in_memory)
    print("refused with the need", flush=True)


def check_blocks(asked, memory):
    """Blocks of C code take as much as objects, and are seen before the work."""
    check_answers(asked, _QUESTIONS_OF_BLOCKS, memory)
    blocks = json.loads(asked.ask("native", "--no-index")[1])["data"]["total"]["count"]
    room = str(blocks * _NEEDED_BYTES_AN_OBJECT // 2 + (64 << 20))
    for question in ("types", "types --no-native"):
        code, out, errors = asked.ask(question, "--no-index", "--memory", room, "--index-dir", "/proc/none")
        refused = bool(out) and (json.loads(out).get("error") or {}).get("code") == "too-little-memory"
        if refused != (question == "types") or code != int(refused):
            fail("blocks", "%s: exit %d: %s" % (question, code, errors))


def is_in_memory(folder):
    with open("/proc/mounts", encoding="utf-8") as mounts:
        return any(line.split()[1:3] == [folder, "tmpfs"] for line in mounts)


if __name__ == "__main__":
    sys.exit(main())
