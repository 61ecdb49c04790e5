"""Plants garbage of many shapes, drops it, and records what a collection in a twin finds.

Pairs, rings of 3 to 50, one ring of a million, and cycles through instance dicts, closures, frames, exceptions with tracebacks,
methods, classes, generators; also what no collection finds: NumPy object arrays that hold themselves, and instances of an extension
type without traverse. Weak references with callbacks hold nothing.
"""

import ctypes
import gc
import os
import sys
import weakref

import twin

try:
    import numpy
except Exception:
    numpy = None

PAIRS = int(os.environ.get("HEAPSIFT_PAIRS", 20000))
RINGS = 500
LONG_RING = int(os.environ.get("HEAPSIFT_RING", 1000000))


class Node:
    pass


class Link:
    __slots__ = ("next", "__weakref__")


class WithDel:
    def __del__(self):
        raise SystemError("a finalizer ran")


def pairs():
    for i in range(PAIRS):
        left, right = Node(), Node()
        left.right, right.left = right, left
        left.payload = "payload %d" % i
        if i % 100 == 0:
            left.__dict__["made"] = vars(right)  # the dict itself is referred to
        if i % 500 == 0:
            WATCHED.append(weakref.ref(left, CALLED.append))


def ring(length):
    first = last = Link()
    for _ in range(length - 1):
        link = Link()
        last.next = link
        last = link
    last.next = first


def closures():
    for _ in range(50):
        def inner():
            return inner

        box = []

        def adds():
            return box

        box.append(adds)


def frames():
    for _ in range(20):
        frame = sys._getframe()
        kept = [frame]
        kept.append(kept)
        del frame


def exceptions():
    for i in range(30):
        try:
            try:
                {}["missing %d" % i]
            except KeyError as error:
                kept = error
                raise ValueError(i) from error
        except ValueError as error:
            other = error
            other.kept = kept
    return None


def methods():
    for _ in range(40):
        node = Node()
        node.method = node.__init__
        node.bound = WithMethod().loop


class WithMethod:
    def __init__(self):
        self.me = self.loop

    def loop(self):
        return self


def classes():
    for i in range(10):
        made = type("Made%d" % i, (Node,), {"number": i, "method": lambda self: self})
        made.instance = made()


def generators():
    def generator(node):
        mine = [node]
        try:
            yield mine
        finally:
            mine.clear()

    async def coroutine(node):
        await Forever(node)

    for _ in range(25):
        node = Node()
        node.generator = generator(node)
        next(node.generator)
        node.fresh = generator(node)
        node.coroutine = coroutine(node)
        node.coroutine.send(None)


class Forever:
    def __init__(self, node):
        self.node = node

    def __await__(self):
        yield self


def finalizers():
    for _ in range(10):
        one, other = WithDel(), WithDel()
        one.other, other.one = other, one


def containers():
    for _ in range(20):
        items = [{"key": ()}]
        items[0]["back"] = items
        items.append((items, {1, "two", frozenset([3])}))


def invisible():
    """Addresses of the arrays."""
    made = []
    if numpy is not None:
        for _ in range(15):
            array = numpy.empty(3, dtype=object)
            array[0] = array
            array[1] = ["held by the array"]
            made.append(id(array))
    return made


class Member(ctypes.Structure):  # PyMemberDef
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class Slot(ctypes.Structure):  # PyType_Slot
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):  # PyType_Spec
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint), ("slots", ctypes.POINTER(Slot))]


T_OBJECT_EX, PY_TP_MEMBERS, TPFLAGS_DEFAULT = 16, 72, 1 << 18
MEMBERS = (Member * 2)(Member(b"other", T_OBJECT_EX, object.__basicsize__, 0, None), Member(None, 0, 0, 0, None))
SLOTS = (Slot * 2)(Slot(PY_TP_MEMBERS, ctypes.addressof(MEMBERS)), Slot(0, None))
SPEC = Spec(b"extension.Blind", object.__basicsize__ + 8, 0, TPFLAGS_DEFAULT, SLOTS)


def blind():
    """Pairs of an extension type with one member and no traverse; addresses."""
    make_type = ctypes.pythonapi.PyType_FromSpec
    make_type.restype, make_type.argtypes = ctypes.py_object, [ctypes.POINTER(Spec)]
    KEPT.append(make_type(ctypes.byref(SPEC)))
    made = []
    for _ in range(12):
        one, other = KEPT[0](), KEPT[0]()
        one.other, other.other = other, one
        made += [id(one), id(other)]
    return made


KEPT = []
WATCHED = []
CALLED = []


def main():
    gc.collect()
    gc.disable()
    pairs()
    for i in range(RINGS):
        ring(3 + i % 48)
    ring(LONG_RING)
    for plant in (closures, frames, exceptions, methods, classes, generators, finalizers, containers):
        plant()
    arrays, blind_ones = invisible(), blind()
    twin.record("found.json", invisible=arrays, blind=blind_ones, numpy=numpy.__version__ if numpy else "")


main()
