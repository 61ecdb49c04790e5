#!/usr/bin/env python3
"""What signatures call a program, its files and its types, on every interpreter: the same cause must have the same.

    fleet_names.py --heapsift build/release/heapsift [--versions ~/.pyenv/versions] [--tree forky=/var/cache/heapsift/forky …]

**types**: one leak each of types that Python calls otherwise from version to version (analysis/suspects/renamed_types.cpp): one signature a type,
and no two types have one. **programs**: scripts with blanks and changed arguments, children that multiprocessing starts anew, jobs with a day in
their names: the program's part of the signature is what the script says here. With --redact neither program nor script is named.
"""

import collections
import glob
import json
import os
import shutil
import subprocess
import sys

import cores
import harness

_LEAKS = {
    "pathlib": "pathlib.Path('/a/b%d' % i)",
    "weakref": "weakref.ref(C, lambda r: i)",
    "ast": "ast.parse('x = %d + y' % i)",
    "contextvars": "contextvars.copy_context()",
    "struct": "struct.Struct('<i%ds' % (i + 1))",
    "re": "re.match('a(b)?', 'ab%d' % i)",
    "queue": "queue.Empty(i)",
    "asyncio": "asyncio.IncompleteReadError(b'', i)",
    "collections": "collections.deque([i]).__iter__()",
    "_thread": "_thread.RLock()",
}
_LEAK = """import os, %s
class C: pass
LEAK = []
def work():
    for i in range(60000):
        LEAK.append(%s)
work()
os.kill(os.getpid(), 6)  # no abort: that is a cause of its own
"""
_CHILD = """import multiprocessing, os
def work():
    os.abort()
if __name__ == '__main__':
    multiprocessing.set_start_method('%s')
    child = multiprocessing.Process(target=work)
    child.start()
    child.join()
"""
_HELD = """import os
def work():
    rows = [['row %d' % i] for i in range(60000)]
    os.abort()
work()
"""
_CHANGED = "import os, sys\n%s\nos.abort()\n"
_DEEP = "d" * 60 + "/" + "e" * 60
# What it is, the program of its signature, {file: text}, the interpreter's arguments.
_PROGRAMS = [
    ("spawn", "app.py", {"app.py": _CHILD % "spawn"}, ["app.py", "x"]),
    ("forkserver", "app.py", {"app.py": _CHILD % "forkserver"}, ["app.py", "x"]),
    ("spawn of a module", "pkg.mod", {"pkg/__init__.py": "", "pkg/mod.py": _CHILD % "spawn"}, ["-m", "pkg.mod", "x"]),
    ("spawn of a package", "pkg", {"pkg/__init__.py": "", "pkg/__main__.py": "from pkg.work import work\n" + (_CHILD % "spawn").replace("def work():\n    os.abort()\n", ""),
                                   "pkg/work.py": "import os\ndef work():\n    os.abort()\n"}, ["-m", "pkg", "x"]),
    ("popped", "my app.py", {"a b/my app.py": _CHANGED % "sys.argv.pop(0)"}, ["a b/my app.py", "x", "y"]),
    ("set", "my app.py", {"a b/my app.py": _CHANGED % "sys.argv[:] = ['other', 'z']"}, ["-u", "a b/my app.py", "x", "y"]),
    ("a long path, popped", "app.py", {_DEEP + "/app.py": _CHANGED % "sys.argv.pop(0)"}, [_DEEP + "/app.py", "command"]),
    ("a folder", "my app", {"my app/__main__.py": _CHANGED % ""}, ["my app", "x"]),
    ("a job", "job_#.py", {"job_20261127.py": _HELD}, ["job_20261127.py"]),
    ("a job, next day", "job_#.py", {"job_20261128.py": _HELD}, ["job_20261128.py"]),
    ("a day with dashes", "job_#.py", {"job_2026-11-29.py": _HELD}, ["job_2026-11-29.py"]),
]


def take(interpreter, files, words, work, name):
    """The core, in `work`. Raises cores.NoCore."""
    folder = harness.folder_for(interpreter, work, "heapsift-names-")
    try:
        for file, text in files.items():
            path = os.path.join(folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        process = cores.start(interpreter, words, folder)
        process.wait(timeout=300)
        found = [path for path in glob.glob(folder + "/core*") if os.path.isfile(path)]
        if not found:
            raise cores.NoCore("%s: no core: %s" % (name, cores.last_words(folder)))
        return shutil.move(found[0], os.path.join(work, name.replace("/", "-")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def line_of(options, core, *words):
    done = subprocess.run([options.heapsift, "batch", "--brief", "-q", "--no-index", core, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, "HEAPSIFT_STATE": "off"}, check=False)
    return json.loads(done.stdout)


def types(options, found, work, failures):
    """A leak of each type on each interpreter."""
    signatures = collections.defaultdict(dict)
    for name, expression in _LEAKS.items():
        for interpreter in found:
            if name == "contextvars" and interpreter.version < (3, 7):
                continue
            try:
                core = take(interpreter, {"leak.py": _LEAK % (name, expression)}, ["leak.py"], work, "%s.%s" % (name, interpreter.name))
            except cores.NoCore as reason:
                failures.append("types: %s" % reason)
                continue
            line = line_of(options, core)
            os.remove(core)
            signatures[name].setdefault(line["signature"].rpartition("; ")[2].replace("most in ", ""), []).append(interpreter.name)
    seen = collections.Counter()
    for name, by_signature in signatures.items():
        if len(by_signature) != 1 or not next(iter(by_signature)).startswith("LEAK of "):
            failures.append("types: %s: %s" % (name, dict(by_signature)))
        seen.update(by_signature.keys())
    if any(count > 1 for count in seen.values()):
        failures.append("types: two types have one name: %s" % seen)
    print("types     %d interpreters: %s" % (len(found), ", ".join(sorted(seen))), flush=True)


def programs(options, found, work, failures):
    ends = collections.defaultdict(set)
    for what, expected, files, words in _PROGRAMS:
        for interpreter in found:
            try:
                core = take(interpreter, files, words, work, "%s.%s" % (what, interpreter.name))
            except cores.NoCore as reason:
                failures.append("programs: %s" % reason)
                continue
            signature, redacted = line_of(options, core)["signature"], line_of(options, core, "--redact")["signature"]
            os.remove(core)
            program, _, end = signature.partition("; ")
            if program != expected:
                failures.append("programs: %s, %s: %s" % (what, interpreter.name, signature))
            hidden = {os.path.basename(file)[:-3] for file in files if not file.endswith("__init__.py")} | {expected, "job_"}
            if any(word in redacted for word in hidden - {"__main__", "work"}):
                failures.append("programs: %s, %s: --redact: %s" % (what, interpreter.name, redacted))
            ends[files[next(reversed(files))]].add(end)
    if len(ends[_HELD]) != 1 or "work(), job_#.py" not in next(iter(ends[_HELD])):
        failures.append("programs: jobs: %s" % ends[_HELD])
    print("programs  %d ways on %d interpreters; jobs: %s" % (len(_PROGRAMS), len(found), ", ".join(sorted(ends[_HELD]))), flush=True)


def main():
    parser = harness.parser("compares what signatures call programs, files and types", kinds=("kernel",))
    parser.add_argument("--parts", nargs="*", default=["types", "programs"])
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "fleet-names")
    if kinds and found:
        found = [one for one in found if not one.debug]
        for name, run in (("types", types), ("programs", programs)):
            if name in options.parts:
                run(options, found, work, failures)
    return harness.end(failures)


if __name__ == "__main__":
    sys.exit(main())
