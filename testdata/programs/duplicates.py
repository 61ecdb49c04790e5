#!/usr/bin/env python3
"""Programs whose memory is full of equal values, and what each of them counts of itself.

    duplicates.py records|rows|columns|tuples|settings|packages|waste

A copy of the process, forked, finds all values that the collector's objects lead to: from gc.get_objects() by gc.get_referents, which leaves out
the keys of dicts of str, and the items of NumPy's arrays of objects; these are added. It writes, for each value with more than one copy, the
addresses of the copies, sys.getsizeof of all of them, and the bytes of their blocks, as far as it can tell: up to 512 bytes a multiple of 16,
beyond that malloc_usable_size. For `waste` it makes what the memory could be saved by, and says how much smaller that is. The original raises SIGABRT then, or sleeps (standstill.py).
"""

import collections
import csv
import ctypes
import gc
import io
import json
import os
import signal
import struct
import sys

import standstill

Point = collections.namedtuple("Point", "x y label")
KEPT = []


_STEP = 16 if all(id(number) % 16 == 0 for number in [n + 0.25 for n in range(200)]) else 8  # between blocks of pymalloc


class Settings:
    def __init__(self, number):
        self.host = "host-%d.example.org" % (number % 7)
        self.paths = ("/srv/data/%d" % (number % 5), "/srv/logs")
        self.retries = 1000 + number % 3
        self.weight = number % 4 / 8.0
        self.key = b"key %03d " % (number % 6) * 4
        self.ratio = complex(number % 2, 1.5)


def records():
    """JSON, parsed line by line: keys and values are made anew for each."""
    for number in range(4000):
        line = json.dumps({"country": "country %d" % (number % 12), "city": "city of %d" % (number % 90), "amount": number % 50 + 0.25,
                           "units": 100000 + number % 9, "note": "\u017elut\u00fd k\u016f\u0148 %d" % (number % 5), "id": "id-%08d" % number})
        KEPT.append(json.loads(line))


def rows():
    """A table of text."""
    table = "\n".join("%s,%s,%d,%s" % ("name %d" % (number % 30), "street %d" % (number % 400), 70000 + number % 17, "x" * (number % 3 * 300))
                      for number in range(6000))
    KEPT.extend(csv.reader(io.StringIO(table)))


def columns():
    """A column of texts as pandas has it, if there is pandas; a NumPy array of objects, if there is NumPy; floats and large ints in lists."""
    texts = ["value %d" % (number % 40) for number in range(5000)]
    KEPT.append([float("%d.5" % (number % 8)) for number in range(20000)])
    KEPT.append([int("9%d" % (10 ** 12 + number % 100)) for number in range(8000)])
    KEPT.append([int("-7%d" % (10 ** 30 + number % 10)) for number in range(500)])
    KEPT.append([-0.0 * number for number in range(1, 40)] + [0.0 * number for number in range(1, 40)])
    try:
        import numpy
    except ImportError:
        KEPT.append(texts)
        return
    KEPT.append(numpy.array(texts, dtype=object))
    KEPT.extend(numpy.arange(number % 6, dtype="float64").repeat(200).reshape(2, -1) for number in range(60))
    KEPT.extend(numpy.zeros((number % 2 + 1, 300), dtype="int16") for number in range(50))
    try:
        import pandas
    except ImportError:
        return
    KEPT.append(pandas.DataFrame({"text": ["cell %d" % (number % 25) for number in range(3000)]}, dtype=object))


def tuples():
    """Tuples of texts, in each other, named ones, and frozensets in any order."""
    for number in range(3000):
        words = ["word %d" % ((number + place) % 20) for place in range(4)]
        KEPT.append(tuple(words[:2]))
        KEPT.append((tuple(words[2:]), (number % 10 + 5000, float(number % 3) + 0.125, None, True)))
        KEPT.append(Point("%d east" % (number % 11), 0.5 + number % 4, None))
        KEPT.append(frozenset(reversed(words) if number % 2 else words))
    deep = ()
    for number in range(40):
        deep = (deep, "level %d" % number)
    KEPT.append(deep)
    KEPT.append([("list in it", []) for number in range(50)])


