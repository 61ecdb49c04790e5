#!/usr/bin/env python3
"""Garbage in real cores: what heapsift says that gc.collect() would find must be what it finds in a twin of the process.

    cycles.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found and each program: the process forks, the twin collects with DEBUG_SAVEALL and writes what came into gc.garbage
(testdata/programs/twin.py), the process itself dumps core, and heapsift is asked for the same list. A line says how many there are and
how many are missing or extra: all addresses must be the same, except for the twin's own, which are listed. heapsift must also find
planted cycles that no collection finds, and report the collector's settings. An extension leaks one reference on each of a thousand
objects of two kinds: these must have an excess of one.
"""

import argparse
import atexit
import collections
import csv
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cores
import interpreters
from run import missing_interpreters

PROGRAMS = ("planted", "suite", "server", "case", "settings", "leak", "old")
SETTINGS = ("plain", "saveall", "disabled", "frozen", "thresholds")
_SECONDS = 600
_LISTED = 10


def main():
    options = parse()
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-cycles-", dir="/var/tmp"))
    os.makedirs(work, exist_ok=True)
    if not options.work and not options.keep:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
    found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
    failures = missing_interpreters(found, options.required)
    if not found:
        failures.append("no interpreter was found")
    if cores.why_no_kernel_cores():
        print("not tested here: " + cores.why_no_kernel_cores())
        return 0
    library, reason = leak_library(work)
    if reason:
        print("not tested here: leak: " + reason)
    print(_HEAD, flush=True)
    for interpreter in found:
        for program in options.programs:
            if program == "leak" and not library:
                continue
            if interpreter.old != (program == "old"):
                continue
            for setting in (SETTINGS if program == "settings" else ("",)):
                if setting == "frozen" and interpreter.version < (3, 7):  # gc.freeze()
                    continue
                try:
                    problem = run_one(options, interpreter, program, setting, library, work)
                except cores.NoCore as no_core:
                    problem = str(no_core)
                if problem:
                    failures.append("%s %s %s: %s" % (interpreter.name, program, setting, problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="compares the garbage that heapsift finds with what the collector finds")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--ring", type=int, default=1000000, help="links of the long ring")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken; some 500 MB free")
    parser.add_argument("--keep", action="store_true", help="keep the cores")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def leak_library(work):
    """(path of the compiled leak.c, why there is none): one of them is None."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None, "no C compiler"
    path = os.path.join(work, "libleak.so")
    done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", path, os.path.join(cores.PROGRAMS, "leak.c")], capture_output=True, text=True)
    return (path, None) if done.returncode == 0 else (None, (done.stderr.strip().splitlines() or ["the compiler failed"])[-1])


_HEAD = "%-16s %-8s %-10s %9s %9s %9s %7s %6s %6s  %s" % (
    "interpreter", "program", "setting", "objects", "twin", "heapsift", "missing", "extra", "sec", "besides")


def run_one(options, interpreter, program, setting, library, work):
    """Prints the line of the table; returns what went wrong, or None."""
    parent = os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work
    folder = tempfile.mkdtemp(prefix="heapsift-cycles-", dir=parent)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        if library:
            shutil.copy(library, folder)
        sign = os.path.join(folder, "found.json")
        core, _ = cores.take_at_rest(interpreter, ["cycles_%s.py" % program], "kernel", folder, sign, HEAPSIFT_SETTING=setting, HEAPSIFT_RING=str(options.ring))
        with open(sign) as file:
            truth = json.load(file)
        began = time.monotonic()
        asked = Asked(options, interpreter, core, folder)
        result = compare(asked, truth)
        result["sec"] = time.monotonic() - began
        besides, faults = CHECKS[program](asked, truth, setting)
        print("%-16s %-8s %-10s %9d %9d %9d %7d %6d %6.1f  %s" % (
            interpreter.name, program, setting, asked.objects(), result["twin"], result["heapsift"], result["missing"], result["extra"], result["sec"], besides), flush=True)
        for line in result["lines"]:
            print("  " + line)
        if result["missing"] or result["extra"]:
            faults.insert(0, "%d missing, %d too many" % (result["missing"], result["extra"]))
        return "; ".join(faults) or None
    finally:
        if options.keep:
            print("  kept: %s" % folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


class Asked:
    """heapsift's answers about one core."""

    def __init__(self, options, interpreter, core, folder):
        self._command = [options.heapsift]
        self._end = ["--core", core] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
        self._environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder}

    def text(self, *words):
        done = subprocess.run(self._command + list(words) + self._end, capture_output=True, text=True, env=self._environment, timeout=_SECONDS)
        if done.returncode:
            raise cores.NoCore("heapsift %s: exit %d: %s" % (" ".join(words), done.returncode, (done.stderr.strip().splitlines() or ["it said nothing"])[-1]))
        return done.stdout

    def data(self, *words):
        document = json.loads(self.text(*words, "--json"))
        return {**document["data"], "certain": document["certain"]}

    def table(self, *words):
        return list(csv.DictReader(self.text(*words, "--format", "csv").splitlines()))

    def objects(self):
        return self.data("types", "-n", "1")["total"]["count"]


