"""Memory that is used, and memory that is only reserved: threads with arenas and stacks of their own, a mapping that nobody touches, one of which
a quarter is written to, shared memory of which a third is, large blocks of C code that nobody touches or that are written to in part, a buffer of zeros that Python fills, and objects. HEAPSIFT_THREADS: how many threads. The truth is what the kernel says of the process just before.
"""

import ctypes
import mmap
import os
import threading

import standstill

_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def work(number, ready, end):
    kept = [number * 1000 + i * 0.5 for i in range(2000)]
    text = [b"%d" % i * 100 for i in range(500)]  # beyond pymalloc's 512 bytes: from the thread's own arena
    ready.set()
    end.wait()
    return kept, text


def kernel_says():
    with open("/proc/self/status", encoding="ascii") as lines:
        return {name: int(rest.split()[0]) * 1024 for name, rest in (line.split(":", 1) for line in lines)
                if name in ("RssAnon", "RssShmem", "VmSwap")}  # it writes kB and means KiB


def main():
    end = threading.Event()
    for number in range(int(os.environ.get("HEAPSIFT_THREADS", "4"))):
        ready = threading.Event()
        threading.Thread(target=work, args=(number, ready, end), daemon=True).start()
        ready.wait()
    untouched = mmap.mmap(-1, 64 << 20, flags=_PRIVATE)
    part = mmap.mmap(-1, 32 << 20, flags=_PRIVATE)
    part[8 << 20:16 << 20] = b"x" * (8 << 20)
    shared = mmap.mmap(-1, 24 << 20)
    shared[:8 << 20] = b"s" * (8 << 20)
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    blocks = [libc.malloc(24 << 20), libc.malloc(16 << 20)]
    ctypes.memset(blocks[1], 1, 6 << 20)
    zeros = bytearray(8 << 20)
    floats = [i + 0.25 for i in range(400_000)]
    freed = [b"y" * 3000 for _ in range(3000)]
    freed = None
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], kernel_says())


if __name__ == "__main__":
    main()
