#!/usr/bin/env python3
"""Names that types of the standard library have had: the rows of analysis/suspects/renamed_types.cpp.

    testdata/type_names.py --tree bullseye=FOLDER … --versions ~/.pyenv/versions             prints them
    testdata/type_names.py … --check analysis/suspects/renamed_types.cpp                           1 if one is lacking there, which it prints

Each interpreter imports its own standard library and says of each type its name (module and qualified name, as heapsift shows
it) and the paths by which it is reached: module and attribute. A type of two versions is the same where it has the same
name, or is reached by the same path; first by those whose last word is its name. One that no module has is known by its last word, if no other type of its
version has that. A path is not believed where a version has both names, for two types: socket.timeout was no TimeoutError before 3.10. The name that
most versions from 3.6 on have stands for all; of as many, the newest.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "real"))
import interpreters

# Reached by no path before they had the other name.
BY_HAND = {"_sre.SRE_Match": "re.Match", "_sre.SRE_Pattern": "re.Pattern"}  # 3.6

_ASK = r"""
import sys, pkgutil, os, json, warnings
warnings.simplefilter("ignore")
out = os.dup(1); null = os.open(os.devnull, os.O_RDWR); os.dup2(null, 1); os.dup2(null, 0); os.dup2(null, 2)
never = ("test", "tests", "idlelib", "lib2to3", "turtledemo", "antigravity", "this", "ensurepip", "site-packages", "dist-packages", "tkinter", "turtle", "__main__",
         "pip", "setuptools", "pkg_resources", "distutils")
names = set(sys.builtin_module_names)
library = os.path.dirname(os.__file__)
for folder in (library, os.path.join(library, "lib-dynload")):
    names.update(name for _, name, _ in pkgutil.iter_modules([folder]))
names = set(name for name in names if name.split(".")[0] not in never and not name.startswith(("_xx", "xx", "_test", "_sysconfigdata")))
for package in ("xml", "email", "json", "logging", "concurrent", "multiprocessing", "asyncio", "http", "urllib", "importlib", "collections", "unittest", "ctypes", "os",
                "pathlib", "compression", "string", "sqlite3", "curses", "dbm", "encodings", "wsgiref", "html", "tomllib", "zoneinfo", "re", "zipfile", "sysconfig", "profiling"):
    path = os.path.join(library, package)
    for root, folders, files in os.walk(path):
        folders[:] = [f for f in folders if f not in ("test", "tests", "__pycache__")]
        for file in files:
            if file.endswith(".py") and not file.startswith("__main__"):
                name = os.path.relpath(os.path.join(root, file), library)[:-3].replace(os.sep, ".")
                names.add(name[:-9] if name.endswith(".__init__") else name)
for name in sorted(names):
    try:
        __import__(name)
    except BaseException:
        pass
def own_name(t):
    try:
        module, name = t.__module__, getattr(t, "__qualname__", t.__name__)
    except Exception:
        return None
    if not isinstance(module, str) or not isinstance(name, str): return None
    # "<unknown>" of 3.7; made by POINTER() for whoever asks first; not of the library.
    if module == "<unknown>" or name.startswith("LP_") or module.split(".")[0] == "test": return None
    return name if module in ("builtins", "__builtin__") else module + "." + name
found = {}
def add(t, path=None):
    name = own_name(t)
    if name and "<locals>" not in name:
        found.setdefault(name, set())
        if path: found[name].add(path)
for name, module in sorted(sys.modules.items()):
    if module is None or name.split(".")[0] in never: continue
    for attribute, value in sorted(getattr(module, "__dict__", {}).items()):
        if isinstance(value, type):
            add(value, name.replace("__builtin__", "builtins") + "." + attribute)
todo, seen = [object], set()
while todo:
    t = todo.pop()
    if t in seen: continue
    seen.add(t); add(t)
    try: todo += type.__subclasses__(t)
    except Exception: pass
os.write(out, json.dumps(dict((name, sorted(paths)) for name, paths in found.items())).encode())
os._exit(0)
"""


def types_of(interpreter):
    """{name: paths} of one interpreter."""
    done = subprocess.run([interpreter.path, "-c", _ASK], env=interpreter.environment(), stdout=subprocess.PIPE, timeout=300,
                          preexec_fn=lambda: interpreter.enter(interpreter.tree or "/"))
    return {name: set(paths) for name, paths in json.loads(done.stdout).items()}


def last_word(name):
    return name.rpartition(".")[2]


def renamed(versions):
    """{name: the name that stands for it}. `versions`: [((3, 11), {name: paths})], the oldest first."""
    names = collections.defaultdict(set)  # in which versions
    reached = collections.defaultdict(lambda: collections.defaultdict(set))  # path, name: in which versions
    for version, types in versions:
        for name, paths in types.items():
            names[name].add(version)
            for path in paths:
                alias = "" if last_word(path) == last_word(name) else "?"
                reached[alias + path][name].add(version)
            if not paths:  # by its name alone, if that is the only one of its version
                alike = [one for one in types if last_word(one) == last_word(name)]
                if len(alike) == 1:
                    reached["??" + last_word(name)][name].add(version)
    group = {name: {name} for name in names}
    for path, by_name in sorted(reached.items(), key=lambda item: (item[0].count("?"), item[0])):
        for one in sorted(by_name):
            for other in sorted(by_name):
                a, b = group[one], group[other]
                if a is b:
                    continue
                # Two types of one version are two types.
                if any(names[x] & names[y] for x in a for y in b):
                    continue
                both = a | b
                for name in both:
                    group[name] = both
    result = {}
    for name, alike in group.items():
        best = max(alike, key=lambda one: (len({v for v in names[one] if v >= (3, 6)}), max(names[one]), one))
        if name != best:
            result[name] = best
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--versions", metavar="FOLDER")
    parser.add_argument("--check", metavar="FILE")
    options = parser.parse_args()
    trees = dict(one.split("=", 1) for one in options.tree)
    found = interpreters.find(trees, options.versions, ["2.7"]) + interpreters.find(trees, options.versions, [])
    by_version = {one.version[:2]: one for one in found if not one.debug and not one.free_threaded}
    versions = sorted((version, types_of(one)) for version, one in by_version.items())
    rows = ['{"%s", "%s"},' % row for row in sorted({**renamed(versions), **BY_HAND}.items())]
    if options.check:
        with open(options.check, encoding="utf-8") as file:
            there = {line.strip() for line in file}
        rows = [row for row in rows if row not in there]
    else:
        print("// Of the standard libraries of %s." % ", ".join("%d.%d" % version for version, _ in versions))
    for row in rows:
        print("    " + row)
    for version, types in versions:
        print("%d.%d: %d types" % (*version, len(types)), file=sys.stderr)
    return 1 if options.check and rows else 0


if __name__ == "__main__":
    sys.exit(main())
