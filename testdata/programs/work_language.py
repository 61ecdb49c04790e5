"""The workshop's first room: what the language has, half done. `work.py` says why."""

import sys
import types
import weakref

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


class Thing:
    def __init__(self, *parts):
        self.parts = parts

    def method(self):
        return self.parts


def half(iterable, steps=1):
    """An iterator over it, `steps` on."""
    iterator = iter(iterable)
    for _ in range(steps):
        next(iterator)
    return iterator


@exhibit
def iterators_half_consumed():
    big = 1 << 90
    class Sequence:
        def __getitem__(self, index):
            return [index]

    mapping = {Thing(i): [i] for i in range(5)}
    values = iter([[1], [2], [3], None, [4]])
    return [half([[1], [2]]), half(([1], [2])), half(mapping), half(mapping.items()), half(mapping.values()), half(reversed(mapping)),
            half(reversed(mapping.items())), half(reversed(mapping.values())), half({Thing(1), Thing(2)}), half("text"),
            half("t\u00e9xt \u20ac"),
            half(b"bytes"), half(bytearray(b"bytearray")), half(range(500, 600)), half(range(big, big + 50, 7)), half(reversed([[1], [2]])),
            half(reversed(range(5))), half(enumerate([[1], [2]], big)), half(zip([[1], [2]], ([3], [4]), {5: 6, 7: 8})),
            half(map(lambda *both: both, [[1], [2]], [[3], [4]])), half(filter(lambda one: one, [[1], [2]])),
            half(iter(values.__next__, None)),
            half(Sequence()), half(reversed(([1], [2]))), half(memoryview(b"view")), values]


@exhibit
def iterators_at_their_end():
    """The container is dropped there, and what yields tuples again and again keeps the last."""
    made = [iter([[1]]), iter(([1],)), iter({"a": [1]}), iter({"a": [1]}.items()), iter({5}), iter("a"), enumerate([[1]]),
            zip([[1]], [[2]]),
            map(len, [[1]]), filter(None, [[1]]), iter(range(1)), reversed([[1]])]
    for one in made:
        for last in one:
            del last
    return made


@exhibit
def views():
    mapping = {"one": [1], Thing("two"): [2]}
    class Kind(dict):
        pass
    return ([kind(mapping) for kind in (dict.keys, dict.values, dict.items)], Kind(mapping).items(), slice([1], [2], [3]), slice(None),
            range(1 << 80, 1 << 81, 3))


@exhibit
def generators_in_every_state():
    def counting(argument, *rest, option=None):
        local, cell = [argument], {"of": rest}
        try:
            got = yield local
            yield got, cell, lambda: (cell, option)
        finally:
            del local

    def delegating(to):
        yield from to

    def with_things_on_the_stack():
        yield [[1], {"two": 2}, (yield [3]), (yield [4])]

    def many(size):
        a, b, c, d, e, f, g, h = ([i] for i in range(8))
        for size in range(size):
            for other in [[size], [size]]:
                with memoryview(bytearray(5)) as view:
                    yield a, b, c, d, e, f, g, h, view, other

    fresh = [counting([i], [2], option=[3]) for i in range(5)]
    suspended = [half(counting([i], [2], option=[3])) for i in range(5)]
    sent = half(counting([1]))
    sent.send(["sent"])
    closed, finished, failed = half(counting([1])), counting([1]), half(counting([1]))
    closed.close()
    list(finished)
    try:
        failed.throw(KeyError(["thrown"]))
    except KeyError as error:
        failure = error
    stacked = half(with_things_on_the_stack(), 2)
    delegated = [half(delegating(one)) for one in ([[1], [2]], {5: 6}, delegating(counting([7])), half(delegating("text")))]
    renamed = half(counting(["renamed"]))
    renamed.__name__, renamed.__qualname__ = "re" + "named %d" % 1, "quali" + "fied %d" % 2
    frames = [one.gi_frame for one in fresh + suspended + [sent, closed, stacked]]
    locals_read = half(many(3), 2)
    return (fresh, suspended, sent, closed, finished, failed, failure, stacked, delegated, renamed, frames, locals_read,
            locals_read.gi_frame.f_locals,
            suspended[3].gi_frame.f_locals, (i for i in half([[1], [2]])), half(([j, i] for i in [[1], [2]] for j in [[3], [4]])))


