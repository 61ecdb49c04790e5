#!/usr/bin/env python3
"""Well-known packages, as their users make them leak (testdata/programs/library_leaks.py): what the first screen must say.

    library_leaks.py --heapsift build/dev/heapsift [--interpreter PATH …] [--packages django flask …] [--cases leak_django …] [--kinds kernel gcore]
                     [--tree trixie=FOLDER --in-trees]

The first suspect must be the planted one: its expression or sentence names the holder, its cause is of the right kind, its fix has the word
that matters, its bytes are those that the program counted, within 10 %, and it names the function that uses the holder. The first screen must
say the same. Of a healthy program there must be no suspect. Packages that no interpreter has are named; with CI=true, on Debian 12 and 13, that is a failure.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer

PACKAGES = {"django": "django", "sqlalchemy": "sqlalchemy", "flask": "flask", "aiohttp": "aiohttp", "matplotlib": "matplotlib", "sklearn": "sklearn",
            "gevent": "gevent", "lxml": "lxml.etree", "twisted": "twisted.internet", "ipython": "IPython"}
_PROGRAMS = ("library_leaks.py", "library_leaks_science.py")  # with the cases
_FILES = _PROGRAMS + ("library_leaks_common.py", "library_leaks_store.py", "packages.py", "in_use.py", "standstill.py")
_BYTES = 0.10
_BY_GCORE = ("leak_flask", "leak_lxml")  # the same answer, of another kind of core


def all_cases():
    cases = []
    for program in _PROGRAMS:
        with open(os.path.join(cores.PROGRAMS, program), encoding="utf-8") as file:
            cases += re.findall(r"^def ((?:leak|healthy)_\w+)\(\)", file.read(), re.M)
    return cases


def package_of(case):
    return case.split("_")[1]


def main():
    parser = harness.parser("asks heapsift for the causes of leaks of well-known packages")
    parser.add_argument("--packages", nargs="*", default=list(PACKAGES), choices=list(PACKAGES))
    parser.add_argument("--cases", nargs="*", default=all_cases())
    parser.add_argument("--in-trees", action="store_true", help="also in the trees of --tree, as far as these have the packages")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "library-leaks")
    tested = set()
    for interpreter in found:
        if interpreter.debug or (interpreter.tree and not options.in_trees):  # their suite's packages are tested where that suite runs
            continue
        for package in options.packages:
            cases = [case for case in options.cases if package_of(case) == package]
            if not cases:
                continue
            if not has(interpreter, PACKAGES[package]):
                print("%-18s not tested: it has no %s" % (interpreter.name, package))
                continue
            tested.add(package)
            began, right, tried = time.monotonic(), 0, 0
            for case in cases:
                for kind in kinds if case in _BY_GCORE else kinds[:1]:
                    faults = run_one(options, interpreter, case, kind, work)
                    tried, right = tried + 1, right + (not faults)
                    failures += ["%s %s %s: %s" % (interpreter.name, case, kind, fault) for fault in faults]
            print("%-18s %-12s %d of %d right, %.1f s" % (interpreter.name, package, right, tried, time.monotonic() - began), flush=True)
    missing = [package for package in options.packages if package not in tested]
    if missing:
        print("not tested here, no interpreter has them: %s" % ", ".join(missing))
        if os.environ.get("CI") == "true" and is_debian_12_or_13():
            failures.append("CI must test these as well: %s" % ", ".join(missing))
    return harness.end(failures)


def has(interpreter, module):
    return subprocess.run([interpreter.path, "-c", "import " + module], env=interpreter.environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, preexec_fn=lambda: interpreter.enter(interpreter.tree or "/")).returncode == 0


def is_debian_12_or_13():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            return re.search(r"^VERSION_CODENAME=(bookworm|trixie)$", file.read(), re.M) is not None
    except OSError:
        return False


def run_one(options, interpreter, case, kind, work):
    folder = harness.folder_for(interpreter, work, "heapsift-library-leaks-")
    try:
        for name in _FILES:
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        truth_path = os.path.join(folder, "truth.json")
        # What packages keep of their own, fonts and the history of cells, stays in the folder.
        core, _ = cores.take_at_rest(interpreter, ["library_leaks.py", case], kind, folder, truth_path, HOME=interpreter.inside(folder))
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
    for command in ("suspects", "overview"):
        for suspect in asked.data(command)["suspects"]:
            yield "%s: nothing is wrong, and yet: %s, %d bytes: %s" % (command, suspect["kind"], suspect["bytes"], words_of(suspect))


def faults_of_leak(asked, truth):
    suspects = asked.data("suspects")["suspects"]
    if not suspects:
        yield "no suspect"
        return
    first = suspects[0]
    said = words_of(first)
    if first["kind"] != truth["kind"]:
        yield "the first is %s, not %s: %s" % (first["kind"], truth["kind"], said)
    if truth["holder"] not in "%s %s" % (first["expression"], first["sentence"]):
        yield "%r is not named: %s" % (truth["holder"], said)
    if truth["fix"] not in str(first["fix"]):
        yield "%r is not its fix: %s" % (truth["fix"], said)
    for word in truth.get("says", ()):
        if word not in said:
            yield "%r is not said: %s" % (word, said)
    if abs(first["bytes"] - truth["bytes"]) > _BYTES * truth["bytes"]:
        yield "%d bytes (%+.1f %%), and the program counted %d" % (first["bytes"], 100 * (first["bytes"] / truth["bytes"] - 1), truth["bytes"])
    if "used_in" in truth:
        users = [place["function"] for place in first["used_in"]]
        if not any(user.split(".")[-1] == truth["used_in"].split(".")[-1] for user in users[:3]):
            yield "%s is not among the functions that use it: %s" % (truth["used_in"], ", ".join(users))
    for other in suspects[1:]:
        if other["bytes"] > _BYTES * truth["bytes"]:
            yield "another suspect: %s, %d bytes: %s" % (other["kind"], other["bytes"], words_of(other))
    yield from faults_of_first_screen(asked, truth, first)


def faults_of_first_screen(asked, truth, first):
    overview = asked.data("overview")
    for key in ("kind", "bytes", "expression", "sentence", "fix"):
        if not overview["suspects"] or overview["suspects"][0][key] != first[key]:
            yield "the first screen does not say its %s" % key
    if truth["holder"] not in overview["headline"]:
        yield "%r is not in the first sentence: %s" % (truth["holder"], overview["headline"])


if __name__ == "__main__":
    sys.exit(main())
