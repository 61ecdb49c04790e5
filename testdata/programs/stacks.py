"""Threads that stand still in every kind of call, and what Python itself says of their stacks at the moment of the core.

As in truth.py the process forks with libc's own `fork`. The child has the thread states and frames of all threads, reads them with
sys._current_frames() and writes them down. The parent, in which nobody has asked for a frame object, waits for it and stops. Fork,
waiting and stopping are on one line, so that the main thread's line is the same in both.

HEAPSIFT_TRUTH names the file; HEAPSIFT_CORE_BY=kernel: SIGABRT, else it sleeps. It is one JSON document:

    {"gil": ident or null, "threads": [{"ident", "native_id", "name", "frames": [{"function", "file", "line", "locals": {name: id},
     "unsaid": [name]}]}]}

The innermost call comes first. `name` is "" for a thread that threading does not know. The variables of a module's body belong to the
module and are not listed. `unsaid` are those that a class body takes from around it, which f_locals leaves out. To add a thread, write
a function with `@thread`.
"""

import _thread
import asyncio
import ctypes
import functools
import inspect
import json
import os
import signal
import sys
import threading
import time

import older  # noqa: F401

STACKS = []
READY = {}  # ident: native id, of threads that were started
GATE = threading.Event()  # never set


def thread(function):
    STACKS.append(function)
    return function


def wait_here(*values):
    here = len(values)
    GATE.wait()
    return here


@thread
def recursing():
    def descend(depth, path):
        step = path + (depth,)
        if depth == 0:
            wait_here(step)
        return [
            descend(depth - 1,
                    step),
        ]

    descend(60, ())


@thread
def in_a_comprehension():
    outer = "outer"

    class Guard:
        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return False

    def produce(values):
        for value in values:
            yield (value,
                   outer)

    with Guard() as first, \
            Guard() as second:
        return [
            wait_here(
                value,
                first,
                second,
            )
            for value in produce(
                (1, 2))
            if value
        ]


@thread
def in_generators():
    def inner(start):
        kept = [start]
        yield start
        wait_here(kept)
        yield kept

    def outer(start):
        before = "before"
        result = yield from inner(
            start)
        return before, result

    total = 0
    for value in outer(40):
        total += value
    return total


@thread
def in_a_generator_expression():
    limit = 3
    return sum(
        wait_here(number) + limit
        for number in range(limit))


@thread
def in_calls_from_c():
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return functools.reduce(
                lambda left, right: wait_here(left, right),
                (self.value, other.value))

    numbers = [3, 1, 2]
    return sorted(numbers,
                  key=Key)


@thread
def in_special_methods():
    class Odd:
        @property
        def attribute(self):
            return self + 1

        def __add__(self, other):
            for item in self:
                other += item
            return other

        def __iter__(self):
            return self

        def __next__(self):
            with self:
                return 1

        def __enter__(self):
            return self["key"]

        def __exit__(self, *problem):
            return None

        def __getitem__(self, key):
            return getattr(self, key)

        def __getattr__(self, name):
            return wait_here(name)

    return Odd().attribute


@thread
def in_a_class_body():
    shared = [1]

    class Body:
        first = 1
        second = shared
        wait_here(
            first)
        third = 3

    return Body


@thread
def in_handlers():
    try:
        try:
            raise ValueError("first")
        except ValueError as problem:
            kept = problem
            raise KeyError("second") from problem
        finally:
            done = 1
    except KeyError as problem:
        try:
            wait_here(kept, done, problem)
        finally:
            done = 2


@thread
def in_arguments_over_lines():
    def call(*values, **named):
        return values, named

    return call(
        1,
        call(
            2), wait_here(
            3),
        call(4),
        last=5)


@thread
def in_made_code():
    text = "\n" * 1000 + "def far(gate):\n" + "    total = 0\n" * 400 + "    gate.wait()\n\n\n" + "far(gate)\n"
    scope = {"gate": GATE, "__name__": "made"}
    exec(compile(text, "<made here>", "exec"), scope)


@thread
def in_long_code():
    lines = ["def long(gate):", "    x = 1"]
    for n in range(300):
        lines.append("    x%d = (x," % n + "\n" * (n % 200) + " %d)" % (n + 1000))
    lines += ["    return (", "\n" * 300, "     gate.wait(),", "     x0)", "long(gate)"]
    exec(compile("\n".join(lines), "long.py", "exec"), {"gate": GATE}, {"mapping": lines})


