"""The array zoo's second house: records, objects, subclasses, masks, text, and places where arrays are kept. Keepers: array_zoo.py."""

import functools
import weakref

import numpy as np
from numpy.ma import mrecords

from array_zoo_views import own

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


POINT = np.dtype([("x", "f8"), ("y", "f8"), ("name", "U8")])


@exhibit
def records():
    nested = np.dtype([("at", POINT), ("more", "i4", (2, 3)), ("when", "M8[ms]"), ("flag", "?")], align=True)
    titled = np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [0, 16], "titles": ["first", "second"], "itemsize": 40})
    rows, packed = np.zeros(100, nested), np.zeros((3, 4), POINT)
    overlaid = np.zeros(5, {"names": ["all", "low"], "formats": ["u8", "u4"], "offsets": [0, 0]})
    return [rows, rows["at"], rows["at"]["x"], rows["more"], rows["more"][:, 1], rows["when"][::-2], rows[["at", "flag"]], rows[5:50]["at"]["name"],
            packed, packed.T["y"], overlaid, overlaid["low"], np.zeros(7, titled), np.zeros(7, titled)["first"], np.zeros(7, titled)["b"],
            np.zeros((), nested), np.zeros((), nested)["more"],
            np.zeros(4, "(2,3)i4"), np.zeros(4, [("sub", "(2,2)f8")])["sub"][0], np.zeros(3, ">i4,f8,S5"), np.zeros(3, ">i4,f8,S5")["f2"],
            np.zeros(2, [("inner", [("deep", [("x", "f4", (3,))])])])["inner"]["deep"]["x"], np.zeros(2, np.dtype((np.void, 24)))]


@exhibit
def rows_that_are_scalars():
    rows = np.zeros(50, [("a", "f8"), ("b", "i4", (3,)), ("c", POINT)])
    kept = [rows[3], rows[4]["b"], rows[5]["c"]["name"], np.zeros(20, POINT)[7], np.zeros(20, rows.dtype)[7]["b"][1:], rows[6]["c"],
            np.zeros(3, rows.dtype)[1]["c"]]
    return (kept, np.void(b"12345"), np.asarray(rows[8]), np.asarray(np.void(b"123456")), rows[9].copy(), np.asarray(rows[10].copy()),
            np.zeros((), POINT)[()])


@exhibit
def record_arrays():
    made = np.rec.array([(1, 2.0, "x"), (3, 4.0, "y")], names="a,b,c")
    return (made, made.a, made[0], made[1:], np.zeros(9, POINT).view(np.recarray), np.zeros(9, POINT).view(np.recarray).x,
            np.rec.fromarrays([own(5), own(5)], names="p,q"))