def settings():
    """Objects with attributes, dicts of settings in dicts, and bytes."""
    KEPT.append({"service-%d" % number: Settings(number) for number in range(2000)})
    KEPT.append({number: {"mode": "".join(("m", "ode %d" % (number % 3))), "limits": (2000 + number % 5, "up to %d" % (number % 5))} for number in range(3000)})
    KEPT.append([sys.intern("an interned text")] + ["an interned %s" % "text" for number in range(100)])
    KEPT.append(["long text %d " % (number % 4) * 100 for number in range(400)])


def packages():
    """Modules of the library and of Debian's packages, as far as they are there, with what they keep of a document that they read."""
    import decimal, email.message, http.cookies, html.parser, xml.etree.ElementTree  # noqa: E401
    document = "<orders>" + "".join("<order currency='EUR' state='open %d'><item>article %d</item></order>" % (number % 3, number % 40)
                                    for number in range(2000)) + "</orders>"
    KEPT.append(xml.etree.ElementTree.fromstring(document))
    for number in range(500):
        message = email.message.Message()
        message["Subject"] = "Report %d" % (number % 6)
        message["X-Sender"] = "sender %d" % (number % 9)
        KEPT.append(message)
    KEPT.append([decimal.Decimal(number % 10) for number in range(100)])
    for name in ("yaml", "requests", "jinja2", "sqlalchemy", "django", "lxml.etree", "numpy", "pandas"):
        try:
            __import__(name)
        except Exception:  # not there, or not for this version
            continue
    if "yaml" in sys.modules:
        KEPT.append(sys.modules["yaml"].safe_load("\n".join("- {the host: server %d, the port: %d, 'the tags': [web, 'tag %d']}" % (number % 8, 8000 + number % 4, number % 5)
                                                               for number in range(400))))


class Wasteful:
    """Its attributes are the holders."""


class WithDict:
    def __init__(self, number):
        self.number, self.name, self.state = number, None, None


class WithSlots:
    __slots__ = ("number", "name", "state")

    __init__ = WithDict.__init__


WASTEFUL = Wasteful()


def waste():
    """Containers of which most was deleted, instances with a dict, numbers in lists."""
    def emptied(container, remove, keys):
        for key in keys:
            remove(container, key)
        return container

    WASTEFUL.lists = [[None] for number in range(500)]
    for one in WASTEFUL.lists:
        one.append(None)
    one = None
    WASTEFUL.tables = [emptied(dict.fromkeys(range(200)), dict.pop, range(5, 200)) for number in range(100)]
    WASTEFUL.words = emptied({"word %d" % number: None for number in range(5000)}, dict.pop, ["word %d" % number for number in range(4990)])
    WASTEFUL.sets = [emptied(set(range(500)), set.remove, range(6, 500)) for number in range(50)]
    WASTEFUL.floats = list([number + 0.25 for number in range(10000)])  # a copy has no room for more
    WASTEFUL.numbers = list([int("%d" % (number + 10 ** 12)) for number in range(5000)])  # a sum may have room for a digit more
    WASTEFUL.instances = [WithDict(number % 10) for number in range(3000)]
    WASTEFUL.full = [dict.fromkeys(range(90)) for number in range(20)]
    WASTEFUL.flags = list([number % 3 == 0 for number in range(5000)])
    WASTEFUL.slotted = [WithSlots(number % 10) for number in range(2000)]


