#!/usr/bin/env python3
"""Memory leaks that took people days to find, as small programs: the first sentence must name the culprit, and the next command prove it.

    cases.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

    activations   arrays left on the nodes of trees, below one global (NumPy)
    sessions      sessions never closed, in a thread-local; a generator that is suspended; two registries of the same jobs
    views         small slices that keep whole arrays, in a local of a function (NumPy)
    copies        the same with copies instead of slices: nothing is kept (NumPy)

For each interpreter found, testdata/programs/case_NAME.py runs, writes what it knows about itself, and its core is taken. Exit 1 if an
answer is wrong.
"""

import argparse
import glob
import json
import os
import re
import shutil
import sys
import time

import cores
import harness
from asked import AskedCore, BadAnswer, address_of, chain_problem, first_path

_NUMPY_CASES = ("activations", "views", "copies")
_HEAD = "%-16s %-12s %-6s %7s %7s %8s" % ("interpreter", "case", "core", "right", "wrong", "seconds")


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "cases")
    print(_HEAD, flush=True)
    for interpreter in found:
        for case in options.cases:
            for kind in kinds if interpreter.numpy or case not in _NUMPY_CASES else ():
                problem = run_one(options, interpreter, case, kind, work)
                if problem:
                    failures.append("%s %s %s: %s" % (interpreter.name, case, kind, problem))
    return harness.end(failures)


