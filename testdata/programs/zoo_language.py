"""The zoo's first house: what the language itself can make. `zoo.py` says how exhibits work."""

import gc
import random
import sys
import types
import weakref

EXHIBITS = []
MANY = 1500


def exhibit(function):
    EXHIBITS.append(function)
    return function


class Plain:
    def __init__(self, number):
        self.number = number
        self.name = "plain %d" % number


class Slotted:
    __slots__ = ("left", "right", "__weakref__")


class SlottedChild(Slotted):
    __slots__ = ("more",)


class SlottedWithDict(Slotted):
    pass


class ListKind(list):
    pass


class DictKind(dict):
    pass


class StrKind(str):
    pass


class IntKind(int):
    pass


class TupleKind(tuple):
    pass


class SetKind(set):
    pass


class FrozenKind(frozenset):
    pass


class FloatKind(float):
    pass


class ComplexKind(complex):
    pass


class BytesKind(bytes):
    pass


class BytearrayKind(bytearray):
    pass


class ListWithSlots(list):
    __slots__ = ("extra",)


class Problem(Exception):
    pass


@exhibit
def instances():
    return [Plain(i) for i in range(3 * MANY)]


@exhibit
def instances_with_slots():
    kept = []
    for i in range(MANY):
        for kind in (Slotted, SlottedChild, SlottedWithDict):
            one = kind()
            one.left = float(i)
            if i % 2:
                one.right = one
            kept.append(one)
        kept[-1].anything = i
    return kept


@exhibit
def subclasses_of_builtins():
    kept = []
    for i in range(MANY):
        kept += [ListKind(range(i % 7)), DictKind({i: i}), StrKind("text %d" % i), StrKind("t\u00e9xt \u20ac %d" % i), IntKind(i << 40),
                 TupleKind(range(i % 5)), SetKind((i, -i)), FrozenKind((i,)), FloatKind(i), ComplexKind(i, i),
                 BytesKind(b"x" * (i % 90)), BytearrayKind(b"y" * (i % 90)), Problem("number", i), ListWithSlots((i,))]
        kept[-10].attribute = i  # an int with attributes
        if i % 3 == 0:
            kept[-11].attribute = "on a str"
            kept[-13].attribute = ["on a dict"]
    return kept


@exhibit
def odd_instances():
    kept = []
    for i in range(MANY):
        deleted = Plain(i)
        del deleted.name
        materialised = Plain(i)
        materialised.__dict__["by the dict"] = i
        many = Plain(i)
        for number in range(i % 40):
            setattr(many, "attribute_%d" % number, number)
        replaced = Plain(i)
        replaced.__dict__ = {"replaced": i, 5: "not a str"}
        kept += [deleted, materialised, many, replaced]
    return kept


@exhibit
def text():
    kept = [kind * length for kind in ("a", "\u00e9", "\u20ac", "\U0001f600") for length in (1, 2, 15, 100, 300, 600, 5000, 200000)]
    for i in range(MANY):
        kept += ["ascii %d" % i, "latin \u00e9 %d" % i, "two bytes \u20ac %d" % i, "four bytes \U0001f600 %d" % i]
        kept[-2].encode("utf-8")
    kept[-1].isidentifier()
    kept += [sys.intern("interned %d" % i) for i in range(MANY)]
    return kept


@exhibit
def binary():
    kept = [bytes(i % 1500) for i in range(MANY)] + [bytes((i % 256,)) for i in range(300)]
    for i in range(MANY):
        kept.append(bytearray(i % 1500))
    shrunk = bytearray(100000)
    del shrunk[10:]
    cut_in_front = bytearray(1000)
    del cut_in_front[:990]
    views = [memoryview(kept[i]) for i in range(100)] + [memoryview(bytearray(64)).cast("I")[2:6]]
    return kept, shrunk, cut_in_front, views, bytearray()


@exhibit
def numbers():
    kept = [i << (i % 700) for i in range(MANY)] + [-i for i in range(MANY)] + [10 ** 5000, -(7 ** 9000)]
    kept += [i / 7 for i in range(2 * MANY)] + [complex(i, -i) for i in range(MANY)]
    kept += [True, None, Ellipsis, NotImplemented, float("nan")]
    return kept


