#!/usr/bin/env python3
"""What keeps an object alive, what it retains and who owns it: heapsift compared with a process that made its heap to plan.

    why.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter found: testdata/programs/plants.py hangs ten objects in every kind of place and writes down the right answers
(`plants.py` says how); its core is taken; for each plant heapsift is asked

    why        of one of the ten: the kind of the root, an expression that a person would write, steps that lead from root to object
    show       the expression, typed back, leads to the same object
    retained   of the list of ten: exactly the bytes that only the list holds
    dominators of the list: the ten are below it, and it is below its owner's group

Exit 1 if anything is wrong.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer, GroupsOfTree, address_of, chain_problem, first_path

_WHICH = 3  # of the ten: as plants.py has it
_HEAD = "%-16s %-6s %7s %7s %7s %8s" % ("interpreter", "core", "plants", "right", "wrong", "seconds")


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "why")
    print(_HEAD, flush=True)
    for interpreter in found:
        for kind in kinds:
            problem = run_one(options, interpreter, kind, work)
            if problem:
                failures.append("%s %s: %s" % (interpreter.name, kind, problem))
    return harness.end(failures)


def parse():
    parser = argparse.ArgumentParser(description="asks heapsift what keeps objects that a process planted by plan")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--kinds", nargs="*", default=cores.KINDS, choices=cores.ALL_KINDS)
    parser.add_argument("--plants", nargs="*", default=[], metavar="WORD", help="only plants in whose name the word stands")
    parser.add_argument("--answers", action="store_true", help="print of each plant the root, the group and the expression that heapsift has")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and plants.json")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, kind, work):
    """Prints the line of the table; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-why-")
    try:
        began = time.monotonic()
        core, plants = take_plants(interpreter, kind, folder)
        plants = [plant for plant in plants if not options.plants or any(word in plant["name"] for word in options.plants)]
        verdicts = judge_all(AskedCore(options.heapsift, core, folder, interpreter.tree), plants)
        return print_verdicts(options, "%-16s %-6s" % (interpreter.name, kind), plants, verdicts, time.monotonic() - began)
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def take_plants(interpreter, kind, folder):
    for path in glob.glob(cores.PROGRAMS + "/*.py"):
        shutil.copy(path, folder)
    compile_library(folder)
    path = os.path.join(folder, "plants.json")
    core, said = cores.take_at_rest(interpreter, [interpreter.program("plants") + ".py"], kind, folder, path)
    if said.strip():
        print("  " + said.strip().splitlines()[-1])
    with open(path, encoding="ascii") as file:
        return core, json.load(file)


def compile_library(folder):
    """It uses no libc, so that it loads in each tree. Without a compiler plants.py runs without it."""
    compiler = shutil.which("cc")
    if compiler:
        library, source = os.path.join(folder, "libkept.so"), os.path.join(cores.PROGRAMS, "kept.c")
        done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-nostdlib", "-o", library, source])
        if done.returncode:
            raise cores.NoCore("%s does not compile kept.c" % compiler)


def print_verdicts(options, which, plants, verdicts, seconds):
    wrong = sum(bool(verdict.faults) for verdict in verdicts)
    print("%s %7d %7d %7d %8.1f" % (which, len(plants), len(plants) - wrong, wrong, seconds))
    for plant, verdict in zip(plants, verdicts):
        if options.answers or verdict.faults:
            print("  %s (%s): root %s, group %s, %s" % (plant["name"], plant["objects"][_WHICH], verdict.kind, verdict.group, verdict.expression))
        for fault in verdict.faults:
            print("    wrong: " + fault)
    sys.stdout.flush()
    return "%d of %d plants wrong" % (wrong, len(plants)) if wrong else None


class Verdict:
    def __init__(self):
        self.kind = self.group = self.expression = None
        self.faults = []

    def attempt(self, judge, *arguments):
        try:
            self.faults += filter(None, judge(self, *arguments))
        except BadAnswer as reason:
            self.faults.append(str(reason))
        except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
            self.faults.append("%s: the answer has another shape: %s: %s" % (judge.__name__, type(error).__name__, error))


def judge_all(core, plants):
    """In the order of the plants."""
    try:
        groups = GroupsOfTree(core.data("dominators")["tree"])
        fault = None
    except (BadAnswer, AttributeError, KeyError, TypeError) as reason:
        groups, fault = GroupsOfTree({}), "the tree of all: %s" % reason
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda plant: judge_plant(core, plant, groups), plants))
    if fault and verdicts:
        verdicts[0].faults.append(fault)
    return verdicts


