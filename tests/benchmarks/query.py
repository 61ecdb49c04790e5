#!/usr/bin/env python3
"""How long ten typical questions take: as `query`, without an index and with one, and by sqlite3 on the export.

    query.py --heapsift build/release/heapsift CORE …

Each is a run of the program, with the opening of the core; the export's are of an open database. Peaks are those of the process.
"""

import argparse
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time

QUESTIONS = [
    ("count objects", "SELECT count(*) FROM object"),
    ("one object", "SELECT * FROM object WHERE address = (SELECT max(address) FROM root WHERE kind = 'module')"),
    ("types by memory", "SELECT name, count, memory FROM type_total ORDER BY memory DESC LIMIT 10"),
    ("largest retained", "SELECT address, retained FROM object ORDER BY retained DESC LIMIT 10"),
    ("one type", "SELECT count(*), sum(o.memory) FROM type t JOIN object o ON o.type_id = t.id WHERE t.name = 'dict'"),
    ("who refers to it", "SELECT r.source, r.name FROM reference r WHERE r.target = (SELECT max(address) FROM object WHERE type_id = "
                         "(SELECT id FROM type WHERE name = 'dict'))"),
    ("lists' items", "SELECT p.type_id, count(*) FROM type t JOIN object o ON o.type_id = t.id JOIN reference r ON r.source = o.address "
                     "JOIN object p ON p.address = r.target WHERE t.name = 'list' GROUP BY p.type_id"),
    ("states", "SELECT state, count(*) FROM object GROUP BY state"),
    ("equal strings", "SELECT count(*), min(address) FROM string WHERE hash IS NOT NULL GROUP BY hash HAVING count(*) > 1 ORDER BY 1 DESC LIMIT 10"),
    ("all references", "SELECT kind, count(*) FROM reference GROUP BY kind"),
]


def timed(command, environment):
    before = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - before
    if done.returncode:
        raise SystemExit("%s: %s" % (command, done.stderr.strip()))
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heapsift", required=True)
    parser.add_argument("--without-export", action="store_true")
    parser.add_argument("cores", nargs="+", metavar="CORE")
    options = parser.parse_args()
    heapsift = os.path.abspath(options.heapsift)
    for core in options.cores:
        folder = tempfile.mkdtemp(prefix="heapsift-query-", dir="/var/tmp")
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder}
        print("%s, %.1f MB" % (core, os.path.getsize(core) / 1e6), flush=True)
        database = None
        if not options.without_export:
            path = os.path.join(folder, "heap.db")
            seconds = timed([heapsift, "export", core, "-o", path, "--no-index"], environment)
            print("export: %.1f s, %.0f MB" % (seconds, os.path.getsize(path) / 1e6), flush=True)
            database = sqlite3.connect(path)
        print("%-18s %10s %10s %10s   seconds" % ("", "no index", "with one", "on export"))
        for name, sql in QUESTIONS:
            cold = timed([heapsift, "query", sql, "--core", core, "--no-index"], environment)
            timed([heapsift, "query", sql, "--core", core], environment)
            warm = timed([heapsift, "query", sql, "--core", core], environment)
            began = time.monotonic()
            if database:
                database.execute(sql).fetchall()
            print("%-18s %10.2f %10.2f %10.2f" % (name, cold, warm, time.monotonic() - began), flush=True)
        print("largest peak of a run: %.0f MB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024), flush=True)
        if database:
            database.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
