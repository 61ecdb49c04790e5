#!/usr/bin/env python3
"""The answers about one stopped process must not depend on who took its core: gdb's gcore, `heapsift capture`, or `capture --fork`.

    captured_answers.py --heapsift build/release/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--programs zoo work …]

A program of testdata/programs comes to rest and is stopped (SIGSTOP); then all three cores of it are taken, one after the other, and every
command is asked about each. The JSON answers must be the same, but for what BY_GCORE and BY_FORK name, with the reason. Addresses to ask about (show,
why, retained …) are those of gcore's core: the process is the same.

gdb saves pages that were never touched as zeros, so of its core nobody can tell how much is in use, nor what is a large share of that. `untold` is
the captured core as if gdb had taken it: dense, and without its note of such pages. Its answers must be gcore's, of every command.

The bytes are compared too: each page of the captured core with the process's memory. Where gdb 13 could not read a mapping (the stacks of threads,
which glibc guards since 2.42) it writes zeros; they are replaced by what is there, and counted.
"""

import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import cores
import harness

KINDS = ("gcore", "capture", "capture-fork")
PAIRS = (("gcore", "untold"), ("capture", "capture-fork"))
SECONDS = 600
PAGE = 4096
NT_FILE = 0x46494C45

QUESTIONS = [
    ["overview"], ["suspects"], ["types"], ["types", "--by-line"], ["holders"], ["holders", "--type", "*"], ["objects"], ["objects", "--type", "dict"],
    ["cycles"], ["cycles", "--all"], ["cycles", "--unreachable"], ["gc"], ["gc", "--list"], ["refcounts"], ["arrays"], ["arrays", "--pinned"],
    ["arrays", "--by-holder"], ["arrays", "--owners"], ["memory"], ["memory", "--regions"], ["native"], ["native", "--leaked"], ["native", "--blocks"],
    ["threads"], ["threads", "--native"], ["threads", "--tasks"], ["tasks"], ["lines"], ["duplicates"], ["waste"], ["dominators"], ["doctor"],
    ["why", "--type", "dict"], ["why", "--type", "function"], ["retained", "--type", "dict"], ["suspects", "--no-native"], ["dominators", "--no-native"],
    ["query", "SELECT name, count, memory FROM type_total ORDER BY name, count, memory"], ["query", "SELECT kind, count(*) FROM reference GROUP BY kind"],
    ["query", "SELECT * FROM root ORDER BY 1, 2, 3"], ["query", "SELECT address, expr(address) FROM object ORDER BY retained DESC, address LIMIT 50"],
]
OF_AN_OBJECT = ["show", "why", "referents", "referrers", "retained", "dominators"]

# (command, where in the answer, why it must differ), of the untold core beside gcore's. `*` in a place is any row of a list.
MAPPINGS = "gdb saves program files whole, and leaves out mappings that the kernel's core has"
BY_GCORE = [
    ("*", r"core\.path", "another file"),
    ("*", r"core\.command", "gdb knows the program, not its arguments"),
    ("overview", r"data\.(process\.arguments|signature)", "gdb knows the program, not its arguments"),
    ("overview", r"data\.process\.(captured|ended|from_gcore)", "who took it, and when"),
    ("overview|memory", r"(data\.memory|data)\.((in_core|mapped|reserved)|categories\.reserved\..*)", MAPPINGS),
    ("memory", r"data\.regions\..*", MAPPINGS),
    ("doctor", r"data\.segments\..*", MAPPINGS),
    ("doctor", r"data\.index\..*", "an index of another core"),
]
# The same of the core by a fork beside the other one: the process did not run between them.
BY_FORK = [
    ("*", r"core\.path", "another file"),
    ("overview", r"data\.process\.(captured\.(method|stood_ns|time)|ended)", "who took it, and when"),
    ("doctor", r"data\.index\.(path|all_bytes)", "an index of another core"),
]


def main():
    parser = harness.parser(__doc__.splitlines()[0], KINDS)
    parser.add_argument("--programs", nargs="*", default=["zoo"])
    parser.add_argument("--sample", type=int, default=3, help="objects that are asked about")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "captured-answers")
    if "gcore" not in kinds:
        print("not tested here: there is nothing to compare with")
        return 0 if not failures else harness.end(failures)
    for interpreter in [one for one in found if not one.debug]:
        for program in options.programs:
            began = time.monotonic()
            folder = harness.folder_for(interpreter, work, "answers-")
            try:
                said = compare_answers(options, interpreter, interpreter.program(program), folder, failures)
            except cores.NoCore as no_core:
                failures.append("%s, %s: %s" % (interpreter.name, program, no_core))
                said = "FAILED: %s" % no_core
            finally:
                harness.leave(folder, options.keep)
            print("%-16s %-8s %5.1f s  %s" % (interpreter.name, program, time.monotonic() - began, said), flush=True)
    return harness.end(failures)


