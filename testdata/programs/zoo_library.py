"""The zoo's second house: what the standard library can make. `zoo.py` says how exhibits work."""

import collections
import functools
import io
import itertools
import operator
import os
import tempfile
import threading

import older  # noqa: F401
from zoo_language import MANY, Plain

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def deques():
    kept = [collections.deque(range(i % 200)) for i in range(MANY)] + [collections.deque(maxlen=5), collections.deque(range(9), maxlen=3)]
    rotated = collections.deque(range(1000))
    rotated.rotate(333)
    for _ in range(500):
        rotated.popleft()
    return kept, rotated, iter(rotated), reversed(rotated)


@exhibit
def collections_of_the_library():
    Point = collections.namedtuple("Point", "x y")
    ordered = collections.OrderedDict((i, str(i)) for i in range(500))
    ordered.move_to_end(3)
    del ordered[5]
    defaults = [collections.defaultdict(list, {i: [i]}) for i in range(1000)]
    return (Point, [Point(i, -i) for i in range(MANY)], ordered, defaults, collections.defaultdict(), collections.Counter("abracadabra"),
            collections.ChainMap({}, {"a": 1}), collections.UserDict(a=1), collections.UserList([1]), collections.OrderedDict(),
            [collections.OrderedDict(a=i) for i in range(1000)], iter(ordered), ordered.keys(), ordered.items(), ordered.values())


@exhibit
def data_classes():
    import dataclasses

    @dataclasses.dataclass
    class Record:
        number: int
        rows: list = dataclasses.field(default_factory=list)

    @dataclasses.dataclass(frozen=True, order=True)
    class Frozen:
        number: int

    return [Record(i) for i in range(MANY)], [Frozen(i) for i in range(MANY)], dataclasses.fields(Record)


@exhibit
def data_classes_with_slots():
    import dataclasses
    Compact = dataclasses.make_dataclass("Compact", ["left", "right"], slots=True)  # since 3.10
    return [Compact(i, None) for i in range(MANY)]


@exhibit
def enums():
    import enum

    class Colour(enum.Enum):
        RED = 1
        GREEN = "green"

    class Level(enum.IntEnum):
        LOW = 1 << 40
        HIGH = 2

    class Flag(enum.IntFlag):
        A = 1
        B = 2

    return list(Colour), list(Level), Flag.A | Flag.B, Colour


@exhibit
def exact_numbers():
    import decimal
    import fractions
    return ([decimal.Decimal(i) / 7 for i in range(MANY)], decimal.Decimal(10) ** 500, decimal.getcontext(), decimal.Context(prec=5),
            [fractions.Fraction(i, 7) for i in range(MANY)])


@exhibit
def dates():
    import datetime
    zone = datetime.timezone(datetime.timedelta(hours=2), "here")
    return ([datetime.datetime(2020, 1, 1 + i % 28, i % 24, tzinfo=zone) for i in range(MANY)], datetime.datetime(2020, 1, 1),
            [datetime.date(2000 + i % 90, 1, 1) for i in range(MANY)], datetime.time(1, 2, 3, tzinfo=zone), datetime.time(4),
            [datetime.timedelta(i) for i in range(MANY)], zone, datetime.date(2020, 5, 5).isocalendar())


@exhibit
def time_zones():
    import zoneinfo
    return zoneinfo.ZoneInfo("UTC")


@exhibit
def regular_expressions():
    import re
    patterns = [re.compile("(?P<name>a%d+)|(b)[x-z]*" % i) for i in range(100)]
    return patterns, [pattern.match("a%d" % i) for i, pattern in enumerate(patterns)], patterns[0].scanner("text"), patterns[1].finditer("b")


@exhibit
def packed():
    import array
    import struct
    arrays = [array.array(code, range(i % 100)) for code in "bBhHiIlLqQfd" for i in range(150)]
    arrays[5].append(1)
    return struct.Struct("<IQ8s"), struct.iter_unpack("<I", bytes(16)), arrays, iter(arrays[3]), array.array("u", "text"), array.array("d", bytes(80000))


@exhibit
def iterators_of_itertools():
    tee = itertools.tee(range(100))
    next(tee[0])
    grouped = itertools.groupby([1, 1, 2])
    kept = [itertools.count(5), itertools.count(1.5, 2), itertools.cycle("abc"), itertools.repeat(1, 5), itertools.repeat(2), itertools.chain([1], [2]),
            itertools.accumulate([1, 2, 3]), itertools.compress("ab", [1, 0]), itertools.dropwhile(bool, [0]), itertools.takewhile(bool, [1]),
            itertools.filterfalse(bool, [0]), itertools.islice(range(9), 2, 5), itertools.starmap(pow, [(2, 3)]), itertools.zip_longest("ab", "c"),
            itertools.product("ab", repeat=3), itertools.permutations(range(5), 3), itertools.combinations(range(5), 3),
            itertools.combinations_with_replacement(range(5), 3), grouped, tee]
    for one in kept[:-1]:
        next(one, None)
    return kept, next(grouped), itertools.product(range(3), range(4)), itertools.permutations("unstarted")


