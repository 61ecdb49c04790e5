"""Garbage of Python 2.7, whose collector frees no cycle in which something has __del__, and keeps that in gc.garbage.

Dropped before the core is taken: a pair of old-style instances, one of a class that inherits __del__, one of a new-style class, each with
what they hold; a generator inside a try statement, which counts as having a finalizer, and one that is not; a plain ring. Some of each were
dropped before a collection, and are in gc.garbage; the others wait. A copy of the process, made by libc's fork, collects with
DEBUG_SAVEALL and writes the addresses of what came into gc.garbage, as twin.py does for Python 3.
"""

import ctypes
import gc
import json
import os
import signal
import sys


class Old:
    def __del__(self):
        pass


class Derived(Old):
    pass


class New(object):
    def __del__(self):
        pass


class Plain:
    pass


def pair(cls):
    first, second = cls(), cls()
    first.other, second.other, first.held = second, first, ["held by a %s" % cls.__name__]
    return [id(first), id(second)]


def trying(box):
    try:
        yield box
    finally:
        pass


def looping(box):
    for each in [box]:
        yield each


def generator_in_a_ring(function):
    box = []
    box.append(function(box))
    next(box[0])
    return [id(box[0])]


def drop():
    return {"finalizers": pair(Old) + pair(Derived) + pair(New) + generator_in_a_ring(trying), "free": pair(Plain) + generator_in_a_ring(looping)}


gc.disable()
gc.collect()
IN_GARBAGE = drop()
gc.collect()
WAITING = drop()
COUNT = len(gc.garbage)
fork, waitpid = ctypes.PyDLL(None).fork, os.waitpid
child = fork()
if child == 0:
    status = 1
    try:
        before = len(gc.garbage)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        found = [[id(one), type(one).__name__] for one in gc.garbage[before:]]
        with open("found.json.part", "w") as out:
            json.dump({"found": found, "garbage_before": before, "own": [], "in_garbage": IN_GARBAGE, "waiting": WAITING}, out)
        os.rename("found.json.part", "found.json")
        status = 0
    finally:
        os._exit(status)
waitpid(child, 0)
if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
    os.abort()
while True:
    signal.pause()
