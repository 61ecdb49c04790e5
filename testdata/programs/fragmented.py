"""A storm of objects and blocks, of which a few stay: pymalloc's arenas and malloc's heap are nearly empty, and cannot go back to the kernel."""

import os
import sys

import standstill

NODES, APART, BLOCKS, BYTES = 1_000_000, 4_000, 20_000, 2000


class Node:
    __slots__ = ("first", "second")


def main():
    nodes = [Node() for _ in range(NODES)]
    blocks = [b"%07d" % i * (BYTES // 7) for i in range(BLOCKS)]
    last = b"at the top of the heap" * 200
    kept = nodes[::APART]
    nodes = blocks = None
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], {"type": "__main__.Node", "kept": len(kept), "of_pymalloc": NODES * sys.getsizeof(kept[0]),
                                                             "of_malloc": BLOCKS * BYTES, "last": len(last)})


if __name__ == "__main__":
    main()
