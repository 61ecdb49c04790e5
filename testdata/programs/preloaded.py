"""Threads that ask an allocator for blocks and free some; then the program writes down what it knows of them (preloaded.c).
HEAPSIFT_THREADS: how many threads.
"""

import ctypes
import os


def main():
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libpreloaded.so"))
    truth = os.environ["HEAPSIFT_TRUTH"].encode()
    part = truth + b".part"
    if not library.prepare(part, int(os.environ.get("HEAPSIFT_THREADS", "8"))):
        raise SystemExit("no %s" % part)
    library.run()
    library.tell_and_rest(part, truth, os.environ.get("HEAPSIFT_CORE_BY") == "kernel")


if __name__ == "__main__":
    main()
