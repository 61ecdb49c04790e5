#!/usr/bin/env python3
"""The index of a core: with it and without it, every answer is the same, whatever happened to its file.

    index.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--programs zoo …]

For each interpreter and program a core is taken and asked everything as JSON: without an index, on one thread; on four threads with one that
these questions fill as they go; on the first core in another order, and with one that `index` made on two threads. Bytes and exit codes must
be equal. Then the index is cut at 40 places, 80 times some of its bits are flipped, the same is done to what is kept of answers, its writers are killed, two write at once, the disk is
full, the folder cannot be written, the core changes: the answers stay the same, and standard error says what was found.
"""

import argparse
import glob
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import cores
import harness

_QUESTIONS = (
    "types", "overview", "objects", "objects --sort retained -n 300", "types --sort memory", "types --sort count -n 7", "types --by-holder", "holders -n 60", "dominators",
    "suspects", "cycles", "cycles --all", "gc", "refcounts", "arrays", "threads", "doctor", "why --type dict", "retained --type list", "types --by-holder --type dict -n 9", "arrays --waste", "threads --native", "threads --tasks", "tasks", "tasks -n 5", "memory --regions", "native", "lines", "duplicates", "duplicates -n 9", "waste",
    "native --leaked -n 4", "memory", "memory --redact", "native --redact", "objects --redact -n 300", "threads --redact",
    # As if C code owned nothing: another index, beside the first.
    "overview --no-native", "types --no-native", "dominators --no-native", "cycles --all --no-native", "retained --type dict --no-native",
    "memory --regions --no-native", "native --no-native",
)
_OF_AN_OBJECT = ("show", "show --retained", "why", "why --paths 3", "referrers", "referents", "retained", "dominators", "show --retained --no-native",
                 "why --no-native")
_OF_A_BLOCK = ("show", "show --retained", "why", "show --no-native", "why --no-native")
_failures = []


