#!/usr/bin/env python3
"""SQL against the commands that answer the same, and against the same SQL on an export.

    query.py --heapsift build/dev/heapsift [--core CORE …]

The core is of testdata/programs/queried.py; or --core. Twenty questions are asked as SQL, and of the command that answers them: both must
say the same. Each query is then run by Python's sqlite3 on `export -o heap.db`, and must give the same rows; both times are printed. Every
question of `help query` is asked of both. pandas reads the export, and DuckDB answers as files, if they are there. What would write, what would run for ever, and what is
too large must end in one line, with its exit code, in a folder in which nothing was written. With --redact no value that the program
stored may be in an answer.
"""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import cores
import harness

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/programs/queried.py")
BITS = 1 << 64


class Wrong(Exception):
    """One line: what differs."""


class Asked:
    def __init__(self, heapsift, core, folder):
        self.heapsift, self.core, self.folder = heapsift, core, folder
        self.environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": os.path.join(folder, "cache")}

    def run(self, *words, given=None):
        return subprocess.run([self.heapsift, *words, "--core", self.core], env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, errors="replace", input=given, stdin=subprocess.DEVNULL if given is None else None, timeout=600)

    def data(self, *words):
        done = self.run(*words, "--json")
        if done.returncode:
            raise Wrong("%s exits with %d: %s" % (" ".join(words), done.returncode, done.stderr.strip()))
        return json.loads(done.stdout)["data"]

    def csv(self, *words):
        return list(csv.DictReader(io.StringIO(self.run(*words, "--format", "csv").stdout)))

    def rows(self, sql, *options):
        """(rows with addresses as numbers, seconds)"""
        began = time.monotonic()
        data = self.data("query", sql, *options)
        return [tuple(map(number, row)) for row in data["rows"]], time.monotonic() - began


def number(cell):
    return int(cell, 16) if isinstance(cell, str) and re.fullmatch("0x[0-9a-f]+", cell) else cell


def unsigned(cell):
    """An address of SQLite's as heapsift prints it. (No other number is negative in these questions.)"""
    return cell + BITS if isinstance(cell, int) and cell < 0 else cell


def address(text):
    return None if text is None else int(text, 16)


def escaped(text):
    """As heapsift escapes what CSV and tables have of these programs' names."""
    for character in set(text):
        if ord(character) < 32 or ord(character) == 127:
            short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
            text = text.replace(character, short or "\\x%02x" % ord(character))
        elif character in "\u202e\u202d\u200e\u200f":
            text = text.replace(character, "\\u%04x" % ord(character))
    return text


# --- the twenty questions: SQL, and the same rows from a command


