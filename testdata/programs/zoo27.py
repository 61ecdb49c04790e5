"""An object of nearly every type that Python 2.7 and its library can make, and 60,000 of the common ones.

What zoo.py is for Python 3. Old-style classes and their instances, str and unicode, int and long, dicts with their open tables,
deleted slots, freed memory, uncollectable garbage, frames that run and that wait.
"""

import array
import bz2
import cPickle
import collections
import cStringIO
import csv
import datetime
import functools
import gc
import io
import itertools
import json
import mmap
import operator
import os
import re
import socket
import struct
import sys
import threading
import thread
import weakref
import zlib
from xml.etree import cElementTree

import truth

KEPT = {}
SOURCE = truth.__file__.replace(".pyc", ".py")


class Old:
    """Old-style."""
    counter = 0

    def __init__(self, number):
        self.number, self.name = number, "old %d" % number

    def method(self):
        return self.number


class OldChild(Old):
    def __getattr__(self, name):
        raise AttributeError(name)


class OldWithDel:
    def __del__(self):
        pass


class OldChildWithDel(OldWithDel):
    pass


class New(object):
    def __init__(self, number):
        self.number, self.text = number, u"new %d" % number


class Slots(object):
    __slots__ = ("left", "right", "__weakref__")


class SlotsAndDict(Slots):
    pass


class Both(New, Old):
    pass


class Meta(type):
    def __init__(cls, name, bases, space):
        super(Meta, cls).__init__(name, bases, space)
        cls.made = [name]


class Made(object):
    __metaclass__ = Meta

    @property
    def value(self):
        return 1

    @classmethod
    def of_class(cls):
        return cls

    @staticmethod
    def of_none():
        return None


class MyInt(int):
    pass


class MyLong(long):
    pass


class MyStr(str):
    pass


class MyUnicode(unicode):
    pass


class MyFloat(float):
    pass


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class MyDict(dict):
    pass


class MySet(set):
    pass


class MyError(ValueError):
    def __init__(self, *args):
        ValueError.__init__(self, *args)
        self.extra = list(args)


class Finalized(object):
    def __del__(self):
        pass


def numbers():
    return [range(-300, 20000), [10.5 * i for i in range(3000)], [1 << i for i in range(0, 300, 7)], [-(3 ** i) for i in range(200)], True, False,
            complex(1, 2), MyInt(7), MyLong(8), MyFloat(9), [sys.maxint, -sys.maxint - 1, sys.maxint + 1]]


def texts():
    return ["text %d" % i for i in range(5000)] + [u"text \u20ac %d" % i for i in range(5000)] + ["", u"", "a", u"a", MyStr("m"), MyUnicode(u"n"),
            bytearray("bytes"), bytearray(), intern("interned_by_zoo"), "caf\xc3\xa9", "\xff\xfe", u"\U0001f600", "x" * 100000, u"y" * 5000]


def with_encoded():
    text = u"encoded"
    return [text, hash(text), buffer("of a str"), buffer(array.array("i", range(5))), unicode.encode(text, "ascii"), {text: 1}, getattr(New, u"__doc__"), exec_unicode(text)]


def exec_unicode(text):
    return int(u"12") + len(str(text))


def containers():
    emptied = dict.fromkeys(range(100))
    for key in range(0, 100, 2):
        del emptied[key]
    shrunk = set(range(200))
    for key in range(0, 200, 3):
        shrunk.discard(key)
    strings = set("key %d" % i for i in range(20))
    strings.discard("key 3")
    strings.add("<dummy key>")
    ordered = collections.OrderedDict((i, str(i)) for i in range(20))
    counted = collections.Counter("abracadabra")
    defaults = collections.defaultdict(list)
    defaults["a"].append(1)
    deque = collections.deque(range(200), 150)
    deque.popleft()
    return [emptied, shrunk, strings, frozenset(range(5)), ordered, counted, defaults, deque, collections.deque(), {}, set(), [], (), dict(a=1, b=[2]),
            MyList([1, 2]), MyTuple((1, [2])), MyDict(a=1), MySet([1]), [None] * 10, dict((i, [i]) for i in range(3000)), {(1, 2): "t", u"u": "v"},
            [(i, [i]) for i in range(5000)], collections.namedtuple("Point", "x y")(1, [2]), slice(1, [2], 3), xrange(5), xrange(2, 90, 3)]


