"""Objects of which a tenth are garbage in cycles. Prints its process id, waits for a line, collects, and prints the CPU seconds that it took and
how many objects it found.
"""

import gc
import sys
import time


class Node:
    __slots__ = ("other", "payload")


def main():
    count = int(sys.argv[1])
    gc.disable()
    kept = []
    for number in range(count * 9 // 10 // 3):
        node = Node()
        node.payload = [number, None]
        node.other = (node.payload, kept)
        kept.append(node)
    for number in range(count // 10 // 2):
        one, other = Node(), Node()
        one.other, other.other = other, one
        one.payload = other.payload = number
    del node, one, other
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    found = gc.collect()
    print(time.process_time() - began, found, flush=True)
    sys.stdin.readline()


main()