def questions(asked):
    """(name, SQL, the rows that the command gives), in any order of rows."""
    types = asked.data("types")["types"]
    objects = asked.data("objects")["objects"]
    by_size = sorted(objects, key=lambda one: (-one["memory"], address(one["address"])))
    yield "objects", "SELECT count(*), sum(size), sum(memory) FROM object", \
        [(len(objects), sum(o["size"] for o in objects), sum(o["memory"] for o in objects))]
    yield "types", "SELECT name, count(*), sum(o.size), sum(o.memory) FROM type t JOIN object o ON o.type_id = t.id GROUP BY t.id", \
        [(escaped(t["name"]), t["count"], t["size"], t["memory"]) for t in types if t["count"]]
    yield "the largest", "SELECT address, memory FROM object ORDER BY memory DESC, address LIMIT 50", \
        [(address(o["address"]), o["memory"]) for o in by_size[:50]]
    yield "every value", "SELECT address, value, refcount, gc_tracked FROM object", \
        [(address(o["address"]), o["value"] or None, int(o["refcount"]), int(o["gc_tracked"] == "true")) for o in asked.csv("objects")]
    dicts = asked.data("objects", "--type", "dict", "--where", "retained>=5K", "--sort", "retained")["objects"]
    yield "dicts that retain", "SELECT o.address, o.retained FROM type t JOIN object o ON o.type_id = t.id WHERE t.name = 'dict' AND retained >= 5120", \
        [(address(o["address"]), o["retained"]) for o in dicts]
    largest = by_size[0]["address"]
    shown = asked.data("show", largest, "--retained")
    yield "one object", "SELECT address, size, memory, block_size, refcount, retained, native, state, dominator FROM object WHERE address = %s" % largest, \
        [(address(shown["address"]), shown["size"], shown["memory"], shown["block_size"], shown["refcount"], shown["retained"], shown["native"],
          shown["state"], shown["dominator"] and address(shown["dominator"]["address"]))]
    some = [one["address"] for one in random.Random(5).sample(objects, 12)] + [largest]
    for which in (0, 1, 2):
        edges = asked.data("referrers", some[which])["edges"]
        yield "referrers %d" % which, "SELECT source, name, kind, followed FROM reference WHERE target = %s" % some[which], edge_rows(edges, "source")
        edges = asked.data("referents", some[which + 3])["edges"]
        yield "referents %d" % which, "SELECT target, name, kind, followed FROM reference WHERE source = %s" % some[which + 3], edge_rows(edges, "target")
    paths = [(one, asked.data("why", one)) for one in some]
    yield "expressions", "SELECT address, expr(address) FROM object WHERE address IN (%s)" % ", ".join(some), \
        sorted({(address(one), escaped(why["paths"][0]["expression"]) or None if why["paths"] else None) for one, why in paths})
    arrays = asked.data("arrays")["arrays"]
    yield "arrays", "SELECT address, dtype, shape, nbytes, owner FROM array", \
        [(address(a["address"]), a["dtype"], json.dumps(a["shape"], separators=(",", ":")), a["nbytes"], address(a["owner"])) for a in arrays
         if a["type"] != "torch.Tensor"]
    holders = asked.data("holders")["holders"]
    yield "holders", "SELECT type, holder, attribute, count, memory, retained FROM holder", \
        [(escaped(h["type"]), escaped(h["holder"]), escaped(h["attribute"]), h["count"], h["memory"], h["retained"]) for h in holders]
    blocks = asked.data("native", "--blocks")["blocks"]
    yield "native blocks", "SELECT address, size, leaked FROM native", \
        [(address(b["address"]), b["size"], None if b["leaked"] is None else int(b["leaked"])) for b in blocks]
    threads = asked.data("threads")["threads"]
    yield "threads", "SELECT tid, name, gil, retained FROM thread", [(t["tid"], t["name"] or "", int(t["gil"]), t["retained"]) for t in threads]
    yield "frames", "SELECT t.tid, f.depth, f.function, f.file, f.line FROM frame f JOIN thread t ON t.id = f.thread_id", \
        [(t["tid"], i, f["function"], f["file"], f["line"]) for t in threads for i, f in enumerate(t["frames"])]
    tasks = asked.data("tasks")["tasks"]
    yield "tasks", "SELECT address, kind, coroutine, line, waits_for, retained, expression FROM task", \
        [(address(t["address"]), t["kind"], t["coroutine"], t["line"], t["waits_for"] and address(t["waits_for"]["address"]), t["retained"],
          t["expression"]) for t in tasks]
    regions = asked.data("memory", "--regions")["regions"]
    yield "regions", "SELECT start, size, flags, file, owner FROM region", \
        [(address(r["start"]), r["size"], r["flags"], r["file"], r["owner"]) for r in regions]
    collectable = asked.data("gc")["interpreters"][0]["collectable"]
    yield "garbage", "SELECT count(*) FROM object WHERE state = 'waiting' AND gc_tracked", [(collectable["count"],)]
    duplicates = asked.data("duplicates")["values"]
    yield "equal strings", \
        "SELECT count(*) FROM string s JOIN object o USING (address) WHERE hash IS NOT NULL AND o.type_id = (SELECT id FROM type WHERE name = 'str') " \
        "GROUP BY hash HAVING count(*) = %d" % most_equal(duplicates), [(most_equal(duplicates),)] * equal_as_often(duplicates)
    tree = asked.data("dominators", largest, "--depth", "1", "--min", "0")["tree"]
    yield "dominated", "SELECT count(*), sum(retained) FROM object WHERE dominator = %s" % largest, \
        [(len(tree["children"]) + folded(tree)["count"],
          sum(c["retained"] for c in tree["children"]) + folded(tree)["retained"] or None)]


