"""The application of `plants.py`: it keeps ten objects in every kind of place that Python has.

What a module or a class keeps is made on import; what threads keep, by start_threads(); what the main thread keeps, by stand_still().
What a thread keeps is made inside the thread, since a Thread's arguments would hold it too.
"""

import asyncio
import collections
import functools
import threading

import older  # noqa: F401
from plants_ten import ten, ten_instances

try:
    import contextvars
except ImportError:  # 3.6
    contextvars = None

REGISTRY = ten("module global")
INSTANCES = ten_instances("instances in a module global")
NESTED = {"deep": ["first", {"objects": ten("nested containers")}]}
KEYED = {("a", 2): {7: {"it's": ten("keys that are no identifiers")}}}
QUEUE = collections.deque([0, ten("deque")])
PARTIAL = functools.partial(print, ten("argument of a partial"))


class Plain:
    """From 3.11 on its attributes are in the instance until somebody asks for the dict."""

    def __init__(self, kept):
        self.kept = kept


class Slotted:
    __slots__ = ("kept",)

    def __init__(self, kept):
        self.kept = kept

    def called_back(self):
        return self.kept


class Keeper:
    kept = ten("class attribute")


WITH_DICT = Plain(ten("attribute, with a dict"))
vars(WITH_DICT)["more"] = True
WITH_VALUES = Plain(ten("attribute, inline"))
WITH_SLOTS = Slotted(ten("attribute, a slot"))
CALLBACKS = [Slotted(ten("bound method in a list of callbacks")).called_back]


def closing_over(kept):
    def closing():
        return kept
    return closing


CLOSING = closing_over(ten("closure"))


def with_default(kept=ten("default of a function")):
    return kept


def with_keyword(*, kept=ten("keyword-only default")):
    return kept


def generate():
    kept = ten("local of a suspended generator")
    yield 1
    yield len(kept)


GENERATOR = generate()
next(GENERATOR)


def fail():
    kept = ten("traceback of an exception")
    raise LookupError("among %d" % len(kept))


def failure():
    try:
        fail()
    except LookupError as error:
        return error


FAILURE = failure()


@functools.lru_cache(maxsize=None)
def cached_for_ever(key):
    return ten("cache without bound")


@functools.lru_cache(maxsize=8)
def cached_for_a_while(key):
    return ten("bounded cache")


cached_for_ever("key")
cached_for_a_while("key")

VARIABLE = contextvars and contextvars.ContextVar("VARIABLE")


def in_context():
    VARIABLE.set(ten("context held by a module"))


if contextvars:
    CONTEXT = contextvars.Context()
    CONTEXT.run(in_context)


# A task whose loop was stopped, which the module keeps; another, below, is kept by its running loop alone.

async def stuck_in_a_module(future):
    kept = ten("task that a module keeps")
    await future
    return kept


def stopped_loop():
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    task = loop.create_task(stuck_in_a_module(future))
    loop.call_soon(loop.stop)
    loop.run_forever()
    return task


TASK = stopped_loop()


# Threads: each makes what it keeps, says so, and waits for ever.

RELEASE = threading.Event()
LOCAL = threading.local()


def hold_in_a_local(ready):
    kept = ten("local of another thread")
    ready.set()
    RELEASE.wait()
    return kept


def hold_below(kept, ready):
    ready.set()
    RELEASE.wait()


def hold_in_an_argument(ready):
    hold_below(ten("argument of a call"), ready)


def hold_in_a_thread_local(ready):
    LOCAL.kept = ten("thread-local")
    ready.set()
    RELEASE.wait()


def hold_in_a_context(ready):
    if contextvars:
        VARIABLE.set(ten("context of a thread"))
    ready.set()
    RELEASE.wait()


async def stuck_in_a_loop(ready):
    kept = ten("task that its loop keeps")
    asyncio.get_running_loop().call_soon(ready.set)
    await asyncio.sleep(1000000)
    return kept


def hold_in_a_loop(ready):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(stuck_in_a_loop(ready))


THREADS = {"local-1": hold_in_a_local, "argument-1": hold_in_an_argument, "thread-local-1": hold_in_a_thread_local,
           "context-1": hold_in_a_context, "loop-1": hold_in_a_loop}


def start_threads():
    for name, target in THREADS.items():
        ready = threading.Event()
        threading.Thread(target=target, args=(ready,), name=name, daemon=True).start()
        if not ready.wait(60):
            raise RuntimeError("thread %s did not come to rest" % name)


def leave_garbage():
    """A cycle that nobody holds; the collector is off."""
    one = Plain(ten("garbage"))
    one.itself = one


def stand_still(then):
    selected = ten("local of the main thread")
    then()
    return selected