@exhibit
def coroutines_in_every_state():
    @types.coroutine
    def pause(value):
        return (yield value)

    async def waits(something):
        local = ["of a coroutine"]
        return await something, local

    class Awaitable:
        def __await__(self):
            yield [1]
            return [2]

    class Manager:
        async def __aenter__(self):
            return await pause([5])

        async def __aexit__(self, *what):
            await pause(["leaving", what])

    async def streams(rows):
        for row in rows:
            got = yield row
            await pause([row, got])

    async def consumes(stream):
        async with Manager() as entered:
            return [row async for row in stream if entered or row]

    def run(coroutine, steps=1):
        for step in range(steps):
            coroutine.send(None if step == 0 else ["sent", step])
        return coroutine

    fresh, suspended, deep = waits([1]), run(waits(pause([1]))), run(waits(waits(waits(pause([2])))))
    entering, reading = run(consumes(streams([[1], [2], [3]]))), run(consumes(streams([[1], [2], [3]])), 2)
    awaited = run(waits(Awaitable()))
    by_hand = waits(pause([3])).__await__()
    next(by_hand)
    stream_fresh, stream_open, stream_inside = streams([[1]]), streams([[1], [2]]), streams([[1], [2]])
    try:
        stream_open.__anext__().send(None)
    except StopIteration:
        pass
    step, step_asend, step_athrow, step_aclose = (stream_inside.__anext__(), stream_open.asend(["to send"]),
                                                  stream_open.athrow(KeyError, KeyError("k"), None),
                                                  streams([1]).aclose())
    finished = waits(streams)
    try:
        finished.send(None)
    except TypeError as error:  # a function cannot be awaited
        failure = error
    frames = [one.cr_frame for one in (fresh, suspended, deep, entering, finished)] + [stream_open.ag_frame]
    return (fresh, suspended, deep, entering, reading, awaited, by_hand, stream_fresh, stream_open, stream_inside, step, step_asend,
            step_athrow,
            step_aclose, finished, failure, frames, [one.cr_await for one in (suspended, deep)])


@exhibit
def frames_kept():
    """Of calls that are over, and of one that its locals were asked of."""
    def inner(argument):
        local = {"argument": [argument]}
        def closure():
            return local
        return sys._getframe(), closure

    def outer():
        rows = [["outer"]]
        frame, closure = inner(rows)
        return frame, frame.f_back, closure

    frame, back, closure = outer()
    asked = inner(5)[0]
    traced = inner(6)[0]
    traced.f_trace = lambda *event: None
    class Body:
        frame = sys._getframe()
        rows = [1]
    module = types.ModuleType("executed")
    exec("import sys\nframe = sys._getframe()\nrows = [[1]]\n", module.__dict__)
    return frame, back, closure, asked, asked.f_locals, traced, Body, module, asked.f_globals