def folded(tree):
    return tree["folded"] or {"count": 0, "retained": 0}


def most_equal(duplicates):
    return max(one["count"] for one in duplicates if one["type"] == "str")


def equal_as_often(duplicates):
    return sum(one["type"] == "str" and one["count"] == most_equal(duplicates) for one in duplicates)


def edge_rows(edges, end):
    return [(address(edge[end] if isinstance(edge[end], str) else edge[end]["address"]), escaped(edge["name"]), edge["kind"], int(edge["followed"]))
            for edge in edges]


def key(row):
    return [(cell is not None, str(type(cell)), cell) for cell in row]


def compare(name, one, other, what):
    one, other = sorted(one, key=key), sorted(other, key=key)
    if one == other:
        return
    differing = next(((a, b) for a, b in zip(one, other) if a != b), (one[len(other):][:1], other[len(one):][:1]))
    raise Wrong("%s: %d rows, %d of %s; the first that differ: %s" % (name, len(one), len(other), what, (differing,)))


def check_questions(asked, database):
    count, of_query, of_export = 0, 0.0, 0.0
    for name, sql, said in questions(asked):
        rows, seconds = asked.rows(sql)
        compare(name, rows, [tuple(map(number, row)) for row in said], "the command")
        count, of_query = count + 1, of_query + seconds
        if "expr(" in sql:  # heapsift's own
            continue
        began = time.monotonic()
        exported = [tuple(map(unsigned, row)) for row in database.execute(sql)]
        took = time.monotonic() - began
        of_export += took
        compare(name, [tuple(map(unsigned, row)) for row in rows], exported, "the export")
        print("    %-20s %6d rows; query %.2f s, export %.3f s" % (name, len(rows), seconds, took))
    if count < 20:
        raise Wrong("only %d questions" % count)
    return "%d questions as the commands answer them; %.1f s as queries, %.2f s on the export" % (count, of_query, of_export)


# --- help


def examples(asked):
    """The questions of `help query`: (question, SQL)."""
    text = subprocess.run([asked.heapsift, "help", "query"], env=asked.environment, capture_output=True, text=True).stdout
    question, sql = None, []
    for line in text.split("\nQuestions\n", 1)[1].splitlines():
        if line.startswith("    "):
            sql.append(line.strip())
        elif question and sql:
            yield question, " ".join(sql)
            question, sql = None, []
        if line.startswith("  ") and not line.startswith("    "):
            question = line.strip()


def check_examples(asked, database):
    own = re.compile(r"\b(expr|why|value|size_text)\(")
    count = 0
    for question, sql in examples(asked):
        rows, seconds = asked.rows(sql)
        count += 1
        if own.search(sql):
            database.create_function("size_text", 1, lambda _: None)  # what it is sorted by is in the export
            continue
        exported = [tuple(map(unsigned, row)) for row in database.execute(sql)]
        compare(question, sorted(map(str, rows)) and [tuple(map(unsigned, row)) for row in rows], exported, "the export")
    if count < 12:
        raise Wrong("only %d questions in help" % count)
    return "%d questions of help" % count


