"""Places that the standard library and NumPy have. `places_language.py` says how a place is written."""

import collections
import functools
import gc
import io
import sys

import older
from places_language import Planted, attributes, held, number, referent, text

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def deques():
    short, long, bounded = collections.deque([Planted(),
                                              Planted()]), collections.deque(Planted() for _ in range(500)), collections.deque(maxlen=3)
    long.rotate(77)
    for _ in range(100):
        long.popleft()
    for _ in range(7):
        bounded.append(Planted())
    return ([("item", short, short[1]), ("item of many", long, long[222]), ("last of many", long, long[-1]),
             ("item of a bounded one", bounded, bounded[1])])


@exhibit
def kinds_of_dict():
    def factory():
        pass

    defaults, ordered, counter = collections.defaultdict(factory,
                                                         a=Planted()), collections.OrderedDict(a=Planted()), collections.Counter([text()])
    key = text()
    ordered[key] = Planted()
    ordered[5] = Planted()
    ordered.attribute = Planted()
    del ordered["a"]
    user = collections.UserDict(a=Planted())
    return [("defaultdict's value", defaults, defaults["a"]), ("default_factory", defaults, factory),
            ("OrderedDict's value", ordered, ordered[5]),
            ("OrderedDict's key", ordered, key), ("OrderedDict's attribute", ordered.__dict__, ordered.attribute),
            ("OrderedDict's dict", ordered, ordered.__dict__),
            ("Counter's key", counter, next(iter(counter))), ("UserDict's value", user.data, user["a"])]


@exhibit
def named_tuples():
    import os
    import time
    point = collections.namedtuple("Point", "x y")(Planted(), Planted())
    size, moment = os.terminal_size((Planted(), Planted())), time.struct_time([Planted() for _ in range(11)])
    return [("named tuple", point, point.y), ("structure", size, size.lines), ("structure by index", moment, moment[3]),
            ("hidden field of a structure", moment, moment.tm_zone)]


@exhibit
def partials():
    partial = functools.partial(lambda *arguments, **named: None, Planted(), key=Planted())
    partial.attribute = Planted()
    keyed = functools.cmp_to_key(lambda a, b: 0)
    return (attributes(partial, "func", "args", "keywords") + [("argument", partial.args, partial.args[0]),
                                                               ("keyword", partial.keywords, partial.keywords["key"]),
            ("attribute", partial.__dict__, partial.attribute), ("dict", partial, partial.__dict__)] + attributes(keyed(Planted()), "obj"))


@exhibit
def caches():
    bounded = functools.lru_cache(maxsize=4)(lambda argument: [argument])
    unbounded = functools.lru_cache(maxsize=None)(lambda argument: [argument])
    key = text()
    results = bounded(key), unbounded(key)
    of_unbounded = [one for one in gc.get_referents(unbounded) if type(one) is dict and key in one][0]
    element = [one for one in gc.get_referents(bounded) if type(one).__name__.endswith("_list_elem")]
    return [("bounded: wrapped", bounded, bounded.__wrapped__), ("dict of a cache", bounded, bounded.__dict__),
            ("__wrapped__", bounded.__dict__, bounded.__wrapped__),
            ("unbounded: the cache", unbounded, of_unbounded), ("unbounded: the result", of_unbounded, results[1])] + [
            ("bounded: the element", bounded, one) for one in element[:1]]


@exhibit
def wrappers():
    def wrapped():
        pass

    wrapper = functools.wraps(wrapped)(lambda: None)
    cached = functools.cached_property(wrapped)
    return [("functools.wraps", wrapper.__dict__, wrapped), ("cached_property", *held(cached, "func"))]


@exhibit
def iterators_of_the_library():
    import itertools
    import operator
    rows, function = [Planted(), Planted(), Planted()], lambda *arguments: Planted()  # noqa: E731
    made = [itertools.count(number(), number()), itertools.cycle(rows), itertools.repeat(Planted()), itertools.chain(rows),
            itertools.accumulate(rows, function),
            itertools.compress(rows, rows), itertools.dropwhile(function, rows), itertools.takewhile(function, rows),
            itertools.filterfalse(function, rows),
            itertools.islice(rows, 2), itertools.starmap(function, rows), itertools.zip_longest(rows, fillvalue=Planted()),
            itertools.product(rows, repeat=2),
            itertools.permutations(rows, 2), itertools.combinations(rows, 2), itertools.combinations_with_replacement(rows, 2),
            itertools.groupby(rows, function),
            itertools.tee(iter(rows))[0], iter(collections.deque(rows)), operator.itemgetter(Planted()),
            operator.methodcaller(text(), Planted())]
    return [("%s to %s, %d" % (type(one).__name__, type(part).__name__, index), one, part) for one in made for index,
            part in enumerate(gc.get_referents(one))
            if not isinstance(part, type) and part is not None]