@exhibit
def exceptions_of_every_kind():
    def fails(error, depth=3):
        local = [error]
        if depth:
            return fails(error, depth - 1)
        raise error

    def caught(error):
        try:
            fails(error)
        except BaseException as reason:
            return reason

    def caught_by(code, **names):
        try:
            exec(code, names)
        except BaseException as reason:
            return reason

    class WithFields(ValueError):
        __slots__ = ("field",)

    fielded = WithFields([1])
    fielded.field, fielded.attribute = ["in a slot"], ["in the dict"]
    chained = caught(ValueError("the last", [1]))
    chained.__cause__, chained.__context__ = caught(KeyError("the cause")), caught(IndexError("the context"))
    moved = caught(OSError(17, ["strerror"], ["filename"], 0, ["filename2"])).with_traceback(chained.__traceback__)
    made = [chained, moved, fielded, caught(fielded), OSError([1], [2]), OSError(["one"]), BlockingIOError(11, "again", 5),
            StopIteration(["value"]),
            StopAsyncIteration(["value"]), SystemExit(["code"]), SystemExit([1], [2]),
            ImportError(["message"], name=["name"], path=["path"]),
            ModuleNotFoundError("m", name="n"), SyntaxError(["message"], (["file"], 1, 2, ["text"])), IndentationError("bad"),
            UnicodeEncodeError("utf-8", "text %d" % 5, 0, 1, "reason %d" % 6), UnicodeDecodeError("utf-8", b"bytes %d" % 5, 0, 1, "reason"),
            UnicodeTranslateError("text %d" % 7, 0, 1, "reason"), KeyboardInterrupt([1]), GeneratorExit(), Warning([1]), UserWarning(),
            MemoryError([1]),
            caught_by("missing_name"), caught_by("thing.missing", thing=Thing(1)), caught_by("import a_module_that_is_not"),
            caught_by("1 +"),
            caught_by("from sys import a_name_that_is_not"), caught_by("{}[key]", key=Thing(2)), caught_by("1 / 0"),
            caught_by("next(iter(()))"),
            caught_by("def recurse(): recurse()\nrecurse()")]
    return made, made[0].__traceback__.tb_next, made[0].__traceback__.tb_next.tb_frame, types.TracebackType(None, sys._getframe(), 0, 1)


@exhibit
def exception_groups_that_were_split():
    group = ExceptionGroup("outer", [ValueError([1]), ExceptionGroup("inner", [KeyError([2]), OSError(3, "x")])])  # noqa: F821, since 3.11
    try:
        raise group
    except ExceptionGroup as caught:  # noqa: F821
        caught.add_note("a note %d" % 1)
        return caught, caught.split(KeyError), caught.subgroup(OSError), caught.derive([ValueError([4])])


@exhibit
def classes_of_every_form():
    class Meta(type):
        kind = ["of the metaclass"]

        @classmethod
        def __prepare__(mcs, name, bases, **named):
            return {"prepared": [name]}

        def __new__(mcs, name, bases, space, **named):
            made = super().__new__(mcs, name, bases, space)
            made.named = named
            return made

        def __init__(cls, *arguments, **named):
            super().__init__(*arguments)

    class Slots(metaclass=Meta, option=["named"]):
        __slots__ = {"one": "documented", "two": None}

        def __init_subclass__(cls, **named):
            cls.seen = [named]

    class Child(Slots, Thing):
        __slots__ = ("three", "__dict__", "__weakref__")
        attribute: "list[int]" = [1]

        @property
        def value(self):
            return super().parts

        @value.setter
        def value(self, value):
            self.three = [value, __class__]

        @classmethod
        def of_class(cls):
            return cls

        @staticmethod
        def static(argument=[5]):
            return argument

        def __getattr__(self, name):
            raise AttributeError(name)

    child = Child([1], [2])
    child.one, child.value, child.other = ["one"], ["three"], ["in the dict"]
    space = Child.__dict__
    space["static"].attribute = ["on a static method"] if sys.version_info >= (3, 10) else None
    bare = Slots()
    bare.one = bare
    return (child, bare, Meta, space, space["value"], space["of_class"], space["static"], child.of_class, Child.static,
            super(Child, child), super(Child, Child),
            super(Child), space["three"], Slots.__dict__["one"], type.__dict__["__mro__"], int.__dict__["real"], str.__dict__["join"],
            dict.__dict__["fromkeys"],
            object.__dict__["__init__"], object.__dict__["__class__"], Child.__subclasses__(), [].__len__, dict.fromkeys, int.from_bytes,
            Child.method,
            child.method, types.MethodType(len, [1]), types.MethodType(child.method, [2]), type("Anonymous", (Child,), {}))


class Odd:
    """Its instances' dicts: shared, materialised, replaced, deleted, grown beyond what is inline."""