def main():
    parser = argparse.ArgumentParser(description="asks everything with an index and without")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--programs", nargs="*", default=["zoo"])
    parser.add_argument("--kinds", nargs="*", default=["kernel"])
    parser.add_argument("--damages", type=int, default=80, metavar="N")
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "index")
    heapsift = os.path.abspath(options.heapsift)
    damaged = False
    for interpreter in found:
        for program in options.programs:
            try:
                taken = cores.take(interpreter, program, kinds[0], work)
            except cores.NoCore as reason:
                failures.append("%s %s: %s" % (interpreter.name, program, reason))
                continue
            try:
                asked = Asked(heapsift, taken, interpreter.tree)
                check_equal(asked, "%s %s" % (interpreter.name, program), ("first",) if damaged else ("second", "index"))
                if not damaged:
                    check_damage(asked, options.damages)
                    check_damaged_answers(asked, options.damages // 2)
                    check_writers(asked, options.damages)
                    check_places(asked, taken)
                damaged = True
            finally:
                taken.delete()
    return harness.end(failures + _failures)


class Asked:
    def __init__(self, heapsift, taken, sysroot):
        self.heapsift, self.core, self.folder = heapsift, taken.core, os.path.join(taken.folder, "indexes")
        self.sysroot = sysroot
        self.expected = {}

    def command(self, question, *more):
        line = [self.heapsift, *question.split(), "--core", self.core, "--index-dir", self.folder, *more]
        return line + (["--sysroot", self.sysroot] if self.sysroot else [])

    def ask(self, question, *more):
        """(exit code, what is printed without what doctor says of the index itself, standard error)"""
        done = subprocess.run(self.command(question, *more), capture_output=True, stdin=subprocess.DEVNULL, env=environment(), timeout=600)
        out = done.stdout
        if question == "doctor":
            document = json.loads(out)
            document["data"].pop("index", None)
            out = json.dumps(document).encode()
        return done.returncode, out, done.stderr.decode(errors="replace")

    def questions(self):
        if not self.expected:
            for question in _QUESTIONS:
                self.expected[question] = self.ask(question, "--json", "--no-index", "-j", "1")[:2]
            rows = json.loads(self.expected["objects --sort retained -n 300"][1])["data"]["objects"]
            picked = [row["address"] for row in rows[::75]] + [row["address"] for row in rows if row["state"] not in ("reachable", None)][:2]
            for address in picked:
                for question in _OF_AN_OBJECT:
                    words = question.split()
                    question = " ".join([words[0], address, *words[1:]])
                    self.expected[question] = self.ask(question, "--json", "--no-index", "-j", "1")[:2]
            for block in self.blocks():
                for question in _OF_A_BLOCK:
                    words = question.split()
                    question = " ".join([words[0], block, *words[1:]])
                    self.expected[question] = self.ask(question, "--json", "--no-index", "-j", "1")[:2]
        return list(self.expected)

    def blocks(self):
        """Some blocks of C code: held by Python, held by a module, leaked."""
        data = json.loads(self.expected["native"][1])["data"]
        rows = [*data["sizes"], *data["classes"]]
        kinds = (lambda row: row["from_python"], lambda row: row["holder"] and not row["holder_is_type"], lambda row: row["leaked"])
        return sorted({row["example"] for of_kind in kinds for row in [row for row in rows if of_kind(row)][:2]})

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def indexes(self):
        return glob.glob(os.path.join(self.folder, "*.index"))

    def index(self):
        """The path of the only one; None if there is none."""
        found = self.indexes()
        assert len(found) <= 1
        return found[0] if found else None

    def wrong(self, question, *more):
        """What is wrong with the answer now; None if nothing is."""
        got = self.ask(question, "--json", *more)
        if got[0] != self.expected[question][0]:
            return "exit %d instead of %d: %s" % (got[0], self.expected[question][0], got[2].strip()[-200:])
        return None if got[1] == self.expected[question][1] else "another answer"


def environment():
    return {**os.environ, "HEAPSIFT_STATE": "off"}


def fail(case, what):
    _failures.append("%s: %s" % (case, what))
    print("FAIL  %s: %s" % (case, what), flush=True)


def check_equal(asked, name, orders):
    began = time.monotonic()
    questions = asked.questions()
    if os.path.exists(asked.folder):
        fail(name, "--no-index made a folder")
    for order in orders:
        asked.forget()
        if order == "index":
            code, _, errors = asked.ask("index", "-j", "2")
            if code not in (0, 3) or not asked.index():
                fail(name, "index: exit %d: %s" % (code, errors))
        ordered = questions[::-1] if order == "second" else questions
        for turn in ("filling", "warm"):
            for question in ordered:
                wrong = asked.wrong(question, "-j", "4")
                if wrong:
                    fail(name, "%s, %s %s: %s" % (question, order, turn, wrong))
        found = asked.indexes()
        if len(found) != 2:
            fail(name, "%d indexes; with native memory and without there are 2" % len(found))
        if [path for path in found if os.stat(path).st_mode & 0o777 != 0o600]:
            fail(name, "an index may be read by others")
    left = [file for file in os.listdir(asked.folder) if not file.endswith((".index", ".answers", ".checked", ".names"))]
    if left:
        fail(name, "left over: %s" % left)
    size, core = max(map(os.path.getsize, asked.indexes())), os.path.getsize(asked.core)
    print("%-30s %3d questions, %d times each; index %.2f of the core; %.0f s" % (name, len(questions), 2 * len(orders), size / core, time.monotonic() - began), flush=True)


def check_damage(asked, count):
    """Each damage on a fresh copy of a whole index; a question that needs most parts, and one more."""
    asked.forget()
    asked.ask("index")
    path = asked.index()
    whole = open(path, "rb").read()
    chance = random.Random(5)
    questions = [question for question in asked.questions() if question.split()[0] in ("types", "why", "show", "cycles", "objects", "overview", "arrays", "native")
                 and "--no-native" not in question]
    said = 0
    for number in range(2 * count):
        broken = bytearray(whole)
        if number < count:
            broken = broken[:chance.randrange(len(whole))] if number % 4 else broken[:number * 512]
        else:
            for _ in range(chance.choice((1, 1, 3, 50))):
                place = chance.choice((chance.randrange(len(broken)), chance.randrange(4600), 4096 + chance.randrange(600), 8192 + chance.randrange(4096)))
                broken[place] ^= 1 << chance.randrange(8)
        os.unlink(path)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(broken)
        if os.path.exists(path + ".answers"):
            os.unlink(path + ".answers")  # or the columns would not be read
        question = chance.choice(questions)
        got = asked.ask(question, "--json")
        if got[:2] != asked.expected[question]:
            fail("damage %d" % number, "%s: exit %d, %s" % (question, got[0], got[2].strip()[-200:] or "another answer"))
        said += "is damaged" in got[2]
    if said < count // 4:
        fail("damage", "only %d of %d were noticed" % (said, 2 * count))
    print("damage: %d kinds, %d noticed by the question that was asked" % (2 * count, said), flush=True)


def check_damaged_answers(asked, count):
    """What is kept of answers is cut, its bits are flipped, or it is another core's; the columns are whole."""
    asked.forget()
    asked.ask("index")
    path = asked.index() + ".answers"
    questions = [question for question in asked.questions() if question.split()[0] in ("types", "objects", "overview", "suspects", "cycles", "gc", "refcounts", "arrays", "doctor", "dominators")
                 and "--no-native" not in question]
    for question in questions:
        asked.ask(question, "--json")
    whole = open(path, "rb").read()
    chance = random.Random(6)
    for number in range(count):
        broken = bytearray(whole)
        if number % 3 == 0:
            broken = broken[:chance.randrange(len(whole))]
        else:
            for _ in range(chance.choice((1, 3, 300))):
                broken[chance.choice((chance.randrange(len(broken)), chance.randrange(4600)))] ^= 1 << chance.randrange(8)
        os.unlink(path)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(broken)
        question = chance.choice(questions)
        wrong = asked.wrong(question)
        if wrong:
            fail("damaged answers %d" % number, "%s: %s" % (question, wrong))
    print("damaged answers: %d kinds" % count, flush=True)


def check_writers(asked, count):
    """Killed at `count` moments of the run that writes; and four at once."""
    asked.forget()
    began = time.monotonic()
    subprocess.run(asked.command("index"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    whole = time.monotonic() - began
    chance = random.Random(9)
    kept = 0
    for number in range(count):
        if number % 2:
            asked.forget()
        process = subprocess.Popen(asked.command("index"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        time.sleep(whole * (0.5 + 0.5 * chance.random()) if number % 3 else whole * chance.random())
        process.send_signal(signal.SIGKILL if number % 5 else signal.SIGINT)
        process.wait()
        kept += asked.index() is not None
        if number % 4 == 0:
            wrong = asked.wrong("types")
            if wrong:
                fail("killed %d" % number, wrong)
    asked.forget()
    several = [subprocess.Popen(asked.command(question, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
               for question in ("types", "overview", "types", "cycles")]
    for question, process in zip(("types", "overview", "types", "cycles"), several):
        out, _ = process.communicate()
        if out != asked.expected[question][1]:
            fail("four at once", question)
    for question in ("types", "overview", "cycles"):
        wrong = asked.wrong(question)
        if wrong:
            fail("after four at once", "%s: %s" % (question, wrong))
    print("writers: killed at %d moments, %d left an index; four at once" % (count, kept), flush=True)


def check_places(asked, taken):
    """A full disk, a folder that cannot be made, an old index, a limit, a copy of the program, another core at the same path."""
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    asked.forget()
    done = subprocess.run(asked.command("types", "--json"), capture_output=True, env=environment(), preexec_fn=limited)
    if (done.returncode, done.stdout) != asked.expected["types"] or b"no room" not in done.stderr or asked.index():
        fail("full disk", "exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")))

    in_the_way = os.path.join(taken.folder, "a-file")
    open(in_the_way, "w").close()
    done = subprocess.run(asked.command("types", "--json", "--index-dir", os.path.join(in_the_way, "x")), capture_output=True, env=environment())
    if (done.returncode, done.stdout) != asked.expected["types"] or b"cannot be written" not in done.stderr:
        fail("no folder", "exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")))

    asked.forget()
    os.makedirs(asked.folder)
    old = os.path.join(asked.folder, "old-0.index")
    with open(old, "wb") as file:
        file.truncate(50_000_000)
    os.utime(old, (1, 1))
    done = subprocess.run(asked.command("types", "--json"), capture_output=True, env={**environment(), "HEAPSIFT_INDEX_LIMIT": "40M"})
    if done.stdout != asked.expected["types"][1] or os.path.exists(old) or not asked.index():
        fail("limit", "the oldest index did not go: %s" % done.stderr.decode(errors="replace"))

    # A copy of the program is the same program, whenever it was made.
    asked.ask("types", "--json")
    before = os.stat(asked.index())
    program, asked.heapsift = asked.heapsift, os.path.join(taken.folder, "heapsift-copy")
    shutil.copy(program, asked.heapsift)
    os.utime(asked.heapsift, (1, 1))
    got = asked.ask("types", "--json")
    now = os.stat(asked.index())
    if got[:2] != asked.expected["types"] or "made anew" in got[2] or (now.st_ino, now.st_mtime_ns) != (before.st_ino, before.st_mtime_ns):
        fail("a copy of the program", "exit %d: %s" % (got[0], got[2]))
    os.unlink(asked.heapsift)
    asked.heapsift = program

    # Another core at the same path: one byte less of its last page, and the time set back.
    taken.own()
    status = os.stat(asked.core)
    with open(asked.core, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    got = asked.ask("types", "--json")
    if got[:2] != asked.expected["types"] or "made anew" not in got[2]:
        fail("another core", "exit %d: %s" % (got[0], got[2]))
    os.utime(asked.core, ns=(status.st_atime_ns, status.st_mtime_ns))
    print("places: full disk, no folder, limit, a copy of the program, another core", flush=True)


if __name__ == "__main__":
    sys.exit(main())