def cores_of_one(interpreter, program, folder):
    for path in glob.glob(cores.PROGRAMS + "/*.py"):
        shutil.copy(path, folder)
    # NumPy 2 makes a mapping of its own of a large array's pages (MADV_HUGEPAGE). One that was never touched is in gdb's core, as zeros, and not in
    # the kernel's, nor in capture's.
    process = cores.start(interpreter, [program + ".py"], folder, HEAPSIFT_CORE_BY="gcore", HEAPSIFT_TRUTH="truth.tsv", NUMPY_MADVISE_HUGEPAGE="0")
    try:
        cores.wait_for(os.path.join(folder, "truth.tsv"), process)
        os.kill(process.pid, signal.SIGSTOP)
        taken, said = {}, []
        for kind in KINDS:
            prefix = os.path.join(folder, kind)
            cores.of_living(kind, process.pid, prefix)
            taken[kind] = "%s.%d" % (prefix, process.pid)
        # To look at what was never touched gives the process pages of zeros: after the last core.
        said += ["%d pages that gdb could not read" % unread for unread in [fill_in(taken["gcore"], process.pid)] if unread]
        require_same_bytes(taken["capture"], process.pid)
        name_as_inside(taken["gcore"], interpreter.tree)
        taken["untold"] = untold(taken["capture"], os.path.join(folder, "untold"))
        return taken, said
    except subprocess.TimeoutExpired:
        raise cores.NoCore("%s did not come to rest" % program) from None
    finally:
        process.kill()
        process.wait()


def tables(core):
    """(the program headers of memory, the bytes of its notes and where they lie) of an open core."""
    header = core.read(64)
    at, section_table = struct.unpack_from("<QQ", header, 32)
    count, = struct.unpack_from("<H", header, 56)
    if count == 0xFFFF:
        core.seek(section_table + 44)
        count, = struct.unpack("<I", core.read(4))
    core.seek(at)
    rows = [struct.unpack("<IIQQQQQQ", core.read(56)) for _ in range(count)]
    return [row for row in rows if row[0] == 1], next((row[2], row[5]) for row in rows if row[0] == 4)


def chunks(core, pid):
    """(where in the core, address, the core's bytes, those of the process, or None)."""
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        for _, _, offset, start, _, saved, _, _ in [row for row in tables(core)[0] if row[3] < 1 << 63]:  # not [vsyscall]
            for at in range(0, saved, 1 << 20):
                size = min(1 << 20, saved - at)
                core.seek(offset + at)
                in_core = core.read(size)
                try:
                    there = os.pread(memory.fileno(), size, start + at)
                except OSError:
                    there = b""
                if len(there) == size:
                    yield offset + at, start + at, in_core, there
                    continue
                for page in range(0, size, PAGE):  # one of them cannot be read
                    try:
                        there = os.pread(memory.fileno(), PAGE, start + at + page)
                    except OSError:
                        there = None
                    yield offset + at + page, start + at + page, in_core[page:page + PAGE], there


def is_same(one, other):
    """But for a word: a fork has a thread make a call, and the kernel notes its processor in the thread's rseq."""
    return one == other or sum(a != b for a, b in zip(one, other)) <= 8


def fill_in(path, pid):
    """How many pages of gdb's core were zeros and are none; raises NoCore if others differ."""
    filled = 0
    with open(path, "r+b") as core:
        for at, address, in_core, there in chunks(core, pid):
            if there is None or in_core == there:
                continue
            for page in range(0, len(there), PAGE):
                one, other = in_core[page:page + PAGE], there[page:page + PAGE]
                if is_same(one, other):
                    continue
                if one.strip(b"\0"):
                    raise cores.NoCore("gdb's core has other bytes at %#x" % (address + page))
                core.seek(at + page)
                core.write(other)
                filled += 1
    return filled


def require_same_bytes(path, pid):
    with open(path, "rb") as core:
        for _, address, in_core, there in chunks(core, pid):
            if in_core.strip(b"\0") if there is None else not is_same(in_core, there):
                raise cores.NoCore("the captured core has other bytes than the process, in the mebibyte at %#x" % address)


