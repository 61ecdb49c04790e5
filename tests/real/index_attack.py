#!/usr/bin/env python3
"""The index of a core under attack: whatever happens to its file, every answer is the one without it, and nothing crashes.

    index_attack.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--kills 100] [--flips 10000]
                    [--other PATH] [--short]

For each interpreter a core is taken and asked as JSON without an index. Then its index is killed while it is written (at random
moments and, with strace, at each of its writes), cut at the beginning, the middle and the end of every blob, bit-flipped (in place,
and as a new file), put in the place of another core's and of another build's (`--other`, else a copy of the program with
another build-id), written to full disks and to folders that cannot be written, written by two at once, cut while it is read; and the core is
rewritten in place with its old time. The unpacked copy of the compressed core is attacked likewise, and commands are interrupted.
Bytes and exit code of each answer must be those without an index. `--short` is the form that ctest runs. It works under the
sanitizers as well: their reports are failures.
"""

import argparse
import collections
import glob
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import types

import cores
import harness
import index
from index import fail

_WHOLE = (".index", ".answers", ".checked", ".names", ".unpacked")  # files of the cache that may stay

_QUESTIONS = ("types", "types -n 20", "overview", "objects -n 300", "objects --sort retained -n 40", "cycles --all", "gc", "refcounts", "arrays", "threads", "memory --regions", "native",
              "why --type dict", "doctor", "dominators", "types --by-holder")
# Most read one set of parts each; the last two also cost the most.
_QUICK = _QUESTIONS[:-2]
_PAGE, _FIRST_BLOB = 4096, 8192
_REPORTS = ("Sanitizer", "runtime error:", "Assertion", "terminate called", "stack smashing")
_asked = collections.Counter()
_seconds = collections.Counter()


def _copy_as_another_build(program, copy):
    """The program with the first byte of its build-id changed: of a note called GNU, of type 3 (NT_GNU_BUILD_ID), mostly of 20 bytes."""
    with open(program, "rb") as file:
        content = bytearray(file.read())
    at = re.search(rb"\x04\x00{3}[\x08-\x40]\x00{3}\x03\x00{3}GNU\x00", content)
    if not at:
        sys.exit("%s has no build-id to change" % program)
    content[at.end()] ^= 0xff
    with open(copy, "wb") as file:
        file.write(content)
    os.chmod(copy, 0o755)