def waste_truth():
    """In the child: what each attribute could save, or `needed`, what would be left."""
    header = sys.getsizeof([]) - list.__basicsize__

    def beside(container):  # bytes of its memory beside the object
        return block_of(sys.getsizeof(container) - type(container).__basicsize__ - header)

    def freed(containers, copy):
        return sum(beside(one) - beside(copy(one)) for one in containers)

    def boxed(numbers):
        each = sum(block_of(sys.getsizeof(number)) for number in numbers)
        return each + beside(numbers) - block_of(8 * len(numbers)) + block_of(list.__basicsize__ + header) - 80

    kept = WASTEFUL
    return [
        {"kind": "list_room", "attribute": "lists[*]", "count": len(kept.lists), "saves": freed(kept.lists, lambda items: items[:])},
        {"kind": "dict_room", "attribute": "tables[*]", "count": len(kept.tables), "saves": freed(kept.tables, lambda d: dict(d.items()))},
        {"kind": "dict_room", "attribute": "words", "count": 1, "saves": freed([kept.words], lambda d: dict(d.items()))},
        {"kind": "set_room", "attribute": "sets[*]", "count": len(kept.sets), "saves": freed(kept.sets, set)},
        {"kind": "boxed_floats", "attribute": "floats", "count": 1, "saves": boxed(kept.floats)},
        {"kind": "boxed_ints", "attribute": "numbers", "count": 1, "saves": boxed(kept.numbers)},
        {"kind": "boxed_bools", "attribute": "flags", "count": 1, "saves": block_of(list.__basicsize__ + header) + beside(kept.flags)
            - block_of(len(kept.flags)) - 80},
        {"kind": "instance_dicts", "attribute": "instances[*]", "count": len(kept.instances),
         "needed": len(kept.instances) * block_of(sys.getsizeof(WithSlots(1)))},
    ]


def main():
    case = sys.argv[1]
    globals()[case]()
    fork = ctypes.PyDLL(None).fork  # PyDLL: the GIL stays held
    gc.collect()
    gc.disable()
    if not fork():
        write_truth(gc.get_objects(), "truth.json", case)
    os.waitpid(-1, 0)
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


def write_truth(collected, path, case):
    """In the child; ends it. What it makes is referred to by its frames alone, and by no object of `collected`."""
    status = 1
    try:
        standstill.write(path, {"values": list(values_of(everything_from(collected), planted())), "waste": waste_truth() if case == "waste" else []})
        status = 0
    except BaseException as error:
        os.write(2, ("truth: %s: %s\n" % (type(error).__name__, error)).encode())
    finally:
        os._exit(status)


def planted():
    """The addresses of what the program itself made."""
    numpy = sys.modules.get("numpy")
    met, waiting = set(), list(KEPT)
    while waiting:
        obj = waiting.pop()
        if id(obj) in met or isinstance(obj, (type, type(main), type(sys))):
            continue
        met.add(id(obj))
        waiting.extend(referents_of(obj, numpy))
    return met


def referents_of(obj, numpy):
    if type(obj) is dict and len(obj) > 500 and all(key is value and type(key) is str for key, value in obj.items()):
        return []  # the interpreter's own of interned strings (since 3.14 the collector sees it), which it does not keep alive
    further = gc.get_referents(obj)
    if isinstance(obj, dict):
        further.extend(dict.keys(obj))
    elif numpy is not None and type(obj) is numpy.ndarray and obj.dtype == object:
        further.extend(obj.ravel().tolist())
    return further


def everything_from(collected):
    """But for what only functions hold, and tuples that only these hold: defaults, names, docstrings are constants of code."""
    numpy = sys.modules.get("numpy")
    met = {id(obj): obj for obj in collected}
    waiting, tuples, function = list(collected), [], type(main)
    held = set()  # by something else
    while waiting:
        obj = waiting.pop()
        further = referents_of(obj, numpy)
        if type(obj) in (tuple, frozenset):
            tuples.append(obj)
        elif type(obj) is not function:
            held.update(map(id, further))
        for other in further:
            if id(other) not in met:
                met[id(other)] = other
                waiting.append(other)
    of_functions = {id(held_by) for obj in met.values() if type(obj) is function for held_by in gc.get_referents(obj)}
    waiting = [obj for obj in tuples if id(obj) in held]  # the others, which nothing is known to hold, are constants of code
    done = set(map(id, waiting))
    while waiting:
        for other in gc.get_referents(waiting.pop()):
            held.add(id(other))
            if type(other) in (tuple, frozenset) and id(other) not in done:
                done.add(id(other))
                waiting.append(other)
    for obj in tuples:
        if id(obj) not in done:
            of_functions.add(id(obj))
            of_functions.update(map(id, gc.get_referents(obj)))
    return [obj for key, obj in met.items() if key in held or key not in of_functions]