@exhibit
def newer_itertools():
    return [itertools.pairwise([1, 2]), itertools.batched([1, 2, 3], 2)]


@exhibit
def functional():
    @functools.lru_cache(maxsize=50)
    def bounded(number):
        return [number]

    @functools.lru_cache(maxsize=None)
    def unbounded(number, *, option=None):
        return (number,)

    class Lazy:
        @functools.cached_property
        def value(self):
            return [1]

        @functools.lru_cache()
        def method(self):
            return self

        @functools.singledispatchmethod
        def dispatch(self, argument):
            return argument

    for i in range(200):
        bounded(i)
        unbounded(i, option=str(i))
    lazy = Lazy()
    lazy.value, lazy.method()
    return (bounded, unbounded, lazy, [functools.partial(max, i, key=abs) for i in range(1000)], functools.partialmethod(len),
            functools.singledispatch(len), functools.cmp_to_key(lambda a, b: 0), functools.cmp_to_key(lambda a, b: 0)(5), operator.itemgetter(1, 2),
            operator.attrgetter("a.b", "c"), operator.methodcaller("f", 1, k=2), functools.reduce)


@exhibit
def streams():
    written = io.BytesIO()
    written.write(b"x" * 5000)
    grown = io.StringIO()
    for i in range(500):
        grown.write("line %d\n" % i)
    shared = io.BytesIO(b"y" * 3000)
    exported = io.BytesIO(b"z" * 100)
    files = [tempfile.TemporaryFile(mode) for mode in ("w+b", "w+", "w+b")]
    files[0].write(b"some bytes")
    files[1].write("some text")
    return (written, grown, shared, shared.getvalue(), exported, exported.getbuffer(), files, open(__file__, "rb", buffering=0), open(__file__, "rb"),
            open(__file__, encoding="utf-8"), io.StringIO("with\r\nlines", newline=None), io.BytesIO(), [io.BytesIO(b"%d" % i) for i in range(500)],
            io.BufferedRWPair(io.BytesIO(), io.BytesIO()), io.TextIOWrapper(io.BytesIO(b"abc"), "latin-1"), io.IncrementalNewlineDecoder(None, True))


@exhibit
def threads():
    """They wait for events that nobody sets: each has locals and its own threading.local. With HEAPSIFT_ALONE they are not started."""
    local = threading.local()
    never = threading.Event()
    started = threading.Semaphore(0)

    def wait_for_ever(number):
        text = "local of thread %d" % number
        local.rows = [text] * 10
        in_a_call(number, {"argument": text})

    def in_a_call(number, argument):
        started.release()
        never.wait()

    workers = [threading.Thread(target=wait_for_ever, args=(i,), name="worker %d" % i, daemon=True) for i in range(4)]
    if not os.environ.get("HEAPSIFT_ALONE"):
        for worker in workers:
            worker.start()
        for _ in workers:
            started.acquire()
    local.rows = ["of the main thread"]
    return (workers, local, never, threading.Lock(), threading.RLock(), threading.Condition(), threading.Barrier(2),
            threading.BoundedSemaphore(3), threading.Timer(1000, print))


@exhibit
def queues():
    import queue
    kept = [queue.Queue(), queue.PriorityQueue(), queue.SimpleQueue()]
    for one in kept:
        one.put(5)
        one.put(6)
    return kept


