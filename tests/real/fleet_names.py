#!/usr/bin/env python3
"""What signatures call a program, its files and its types, on every interpreter: the same cause must have the same.

    fleet_names.py --heapsift build/release/heapsift [--versions ~/.pyenv/versions] [--tree forky=/var/cache/heapsift/forky …]

**types**: one leak each of types that Python calls otherwise from version to version (analysis/suspects/renamed_types.cpp): one signature a type,
and no two types have one. **programs**: scripts with blanks and changed arguments, children that multiprocessing starts anew, jobs with a day in
their names: the program's part of the signature is what the script says here. With --redact neither program nor script is named. **sessions**: prompts,
IPython and Jupyter's kernels, where what is typed has no file but a number: the same cells after others have the same signature.
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
_WORK = "import os\ndef work(*_):\n    rows = [['row %d' % i] for i in range(60000)]\n    os.abort()\n"
_PARENT = """import multiprocessing, sys
from pkg.work import work
%s
if __name__ == '__main__':
    multiprocessing.set_start_method('%s')
    child = multiprocessing.Process(target=work)
    child.start()
    child.join()
"""
_LOKY = """from joblib import Parallel, delayed
from pkg.work import work
if __name__ == '__main__':
    Parallel(n_jobs=2)(delayed(work)(i) for i in range(1))
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
    *((method + " of " + what, program, {"pkg/__init__.py": "", "pkg/work.py": _WORK, **files}, words)
      for method in ("spawn", "forkserver") for what, program, files, words in (
          ("a package within", "pkg.sub", {"pkg/sub/__init__.py": "", "pkg/sub/__main__.py": _PARENT % ("", method)}, ["-m", "pkg.sub", "x"]),
          ("a package, popped", "pkg", {"pkg/__main__.py": _PARENT % ("sys.argv.pop(0)", method)}, ["-m", "pkg", "x"]),
          ("-c", "-c", {}, ["-c", _PARENT % ("", method), "x"]),
          ("-c, popped", "-c", {}, ["-c", _PARENT % ("sys.argv.pop(0)", method), "x"]))),
    *(("joblib of " + what, program, {"pkg/__init__.py": "", "pkg/work.py": _WORK, **files}, words) for what, program, files, words in (
        ("a script", "app.py", {"app.py": _LOKY}, ["app.py", "x"]),
        ("a package", "pkg", {"pkg/__main__.py": _LOKY}, ["-m", "pkg", "x"]),
        ("a package within", "pkg.sub", {"pkg/sub/__init__.py": "", "pkg/sub/__main__.py": _LOKY}, ["-m", "pkg.sub"]),
        ("-c", "-c", {}, ["-c", _LOKY]))),
    ("tempfile's", "tmp#.py", {"tmpx3k_9ab0.py": _CHANGED % ""}, ["tmpx3k_9ab0.py"]),
    ("popped", "my app.py", {"a b/my app.py": _CHANGED % "sys.argv.pop(0)"}, ["a b/my app.py", "x", "y"]),
    ("set", "my app.py", {"a b/my app.py": _CHANGED % "sys.argv[:] = ['other', 'z']"}, ["-u", "a b/my app.py", "x", "y"]),
    ("a long path, popped", "app.py", {_DEEP + "/app.py": _CHANGED % "sys.argv.pop(0)"}, [_DEEP + "/app.py", "command"]),
    ("a folder", "my app", {"my app/__main__.py": _CHANGED % ""}, ["my app", "x"]),
    ("a job", "job_#.py", {"job_20261127.py": _HELD}, ["job_20261127.py"]),
    ("a job, next day", "job_#.py", {"job_20261128.py": _HELD}, ["job_20261128.py"]),
    ("a day with dashes", "job_#.py", {"job_2026-11-29.py": _HELD}, ["job_2026-11-29.py"]),
]
# What is typed, all at once. IPython ends a function with an empty line.
_TYPED = "import os\ndef work():\n    rows = [['row %d' % i] for i in range(60000)]; os.abort()\n\nwork()\n"
_RESULT = "[['row %d' % i] for i in range(60000)]"
_PROMPT = """import os, sys
os.dup2(os.open("cells", os.O_RDONLY), 0)
os.execv(sys.executable, [sys.executable, *%r])
"""
_KERNEL = """import time
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3")
for cell in %r:
    client.execute(cell)
end = time.monotonic() + 60
while manager.is_alive() and time.monotonic() < end:
    time.sleep(0.1)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""
_DOCTEST = """def f():
    '''
%s    >>> def work():
    ...     import os; rows = [['row %%d' %% i] for i in range(60000)]; os.abort()
    >>> work()
    '''