@exhibit
def contexts():
    import contextvars
    variable = contextvars.ContextVar(text(), default=Planted())
    token = variable.set(Planted())
    again = variable.set(Planted())
    return attributes(variable, "name") + [("default", variable, contextvars.Context().run(variable.get))] + attributes(
        token, "var") + attributes(again, "old_value")


@exhibit
def thread_locals():
    import threading
    local = threading.local()
    local.attribute = Planted()
    return [("attribute", local.__dict__, local.attribute)]


@exhibit
def futures_and_tasks():
    import asyncio
    loop = asyncio.new_event_loop()

    async def waits(future):
        await future

    def callback(future):
        pass

    done, failed, waited = loop.create_future(), loop.create_future(), loop.create_future()
    done.set_result(Planted())
    failed.set_exception(ValueError(Planted()))
    failed.exception()
    waited.add_done_callback(callback)
    coroutine = waits(waited)
    task = older.create_task(loop, coroutine, text())
    second = loop.create_future()
    second.add_done_callback(callback)
    def kept(future):
        pass

    second.add_done_callback(kept)
    loop.run_until_complete(asyncio.sleep(0))
    inner = waited.__await__()
    further = referent(second, "list")
    if sys.version_info < (3, 7):  # there all callbacks are in a list
        return attributes(done, "_result", "_loop") + attributes(failed, "_exception") + [("Task's future", task, waited)]
    named = [("Task's name", task, task.get_name())] if older.NAMED_TASKS else []
    return attributes(done, "_result", "_loop") + attributes(failed, "_exception") + named + [
        ("Task's coroutine", task, coroutine), ("Task's future", task, waited), ("callback", waited, callback),
        ("first of two callbacks", second, callback), ("list of further callbacks", second, further), ("second callback", further[0], kept),
        ("FutureIter", inner, waited)]


@exhibit
def expressions():
    import re
    import struct
    pattern, subject = re.compile(text()), text()
    match = re.compile("(?P<group>p)").search(subject)
    packed = struct.Struct("<%ds" % 5)
    kept = [("Struct's format", packed, one) for one in gc.get_referents(packed) if type(one) is bytes]
    return attributes(pattern, "pattern") + attributes(match, "string", "re") + kept


@exhibit
def streams():
    class Raw(io.RawIOBase):
        def readable(self):
            return True

    raw = Raw()
    buffered = io.BufferedReader(raw)
    words = io.TextIOWrapper(buffered, "latin-1")
    words.attribute = Planted()
    content = b"planted content %d" % 5
    memory = io.BytesIO(content)
    errors = ["errors"] if sys.version_info >= (3, 7) else []  # before, they are kept as bytes
    return attributes(buffered, "raw") + attributes(words, "buffer", "encoding", *errors) + [
            ("dict of a TextIOWrapper", words, words.__dict__), ("attribute of a TextIOWrapper", words.__dict__, words.attribute), ("BytesIO's buffer", memory, content)]


@exhibit
def dates():
    import datetime
    zone = datetime.timezone(datetime.timedelta(hours=3), text())
    return (attributes(datetime.datetime(2020, 1, 1, tzinfo=zone), "tzinfo") + attributes(datetime.time(1, tzinfo=zone), "tzinfo") +
            [("timezone's name", zone, zone.tzname(None)), ("timezone's offset", zone, zone.utcoffset(None))])


@exhibit
def databases():
    import sqlite3
    connection = sqlite3.connect(":memory:")
    connection.row_factory = lambda *arguments: None
    connection.text_factory = lambda *arguments: None
    cursor = connection.execute("select 1 as a")
    cursor.row_factory = lambda *arguments: arguments
    rows = connection.cursor()
    rows.row_factory = sqlite3.Row
    row = rows.execute("select 'x' || 'y' as planted").fetchone()
    places = attributes(connection, "row_factory", "text_factory") + attributes(cursor, "connection", "row_factory", "description")
    rows_held = [one for one in gc.get_referents(row) if type(one) is tuple and type(one[0]) is str]  # from 3.10 on sqlite3 reports
    return places + [("column of a row", one, row[0]) for one in rows_held] + [("data of a row", row, one) for one in rows_held]