@exhibit
def objects():
    kept = [np.array([i, "text", None, [i]], dtype=object) for i in range(200)]
    grid = np.empty((4, 5), object)
    for i in range(4):
        for j in range(5):
            grid[i, j] = [i, j]
    fortran, some = np.empty((3, 4), object, order="F"), np.empty(50, object)
    for i in range(12):
        fortran[i % 3, i // 3] = {i}
    some[::7] = [1.5] * 8
    same = np.empty(20, object)
    same[:] = ["once"] * 20
    zero = np.empty((), object)
    zero[()] = ["in no dimension"]
    return (kept, grid, grid.T, grid[1:, ::-2], grid.copy("F"), fortran, some, same, zero, np.zeros((2, 3), object), np.empty(1000, object),
            np.array([[None] * 3] * 2))


@exhibit
def objects_that_are_arrays():
    nested = np.empty(6, object)
    nested[0], nested[1], nested[2] = own(10), np.array([own(3), None], object), own(20)[5:]
    nested[3] = np.empty(2, object)
    nested[3][0] = nested[3]  # in a cycle: with itself
    nested[4] = [nested]      # and through a list, which the collector cannot see
    ragged = np.empty(30, object)
    for i in range(30):
        ragged[i] = np.arange(i)
    return nested, ragged, nested[2:5]


@exhibit
def objects_in_records():
    nested = np.dtype([("n", "i4"), ("what", "O"), ("two", "O", (2,)), ("in", [("grid", "O", (2, 3)), ("it's", "O")]), ("m", "f4")])
    rows = np.zeros(20, nested)
    rows["what"] = [[i] for i in range(20)]
    rows["two"][:, 1] = own(4)[:1].astype(object)[0]
    rows["in"]["grid"][3, 1, 2] = ["deep"]
    rows["in"]["it's"][5] = own(11)
    titled = np.zeros(4, {"names": ["o"], "formats": ["O"], "titles": ["the object"], "offsets": [8], "itemsize": 24})
    titled["o"] = [own(2), None, "text", ()]
    plane = np.zeros((3, 4), [("o", "O"), ("x", "f8")])
    plane["o"][1, 2] = ["here"]
    return (rows, rows["what"], rows["in"]["grid"], rows[3], titled, plane, plane.copy("F"), np.zeros((), nested), rows[["n", "what"]],
            rows.view(np.recarray))


class Labelled(np.ndarray):
    """A subclass with attributes."""

    def __new__(cls, data, label=None):
        made = np.asarray(data).view(cls)
        made.label = label
        return made

    def __array_finalize__(self, source):
        self.label = getattr(source, "label", None)
        self.source = weakref.ref(source) if source is not None else None


class Slotted(np.ndarray):
    __slots__ = ("mark",)


@exhibit
def subclasses():
    slotted = own(8).view(Slotted)
    slotted.mark = own(9)
    labelled = Labelled(own(50), [own(3)])
    return [labelled, labelled[5:], labelled * 2, Labelled(np.zeros((3, 0))), slotted, slotted[2:], Slotted((3, 4), "f4"), np.matrix("1 2; 3 4"),
            np.matrix(np.eye(5)).T, np.matrix(np.eye(4))[1:], np.asmatrix(own(6)), np.char.array(["some", "text"]),
            np.char.array([b"some", b"bytes"])[1:], np.array([own(3)]).view(Labelled)]


@exhibit
def masked():
    one = np.ma.masked_array([1.0, 2, 3, 4], [0, 1, 0, 0])
    shared = one[1:]
    shared.mask[0] = True
    hard = np.ma.masked_array(own(30), mask=own(30) > 5, hard_mask=True, fill_value=7)
    rows = np.ma.zeros(10, POINT)
    rows["x"][3] = np.ma.masked
    return one, shared, hard, hard.reshape(5, 6), hard.T, np.ma.masked, np.ma.masked_where(np.eye(4) == 1, np.eye(4)), rows, rows[3], rows["x"], (
        np.ma.array(own(9)), np.ma.array([1, 2], mask=np.ma.nomask), np.ma.masked_equal([[1, 2], [2, 1]], 2),
        mrecords.fromarrays([own(4)], names="a"))


@exhibit
def text():
    dtype = np.dtypes.StringDType()
    made = np.array(["short", "a text that is longer than fifteen bytes", "x" * 3000, ""], dtype=dtype)
    missing = np.array(["a", None, "c" * 40], dtype=np.dtypes.StringDType(na_object=None))
    return made, made[1:], made.reshape(2, 2).T, missing, np.zeros((3, 0), dtype), np.empty(1000, np.dtypes.StringDType(coerce=False))


@exhibit
def scalars():
    return [np.float64(3), own(5)[2], np.array(7.5)[()], np.str_("text"), np.bytes_(b"bytes"), np.datetime64("2020-01-01", "ns"),
            np.longdouble(2), np.complex64(1j)]


@exhibit
def machinery():
    made, pair = own(120).reshape(10, 12), [own(6), own(6)]
    iterator = np.nditer([made, np.ones((10, 12), "f4")], flags=["external_loop", "buffered"])
    return (made.flat, own(33).flat, iterator, np.broadcast(*pair), made.flags, own(31).flags, np.ndenumerate(own(13)), made.ctypes,
            np.poly1d([1, 2, 3]))


@exhibit
def places():
    def default(x=own(14), *, y=own(15)[3:]):
        return x, y

    def closure():
        inside = own(16)
        return lambda: inside

    def generator():
        local = own(17)
        yield local[2:]
        yield local

    class Holder:
        shared = own(18)
        __slots__ = ("slot",)

    running, holder = generator(), Holder()
    next(running)
    holder.slot = own(19)
    return default, closure(), running, Holder, holder, functools.partial(np.add, own(21)), own(22).sum, {
        "key": own(23)}, {own(24).tobytes(): own(25)}, weakref.ref(own)


@exhibit
def aligned():
    raw = np.empty(4096 + 64, "u1")
    offset = -raw.__array_interface__["data"][0] % 64
    return (raw[offset:offset + 4096].view("f8"), np.require(own(30)[1:], requirements=["OWNDATA"]), np.ascontiguousarray(np.eye(5).T),
            np.copy(own(6)[::2]), np.array(own(8), ndmin=3))


@exhibit
def freed():
    """Their memory is NumPy's, Python's or malloc's again, and no array's."""
    for size in (1, 10, 100, 500, 2000, 50000, 300000):
        gone = [own(size) for _ in range(20)]
        gone = [a[1:] for a in gone]
        del gone
    return None
