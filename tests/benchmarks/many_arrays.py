"""A million arrays, for benchmarks: one in ten is large and gone except for a slice, the others own a little.

    many_arrays.py COUNT     says "ready" and waits for a line
"""

import sys

import numpy as np


class Sample:
    __slots__ = ("row", "label")


def main():
    count = int(sys.argv[1])
    samples, slices = [], []
    for number in range(count // 2):
        if number % 10 == 0:
            slices.append(np.zeros((16, 8))[number % 16])
            continue
        sample = Sample()
        sample.row = np.zeros(4)
        sample.label = np.array(number)
        samples.append(sample)
    print("ready", flush=True)
    sys.stdin.readline()


main()
