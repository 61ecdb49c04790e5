"""A process that stores one or several of each type that programs store, and says what each should read as.

It writes values.json in the current directory, a list of {"name", "address", "value", "key", "target", "typed"}: what heapsift should print
of the object at `address`, which is repr() where heapsift prints that; of a value that is a key of KEYS, the address of the object that it
leads to, and what a person may type for it beside its value. Then it waits for its core to be taken.
"""

import asyncio
import collections
import concurrent.futures
import datetime
import decimal
import enum
import fractions
import functools
import io
import ipaddress
import os
import pathlib
import queue
import re
import socket
import threading
import time
import types
import typing
import uuid

import older
import standstill

try:
    import dataclasses
except ImportError:  # 3.6
    dataclasses = None

try:
    import attr
except ImportError:
    attr = None
try:
    import zoneinfo
    zoneinfo.ZoneInfo("Europe/Berlin")
except Exception:  # not there in 3.8, or without its data
    zoneinfo = None

STORED = {}
KEYS = {}
ROWS = []


class Target:
    """What a key leads to."""


def stores(name, thing, value=None, key=False, typed=()):
    """`thing` reads as `value`, which is its repr() if none is given."""
    STORED[name] = thing
    target = Target()
    if key:
        KEYS[thing] = target
    ROWS.append({"name": name, "address": "%#x" % id(thing), "value": older.repr_of(thing) if value is None else value, "key": key,
                 "target": "%#x" % id(target), "typed": list(typed)})


class Color(enum.Enum):
    RED = 1
    GREEN = "green"


class Size(enum.IntEnum):
    SMALL = 1001


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Level(str, enum.Enum):
    LOW = "low"


Point = collections.namedtuple("Point", "x y")


if dataclasses:
    @dataclasses.dataclass(frozen=True)
    class Order:
        number: int
        customer: str
        secret: str = dataclasses.field(default="s", repr=False)
        placed: datetime.date = datetime.date(2024, 2, 29)
        tax: typing.ClassVar[int] = 19

    class Outer:
        @dataclasses.dataclass
        class Inner:
            parts: list

    @dataclasses.dataclass
    class Ring:
        next: object = None


class Shop:
    def __init__(self, number):
        self.items = [1, 2]
        self.id = number
        self.name = "shop %d" % number

    def sell(self):
        return self.id


class Slotted:
    __slots__ = ("code", "rest")

    def __init__(self, code):
        self.code = code
        self.rest = object()


class MyDate(datetime.date):
    pass


class MyError(ValueError):
    pass


class Worker(threading.Thread):
    pass


@functools.lru_cache(maxsize=16)
def cached(number):
    return number * 2


@functools.lru_cache(maxsize=None)
def unlimited(number):
    return number


