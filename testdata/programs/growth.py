"""A program at two times: growth.py CASE FOLDER. It takes a core in FOLDER/1, goes on, and takes the other in FOLDER/2.

What must be found between the two is in FOLDER/truth.json: where it grew, by how many units, and what each of them has.
"""
import ctypes
import functools
import gc
import json
import os
import sys
import threading

UNITS = 40


class Tensor(object):
    def __init__(self, number):
        self.number = number


class Graph(object):
    def __init__(self):
        self.tensors = [Tensor(i) for i in range(250)]


class Session(object):
    def __init__(self):
        self.graph = Graph()
        self.closed = False


class Node(object):
    pass


class Server(object):
    everything = []

    def __init__(self):
        self.cache = {}

    @functools.lru_cache(maxsize=None)
    def page(self, number):
        return Session()


class Link(object):
    __slots__ = ("next", "payload")


class Stack(threading.local):
    def __init__(self):
        self.sessions = []


REGISTRY = []
CACHE = {}
SERVER = Server()
STACK = Stack()
TREES = []
BUFFER = bytearray(b"x" * 1000)
HANDLERS = {"paid": []}
FIRST = Link()
FIRST.next, FIRST.payload = None, b"-" * 500
LAST = [FIRST]


def handler(session):
    return lambda: session


def size_of(kind):
    return "%s.%s" % (kind.__module__, kind.__name__)


def sessions(count):
    REGISTRY.extend(Session() for _ in range(count))


def thread_local(count):
    STACK.sessions.extend(Session() for _ in range(count))


def attribute(count):
    for _ in range(count):
        SERVER.cache["key %d" % len(SERVER.cache)] = Session()


def of_class(count):
    Server.everything.extend(Session() for _ in range(count))


def lru_cache(count):
    begin = SERVER.page.cache_info().currsize
    for i in range(count):
        SERVER.page(begin + i)


def closures(count):
    HANDLERS["paid"].extend(handler(Session()) for _ in range(count))


def linked(count):
    for _ in range(count * 50):
        link = Link()
        link.next, link.payload = None, os.urandom(500)
        LAST[0].next = link
        LAST[0] = link


def buffer(count):
    BUFFER.extend(b"y" * (count * 100000))


def strings(count):
    for _ in range(count * 250):
        CACHE["a key that is quite long, %d" % len(CACHE)] = "a value that is longer, %d" % len(CACHE)


def garbage(count):
    gc.disable()
    for _ in range(count):
        session = Session()
        session.itself = session
        session.blob = bytearray(20000)


def references(count):
    for _ in range(count):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(Session()))


def native(count):
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    for _ in range(count * 50):
        libc.memset(libc.malloc(3000), 1, 3000)


def arrays(count):
    import numpy
    for _ in range(count):
        tree = Node()
        for name in ("i", "f", "o", "u", "c"):
            setattr(tree, name, numpy.random.randn(500))
        TREES.append(tree)


def nothing(count):
    for i in range(count * 20):
        CACHE["a key %d" % (i % 30)] = [Session() for _ in range(2)]


# case: the function, and what must be said of the growth: holder and attribute of the place, type and number of units, what each of them has
CASES = {
    "sessions": (sessions, "__main__", "REGISTRY", Session, {Graph: 1, Tensor: 250}),
    "thread_local": (thread_local, None, None, Session, {Graph: 1, Tensor: 250}),
    "attribute": (attribute, "__main__.Server", "cache", Session, {Graph: 1, Tensor: 250}),
    "of_class": (of_class, "__main__.Server", "everything", Session, {Graph: 1, Tensor: 250}),
    "lru_cache": (lru_cache, None, None, Session, {Graph: 1, Tensor: 250}),
    "closures": (closures, "__main__", "HANDLERS", None, {Session: 1, Graph: 1, Tensor: 250}),
    "linked": (linked, None, None, Link, {}),
    "buffer": (buffer, "__main__", "BUFFER", bytearray, {}),
    "strings": (strings, "__main__", "CACHE", str, {}),
    "garbage": (garbage, "", "", Session, {Graph: 1, Tensor: 250}),
    "references": (references, None, None, Session, {Graph: 1, Tensor: 250}),
    "native": (native, None, None, None, {}),
    "arrays": (arrays, "__main__", "TREES", Node, {"numpy.ndarray": 5}),
    "nothing": (nothing, None, None, None, {}),
}


def core_of_now(folder):
    os.mkdir(folder)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.abort()
    os.waitpid(child, 0)


def in_copy(function):
    """What a function gives in a copy of the process: this one stays as it is."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write, "w") as file:
            json.dump(function(), file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text)


def everything():
    """Counts of all types that the collector reports, by name: it visits what it tracks and what that refers to."""
    seen, counts, todo = set(), {}, gc.get_objects()
    while todo:
        found = []
        for one in todo:
            if id(one) in seen:
                continue
            seen.add(id(one))
            counts[type(one)] = counts.get(type(one), 0) + 1
            found.extend(gc.get_referents(one))
        todo = [one for one in found if id(one) not in seen]
    return {size_of(kind): number for kind, number in counts.items() if kind in (Session, Graph, Tensor, Node, Link)}


def main():
    case, folder = sys.argv[1:]
    work, holder, attribute, unit, each = CASES[case]
    work(UNITS // 2)
    work(UNITS // 2)  # the same once more: what becomes warm is warm
    before = in_copy(everything)
    core_of_now(os.path.join(folder, "1"))
    work(UNITS)
    after = in_copy(everything)
    units = {"linked": UNITS * 50, "strings": UNITS * 500, "buffer": 0}.get(case, UNITS)
    truth = {"holder": holder, "attribute": attribute, "unit": unit and (size_of(unit) if unit.__module__ == "__main__" else unit.__name__),
             "units": units, "each": {kind if isinstance(kind, str) else size_of(kind): number for kind, number in each.items()},
             "blocks": UNITS * 50 if case == "native" else 0,
             "counts": {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}}
    with open(os.path.join(folder, "truth.json"), "w") as file:
        json.dump(truth, file)
    core_of_now(os.path.join(folder, "2"))


if __name__ == "__main__":
    main()
