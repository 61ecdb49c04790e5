"""The beginning and end of every script that compares heapsift with real processes: the common options, where cores are taken, which
interpreters and kinds of core there are, and what failed.
"""

import argparse
import atexit
import os
import shutil
import subprocess
import tempfile

import interpreters
from run import kinds_at_hand, missing_interpreters


def parser(description, kinds=("kernel", "gcore")):
    """The options that these scripts have in common; each adds its own."""
    common = argparse.ArgumentParser(description=description)
    common.add_argument("--heapsift", required=True, metavar="PATH")
    common.add_argument("--tree", action="append", default=[], metavar="SUITE=FOLDER")
    common.add_argument("--interpreter", dest="interpreters", action="append", default=[], metavar="PATH")
    common.add_argument("--interpreters", action="extend", nargs="*", metavar="PATH")
    common.add_argument("--versions", metavar="FOLDER")
    common.add_argument("--required", nargs="*", default=[], metavar="3.N")
    common.add_argument("--kinds", nargs="*", default=list(kinds))
    common.add_argument("--work", metavar="FOLDER")
    common.add_argument("--keep", action="store_true")
    return common


def begin(options, name):
    """(the folder where cores are taken, the interpreters, the kinds of core, what failed so far). The folder is removed at the end, unless it was given."""
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-%s-" % name, dir="/var/tmp"))
    os.makedirs(work, exist_ok=True)
    if not options.work and not options.keep:
        atexit.register(shutil.rmtree, work, ignore_errors=True)
    found = interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
    failures = missing_interpreters(found, options.required)
    kinds, unavailable = kinds_at_hand(options.kinds)
    for line in unavailable:
        print("not tested here: " + line)
    if not kinds:
        failures.append("no core can be taken")
    if not found:
        failures.append("no interpreter was found")
    return work, found, kinds, failures


def end(failures):
    """The exit code."""
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def folder_for(interpreter, work, prefix):
    """A new folder for a core: in the interpreter's tree, where the program must see it, else in `work`."""
    return tempfile.mkdtemp(prefix=prefix, dir=os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work)


def leave(folder, keep):
    """Removes it, or says where it is."""
    if keep:
        print("  kept: %s" % folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def has_pandas(interpreter):
    asked = subprocess.run([interpreter.path, "-c", "import pandas"], env=interpreter.environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: interpreter.enter(interpreter.tree or "/"))
    return asked.returncode == 0
