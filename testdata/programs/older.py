"""What the programs use of the standard library, for Pythons that lack it (3.6 and 3.7). To be imported first; it changes nothing where
nothing is missing."""

import _thread
import asyncio
import re
import sys
import threading

if not hasattr(_thread, "get_native_id"):  # 3.8
    import ctypes
    _GETTID = 186
    _syscall = ctypes.CDLL(None).syscall
    _thread.get_native_id = threading.get_native_id = lambda: _syscall(_GETTID)

if not hasattr(asyncio, "run"):  # 3.7
    def _run(main):
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            return loop.run_until_complete(main)
        finally:
            loop.close()

    asyncio.run = _run
    asyncio.get_running_loop = asyncio.get_event_loop
    asyncio.create_task = lambda coroutine: asyncio.get_event_loop().create_task(coroutine)
    asyncio.all_tasks = asyncio.Task.all_tasks
    asyncio.current_task = asyncio.Task.current_task

NAMED_TASKS = sys.version_info >= (3, 8)


def create_task(loop, coroutine, name):
    """A task with a name, where tasks have names."""
    return loop.create_task(coroutine, name=name) if NAMED_TASKS else loop.create_task(coroutine)


def name_of(task):
    """Its name as repr() shows it."""
    return "name=%r " % task.get_name() if NAMED_TASKS else ""


def repr_of(thing):
    """repr() as 3.7 and later print it: 3.6 has a comma behind the only argument of an exception, and no names in a timedelta."""
    text = repr(thing)
    if sys.version_info >= (3, 7):
        return text
    if isinstance(thing, BaseException) and text.endswith(",)"):
        text = text[:-2] + ")"
    return re.sub(r"timedelta\((-?\d+)(?:, (\d+))?(?:, (\d+))?\)", _with_names, text)


def _with_names(match):
    parts = zip(("days", "seconds", "microseconds"), match.groups())
    return "timedelta(%s)" % (", ".join("%s=%s" % part for part in parts if part[1] not in (None, "0")) or "0")
