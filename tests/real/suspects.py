#!/usr/bin/env python3
"""Programs that each keep memory in one way (testdata/programs/suspects.py): `suspects` must name that cause first, with its fix, its line and
its bytes, and no other; of healthy programs it must name none. The first screen must say the same.

    suspects.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--cases closures …]
"""

import json
import os
import re
import shutil
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer

_SINCE = {"leak_at_exit": (3, 10), "leak_at_exit_methods": (3, 10)}  # before, what atexit was told hangs on its module, as any other module's tables do
_PROGRAM = os.path.join(cores.PROGRAMS, "suspects.py")
# Not built for these versions and later: 3.14's atexit keeps what it calls in another way; in 3.13
# it is not told who submits to an executor.
_UNTIL = {"leak_at_exit": (3, 14), "leak_at_exit_methods": (3, 14),
          "leak_executor_backlog": (3, 13)}


def all_cases():
    with open(_PROGRAM, encoding="utf-8") as file:
        return re.findall(r"^def ((?:leak|healthy)_\w+)\(\)", file.read(), re.M)


def main():
    parser = harness.parser("asks heapsift for the causes of leaks of known kinds", kinds=("kernel",))
    parser.add_argument("--cases", nargs="*", default=all_cases())
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "suspects")
    for interpreter in found:
        for kind in kinds:
            began, right = time.monotonic(), 0
            left_out = [case for case in options.cases if interpreter.version >= _UNTIL.get(case, (4,))]
            if left_out:
                print("%-18s not tested, as not built for it: %s" % (interpreter.name, ", ".join(left_out)))
            cases = [case for case in options.cases if case not in left_out and interpreter.version >= _SINCE.get(case, (3,)) and
                     (case != "healthy_pandas" or harness.has_pandas(interpreter)) and (case != "healthy_reserved" or interpreter.numpy)]
            for case in cases:
                faults = run_one(options, interpreter, case, kind, work)
                right += not faults
                failures += ["%s %s %s: %s" % (interpreter.name, case, kind, fault) for fault in faults]
            print("%-18s %-7s %d of %d right, %.1f s" % (interpreter.name, kind, right, len(cases), time.monotonic() - began), flush=True)
    return harness.end(failures)


def run_one(options, interpreter, case, kind, work):
    folder = harness.folder_for(interpreter, work, "heapsift-suspects-")
    try:
        for name in ("suspects.py", "older.py", "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        truth_path = os.path.join(folder, "truth.json")
        core, _ = cores.take_at_rest(interpreter, ["suspects.py", case.split("_", 1)[1]], kind, folder, truth_path)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        asked = AskedCore(options.heapsift, core, folder, interpreter.tree)
        if case.startswith("healthy"):
            return list(faults_of_healthy(asked))
        return list(faults_of_leak(asked, truth))
    except (cores.NoCore, BadAnswer, OSError, KeyError, TypeError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


def words_of(suspect):
    return " ".join(str(suspect[key]) for key in ("sentence", "cause", "fix"))


def faults_of_healthy(asked):
    for suspect in asked.data("suspects")["suspects"]:
        yield "nothing is wrong, and yet: %s, %d bytes: %s" % (suspect["kind"], suspect["bytes"], words_of(suspect))
    if "No suspect" not in asked.text("suspects"):
        yield "the sentence does not say that there is no suspect"


def faults_of_leak(asked, truth):
    suspects = asked.data("suspects")["suspects"]
    if not suspects:
        yield "no suspect"
        return
    first = suspects[0]
    said = words_of(first)
    if first["kind"] != truth["kind"]:
        yield "the first is %s, not %s: %s" % (first["kind"], truth["kind"], said)
    for other in suspects[1:]:
        yield "another suspect: %s, %d bytes: %s" % (other["kind"], other["bytes"], words_of(other))
    # What hangs on the planted text besides it: headers, tables, frames; of 3.9, whole frames of suspended functions.
    if not 0.97 <= first["bytes"] / truth["bytes"] <= 1.35:
        yield "%d bytes, and %d were planted" % (first["bytes"], truth["bytes"])
    for word in truth["words"]:
        if word not in said:
            yield "%r is not said: %s" % (word, said)
    if "path" in truth and truth["path"] not in str(first["expression"]):
        yield "%r is not in its expression, %s" % (truth["path"], first["expression"])
    if "line" in truth and ("suspects.py:%d" % truth["line"]) not in said:
        yield "line %d is not said: %s" % (truth["line"], said)
    if "used_in" in truth and [place["function"] for place in first["used_in"]] != [truth["used_in"]]:
        yield "it is used in %s, not in %s" % (first["used_in"], truth["used_in"])
    if first["also_held_by"] != ([truth["also_held_by"]] if "also_held_by" in truth else []):
        yield "its owner is also held by %s" % first["also_held_by"]
    if not first["fix"]:
        yield "no fix"
    elif first["fix"] not in " ".join(asked.text("overview").split()):
        yield "the first screen does not say its fix"


if __name__ == "__main__":
    sys.exit(main())