@exhibit
def tasks():
    import asyncio

    async def worker(queue, number):
        kept = ["local of task", number]
        while True:
            kept.append(await queue.get())

    async def fails():
        raise ValueError("in a task")

    async def main():
        queue = asyncio.Queue()
        made = [asyncio.ensure_future(worker(queue, i)) for i in range(500)]
        made.append(asyncio.ensure_future(fails()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gathered = asyncio.gather(*made[:10])
        later = asyncio.get_running_loop().call_later(1e6, print)
        return queue, made, gathered, later, asyncio.Event(), asyncio.Lock(), asyncio.get_running_loop().create_future()

    loop = asyncio.new_event_loop()
    return loop, loop.run_until_complete(main())


@exhibit
def contexts():
    import contextvars
    variables = [contextvars.ContextVar("variable %d" % i, default=None) for i in range(60)]
    tokens = [variable.set([i]) for i, variable in enumerate(variables)]
    context = contextvars.copy_context()
    variables[0].reset(tokens[0])
    return variables, tokens, context, iter(context), context.items(), contextvars.Context(), contextvars.Token.MISSING


@exhibit
def element_trees():
    from xml.etree import ElementTree
    root = ElementTree.fromstring("<r a='1'>" + "<c b='2'>text<d/><d/><d/><d/><d/><d/></c>tail" * 300 + "</r>")
    parser = ElementTree.XMLParser()
    parser.feed("<unfinished>")
    return root, ElementTree.ElementTree(root), root.iter(), parser, ElementTree.TreeBuilder(), ElementTree.Comment("c")


@exhibit
def pickles():
    import copyreg
    import pickle
    pickler = pickle.Pickler(io.BytesIO())
    pickler.dump([Plain(i) for i in range(200)])
    unpickler = pickle.Unpickler(io.BytesIO(pickle.dumps({"a": [1, 2], "b": (3, "four")})))
    return pickler, pickler.memo, unpickler, unpickler.load(), unpickler.memo, copyreg.dispatch_table


@exhibit
def foreign_structures():
    import ctypes

    class Inner(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_double)]

    class Outer(ctypes.Structure):
        _fields_ = [("inner", Inner), ("pointer", ctypes.POINTER(Inner)), ("name", ctypes.c_char_p), ("rows", ctypes.c_int * 5)]

    class Either(ctypes.Union):
        _fields_ = [("a", ctypes.c_long), ("b", ctypes.c_double)]

    kept = [Outer(Inner(i, i), ctypes.pointer(Inner(1, 2)), b"name") for i in range(300)]
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(abs)
    return (kept, kept[0].inner, Either(), callback, (ctypes.c_int * 1000)(), ctypes.create_string_buffer(500), ctypes.c_int(5), ctypes.byref(kept[1]),
            ctypes.py_object([1]), ctypes.c_wchar_p("text"), ctypes.c_char_p(b"bytes"), Outer.name, ctypes.cast(kept[0].pointer, ctypes.c_void_p))


@exhibit
def databases():
    import sqlite3
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.create_function("double", 1, lambda x: 2 * x)
    connection.execute("create table t (a, b)")
    connection.executemany("insert into t values (?, ?)", [(i, "row %d" % i) for i in range(500)])
    cursor = connection.execute("select * from t")
    return connection, cursor, cursor.fetchmany(10), connection.execute("select double(a) from t")


@exhibit
def compressors_and_digests():
    import bz2
    import hashlib
    import hmac
    import lzma
    import random
    import zlib
    return (zlib.compressobj(), zlib.decompressobj(), bz2.BZ2Compressor(), lzma.LZMACompressor(), lzma.LZMADecompressor(), hashlib.md5(b"1"),
            hashlib.sha256(), hashlib.sha3_256(), hashlib.blake2b(), hmac.new(b"key", b"message", "sha1"), random.Random(5), random.SystemRandom())


@exhibit
def readers_and_writers():
    import ast
    import configparser
    import csv
    import json
    import logging
    import mmap
    import pathlib
    import string
    import uuid
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nb = 1\n")
    reader = csv.reader(io.StringIO("a,b\n1,2\n"))
    next(reader)
    return (reader, csv.writer(io.StringIO()), csv.DictReader(io.StringIO("a\n1\n")), csv.excel(), json.JSONEncoder(), json.JSONDecoder(), parser,
            logging.getLogger("zoo"), logging.StreamHandler(io.StringIO()), mmap.mmap(-1, 8192), pathlib.Path("/a/b"), string.Template("$a"),
            uuid.UUID(int=5), ast.parse("def f(x):\n  return [x + 1 for x in range(5)]\n" * 20))


@exhibit
def system_objects():
    import codecs
    import os
    import select
    import selectors
    import signal
    import socket
    import time
    poll = select.poll()
    poll.register(0)
    return (os.stat("/"), os.scandir("/"), time.localtime(), os.times(), socket.socketpair(), select.epoll(), poll, selectors.DefaultSelector(),
            signal.Signals.SIGINT, codecs.getincrementaldecoder("utf-8")(), codecs.lookup("utf-8"), os.environ, os.terminal_size((80, 24)))


@exhibit
def secure_sockets():
    import ssl
    return ssl.create_default_context(), ssl.MemoryBIO()


@exhibit
def typing_objects():
    import abc
    import typing
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        pass

    class Interface(abc.ABC):
        @abc.abstractmethod
        def method(self):
            pass

    class Typed(typing.NamedTuple):
        a: int

    Interface.register(int)
    isinstance(5, Interface), isinstance("", Interface)
    return T, Box, Box[int](), Interface, Typed(1), typing.Optional[int], typing.Callable[[int], str], typing.NewType("New", int), typing.Any