@thread
def with_cells():
    plain, shared, unbound = "plain", "shared", "gone"
    del unbound

    def inner(argument, default=plain):
        nonlocal shared
        shared = argument + "!"

        def innermost():
            return argument, shared, unbound  # noqa: F821

        wait_here(innermost, default)

    def locals_were_asked_for():
        mine = "mine"
        before = locals()
        inner(mine)
        return before

    locals_were_asked_for()


@thread
def traced():
    def tracer(frame, event, argument):
        if event == "line" and "stop" in frame.f_locals:
            sys.settrace(None)
            GATE.wait()
        return tracer

    def followed():
        start = 1
        stop = start + 1
        later = stop + 1
        return later

    sys.settrace(tracer)
    followed()


@thread
def in_sleep():
    seconds = 100000.0
    while True:
        time.sleep(
            seconds)


@thread
def in_acquire():
    lock = _thread.allocate_lock()
    with lock:
        lock.acquire()


@thread
def in_a_pipe():
    ends = os.pipe()
    return os.read(ends[0],
                   10)


@thread
def in_an_event_loop():
    async def leaf(future):
        kept = [future]
        return await future, kept

    async def branch(future):
        async def numbers():
            for number in range(3):
                yield number
                await leaf(future)

        async for number in numbers():
            await asyncio.sleep(number)

    async def main():
        future = asyncio.get_running_loop().create_future()
        await asyncio.gather(*[branch(future) for _ in range(5)])

    asyncio.run(main())


@thread
def blocking_an_event_loop():
    class Context:
        async def __aenter__(self):
            return wait_here(self)

        async def __aexit__(self, *problem):
            return None

    async def inner(value):
        async with Context() as context:
            return context, value

    async def main():
        value = "value"
        return await inner(
            value)

    asyncio.run(main())


def start(function, ready):
    def run():
        READY[_thread.get_ident()] = _thread.get_native_id()
        ready.release()
        try:
            function()
        except BaseException as problem:
            os.write(2, ("stacks: %s: %r\n" % (function.__name__, problem)).encode())
            os._exit(1)

    return run


def unnamed():
    wait_here("nobody knows me")


def adopted():
    threading.current_thread()
    wait_here("adopted")


def start_all():
    ready = threading.Semaphore(0)
    for number, function in enumerate(STACKS):
        name = {0: "Rekursion \u00e4\u4e2d", 1: "line\nend \x1b[2J"}.get(number, function.__name__)
        threading.Thread(target=start(function, ready), name=name, daemon=number % 2 == 0).start()
    for function in (unnamed, adopted):
        _thread.start_new_thread(start(function, ready), ())
    for _ in range(len(STACKS) + 2):
        ready.acquire()
    READY[_thread.get_ident()] = _thread.get_native_id()


def described(frame):
    frames = []
    while frame is not None:
        code = frame.f_code
        module = frame.f_locals is frame.f_globals
        frames.append({
            "function": getattr(code, "co_qualname", code.co_name), "file": code.co_filename, "line": frame.f_lineno,
            "locals": {} if module else {name: id(value) for name, value in frame.f_locals.items()},
            "unsaid": [] if code.co_flags & inspect.CO_OPTIMIZED else list(code.co_freevars)})
        frame = frame.f_back
    return frames


def write_truth(path, by_kernel):
    """In the child. The caller's frame is where the main thread stands."""
    status = 1
    try:
        own = _thread.get_ident()
        frames = sys._current_frames()
        frames[own] = sys._getframe(1)
        names = {ident: one._name for ident, one in threading._active.items()}
        truth = [{"ident": ident, "native_id": READY[ident], "name": names.get(ident, ""), "frames": described(frame)}
                 for ident, frame in frames.items()]
        with open(path + ".part", "w", encoding="ascii") as out:
            json.dump({"gil": own if by_kernel else None, "threads": truth}, out)
        os.rename(path + ".part", path)
        status = 0
    except BaseException as problem:
        os.write(2, ("stacks: %r\n" % problem).encode("ascii", "backslashreplace"))
    finally:
        os._exit(status)


def stand_still():
    path = os.environ.get("HEAPSIFT_TRUTH", "truth.tsv")
    by_kernel = os.environ.get("HEAPSIFT_CORE_BY") == "kernel"
    fork, stop, waitpid = ctypes.PyDLL(None).fork, os.abort if by_kernel else signal.pause, os.waitpid
    time.sleep(1.5)  # the threads come to rest
    fork() or write_truth(path, by_kernel); waitpid(-1, 0); stop()


if __name__ == "__main__":
    start_all()
    stand_still()