"""
_IPYTHON = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
# What it is, the modules that it needs, the signature behind the program, {file: text} of each run, the interpreter's arguments.
_SESSIONS = [
    ("a prompt", (), "local; work(), <stdin>, local rows of list", [{"run.py": _PROMPT % ["-i"], "cells": before + _TYPED} for before in ("", "1\n2\n")], ["run.py"]),
    ("IPython", ("IPython",), "local; work(), <ipython-input-#-#>, local rows of list",
     [{"run.py": _PROMPT % _IPYTHON, "cells": before + _TYPED} for before in ("", "1\n2\n")], ["run.py"]),
    ("a kernel", ("ipykernel",), "local; work(), #.py, local rows of list",
     [{"run.py": _KERNEL % [*before, _TYPED + after]} for before, after in (((), ""), (("1", "2"), "\n# edited"))], ["run.py"]),
    ("a kernel's results", ("ipykernel",), "notebook-results; Out[*] of list",
     [{"run.py": _KERNEL % [*before, _RESULT, *after, "import os; os.kill(os.getpid(), 6)"]} for before, after in (((), ()), (("1", "2"), ()), ((), ("1", "2", "3", "4")))], ["run.py"]),
    ("doctest", (), "local; work(), <doctest m.f[#]>, local rows of list", [{"m.py": _DOCTEST % before} for before in ("", "    >>> 1\n    1\n")], ["-m", "doctest", "m.py"]),
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


def lacks(interpreter, modules):
    """Whether it has not all of them."""
    asked = subprocess.run([interpreter.path, "-c", "import " + ", ".join(modules or ("os",))], env=interpreter.environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: interpreter.enter(interpreter.tree or "/"), check=False)
    return asked.returncode != 0


def sessions(options, found, work, failures):
    for what, modules, expected, runs, words in _SESSIONS:
        have = [one for one in found if not lacks(one, modules)]
        if not have:
            print("not covered: %s: no interpreter has %s" % (what, ", ".join(modules)))
        for interpreter in have:
            for number, files in enumerate(runs):
                try:
                    core = take(interpreter, files, words, work, "%s.%s" % (what, interpreter.name))
                except cores.NoCore as reason:
                    failures.append("sessions: %s" % reason)
                    continue
                signature = line_of(options, core)["signature"]
                os.remove(core)
                if signature.partition("; ")[2] != expected:
                    failures.append("sessions: %s, run %d, %s: %s" % (what, number, interpreter.name, signature))
        print("sessions  %s: %d interpreters, %d runs each: %s" % (what, len(have), len(runs), expected), flush=True)


def programs(options, found, work, failures):
    ends = collections.defaultdict(set)
    for what, expected, files, words in _PROGRAMS:
        for interpreter in found:
            if what.startswith("joblib") and lacks(interpreter, ("joblib",)):
                continue
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
    parser.add_argument("--parts", nargs="*", default=["types", "programs", "sessions"])
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "fleet-names")
    if kinds and found:
        found = [one for one in found if not one.debug]
        for name, run in (("types", types), ("programs", programs), ("sessions", sessions)):
            if name in options.parts:
                run(options, found, work, failures)
    return harness.end(failures)


if __name__ == "__main__":
    sys.exit(main())
