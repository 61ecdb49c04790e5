"""The array zoo's first house: arrays that own their bytes, views of every shape, and bytes that others own. Keepers: array_zoo.py."""

import array
import ctypes
import mmap
import pickle
import tempfile

import numpy as np

EXHIBITS = []
as_strided = np.lib.stride_tricks.as_strided


def exhibit(function):
    EXHIBITS.append(function)
    return function


def own(count=1000, dtype="f8"):
    """An array that owns its bytes: reshape and arange may leave a view behind."""
    made = np.empty(count, dtype)
    made[...] = 1
    return made


@exhibit
def plain():
    kept = [np.arange(i) for i in range(300)] + [np.zeros((3, 4, 5), np.dtype(code)) for code in "?bBhHiIlLqQefdgFDG"]
    kept += [np.array(5.0), np.array(7, "u1"), np.zeros((1,) * 30), np.eye(7), np.ones((2, 3, 4), order="F"), np.asfortranarray(np.eye(9))]
    return kept + [np.empty(200000), np.zeros((1 << 18) + 3), np.full((700, 300), 3, "i4"), np.empty((3, 1 << 20), "u1", order="F")]


@exhibit
def without_elements():
    return [np.zeros(0), np.zeros((0, 5)), np.zeros((5, 0, 3), "U7"), np.zeros(0, "S0"), np.zeros(5, "S0"), np.zeros((2, 0), "V0"), np.zeros(3, "V0"),
            np.empty((0,), object), np.zeros(0, [("a", "f8"), ("b", "O")]), own()[5:5], own()[::-1][0:0], np.zeros((4, 0)).T]


@exhibit
def views_of_views():
    base = own(10000)
    kept = [base[i:] for i in range(300)] + [base[1:][1:][1:], base.reshape(100, 100), base.reshape(100, 100).T, base[None, :], base.view("i8")]
    chain = base
    for _ in range(50):
        chain = chain[1:]
    return base, kept, chain, base.view("u1")[3:11].view("f8"), base.reshape(10, 10, 100).transpose(2, 0, 1), base.reshape(-1, 4).swapaxes(0, 1)


@exhibit
def views_whose_base_has_no_other_holder():
    return [own(3000)[10:20] for _ in range(40)] + [np.diagonal(np.eye(50)), np.eye(20).ravel()[::3], np.zeros((4, 4)).real, np.zeros(9, "c16").imag]


@exhibit
def odd_strides():
    base = own()
    return [base[::-1], base[::-3], base[999:0:-7], base.reshape(10, 100)[::-1, ::-1], base.reshape(10, 100)[::2, ::-5], np.flip(base.reshape(50, 20), 0),
            np.broadcast_to(base, (3, 1000)), np.broadcast_to(np.float32(7), (100, 100)), np.broadcast_arrays(base[:4], np.ones((3, 1))),
            base.reshape(10, 100)[:, 5], np.rot90(base.reshape(25, 40)), np.lib.stride_tricks.as_strided(base, (5, 5), (0, 16))]


@exhibit
def windows():
    base = own()
    kept = [as_strided(base, (5, 5), (8, 8)), as_strided(base[10:], (3,), (-8,)), as_strided(own(), (2, 3), (16, 8), subok=True), as_strided(base, (4,), (1,))]
    kept += [as_strided(as_strided(own(), (100,), (8,)), (50,), (16,))]
    if hasattr(np.lib.stride_tricks, "sliding_window_view"):
        kept += [np.lib.stride_tricks.sliding_window_view(base, 7), np.lib.stride_tricks.sliding_window_view(own(64).reshape(8, 8), (3, 3))]
    return kept


@exhibit
def changed_in_place():
    grown, shrunk, emptied, reshaped, retyped = own(5), own(5000), own(50), own(60), own(70)
    grown.resize(100000, refcheck=False)
    shrunk.resize((3, 5), refcheck=False)
    emptied.resize(0, refcheck=False)
    reshaped.shape = (3, 4, 5)
    retyped.dtype = "u2"
    flags = own(80)
    flags.setflags(write=False)
    strided = np.zeros((2, 3, 1))
    strided.strides = (24, 8, 0)
    swapped = own(90).byteswap(True)
    return grown, shrunk, emptied, reshaped, retyped, flags, flags[3:], strided, swapped.newbyteorder() if hasattr(swapped, "newbyteorder") else swapped


