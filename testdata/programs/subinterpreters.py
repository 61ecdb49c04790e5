"""A process with several interpreters, each with objects of its own, threads and garbage: what the core holds beside the main one.

Problem: an interpreter lists only its own objects, and from 3.12 on it may have collectors and an allocator of its own.
Idea: three interpreters besides the main one, each with a small zoo: one that has ended its work, one with a thread that stands still in it, and one that was
started after another had been destroyed. From 3.12 on the first two have their own GIL, so their own memory; the third shares the main one's. Each lists itself in
a copy of the process of its own (truth.py), and a last copy puts the lists together: an object that several know (a static type) is listed once.

3.8 and later have a module for it, whose name and functions changed: 3.8 to 3.12 `_xxsubinterpreters`, then `_interpreters`. In 3.8 all interpreters share the
collector's lists, so the main one lists everything. Up to 3.11 nothing more can be run in an interpreter that has a thread, so none has one there.
"""

import os
import sys
import time

import truth

try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters

_INSIDE = """
import sys
sys.path.insert(0, %(folder)r)
import subinterpreters_inside as inside
inside.fill(%(number)d, %(path)r)
"""
_RUN = getattr(_interpreters, "exec", None) or _interpreters.run_string


def _run(interpreter, text):
    failed = _RUN(interpreter, text)
    if failed is not None:  # since 3.13
        raise RuntimeError(getattr(failed, "formatted", failed))


def _create(own):
    if sys.version_info >= (3, 13):
        return _interpreters.create("isolated" if own else "legacy", reqrefs=False)
    return _interpreters.create(isolated=own) if sys.version_info >= (3, 9) else _interpreters.create()


def _open(number, own):
    interpreter = _create(own)
    _run(interpreter, _INSIDE % {"folder": os.path.dirname(os.path.abspath(__file__)), "number": number, "path": os.environ.get("HEAPSIFT_TRUTH", "")})
    return interpreter


def _list(interpreter, path):
    """In a copy of the process. What runs text in an interpreter makes objects of that text, so a thread there lists after that."""
    _run(interpreter, "inside.list_soon()")
    while not os.path.exists(path):
        time.sleep(0.05)


def stand_still(interpreters):
    lists = []
    if sys.version_info >= (3, 9):
        lists = [(lambda path, interpreter=one: _list(interpreter, path)) for one in interpreters]
    truth.record(lists)


own_memory = sys.version_info >= (3, 12)
interpreters = [_open(1, own_memory)]
destroyed = _open(0, own_memory)
interpreters.append(_open(2, own_memory))
_interpreters.destroy(destroyed)
interpreters.append(_open(3, False))
stand_still(interpreters)