@exhibit
def instances_of_every_form():
    made = []
    for i in range(8):
        one = Odd()
        one.first, one.second = [i], {"i": i}
        made.append(one)
    made[1].__dict__["by the dict"] = [1]
    made[2].__dict__ = {"replaced": [2], 3: [4]}
    del made[3].first
    del made[4].__dict__
    dict_kept = made[5].__dict__
    for i in range(60):
        setattr(made[6], "attribute_%d" % i, [i])
    vars(made[7]).clear()
    kinds = []
    for kind in (list, dict, tuple, set, frozenset, str, bytes, bytearray, int, float, complex, BaseException, type):
        cls = type(kind)("Kind", (kind,), {})
        one = cls() if kind is not type else cls("Made", (Thing,), {})
        one.attribute = ["of a subclass"]
        kinds.append(one)
    slotted = type("Slotted", (list,), {"__slots__": ("slot",)})([[1], [2]])
    slotted.slot = ["a slot"]
    return made, dict_kept, kinds, slotted


@exhibit
def functions_of_every_form():
    def outer(first=[1], *rest, keyword=["k"], **named):
        """A docstring."""
        shared, empty = [first], None
        def inner(argument: "a text" = shared) -> [1]:
            nonlocal empty
            return shared, inner, unset
        def deleted():
            return empty
        del empty
        if rest:
            unset = 1
        inner.attribute, inner.__doc__ = ["attribute"], "doc %d" % 1
        inner.__kwdefaults__ = {"more": [2]}
        return inner, deleted

    inner, deleted = outer()
    copy = types.FunctionType(inner.__code__, {"globals": [1]}, "na" + "me", ([5],), inner.__closure__)
    compiled = compile("def f(a, b=(1, (2, 3))):\n  return a in {1, 2, 'x'} and [x for x in b if x == frozenset([1])]\n"
                       "class C:\n  x = lambda: 5", "file", "exec")
    return (inner, deleted, inner.__annotations__, copy, compiled, compiled.co_consts, inner.__closure__, deleted.__closure__,
            types.CellType([1]), types.CellType())


@exhibit
def weak_references_of_every_kind():
    class Kind(weakref.ref):
        __slots__ = ("key", "__dict__")

    class Callable(Thing):
        def __call__(self):
            pass

    things = [Callable(i) for i in range(6)]
    refs = [weakref.ref(things[0]), weakref.ref(things[0], [].append), weakref.ref(things[0], lambda ref, held=[1]: held), Kind(things[0]),
            Kind(things[0], print),
            weakref.proxy(things[0]), weakref.proxy(things[1], [].append), weakref.ref(Thing), weakref.ref(len), weakref.ref(weakref)]
    refs[3].key, refs[3].attribute = ["key"], ["attribute"]
    hash(refs[0])
    gone = [weakref.ref(Thing(1), print), weakref.proxy(Thing(2)), weakref.WeakMethod(Thing(3).method)]
    finalizers = [weakref.finalize(one, print, [1], named=[2]) for one in things[:3]]
    for one in finalizers:
        one.atexit = False
    keys, values, members = weakref.WeakKeyDictionary(), weakref.WeakValueDictionary(), weakref.WeakSet(things)
    for one in things:
        keys[one], values["key %d" % id(one)] = [one.parts], one
    going_over = iter(values.items())
    next(going_over)
    function = lambda: None  # noqa: E731
    generator, code = (i for i in []), function.__code__
    more = [weakref.ref(one) for one in (function, generator, code, {1}, frozenset((7, 8)), things[0].method, type(None),
                                         types.SimpleNamespace)]
    return (things, refs, gone, finalizers, keys, values, members, going_over, weakref.WeakMethod(things[0].method), function, generator,
            more)


@exhibit
def buffers():
    import array
    data = bytearray(b"0123456789abcdef" * 4)
    numbers = array.array("i", range(16))
    released = memoryview(data)
    released.release()
    views = [memoryview(data), memoryview(data)[4:20:2], memoryview(data).cast("I"), memoryview(data).cast("B", (8, 8)),
             memoryview(numbers),
             memoryview(memoryview(b"bytes")), memoryview(data).toreadonly(), released]
    return data, numbers, views, half(views[0]), views[0].obj