@exhibit
def lists_and_tuples():
    kept = [list(range(i % 60)) for i in range(MANY)] + [tuple(range(i % 60)) for i in range(MANY)]
    grown = []
    for i in range(MANY):
        row = []
        for j in range(i % 11):
            row.append(j)
        grown.append(row)
    itself = []
    itself.append(itself)
    return kept, grown, itself, list(range(50000)), tuple(range(30000)), [()] * 10, ([],)


@exhibit
def dicts():
    kept = [{j: j for j in range(i % 30)} for i in range(MANY)] + [{"key %d" % j: j for j in range(i % 20)} for i in range(MANY)]
    mixed = [{1: "int", "two": 2, (3, 4): [5], None: None, 6.5: b"7"} for _ in range(500)]
    emptied = {i: i for i in range(5000)}
    for i in range(4990):
        del emptied[i]
    split = [Plain(i).__dict__ for i in range(500)]
    split[3]["not shared"] = 1
    cleared = dict.fromkeys(range(1000))
    cleared.clear()
    return kept, mixed, emptied, split, cleared, {}, dict(), {i: str(i) for i in range(50000)}, {"only": {"nested": {}}}.copy()


@exhibit
def sets():
    return [[set(range(i % 40)) for i in range(MANY)], [frozenset(range(i % 9)) for i in range(MANY)], set(range(50000)),
            set(), frozenset(), {"mixed", 1, (2, 3), None}]


@exhibit
def views_and_iterators():
    mapping = {"a": 1, "b": 2}
    made = [mapping.keys(), mapping.values(), mapping.items(), iter(mapping), iter(mapping.values()), iter(mapping.items()),
            reversed(mapping), iter([1, 2]), reversed([1, 2]), iter((1, 2)), iter({1, 2}), iter("abc"), iter("\u20ac"), iter(b"abc"),
            iter(bytearray(b"abc")), iter(range(9)), iter(range(1 << 70)), enumerate("abc"), zip("ab", "cd"), map(str, "ab"),
            filter(None, "ab"), iter(int, 5), slice(1, 2, 3), range(10), range(1 << 70), memoryview(b"abc"), iter(memoryview(b"abc"))]
    next(made[17])
    exhausted = iter([1])
    list(exhausted)
    return made, exhausted, [range(i) for i in range(MANY)], [slice(i, None) for i in range(MANY)]


@exhibit
def functions():
    def outer(number, *rest, option=3, **others):
        shared = [number]

        def inner(x: int = number) -> list:
            def innermost():
                return shared, inner, x
            return innermost
        return inner

    kept = [outer(i) for i in range(MANY)] + [function() for function in [outer(i) for i in range(MANY)]]
    lambdas = [lambda x, i=i: x + i for i in range(MANY)]
    outer.attribute = "on a function"
    methods = [kept[0].__call__, [].append, "".join, Plain(1).__init__, len, str.join, dict.fromkeys, int.__add__, (1).__add__]
    return kept, lambdas, methods, [outer.__code__, outer.__closure__, kept[0].__closure__[0], types.CellType(), outer.__globals__]


@exhibit
def generators():
    def counting(limit):
        for i in range(limit):
            got = yield i
            del got

    def delegating(limit):
        yield from counting(limit)

    async def waiting(something):
        await something

    async def streaming():
        yield 1

    @types.coroutine
    def paused():
        yield "suspended"

    kept = [counting(i) for i in range(MANY)]
    for generator in kept[::2]:
        next(generator, None)
    delegated = [delegating(5) for _ in range(MANY)]
    for generator in delegated:
        next(generator)
    coroutines = [waiting(waiting(paused())) for _ in range(1000)]
    for coroutine in coroutines[::2]:
        coroutine.send(None)
    stream = streaming()
    step = stream.__anext__()
    finished = counting(1)
    list(finished)
    running_frame = delegated[0].gi_frame
    return kept, delegated, coroutines, stream, step, finished, running_frame, waiting(paused()).__await__(), (i for i in range(3))


@exhibit
def weak_references():
    targets = [Plain(i) for i in range(MANY)]
    plain = [weakref.ref(one) for one in targets]
    called_back = [weakref.ref(one, plain.append) for one in targets]
    proxies = [weakref.proxy(one) for one in targets[:500]] + [weakref.proxy(exhibit)]
    dead = weakref.ref(Plain(1))
    finalizer = weakref.finalize(targets[0], print, "bye")
    finalizer.atexit = False
    return (targets, plain, called_back, proxies, dead, weakref.WeakSet(targets), weakref.WeakKeyDictionary({targets[0]: 1}),
            weakref.WeakValueDictionary(enumerate(targets)), weakref.WeakMethod(targets[0].__init__), finalizer)


