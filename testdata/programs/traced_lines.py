"""What tracemalloc says at the moment at which the core is taken: each traceback with its domain, blocks and bytes.

Run it with PYTHONTRACEMALLOC=N. It does some work whose blocks stay: texts and numbers of many lines, a cache that is filled by callers of
different depth, threads, blocks in domains of C code (NumPy has one). Then the process forks with libc's `fork`; the child,
an exact copy, writes its traces, and the process itself dumps core (as in twin.py: from the fork to the core the GIL is held).

The output is a JSON object: "traces": [[domain, [[file, line], …], blocks, bytes]], the most recent call first; "types": for the types whose
instances the collector knows all, {type: [[file or null, line, objects]]}; "objects": [[address, [[file, line], …]]], some of them; "native": a line with its blocks and bytes of C code.
"""

import collections
import ctypes
import decimal
import functools
import gc
import json
import os
import signal
import sys
import threading
import time
import tracemalloc

try:
    import numpy
except ImportError:
    numpy = None

_get_traces = tracemalloc._get_traces
_libc = ctypes.PyDLL(None)
_fork, _waitpid = _libc.fork, _libc.waitpid
_fork.restype = _waitpid.restype = None  # an int would be a block more
_CHILD = 7
_MOST_KEPT_LISTS = 200
_OBJECTS = 20
_ORDERS = 1500
_DOMAIN = 7
_RAW = range(5000, 5040)


@functools.lru_cache(maxsize=None)
def cached(number):
    return "value %d" % number * 3


def below(depth, number):
    return below(depth - 1, number) if depth else cached(number)


class Order:
    def __init__(self, number):
        self.number = number
        self.price = decimal.Decimal(number) / 7
        self.text = json.dumps({"number": number, "parts": list(range(number % 9))})
        self.parsed = json.loads(self.text)


def in_thread(kept, ready, end):
    kept.append([bytearray(100 + i) for i in range(50)])
    ready.release()
    end.wait()


def track():
    """Blocks of two domains of C code, as NumPy tells of its data."""
    add = ctypes.pythonapi.PyTraceMalloc_Track if sys.version_info >= (3, 7) else ctypes.pythonapi._PyTraceMalloc_Track
    add.argtypes = [ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t]
    for i in range(300):
        add(_DOMAIN + i % 2, 4096 * (i + 1), 100 + i)
        add(_DOMAIN, id(add) + 16 * i, 1)


def raw():
    """Blocks that are no object's, of one line."""
    allocate = ctypes.pythonapi.PyMem_RawMalloc
    allocate.restype, allocate.argtypes = ctypes.c_size_t, [ctypes.c_size_t]
    return [allocate(size) for size in _RAW]


def work():
    orders = [Order(i) for i in range(_ORDERS)]
    for i in range(400):
        below(i % 12, i)
    tables = {i: {j: float(j) for j in range(i % 40)} for i in range(200)}
    freed = [bytes(i) for i in range(1000)]
    del freed[::2]
    freed.extend(str(i) for i in range(70000, 70300))
    exec(compile("made = [object() for _ in range(77)]", "<made>", "exec"), tables)
    arrays = [numpy.arange(i, dtype="f8") for i in range(1, 60)] if numpy else None
    track()
    kept, ready, end = [], threading.Semaphore(0), threading.Event()
    for _ in range(3):
        threading.Thread(target=in_thread, args=(kept, ready, end), daemon=True).start()
        ready.acquire()
    return orders, tables, freed, arrays, kept, end, raw()


def record(path):
    """Child and parent take the same steps: fork, wait, compare. For the child there is nothing to wait for, so its `status` stays; the
    parent's becomes 0. Nothing that the parent does then, up to the core, makes or frees an object. _get_traces() makes its list before it
    copies the tables: that is one block of the child alone, and a new one, since the lists kept for reuse are all in use."""
    gc.disable()
    sys.setswitchinterval(1000)
    time.sleep(0.05)
    end = os.abort if os.environ.get("HEAPSIFT_CORE_BY") == "kernel" else signal.pause
    status = ctypes.c_int(_CHILD)
    any_child, reference, no_options = ctypes.c_int(-1), ctypes.byref(status), ctypes.c_int(0)
    in_use = [[] for _ in range(_MOST_KEPT_LISTS)]
    _fork()
    _waitpid(any_child, reference, no_options)
    if status.value == _CHILD:
        traces = _get_traces()
        write(path, traces, sys._getframe())
    while True:
        end()


def write(path, traces, frame):
    """The file appears once the parent stands still. It does so within the time that its grandchild sleeps."""
    status = 1
    try:
        list_of_traces = frame.f_code.co_filename, frame.f_lineno - 1
        blocks, sizes = collections.Counter(), collections.Counter()
        for trace in traces:
            domain, size, frames = trace[:3]
            if frames[0] != list_of_traces:
                blocks[domain, frames] += 1
                sizes[domain, frames] += size
        truth = {"traces": [[domain, frames, count, sizes[domain, frames]] for (domain, frames), count in blocks.items()], **of_objects()}
        with open(path + ".part", "w") as out:
            json.dump(truth, out)
        if os.environ.get("HEAPSIFT_CORE_BY") == "kernel" or os.fork() == 0:
            time.sleep(0.5)
            os.rename(path + ".part", path)
        status = 0
    except BaseException as error:
        os.write(2, ("traced_lines: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "backslashreplace"))
    finally:
        os._exit(status)


def of_objects():
    """What _get_object_traceback() says of functions. Of an instance with a managed dict 3.11 finds no block, but of the class Order the line
    is known: the first of work()."""
    lines, objects = collections.Counter(), []
    for function in gc.get_objects():
        if type(function) is type(of_objects):
            calls = tracemalloc._get_object_traceback(function)
            lines[calls[0] if calls else (None, 0)] += 1
            if calls and sum(lines.values()) % 100 == 1:
                objects.append([id(function), calls])
    code = work.__code__
    return {"types": {"function": [[*line, count] for line, count in lines.items()],
                      "__main__.Order": [[code.co_filename, code.co_firstlineno + 1, _ORDERS]]}, "objects": objects[:_OBJECTS],
            "native": [raw.__code__.co_filename, raw.__code__.co_firstlineno + 4, len(_RAW), sum(_RAW)]}


if __name__ == "__main__":
    keep = work()
    record(os.environ.get("HEAPSIFT_TRUTH") or "truth.json")