@exhibit
def aliases_and_unions():
    made = [list[int], dict[str, list[Thing]], tuple[()], tuple[int, ...], type[Thing], type(list[int])(Thing, ([1], [2]))]
    parameter = __import__("typing").TypeVar("parameter")
    made += [list[parameter], list[parameter][int], dict[parameter, list[parameter]]]
    made[0].__parameters__, made[6].__parameters__, made[8].__parameters__
    if sys.version_info >= (3, 10):
        made += [int | str | None, list[int] | Thing, parameter | None, (list[parameter] | None)[int]]
    if sys.version_info >= (3, 11):
        made += [eval("list[*tuple[int, str]]"), half(list[int])]
    return made


@exhibit
def type_parameters_in_use():
    names = {"Thing": Thing}
    exec("type Alias[T: Thing, *Ts, **P] = dict[T, tuple[*Ts]]\n"
         "type Lazy = not_there_yet\n"
         "def generic[T: (int, str)](x: T, *, y: list[T] = [5]) -> T:\n  return lambda: (x, T)\n"
         "class Box[T, *Ts]:\n  field: T\n  def method[S](self, x: S) -> T: pass\n"
         "class IntBox(Box[int, str]): pass\n", names)
    alias, generic = names["Alias"], names["generic"]
    alias.__value__, generic.__type_params__[0].__constraints__
    boxed = names["IntBox"]()
    return names, alias.__type_params__, generic(1), boxed, alias[Thing, int, [int]], names["Box"][int, str]


@exhibit
def type_parameters_with_defaults():
    names = {}
    exec("type Alias[T = list[int], *Ts = *tuple[int, str], **P = [int]] = dict[T, T]", names)  # since 3.13
    return names, [one.__default__ for one in names["Alias"].__type_params__]


@exhibit
def typing_in_use():
    import typing
    bound, several = typing.TypeVar("bound", bound=Thing), typing.TypeVar("several", int, str, covariant=True)
    parameters = typing.ParamSpec("parameters") if sys.version_info >= (3, 10) else None
    forward = typing.ForwardRef("Thing")

    @typing.runtime_checkable
    class Speaks(typing.Protocol):
        def method(self): ...

    class Row(typing.NamedTuple):
        number: int
        text: typing.Optional[str] = "default"

    class Movie(typing.TypedDict, total=False):
        name: str

    isinstance(Thing(), Speaks)
    made = [typing.List[bound], typing.Dict[several, int], typing.Callable[[int, bound], str], typing.Union[int, str, None],
            typing.Literal["a", 5],
            typing.Annotated[int, [1]], typing.ClassVar[int], typing.NewType("Identifier", int), typing.get_type_hints(Row)]
    return bound, several, parameters, parameters and (parameters.args, parameters.kwargs), forward, Speaks, Row(5), Movie(name="m"), made


@exhibit
def enumerations():
    import enum

    class Shade(enum.Enum):
        DARK = Thing(1)
        LIGHT = ("a", ["tuple"])

        def method(self):
            return self

    class Bits(enum.Flag):
        ONE = enum.auto()
        TWO = enum.auto()

    return Shade, list(Shade), Shade.DARK.method, Bits.ONE | Bits.TWO, Bits(0), half(Shade), Shade.__members__


@exhibit
def records():
    import collections
    import dataclasses

    @dataclasses.dataclass
    class Record:
        number: int
        rows: list = dataclasses.field(default_factory=list, metadata={"meta": [1]})

    made = [Record(1, [[2]])]
    if sys.version_info >= (3, 11):
        compact = dataclasses.make_dataclass("Compact", [("left", int, [1][0]), ("right", list, dataclasses.field(default_factory=list))],
                                             slots=True, weakref_slot=True)
        made += [compact(3), weakref.ref(made[0])]
    Point = collections.namedtuple("Point", "x y", defaults=([5],))
    return made, dataclasses.fields(Record), Point([1]), Point.x, Record.__dataclass_params__


@exhibit
def proxies():
    import collections
    return [types.MappingProxyType({"a": [1]}), types.MappingProxyType(collections.UserDict(b=[2])),
            types.MappingProxyType(types.MappingProxyType({})),
            Thing.__dict__, types.SimpleNamespace(c=[3], **{"not an identifier": [4]}), types.DynamicClassAttribute(len),
            Thing.__weakref__, half(Thing.__dict__)]
