"""Threads with arenas and caches of their own, blocks with mappings of their own; then malloc says what it has (malloc_truth.c).
HEAPSIFT_THREADS: how many threads.
"""

import ctypes
import os
import threading

MAPPED = 10


def main():
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libmalloc_truth.so"))
    truth = os.environ["HEAPSIFT_TRUTH"].encode()
    part = truth + b".part"
    if not library.prepare(part):
        raise SystemExit("no %s" % part)
    library.map(MAPPED)
    ready = [ctypes.c_int(0) for _ in range(int(os.environ.get("HEAPSIFT_THREADS", "8")))]
    for one in ready:
        threading.Thread(target=library.fill, args=(ctypes.byref(one),), daemon=True).start()
    for one in ready:
        while not one.value:
            pass
    library.tell_and_rest(part, truth, os.environ.get("HEAPSIFT_CORE_BY") == "kernel")


if __name__ == "__main__":
    main()
