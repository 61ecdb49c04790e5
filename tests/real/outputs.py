#!/usr/bin/env python3
"""What heapsift writes about a real core, read back by others: the SQLite export with sqlite3, lines of JSON, a batch of cores.

    outputs.py --heapsift build/dev/heapsift [--core CORE]

The core is of this machine's newest /usr/bin/python3.N (the zoo, if NumPy is installed), or --core. The exports must say what `heapsift
objects` says, object by object. Interruptions, full disks and files that already exist must spoil nothing. A batch must have a line for
each core, with the exit code that heapsift has for it alone.
"""

import argparse
import collections
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import cores
import interpreters

_failures = []


def main():
    parser = argparse.ArgumentParser(description="reads heapsift's exports and batches again")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--core", metavar="PATH", help="this core, whole and with its files at hand; else one is taken")
    options = parser.parse_args()
    heapsift = Heapsift(os.path.abspath(options.heapsift))
    folder = tempfile.mkdtemp(prefix="heapsift-outputs-", dir="/var/tmp")
    try:
        heapsift.folder = folder
        core = os.path.abspath(options.core) if options.core else take_core(folder)
        if core:
            out = os.path.join(folder, "out")
            os.mkdir(out)
            check_exports(heapsift, core, out)
            check_pictures(heapsift, core, out)
            check_redacted(heapsift, core, out)
            check_retained(heapsift, core)
            check_interruptions(heapsift, core, out)
            check_batch(heapsift, core, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("failed: %d" % len(_failures) if _failures else "all as promised")
    return 1 if _failures else 0


def take_core(folder):
    pythons = interpreters.find({}, None, [])
    if not pythons:
        fail("a core of Python", "no /usr/bin/python3.N to take one of")
        return None
    kind = "kernel" if cores.why_no_kernel_cores() is None else "gcore"
    return cores.take(pythons[-1], "zoo", kind, folder).core


class Heapsift:
    def __init__(self, path):
        self.path = path
        self.folder = None

    def environment(self):
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": self.folder}
        environment.pop("HEAPSIFT_CORE", None)
        return environment

    def run(self, *arguments, **more):
        return subprocess.run([self.path, *arguments], env=self.environment(), stdin=subprocess.DEVNULL, text=True, errors="replace",
                              capture_output=True, timeout=300, **more)

    def start(self, *arguments, **more):
        return subprocess.Popen([self.path, *arguments], env=self.environment(), stdin=subprocess.DEVNULL, **more)


def fail(case, what):
    _failures.append(case)
    print("FAIL  %s: %s" % (case, what), flush=True)


def check(case, got, expected):
    if got != expected:
        fail(case, "%r, not %r" % (got, expected))


def done(case, detail):
    """Closes a group of checks: ok where none of them failed."""
    failed = len(_failures) - done.failures
    done.failures = len(_failures)
    print("%-5s %-28s %s" % ("FAIL" if failed else "ok", case, detail), flush=True)


done.failures = 0


# --- exports

_COLUMNS = ("size", "memory", "refcount", "gc_tracked", "value")


def check_exports(heapsift, core, out):
    rows = {}
    listing = heapsift.start("objects", core, "--format", "jsonl", "-n", "0", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in listing.stdout:
        row = json.loads(line)
        rows[int(row["address"], 16)] = (row["type"],) + tuple(row[key] for key in _COLUMNS)
    check("objects", listing.wait(), 0)

    database, lines = os.path.join(out, "heap.db"), os.path.join(out, "heap.jsonl")
    began = time.monotonic()
    check("export to SQLite", heapsift.run("export", core, "-o", database).returncode, 0)
    seconds = time.monotonic() - began
    check("mode of the file", oct(os.stat(database).st_mode & 0o777), "0o600")
    check("export to lines", heapsift.run("export", core, "-o", lines).returncode, 0)
    db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
    check("integrity", db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
    check("tables", [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")],
          ["array", "frame", "holder", "inventory", "meta", "native", "object", "reference", "region", "root", "string", "task", "thread", "type"])
    compare_objects(rows, db)
    compare_lines(lines, db)
    check_meta(dict(db.execute("SELECT key, value FROM meta")), rows)
    check_generations(db)
    check_tree(db)
    arrays = check_arrays(db)
    db.close()
    done("exports", "%d objects, %d arrays, %.1f MiB in %.1f s" % (len(rows), arrays, os.stat(database).st_size / 2**20, seconds))


def compare_objects(rows, db):
    """Every object, column by column."""
    seen = 0
    query = "SELECT object.address, name, %s FROM object JOIN type ON type_id = id" % ", ".join(_COLUMNS)
    for address, name, *columns in db.execute(query):
        seen += 1
        row = rows.get(address)
        columns[3] = bool(columns[3])
        # Text in the database is escaped for terminals; control characters make the difference.
        if row is None or (name, *columns[:4]) != row[:5] or (columns[4] != row[5] and all(32 <= ord(c) < 127 for c in row[5] or "")):
            fail("an object of the export", "%#x: %r, not %r" % (address, (name, *columns), row))
            return
    check("objects of the export", seen, len(rows))


def compare_lines(path, db):
    """The lines have as many rows of each table, and say of arrays and references what the database says."""
    counts, order = collections.Counter(), []
    arrays, references = {}, 0
    with open(path, encoding="ascii") as file:
        for line in file:
            row = json.loads(line)
            table = row.pop("table")
            counts[table] += 1
            if not order or order[-1] != table:
                order.append(table)
            if table == "reference":
                references ^= hash((int(row["source"], 16), int(row["target"], 16), row["kind"], row["followed"], counts[table]))
            if table == "array":
                arrays[int(row["address"], 16)] = (row["dtype"], json.dumps(row["shape"], separators=(",", ":")), row["nbytes"])
    check("order of the tables", order, ["meta", "type", "object", "reference", "root"] + (["array"] if arrays else []))
    for table in ("type", "object", "reference", "root", "array"):
        check("rows of " + table, counts[table], db.execute("SELECT count(*) FROM " + table).fetchone()[0])
    query = "SELECT source, target, kind, followed FROM reference ORDER BY rowid"
    stored = 0
    for number, (source, target, kind, followed) in enumerate(db.execute(query), 1):
        stored ^= hash((source % 2**64, target % 2**64, kind, bool(followed), number))
    check("references in lines", references, stored)
    check("many references", counts["reference"] > counts["object"], True)
    check("arrays in lines", arrays, {row[0]: row[1:] for row in db.execute("SELECT address, dtype, shape, nbytes FROM array")})


def check_meta(meta, rows):
    check("meta objects", meta.get("objects"), len(rows))
    check("meta complete", (meta.get("complete"), meta.get("certain"), meta.get("redacted")), (1, 1, 0))
    check("meta schema", meta.get("schema"), "heapsift.export/1")
    check("meta not_computed", json.loads(meta.get("not_computed") or "[]"), [])


def check_generations(db):
    """Tracked objects are in a list of the collector, others in none; a few tracked ones may be in none if it was at work."""
    wrong = db.execute("SELECT count(*) FROM object WHERE (generation IS NOT NULL) != gc_tracked").fetchone()[0]
    check("generation where tracked", wrong, 0)
    found = [generation for generation, in db.execute("SELECT DISTINCT generation FROM object WHERE generation IS NOT NULL")]
    check("generations", set(found) <= {0, 1, 2, 3} and len(found) > 1, True)


def check_tree(db):
    """Every object is retained by what dominates it; every object has a state; roots are reachable objects."""
    def count(query):
        return db.execute("SELECT count(*) FROM " + query).fetchone()[0]
    check("retained less than memory", count("object WHERE retained IS NULL OR retained < memory"), 0)
    check("retained by the dominator", count("object o JOIN object d ON o.dominator = d.address WHERE d.retained < o.retained + d.memory"), 0)
    check("dominators that are objects", count("object WHERE dominator IS NOT NULL AND dominator NOT IN (SELECT address FROM object)"), 0)
    sums = "SELECT dominator AS above, sum(retained - native) AS below FROM object WHERE dominator IS NOT NULL GROUP BY above"
    check("sums over the tree", count("object LEFT JOIN (%s) ON above = address WHERE retained - native != memory + coalesce(below, 0)" % sums), 0)
    check("states", {state for state, in db.execute("SELECT DISTINCT state FROM object")} <=
          {"reachable", "held", "waiting", "uncollectable", "invisible"}, True)
    check("roots that are reached", count("root LEFT JOIN object USING(address) WHERE state NOT IN ('reachable', 'held') OR state IS NULL"), 0)
    kinds = {kind for kind, in db.execute("SELECT DISTINCT kind FROM root")}
    check("kinds of roots", kinds >= {"module", "interpreter", "static-type"}, True)
    check("main module", count("root WHERE kind = 'module' AND name = '__main__'"), 1)
    check("references that are not owned", count("reference WHERE followed AND kind IN ('weak', 'reported')"), 0)


def check_arrays(db):
    for address, owns, base, owner, nbytes, shape in db.execute("SELECT address, owns_data, base, owner, nbytes, shape FROM array"):
        if owns and owner != address:
            fail("an array", "%#x owns its data and %r does" % (address, owner))
        if not json.loads(shape) and nbytes == 0:
            fail("an array", "%#x has no dimensions and no bytes" % address)
    lost = db.execute("SELECT count(*) FROM array WHERE base IS NOT NULL AND base NOT IN (SELECT address FROM object)").fetchone()[0]
    check("bases that are objects", lost, 0)
    return db.execute("SELECT count(*) FROM array").fetchone()[0]


def check_pictures(heapsift, core, out):
    """Stacks add up to the memory of all objects; a picture is a graph with as many nodes as it says. (heapsnapshot.py reads the third.)"""
    folded, dot = os.path.join(out, "heap.folded"), os.path.join(out, "heap.dot")
    check("export to stacks", heapsift.run("export", core, "-o", folded).returncode, 0)
    with open(folded, encoding="utf-8") as file:
        stacks = [line.rstrip("\n").rpartition(" ") for line in file]
    memory = json.loads(heapsift.run("dominators", core, "--json", "-n", "1").stdout)["data"]["total"]
    check("memory in stacks", sum(int(count) for _, _, count in stacks), memory)
    check("stacks once", len({stack for stack, _, _ in stacks}), len(stacks))
    check("depth of stacks", max(stack.count(";") for stack, _, _ in stacks) < 64, True)
    largest = json.loads(heapsift.run("objects", core, "--json", "-n", "1").stdout)["data"]["objects"][0]["address"]
    for more in ([], ["--object", largest], ["--object", largest, "--redact"]):
        answer = heapsift.run("export", core, "-f", "-o", dot, "--json", *more)
        check("export to dot", answer.returncode, 0)
        with open(dot, encoding="utf-8") as file:
            lines = file.read().splitlines()
        rows = json.loads(answer.stdout)["data"]["rows"]
        check("frame of the picture", (lines[0], lines[-1]), ("digraph heap {", "}"))
        check("lines of the picture", len(lines) - 5, rows["node"] + rows["edge"])
        check("lines closed", [line for line in lines[4:-1] if not re.fullmatch(_DOT_LINE, line)], [])
        check("size of the picture", 1 < rows["node"] <= 200, True)
        check("the object in it", not more or largest in lines[4], True)
    done("pictures", "%d stacks, %d nodes and %d edges" % (len(stacks), rows["node"], rows["edge"]))


_STRING = r'"(?:[^"\\]|\\.)*"'
_DOT_LINE = r"  n\d+(?: -> n\d+)?(?: \[\w+=(?:%s|\w+)(?:, \w+=(?:%s|\w+))*\])?;" % (_STRING, _STRING)


def check_redacted(heapsift, core, out):
    path = os.path.join(out, "redacted.db")
    check("export --redact", heapsift.run("export", core, "-o", path, "--redact").returncode, 0)
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    meta = dict(db.execute("SELECT key, value FROM meta"))
    check("redacted meta", (meta["redacted"], meta["core"]), (1, os.path.basename(core)))
    slashes = [key for key, value in meta.items() if "/" in str(value) and key not in ("schema", "not_computed")]
    check("paths in redacted meta", slashes, [])
    shown = db.execute("SELECT count(*) FROM object JOIN type ON type_id = id WHERE name = 'str' AND value NOT LIKE '‹str %'").fetchone()[0]
    check("strings shown", shown, 0)
    db.close()
    os.remove(path)
    done("redacted", "no string's text, no directory")


# --- what is retained, by one command and by another

def check_retained(heapsift, core):
    everything = json.loads(heapsift.run("types", core, "--json").stdout)["data"]["types"]
    screen = json.loads(heapsift.run("types", core, "--json", "-n", "20").stdout)["data"]["types"]
    check("types, 20 rows", [(row["address"], row["retained"]) for row in screen],
          [(row["address"], row["retained"]) for row in everything[:20]])
    check("types without retained", [row["name"] for row in everything if row["retained"] is None], [])
    names = collections.Counter(row["name"] for row in everything)
    for row in [row for row in everything if names[row["name"]] == 1][:8]:
        alone = json.loads(heapsift.run("retained", core, "--type", row["name"], "--json").stdout)["data"]
        check("retained by " + row["name"], row["retained"], alone["retained"])
    for row in json.loads(heapsift.run("objects", core, "--json", "-n", "5", "--sort", "retained").stdout)["data"]["objects"]:
        alone = json.loads(heapsift.run("show", core, row["address"], "--json", "--retained").stdout)["data"]
        check("retained by " + row["address"], (row["retained"], row["state"]), (alone["retained"], alone["state"]))
    holders = json.loads(heapsift.run("types", core, "--by-holder", "--json").stdout)["data"]
    total = sum(row["count"] for row in holders["holders"]) + holders["total"]["without_path"]
    check("types --by-holder is holders", holders, json.loads(heapsift.run("holders", core, "--json").stdout)["data"])
    check("objects by holder", total, sum(row["count"] for row in everything))
    done("retained", "%d types, %d holders" % (len(everything), len(holders["holders"])))


# --- whole or absent

def check_interruptions(heapsift, core, out):
    before = sorted(os.listdir(out))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for ending in ("db", "jsonl", "heapsnapshot"):
            process = heapsift.start("export", core, "-o", os.path.join(out, "interrupted." + ending), stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while sorted(os.listdir(out)) == before and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(0.2)
            process.send_signal(number)
            check("exit after %s" % number.name, process.wait(60), 130 if number == signal.SIGINT else -number)
            check("left after %s" % number.name, sorted(os.listdir(out)), before)
    for ending in ("db", "jsonl", "heapsnapshot"):
        full = heapsift.run("export", core, "-o", os.path.join(out, "full." + ending),
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        check("exit on a full disk", full.returncode, 1)
        check("lines on a full disk", [line.startswith("heapsift: ") and "cannot be written" in line for line in full.stderr.splitlines()],
              [True])
        check("left on a full disk", sorted(os.listdir(out)), before)
    refused = heapsift.run("export", core, "-o", os.path.join(out, "heap.db"))
    check("exit where it exists", refused.returncode, 2)
    check("exit over the core", heapsift.run("export", core, "-f", "--format", "db", "-o", core).returncode, 2)
    piped = heapsift.start("export", core, "-o", "-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = json.loads(piped.stdout.readline())
    piped.stdout.close()
    check("first line", first["table"], "meta")
    check("exit where the reader goes", (piped.wait(60), piped.stderr.read()), (0, b""))
    done("whole or absent", "signals, a full disk, files that exist, a reader that goes")


# --- batch

def check_batch(heapsift, core, folder):
    mixed = os.path.join(folder, "mixed")
    os.mkdir(mixed)
    os.symlink(core, os.path.join(mixed, "a.core"))
    size = os.stat(core).st_size
    with open(core, "rb") as whole, open(os.path.join(mixed, "b.core"), "wb") as cut:
        cut.write(whole.read(size // 2))
    with open(os.path.join(mixed, "c.core"), "wb") as header:
        header.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00" + bytes(60))
    with open(os.path.join(mixed, "notes.txt"), "w", encoding="ascii") as text:
        text.write("no core\n")
    missing = os.path.join(folder, "missing")
    alone = {path: heapsift.run("overview", "--core", path, "--json") for path in
             [os.path.join(mixed, name) for name in ("a.core", "b.core", "c.core")] + [missing]}
    outputs = []
    for jobs in ("1", "2", "8"):
        answer = heapsift.run("batch", mixed, missing, "-j", jobs)
        check("exit of a mixed batch", answer.returncode, 3)
        check("notes of a mixed batch", "1 file that is no core" in answer.stderr, True)
        lines = [json.loads(line) for line in answer.stdout.splitlines()]
        for line in lines:
            check("time of " + line["path"], line.pop("seconds") >= 0, True)
        outputs.append(json.dumps(lines))
    check("batches of any -j", len(set(outputs)), 1)
    lines = json.loads(outputs[0])
    check("paths of the batch", [line["path"] for line in lines], list(alone))
    for line in lines:
        document = json.loads(alone[line["path"]].stdout)
        check("exit of " + line["path"], line["exit"], alone[line["path"]].returncode)
        check("overview of " + line["path"], line.get("overview"), document["data"])
        check("error of " + line["path"], line.get("error"), document.get("error"))
        check("signature of " + line["path"], bool(line["signature"]), True)
    check("exit of none", heapsift.run("batch", missing).returncode, 1)
    check("exit of one", heapsift.run("batch", core).returncode, 0)
    slow = heapsift.run("batch", core, missing, "--timeout", "1")  # done in time or not: there is a line
    check("lines with a timeout", len(slow.stdout.splitlines()), 2)
    check_no_orphans(heapsift, core)
    done("batch", "%d lines: %s" % (len(lines), ", ".join("%d" % line["exit"] for line in lines)))


def check_no_orphans(heapsift, core):
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, "reader goes"):
        process = heapsift.start("batch", "-j", "2", *[core] * 8, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not children_of(process.pid) and time.monotonic() < deadline:  # the others are copies, which it does not ask
            time.sleep(0.01)
        time.sleep(0.05)
        children = children_of(process.pid)
        if end == "reader goes":
            process.stdout.close()
        else:
            process.send_signal(end)
        code = process.wait(60)
        process.stdout.close()
        check("exit after %s" % end, code, {signal.SIGINT: 130, "reader goes": 0}.get(end, -end if end != "reader goes" else 0))
        deadline = time.monotonic() + 10
        while any(map(is_running, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        check("children after %s" % end, [child for child in children if is_running(child)], [])


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    sys.exit(main())
