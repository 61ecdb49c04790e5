"""A program at two times: growth.py CASE FOLDER. It takes a core in FOLDER/1, goes on, and takes the other in FOLDER/2.

What must be found between the two is in FOLDER/truth.json: where it grew, by how many units, and what each of them has.
"""
import ctypes
import functools
import gc
import json
import os
import subprocess
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


class Pool(object):
    def __init__(self):
        self.items = []


class Stack(threading.local):
    def __init__(self):
        self.sessions = []


class Entry(object):
    """What each pool has some of."""

    def __init__(self, size):
        self.names = ["a name of its own, %d" % i + "-" * (size + i) for i in range(10)]
        self.node = Node()
        self.node.text = os.urandom(3000)


REGISTRY = []
POOL_A, POOL_B = [], []
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


def pools(count):
    """One class in two places, with longer names in the second."""
    POOL_A.extend(Entry(20) for _ in range(count * 6))
    POOL_B.extend(Entry(200) for _ in range(count * 4))


def moved(count):
    """One pool shrinks while the other grows by more."""
    if len(POOL_A) >= count * 3:
        del POOL_A[:count * 3]
    else:
        POOL_A.extend(Entry(20) for _ in range(count * 10))
    POOL_B.extend(Entry(20) for _ in range(count * 5))


def two_chains(count):
    """Of two chains of one class, that of an attribute grows, and the global one stays."""
    if not CHAIN[0]:
        CHAIN[0] = chain_of(100 * UNITS, None)
        SERVER.chain = None
    SERVER.chain = chain_of(50 * count, SERVER.chain)


def chain_of(count, link):
    for _ in range(count):
        link, behind = Link(), link
        link.next, link.payload = behind, os.urandom(500)
    return link


def instances(count):
    """Of two instances of one class the one grows, and the other shrinks by less."""
    if not hasattr(SERVER, "db"):
        SERVER.db, SERVER.http = Pool(), Pool()
        SERVER.db.items.extend(Entry(20) for _ in range(count * 10))
    del SERVER.db.items[:count]
    SERVER.http.items.extend(Entry(20) for _ in range(count * 4))


def in_hand(count):
    """The second core is taken in a call that has the registry, a copy of it, and one of its sessions in locals."""
    REGISTRY.extend(Session() for _ in range(count))
    IN_HAND[0] = True


def archive(count):
    """What is done moves to another list; what failed is new. Of one process."""
    if not hasattr(SERVER, "queue"):
        SERVER.queue, SERVER.done, SERVER.failed = [Entry(20) for _ in range(400)], [], []
    elif len(SERVER.failed) >= UNITS:
        SERVER.done.extend(SERVER.queue)
        del SERVER.queue[:]
    SERVER.failed.extend(Entry(20) for _ in range(count))


def replaced(count):
    """As many of one class go as come elsewhere. Of one process."""
    if not hasattr(SERVER, "startup"):
        SERVER.startup, SERVER.leak = [Entry(20) for _ in range(3 * UNITS)], []
    full = len(SERVER.leak) >= UNITS
    SERVER.leak.extend(Entry(20) for _ in range(count))
    if full:  # behind it: what lies where another lay before is taken for that one
        del SERVER.startup[:]


CHAIN, IN_HAND = [None], [False]


def two_attributes(count):
    """As many in the one as in the other."""
    for name in ("sent", "received"):
        SERVER.__dict__.setdefault(name, []).extend(Entry(20) for _ in range(count))


def made_up(count):
    """A name of its own for each thing that is kept."""
    for _ in range(count):
        setattr(SERVER, "session_%d" % len(SERVER.__dict__), Session())


def library_sessions(count):
    """Never closed: on a list in the library's threading.local, and on the locals of a suspended generator."""
    import sessions_library as library
    for _ in range(count):
        graph = library.Graph()
        for number in range(50):
            graph.add("op_%d" % number, 1000)
        library.Session(graph)


def activations(count):
    """A forward pass leaves nine arrays on each node of a data set that was there before."""
    import trees_app
    if not hasattr(trees_app, "model"):
        trees_app.run(0)
        trees_app.train_data.extend(trees_app.sample(200) for _ in range(2 * UNITS))
    seen = sum(hasattr(one.arg1_tree, "mask") for one in trees_app.train_data)
    for one in trees_app.train_data[seen:seen + count]:
        trees_app.model.forward(one.arg1_tree)
        trees_app.model.forward(one.arg2_tree)


def arrays_on_nodes():
    """By attribute: arrays, and their bytes."""
    import case_activations
    import trees_app
    rows = {}
    for sample in trees_app.train_data:
        for tree in (sample.arg1_tree, sample.arg2_tree):
            for node, _ in case_activations.nodes_of(tree, ""):
                for name, value in node.__dict__.items():
                    if type(value).__name__ == "ndarray":
                        count, size = rows.get(name, (0, 0))
                        rows[name] = count + 1, size + sys.getsizeof(value)
    return rows