def parse():
    parser = argparse.ArgumentParser(description="asks heapsift for the culprit in programs that leak in known ways")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these, with NumPy, is not at hand")
    parser.add_argument("--cases", nargs="*", default=tuple(CASES), choices=tuple(CASES))
    parser.add_argument("--kinds", nargs="*", default=("kernel",), choices=cores.ALL_KINDS)
    parser.add_argument("--samples", default="1000", metavar="N", help="of the case activations")
    parser.add_argument("--rows", default="150", metavar="N", help="of the case views; 500, as it was found, makes a core of 1.1 GB")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores and truth.json")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, case, kind, work):
    """Prints the line of the table; returns what went wrong, or None."""
    folder = harness.folder_for(interpreter, work, "heapsift-case-%s-" % case)
    try:
        began = time.monotonic()
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        truth_path = os.path.join(folder, "truth.json")
        program = {"activations": ["case_activations.py", "--samples", options.samples], "views": ["case_views.py", "--rows", options.rows],
                   "copies": ["case_views.py", "--copies", "--rows", options.rows]}.get(case, ["case_%s.py" % case])
        core, _ = cores.take_at_rest(interpreter, program, kind, folder, truth_path)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        right, faults = 0, []
        asked = AskedCore(options.heapsift, core, folder, interpreter.tree)
        for question in CASES[case]:
            wrong = judge(question, asked, truth)
            right += not wrong
            faults += ["%s: %s" % (question.__name__, fault) for fault in wrong]
        print("%-16s %-12s %-6s %7d %7d %8.1f" % (interpreter.name, case, kind, right, len(CASES[case]) - right, time.monotonic() - began))
        for fault in faults:
            print("  wrong: " + fault)
        sys.stdout.flush()
        return "%d of %d answers wrong" % (len(CASES[case]) - right, len(CASES[case])) if faults else None
    except (cores.NoCore, OSError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


def judge(question, core, truth):
    faults = []
    try:
        faults += filter(None, question(core, truth))
    except BadAnswer as reason:
        faults.append(str(reason))
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        faults.append("the answer has another shape: %s: %s" % (type(error).__name__, error))
    return faults


# What several cases ask.

def headlines(core):
    """The first sentence: as data, if the answer has it, and as text, the first paragraph below the header."""
    data, text = core.data("overview"), core.text("overview")
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return ([data["headline"]] if data.get("headline") else []) + [" ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""]


def headline_faults(core, alternatives):
    """`alternatives`: groups of words; the sentence must contain all words of at least one group."""
    for line in headlines(core):
        if not any(all(re.search(r"(?<![\w.])" + re.escape(word) + r"(?!\w)", line) for word in words) for words in alternatives):
            yield "the first sentence lacks %s: %s" % (" or ".join(" with ".join(words) for words in alternatives), line)


def path_faults(core, address, *, kinds, is_right):
    """What is wrong with `why ADDRESS`; `is_right` judges the expression, which must lead back to the same object."""
    why = core.data("why", address)
    if why["reachable"] is not True:
        yield "why %s says that it is not reachable" % address
    path = first_path(why)
    if path["root"]["kind"] not in kinds:
        yield "the root of %s is of kind %s" % (address, path["root"]["kind"])
    yield chain_problem(path, address)
    if not is_right(path["expression"]):
        yield "the expression of %s is %s" % (address, path["expression"])
    shown = address_of(core.data("show", path["expression"]))
    if shown != address:
        yield "typed back, %s is %s, not %s" % (path["expression"], shown, address)


def rows_of(data):
    """The rows of a table, whatever its key is."""
    return next(data[key] for key in ("groups", "holders", "types", "rows") if isinstance(data.get(key), list))


def row_of(rows, holder, attribute):
    """The row of an owner's type and an attribute, `c` or `.c`."""
    return next((row for row in rows if row.get("holder") == holder and (row.get("attribute") or "").lstrip(".") == attribute), None)


def joint_entries(node):
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield from node.get("joint") or ()
        waiting.extend(node.get("children") or ())


def dominators_above(core, address):
    """Addresses from the object's dominator upwards."""
    for _ in range(1000):
        dominator = core.data("show", address, "--retained")["dominator"]
        if not dominator or not address_of(dominator):
            return
        address = address_of(dominator)
        yield address


# Activations: the arrays, by the attribute that holds them, and the list that they all hang below.

def activations_overview(core, truth):
    yield from headline_faults(core, [["trees_app.train_data"]])


def activations_why_type(core, truth):
    rows = rows_of(core.data("why", "--type", "numpy.ndarray"))
    for name, expected in truth["attributes"].items():
        row = row_of(rows, "trees_app.Node", name)
        if row is None:
            yield "no row of Node.%s" % name
            continue
        if row["count"] != expected["count"]:
            yield "Node.%s: %s arrays, not %d" % (name, row["count"], expected["count"])
        if row["size"] != expected["size"]:
            yield "Node.%s: size %s, not %d" % (name, row["size"], expected["size"])
        if row["retained"] < expected["array_data"]:
            yield "Node.%s: retained %s, and the elements are %d" % (name, row["retained"], expected["array_data"])
        if row.get("array_data", expected["array_data"]) != expected["array_data"]:
            yield "Node.%s: array data %s, not %d" % (name, row["array_data"], expected["array_data"])
        if not (row["expression"] or "").startswith("trees_app.train_data[*]"):
            yield "Node.%s: held from %s" % (name, row["expression"])
    if [row["retained"] for row in rows] != sorted((row["retained"] for row in rows), reverse=True):
        yield "the largest retained is not first"


def activations_by_holder(core, truth):
    rows = rows_of(core.data("types", "--by-holder"))
    for name, expected in truth["attributes"].items():
        fitting = [row for row in rows if row_of([row], "trees_app.Node", name)]
        if sum(row["count"] for row in fitting) != expected["count"]:
            yield "Node.%s: %s objects, not %d" % (name, sum(row["count"] for row in fitting), expected["count"])


def activations_arrays(core, truth):
    """The attributes by which arrays are held, and what all of them hang below."""
    rows = core.data("arrays", "--by-holder")["holders"]
    for name, expected in truth["attributes"].items():
        row = next((row for row in rows if (row["holder"], row["attribute"]) == ("trees_app.Node", name)), None)
        if not row:
            yield "no row for Node.%s" % name
        elif (row["arrays"], row["nbytes"], row["kept_bytes"]) != (expected["count"], expected["array_data"], expected["array_data"]):
            yield "Node.%s: %s" % (name, row)
        elif row["dominator"] != truth["train_data"]:
            yield "Node.%s hangs below %s" % (name, row["dominator"])


def activations_array_data(core, truth):
    """Headers and elements apart. NumPy itself has a few arrays more."""
    row = next(row for row in core.data("types")["types"] if row["name"] == "numpy.ndarray")
    count = sum(one["count"] for one in truth["attributes"].values()) + truth["params"]["count"]
    elements = sum(one["array_data"] for one in truth["attributes"].values()) + truth["params"]["array_data"]
    if not count <= row["count"] <= count + 100:
        yield "%d arrays, and the program made %d" % (row["count"], count)
    if not elements <= row["array_data"] <= elements + 1000000:
        yield "%d bytes of elements, and the program has %d" % (row["array_data"], elements)


def activations_why_one(core, truth):
    for example in truth["examples"]:
        yield from path_faults(core, example["address"], kinds=["module"], is_right=example["expression"].__eq__)


def activations_dominator(core, truth):
    for example in truth["examples"][:3]:
        if truth["train_data"] not in dominators_above(core, example["address"]):
            yield "train_data does not dominate %s" % example["expression"]
    elements = sum(one["array_data"] for one in truth["attributes"].values())
    retained = core.data("retained", "trees_app.train_data")
    if retained["retained_size"] < elements:
        yield "train_data retains %s, and the elements below it are %d" % (retained["retained_size"], elements)
    count = next((row["count"] for row in retained["types"] if row["name"] == "numpy.ndarray"), 0)
    if count != sum(one["count"] for one in truth["attributes"].values()):
        yield "train_data retains %d arrays" % count


# Sessions: the thread-local, the generator, and two registries that only together retain.

def sessions_overview(core, truth):
    yield from headline_faults(core, [["sessions_library.Session"], ["Session"], ["thread-local"], ["threading.local"],
                                      ["sessions_library._default_sessions"]])


def sessions_counts(core, truth):
    counts = {row["name"]: row["count"] for row in core.data("types")["types"]}
    for name in ("Session", "Graph", "Tensor"):
        expected = truth[name.lower() + "s"]
        if counts.get("sessions_library." + name) != expected:
            yield "%s %s, not %d" % (counts.get("sessions_library." + name), name, expected)


def sessions_retained(core, truth):
    answer = core.data("retained", "--type", "sessions_library.Session")
    if answer["retained_size"] < truth["bytes_in_tensors_of_sessions"]:
        yield "the sessions retain %s, and their tensors are %d" % (answer["retained_size"], truth["bytes_in_tensors_of_sessions"])


def sessions_thread_local(core, truth):
    tensor = truth["tensor_of_session"]
    beginnings = ("sessions_library._default_sessions", "threadlocal(0x", "thread('MainThread')")
    yield from path_faults(core, tensor["address"], kinds=["thread-local", "module"],
                           is_right=lambda text: text.startswith(beginnings) and text.endswith(tensor["ends"]))


def sessions_generator(core, truth):
    tensor = truth["tensor_of_scope"]
    endings = tuple(local + tensor["ends"] for local in (
        ".gen.gi_frame.f_locals['%s']" % tensor["local"], "generator(%s).%s" % (tensor["generator"], tensor["local"])))
    beginnings = ("stand_still().scope.", "thread('MainThread').stand_still().scope.", "generator(")
    yield from path_faults(core, tensor["address"], kinds=["frame"],
                           is_right=lambda text: text.startswith(beginnings) and text.endswith(endings))


def sessions_joint_holders(core, truth):
    jobs = truth["jobs"]
    entries = list(joint_entries(core.data("dominators")["tree"]))
    named = [entry for entry in entries if all(address in json.dumps(entry["holders"]) or name in json.dumps(entry["holders"])
                                               for address, name in zip(jobs["registries"], jobs["names"]))]
    if len(named) != 1:
        yield "%d of %d joint entries have the two registries as holders" % (len(named), len(entries))
        return
    if not jobs["size"] <= named[0]["retained"] <= 1.5 * jobs["size"]:
        yield "the two registries retain %s jointly, not some %d" % (named[0]["retained"], jobs["size"])


def sessions_retained_jointly(core, truth):
    """Together the registries retain themselves, their keys and the jobs; each alone retains no job."""
    jobs = truth["jobs"]
    together = core.data("retained", *jobs["registries"])
    expected = jobs["registries_size"] + jobs["keys_size"] + jobs["size"]
    if together["retained_size"] != expected:
        yield "both registries: retained_size %s, not %d" % (together["retained_size"], expected)
    for name in jobs["names"]:
        alone = core.data("retained", name)
        if any(row["name"] == "sessions_library.Job" for row in alone["types"]):
            yield "%s alone retains jobs" % name


# Views: the local that holds them.

def views_overview(core, truth):
    yield from headline_faults(core, [["selected", "func()", "%s:%d" % (truth["file"], truth["line"])],
                                      ["selected", "func()", truth["file"], "line %d" % truth["line"]]])


def views_pinned(core, truth):
    """Owners kept only by views: which, how large, how much of each is visible; and who holds the views."""
    data = core.data("arrays", "--pinned")
    total = data["total"]
    for name, expected in (("pinned_owners", truth["bases"]), ("pinned_views", 100), ("pinned_bytes", truth["pinned_bytes"]),
                           ("pinned_visible_bytes", truth["visible_bytes"])):
        if total[name] != expected:
            yield "%s is %s, not %d" % (name, total[name], expected)
    if {address_of(row["owner"]) for row in data["owners"]} != {view["base"] for view in truth["views"]}:
        yield "the pinned owners are not the bases of the views"
    by_example = {row["example"]: row["expression"] for row in data["owners"]}
    for number in (0, 37, 99):
        if by_example.get(truth["views"][number]["address"]) != "func().selected[%d]" % number:
            yield "view %d is reached as %s" % (number, by_example.get(truth["views"][number]["address"]))
    holder = core.data("arrays", "--pinned", "--by-holder")["holders"][0]
    if (holder["holder"], holder["attribute"], holder["arrays"]) != ("func()", "selected[*]", 100):
        yield "held by %s.%s: %d" % (holder["holder"], holder["attribute"], holder["arrays"])
    for word in (truth["function"], truth["file"], str(truth["line"])):
        if not re.search(r"(?<!\w)" + re.escape(word) + r"(?!\w)", holder["root"] or ""):
            yield "the holder's root lacks %s: %s" % (word, holder["root"])
    owner = next((row for row in core.data("arrays", "--owners")["owners"] if address_of(row["owner"]) == truth["data"]), None)
    if not owner or (owner["nbytes"], owner["views"], owner["pinned"]) != (truth["data_bytes"], 0, False):
        yield "data is %s" % owner


def copies_pinned(core, truth):
    total = core.data("arrays")["total"]
    if total["pinned_owners"] or total["pinned_bytes"]:
        yield "%(pinned_owners)d owners are pinned, with %(pinned_bytes)d bytes" % total


def views_why_one(core, truth):
    for index in (0, 37, 99):
        right = ["%s().selected[%d]" % (name, index) for name in ("func", "thread('MainThread').func")]
        yield from path_faults(core, truth["views"][index]["address"], kinds=["frame"], is_right=right.__contains__)


def views_root(core, truth):
    root = first_path(core.data("why", truth["views"][37]["address"]))["root"]
    for word in (truth["function"], truth["file"], str(truth["line"])):
        if not re.search(r"(?<!\w)" + re.escape(word) + r"(?!\w)", root["name"] or ""):
            yield "the root's name lacks %s: %s" % (word, root["name"])


def views_bases(core, truth):
    """A view retains its base, which nobody else holds; the list retains all of them."""
    view = truth["views"][37]
    dominator = core.data("show", view["base"], "--retained")["dominator"]
    if not dominator or address_of(dominator) != view["address"]:
        yield "the dominator of a base is %s, not its view" % (dominator and address_of(dominator))
    retained = core.data("retained", truth["selected"])
    if retained["retained_size"] < truth["pinned_bytes"]:
        yield "selected retains %s, and the views pin %d" % (retained["retained_size"], truth["pinned_bytes"])
    if retained["retained_size"] > truth["pinned_bytes"] + 100000:
        yield "selected retains %s, more than the views pin, %d" % (retained["retained_size"], truth["pinned_bytes"])


CASES = {
    "activations": (activations_overview, activations_why_type, activations_by_holder, activations_arrays, activations_array_data, activations_why_one,
                    activations_dominator),
    "sessions": (sessions_overview, sessions_counts, sessions_retained, sessions_thread_local, sessions_generator, sessions_joint_holders,
                 sessions_retained_jointly),
    "copies": (copies_pinned,),
    "views": (views_overview, views_pinned, views_why_one, views_root, views_bases),
}


if __name__ == "__main__":
    sys.exit(main())