def compare(asked, truth):
    own = {address for address, _ in truth["own"]}
    twin = {address: name for address, name in truth["found"] if address not in own}
    said = {int(row["address"], 16): row["type"] for row in asked.table("gc", "--list")}
    missing, extra = twin.keys() - said.keys(), said.keys() - twin.keys()
    lines = []
    for title, names in (("missing", [twin[address] for address in missing]), ("too many", [said[address] for address in extra])):
        for name, count in collections.Counter(names).most_common(_LISTED):
            lines.append("%s: %d %s" % (title, count, name))
    lines += ["the twin's own: %#x %s" % (address, name) for address, name in truth["own"]]
    return {"twin": len(twin), "heapsift": len(said), "missing": len(missing), "extra": len(extra), "lines": lines}


def check_planted(asked, truth, _):
    cycles = asked.data("cycles")
    faults = []
    invisible = {address for cycle in cycles["cycles"] if cycle["state"] == "invisible" for address in members(cycle)}
    planted = set(truth["invisible"])
    if not planted <= invisible:
        faults.append("%d of %d invisible arrays not found" % (len(planted - invisible), len(planted)))
    of_arrays = {cycle["reason"] for cycle in cycles["cycles"] if planted & set(members(cycle))}
    if planted and of_arrays != {"never: the collector does not look inside numpy.ndarray"}:
        faults.append("the arrays' reason: %s" % of_arrays)
    blind = set(truth["blind"])
    of_blind = {cycle["reason"] for cycle in cycles["cycles"] if blind & set(members(cycle))}
    if not blind <= invisible or of_blind != {"never: the collector does not look inside extension.Blind"}:
        faults.append("%d of %d objects of a type without traverse not found: %s" % (len(blind - invisible), len(blind), of_blind))
    states = cycles["states"]
    words = "%d cycles of %d kinds; invisible: %d of %d arrays (NumPy %s), %d of %d of a type without traverse; states: %s" % (
        cycles["total"]["cycles"], cycles["total"]["kinds"], len(planted & invisible), len(planted), truth["numpy"] or "absent", len(blind & invisible), len(blind),
        ", ".join("%d %s" % (count, state) for state, count in states.items()))
    if not cycles["certain"]:
        faults.append("said to be uncertain")
    return words, faults


def members(cycle):
    return [int(member["address"], 16) for member in cycle["members"]]


def check_work(asked, truth, _):
    cycles = asked.data("cycles")
    return "%d cycles of %d kinds; %s; certain: %s" % (cycles["total"]["cycles"], cycles["total"]["kinds"], truth.get("work", ""), cycles["certain"]), []


def check_case(asked, truth, _):
    """Two objects with __del__ that refer to each other: waiting at the first core; the program itself tells the second state."""
    faults = []
    states = [asked.data("show", hex(address), "--retained")["state"] for address in truth["pair"]]
    if states != ["waiting", "waiting"]:
        faults.append("states %s" % states)
    if not truth["collected"]:
        faults.append("a collection in the twin did not free them")
    cycle = [c for c in asked.data("cycles")["cycles"] if set(members(c)) & set(truth["pair"])]
    if len(cycle) != 1 or "finalizer" not in cycle[0]["reason"]:
        faults.append("the cycle: %s" % [c["reason"] for c in cycle])
    gone = asked.data("gc")["interpreters"][0]["collectable"]["count"]
    return "%s: %s; would free %d" % (", ".join(states), cycle[0]["reason"] if cycle else "?", gone), faults