def classes(count):
    """Objects that a C++ library makes and forgets."""
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libnative_leak.so"))
    library.leak_shapes(*(count * each for each in SHAPES.values()))


SHAPES = {"shapes::Circle": 500, "shapes::Polygon": 400, "shapes::Label": 200, "shapes::Kept": 0}


def views(count):
    """Rows of arrays, each of which keeps the whole array; in a local of a call that stands (main)."""
    import numpy
    for _ in range(count):
        SELECTED[0].append(numpy.random.randn(20, 500)[3])


SELECTED = [None]


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
    "pools": (pools, "__main__", "POOL_A", Entry, {Node: 1, "str": 10}),
    "moved": (moved, "__main__", "POOL_B", Entry, {Node: 1, "str": 10}),
    "two_chains": (two_chains, "__main__.Server", "chain", Link, {}),
    "instances": (instances, "__main__.Pool", "items", Entry, {Node: 1, "str": 10}),
    "in_hand": (in_hand, "__main__", "REGISTRY", Session, {Graph: 1, Tensor: 250}),
    "archive": (archive, "__main__.Server", "failed", Entry, {Node: 1, "str": 10}),
    "replaced": (replaced, "__main__.Server", "leak", Entry, {Node: 1, "str": 10}),
    "two_attributes": (two_attributes, "__main__.Server", None, Entry, {Node: 1, "str": 10}),
    "made_up": (made_up, "__main__.Server", "*", Session, {Graph: 1, Tensor: 250}),
    "library_sessions": (library_sessions, None, None, "sessions_library.Session",
                         {"sessions_library.Graph": 1, "sessions_library.Operation": 50, "sessions_library.Tensor": 50}),
    "activations": (activations, "trees_app.Node", "*", "numpy.ndarray", {}),
    "classes": (classes, None, None, None, {}),
    "views": (views, "main()", "selected", "numpy.ndarray", {}),
    "nothing": (nothing, None, None, None, {}),
}

# Units for each of those that a case is given, and other places that grew: holder, attribute, units for each, what each of them has
UNITS_FOR_EACH = {"linked": 50, "strings": 500, "buffer": 0, "pools": 6, "moved": 5, "two_chains": 50, "instances": 4}
PATHS = {"instances": ".http."}  # words of the path to one of them
OF_ONE_PROCESS = ("archive", "replaced")
ALSO = {"pools": [("__main__", "POOL_B", 4, {"__main__.Node": 1, "str": 10})],
        "two_attributes": [("__main__.Server", name, 1, {"__main__.Node": 1, "str": 10}) for name in ("sent", "received")]}


def core_of_now(folder):
    os.mkdir(folder)
    if sys.argv[1] in OF_ONE_PROCESS:
        subprocess.check_call(["gcore", "-o", os.path.join(folder, "core"), str(os.getpid())], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        return
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
    return {size_of(kind): number for kind, number in counts.items() if kind in (Session, Graph, Tensor, Node, Link, Entry)}


def name_of(kind):
    if kind is None or isinstance(kind, str):
        return kind
    return size_of(kind) if kind.__module__ == "__main__" else kind.__name__


def main():
    case, folder = sys.argv[1:]
    selected = SELECTED[0] = []
    work, holder, attribute, unit, each = CASES[case]
    work(UNITS // 2)
    work(UNITS // 2)  # the same once more: what becomes warm is warm
    SELECTED[0] = None  # `selected` alone holds it where a core is taken
    before = in_copy(everything)
    held_before = in_copy(arrays_on_nodes) if case == "activations" else {}
    core_of_now(os.path.join(folder, "1"))
    SELECTED[0] = selected
    work(UNITS)
    SELECTED[0] = None
    after = in_copy(everything)
    units = UNITS * UNITS_FOR_EACH.get(case, 1)
    held = in_copy(arrays_on_nodes) if case == "activations" else {}
    held = {name: [now - was for now, was in zip(numbers, held_before.get(name, (0, 0)))] for name, numbers in held.items()}
    if held:
        units = sum(count for count, _ in held.values())
    truth = {"holder": holder, "attribute": attribute, "unit": name_of(unit),
             "units": units, "each": {name_of(kind): number for kind, number in each.items()},
             "also": [(place, name, UNITS * number, has) for place, name, number, has in ALSO.get(case, ())],
             "freed": case == "replaced",  # what is free then grew as well
             "path": PATHS.get(case, ""),
             "blocks": UNITS * 50 if case == "native" else 0, "held": held,
             "classes": {name: each * UNITS for name, each in SHAPES.items() if each} if case == "classes" else {},
             "counts": {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}}
    with open(os.path.join(folder, "truth.json"), "w") as file:
        json.dump(truth, file)
    if IN_HAND[0]:
        flush(REGISTRY, folder)
    core_of_now(os.path.join(folder, "2"))


def flush(rows, folder):
    batch, first = list(rows), rows[0]
    view = {number: row for number, row in enumerate(batch)}
    core_of_now(os.path.join(folder, "2"))
    sys.exit(0 if first and view else 1)


if __name__ == "__main__":
    main()
