"""Views that keep their bases: each kept row is a view, and keeps the whole array it was cut from.

100 views show 2,457,600 bytes and keep 1,107,148,800 bytes alive, in 100 arrays that nothing else refers to. The live `data`
(400 rows, 9,830,400 bytes) has no view. The process prints its id and sleeps, so that a core of it can be taken.
"""

import os
import time

import numpy as np


def func():
    np.random.seed(5)
    data = np.random.randn(500, 32, 32, 3)
    selected = []
    for _ in range(100):
        i = np.random.randint(len(data))
        selected.append(data[i])
        data = np.delete(data, i, axis=0)
    if "HEAPSIFT_TRUTH" in os.environ:  # tests/real: the process first writes down what it holds
        import truth
        truth.record()
    print(os.getpid(), flush=True)
    while True:
        time.sleep(1)


func()
