#!/usr/bin/env python3
"""Cuts real cores, plain and compressed, and asks heapsift about what is left: a partial answer, or one line that says why not.

    cut.py --heapsift build/dev/heapsift [--tree trixie=DIR] [--versions DIR] [--interpreters 3.11 …]

Cores are cut for lack of room, by a limit (ulimit -c, systemd's ExternalSizeMax), or when they are copied. The kernel writes headers, notes,
then segments from low addresses to high; gdb writes the notes last. So a cut takes the libraries and the stacks first, and from gdb's cores
every name as well. Each core, the kernel's and gcore's, is cut at 10, 25, 50, 75, 90 and 99 %, and in the middle of the program headers and
of the notes; each of its compressed forms (.gz .xz .zst .lz4) at 25, 75 and 99 %.

A partial answer: exit 3, `complete` and `certain` false, a warning `core-cut` or `stream-cut`, counts with ≥ in text, and no more objects
than the whole core has. Otherwise exit 1, and one line with the word "cut" or "ends". For an interpreter that is one static file (Debian's)
25 % must be enough for an answer; for any other, 99 %.
"""

import argparse
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import cores
import damage
import interpreters

_PARTS = (10, 25, 50, 75, 90, 99)
_PARTS_OF_STREAMS = (25, 75, 99)


def main():
    options = parse()
    work = tempfile.mkdtemp(prefix="heapsift-cut-", dir=options.work)
    failures = []
    try:
        found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
        if not found:
            failures.append("no interpreter was found")
        print("%-16s %-7s %-10s %s" % ("interpreter", "core", "form", "part: objects, of those in the whole core (or the exit code)"), flush=True)
        for interpreter in found:
            for kind, why in (("kernel", cores.why_no_kernel_cores()), ("gcore", cores.why_no_gcore())):
                if why:
                    print("not tested here: %s cores: %s" % (kind, why))
                    continue
                taken = cores.take(interpreter, "plain", kind, work)
                try:
                    failures += Cutter(options.heapsift, interpreter, kind, taken.core, work).run()
                finally:
                    taken.delete()
    except cores.NoCore as reason:
        failures.append(str(reason))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="cuts real cores")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--work", metavar="DIR", default="/var/tmp", help="where cores are taken")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


class Cutter:
    def __init__(self, heapsift, interpreter, kind, core, work):
        self.heapsift, self.work = heapsift, work
        self.name = (interpreter.name, kind)
        self.sysroot = ["--sysroot", interpreter.tree] if interpreter.tree else []
        self.is_static = interpreter.path.startswith("/usr/bin")  # Debian's has no libpython
        self.core = core
        self.mapped = damage.mapped_bytes(core)
        with open(core, "rb") as file:
            self.bytes = file.read()
        self.failures = []

    def run(self):
        whole = self.ask(self.core)
        if whole.code != 0 or whole.faults:
            return ["%s %s: the whole core: exit %s %s" % (*self.name, whole.code, whole.faults)]
        self.objects = whole.document["data"]["total"]["count"]
        places = [("%d %%" % part, len(self.bytes) * part // 100, part) for part in _PARTS]
        headers, notes = self.inside_headers_and_notes()
        self.cut_all("plain", self.bytes, places + [("headers", headers, 0), ("notes", notes, 0)], "core-cut")
        for form, packed in (("gz", gzip.compress(self.bytes, 1)), ("xz", lzma.compress(self.bytes, preset=0)),
                             ("zst", zstd(self.bytes)), ("lz4", lz4(self.bytes))):
            self.cut_all(form, packed, [("%d %%" % part, len(packed) * part // 100, part) for part in _PARTS_OF_STREAMS], "stream-cut")
        return self.failures

    def inside_headers_and_notes(self):
        start, count = struct.unpack_from("<Q", self.bytes, 32)[0], struct.unpack_from("<H", self.bytes, 56)[0]
        for i in range(count):
            kind, _, offset, _, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", self.bytes, start + 56 * i)
            if kind == 4:
                return start + 56 * (count // 2) + 20, offset + size * 2 // 3
        return start + 56 * (count // 2) + 20, start + 56 * count

    def cut_all(self, form, content, places, warning):
        told = []
        for name, size, part in places:
            path = os.path.join(self.work, "cut." + form)
            with open(path, "wb") as file:
                file.write(content[:size])
            answer = self.ask(path)
            problems = list(answer.faults)
            if answer.code == damage.IN_PART:
                problems += self.check_answer(path, answer, warning)
                told.append("%s: %d" % (name, answer.document["data"]["total"]["count"]))
            else:
                problems += self.check_refusal(answer)
                told.append("%s: exit %s" % (name, answer.code))
                if form == "plain" and part >= (25 if self.is_static else 99):
                    problems.append("no answer: %s" % answer.said.strip())
            self.failures += ["%s %s %s at %s: %s" % (*self.name, form, name, problem) for problem in problems]
            os.remove(path)
        print("%-16s %-7s %-10s %s, of %d" % (*self.name, form, "; ".join(told), self.objects), flush=True)

    def ask(self, path):
        return damage.Answer([self.heapsift, "types", path, "--json", *self.sysroot], self.work, 60, self.mapped)

    def check_answer(self, path, answer, warning):
        problems = []
        if warning not in answer.warnings():
            problems.append("no warning %s, but %s" % (warning, sorted(answer.warnings())))
        # A few more than the whole core proves: what would disprove them is cut off.
        if answer.document["data"]["total"]["count"] > self.objects * 1.02:
            problems.append("%d objects, of %d" % (answer.document["data"]["total"]["count"], self.objects))
        text = subprocess.run([self.heapsift, "types", path, *self.sysroot], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": self.work}).stdout
        if answer.document["data"]["total"]["count"] > 0 and "≥" not in text:
            problems.append("no ≥ in the text")
        return problems

    def check_refusal(self, answer):
        if answer.code != damage.CANNOT_ANALYSE:
            return ["exit %s: a cut core is no whole answer" % answer.code]
        return [] if "cut" in answer.said or "ends" in answer.said else ["does not say that the core is cut: %s" % answer.said.strip()]


def zstd(content):
    """With the tool, else as a frame of raw blocks (RFC 8878), which decoders must also read."""
    if shutil.which("zstd"):
        return subprocess.run(["zstd", "-1", "-q", "-c"], input=content, capture_output=True, check=True).stdout
    frame = [b"\x28\xb5\x2f\xfd", bytes((0x00, 0x58))]  # no content size; a window of 2 MiB
    for at in range(0, len(content), 1 << 17):
        block = content[at:at + (1 << 17)]
        frame += [struct.pack("<I", len(block) << 3 | (at + len(block) == len(content)))[:3], block]
    return b"".join(frame)


def lz4(content):
    """By the tool, else as a frame of raw blocks (lz4_Frame_format.md)."""
    if shutil.which("lz4"):
        return subprocess.run(["lz4", "-1", "-q", "-c"], input=content, capture_output=True, check=True).stdout
    frame = [b"\x04\x22\x4d\x18", bytes((0x60, 0x70, 0x73))]  # blocks of 4 MiB, each for itself; the header's checksum
    for at in range(0, len(content), 1 << 22):
        block = content[at:at + (1 << 22)]
        frame += [struct.pack("<I", len(block) | 1 << 31), block]
    return b"".join(frame) + bytes(4)


if __name__ == "__main__":
    sys.exit(main())
