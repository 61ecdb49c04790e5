"""A process whose heap is mostly one shape, of the given number of parts; its core is then taken.

    shaped_heap.py list|dict|chain|garbage|arrays|blocks COUNT

list: of instances, each with a str. dict: of instances, by str. chain: instances, each of which holds the next. garbage: pairs that refer to
each other, one ring, nothing else reaches either. arrays: slices of arrays that are gone. blocks: ctypes structures, each with a pointer to a
block of C code, which leads to a second. `big` in `__main__` is the container, or the first of the chain; the file `ready` has the address of its
last part, and that of a block or 0x0, and says that the heap is made (tests/real/cores.py waits for it).

HEAPSIFT_CORE_BY=kernel: abort; else sleep.
"""

import ctypes
import gc
import os
import signal
import sys


class Part:
    __slots__ = ("held",)

    def __init__(self, held=None):
        self.held = held


def a_list(count):
    parts = [Part("part %d" % number) for number in range(count)]
    return parts, parts[-1]


def a_dict(count):
    parts = {"key %d" % number: Part(number + 1000000) for number in range(count)}
    return parts, parts["key %d" % (count - 1)]


def a_chain(count):
    first = last = Part()
    for _ in range(count - 1):
        last.held = Part()
        last = last.held
    return first, last


def garbage(count):
    gc.disable()
    for _ in range(count // 4):
        one = Part()
        one.held = Part(one)
    first, last = a_chain(count // 2)
    last.held = first
    return [], Part()


def arrays(count):
    import numpy
    parts = [numpy.zeros((8, 4))[number % 8] for number in range(count)]
    return parts, parts[-1]


def blocks(count):
    global Part

    class Part(ctypes.Structure):
        _fields_ = [("held", ctypes.c_void_p)]

    Part.__qualname__ = "Part"
    malloc, store = ctypes.CDLL(None).malloc, ctypes.memmove
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    parts = []
    for number in range(count):
        first, second = malloc(40 + number % 200), malloc(24 + number % 77)
        store(first, second.to_bytes(8, "little"), 8)
        parts.append(Part(first))
    return parts, parts[-1]


SHAPES = {"list": a_list, "dict": a_dict, "chain": a_chain, "garbage": garbage, "arrays": arrays, "blocks": blocks}


def main():
    global big
    big, last = SHAPES[sys.argv[1]](int(sys.argv[2]))
    with open("ready.part", "w") as file:
        file.write("0x%x 0x%x" % (id(last), last.held if sys.argv[1] == "blocks" else 0))
    os.rename("ready.part", "ready")
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
