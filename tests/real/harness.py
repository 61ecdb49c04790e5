"""The beginning and end of every script that compares heapsift with real processes: the common options, where cores are taken, which
interpreters and kinds of core there are, and what failed.
"""

import atexit
import os
import shutil
import tempfile

import interpreters
from run import kinds_at_hand, missing_interpreters


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