_BY_BITS = struct.Struct("<d")


def key_of(obj, numpy):
    """Equal for equal values; None for what is no value."""
    of = type(obj)
    if of in (str, bytes, int):
        return (of, obj)
    if of is float:
        return (of, _BY_BITS.pack(obj))
    if of is complex:
        return (of, _BY_BITS.pack(obj.real) + _BY_BITS.pack(obj.imag))
    if obj is None or obj is True or obj is False or obj is Ellipsis:
        return (of, None if of is not bool else obj)
    if of is tuple or (issubclass(of, tuple) and hasattr(of, "_fields") and not hasattr(obj, "__dict__")):
        keys = tuple(key_of(item, numpy) for item in tuple.__iter__(obj))
        return None if None in keys else (of, keys)
    if of is frozenset:
        keys = frozenset(key_of(item, numpy) for item in obj)
        return None if None in keys else (of, keys)
    if numpy is not None and of is numpy.ndarray and obj.base is None and obj.flags.owndata and obj.dtype != object and obj.dtype.names is None:
        return (of, obj.dtype.str, obj.shape, obj.strides, obj.tobytes("A"))
    return None


def values_of(objects, own):
    numpy = sys.modules.get("numpy")
    usable = ctypes.CDLL(None).malloc_usable_size
    usable.restype, usable.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    by_key = collections.defaultdict(list)
    for obj in objects:
        if obj is None or obj is Ellipsis or type(obj) is bool:
            continue
        key = key_of(obj, numpy)
        if key is not None:
            by_key[key].append(obj)
    for key, copies in by_key.items():
        if len(copies) < 2:
            continue
        memory = [memory_of(obj, usable, numpy) for obj in copies]
        yield {"type": key[0].__name__, "addresses": sorted(id(obj) for obj in copies), "size": sum(sys.getsizeof(obj) for obj in copies),
               "memory": None if None in memory else sum(memory), "saves": None if None in memory else sum(memory) - max(memory),
               "planted": all(id(obj) in own for obj in copies), "immortal": any(is_immortal(obj) for obj in copies), "value": ascii(copies[0])[:60]}


def is_immortal(obj):
    """Perhaps static: then it has no block."""
    return sys.getrefcount(obj) > 1 << 28


def memory_of(obj, usable, numpy):
    """None where it cannot be told: several blocks, or none."""
    if numpy is not None and type(obj) is numpy.ndarray:
        return None
    if is_immortal(obj):
        return None
    header = 16 if type(obj).__flags__ & 1 << 14 else 0
    size = sys.getsizeof(obj)  # with the header
    if type(obj).__flags__ & 1 << 9:  # of a class, which makes room for one item more (PyType_GenericAlloc)
        size += type(obj).__itemsize__
    if type(obj) is str and size != size_of_text(obj):
        return None  # with its UTF-8 in a block beside it
    if type(obj) is frozenset and sys.getsizeof(obj) > frozenset.__basicsize__ + header:  # a table of its own
        table = sys.getsizeof(obj) - frozenset.__basicsize__ - header
        return block_of(frozenset.__basicsize__ + header) + block_of(table)
    if type(obj) is int:  # sys.getsizeof counts its digits, and it has room for at least one
        size = max(size, int.__basicsize__ + int.__itemsize__ if sys.version_info < (3, 12) else size)
    return block_of(size) if size <= 512 else usable(id(obj) - header)


def block_of(size):
    """pymalloc's; above 512 bytes what glibc's malloc lets the program use of a chunk."""
    if size > 512:
        return (size + 8 + 15) // 16 * 16 - 8
    return (size + _STEP - 1) // _STEP * _STEP


def size_of_text(text):
    """Of one whose characters are behind its header (unicodeobject.h)."""
    header = 40 if sys.version_info >= (3, 12) else 48
    widest = max(map(ord, text), default=0)
    if widest < 128:
        return header + len(text) + 1
    return header + (16 if header == 40 else 24) + (len(text) + 1) * (1 if widest < 256 else 2 if widest < 65536 else 4)


if __name__ == "__main__":
    main()