def judge_plant(core, plant, groups):
    verdict = Verdict()
    verdict.attempt(why_faults, core, plant)
    verdict.attempt(retained_faults, core, plant)
    verdict.attempt(dominator_faults, core, plant)
    verdict.attempt(group_faults, core, plant, groups)
    return verdict


def why_faults(verdict, core, plant):
    target = plant["objects"][_WHICH]
    why = core.data("why", target)
    if address_of(why["target"]) != target:
        yield "why answers about %s" % address_of(why["target"])
    verdict.group = why.get("group")
    if not plant["kinds"]:
        if why["reachable"] or why["paths"]:
            yield "no root reaches it, and why says: reachable %s, %d paths" % (why["reachable"], len(why["paths"]))
        return
    if why["reachable"] is not True:
        yield "why says that it is not reachable"
    path = first_path(why)
    verdict.kind, verdict.expression = path["root"]["kind"], path["expression"]
    if verdict.kind not in plant["kinds"]:
        yield "the root is of kind %s, not %s" % (verdict.kind, " or ".join(plant["kinds"]))
    yield chain_problem(path, target)
    if plant["holder"] not in [step.get("source") for step in path["steps"]]:
        yield "the path does not pass its list, %s" % plant["holder"]
    if not is_right(verdict.expression, plant):
        yield "the expression is none of: %s" % ", ".join(plant["expressions"] + [beginning + "…" for beginning in plant["beginnings"]])
    shown = core.data("show", verdict.expression)
    if address_of(shown) != target:
        yield "typed back, the expression is %s" % address_of(shown)


def is_right(expression, plant):
    return expression in plant["expressions"] or (expression.startswith(tuple(plant["beginnings"])) and expression.endswith("[%d]" % _WHICH))


def retained_faults(verdict, core, plant):
    answer = core.data("retained", plant["holder"])
    if answer["retained_size"] != plant["retained_size"]:
        yield "retained_size is %s, not %d" % (answer["retained_size"], plant["retained_size"])
    if answer["retained"] < plant["retained_size"] - plant["counted_twice"]:
        yield "retained, %s, is less than the sizes, %d" % (answer["retained"], plant["retained_size"])
    if answer["objects"] not in (1, sum(row["count"] for row in answer["types"])):
        yield "retained: objects is %s: neither those asked about nor those of the table" % answer["objects"]
    if sum(row["memory"] for row in answer["types"]) != answer["retained"]:
        yield "the table by type adds up to %d, not %d" % (sum(row["memory"] for row in answer["types"]), answer["retained"])
    alone = core.data("show", plant["holder"], "--retained")
    for key in ("retained", "retained_size"):
        if alone[key] != answer[key]:
            yield "%s: show says %s, retained says %s" % (key, alone[key], answer[key])


def dominator_faults(verdict, core, plant):
    tree = core.data("dominators", plant["holder"])["tree"]
    if address_of(tree) != plant["holder"]:
        yield "dominators answers about %s" % address_of(tree)
    below = {address_of(child) for child in tree["children"]}
    missing = [one for one in plant["objects"] if one not in below]
    if missing:
        yield "%d of the ten are not below their list in the dominator tree, first %s" % (len(missing), missing[0])
    verdict.group = tree.get("group") or verdict.group
    dominator = core.data("show", plant["objects"][_WHICH], "--retained")["dominator"]
    if not dominator or address_of(dominator) != plant["holder"]:
        yield "its dominator is %s, not its list" % (dominator and address_of(dominator))


def group_faults(verdict, core, plant, groups):
    """`why` and the tree of one object may name the group; if not, the whole tree has the object, or one that dominates it, somewhere
    below the group."""
    above, seen = plant["holder"], set()
    while above and above not in groups.group_of and above not in seen:
        seen.add(above)
        dominator = core.data("show", above, "--retained")["dominator"]
        above = dominator and address_of(dominator)
    in_tree = groups.group_of.get(above) if above else None
    said = [group for group in (verdict.group, in_tree) if group]
    verdict.group = " and ".join(sorted(set(said))) or None
    if not said:
        yield "no group is said of it"
    for group in said:
        if group not in plant["groups"]:
            yield "it is below %s, not %s" % (group, " or ".join(plant["groups"]))
            return


if __name__ == "__main__":
    sys.exit(main())
