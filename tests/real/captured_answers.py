#!/usr/bin/env python3
"""The answers about one stopped process must not depend on who took its core: gdb's gcore, `heapsift capture`, or `capture --fork`.

    captured_answers.py --heapsift build/release/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--programs zoo work …]

A program of testdata/programs comes to rest and is stopped (SIGSTOP); then all three cores of it are taken, one after the other, and every
command is asked about each. The JSON answers must be the same, but for what BY_GCORE and BY_FORK name, with the reason. Addresses to ask about (show,
why, retained …) are those of gcore's core: the process is the same.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import cores
import harness

KINDS = ("gcore", "capture", "capture-fork")
SECONDS = 600

QUESTIONS = [
    ["overview"], ["suspects"], ["types"], ["types", "--by-line"], ["holders"], ["holders", "--type", "*"], ["objects"], ["objects", "--type", "dict"],
    ["cycles"], ["cycles", "--all"], ["cycles", "--unreachable"], ["gc"], ["gc", "--list"], ["refcounts"], ["arrays"], ["arrays", "--pinned"],
    ["arrays", "--by-holder"], ["arrays", "--owners"], ["memory"], ["memory", "--regions"], ["native"], ["native", "--leaked"], ["native", "--blocks"],
    ["threads"], ["threads", "--native"], ["threads", "--tasks"], ["tasks"], ["lines"], ["duplicates"], ["waste"], ["dominators"], ["doctor"],
    ["why", "--type", "dict"], ["why", "--type", "function"], ["retained", "--type", "dict"],
]
OF_AN_OBJECT = ["show", "why", "referents", "referrers", "retained", "dominators"]

# (command, where in the answer, why it must differ), of capture's core beside gcore's. `*` in a place is any row of a list.
_SUMS = r"(data\.memory|data)\.(in_core|in_use|mapped|reserved|zeros_in_large_blocks|zeros_in_use)"
_CATEGORIES = r"(data\.memory|data)\.categories\.[^.]+\.bytes"
_PARTS = r"data\.categories\.(.+\.parts\.(in blocks of malloc|by malloc|by pymalloc|headers of pymalloc|mappings without a known owner)\.bytes|reserved\.parts\..+)"
TOUCHED = "gdb saves pages that were never touched as zeros, and leaves mappings out that the kernel's core has"
BY_GCORE = [
    ("*", r"core\.path", "another file"),
    ("*", r"core\.command", "gdb knows the program, not its arguments"),
    ("overview", r"data\.(process\.arguments|signature)", "gdb knows the program, not its arguments"),
    ("overview", r"data\.process\.(captured|ended|from_gcore)", "who took it, and when"),
    ("overview|memory", "%s|%s|%s" % (_SUMS, _CATEGORIES, _PARTS), TOUCHED),
    ("memory", r"data\.allocators\.(malloc\.(free|in_use|reserved|trim)|pymalloc\.(free|reserved))", TOUCHED),
    ("memory", r"data\.regions\..*", TOUCHED),
    ("overview|suspects", r"data\.suspects\.\*\.share|data\.total\.(bytes|in_use)", "a share of what was touched"),
    ("doctor", r"data\.segments\..*", TOUCHED),
    ("doctor", r"data\.index\..*", "an index of another core"),
]
# Of a process in a chroot, whose files gdb names as they are outside of it.
IN_A_TREE = [("dominators", r"data\.tree\.children\..*", "a module outside of the chroot is not known as one of Python's own")]
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
        taken = {}
        for kind in KINDS:
            prefix = os.path.join(folder, kind)
            cores.of_living(kind, process.pid, prefix)
            taken[kind] = "%s.%d" % (prefix, process.pid)
        return taken
    except subprocess.TimeoutExpired:
        raise cores.NoCore("%s did not come to rest" % program) from None
    finally:
        process.kill()
        process.wait()


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
    taken = cores_of_one(interpreter, program, folder)
    questions = list(QUESTIONS)
    objects = ask(options, interpreter, taken["gcore"], folder, ["objects"])["data"]["objects"]
    step = max(1, len(objects) // options.sample)
    for one in objects[::step][:options.sample]:
        questions += [[command, one["address"]] for command in OF_AN_OBJECT]
    explained, wrong = {}, 0
    for question in questions:
        answers = {kind: ask(options, interpreter, taken[kind], folder, question) for kind in KINDS}
        name = "%s, %s, heapsift %s" % (interpreter.name, program, " ".join(question))
        if answers["gcore"]["exit"] not in (0, 3):
            failures.append("%s: exit %d: %s" % (name, answers["gcore"]["exit"], answers["gcore"].get("error") or answers["gcore"].get("said")))
        for one, other, rules in (("gcore", "capture", BY_GCORE + (IN_A_TREE if interpreter.tree else [])), ("capture", "capture-fork", BY_FORK)):
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
    return "%d questions, %d with another answer; differences that must be: %s" % (
        len(questions), wrong, "; ".join("%d of %s" % (count, reason) for reason, count in sorted(explained.items())))


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
