"""The workshop's second room: what the standard library has, half done. `work.py` says why."""

import io
import sys

from work_language import Thing, half

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def itertools_half_consumed():
    import itertools
    rows = [[i] for i in range(9)]
    tee = itertools.tee(iter(rows), 3)
    next(tee[0])
    next(tee[0])
    next(tee[1])
    grouped = itertools.groupby(rows, key=lambda row: row[0] // 3)
    first_group = next(grouped)
    group_started = next(grouped)[1]
    next(group_started)
    cycle_over_its_end = half(itertools.cycle(rows), 12)
    made = [half(itertools.count(1 << 90, 3), 2), half(itertools.count(0.5), 2), half(itertools.cycle(rows), 3),
            half(itertools.repeat([1], 5)),
            half(itertools.chain(rows, [[1]], {2: 3}), 2), half(itertools.chain.from_iterable([rows, rows]), 2),
            half(itertools.accumulate(rows, initial=[]), 2),
            half(itertools.accumulate(rows, lambda a, b: a + b), 2), half(itertools.compress(rows, [1] * 9)),
            half(itertools.dropwhile(lambda row: False, rows)),
            half(itertools.takewhile(len, rows)), half(itertools.filterfalse(lambda row: None, rows)),
            half(itertools.islice(rows, 2, 8, 3)),
            half(itertools.starmap(max, [([1], [2]), ([3], [4])])), half(itertools.zip_longest(rows, [[1]], fillvalue=["filled"]), 3),
            half(itertools.product(rows, repeat=2), 3), half(itertools.permutations(rows, 3), 3), half(itertools.combinations(rows, 3), 3),
            half(itertools.combinations_with_replacement(rows, 3), 3)]
    over = [itertools.islice(rows, 1), itertools.chain([[1]]), itertools.product([[1]]), itertools.permutations([[1]]),
            itertools.accumulate([[1]]),
            itertools.zip_longest([[1]], [[2]]), itertools.takewhile(lambda row: False, rows), itertools.repeat([1], 1)]
    for one in over:
        list(one)
    return rows, tee, grouped, first_group, group_started, cycle_over_its_end, made, over


@exhibit
def pairs_half_consumed():
    import itertools
    return half(itertools.pairwise([[1], [2], [3]]))  # since 3.10


@exhibit
def batches_half_consumed():
    import itertools
    return half(itertools.batched([[1], [2], [3]], 2))  # since 3.12


@exhibit
def collections_half_consumed():
    import collections
    queue = collections.deque([[i] for i in range(100)], maxlen=90)
    queue.rotate(7)
    ordered = collections.OrderedDict((Thing(i), [i]) for i in range(9))
    ordered.attribute = ["on an ordered dict"]
    defaults = collections.defaultdict(lambda: [1], a=[2])
    defaults["missing"]
    counter = collections.Counter([(1,), (1,), (2,)])

    class Queue(collections.deque):
        pass

    kind = Queue([[1]])
    kind.attribute = ["on a deque"]
    chain = collections.ChainMap({"a": [1]}, ordered)
    return (queue, half(queue, 70), half(reversed(queue), 3), ordered, half(ordered, 2), half(ordered.items(), 2), half(reversed(ordered)),
            half(ordered.values()),
            half(reversed(ordered.items())), defaults, counter, half(counter.elements()), kind, chain, half(chain),
            collections.UserDict(a=[1]),
            collections.UserList([[1]]), collections.UserString("text %d" % 1), collections.namedtuple("Pair", "a b")([1], [2]))


@exhibit
def functools_in_use():
    import functools

    def function(*arguments, **named):
        """Cached."""
        return [arguments, named]

    class Lazy:
        @functools.cached_property
        def value(self):
            return ["cached"]

        @functools.lru_cache(maxsize=3)
        def method(self, argument):
            return [self, argument]

        @functools.singledispatchmethod
        def dispatch(self, argument):
            return argument

        @dispatch.register(int)
        def _(self, argument):
            return [argument]

        partial = functools.partialmethod(method, [1])

    bounded, unbounded, typed, none = (functools.lru_cache(maxsize=4)(function), functools.lru_cache(maxsize=None)(function),
                                       functools.lru_cache(maxsize=2, typed=True)(function), functools.lru_cache(maxsize=0)(function))
    for i in range(7):
        for cached in (bounded, unbounded, typed, none):
            cached(i, option="text %d" % i)
            cached("single %d" % i)
    bounded.attribute = ["on a cache"]
    lazy = Lazy()
    lazy.value, lazy.method(5), lazy.method(6), lazy.dispatch(5)
    dispatch = functools.singledispatch(function)
    dispatch.register(list, len)
    dispatch([1]), dispatch("text")
    partial = functools.partial(function, [1], [2], key=[3])
    partial.attribute = ["on a partial"]
    keyed = functools.cmp_to_key(lambda a, b: 0)
    return (bounded, unbounded, typed, none, lazy, lazy.dispatch, lazy.method, Lazy.__dict__["partial"], dispatch, partial,
            functools.partial(partial, [4]), keyed,
            [keyed([1]), keyed([2])], functools.wraps(function)(lambda: None),
            functools.total_ordering(type("Ordered", (), {"__lt__": lambda a, b: True})))


@exhibit
def operators():
    import operator
    return (operator.itemgetter(Thing(1)), operator.itemgetter("a%d" % 1, [2]), operator.attrgetter("a.b%d" % 1, "c"),
            operator.methodcaller("name%d" % 1, [1], key=[2]))


@exhibit
def text_in_the_middle():
    import codecs
    import csv
    import json
    import re
    import string
    import tokenize
    pattern = re.compile("(?P<word>w+)|(?:(a)|b)+%d" % 5)
    subject = "wwww ab5 %d www " % 7 * 5
    decoders = [codecs.getincrementaldecoder(name)() for name in ("utf-8", "utf-16", "shift_jis", "utf-7")]
    for decoder in decoders:
        decoder.decode(b"\x83" if decoder.__module__ == "encodings.shift_jis" else b"a")
    tokens = tokenize.generate_tokens(io.StringIO("def f(x):\n    return [x, 'text']\n").readline)
    reader = csv.reader(iter(["a,b\n", '"c\n', 'd",5\n']), quoting=csv.QUOTE_NONNUMERIC, quotechar='"')
    try:
        next(reader)
    except ValueError:
        pass

    class Tabs(csv.Dialect):
        delimiter, quotechar, lineterminator, quoting = "\t", "'", "\r\n", csv.QUOTE_MINIMAL

    encoder = json.JSONEncoder(indent=1, default=lambda one: [one], sort_keys=True)
    chunks = encoder.iterencode({"a": [1, {"b": 2}]})
    parsed = json.JSONDecoder(object_hook=lambda pairs: [pairs], parse_float=lambda text: [text])
    c_encoder = json.encoder.c_make_encoder({}, str, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return (pattern, pattern.match(subject), half(pattern.finditer(subject), 2), pattern.scanner(subject),
            [found for found in pattern.finditer(subject)],
            decoders, codecs.getincrementalencoder("iso2022_jp")(), codecs.getreader("euc_jp")(io.BytesIO(b"abc")),
            codecs.getwriter("gb18030")(io.BytesIO()),
            codecs.EncodedFile(io.BytesIO(), "utf-8"), half(tokens, 3), reader, csv.writer(io.StringIO(), Tabs),
            half(csv.DictReader(io.StringIO("a\n1\n2\n"))),
            csv.Sniffer(), Tabs(), half(chunks, 2), parsed, parsed.scan_once, c_encoder,
            half(string.Formatter().parse("{a} {b!r:>{c}} {d[0].e}"), 2),
            string.Template("$a %d" % 1), str.maketrans({"a": "b%d" % 1}), half(subject.splitlines()), half("{0[1]}".format.__self__))


@exhibit
def syntax_in_the_middle():
    import ast
    import symtable
    tree = ast.parse("async def f(x: int, *y, z=[1]) -> str:\n  match = f'{x!r:>5}'\n  return [i async for i in y], lambda: x\n")
    table = symtable.symtable("def f(x): return lambda: x", "file", "exec")
    class Visitor(ast.NodeVisitor):
        pass
    return tree, half(ast.walk(tree), 4), table, table.get_children(), Visitor(), compile(tree, "file", "exec")


@exhibit
def streams_in_the_middle():
    import tempfile
    file = tempfile.NamedTemporaryFile("w+", encoding="utf-16", newline="\r\n")
    file.write("line\nline two %d\n" % 5)
    file.seek(0)
    file.readline()
    raw = open(file.name, "rb", buffering=0)
    raw.attribute = ["on a raw file"]
    buffered = io.BufferedReader(raw)
    buffered.read(3)
    text = io.TextIOWrapper(io.BufferedRandom(tempfile.TemporaryFile(buffering=0)), "latin-1", errors="backslashreplace",
                            write_through=True)
    text.write("pending %d" % 5)
    pending = io.TextIOWrapper(io.BytesIO(), "utf-8")
    for i in range(20):
        pending.write("pending text %d" % i)
    memory, words = io.BytesIO(b"a\nb\nc" * 9), io.StringIO("a\r\nb\rc\n", newline=None)
    memory.readline()
    words.readline()

    class Kind(io.BytesIO):
        pass

    class Raw(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            return 0

    kind = Kind(b"kind")
    kind.attribute = ["on a BytesIO"]
    return (file, raw, buffered, text, pending, memory, words, memory.getbuffer(), kind, io.BufferedReader(Raw()),
            io.BufferedWriter(io.FileIO(file.name, "rb+")),
            io.BufferedRWPair(Raw(), io.BytesIO()), io.IncrementalNewlineDecoder(Thing(1), False), half(io.StringIO("a\nb\n")), sys.stdout,
            sys.stderr.buffer)


@exhibit
def dates_and_zones():
    import datetime
    import time

    class Zone(datetime.tzinfo):
        def __init__(self):
            self.rows = [1]

    class Stamp(datetime.datetime):
        pass

    zone, named = Zone(), datetime.timezone(datetime.timedelta(hours=5), "zone %d" % 5)
    stamp = Stamp(2020, 1, 1, tzinfo=named)
    stamp.attribute = ["on a datetime"]
    return (zone, named, stamp, datetime.datetime(2020, 1, 1, tzinfo=zone), datetime.time(5, tzinfo=zone), datetime.time(6, tzinfo=named),
            datetime.datetime(2021, 1, 1),
            datetime.timezone.utc, datetime.date(2020, 2, 2).isocalendar(), datetime.timedelta(5, 6), time.localtime(), time.gmtime(0),
            time.get_clock_info("time"))


@exhibit
def zones_of_zoneinfo():
    import datetime
    import zoneinfo
    zones = [zoneinfo.ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/New_York")]
    zones.append(zoneinfo.ZoneInfo.no_cache("Asia/Tokyo"))
    return zones, [datetime.datetime(2020, 7, 1, tzinfo=zone).utcoffset() for zone in zones]


@exhibit
def numbers_in_context():
    import decimal
    import fractions
    import random
    import statistics
    context = decimal.Context(prec=9, traps=[decimal.Inexact])
    class Exact(decimal.Decimal):
        pass
    exact = Exact("1.5")
    exact.attribute = ["on a decimal"]
    manager = decimal.localcontext(context)
    dice = random.Random(5)
    dice.random()
    return (context, context.traps, context.flags, manager, exact, decimal.Decimal("1e500") / 7, decimal.DefaultContext,
            fractions.Fraction(1, 3), dice,
            statistics.NormalDist(), sys.float_info, sys.int_info, sys.hash_info)


@exhibit
def pickles_in_the_middle():
    import copy
    import pickle

    class Pickler(pickle.Pickler):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.dispatch_table = {Thing: lambda one: (Thing, one.parts)}
            self.rows = [1]

        def persistent_id(self, obj):
            return None

        def reducer_override(self, obj):
            return NotImplemented

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, key):
            return [key]

        def find_class(self, module, name):
            return super().find_class(module, name)

    shared = [Thing(1), Thing(1)]
    pickler = Pickler(io.BytesIO(), 4)
    pickler.dump([shared, shared, {"key %d" % 5: shared}])
    by_hand = pickle.Pickler(io.BytesIO(), 5, buffer_callback=[].append)
    by_hand.dispatch_table = {Thing: lambda one: (Thing, one.parts)}
    if sys.version_info < (3, 13):  # where it cannot be set
        by_hand.persistent_id = lambda one: None
    by_hand.dump([shared, pickle.PickleBuffer(b"out of band %d" % 5)])
    stream = io.BytesIO(pickle.dumps([shared, "one %d" % 5]) + pickle.dumps(("two", shared)))
    unpickler = Unpickler(stream, encoding="utf-8", buffers=[[1]])
    unpickler.load()
    plain = pickle.Unpickler(io.BytesIO(pickle.dumps(shared)))
    if sys.version_info < (3, 13):
        plain.persistent_load = lambda key: [key]
    try:
        pickle.Unpickler.load(plain)
        broken = pickle.Unpickler(io.BytesIO(pickle.dumps([[1], [2], shared])[:-3]))
        broken.load()
    except (EOFError, pickle.UnpicklingError) as error:
        failure = error
    return (pickler, by_hand, unpickler, plain, broken, failure, pickle.PickleBuffer(bytearray(5)), pickler.memo.copy(), unpickler.memo,
            copy.deepcopy(shared))


@exhibit
def element_trees_in_the_middle():
    from xml.etree import ElementTree
    text = "<r a='1'>" + "<c b='%d'>text<d/><d/><d/><d/><d/><d/></c>tail" % 5 * 9 + "</r>"

    class Element(ElementTree.Element):
        pass

    class Target:
        def __init__(self):
            self.seen = []

        def start(self, tag, attributes):
            self.seen.append((tag, attributes))

        def end(self, tag):
            self.seen.append(tag)

        def close(self):
            return self.seen

    builder = ElementTree.TreeBuilder(element_factory=lambda tag, attributes: Element(tag, attributes), insert_comments=True)
    builder.start("open", {"a": "b%d" % 5})
    builder.data("data %d" % 1)
    builder.data("more %d" % 2)
    parsers = [ElementTree.XMLParser(), ElementTree.XMLParser(target=Target()), ElementTree.XMLParser(target=builder)]
    for parser in parsers[:2]:
        parser.feed(text[:100])
    parsers[0].entity["name"] = "value %d" % 5
    pulling = ElementTree.XMLPullParser(["start", "end", "comment", "start-ns"])
    pulling.feed(text[:200])
    root = ElementTree.fromstring(text)
    root.set("list", "value %d" % 5)
    root[0].text = ["no text"]
    bare = ElementTree.Element("bare")
    return (builder, parsers, pulling, half(pulling.read_events(), 3), half(ElementTree.iterparse(io.StringIO(text), ["start", "end"]), 5),
            root, half(root, 2),
            half(root.iter(), 5), half(root.iter("d"), 2), half(root.itertext(), 3), half(root.iterfind(".//c/d"), 2),
            ElementTree.ElementTree(root), bare,
            Element("kind"), root.attrib, root.findall("c"))


@exhibit
def parsers_of_expat():
    from xml.dom import minidom
    from xml.parsers import expat
    parser = expat.ParserCreate("utf-8", " ", intern={"kept": "interned"})
    seen = []
    parser.StartElementHandler = lambda *arguments: seen.append(arguments)
    parser.CharacterDataHandler = seen.append
    parser.buffer_text = True
    parser.Parse("<r xmlns:a='b' c='d%d'>text<a:e/>" % 5, False)
    return parser, seen, minidom.parseString("<r a='1'><b>text</b><!-- c --></r>"), parser.ExternalEntityParserCreate("context %d" % 5)


@exhibit
def databases_at_work():
    import sqlite3

    class Sum:
        def __init__(self):
            self.seen = []

        def step(self, value):
            self.seen.append(value)

        def finalize(self):
            return len(self.seen)

    class Cursor(sqlite3.Cursor):
        pass

    connection = sqlite3.connect(":memory:", isolation_level=None, detect_types=sqlite3.PARSE_DECLTYPES,
                                 factory=type("Connection", (sqlite3.Connection,), {}))
    connection.attribute = ["on a connection"]
    connection.create_function("double", 1, lambda value: 2 * value)
    connection.create_aggregate("summed", 1, Sum)
    connection.create_collation("reversed", lambda a, b: (a < b) - (a > b))
    connection.set_authorizer(lambda *arguments: sqlite3.SQLITE_OK)
    connection.set_progress_handler(lambda: 0, 10000)
    connection.set_trace_callback([].append)
    connection.text_factory = lambda data: [data]
    connection.row_factory = lambda cursor, row: {"row": row}
    connection.execute("create table t (a integer primary key, b text, c blob, d timestamp)")
    connection.executemany("insert into t (b, c) values (?, ?)", (("row %d" % i, b"blob %d" % i) for i in range(50)))
    cursor = connection.execute("select a, b from t where a > ?", (5,))
    cursor.fetchmany(3)
    rows = connection.cursor()
    rows.row_factory = sqlite3.Row
    rows.execute("select * from t")
    row = rows.fetchone()
    mine = connection.cursor(Cursor)
    mine.execute("select double(a), summed(a) from t group by b order by b collate reversed")
    mine.fetchone()
    mine.attribute = ["on a cursor"]
    blob = connection.blobopen("t", "c", 1) if sys.version_info >= (3, 11) else None
    failed = None
    try:
        connection.execute("select missing from t")
    except sqlite3.Error as error:
        failed = error
    sqlite3.register_adapter(Thing, lambda thing: "thing")
    sqlite3.register_converter("thing", lambda data: [data])
    return (connection, cursor, rows, row, half(row), mine, mine.description, blob, failed, sqlite3.connect(":memory:"),
            connection.execute("select 1"))


@exhibit
def foreign_functions_at_work():
    import ctypes

    class Inner(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("text", ctypes.c_char_p), ("any", ctypes.py_object)]

    class Outer(ctypes.Structure):
        _fields_ = [("inner", Inner), ("rows", Inner * 3), ("to", ctypes.POINTER(Inner)), ("call", ctypes.CFUNCTYPE(ctypes.c_int)),
                    ("bits", ctypes.c_int, 3)]
        _anonymous_ = ("inner",)

    class Either(ctypes.Union):
        _fields_ = [("number", ctypes.c_long), ("pointer", ctypes.c_void_p)]

    class Node(ctypes.Structure):
        pass

    Node._fields_ = [("next", ctypes.POINTER(Node)), ("value", ctypes.py_object)]
    node = Node(value=["of a node"])
    node.next = ctypes.pointer(node)
    inner = Inner(5, b"kept alive %d" % 5, [1])
    outer = Outer(inner)
    outer.to = ctypes.pointer(inner)
    outer.rows[1].text = b"deep %d" % 5
    outer.call = ctypes.CFUNCTYPE(ctypes.c_int)(lambda held=[1]: 5)
    library = ctypes.CDLL(None)
    library.strlen.argtypes, library.strlen.restype, library.strlen.errcheck = ([ctypes.c_char_p], ctypes.c_size_t,
                                                                                lambda *arguments: arguments[0])
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
    numbers = (ctypes.c_int * 5)(5, 4, 3, 2, 1)
    library.qsort(numbers, 5, 4, compare)
    strings = (ctypes.c_char_p * 3)(b"one %d" % 1, b"two", None)
    return (inner, outer, outer.rows, outer.rows[1], outer.to, outer.to[0], outer.call, node, Either(), library, library.strlen, compare,
            numbers, strings,
            ctypes.byref(inner, 4), ctypes.cast(strings, ctypes.c_void_p), Outer.bits, Outer.rows, ctypes.POINTER(Inner),
            ctypes.py_object([1]),
            ctypes.cast(outer.to, ctypes.POINTER(ctypes.c_int)), (ctypes.py_object * 2)([1], [2]), ctypes.create_unicode_buffer("text", 9),
            ctypes.pythonapi.Py_IncRef,
            memoryview(numbers), (ctypes.c_char * 8).from_buffer(bytearray(8)), ctypes.c_wchar_p("wide %d" % 5),
            ctypes.pointer(ctypes.pointer(ctypes.c_int(5))))