def check_old(asked, truth, _):
    """2.7: what has __del__, or is a generator inside a try statement, is left alone with all that it leads to."""
    faults = []
    cycles = asked.data("cycles")["cycles"]
    for when in ("in_garbage", "waiting"):
        states = {asked.data("show", hex(address), "--retained")["state"] for address in truth[when]["finalizers"]}
        if states != {"uncollectable"}:
            faults.append("%s: states %s" % (when, states))
        for address in truth[when]["finalizers"]:
            reasons = [c["reason"] for c in cycles if address in members(c)]
            if len(reasons) != 1 or "finalizer" not in reasons[0]:
                faults.append("%s: the reason: %s" % (when, reasons))
    state = asked.data("gc")["interpreters"][0]
    return "%d in gc.garbage; would free %d" % (truth["garbage_before"], state["collectable"]["count"]), faults


def check_settings(asked, truth, setting):
    state = asked.data("gc")["interpreters"][0]
    faults = ["%s is %r and %r is said" % (key, truth["state"][key], state[key]) for key in truth["state"] if state[key] != truth["state"][key]]
    wanted = {"plain": "young: ", "saveall": "in gc.garbage: DEBUG_SAVEALL", "disabled": "the collector is disabled", "frozen": "frozen: ", "thresholds": "young: "}[setting]
    mine = [c for c in asked.data("cycles")["cycles"] if set(members(c)) & set(truth["pair"])]
    if [c["reason"][:len(wanted)] for c in mine] != [wanted]:
        faults.append("the reason: %s" % [c["reason"] for c in mine])
    return "%s; %s" % (mine[0]["reason"] if mine else "?", {key: state[key] for key in truth["state"]}), faults


def check_leak(asked, truth, _):
    data = asked.data("refcounts")
    excess = {int(row["address"], 16): row for row in data["objects"]}
    faults = []
    for kind in ("tracked", "untracked"):
        wrong = [address for address in truth[kind] if address not in excess or excess[address]["excess"] != 1]
        if wrong:
            faults.append("%d of %d %s objects have not an excess of one" % (len(wrong), len(truth[kind]), kind))
    leaked = set(truth["tracked"]) | set(truth["untracked"])
    others = [row for address, row in excess.items() if address not in leaked]
    unexplained = sum(max(0, row["excess"] - len(row["holders"]) - row["leaked"]) for row in others)
    proved = sum(excess[address]["leaked"] for address in leaked & excess.keys())
    # Of others a stale word still has the address.
    if proved < 0.9 * len(leaked):
        faults.append("only %d of %d leaks are told as leaks" % (proved, len(leaked)))
    total = sum(row["excess"] for row in others)
    if clean := excess.keys() & set(truth["clean"]):
        faults.append("%d of the program's own objects are in excess" % len(clean))
    if open_ones := [row for row in others if (row["type"] in ("list", "dict", "set") or row["type"].startswith("__main__.")) and not row["holders"]]:
        faults.append("excess without a holder: %s" % [(row["address"], row["type"]) for row in open_ones[:5]])
    if 100 * (total - unexplained) < 95 * total:
        faults.append("a holder is found for %d of %d references alone" % (total - unexplained, total))
    worst = collections.Counter()
    for row in others:
        worst[row["type"]] += max(0, row["excess"] - len(row["holders"]) - row["leaked"])
    deficits = ", ".join("%d %s" % (row["objects"], row["name"]) for row in data["deficits_by_type"][:6])
    return "%d leaked found, %d proved; else %d in excess, %.1f %% with a holder or leaked (open: %s); deficits: %d references, %d of them of static objects (%s)" % (
        len(leaked & excess.keys()), proved, total, 100.0 * (total - unexplained) / max(1, total), dict(+worst), data["total"]["deficit"],
        data["total"]["deficit_explained"], deficits), faults


CHECKS = {"planted": check_planted, "suite": check_work, "server": check_work, "case": check_case, "settings": check_settings, "leak": check_leak, "old": check_old}


if __name__ == "__main__":
    sys.exit(main())