@exhibit
def exceptions():
    def fail(depth, local):
        if depth:
            fail(depth - 1, [local])
        raise Problem("at the bottom")

    kept = []
    for i in range(300):
        try:
            try:
                fail(i % 10, {"local": i})
            except Problem as first:
                raise KeyError(i) from first
        except KeyError as second:
            kept.append(second)
            if hasattr(second, "add_note"):
                second.add_note("note %d" % i)
    kept += [OSError(2, "none", "file"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"), SyntaxError("bad", ("f", 1, 2, "t")),
             StopIteration(5), SystemExit(3), ImportError("x", name="y"), NameError("n"), AttributeError("a"), MemoryError()]
    return kept, [one.__traceback__ for one in kept], [one.__traceback__.tb_frame for one in kept[:20]]


@exhibit
def exception_groups():
    return [ExceptionGroup("several", [Problem(1), ValueError(i)]) for i in range(50)]  # noqa: F821, since 3.11


@exhibit
def classes():
    class Meta(type):
        def __getattribute__(cls, name):
            return "nothing you read here is true"

        def __call__(cls, *arguments):
            return super().__call__(*arguments)

    class Watched(metaclass=Meta):
        pass

    class Sentinel(type):
        def __repr__(cls):
            return cls.__name__

    class OWN(Sentinel, metaclass=Sentinel):
        pass

    OWN.__class__ = OWN  # its own metaclass, as h11's sentinels are

    class Name(str):
        pass

    class Liar:
        @property
        def __class__(self):
            return int

    class Renamed:
        pass

    class SizedInPython:
        def __sizeof__(self):
            return 12345

    class Everything:
        def method(self):
            return super().__init__

        static = staticmethod(len)
        of_class = classmethod(lambda cls: cls)
        value = property(lambda self: 1, None, None, "a property")

        def __set_name__(self, owner, name):
            self.owner = owner

    Renamed.__qualname__ = "Outer.Renamed"
    Renamed.__name__ = "Inner"
    Renamed.__module__ = "another.module"
    impostors = [type("dict", (), {}), type("collections.deque", (), {}), type("list", (), {"__module__": "builtins"}),
                 type("K\u00e4fer", (), {}), type("\u866b", (), {}), type("\U0001f40d", (object,), {"__module__": "m\u00f6dul"}),
                 type("NoModule", (), {"__module__": 7}),
                 type("Adapted", (), {"__module__": Name("zope.interface")}), type("A name with blanks", (), {}), type("x" * 300, (), {})]
    made = [type("Made%d" % i, (Plain, Everything), {"number": i, "__slots__": ("s",) if i % 2 else ()}) for i in range(150)]
    kept = [cls() for cls in impostors] + [Watched(), Liar(), Renamed(), SizedInPython(), Everything()] + [cls(1) for cls in made]
    bound = kept[-1].method
    return kept, OWN, impostors, made, bound, super(Plain, kept[-1]), Everything.__dict__, list[int] if sys.version_info >= (3, 9) else 0


@exhibit
def unions():
    return [eval("int | str"), eval("list[int] | None")]


@exhibit
def type_parameters():
    names = {}
    exec("type Pair[T, *Ts, **P] = tuple[T, T]\ndef generic[T: int](x: T) -> T: return x\nclass Box[T]: pass", names)
    return names, names["Box"][int]


@exhibit
def template_strings():
    return eval("t'{1 + 1!r:>10} and {2}'")


@exhibit
def namespaces():
    module = types.ModuleType("made_here")
    module.self = module
    return module, types.SimpleNamespace(a=1, b=[2]), types.MappingProxyType({"a": 1}), compile("x = [i for i in y]", "made", "exec")


@exhibit
def garbage():
    """Cycles that wait for the collector, which is switched off; and freed memory that looks like objects."""
    gc.disable()
    for i in range(500):
        one, other = Plain(i), Plain(i)
        one.other, other.other = other, one
    scattered = [Plain(i) for i in range(20000)]
    random.Random(1).shuffle(scattered)
    del scattered[200:]
    return scattered
