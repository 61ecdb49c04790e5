"""A process with many blocks of C code, for benchmarks: malloc'ed by ctypes, of 24 to 300 bytes, in chains of a thousand whose heads an array of
pointers has. Its core is then taken.

    native_heap.py BLOCKS

HEAPSIFT_CORE_BY=kernel: abort; else sleep. The file `ready` says that the heap is made (tests/real/cores.py waits for it).
"""

import ctypes
import os
import signal
import sys

A_CHAIN = 1000


def main():
    libc = ctypes.CDLL(None)
    malloc, store = libc.malloc, ctypes.memmove
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    count = int(sys.argv[1])
    heads = (ctypes.c_void_p * (count // A_CHAIN + 1))()
    pointer = ctypes.c_void_p()
    for number in range(count):
        block = malloc(24 + number % 277)
        pointer.value = heads[number // A_CHAIN]
        store(block, ctypes.byref(pointer), 8)  # leads on to the block before
        heads[number // A_CHAIN] = block
    with open("ready", "w", encoding="ascii"):
        pass
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


main()
