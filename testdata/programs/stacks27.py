"""What stacks.py is for Python 3: threads of 2.7 stand still in calls of several kinds, and what sys._current_frames() says of them is
written down: names, numbers, functions, files, lines, and the address of every local."""

import ctypes
import json
import os
import signal
import sys
import thread
import threading
import time

import truth  # for its modules: the heap is that of an ordinary program

READY = {}
LOCK = threading.Lock()
LOCK.acquire()


def wait_here(argument):
    held = [argument]
    LOCK.acquire()
    return held


class Old:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return wait_here(name)

    def __del__(self):
        pass


def recursion(depth=0):
    text = u"at %d" % depth
    if depth == 40:
        return wait_here(
            text)
    return recursion(depth + 1)


def generator_in_use():
    def inner(limit):
        for number in xrange(limit):
            yield number, wait_here(number)
    return list(inner(3))


def sorting():
    return sorted([3, 1, 2], key=lambda item: wait_here(item))


def old_attribute():
    old = Old()
    return old.anything


def in_finally():
    try:
        raise ValueError("handled")
    except ValueError, error:
        try:
            pass
        finally:
            wait_here(error)


def in_class():
    class Body(object):
        inside = 1
        waiting = wait_here("in a class body")
    return Body


def evaluated():
    local = {"x": [1]}
    exec "first = 1\nwait_here(x)\n" in {"wait_here": wait_here}, local


def closure():
    cell = ["in a cell"]

    def inner(argument, default=(1, 2), *rest, **more):
        own = 1
        return wait_here((cell, own))
    return inner(1, 2, 3, key=4)


def with_statement():
    class Context(object):
        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return None
    with Context() as context:
        for each in [context]:
            [wait_here(item) for item in "a"]


STACKS = [recursion, generator_in_use, sorting, old_attribute, in_finally, in_class, evaluated, closure, with_statement]


def native_id():
    return ctypes.CDLL(None).syscall(186)  # gettid on x86-64


def start(function, ready):
    def run():
        READY[thread.get_ident()] = native_id()
        ready.release()
        function()
    return run


def unnamed():
    wait_here("nobody knows me")


def start_all():
    ready = threading.Semaphore(0)
    for number, function in enumerate(STACKS):
        one = threading.Thread(target=start(function, ready), name="Rekursion \xc3\xa4" if number == 0 else function.__name__)
        one.daemon = True
        one.start()
    thread.start_new_thread(start(unnamed, ready), ())
    for _ in range(len(STACKS) + 1):
        ready.acquire()
    READY[thread.get_ident()] = native_id()


def described(frame):
    frames = []
    while frame is not None:
        code = frame.f_code
        module = frame.f_locals is frame.f_globals
        frames.append({"function": code.co_name, "file": code.co_filename, "line": frame.f_lineno,
                       "locals": {} if module else dict((name, id(value)) for name, value in frame.f_locals.items()),
                       "unsaid": [] if code.co_flags & 1 else list(code.co_freevars)})
        frame = frame.f_back
    return frames


def write_truth(path, by_kernel):
    """In the child. The caller's frame is where the main thread stands."""
    status = 1
    try:
        own = thread.get_ident()
        frames = sys._current_frames()
        frames[own] = sys._getframe(1)
        names = dict((ident, one.name) for ident, one in threading._active.items())
        said = [{"ident": ident, "native_id": READY[ident], "name": names.get(ident, ""), "frames": described(frame)} for ident, frame in frames.items()]
        with open(path + ".part", "w") as out:
            json.dump({"gil": own if by_kernel else None, "threads": said}, out)
        os.rename(path + ".part", path)
        status = 0
    except BaseException as problem:
        os.write(2, "stacks27: %r\n" % problem)
    finally:
        os._exit(status)


def stand_still():
    path = os.environ.get("HEAPSIFT_TRUTH", "truth.tsv")
    by_kernel = os.environ.get("HEAPSIFT_CORE_BY") == "kernel"
    fork, stop, waitpid = ctypes.PyDLL(None).fork, os.abort if by_kernel else signal.pause, os.waitpid
    time.sleep(1)  # the threads come to rest
    fork() or write_truth(path, by_kernel); waitpid(-1, 0); stop()


start_all()
stand_still()