def instances():
    slots = Slots()
    slots.left, slots.right = [1], "r"
    more = SlotsAndDict()
    more.left, more.other = [2], {}
    old = Old(5)
    return [[Old(i) for i in range(2000)], [New(i) for i in range(2000)], OldChild(3), Both(4), slots, more, Made(), old.method, Old.method, New(1).__init__,
            OldChild, Made.of_class, Made.of_none, Made.__dict__, New.__dict__.items()[:2], [].append, len, str.join, operator.add, "".join, object().__str__, int.__add__,
            super(Both, Both(1)), type("Dynamic", (New,), {"x": [1]}), type("", (), {}), Finalized(), collections.Mapping, Old.__dict__, vars(old)]


def functions():
    def closure(argument, default=[1], *rest, **more):
        """doc"""
        return argument, cell
    cell = [closure]
    closure.attribute = {}
    return [closure, lambda x=(1, 2): x, closure.func_code, closure.func_closure, functools.partial(closure, 1, k=[2]), operator.itemgetter(1, 2), operator.attrgetter("a.b"),
            operator.methodcaller("m", 1, k=2), compile("a = 1\nb = [i for i in range(a)]", "<zoo>", "exec"), property(closure, doc="p"), classmethod(closure), staticmethod(closure)]


def generators():
    def counting(limit):
        held = [limit]
        for i in xrange(limit):
            yield i, held

    def trying():
        try:
            yield [1]
        finally:
            pass
    first, second, third, ended = counting(5), trying(), counting(3), counting(1)
    next(first), next(second), list(ended)
    return [first, second, third, ended, (x for x in [1, 2])]


def iterators():
    data, mapping = [1, 2, 3], {"a": 1, "b": 2}
    keys, values, items = mapping.iterkeys(), mapping.itervalues(), mapping.iteritems()
    next(keys), next(items)
    left, right = itertools.tee(iter([[1], [2], [3]]))
    next(left)
    grouped = itertools.groupby([1, 1, 2])
    return [iter(data), reversed(data), iter((1,)), iter({1}), iter("abc"), iter(xrange(3)), keys, values, items, iter(collections.deque([1])), reversed(collections.deque([1])),
            enumerate([1], 2 ** 70), reversed("abc"), iter(lambda: 1, 2), mapping.viewkeys(), mapping.viewvalues(), mapping.viewitems(), iter(bytearray("ab")),
            itertools.chain([1], [2]), itertools.cycle([1]), itertools.count(2 ** 70), itertools.count(3), itertools.repeat([1]), itertools.islice([1, 2], 1),
            itertools.izip([1], [2]), itertools.izip_longest([1], [2], fillvalue=[3]), itertools.imap(len, ["a"]), itertools.ifilter(None, [1]), itertools.ifilterfalse(None, [1]),
            itertools.takewhile(bool, [1]), itertools.dropwhile(bool, [1]), itertools.starmap(pow, [(1, 2)]), itertools.compress([1], [1]), left, right, grouped, next(grouped),
            itertools.product([1], [2]), itertools.combinations([1, 2], 1), itertools.permutations([1, 2]), itertools.combinations_with_replacement([1], 1), re.finditer("a", "aa"),
            u"{0}".__format__, u"{a}"._formatter_parser(), "x.y"._formatter_field_name_split()]


def errors():
    kept = [MyError("a", [1]), KeyError("k"), IOError(2, "No such file", "name"), OSError("plain"), SystemExit([1]), StopIteration(), UnicodeDecodeError("utf-8", "\xff", 0, 1, "r"),
            UnicodeEncodeError("ascii", u"\u20ac", 0, 1, "r"), SyntaxError("m", ("f", 1, 2, "t")), Warning("w"), Exception(u"u")]
    try:
        raise MyError("raised")
    except MyError:
        kept.append(sys.exc_info())
    try:
        os.open("/does/not/exist", 0)
    except OSError as error:
        kept.append(error)
    return kept


