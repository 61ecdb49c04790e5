"""A zoo of NumPy arrays, for tests/real/arrays.py: it makes them, writes down what is true of each (array_truth.py), and stands still.

The houses are modules of exhibits (exhibits.py): array_zoo_views.py and array_zoo_kinds.py. There are also holders: lists for which it
is known exactly what they alone keep alive, so that what they retain can be added up.
"""

import gc
import os

import numpy as np

import array_truth
import array_zoo_kinds
import array_zoo_views
import exhibits
import standstill
from array_zoo_views import own

KEPT, HOLDERS = {}, {}


def plan_holders():
    """Each keeps its bytes once, however many views there are."""
    owner = own(100000)
    HOLDERS["100 views that overlap"] = [owner[i:i + 500] for i in range(100)]
    chain = own(50000)
    for _ in range(10):
        chain = chain[1:].reshape(-1, 1)[:, 0]
    HOLDERS["views of views"] = [chain]
    HOLDERS["a broadcast array"] = [np.broadcast_to(own(1000), (1000, 1000))]
    cells = np.empty(20, object)
    for i in range(20):
        cells[i] = own(2000)[:10]
    HOLDERS["an object array of views"] = [cells]
    text = bytes(300000)
    HOLDERS["arrays over one bytes object"] = [np.frombuffer(text, "u1", 1000, i) for i in range(50)]
    rows = np.zeros(5000, array_zoo_kinds.POINT)
    HOLDERS["rows of records"] = [rows[i] for i in range(50)] + [rows["x"], rows[1]["name"]]


def kept_by(holder):
    """Addresses of what only the holder keeps alive: everything reached from it, except what others have as well."""
    found, waiting = {}, [holder]
    while waiting:
        obj = waiting.pop()
        if id(obj) not in found and not isinstance(obj, (np.dtype, type, type(None))):
            found[id(obj)] = obj
            waiting += gc.get_referents(obj) + list(array_truth.unreported(obj))
    return sorted(found)


def main():
    exhibits.open_houses("array zoo", (array_zoo_views, array_zoo_kinds), KEPT)
    plan_holders()
    gc.collect()
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], {
        "numpy": np.__version__, "arrays": array_truth.every_array(),
        "holders": [{"what": what, "holder": id(holder), "kept": kept_by(holder)} for what, holder in sorted(HOLDERS.items())]})


main()
