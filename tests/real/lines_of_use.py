#!/usr/bin/env python3
"""Of many lines that use a container, `suspects` must name those that fill it, and first (testdata/programs/lines_of_use.py); and the line
behind other causes (testdata/programs/lines_of_causes.py).

    lines_of_use.py --heapsift build/release/heapsift [--tree forky=/var/cache/heapsift/forky] [--versions DIR] [--cases beside …]
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

_PROGRAMS = ("lines_of_use.py", "lines_of_causes.py")
# Not told: what 3.6 calls as a method and what it only gets are one instruction.
_SINCE = {"items": (3, 7), "values": (3, 7)}


# Where it is not among the functions that use what is filled.
_ELSEWHERE = {"later": lambda suspect: suspect["set_later"]["set_in"], "tied": lambda suspect: suspect["tied_in"],
              "made": lambda suspect: suspect["content_calls"]["called_in"]}


def cases_of(program):
    with open(os.path.join(cores.PROGRAMS, program), encoding="utf-8") as file:
        return re.findall(r"# line (\w+)$", file.read(), re.M)


def main():
    parser = harness.parser(__doc__.splitlines()[0], kinds=("kernel",))
    parser.add_argument("--cases", nargs="*", default=[case for program in _PROGRAMS for case in cases_of(program)])
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "lines_of_use")
    for interpreter in found:
        if interpreter.old:
            continue
        for kind in kinds:
            began = time.monotonic()
            cases = [case for case in options.cases if interpreter.version >= _SINCE.get(case, (3,))]
            wrong = ["%s %s %s: %s" % (interpreter.name, case, kind, fault)
                     for case in cases for fault in faults_of(options, interpreter, case, kind, work)]
            print("%-18s %-7s %d of %d right, %.1f s" % (interpreter.name, kind, len(cases) - len(wrong), len(cases), time.monotonic() - began),
                  flush=True)
            failures += wrong
    return harness.end(failures)


def faults_of(options, interpreter, case, kind, work):
    folder = harness.folder_for(interpreter, work, "heapsift-lines-of-use-")
    try:
        program = next(one for one in _PROGRAMS if case in cases_of(one))
        for name in (program, "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        truth_path = os.path.join(folder, "truth.json")
        core, _ = cores.take_at_rest(interpreter, [program, case], kind, folder, truth_path)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        suspects = AskedCore(options.heapsift, core, folder, interpreter.tree).data("suspects")["suspects"]
        if not suspects:
            return ["no suspect"]
        found = _ELSEWHERE.get(case, lambda suspect: suspect["used_in"])(suspects[0])
        places = [(place["function"].split(".")[-1], place["line"]) for place in found]
        named = [line for _, line in places]
        if truth["line"] not in named:
            return ["line %d is not among %s: %s" % (truth["line"], places, suspects[0]["sentence"])]
        before = named[:named.index(truth["line"])]
        # Other lines of that program that fill it as well come first if their functions do.
        return ["line %d comes behind %s" % (truth["line"], places) for line in before if line not in truth["fill"]][:1]
    except (cores.NoCore, BadAnswer, OSError, KeyError, TypeError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


if __name__ == "__main__":
    sys.exit(main())