def main():
    parser = argparse.ArgumentParser(description="attacks the index of a core")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--required", nargs="*", default=[], metavar="3.N")
    parser.add_argument("--program", default="plain")
    parser.add_argument("--kinds", nargs="*", default=["kernel"])
    parser.add_argument("--kills", type=int, default=100, metavar="N")
    parser.add_argument("--flips", type=int, default=10000, metavar="N", help="of all interpreters together")
    parser.add_argument("--other", metavar="PATH", help="another build of heapsift")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="some of the attacks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="as in ctest: one interpreter, fewer of each attack")
    parser.add_argument("--work", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.short:
        options.kills, options.flips = 8, 100
    work, found, kinds, failures = harness.begin(options, "attack")
    taken = []
    for interpreter in found[:1] if options.short else found:
        try:
            taken.append((interpreter, cores.take(interpreter, options.program, kinds[0], work)))
        except cores.NoCore as reason:
            failures.append("%s: %s" % (interpreter.name, reason))
    try:
        victims = [Victim(options, interpreter, core, number) for number, (interpreter, core) in enumerate(taken)]
        for victim in victims:
            victim.attack(options, victims)
    finally:
        for _, core in taken:
            core.delete()
    print("%d answers compared: %s" % (sum(_asked.values()), ", ".join("%s %d (%.0f s)" % (name, count, _seconds[name]) for name, count in _asked.items())))
    return harness.end(failures + index._failures)


class Victim:
    """A core, what is right about it, and its index as it was before an attack."""

    def __init__(self, options, interpreter, taken, number):
        self.name, self.taken = interpreter.name, taken
        self.asked = index.Asked(os.path.abspath(options.heapsift), taken, interpreter.tree)
        self.chance = random.Random(options.seed * 100 + number)
        self.attack_name = ""
        self.every = 8 if options.short else 1  # of the places where a file can be cut, and of the sizes of a disk
        taken.own()  # a link that another test makes or removes is a change of the core
        self.remember()
        self.make_whole()

    def remember(self):
        for question in _QUESTIONS:
            self.asked.expected[question] = self.ask_and_watch(question, "--json", "--no-index")[:2]
        codes = {question: code for question, (code, _) in self.asked.expected.items() if code not in (0, 3)}
        if codes:
            fail(self.name, "no answer without an index: %s" % codes)

    def make_whole(self):
        """An index with every part, and the blobs that its newer slot names."""
        self.asked.forget()
        for question in _QUESTIONS:
            self.ask_and_watch(question, "--json")
        self.path = self.asked.index()
        with open(self.path, "rb") as file:
            self.whole = file.read()
        self.blobs = max(filter(None, map(self.slot, (0, _PAGE))))[1]

    def slot(self, at):
        mark, _, _, generation, used, count = struct.unpack_from("<16s2Q3Q", self.whole, at)
        if not mark.startswith(b"heapsift index"):
            return None
        blobs = [struct.unpack_from("<24s2Q", self.whole, at + 56 + 48 * i) for i in range(count)]
        return generation, [(name.rstrip(b"\0").decode(), offset, size) for name, offset, size in blobs]

    # --- asking

    def ask_and_watch(self, question, *more):
        got = self.asked.ask(question, *more)
        bad = [word for word in _REPORTS if word in got[2]]
        if bad or got[0] not in (0, 1, 2, 3):
            fail("%s, %s" % (self.name, self.attack_name), "%s: exit %d: %s" % (question, got[0], got[2].strip()[-3000:]))
        return got

    def check(self, what, question=None, *more):
        """Asks a question, a quick one if none is given. Returns standard error."""
        question = question or self.chance.choice(_QUICK)
        code, out, errors = self.ask_and_watch(question, "--json", *more)
        _asked[self.attack_name] += 1
        if (code, out) != self.asked.expected[question]:
            fail("%s, %s" % (self.name, self.attack_name), "%s: %s: exit %d, %s" % (what, question, code, errors.strip()[-300:] or "another answer"))
        return errors

    def put(self, content):
        """A new file in the place of the index."""
        os.makedirs(self.asked.folder, exist_ok=True)
        if os.path.lexists(self.path):
            os.unlink(self.path)
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(content)

    def run(self, *command, **more):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=index.environment(), **more)

    def attack(self, options, victims):
        began = time.monotonic()
        others = [victim for victim in victims if victim is not self]
        attacks = {
            "killed": lambda: self.killed(options.kills), "cut": self.cut, "flipped": lambda: self.flipped(options.flips // len(victims)),
            "foreign": lambda: self.foreign(others, options), "full": self.full, "read-only": self.read_only, "two": lambda: self.two(options.kills // 4),
            "cut-while-read": lambda: self.cut_while_read(options.kills // 4), "core": self.core_changes,
            "compressed": lambda: self.compressed(options.kills), "interrupted": lambda: self.interrupted(options.kills),
        }
        for name, attack in attacks.items():
            if options.only and name not in options.only:
                continue
            self.attack_name, since = name, time.monotonic()
            attack()
            _seconds[name] += time.monotonic() - since
        print("%-16s index of %d KiB, %d blobs; %.0f s" % (self.name, len(self.whole) >> 10, len(self.blobs), time.monotonic() - began), flush=True)

    # --- attacks

    def killed(self, count):
        """While it writes a new index, and while it adds to one. With strace at each write; else, and besides, at random moments."""
        for adds in (False, True):
            command = self.asked.command("types" if adds else "index", "--json")
            for number in range(count if not adds else count // 2):
                self.before_killing(adds, number)
                began = time.monotonic()
                if number < 2:  # how long it takes
                    self.run(*command).wait()
                    whole = time.monotonic() - began
                    continue
                process = self.run(*command)
                time.sleep(whole * (0.6 + 0.5 * self.chance.random()) if number % 4 else whole * self.chance.random())
                process.kill()
                process.wait()
                self.after_killing("moment %d" % number)
        if not shutil.which("strace"):
            print("no strace: not killed at each write")
            return
        for adds in (False, True):
            writes = 0
            while writes < 4 * count:
                writes += 1 if writes < 40 else 5
                self.before_killing(adds, 1)
                process = self.run("strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=pwrite64,linkat,rename", "-e", "inject=pwrite64,linkat,rename:signal=KILL:when=%d" % writes,
                                   *self.asked.command("cycles" if adds else "index", "--json"))
                if process.wait() == 0:
                    break  # there were fewer writes
                self.after_killing("write %d" % writes)
            if writes < 5:
                fail(self.name, "strace killed nothing")
        left = [file for file in os.listdir(self.asked.folder) if not file.endswith(_WHOLE)]
        if len(left) > 3:  # between being linked and being renamed
            fail(self.name, "killed writers left %s" % left)

    def before_killing(self, adds, number):
        if number % 3 or not os.path.exists(self.path):
            self.asked.forget()
        if adds:
            self.ask_and_watch("gc", "--json")

    def after_killing(self, what):
        for _ in range(2):
            errors = self.check(what)
            if "damaged" in errors:
                fail(self.name, "killed at %s: %s" % (what, errors))

    def cut(self):
        places = {0, 1, 100, _PAGE - 1, _PAGE, _FIRST_BLOB - 1, _FIRST_BLOB, len(self.whole) - 1}
        for _, offset, size in self.blobs[::self.every]:
            places |= {offset, offset + size // 2, offset + size - 1, offset + size}
        for place in sorted(place for place in places if place < len(self.whole)):
            self.put(self.whole[:place])
            for _ in range(2):
                self.check("at %d" % place)
            # With zeros instead of what is gone: as long as before.
            self.put(self.whole[:place] + bytes(len(self.whole) - place))
            self.check("zeros from %d" % place)

    def flipped(self, count):
        noticed = 0
        names = sorted({name for name, _, _ in self.blobs})
        for number in range(count):
            where = self.chance.randrange(4)
            def place():
                if where == 0:
                    return self.chance.choice((0, _PAGE)) + self.chance.randrange(56 + 48 * (len(self.blobs) + 1))
                if where == 1:
                    return self.chance.randrange(len(self.whole))
                name = names[number % len(names)]
                _, offset, size = self.chance.choice([blob for blob in self.blobs if blob[0] == name and blob[2]])
                return offset + self.chance.randrange(size)
            bits = [(place(), 1 << self.chance.randrange(8)) for _ in range(self.chance.choice((1, 1, 1, 2, 60)))]
            if number % 2:
                broken = bytearray(self.whole)
                for at, bit in bits:
                    broken[at] ^= bit
                self.put(broken)
            else:  # in place, after it was found right
                if number % 40 == 0 or not os.path.exists(self.path):
                    self.put(self.whole)
                    time.sleep(0.15)
                    for question in ("types", "cycles --all"):
                        self.check("before", question)
                with open(self.path, "r+b") as file:
                    size = os.fstat(file.fileno()).st_size
                    for at, bit in bits:
                        file.seek(at % size)
                        byte = file.read(1)[0]
                        file.seek(at % size)
                        file.write(bytes((byte ^ bit,)))
            noticed += "is damaged" in self.check("flip %d" % number)
        if noticed < count // 10:
            fail(self.name, "only %d of %d flips were noticed" % (noticed, count))
        print("%-16s %d flips, %d of them in what was asked for" % (self.name, count, noticed), flush=True)

    def foreign(self, others, options):
        for victim in others:
            for question in _QUICK:
                self.put(victim.whole)
                errors = self.check("another core's", question)
                if "another core's" not in errors and question != "doctor":
                    fail(self.name, "another core's index: %s: %s" % (question, errors.strip()))
        other = options.other or os.path.join(self.taken.folder, "heapsift-of-another-build")
        if not options.other:
            _copy_as_another_build(self.asked.heapsift, other)
        self.asked.forget()
        own, self.asked.heapsift = self.asked.heapsift, other
        self.asked.ask("index")
        self.asked.heapsift = own
        errors = self.check("another build's", "types")
        if "another build's" not in errors:
            fail(self.name, "another build's index: %s" % errors.strip())
        self.check("another build's, replaced")
        # By turns, as two who use two versions do.
        for number in range(6):
            self.asked.heapsift = (other, own)[number % 2]
            self.check("builds by turns") if not options.other or number % 2 else self.asked.ask("types")
        self.asked.heapsift = own

    def full(self):
        """Limits on a file's size are the disk that fills up in the middle of a part; a small tmpfs has no room, or no inode, from the start."""
        def limited(size):
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            return limit

        sizes = [0, 4096, 8192, 8193] + [offset + size // 2 for _, offset, size in self.blobs[::self.every] if size]
        for adds in (False, True):
            for size in sizes:
                self.asked.forget()
                if adds:
                    self.check("before", "gc")
                done = subprocess.run(self.asked.command("types", "--json"), capture_output=True, env=index.environment(), preexec_fn=limited(size))
                _asked[self.attack_name] += 1
                if (done.returncode, done.stdout) != self.asked.expected["types"]:
                    fail(self.name, "a file of %d bytes: exit %d: %s" % (size, done.returncode, done.stderr.decode(errors="replace")[-300:]))
                self.check("after a file of %d bytes" % size)
        with Mounted(self, "size=64k") as disk:
            if disk:
                self.check("a small disk", "types", "--index-dir", disk)
                self.check("a small disk", "cycles --all", "--index-dir", os.path.join(disk, "new"))
        with Mounted(self, "size=1200m,nr_inodes=2") as disk:
            if disk:
                open(os.path.join(disk, "last"), "w").close()
                errors = self.check("no inode", "types", "--index-dir", disk)
                if "no room" not in errors:
                    fail(self.name, "no inode: %s" % errors.strip())
        with Mounted(self, "size=1026m") as disk:  # a little more than heapsift leaves to others; then it fills up
            if disk:
                self.check("a disk that is nearly full", "gc", "--index-dir", disk)
                with open(os.path.join(disk, "others"), "wb", buffering=0) as file:  # a buffer's rest would fail once more as it is closed
                    try:
                        while True:
                            file.write(bytes(1 << 20))
                    except OSError:
                        pass
                self.check("a full disk", "types", "--index-dir", disk)
                self.check("a full disk", "cycles --all", "--index-dir", disk)

    def read_only(self):
        with Mounted(self, "size=1200m") as disk:
            if not disk:
                return
            copy = os.path.join(disk, os.path.basename(self.path))
            for kind in ("none", "whole", "damaged", "cut", "foreign"):
                subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
                content = bytearray(self.whole)
                if kind == "damaged":
                    for _, offset, size in self.blobs:
                        if size:
                            content[offset + size // 3] ^= 4
                if kind == "foreign":
                    content[16] ^= 1
                    content[_PAGE + 16] ^= 1
                if os.path.exists(copy):
                    os.unlink(copy)
                if kind != "none":
                    with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                        file.write(content[:len(content) // 2] if kind == "cut" else content)
                subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
                for question in _QUICK:
                    errors = self.check("read-only, " + kind, question, "--index-dir", disk)
                    if kind == "none" and "cannot be written" not in errors:
                        fail(self.name, "read-only: nothing says that the index was not written: %s" % errors.strip())

    def two(self, rounds):
        """Two writers of different parts, and one that reads meanwhile; from nothing, and from a file that the others know."""
        for number in range(max(rounds, 3)):
            if number % 3 != 2:
                self.asked.forget()
            questions = [self.chance.choice(_QUICK) for _ in range(3 if number % 2 else 2)]
            running = []
            for question in questions:
                running.append(subprocess.Popen(self.asked.command(question, "--json"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                env=index.environment()))
                time.sleep(0.03 * self.chance.random())
            for question, process in zip(questions, running):
                out, errors = process.communicate()
                _asked[self.attack_name] += 1
                if question == "doctor":
                    document = json.loads(out)
                    document["data"].pop("index", None)
                    out = json.dumps(document).encode()
                if (process.returncode, out) != self.asked.expected[question] or b"damaged" in errors:
                    fail(self.name, "%d at once: %s: exit %d: %s" % (len(questions), question, process.returncode, errors.decode(errors="replace")[-300:]))
            for question in questions:
                if "damaged" in self.check("after two", question):
                    fail(self.name, "two writers damaged the index")

    def cut_while_read(self, rounds):
        """Another program cuts the index while it is mapped: the right answer, or one line that blames the index, and the next is right."""
        blamed = 0
        for number in range(max(rounds, 5)):
            self.put(self.whole)
            question = self.chance.choice(_QUICK)
            process = subprocess.Popen(self.asked.command(question, "--json"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=index.environment())
            time.sleep(0.05 * self.chance.random())
            try:
                os.truncate(self.path, self.chance.choice((0, _FIRST_BLOB, len(self.whole) // 2)))
            except FileNotFoundError:
                pass
            out, errors = process.communicate()
            _asked[self.attack_name] += 1
            if question == "doctor" and process.returncode in (0, 3):
                document = json.loads(out)
                document["data"].pop("index", None)
                out = json.dumps(document).encode()
            if process.returncode == 1 and b"index" in errors and b"Sanitizer" not in errors:
                blamed += 1
                if os.path.exists(self.path):
                    fail(self.name, "the index that was cut is still there")
            elif (process.returncode, out) != self.asked.expected[question]:
                fail(self.name, "cut while read: %s: exit %d: %s" % (question, process.returncode, errors.decode(errors="replace")[-300:]))
            self.check("after a cut while it was read", question)
        print("%-16s cut while read: the index was blamed %d times" % (self.name, blamed), flush=True)

    def core_changes(self):
        """The core is rewritten in place, and its time is set back: an index of what it was before must not be used."""
        self.taken.own()
        self.remember()
        self.make_whole()
        for number in range(6):
            status = os.stat(self.asked.core)
            with open(self.asked.core, "r+b") as file:
                for _ in range(200):
                    at = self.chance.randrange(status.st_size // 2, status.st_size) & ~7
                    file.seek(at)
                    word = file.read(8)
                    file.seek(at)
                    file.write(bytes((word[0] ^ 8,)) + word[1:])
            os.utime(self.asked.core, ns=(status.st_atime_ns, status.st_mtime_ns))
            self.remember()
            for question in _QUICK:
                self.check("core changed %d times" % (number + 1), question)


    def compressed(self, count):
        """The same core compressed: its unpacked copy is killed while it is made, damaged, cut, made by two at once, and has no room."""
        self.asked, plain = self.packed(), self.asked
        try:
            self.remember()
            began = time.monotonic()
            self.check("unpacked")
            whole = time.monotonic() - began
            for number in range(count):
                self.asked.forget()
                process = self.run(*self.asked.command("types", "--json"))
                time.sleep(whole * self.chance.random())
                process.kill()
                process.wait()
                self.check("killed at moment %d" % number)
            for call in range(1, 7 if shutil.which("strace") else 1):
                self.asked.forget()
                self.run("strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=linkat,rename", "-e", "inject=linkat,rename:signal=KILL:when=%d" % call,
                         *self.asked.command("types", "--json")).wait()
                self.check("killed at call %d" % call)
            left = [file for file in os.listdir(self.asked.folder) if not file.endswith(_WHOLE)]
            if len(left) > 1:
                fail(self.name, "killed while unpacking left %s" % left)
            self.two(max(count // 8, 3))
            for number in range(count):
                self.check("before damage")
                copy = self.copy()
                if not copy:
                    fail(self.name, "the unpacked core was not kept")
                    break
                self.damage_copy(copy, number % 6)
                self.check("damage %d of the copy" % (number % 6))
            for number in range(max(count // 8, 4)):
                self.check("before it is cut")
                process = subprocess.Popen(self.asked.command("types", "--json"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=index.environment())
                time.sleep(0.04 * self.chance.random())
                os.truncate(self.copy(), 8192)
                out, errors = process.communicate()
                if (process.returncode != 1 or b"unpacked" not in errors) and (process.returncode, out) != self.asked.expected["types"]:
                    fail(self.name, "the copy was cut while it was read: exit %d: %s" % (process.returncode, errors.decode(errors="replace")[-300:]))
                self.check("after the copy was cut")
            self.no_room_for_copies()
        finally:
            self.asked = plain
            self.remember()

    def packed(self):
        """To ask about the core as .gz, with an index of its own."""
        folder = os.path.join(self.taken.folder, "packed")
        os.makedirs(folder, exist_ok=True)
        core = os.path.join(folder, "core.gz")
        if not os.path.exists(core):
            with open(self.asked.core, "rb") as plain, gzip.open(core, "wb", 1) as out:
                shutil.copyfileobj(plain, out)
        return index.Asked(self.asked.heapsift, types.SimpleNamespace(core=core, folder=folder), self.asked.sysroot)

    def copy(self):
        found = glob.glob(os.path.join(self.asked.folder, "*.unpacked"))
        return found[0] if found else None

    def damage_copy(self, copy, how):
        size = os.path.getsize(copy)
        if how == 0:  # in place
            with open(copy, "r+b") as file:
                for _ in range(100):
                    file.seek(self.chance.randrange(size))
                    file.write(b"\x55")
        elif how == 1:
            os.truncate(copy, self.chance.randrange(size))
        elif how == 2:  # what says that it is right is of another file now
            os.rename(copy, copy + "-")
            shutil.copyfile(copy + "-", copy)
            os.unlink(copy + "-")
        elif how == 3:
            with open(copy + ".checked", "r+b") as file:
                file.seek(self.chance.randrange(40))
                file.write(b"7x7")
        elif how == 4:
            os.chmod(copy, 0o666)
        else:
            os.unlink(copy)

    def no_room_for_copies(self):
        self.asked.forget()
        done = subprocess.run(self.asked.command("types", "--json"), capture_output=True, env={**index.environment(), "HEAPSIFT_INDEX_LIMIT": "1M"})
        if (done.returncode, done.stdout) != self.asked.expected["types"] or b"no room" not in done.stderr or self.copy():
            fail(self.name, "a limit of 1 MB: exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-300:]))
        with Mounted(self, "size=64k") as disk:
            if disk:
                self.check("a small disk for copies", "types", "--index-dir", disk)
        with Mounted(self, "size=1200m") as disk:
            if disk:
                subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
                self.check("a read-only folder for copies", "types", "--index-dir", disk)

    def interrupted(self, count):
        """Ctrl-C at any moment: exit 130 at once, and nothing is left that is not whole."""
        slowest, late = 0.0, 0
        plain = self.asked
        for self.asked in (plain, self.packed()):
            for question in ("types", "index"):
                self.asked.forget()
                began = time.monotonic()
                self.run(*self.asked.command(question, "--json")).wait()
                whole = time.monotonic() - began
                for _ in range(count // 4):
                    self.asked.forget()
                    process = self.run(*self.asked.command(question, "--json"))
                    time.sleep(0.01 + whole * self.chance.random())
                    began = time.monotonic()
                    process.send_signal(signal.SIGINT)
                    code = process.wait()
                    took = time.monotonic() - began
                    _asked[self.attack_name] += 1
                    if code == 130:
                        slowest, late = max(slowest, took), late + (took > 0.1)
                    elif code not in (0, 3, -signal.SIGINT):  # at the very beginning there is no handler yet
                        fail(self.name, "%s, interrupted: exit %d" % (question, code))
                    left = [file for file in glob.glob(os.path.join(self.asked.folder, "*")) if not file.endswith(_WHOLE)]
                    if len(left) > 0:
                        fail(self.name, "interrupted, %s is left" % left)
        self.asked = plain
        if late > count // 10:
            fail(self.name, "%d of %d took more than 0.1 s to end" % (late, count))
        print("%-16s interrupted: the slowest took %.0f ms to end, %d more than 100" % (self.name, slowest * 1000, late), flush=True)


class Mounted:
    """A tmpfs in a folder of its own; None where it cannot be mounted."""

    def __init__(self, victim, options):
        self.folder, self.options, self.there = os.path.join(victim.taken.folder, "disk"), options, False

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", self.options + ",mode=700", "tmpfs", self.folder], capture_output=True)
        self.there = done.returncode == 0
        if not self.there:
            print("no tmpfs can be mounted: %s" % done.stderr.decode(errors="replace").strip())
        return self.folder if self.there else None

    def __exit__(self, *_):
        if self.there:
            subprocess.run(["umount", self.folder], check=True)


if __name__ == "__main__":
    sys.exit(main())
