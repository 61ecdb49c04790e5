"""Views that keep their bases: each kept row is a view, and keeps the whole array it was cut from.

With 500 rows, 100 views show 2,457,600 bytes and keep 1,107,148,800 bytes alive, in 100 arrays that nothing else refers to; the live `data`
(400 rows, 9,830,400 bytes) has no view. With --copies, as it should have been written, nothing is kept. In the current directory it writes truth.json: these figures, the addresses of the views and of
their bases, and where func() stands.

    case_views.py [--rows N] [--copies]     500; fewer make a smaller core, still with 100 views
"""

import argparse
import os

import numpy as np

import standstill


def func(rows, copies=False):
    np.random.seed(5)
    data = np.random.randn(rows, 32, 32, 3)
    selected = []
    for _ in range(100):
        i = np.random.randint(len(data))
        selected.append(data[i].copy() if copies else data[i])
        data = np.delete(data, i, axis=0)
    standstill.write_and_rest("truth.json", truth(selected, data))  # func stands here


def truth(selected, data):
    return {"views": [{"address": standstill.address(view), "base": standstill.address(view if view.base is None else view.base)}
                      for view in selected],
            "selected": standstill.address(selected), "data": standstill.address(data),
            "visible_bytes": sum(view.nbytes for view in selected), "pinned_bytes": sum(view.base.nbytes for view in selected if view.base is not None),
            "bases": len({id(view.base) for view in selected if view.base is not None}), "data_bytes": data.nbytes,
            "function": "func", "file": os.path.basename(__file__), "line": standstill.line_of(__file__, "func stands here")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--copies", action="store_true")
    options = parser.parse_args()
    func(options.rows, options.copies)


if __name__ == "__main__":
    main()
