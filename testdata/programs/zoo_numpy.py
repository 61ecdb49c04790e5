"""The zoo's third house: NumPy. Without NumPy it has no exhibits. `zoo.py` says how exhibits work."""

from zoo_language import MANY

EXHIBITS = []

try:
    import numpy as np
except ImportError:
    np = None


def exhibit(function):
    if np is not None:
        EXHIBITS.append(function)
    return function


@exhibit
def arrays():
    kept = [np.zeros(i % 300) for i in range(MANY)] + [np.arange(i) for i in range(200)]
    kept += [np.ones((3, 4, 5), dtype) for dtype in ("?", "b", "u2", "i4", "f2", "f4", "c8", "c16", "g", "M8[ns]", "m8[D]", "S7", "U3", "V9")]
    kept += [np.array(5.0), np.zeros(0), np.zeros((0, 5)), np.zeros((1,) * 20), np.zeros(1000000), np.asfortranarray(kept[-1])]
    return kept


@exhibit
def array_views():
    base = np.arange(10000.0)
    kept = [base[i:] for i in range(MANY)]
    kept += [base.reshape(100, 100).T, base[::-3], np.broadcast_to(base, (3, 10000)), np.frombuffer(b"12345678", "u1"),
             np.frombuffer(bytearray(64)), np.lib.stride_tricks.as_strided(base, (5, 5), (8, 8)), base.view("i8"), base[None, :]]
    chain = base
    for _ in range(20):
        chain = chain[1:]
    return base, kept, chain, memoryview(base), np.asarray(memoryview(bytearray(80)))


@exhibit
def object_arrays():
    kept = [np.array([i, "text", None, [i]], dtype=object) for i in range(1000)]
    kept.append(np.empty(1000, object))
    itself = np.empty(2, object)
    itself[0] = [itself]
    return kept, itself


@exhibit
def structured_arrays():
    point = np.dtype([("x", "f8"), ("y", "f8"), ("name", "U8")])
    nested = np.dtype([("at", point), ("what", "O"), ("more", "i4", (2, 3))], align=True)
    rows = np.zeros(100, nested)
    rows["what"] = [[i] for i in range(100)]
    return rows, rows["at"], rows["at"]["x"], rows[3], rows.view(np.recarray), np.rec.array([(1, 2.0)], names="a,b"), rows["more"]


@exhibit
def dtypes():
    return [np.dtype(code) for code in ("f8", ">f8", "O", "S10", "U10", "V5", "M8[3s]", "m8", "(2,3)i4")] + [type(np.dtype("f4")),
            np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [0, 16], "titles": ["first", "second"]})]


@exhibit
def scalars():
    kept = [np.float64(i) for i in range(MANY)] + [np.int64(i) for i in range(MANY)]
    kept += [np.bool_(True), np.int8(1), np.uint16(2), np.float16(3), np.float32(4), np.longdouble(5), np.complex64(6), np.complex128(7),
             np.clongdouble(8), np.datetime64("2020-01-01"), np.timedelta64(3, "h"), np.str_("text \u20ac"), np.bytes_(b"bytes"),
             np.void(b"12345"), np.str_("x" * 700)]
    return kept


@exhibit
def array_subclasses():
    class Kind(np.ndarray):
        pass

    kept = np.zeros(5).view(Kind)
    kept.attribute = ["on an array"]
    return kept, [np.zeros(3).view(Kind) for _ in range(500)], np.ma.masked_array([1, 2, 3], [0, 1, 0]), np.ma.masked, np.matrix("1 2; 3 4")


@exhibit
def array_machinery():
    array = np.arange(12).reshape(3, 4)
    iterator = np.nditer(array, flags=["multi_index"])
    return (array.flat, iterator, np.nditer([array, array.astype("f4")], flags=["buffered"]), np.broadcast(array, 1), np.add,
            np.frompyfunc(lambda x: x, 1, 1), np.vectorize(len), np.random.default_rng(1), np.random.RandomState(2),
            np.ndindex(3, 4), array.flags, array.ctypes, np.poly1d([1, 2]), np.iinfo("i4"), np.finfo("f8"), np.add.reduce, array.__array_interface__)


@exhibit
def text_arrays():
    return np.array(["short", "a text that is longer than fifteen bytes", "x" * 3000], dtype=np.dtypes.StringDType())


@exhibit
def mapped_arrays():
    import tempfile
    file = tempfile.TemporaryFile()
    file.write(bytes(8000))
    file.flush()
    return file, np.memmap(file, dtype="f8", mode="r+")
