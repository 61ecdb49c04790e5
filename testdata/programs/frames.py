"""DataFrames and Series of every common kind, and pieces of some that are gone, for tests of `heapsift arrays`.

It writes truth.json: for every DataFrame and Series in the process its shape, its columns, and the address and bytes of each array under
it, found by pandas' names for them; for the kept pieces, which array they keep and through what. The columns and arrays of an object are
asked for last, since asking may make pandas cache more.
"""

import datetime
import gc
import weakref

import numpy as np
import pandas as pd

import standstill

ROWS = 1000


class Table(pd.DataFrame):
    """A subclass, as people write it."""

    @property
    def _constructor(self):
        return Table


class Mixin:
    pass


class Mixed(Mixin, pd.DataFrame):
    """DataFrame is not its first base."""


class Box:
    def __init__(self, content):
        self.content = content


def numbers(columns="abc", rows=ROWS):
    return pd.DataFrame({name: np.arange(rows) * 1.5 + i for i, name in enumerate(columns)})


def mixed(rows=ROWS):
    days = pd.date_range("2020-01-01", periods=rows)
    return pd.DataFrame({
        "float": np.arange(rows) / 3, "int": np.arange(rows), "small": np.arange(rows).astype("i2"), "bool": np.arange(rows) % 2 == 0,
        "object": ["row %d" % i for i in range(rows)], "day": days, "zoned": days.tz_localize("UTC"), "length": days - days[0],
        "month": days.to_period("M"), "kind": pd.Categorical(["x", "y", "z", "x"] * (rows // 4)),
        "masked": pd.array([1, None] * (rows // 2), dtype="Int64"), "yes": pd.array([True, None] * (rows // 2), dtype="boolean"),
        "text": pd.array(["p", "q"] * (rows // 2), dtype="string"), "between": pd.interval_range(0, rows),
        "sparse": pd.arrays.SparseArray([0, 0, 0, 1] * (rows // 4))})


def frames():
    """What is simply there: kinds of values, of indexes and of columns."""
    two_levels = pd.MultiIndex.from_product([["north", "south"], [1, 2, 3]], names=["side", "number"])
    made = {
        "numbers": numbers(), "mixed": mixed(), "subclass": Table(numbers("xy")), "other base": Mixed({"only": [1, 2, 3]}),
        "empty": pd.DataFrame(), "no rows": pd.DataFrame({"a": [], "b": []}), "no columns": pd.DataFrame(index=range(7)),
        "of an array": pd.DataFrame(np.arange(3000.0).reshape(1000, 3)), "wide": pd.DataFrame(np.zeros((4, 300))),
        "dated": pd.DataFrame({"v": np.arange(48.0)}, index=pd.date_range("2024-01-31", periods=48, freq="D")),
        "columns of days": pd.DataFrame(np.zeros((2, 3)), columns=pd.date_range("2024-01-30", periods=3)),
        "columns of levels": pd.DataFrame(np.zeros((5, 6)), columns=two_levels),
        "rows of levels": pd.DataFrame({"v": np.arange(6)}, index=two_levels),
        "columns of kinds": pd.DataFrame(np.zeros((2, 3)), columns=pd.CategoricalIndex(["u", "v", "w"])),
        "columns of numbers": pd.DataFrame(np.zeros((2, 3)), columns=[10, 20, -30]),
        "rows by step": pd.DataFrame({"v": np.arange(10)}, index=pd.RangeIndex(100, 0, -10)),
        "not ASCII": pd.DataFrame({"größe": [1], "\u4e2d\u6587": [2], "line\nend": [3], "long " * 30: [4]}),
        "series": pd.Series(np.arange(10.0), name="ten"), "series of kinds": pd.Series(["a", "b"] * 50, dtype="category"),
        "series without a name": pd.Series([1, 2, 3]), "series by level": pd.Series(np.arange(6), index=two_levels),
        "copy": numbers().iloc[10:20].copy(), "one by one": pd.DataFrame(),
    }
    for i in range(20):
        made["one by one"]["c%d" % i] = np.arange(10) + i
    made["looked up"] = pd.DataFrame({"v": np.arange(100)}, index=["k%d" % i for i in range(100)])
    made["looked up"].loc["k7"]
    made["levels looked up"] = pd.DataFrame({"v": np.arange(6)}, index=two_levels.copy(deep=True))
    made["levels looked up"].loc[("north", 2)]
    made["joined"] = pd.concat([numbers(), numbers()], ignore_index=True)
    made["with dicts"] = numbers("de")
    for thing in (made["with dicts"], made["with dicts"].columns, made["with dicts"].index, made["series"], made["series"]._mgr, made["series"].index):
        vars(thing)
    made["grouped"] = numbers().groupby(numbers().index % 3).sum()
    return made


def pieces():
    """Cut from frames that are dropped: the name, what is kept, and the array that is kept with it."""
    def piece(name, cut, parent):
        owner = final_owner(parent._mgr.blocks[0].values)
        kept = cut(parent)
        found.append((name, kept, weakref.ref(owner)))

    found = []
    piece("iloc", lambda frame: frame.iloc[10:20], numbers())
    piece("loc", lambda frame: frame.loc[5:50], numbers())
    piece("head", lambda frame: frame.head(), numbers())
    piece("column", lambda frame: frame["a"], numbers())
    piece("column of a slice", lambda frame: frame["a"][10:20], numbers())
    piece("row", lambda frame: frame.iloc[3], numbers())
    piece("columns", lambda frame: frame.loc[:, "a":"b"], numbers())
    piece("slice of a slice", lambda frame: frame.iloc[10:500].iloc[5:9], numbers())
    piece("of two dtypes", lambda frame: frame.iloc[1:3], numbers().assign(n=np.arange(ROWS)))
    piece("transposed", lambda frame: frame.T, numbers())
    piece("shallow copy", lambda frame: frame.copy(deep=False), numbers())
    piece("values", lambda frame: frame.values[3:5], numbers())
    piece("boxed", lambda frame: Box(frame.iloc[100:101]), numbers())
    piece("copy", lambda frame: frame.iloc[10:20].copy(), numbers())
    piece("chosen rows", lambda frame: frame[frame["a"] > 100], numbers())
    piece("chosen columns", lambda frame: frame[["a"]], numbers())
    for name, group in list(numbers().groupby(np.arange(ROWS) // 500)):
        found.append(("group %d" % name, group, weakref.ref(final_owner(group._mgr.blocks[0].values))))
    return found


def final_owner(values):
    array = values if isinstance(values, np.ndarray) else values._ndarray
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def arrays_of(thing):
    """All arrays under the values of a block, or an Index, by name."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, pd.Categorical):
        return [thing._ndarray] + arrays_of(thing.dtype.categories)
    if isinstance(thing, pd.MultiIndex):
        return sum(map(arrays_of, thing._levels), []) + list(thing._codes) + cached(thing)
    if isinstance(thing, pd.Index):
        return arrays_of(getattr(thing, "_data", None)) * (not isinstance(thing, pd.RangeIndex)) + cached(thing)
    if isinstance(thing, pd.arrays.IntervalArray):
        return arrays_of(thing._left) + arrays_of(thing._right)
    if isinstance(thing, pd.arrays.SparseArray):
        index = thing.sp_index
        return [thing.sp_values] + ([index.indices] if hasattr(index, "indices") else [index.blocs, index.blengths])
    if isinstance(thing, (list, tuple)):
        return sum(map(arrays_of, thing), [])
    found = []
    for name in ("_ndarray", "_data", "_mask", "values", "mask", "offsets", "levels", "categories"):
        if type(thing).__module__.startswith("pandas."):
            found += arrays_of(getattr(thing, name, None)) if not found or name in ("_mask", "mask", "offsets", "levels") else []
    return found


def cached(index):
    return sum(map(arrays_of, [getattr(index, "_cached_data", None), getattr(index, "_tuples", None), *index._cache.values()]), [])


def different(arrays):
    """Each once; one of those that show the same bytes."""
    seen, result = set(), []
    for array in arrays:
        bytes_shown = (array.__array_interface__["data"][0], array.nbytes) if array.nbytes else id(array)
        if bytes_shown not in seen:
            seen.add(bytes_shown)
            result.append(array)
    return result


def label(value):
    if isinstance(value, tuple):
        return "(%s)" % ", ".join(map(label, value))
    if isinstance(value, datetime.date):
        return str(value)[:10]
    text = str(value)
    return text[:60] + "…" if len(text) > 60 else text


def described(frame):
    series = isinstance(frame, pd.Series)
    manager = frame._mgr
    names = [] if series else [label(name) for name in frame.columns]
    values = different(arrays_of([block.values for block in manager.blocks]))
    arrays = different(values + arrays_of(list(manager.axes)))
    parent = getattr(manager, "parent", None)
    return {"address": standstill.address(frame), "kind": "Series" if series else "DataFrame", "shape": list(frame.shape), "columns": names,
            "type": type(frame).__module__ + "." + type(frame).__qualname__, "arrays": [standstill.address(array) for array in arrays],
            "values": [standstill.address(array) for array in values], "nbytes": sum(array.nbytes for array in arrays),
            "name": frame.name if series and isinstance(frame.name, str) else None,
            "parent": None if parent is None else standstill.address(parent)}


def kept(name, thing, owner):
    thing = thing.content if isinstance(thing, Box) else thing
    array = owner()
    values = thing if isinstance(thing, np.ndarray) else thing._mgr.blocks[0].values
    return {"name": name, "address": standstill.address(thing), "shape": list(thing.shape), "visible_bytes": values.nbytes,
            "owner": None if array is None else standstill.address(array), "owner_bytes": None if array is None else array.nbytes,
            "shares": array is not None and bool(np.shares_memory(values, array)), "is_owner": values is array}


def main():
    held = {"frames": frames(), "pieces": pieces()}
    gc.collect()
    every = [one for one in gc.get_objects() if isinstance(one, (pd.DataFrame, pd.Series))]
    truth = {"pandas": pd.__version__, "frames": [described(one) for one in every],
             "names": {name: standstill.address(one) for name, one in held["frames"].items()}, "pieces": [kept(*piece) for piece in held["pieces"]]}
    del every
    standstill.write_and_rest("truth.json", truth)


if __name__ == "__main__":
    main()
