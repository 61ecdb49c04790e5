#!/usr/bin/env python3
"""An interpreter newer than all that heapsift knows: made of a real core, whose word for its version is changed.

    newer.py --heapsift build/release/heapsift --tree forky=/var/cache/heapsift/forky --interpreter /usr/bin/python3.15 …

heapsift tries the tables of the newest version, then those of the ones before, and must say so (exit 3, version-unknown). A core of the
newest version known, made to look like the next, must be read exactly: nothing else has changed. One of the version before has moved
structs: its table must be found, and be as good; where the build's debug information tells which fits, also the one before that. With debug offsets that lie,
the tables' own must do. A version that is no CPython 3
ends with exit 1 and a line that names it. A build with the GIL that claims to have none, and the other way round, must be read as what its objects are, with a warning.
"""

import os
import struct
import subprocess
import sys

import cores
import harness
import run
from compare import compare, load_truth

COOKIE = b"xdebugpy"
NEXT, OTHER = 0x031000F0, 0x040000F0  # 3.16.0, 4.0.0
PROGRAM = "plain"
_FAULTS = ("missing", "missing in closure", "type", "size")


def main():
    options = harness.parser("cores that claim a version that nobody knows", kinds=("kernel",)).parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    options.files = "here"
    work, found, kinds, failures = harness.begin(options, "newer")
    for interpreter in found:
        if interpreter.version < (3, 13):
            continue  # they say their version elsewhere
        for kind in kinds:
            failures += ["%s: %s" % (interpreter.name, problem) for problem in try_one(options, interpreter, kind, work)]
    return harness.end(failures)


def try_one(options, interpreter, kind, work):
    try:
        taken = cores.take(interpreter, PROGRAM, kind, work)
    except cores.NoCore as reason:
        return [str(reason)]
    try:
        taken.own()
        problems = []
        turn_flag(taken.core)
        problems += read_as(options, interpreter, taken, "as of the other kind of threading", "are read as such")
        turn_flag(taken.core)
        for what, version, offsets in (("as 3.16", NEXT, None), ("as 3.16, each offset a word on", NEXT, shifted), ("as 3.16, with debug offsets that lie", NEXT, invented)):
            change(taken.core, version, offsets)
            problems += read_as(options, interpreter, taken, what, "newer than any that heapsift knows")
        change(taken.core, OTHER)
        code, said = ask(options, interpreter, taken, ["types"])[:2]
        if code != 1 or "CPython 4.0.0" not in said or said.count("\n") > 2:
            problems.append("as 4.0: exit %d, %r" % (code, said))
        return problems
    finally:
        harness.leave(taken.folder, options.keep)


def shifted(words):
    """The fields behind the right ones: some of them lead to something of the same kind."""
    return [word + 8 for word in words]


def invented(words):
    return [0x30 + 8 * i for i in range(len(words))]


def change(core, version, offsets=None):
    """Writes the version behind each cookie of a runtime; and `offsets` of the words that follow in their place."""
    with open(core, "r+b") as file:
        image = file.read()
        at, changed = image.find(COOKIE), 0
        while at >= 0:
            if image[at + 11] in (3, 4):  # the version's major number
                file.seek(at + 8)
                file.write(struct.pack("<I", version))
                if offsets:
                    file.seek(at + 24)
                    file.write(struct.pack("<40Q", *offsets(struct.unpack_from("<40Q", image, at + 24))))
                changed += 1
            at = image.find(COOKIE, at + 8)
    if not changed:
        raise SystemExit("no cookie in %s" % core)


def turn_flag(core):
    """Behind the version: whether the build has no GIL (_Py_DebugOffsets.free_threaded)."""
    with open(core, "r+b") as file:
        image = file.read()
        at = image.find(COOKIE)
        while at >= 0:
            if image[at + 11] in (3, 4):
                file.seek(at + 16)
                file.write(struct.pack("<Q", 1 - struct.unpack_from("<Q", image, at + 16)[0]))
            at = image.find(COOKIE, at + 8)


def ask(options, interpreter, taken, words, out=subprocess.DEVNULL):
    command = [options.heapsift, *words, "--core", taken.core, "--no-index"] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace",
                          env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder}, timeout=600)
    return done.returncode, done.stderr


def read_as(options, interpreter, taken, what, words):
    """Whether it has all objects, and says so with these words."""
    path = os.path.join(taken.folder, "rows.jsonl")
    with open(path, "wb") as rows:
        code, said = ask(options, interpreter, taken, ["objects", "--format", "jsonl", "-n", "0"], rows)
    if code != 3 or words not in said:
        return ["%s: exit %d, and said %r" % (what, code, said[-300:])]
    result = compare(load_truth(taken.truth), taken.core, run.read_rows(path), None)
    faults = {kind: result.faults[kind] for kind in _FAULTS}
    print("%-16s %-38s %7d objects, %s" % (interpreter.name, what, result.collected + result.closure,
                                           ", ".join("%s %d" % item for item in faults.items())), flush=True)
    return ["%s: %s %d" % (what, kind, count) for kind, count in faults.items() if count]


if __name__ == "__main__":
    sys.exit(main())