def check_tables(asked, database):
    """Every table and view has the same columns and as many rows in both."""
    tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name <> 'inventory'")]
    here = {name for name, in asked.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")[0]}
    if here != set(tables):
        raise Wrong("tables: %s; of the export %s" % (sorted(here), sorted(tables)))
    for table in tables:
        exported = database.execute("SELECT * FROM %s" % table)
        names = [column[0] for column in exported.description]
        if asked.data("query", "SELECT * FROM %s LIMIT 0" % table)["columns"] != names:
            raise Wrong("%s has other columns: %s" % (table, names))
        exported = [tuple(map(unsigned, row)) for row in exported]
        rows = [tuple(map(unsigned, map(number, row))) for row in asked.data("query", "SELECT * FROM %s" % table)["rows"]]
        if table == "meta":
            exported, rows = len(exported), len(rows)
            if exported != rows:
                raise Wrong("meta has %d rows, of the export %d" % (rows, exported))
            continue
        if table.startswith("named_"):
            exported = [tuple(map(number, row)) for row in exported]
        compare(table, rows, exported, "the export")
    return "%d tables and views, row by row" % len(tables)


# --- what must end


REFUSED = [
    ("ATTACH 'x.db' AS x", "read-only"), ("CREATE TABLE x(a)", "read-only"), ("CREATE TEMP TABLE x(a)", "read-only"),
    ("CREATE VIRTUAL TABLE x USING fts5(a)", "read-only"), ("INSERT INTO object(address) VALUES (1)", "read-only"),
    ("DELETE FROM type", "read-only"), ("UPDATE object SET size = 1", "read-only"), ("DROP VIEW named_object", "read-only"),
    ("PRAGMA journal_mode = WAL", "read-only"), ("PRAGMA temp_store_directory = '/tmp'", "read-only"), ("BEGIN IMMEDIATE", "read-only"),
    ("VACUUM INTO 'x.db'", "read-only"), ("SELECT * FROM pragma_database_list", "read-only"), ("SELECT load_extension('/tmp/x.so')", "read-only"), ("SELECT writefile('x', 'y')", "bad-sql"),
    ("SELECT readfile('/etc/passwd')", "bad-sql"), ("SELECT 1; SELECT 2", "bad-sql"), ("SELEC 1", "bad-sql"), ("SELECT nosuch FROM object", "bad-sql"),
    ("SELECT abs(-9223372036854775807 - 1)", "bad-sql"), ("SELECT zeroblob(5000000000)", "value-too-long"),
    ("SELECT length(hex(zeroblob(90000000)))", "value-too-long"),
    ("SELECT " + "+".join("1" * 1 for _ in range(5000)), "bad-sql"), ("SELECT json_extract('" + "[" * 5000 + "]" * 5000 + "', '$')", "bad-sql"),
    ("SELECT 1 UNION ALL " * 600 + "SELECT 1", "bad-sql"), ("SELECT ?, 1", None), ("SELECT printf('%*c', 2000000000, 'x')", None),
]


def one_line(done, what):
    lines = [line for line in done.stderr.splitlines() if line]
    if len(lines) != 1 or not lines[0].startswith("heapsift: "):
        raise Wrong("%s: %d lines on standard error: %.200s" % (what, len(lines), done.stderr))


def check_refused(asked):
    before = listing(asked.folder)
    for sql, code in REFUSED:
        done = asked.run("query", sql, "--json")
        document = json.loads(done.stdout)
        found = document.get("error", {}).get("code")
        if found != code or done.returncode != (2 if code else 0):
            raise Wrong("%.60s: %s, exit %d, not %s" % (sql, found, done.returncode, code))
        if code:
            one_line(asked.run("query", sql), sql[:60])
    # SQLite's parser had a stack of a fixed size up to 3.45.
    done = asked.run("query", "SELECT " + "(" * 2000 + "1" + ")" * 2000 + " AS x", "--json")
    if done.returncode == 0 and json.loads(done.stdout)["data"]["rows"] != [[1]] or done.returncode not in (0, 2):
        raise Wrong("2,000 parentheses: exit %d: %.200s" % (done.returncode, done.stdout))
    if listing(asked.folder) != before:
        raise Wrong("files were written: %s" % (listing(asked.folder) ^ before))
    for_ever = "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT count(*) FROM x"
    began = time.monotonic()
    done = asked.run("query", for_ever, "--timeout", "1", "--json")
    took = time.monotonic() - began
    if done.returncode != 4 or json.loads(done.stdout)["error"]["code"] != "timeout" or took > 4:
        raise Wrong("a query for ever: exit %d after %.1f s" % (done.returncode, took))
    one_line(asked.run("query", for_ever, "--timeout", "1"), "a query for ever")
    # A pattern that SQLite compares for hours, without a step between.
    stuck = "SELECT replace(hex(zeroblob(40000)), '0', 'ab') LIKE '" + "%a" * 40 + "c'"
    done = asked.run("query", stuck, "--timeout", "1")
    if done.returncode not in (0, 4):
        raise Wrong("a slow pattern: exit %d" % done.returncode)
    too_much = "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x LIMIT 3000000) SELECT a, hex(zeroblob(100)) AS b FROM x ORDER BY b, a DESC"
    done = asked.run("query", too_much, "--memory", "64M")
    if done.returncode != 1:
        raise Wrong("too much memory: exit %d" % done.returncode)
    one_line(done, "too much memory")
    process = subprocess.Popen([asked.heapsift, "query", for_ever, "--core", asked.core], env=asked.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    time.sleep(1.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    took = time.monotonic() - began
    if process.returncode != 130 or took > 0.5:
        raise Wrong("Ctrl-C: exit %d after %.2f s" % (process.returncode, took))
    return "%d statements that end in one line; Ctrl-C took %.0f ms" % (len(REFUSED), 1000 * took)


def listing(folder):
    return {os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if "cache" not in at}


# --- manners


def check_manners(asked):
    sql = "SELECT name FROM type WHERE name LIKE 'evil.%' UNION SELECT value FROM object WHERE value LIKE '%secret%'"
    for words in ([], ["--format", "csv"], ["--format", "jsonl"]):
        done = asked.run("query", sql, *words)
        if done.returncode or "Evil" not in done.stdout or re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", done.stdout):
            raise Wrong("control characters come through %s: %r" % (words, done.stdout[:300]))
    if asked.run("query", "-", given="SELECT 7 * 6 -- a comment\n;").stdout.split()[-1] != "42":
        raise Wrong("standard input is not read")
    rows = [json.loads(line) for line in asked.run("query", "SELECT address, 1, 1 FROM object LIMIT 3", "--format", "jsonl").stdout.splitlines()]
    if len(rows) != 3 or set(rows[0]) != {"address", "1", "1_2"} or not rows[0]["address"].startswith("0x"):
        raise Wrong("lines of JSON: %s" % rows)
    if len(asked.data("query", "SELECT address FROM object", "-n", "5")["rows"]) != 5:
        raise Wrong("-n is not minded")
    for sql in ("SELECT address, expr(address), retained, state FROM object WHERE address % 512 = 0", "SELECT * FROM holder", "SELECT * FROM task",
                "SELECT * FROM reference WHERE source % 1024 = 0", "SELECT * FROM string WHERE address % 512 = 0"):
        if asked.data("query", sql)["rows"] != asked.data("query", sql, "--no-index")["rows"]:
            raise Wrong("with an index and without it differs: %s" % sql)
    secrets = ["hunter2", "again and again", "session 7", "label of node"]
    said = asked.run("query", "SELECT value(address), expr(address), why(address) FROM object WHERE address % 64 < 32", "--redact", "--json").stdout
    if any(secret in said for secret in secrets) or len(said) < 10000:
        raise Wrong("--redact shows values by functions")
    for table in ("object", "string", "reference", "named_object", "named_reference", "holder", "task", "thread", "frame", "root", "region", "meta"):
        said = asked.run("query", "SELECT * FROM %s" % table, "--redact", "--json").stdout
        shown = [secret for secret in secrets if secret in said]
        if shown or len(said) < 500:
            raise Wrong("--redact shows %s in %s" % (shown, table))
    if not all(secret in asked.run("query", "SELECT value FROM string", "--json").stdout for secret in secrets):
        raise Wrong("the secrets are not there without --redact")
    return "hostile names, standard input, lines of JSON, the same without an index, --redact"


def check_pandas(path):
    reading = """if True:
        import pandas, sqlite3, sys
        with sqlite3.connect(sys.argv[1]) as database:
            frame = pandas.read_sql("SELECT * FROM type_total ORDER BY memory DESC", database)
            objects = pandas.read_sql("SELECT o.address, o.memory FROM object o JOIN type t ON t.id = o.type_id", database)
        print(len(frame), len(objects), int(frame["memory"].sum()) - int(objects["memory"].sum()))
    """
    done = subprocess.run(["/usr/bin/python3", "-c", reading, path], capture_output=True, text=True)
    if "No module named 'pandas'" in done.stderr:
        return "pandas is not here"
    if done.returncode or done.stdout.split()[-1] != "0":
        raise Wrong("pandas: %s%s" % (done.stdout, done.stderr[-300:]))
    return "pandas reads %s types and %s objects of the export" % tuple(done.stdout.split()[:2])


def check_duckdb(asked, folder):
    """As `help export` shows it: an answer as CSV, and as lines of JSON, read by DuckDB's npm package below $HEAPSIFT_DUCKDB."""
    modules = os.environ.get("HEAPSIFT_DUCKDB", "")
    if not os.path.isdir(modules + "/node_modules/@duckdb/node-api") or not shutil.which("node"):
        return "DuckDB is not here"
    for form in ("csv", "jsonl"):
        with open(os.path.join(folder, "objects." + form), "w") as file:
            file.write(asked.run("query", "SELECT * FROM named_object", "--format", form).stdout)
    script = """const { DuckDBInstance } = require(process.argv[1] + '/node_modules/@duckdb/node-api');
        (async () => {
          const connection = await (await DuckDBInstance.create(':memory:')).connect();
          for (const file of ['objects.csv', 'objects.jsonl'])
            console.log(JSON.stringify((await connection.runAndReadAll(
              `SELECT type, CAST(count(*) AS VARCHAR), CAST(sum(memory) AS VARCHAR) FROM '${file}' GROUP BY 1 ORDER BY 1`)).getRowsJson()));
        })();"""
    done = subprocess.run(["node", "-e", script, modules], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Wrong("DuckDB: " + done.stderr[-400:])
    ours = asked.data("query", "SELECT type, count(*), sum(memory) FROM named_object GROUP BY 1 ORDER BY 1")["rows"]
    for line in done.stdout.splitlines():
        if sorted([name, int(count), int(memory)] for name, count, memory in json.loads(line)) != sorted(ours):
            raise Wrong("DuckDB reads other rows: %s" % line[:300])
    return "DuckDB reads the CSV and the lines of JSON of a query"


def check(heapsift, core, folder, failures, whole):
    asked = Asked(heapsift, core, folder)
    path = os.path.join(folder, "heap.db")
    began = time.monotonic()
    done = asked.run("export", "-f", "-o", path)
    if done.returncode:
        failures.append("export: " + done.stderr.strip())
        return
    print("  export: %.1f s, %.1f MB" % (time.monotonic() - began, os.path.getsize(path) / 1e6))
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    checks = [lambda: check_questions(asked, database), lambda: check_examples(asked, database), lambda: check_refused(asked)]
    if whole:
        checks += [lambda: check_tables(asked, database), lambda: check_manners(asked), lambda: check_pandas(path), lambda: check_duckdb(asked, folder)]
    for one in checks:
        began = time.monotonic()
        try:
            print("  ok: %s; %.1f s" % (one(), time.monotonic() - began), flush=True)
        except Wrong as reason:
            failures.append(str(reason))
    database.close()
    os.remove(path)


def main():
    parser = harness.parser(__doc__.splitlines()[0], kinds=("kernel",))
    parser.add_argument("--core", nargs="*", default=[], metavar="PATH", help="these cores; else one is taken")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "query")
    heapsift = os.path.abspath(options.heapsift)
    if options.core:
        failures = []
        for core in options.core:
            print(core)
            check(heapsift, os.path.abspath(core), work, failures, False)
        return harness.end(failures)
    for interpreter in found[-1:]:
        for kind in kinds:
            folder = harness.folder_for(interpreter, work, "query-")
            try:
                core, _ = cores.take_at_rest(interpreter, [PROGRAM], kind, folder, os.path.join(folder, "ready"))
                print("%s, %s" % (interpreter.name, kind))
                check(heapsift, core, folder, failures, True)
            except cores.NoCore as reason:
                failures.append(str(reason))
            harness.leave(folder, options.keep)
    return harness.end(failures)


if __name__ == "__main__":
    sys.exit(main())