def dates():
    zone = datetime.timezone(datetime.timedelta(hours=-5, minutes=-30), "home")
    stores("date", datetime.date(2024, 2, 29), key=True, typed=["date(2024, 2, 29)", "datetime.date(2024,2,29)"])
    stores("date of a class", MyDate(1999, 12, 31), key=True)
    stores("first date", datetime.date.min)
    stores("datetime", datetime.datetime(2024, 1, 2, 3, 4, 5, 678901), key=True)
    stores("datetime without seconds", datetime.datetime(1, 1, 1), key=True)
    stores("datetime with fold", datetime.datetime(2024, 10, 27, 2, 30, fold=1), key=True)
    stores("datetime in UTC", datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), key=True)
    stores("datetime with a zone", datetime.datetime(2024, 1, 2, 3, tzinfo=zone))
    stores("time", datetime.time(23, 59, 59, 999999), key=True)
    stores("midnight", datetime.time())
    stores("time in UTC", datetime.time(1, 2, tzinfo=datetime.timezone.utc), key=True)
    stores("timedelta", datetime.timedelta(days=-3, seconds=5, microseconds=7), key=True)
    stores("no timedelta", datetime.timedelta(0), key=True)
    stores("timezone", zone, key=True)
    stores("UTC", datetime.timezone.utc)
    if zoneinfo:
        stores("zone", zoneinfo.ZoneInfo("Europe/Berlin"), key=True)
        stores("datetime with a ZoneInfo", datetime.datetime(2024, 6, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")), key=True)


def numbers():
    for text in ("1.10", "-0.000001", "1E+30", "123456789012345678901234567890.5", "0", "-0", "0E-10", "Infinity", "-Infinity", "5E-20",
                 "10000000000000000000", "0.0000001"):
        stores("Decimal " + text, decimal.Decimal(text), key=text not in ("-0", "0E-10"))
    stores("Decimal NaN", decimal.Decimal("NaN"))
    stores("Decimal NaN with digits", decimal.Decimal("-NaN123"))
    stores("Fraction", fractions.Fraction(-3, 7), key=True, typed=["fractions.Fraction(-3, 7)"])
    stores("range", range(3), key=True)
    stores("range with a step", range(10, 0, -2), key=True)
    stores("slice", slice(None, 5, None))
    stores("slice of all", slice("a", -1, 2))


def identifiers():
    stores("UUID", uuid.UUID("12345678-1234-5678-9234-567812345678"), key=True, typed=["uuid.UUID('12345678-1234-5678-9234-567812345678')"])
    stores("small UUID", uuid.UUID(int=7), key=True)
    for text in ("/srv/data/it's.csv", "relative/file", ".", "/", "//host/share", "a/./b//c", "/tmp/größe"):
        stores("path " + text, pathlib.PurePosixPath(text), key=True)
    stores("path of the system", pathlib.Path("/etc/hosts"), key=True, typed=["pathlib.PosixPath('/etc/hosts')"])
    unasked = pathlib.PurePosixPath("/never", "asked", "./for")
    expected = repr(pathlib.PurePosixPath("/never/asked/for"))
    stores("path without a text", unasked, expected)
    windows = pathlib.PureWindowsPath("C:\\Users\\x")
    str(windows)
    stores("Windows path", windows, key=True)
    for text in ("10.0.0.1", "::1", "2001:db8::a:0:0:1", "1:2:3:4:5:6:7:8", "::"):
        stores("address " + text, ipaddress.ip_address(text), key=True)
    stores("pattern", re.compile(r"\d+'x"), key=True)
    stores("pattern with flags", re.compile("a", re.IGNORECASE | re.MULTILINE), key=True)
    stores("pattern of bytes", re.compile(b"a|b", re.DOTALL), key=True)


def classes():
    stores("enum member", Color.RED, "Color.RED", key=True, typed=["__main__.Color.RED"])
    stores("enum member of a text", Color.GREEN, "Color.GREEN", key=True)
    stores("int enum member", Size.SMALL, "Size.SMALL", key=True, typed=["1001"])
    stores("flag", Access.READ, "Access.READ", key=True)
    both = Access.READ | Access.WRITE
    stores("flags", both, "Access.READ|WRITE" if both.name else "Access(3)", key=True)
    stores("str enum member", Level.LOW, "Level.LOW", key=True, typed=["'low'"])
    stores("named tuple", Point(1, "y"), key=True, typed=["(1, 'y')", "__main__.Point(x=1, y='y')"])
    if dataclasses:
        stores("dataclass", Order(7, "Ada"), key=True)
        stores("dataclass in a class", Outer.Inner([1]), "Outer.Inner(parts=list of 1)")
        ring = Ring()
        ring.next = ring
        stores("dataclass in itself", ring, "Ring(next=Ring(next=Ring(next=Ring(next=<Ring at %#x>))))" % id(ring))
    stores("namespace", types.SimpleNamespace(a=1, b="two"))
    stores("instance", Shop(17), "Shop(id=17, name='shop 17', …)")
    stores("instance with slots", Slotted("c"), "Slotted(code='c', …)")
    stores("no attributes", Target(), "")
    if attr:
        made = attr.make_class("Made", {"x": attr.ib(), "hidden": attr.ib(default=3, repr=False), "y": attr.ib(default="z")}, frozen=True)
        stores("attrs", made(1), key=True)


def raises(error):
    raise error


def exceptions():
    stores("exception", ValueError("not this"))
    stores("exception without arguments", KeyError())
    stores("exception of a class", MyError("a", 2))
    stores("exception of the system", OSError(2, "No such file", "/nowhere"))
    try:
        raises(MyError("caught"))
    except MyError as error:
        stores("exception with a traceback", error, "MyError('caught') raised in raises(), values.py:%d" % (raises.__code__.co_firstlineno + 1))
    try:
        int("x")
    except ValueError as error:
        stores("exception raised by C", error, older.repr_of(error) + " raised in exceptions(), values.py:%d" % (error.__traceback__.tb_lineno))


def callables():
    shop = STORED["instance"]
    stores("bound method", shop.sell, "<bound method Shop.sell of Shop(id=17, name='shop 17', …)>")
    stores("partial", functools.partial(raises, 1, key="x"), "functools.partial(__main__.raises, 1, key='x')")
    for number in (1, 2, 3, 1):
        cached(number)
        unlimited(number)
    stores("lru_cache", cached, "<cache of __main__.cached: 3 of at most 16, 1 hits, 3 misses>")
    stores("lru_cache without a limit", unlimited, "<cache of __main__.unlimited: 3 entries, no limit, 1 hits, 3 misses>")


def containers():
    stores("list", [1, "two", None], "list of 3: 1, 'two', None")
    stores("long list", list(range(100)), "list of 100: 0, 1, 2, 3, 4, …")
    stores("list of objects", [object()], "list of 1")
    stores("empty list", [], "list of 0")
    stores("tuple", (1, 2.5), "tuple of 2: 1, 2.5")
    stores("dict", {"a": 1, 2: "b"}, "dict of 2: 'a': 1, 2: 'b'")
    stores("OrderedDict", collections.OrderedDict(z=1), "OrderedDict of 1: 'z': 1")
    stores("defaultdict", collections.defaultdict(int, {"k": 5}), "defaultdict of 1: 'k': 5")
    stores("Counter", collections.Counter("aab"), "Counter of 2: 'a': 2, 'b': 1")
    stores("deque", collections.deque("xyz"), "deque of 3: 'x', 'y', 'z'")
    stores("set", {5}, "set of 1: 5")
    stores("frozenset", frozenset({1, "one", 2}), key=True)
    stores("empty frozenset", frozenset(), key=True)


def threads():
    free, held, recursive = threading.Lock(), threading.Lock(), threading.RLock()
    held.acquire()
    recursive.acquire()
    recursive.acquire()
    stores("lock", free, "<lock, not held>")
    stores("held lock", held, "<lock, held>")
    stores("recursive lock", threading.RLock(), "<RLock, not held>")
    stores("held recursive lock", recursive, "<RLock, held by thread 'MainThread', 2 times>")
    event = threading.Event()
    event.set()
    stores("event", event, "<Event, set>")
    stores("semaphore", threading.Semaphore(3), "<Semaphore, value 3>")
    jobs = queue.Queue(maxsize=9)
    jobs.put(1)
    stores("queue", jobs, "Queue of 1, at most 9")
    running = Worker(target=time.sleep, args=(1000,), name="worker one", daemon=True)
    running.start()
    over = threading.Thread(target=int, name="over")
    over.start()
    over.join()
    stores("running thread", running)
    stores("thread that is over", over)
    stores("thread that has not begun", threading.Thread(name="new"))
    stores("main thread", threading.main_thread())


def files():
    path = os.path.abspath("a file.txt")
    text = open(path, "w")
    binary = open(path, "rb")
    raw = open(path, "ab", buffering=0)
    closed = open(path)
    closed.close()
    quoted = repr(path) if len(path) < 60 else "%s…'" % repr(path[:60])[:-1]
    stores("text file", text, "<open file %s, mode 'w', fd %d>" % (quoted, text.fileno()))
    stores("binary file", binary, "<open file %s, mode 'rb', fd %d>" % (quoted, binary.fileno()))
    stores("raw file", raw, "<open file %s, mode 'ab', fd %d>" % (quoted, raw.fileno()))
    stores("closed file", closed, "<closed file %s, mode 'r'>" % quoted)
    in_memory = io.BytesIO(b"abcdef")
    in_memory.read(2)
    stores("BytesIO", in_memory, "<BytesIO of 6 bytes, position 2>")
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    two = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    two.close()
    stores("socket", one, "<open socket, AF_INET, SOCK_DGRAM, fd %d>" % one.fileno())
    stores("closed socket", two, "<closed socket, AF_UNIX, SOCK_STREAM>")


async def waits(future):
    await future


async def fails():
    raise ValueError("wrong")


async def gives():
    return 42


async def tasks():
    loop = asyncio.get_running_loop()
    pending, done = loop.create_future(), loop.create_future()
    done.set_result("done")
    gone = loop.create_future()
    gone.cancel()
    waiting, failed, given = older.create_task(loop, waits(pending), "waiter"), loop.create_task(fails()), older.create_task(loop, gives(), "giver")
    await asyncio.sleep(0.05)
    stores("pending future", pending, "<Future pending>")
    stores("future with a result", done, "<Future finished result='done'>")
    stores("cancelled future", gone, "<Future cancelled>")
    stores("waiting task", waiting, "<Task pending %scoro=<waits() at values.py:%d>>" % (
        older.name_of(waiting), waits.__code__.co_firstlineno + 1))
    stores("failed task", failed, "<Task finished %scoro=<fails()> exception=ValueError('wrong')>" % older.name_of(failed))
    stores("task with a result", given, "<Task finished %scoro=<gives()> result=42>" % older.name_of(given))
    stores("coroutine", waiting._coro, "<coroutine waits() at values.py:%d>" % (waits.__code__.co_firstlineno + 1))
    promise = concurrent.futures.Future()
    promise.set_result(3)
    stores("future of a pool", promise, "<Future finished result=3>")
    stores("pending future of a pool", concurrent.futures.Future(), "<Future pending>")
    say()


def say():
    standstill.write_and_rest("values.json", ROWS)


if __name__ == "__main__":
    for family in (dates, numbers, identifiers, classes, exceptions, callables, containers, threads, files):
        family()
    asyncio.run(tasks())