@exhibit
def elements():
    from xml.etree import ElementTree
    root = ElementTree.fromstring("<planted a='1'><child>text</child>tail<other/></planted>")
    child = root[0]
    child.text, child.tail, child.tag = text(), text(), text()
    root.set("key", text())
    return attributes(child, "text", "tail", "tag") + [("child", root, child), ("attributes", root, root.attrib),
                                                       ("attribute", root.attrib, root.attrib["key"])]


@exhibit
def foreign_structures():
    import ctypes

    class Structure(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("to", ctypes.POINTER(ctypes.c_int))]

    structure = Structure(b"planted bytes %d" % 5)
    structure.to = ctypes.pointer(ctypes.c_int(5))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 5)
    return [("kept alive", structure, structure._objects), ("kept bytes", structure._objects, list(structure._objects.values())[0]),
            ("object", *(lambda one: (one, one._objects))(ctypes.py_object(Planted()))),
            ("function's objects", function, function._objects)]


@exhibit
def picklers():
    import pickle
    pickler = pickle.Pickler(io.BytesIO())
    pickler.dispatch_table = {Planted: text}
    return attributes(pickler, "dispatch_table")


@exhibit
def decimals():
    import decimal
    context = decimal.Context()
    return [("Context's traps", context, context.traps), ("Context's flags", context, context.flags)]


@exhibit
def text_readers():
    import csv
    import json
    rows = iter([text()])
    reader = csv.reader(rows, "excel")
    hook = lambda pairs: pairs  # noqa: E731
    decoder = json.JSONDecoder(object_hook=hook)
    return attributes(reader, "dialect") + [("reader's iterator", reader, rows)] + attributes(decoder.scan_once, "object_hook")


@exhibit
def typing_objects():
    import typing
    variable = typing.TypeVar(text(), bound=Planted)
    if sys.version_info < (3, 12):
        return [("bound, in Python", variable, variable.__bound__)]
    return attributes(variable, "__bound__", "__name__")


@exhibit
def arrays():
    import numpy as np
    base = np.arange(100.0)
    objects = np.array([Planted() for _ in range(12)], dtype=object)
    square = objects.copy().reshape(3, 4)
    single, reversed_view, empty = np.array(Planted(), dtype=object), objects[::-2], np.empty(3, object)
    for one in range(3):
        empty[one] = Planted()
    column = np.asfortranarray(square)
    data = bytearray(80)
    content = np.frombuffer(data)

    class Kind(np.ndarray):
        pass

    kind = np.zeros(3).view(Kind)
    kind.attribute = Planted()
    return (attributes(base[5:], "base") + attributes(base.reshape(10, 10).T, "base") + attributes(content,
                                                                                                   "base") + [("dtype", objects,
                                                                                                               objects.dtype)] +
            [("element", objects, objects[7]), ("element of a square", square.base if square.base is not None else square, square[1, 2]),
             ("single element", single, single[()]), ("element in an empty array", empty, empty[2]),
             ("element in Fortran's order", column, column[2, 1]),
             ("dict of a subclass", kind, kind.__dict__), ("attribute of a subclass", kind.__dict__, kind.attribute),
             ("base of a reversed view", reversed_view, objects)])


@exhibit
def arrays_of_records():
    import numpy as np
    fields = np.dtype([("number", "i4"), ("what", "O"), ("inner", [("deep", "O"), ("more", "O", (2,))])])
    rows = np.empty(4, fields)
    for row in range(4):
        rows[row] = (row, Planted(), (Planted(), [Planted(), Planted()]))
    scalar = rows[1]
    return [("field", rows, rows["what"][2]), ("deep field", rows, rows["inner"]["deep"][3]),
            ("element in a field", rows, rows["inner"]["more"][1, 1]),
            ("base of a record", scalar, rows), ("dtype", rows, rows.dtype), ("names", rows.dtype, rows.dtype.names)]


@exhibit
def functions_of_arrays():
    import numpy as np
    function = lambda x: x  # noqa: E731
    ufunc = np.frompyfunc(function, 1, 1)
    metadata = np.dtype("f8", metadata={"key": 5})
    flat = np.zeros(5).flat
    return [("dtype's metadata", metadata, referent(metadata.metadata, "dict")), ("frompyfunc", ufunc, function)] + attributes(flat, "base")


@exhibit
def mapped_arrays():
    import tempfile

    import numpy as np
    mapped = np.memmap(tempfile.TemporaryFile(), dtype="f8", mode="w+", shape=(20,))
    return [("dict", mapped, mapped.__dict__), ("mmap", mapped.__dict__, mapped._mmap), ("base", mapped, mapped.base)]