def name_as_inside(path, tree):
    """gdb names files as they are outside of a chroot."""
    with open(path, "r+b") as core:
        at, size = tables(core)[1]
        core.seek(at)
        notes = core.read(size)
        place = 0
        while tree and place + 12 <= len(notes):
            name, content, kind = struct.unpack_from("<III", notes, place)
            place += 12 + (name + 3) // 4 * 4
            if kind == NT_FILE:
                rows, = struct.unpack_from("<Q", notes, place)
                names = notes[place + 16 + 24 * rows:place + content].replace(b"\0" + tree.encode() + b"/", b"\0/")
                names = names[len(tree):] if names.startswith(tree.encode() + b"/") else names
                core.seek(at + place + 16 + 24 * rows)
                core.write(names.ljust(content - 16 - 24 * rows, b"\0"))
            place += (content + 3) // 4 * 4


def untold(captured, path):
    """A copy that does not say which pages were never touched, neither by a note nor by holes."""
    subprocess.run(["cp", "--sparse=never", captured, path], check=True)
    with open(path, "r+b") as core:
        at, size = tables(core)[1]
        core.seek(at)
        notes = core.read(size)
        core.seek(at)
        core.write(notes.replace(b"heapsift\0", b"Heapsift\0"))
    return path


def ask(options, interpreter, core, folder, question):
    line = [options.heapsift, *question, "--json", "--core", core] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
    done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=SECONDS, stdin=subprocess.DEVNULL,
                          env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder})
    # gdb names files as they are outside of a chroot.
    said = done.stdout.replace(interpreter.tree + "/", "/") if interpreter.tree else done.stdout
    try:
        return {"exit": done.returncode, **json.loads(said)}
    except ValueError:
        return {"exit": done.returncode, "said": done.stderr.strip()}


def compare_answers(options, interpreter, program, folder, failures):
    taken, said = cores_of_one(interpreter, program, folder)
    questions = list(QUESTIONS)
    objects = ask(options, interpreter, taken["gcore"], folder, ["objects"])["data"]["objects"]
    step = max(1, len(objects) // options.sample)
    for one in objects[::step][:options.sample]:
        questions += [[command, one["address"]] for command in OF_AN_OBJECT]
    explained, wrong = {}, 0
    for question in questions:
        answers = {kind: ask(options, interpreter, taken[kind], folder, question) for kind in taken}
        name = "%s, %s, heapsift %s" % (interpreter.name, program, " ".join(question))
        if answers["gcore"]["exit"] not in (0, 3):
            failures.append("%s: exit %d: %s" % (name, answers["gcore"]["exit"], answers["gcore"].get("error") or answers["gcore"].get("said")))
        for (one, other), rules in zip(PAIRS, (BY_GCORE, BY_FORK)):
            new = []
            for place, before, now in differences(answers[one], answers[other]):
                reason = why_different(rules, question, place)
                if reason:
                    explained[reason] = explained.get(reason, 0) + 1
                else:
                    new.append("%s: %s, not %s" % (place, short(now), short(before)))
            if new:
                wrong += 1
                failures.append("%s, by %s: %s%s" % (name, other, "; ".join(new[:6]), "; and %d more" % (len(new) - 6) if len(new) > 6 else ""))
    return "; ".join(["%d questions, %d with another answer" % (len(questions), wrong), *said, "differences that must be: " +
                      ", ".join("%d of %s" % (count, reason) for reason, count in sorted(explained.items()))])


def short(value):
    text = json.dumps(value)
    return text if len(text) < 120 else text[:117] + "..."


def why_different(rules, question, place):
    for commands, pattern, reason in rules:
        if commands == "*" or question[0] in commands.split("|"):
            if re.fullmatch(pattern, place):
                return reason
    return None


def by_name(rows):
    return {row["name"]: {**row, "parts": row.get("parts", [])} for row in rows}


def differences(before, now, place=""):
    """(place, before, now) of each leaf that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from differences(before.get(key), now.get(key), "%s.%s" % (place, key) if place else key)
    elif isinstance(before, list) and isinstance(now, list) and place.endswith((".categories", ".allocators", ".parts")):
        yield from differences(by_name(before), by_name(now), place)
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield place + ".#", len(before), len(now)
        for one, other in zip(before, now):
            yield from differences(one, other, place + ".*")
    elif before != now:
        yield place, before, now


if __name__ == "__main__":
    sys.exit(main())