def references():
    target = New(1)
    called = []
    return [target, weakref.ref(target), weakref.ref(target, called.append), weakref.proxy(target), weakref.proxy(target, called.append), weakref.WeakKeyDictionary({target: 1}),
            weakref.WeakValueDictionary({"k": target}), weakref.WeakSet([target]), weakref.ref(New(2)), weakref.proxy(lambda: 1), weakref.ref(Old(3)), weakref.ref(Old)]


def library():
    out = cStringIO.StringIO()
    out.write("written")
    into = cPickle.Pickler(cStringIO.StringIO())
    into.dump([1, {"a": [2]}])
    compressor = zlib.decompressobj()
    compressor.decompress(zlib.compress("a" * 100) + "rest")
    root = cElementTree.fromstring("<a x='1'><b>t</b><c/></a>")
    text = io.StringIO(u"io text")
    text.write(u"more")
    binary = io.BytesIO("abc")
    binary.write("x" * 3000)
    wrapped = io.open(SOURCE, "r")
    wrapped.read(10)
    return [out, cStringIO.StringIO("read"), open(SOURCE), into, cPickle.Unpickler(cStringIO.StringIO(cPickle.dumps([1]))), compressor, root, list(root), text, binary,
            wrapped, io.BufferedReader(io.FileIO(SOURCE)), re.compile("a(?P<n>b)"), re.match("a(b)", "ab"), re.compile(u"u"), struct.Struct("iid"), array.array("d", range(50)),
            array.array("u", u"abc"), memoryview("view"), memoryview(bytearray("abc")), mmap.mmap(-1, 8192), socket.socket(), csv.reader(["a,b"]), csv.writer(out), csv.get_dialect("excel"),
            json.JSONDecoder(), json.JSONEncoder(), datetime.datetime(2020, 1, 2), datetime.date(2020, 1, 1), datetime.timedelta(1), datetime.time(3), os.stat("/"), sys.float_info, sys.version_info,
            sys.flags, json.loads('{"a": [1, 2.5, "x"]}'), bz2.BZ2Compressor(), iter(array.array("i", [1])), cElementTree.TreeBuilder(), cElementTree.XMLParser()]


def locks():
    local = threading.local()
    local.value = [1]
    return [local, thread.allocate_lock(), threading.RLock(), threading.Condition(), threading.Event()]


def garbage():
    def pair(cls):
        a, b = cls(), cls()
        a.other, b.other, a.load = b, a, ["held by uncollectable"]
    gc.collect()
    for cls in (OldWithDel, OldChildWithDel, Finalized):
        pair(cls)
    gc.collect()
    loop = []
    loop.append(loop)
    return len(gc.garbage)


def freed():
    [dict.fromkeys(range(20)) for _ in range(100)], [[1, 2] for _ in range(200)], [u"gone %d" % i for i in range(2000)], [float(i) for i in range(2000)]
    return [object() for _ in range(100)][::10]


def waiting(started, ended):
    in_thread = threading.local()
    in_thread.own = ["of the thread"]
    started.set()
    ended.wait()
    return in_thread


def stand_still(argument):
    a_local_list = ["held", "by", "a", "frame"]
    for each in [a_local_list]:
        truth.record()
    return a_local_list


for exhibit in (numbers, texts, with_encoded, containers, instances, functions, generators, iterators, errors, references, library, locks, freed, garbage):
    try:
        KEPT[exhibit.__name__] = exhibit()
    except (ImportError, AttributeError) as reason:
        sys.stderr.write("zoo27: left out here: %s (%s)\n" % (exhibit.__name__, reason))
sys.exc_clear()
STARTED, ENDED = threading.Event(), threading.Event()
THREAD = threading.Thread(target=waiting, name="waiting thread", args=(STARTED, ENDED))
THREAD.daemon = True
THREAD.start()
STARTED.wait()
stand_still({"argument": [1]})