@exhibit
def data_of_another():
    import warnings
    changed = own(100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed.data = own(100)
    return changed


@exhibit
def dtypes():
    codes = ["S7", "S1", "S300", "U3", "U1", "U250", "V9", "V1", "M8", "m8", "M8[ns]", "m8[25us]", "M8[D]", "M8[3Y]", "m8[W]", "M8[as]", "m8[h]", "M8[7M]",
             ">f8", "<f4", ">i2", ">u8", ">c16", ">U5", ">M8[s]", ">m8[ms]", "=i4", "|b1", "?", "f2", "g", "G", "O"]
    return [np.zeros((2, 3), code) for code in codes] + [np.zeros(4, np.dtype("f8", metadata={"made": "here"})), np.arange("2020-01", "2021-01", dtype="M8[M]"),
            np.array([b"some", b"bytes"]), np.array(["some", "text \u20ac"]), np.array([True, False]), np.array([1 << 63], "u8"), np.array([1j, 2])]


@exhibit
def buffers():
    text, changeable = bytes(range(256)), bytearray(4096)
    ints, nested = array.array("i", range(1000)), memoryview(memoryview(bytes(500))[100:])[7:]
    return [np.frombuffer(text, "u1"), np.frombuffer(text, ">i4", offset=4, count=5), np.frombuffer(changeable), np.frombuffer(ints, "i4"),
            np.asarray(memoryview(changeable)[16:32]), np.asarray(nested), np.array(memoryview(b"12345678"), copy=False), np.asarray(memoryview(ints)[::3]),
            np.ndarray((3, 4), "f4", buffer=changeable, offset=8), np.ndarray((5,), "u1", memoryview(changeable)[5:]), np.frombuffer(bytearray(b"only here, once.")),
            np.asarray(memoryview(own())[5:50]), np.frombuffer(memoryview(own(7)).cast("B")), np.frombuffer(own(30)[3:].view("u1")),
            np.ndarray((2,), buffer=own(8)), np.frombuffer(np.frombuffer(bytes(64))), np.asarray(memoryview(b"readonly").toreadonly())]


@exhibit
def maps():
    anonymous, file = mmap.mmap(-1, 65536), tempfile.TemporaryFile()
    file.write(bytes(1 << 20))
    file.flush()
    mapped = np.memmap(file, dtype="f8", mode="r+")
    mapped[:10] = 1
    read, private = np.memmap(file, "u1", "r", offset=5000, shape=(10, 10)), np.memmap(file, "i4", "c")
    private[1000:2000] = 3
    return file, [np.frombuffer(anonymous, "i4"), np.ndarray((5, 5), buffer=anonymous), mapped, mapped[5:50], read, read.T[3:], private, np.asarray(mapped),
                  np.asarray(mapped)[::7], np.frombuffer(mmap.mmap(file.fileno(), 8192), "u2", offset=4096), mapped + 1, mapped[:100].copy()]


@exhibit
def foreign_structures():
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("count", ctypes.c_int * 3)]

    numbers, points = (ctypes.c_int * 100)(), (Point * 5)()
    pointer = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int))
    over = (ctypes.c_double * 8).from_buffer(bytearray(64))
    return [np.ctypeslib.as_array(numbers), np.ctypeslib.as_array(pointer, (10, 10)), np.asarray(points), np.asarray(points)["x"], np.frombuffer(over),
            np.asarray(points[2].count), np.ctypeslib.as_array(over)[3:], np.frombuffer((ctypes.c_char * 50)(), "u1"), np.asarray(ctypes.c_long(5)), numbers]


class Exporter:
    """An object with an array interface, as a library's image or tensor may be."""

    def __init__(self, **more):
        self.bytes = bytearray(800)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.bytes))
        self.__array_interface__ = {"version": 3, "typestr": "<f8", "shape": (10, 10), "data": (address, False), **more}


class ExporterOfBuffer:
    def __init__(self):
        self.bytes = bytearray(800)
        self.__array_interface__ = {"version": 3, "typestr": "<i4", "shape": (50,), "data": self.bytes, "offset": 16}


class WithBase(Exporter):
    """`base` here is no array, and no business of NumPy's."""

    def __init__(self):
        super().__init__()
        self.base = [self.bytes]


@exhibit
def exporters():
    return [np.asarray(Exporter()), np.asarray(Exporter(strides=(8, 80)))[3], np.asarray(ExporterOfBuffer()), np.asarray(WithBase())]


def array_api():
    """NumPy's C functions, by their place in its table: the same in all releases."""
    core = getattr(np, "_core", None) or np.core
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


def from_native(data, shape, code):
    """PyArray_SimpleNewFromData: no base, and the bytes are not the array's."""
    ssize = ctypes.c_ssize_t
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ssize), ctypes.c_int, ctypes.c_void_p,
                            ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)(array_api()[93])
    return new(id(np.ndarray), len(shape), (ssize * len(shape))(*shape), np.dtype(code).num, None, data, 0, 0x501, None)


@exhibit
def native_memory():
    malloc = ctypes.CDLL(None).malloc
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    small, large = malloc(400), malloc(1 << 20)
    return from_native(small, (50,), "f8"), from_native(large, (256, 1024), "i4"), from_native(small, (5, 5), "f8").T[1:], from_native(large, (0, 4), "f8")


@exhibit
def capsules():
    malloc, make = ctypes.CDLL(None).malloc, ctypes.pythonapi.PyCapsule_New
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    set_base = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(array_api()[282])
    kept = []
    for size in (100, 300000):
        data = malloc(size * 8)
        made, capsule = from_native(data, (size,), "f8"), make(data, None, None)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(capsule))  # set_base keeps it
        set_base(made, id(capsule))
        kept += [made, made[3:], made.reshape(-1, 10).T]
    return kept


@exhibit
def copies_that_are_written_back():
    """WRITEBACKIFCOPY: it owns its bytes, but still has a base."""
    number, pointer = ctypes.c_int, ctypes.c_void_p
    from_any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, pointer, number, number, number, pointer)(array_api()[69])
    made = from_any(own()[::2], None, 0, 0, 0x2000 | 0x501, None)
    return made, made[3:]


@exhibit
def capsules_of_dlpack():
    shared, part = own(), own(7)[2:]  # kept here: what a capsule's C structures hold is out of Python's sight
    return shared, np.from_dlpack(shared), part, np.from_dlpack(part)


@exhibit
def unpickled():
    source = np.arange(5000.0)
    return [pickle.loads(pickle.dumps(source, protocol)) for protocol in (2, 4, 5)] + [
        pickle.loads(pickle.dumps(np.array([[1, "x"], [None, 2.5]], object))), pickle.loads(pickle.dumps(np.ones(3).view(np.recarray)))]


@exhibit
def unpickled_out_of_band():
    buffers = []
    data = pickle.dumps([np.arange(4000.0), np.eye(30)], 5, buffer_callback=buffers.append)
    return buffers, pickle.loads(data, buffers=buffers), pickle.loads(data, buffers=[bytearray(b) for b in buffers])
