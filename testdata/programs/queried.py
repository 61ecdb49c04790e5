"""A little of everything that the tables of SQL have: for tests/real/query.py.

    queried.py

Instances with attributes of many types, a linked list, a cache, equal strings, garbage in cycles, views of NumPy arrays, threads with
locals, asyncio's tasks, and a class, keys and strings whose names are meant to harm a terminal. HEAPSIFT_CORE_BY=kernel: abort; else
sleep. The file `ready` says that it stands still.
"""

import asyncio
import gc
import os
import signal
import threading

try:
    import numpy
except ImportError:
    numpy = None


class Node:
    def __init__(self, number, following):
        self.number = number + 1000000
        self.following = following
        self.label = "label of node %d" % number
        self.tags = [number % 7, "shared", (number, "pair")]


class Session:
    def __init__(self, name):
        self.name = name
        self.rows = [Node(i, None) for i in range(50)]
        self.me = self


CACHE = {"key %d" % i: Session("session %d" % i) for i in range(20)}
CHAIN = None
for i in range(300):
    CHAIN = Node(i, CHAIN)
EQUAL = ["".join(["the same ", "text, again and again"]) for _ in range(200)]
LONG = "x" * 30000 + "end"
HOSTILE = type("Evil\x1b[31m\u202e</script>'\"", (), {"__module__": "evil"})()
HOSTILE.__dict__["\x1b]0;title\x07"] = "\x1b[2J\r\nsecret"
SECRET = "hunter2-hunter2-hunter2"
VIEWS = [numpy.arange(1000.0)[i:i + 3] for i in range(30)] if numpy else []


def worker(started, end):
    held_by_worker = list(range(2000, 2100))
    started.set()
    end.wait()
    return held_by_worker


async def waits_for_ever(queue, number):
    own = "task %d" % number
    await queue.get()
    return own


def stop():
    with open("ready", "w"):
        pass
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


async def main():
    queue = asyncio.Queue()
    tasks = [asyncio.ensure_future(waits_for_ever(queue, i)) for i in range(5)]
    await asyncio.sleep(0)
    stop()
    return tasks


if __name__ == "__main__":
    gc.disable()
    for i in range(40):
        Session("garbage %d" % i)
    end = threading.Event()
    for _ in range(3):
        started = threading.Event()
        threading.Thread(target=worker, args=(started, end), daemon=True).start()
        started.wait()
    asyncio.run(main())
