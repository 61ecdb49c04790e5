#!/usr/bin/env python3
"""Two CPython runtimes in one process: each of them answers, and nothing of one is in the other's answer.

    runtimes.py --heapsift build/release/heapsift [--versions ~/.pyenv/versions] [--all]

The shared libraries of this machine's Pythons are taken two by two (--all: every pair, else each with the next), in both orders, by `two_runtimes.c`. Each runtime
lists what its collector knows; with --interpreter N every object of that list must be a row of the same type and size, and no row may be in the other's list.
Without it the first is meant, and a warning names both. A number too high is refused (exit 2). The number given with a core is remembered with it, and the index
keeps the answers apart. The same with the files away.
"""

import glob
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import cores
import files_away
import harness

_LIST = r"""
import gc, sys
class %(name)s:
    def __init__(self, number):
        self.number, self.payload = number, [number] * 20
KEPT = [%(name)s(number) for number in range(2000)]
def stand_still():
    listed, rows = gc.get_objects(), []
    for one in listed:
        if type(one).__module__ in ('builtins', '__main__'):
            rows.append('%%#x\t%%s\t%%d\n' %% (id(one), type(one).__name__, sys.getsizeof(one)))
    del listed, one
    with open(%(path)r, 'w') as file:
        file.writelines(rows)
gc.disable()
"""
_KINDS = "dict list tuple function set First Second".split()  # types of which every object lives on after the list was made


def main():
    parser = harness.parser("processes with two runtimes", kinds=("kernel",))
    parser.add_argument("--all", action="store_true", help="every pair of libraries")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, _, _, failures = harness.begin(options, "runtimes")
    found = libraries(options.versions)
    if len(found) < 2:
        print("not tested here: fewer than two shared libraries of CPython")
        return harness.end([])
    program = os.path.join(work, "two_runtimes")
    subprocess.run(["cc", "-O1", "-o", program, os.path.join(cores.PROGRAMS, "two_runtimes.c"), "-ldl"], check=True)
    pairs = itertools.combinations(found, 2) if options.all else zip(found, found[1:])
    for pair in pairs:
        for first, second in (pair, pair[::-1]):
            what = "%s, %s" % (os.path.basename(first[0]), os.path.basename(second[0]))
            problems = try_pair(options, work, program, first, second)
            print("%-48s %s" % (what, "; ".join(problems) or "each answers"), flush=True)
            failures += ["%s: %s" % (what, problem) for problem in problems]
    return harness.end(failures)


def libraries(versions):
    """(path, home), one of each version; debug builds are others."""
    found = {}
    for pattern, home in (("/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0", lambda path: "/usr"),
                          ((versions or "/nowhere") + "/*/lib/libpython3.*.so.1.0", lambda path: os.path.dirname(os.path.dirname(path)))):
        for path in sorted(glob.glob(pattern)):
            number = re.search(r"libpython3\.(\d+)", path)
            if number and os.path.exists(os.path.join(home(path), "lib/python3.%s/os.py" % number[1])):
                found.setdefault(os.path.basename(path) + home(path), (path, home(path)))
    return sorted(found.values(), key=lambda one: int(re.search(r"libpython3\.(\d+)", one[0])[1]))


def try_pair(options, work, program, *pair):
    folder = tempfile.mkdtemp(prefix="heapsift-runtimes-", dir=work)
    try:
        words = []
        for (path, home), name in zip(pair, ("First", "Second")):
            words += [path, home, _LIST % {"name": name, "path": os.path.join(folder, name)}]
        process = subprocess.run([program, *words], cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}, capture_output=True, text=True,
                                 preexec_fn=cores_of_any_size)
        found = glob.glob(folder + "/core*")
        if process.returncode != -6 or not found:
            return ["no core: exit %d, %s" % (process.returncode, process.stderr[-300:])]
        problems = ask_about(options, folder, found[0], [path for path, _ in pair])
        files_away.move_files_away(found[0])
        return problems + ["files away: " + one for one in ask_about(options, folder, found[0], [path for path, _ in pair])]
    finally:
        harness.leave(folder, options.keep)


def cores_of_any_size():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def ask_about(options, folder, core, paths):
    problems, rows = [], {}
    code, plain = ask(options, folder, "types", core, "--json")
    warned = [one["message"] for one in plain["warnings"] if one["code"] == "several-runtimes"]
    if len(warned) != 1 or any(os.path.basename(path) not in warned[0] for path in paths):
        return ["no warning that names both: exit %d, %s" % (code, plain["warnings"] or plain.get("error"))]
    order = sorted(("First", "Second"), key=lambda name: warned[0].index(paths[name == "Second"].rsplit("/", 1)[-1]))
    if paths[0].rsplit("/", 1)[-1] == paths[1].rsplit("/", 1)[-1]:  # Debian's and pyenv's of one version
        order = sorted(("First", "Second"), key=lambda name: warned[0].index(paths[name == "Second"].split("/", 2)[2]))
    if code:
        problems.append("types: exit %d, %s" % (code, [one["code"] for one in plain["warnings"]]))
    for number, name in enumerate(order, 1):
        code, answer = ask(options, folder, "objects", core, "--json", "--interpreter=%d" % number)
        if code or answer["warnings"] and any(one["code"] in ("several-runtimes", "arenas-not-found") for one in answer["warnings"]):
            problems.append("%d: exit %d, %s" % (number, code, [one["code"] for one in answer["warnings"]] or answer.get("error")))
        rows[name] = {int(row["address"], 16): row for row in (answer["data"] or {"objects": []})["objects"]}
        python = (answer["core"]["python"] or {})
        if (python.get("interpreter"), python.get("interpreters")) != (number, 2):
            problems.append("%d: core.python is %s" % (number, python))
    for name, other in (order, order[::-1]):
        truth, elsewhere = listed(folder, name), listed(folder, other)
        missing = [address for address in truth if address not in rows[name]]
        wrong = [address for address, (kind, size) in truth.items() if address in rows[name] and
                 (rows[name][address]["type"].split(".")[-1], rows[name][address]["size"]) != (kind, size)]
        strange = [address for address in elsewhere if address in rows[name]]
        for what, found in (("missing", missing), ("of another type or size", wrong), ("of the other runtime", strange)):
            if found:
                problems.append("%s: %d of %d objects are %s" % (name, len(found), len(truth), what))
    code, refused = ask(options, folder, "types", core, "--json", "--interpreter=3")
    if code != 2 or refused["error"]["code"] != "no-such-runtime":
        problems.append("3: exit %d, %s" % (code, refused.get("error")))
    counts = [counts_of(options, folder, order[1], core, "--interpreter=2"), counts_of(options, folder, order[1]), counts_of(options, folder, order[1], core)]
    if counts != [2000, 2000, 0]:
        problems.append("objects of the second, when it is named, when the core is in use, and when the core is named again: %s" % counts)
    return problems


def counts_of(options, folder, name, *words):
    code, answer = ask(options, folder, "types", *words, "--json")
    return sum(row["count"] for row in (answer["data"] or {"types": []})["types"] if row["name"] == "__main__." + name)


def listed(folder, name):
    with open(os.path.join(folder, name)) as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {int(address, 16): (kind, int(size)) for address, kind, size in rows if kind in _KINDS}


def ask(options, folder, *words):
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "XDG_CACHE_HOME": folder + "/cache", "XDG_STATE_HOME": folder + "/state"}
    done = subprocess.run([options.heapsift, *words], capture_output=True, text=True, env=environment, cwd=folder)
    return done.returncode, json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
