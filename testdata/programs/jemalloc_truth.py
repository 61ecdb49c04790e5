"""Threads with caches of their own; then jemalloc, which is preloaded, says what it has, and the program which blocks it knows (jemalloc_truth.c).
HEAPSIFT_THREADS: how many threads.
"""

import ctypes
import os
import threading


def main():
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libjemalloc_truth.so"))
    truth = os.environ["HEAPSIFT_TRUTH"].encode()
    library.hold()
    held = ["C code has two references to this list"]
    for _ in range(2):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    library.hold_object(ctypes.c_size_t(id(held)))
    for _ in range(int(os.environ.get("HEAPSIFT_THREADS", "8"))):
        ready = ctypes.c_int(0)
        threading.Thread(target=library.fill, args=(ctypes.byref(ready),), daemon=True).start()
        while not ready.value:
            pass
    library.tell_and_rest(truth + b".part", truth, os.environ.get("HEAPSIFT_CORE_BY") == "kernel")


if __name__ == "__main__":
    main()
