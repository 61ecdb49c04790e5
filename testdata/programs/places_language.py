"""Places that the language has: functions that return (what place, its holder, the object planted there). `places.py` says why.

A place is one reference, and its holder: a function's default is held by the tuple of defaults; that the function holds this tuple is
another place.
"""

import enum
import gc
import sys
import types
import weakref

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


class Planted:
    """Distinct, and equal to nothing else."""
    __slots__ = ("__weakref__",)


def text():
    """A str that nobody else has."""
    text.made += 1
    return "planted %d" % text.made


text.made = 0


def number():
    number.made += 1
    return (1 << 70) + number.made


number.made = 0


def attributes(holder, *names):
    """A place for each: what its attribute returns is what it holds."""
    return [("%s.%s" % (type(holder).__name__, name), holder, getattr(holder, name)) for name in names]


def referent(holder, kind):
    """What Python shows through no name: the one referent of that type."""
    found, = [one for one in gc.get_referents(holder) if type(one).__name__ == kind]
    return found


def holder_among(target, *candidates):
    """The one that reports it: versions differ in who does."""
    for one in candidates:
        if any(part is target for part in gc.get_referents(one)):
            return one
    raise NotImplementedError("none of %s holds it" % [type(one).__name__ for one in candidates])


def held(holder, name):
    """Whether the instance or its dict has the attribute; and the attribute."""
    target = getattr(holder, name)
    return holder_among(target, holder, *(one for one in gc.get_referents(holder) if type(one) is dict)), target


IN_THE_MODULE = Planted()


@exhibit
def modules():
    made, value = types.ModuleType("planted_module"), Planted()
    made.attribute = value
    this = sys.modules[__name__]
    return [("global", this.__dict__, IN_THE_MODULE), ("module's dict", this, this.__dict__), ("made module's dict", made, made.__dict__),
            ("made module's attribute", made.__dict__, value), ("sys.modules", sys.modules, this)]


@exhibit
def sequences():
    deep, value = Planted(), [Planted() for _ in range(6)]
    nested = [({"deep": [deep]},)]
    long_list = [Planted() for _ in range(2000)]
    return [("list in tuple", nested, nested[0]), ("dict in tuple", nested[0], nested[0][0]),
            ("list in dict", nested[0][0], nested[0][0]["deep"]),
            ("deep", nested[0][0]["deep"], deep), ("list", value, value[3]), ("tuple", tuple(value), value[5]),
            ("long list", long_list, long_list[1777]),
            ("list in a list", [value], value)]


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 5


class TextKind(str):
    pass


@exhibit
def dict_values():
    keys = {"str": "key", "empty str": "", "quoted str": "it's \"quoted\" \\ here", "control characters": "a\nb\tc\0d\x7f\x1b",
            "latin": "k\u00e4fer",
            "two bytes": "\u20ac uro", "four bytes": "\U0001f40d", "lone surrogate": "\ud800 lone", "right to left": "a\u202eb",
            "dots": "...",
            "str that looks cut": "cut\u2026", "identifier": "an_identifier", "int": 7, "negative int": -7, "zero": 0, "large int": 1 << 90,
            "negative large int": -(1 << 90), "tuple": (1, "two", None), "empty tuple": (), "nested tuple": ((1, (2.5, b"3")),),
            "tuple of one": ("one",),
            "None": None, "True": True, "bytes": b"by\x00te\xffs'", "float": 2.5, "infinity": float("inf"), "negative zero": -0.0,
            "tiny float": 5e-324,
            "complex": 1 + 2j, "Ellipsis": Ellipsis, "frozenset": frozenset((1, 2)), "empty frozenset": frozenset(),
            "enum member": Colour.RED,
            "int enum member": Level.LOW, "type": int, "function": text, "object": Planted(), "str of a subclass": TextKind("kind"),
            "range": range(5)}
    places = []
    for what, key in keys.items():
        alone, among = {key: Planted()}, {"another": 1, (9, 9): 2, key: Planted(), "last": 3}
        places += [(what, alone, alone[key]), (what + " among others", among, among[key])]
    return places


@exhibit
def long_keys():
    keys = {"str of 100": "k" * 100, "str of 1000": "k" * 1000, "str of 100000": "k" * 100000, "bytes of 1000": b"k" * 1000,
            "tuple of 100": tuple(range(100)),
            "int of 1000 digits": 10 ** 1000}
    holders = {what: {key: Planted()} for what, key in keys.items()}
    return [(what, holder, holder[keys[what]]) for what, holder in holders.items()]


@exhibit
def dict_keys():
    places = []
    for what, key in {"str": text(), "int": number(), "tuple": (1, text()), "object": Planted(), "float": 3.25,
                      "bytes": b"planted %d" % 5}.items():
        holder = {"another": 1, key: 2}
        places.append((what, holder, key))
    return places


@exhibit
def dict_forms():
    class Kind(dict):
        pass

    emptied, kind = {i: Planted() for i in range(50)}, Kind(item=Planted())
    for i in range(45):
        del emptied[i]
    kind.attribute = Planted()
    both = {"same": Planted()}
    both["again"] = both["same"]
    return [("after deletions", emptied, emptied[47]), ("of a subclass", kind, kind["item"]),
            ("attribute of a subclass", kind.__dict__, kind.__dict__["attribute"]),
            ("twice", both, both["same"]), ("large", *large_dict())]


def large_dict():
    large = {"key %d" % i: Planted() for i in range(5000)}
    return large, large["key 4321"]


@exhibit
def sets():
    value, frozen = Planted(), text()
    return [("set", {1, value, "x"}, value), ("frozenset", frozenset((frozen, 5)), frozen), ("set of tuples", *set_of_tuples())]


def set_of_tuples():
    key = (1, text())
    return {key, (2, 3)}, key


class Plain:
    pass


class OnlyFirst:
    """Its instances are like no others: the keys that they share are theirs."""


class Slotted:
    __slots__ = ("left", "__private")

    def __init__(self):
        self.left, self.__private = Planted(), Planted()

    def private(self):
        return self.__private


class SlottedChild(Slotted):
    __slots__ = ("right",)


class SlottedWithDict(SlottedChild):
    pass


@exhibit
def instances():
    plain = Plain()
    plain.first, plain.second = Planted(), Planted()
    grown = OnlyFirst()
    for i in range(50):
        setattr(grown, "attribute_%d" % i, Planted())
    materialised, replaced, deleted = Plain(), Plain(), Plain()
    materialised.first = Planted()
    kept_dict = materialised.__dict__
    kept_dict["later"] = Planted()
    replaced.__dict__ = {"replaced": Planted()}
    deleted.first, deleted.second = Planted(), Planted()
    del deleted.first
    plain_dicts = [one for one in gc.get_referents(plain) if type(one) is dict]
    grown_dicts = [one for one in gc.get_referents(grown) if type(one) is dict]
    return ([("attribute", *held(plain, "second")), ("class", plain, Plain), ("materialised: its dict", materialised, kept_dict),
             ("materialised", holder_among(kept_dict["first"], materialised, kept_dict), kept_dict["first"]),
             ("materialised: later", holder_among(kept_dict["later"], materialised, kept_dict), kept_dict["later"]),
             ("replaced: its dict", replaced, replaced.__dict__), ("replaced", replaced.__dict__, replaced.replaced),
             ("after a deletion", *held(deleted, "second")), ("grown", *held(grown, "attribute_40"))] +
            [("its dict", plain, one) for one in plain_dicts] + [("grown: its dict", grown, one) for one in grown_dicts])


@exhibit
def odd_attribute_names():
    places = []
    for what, name in {"blank": "a b", "keyword": "class", "empty": "", "quote": "it's", "number": "5",
                       "letters beyond ASCII": "k\u00e4fer",
                       "line end": "a\nb", "dots": "a.b", "dunder": "__dunder__", "normalised by the compiler": "\ufb01"}.items():
        holder, value = Plain(), Planted()
        setattr(holder, name, value)
        places.append((what, holder_among(value, holder, *gc.get_referents(holder)), value))
    return places


@exhibit
def instances_with_slots():
    one, child, both = Slotted(), SlottedChild(), SlottedWithDict()
    child.right, both.right, both.attribute = Planted(), Planted(), Planted()
    return [("slot", one, one.left), ("private slot", one, one.private()), ("slot of the base", child, child.left),
            ("slot of a child", child, child.right),
            ("slot beside a dict", both, both.right), ("private slot of the base", both, both.private()),
            ("dict beside slots", *held(both, "attribute"))]


@exhibit
def subclasses_of_builtins():
    class ListWithSlot(list):
        __slots__ = ("slot",)

    places = []
    for kind, value in ((list, [Planted()]), (tuple, (Planted(),)), (int, 5), (str, "text"), (float, 2.5), (bytes, b"b"), (set, {1}),
                        (bytearray, b"x"), (complex, 1j)):
        one = type("Kind", (kind,), {})(value)
        one.attribute = Planted()
        places.append(("attribute of a " + kind.__name__, *held(one, "attribute")))
        places += [("dict of a " + kind.__name__, one, part) for part in gc.get_referents(one) if type(part) is dict]
        if kind in (list, tuple):
            places.append(("item of a " + kind.__name__, one, one[0]))
    slotted = ListWithSlot([Planted()])
    slotted.slot = Planted()
    return places + [("slot of a list", slotted, slotted.slot), ("item beside a slot", slotted, slotted[0])]


class Meta(type):
    pass


class Base:
    in_base = Planted()


class Derived(Base, metaclass=Meta):
    in_class = Planted()
    __slots__ = ("slot",)

    def method(self):
        pass


@exhibit
def classes():
    space = referent(Derived, "dict")
    return [("its dict", Derived, space), ("attribute", space, Derived.in_class), ("method", space, Derived.__dict__["method"]),
            ("slot", space, Derived.__dict__["slot"]),
            ("bases", Derived, Derived.__bases__), ("base", Derived.__bases__, Base), ("mro", Derived, Derived.__mro__),
            ("base in the mro", Derived.__mro__, Base),
            ("metaclass", Derived, Meta), ("direct base", Derived, Base),
            ("__slots__", referent(Slotted, "dict"), Slotted.__dict__["__slots__"]),
            ("name", Derived, Derived.__name__), ("qualified name", Derived, Derived.__qualname__), ("module", space, Derived.__module__)]


@exhibit
def functions():
    shared, default, keyword, annotation, attribute = Planted(), Planted(), Planted(), Planted(), Planted()

    def function(argument: annotation = default, *, named=keyword):
        return shared, function

    function.attribute = attribute
    function.__doc__ = text()
    function.__annotations__
    cell = [one for one in function.__closure__ if one.cell_contents is shared][0]
    places = attributes(function, "__defaults__", "__kwdefaults__", "__annotations__", "__closure__", "__code__", "__globals__",
                        "__dict__", "__doc__", "__name__",
                        "__qualname__", "__module__") + (attributes(function, "__builtins__") if sys.version_info >= (3, 10) else [])
    return places + [("default", function.__defaults__, default), ("keyword default", function.__kwdefaults__, keyword),
                     ("annotation", function.__annotations__, annotation), ("attribute", function.__dict__, attribute),
                     ("closure", function.__closure__, cell),
                     ("cell", cell, shared),
                     ("itself in a cell", function.__closure__[0] if cell is not function.__closure__[0] else function.__closure__[1],
                      function)]


@exhibit
def code():
    names = {}
    source = "def outer(argument):\n  def planted(one, two=(1, 'x')):\n    print(one.name, argument, 'const', frozenset)\n  return planted"
    exec(compile(source, "planted %d.py" % 1, "exec"), names)
    made = names["outer"](5).__code__
    places = attributes(made, "co_consts", "co_names", "co_filename", "co_name") + [("constant", made.co_consts, made.co_consts[-1]),
                                                                                    ("name", made.co_names, made.co_names[1])]
    if sys.version_info >= (3, 11):
        return places + attributes(made, "co_qualname", "co_exceptiontable", "co_linetable")
    more = ("co_linetable",) if sys.version_info >= (3, 10) else ()
    return places + attributes(made, "co_varnames", "co_freevars", "co_cellvars", "co_code", *more)


@exhibit
def methods():
    class Target:
        def method(self):
            pass

        @classmethod
        def of_class(cls):
            pass

    one, rows, words = Target(), [Planted()], text()
    bound, of_class, append, wrapper = one.method, one.of_class, rows.append, words.__add__
    return (attributes(bound, "__self__", "__func__") + attributes(of_class, "__self__", "__func__") + attributes(append, "__self__") +
            attributes(wrapper, "__self__") + attributes(types.MethodType(len, Planted()), "__self__", "__func__") +
            attributes(sys.getrefcount, "__self__"))


@exhibit
def descriptors():
    class Everything:
        __slots__ = ("slot",)

        def method(self):
            pass

        of_class = classmethod(method)
        static = staticmethod(method)
        value = property(method, lambda self, value: None, lambda self: None, text())

    space = Everything.__dict__
    return (attributes(space["value"], "fget", "fset", "fdel", "__doc__") + attributes(space["of_class"],
                                                                                       "__func__") + attributes(space["static"],
                                                                                                                "__func__") +
            attributes(space["slot"], "__objclass__", "__name__") + attributes(str.__dict__["join"], "__objclass__", "__name__") +
            attributes(object.__dict__["__init__"], "__objclass__") + attributes(dict.__dict__["fromkeys"],
                                                                                 "__objclass__") + attributes(int.__dict__["real"],
                                                                                                              "__objclass__"))


@exhibit
def weak_references():
    class Kind(weakref.ref):
        __slots__ = ("slot",)

    def callback(ref):
        pass

    target = Planted()
    weak, called, kind, proxy = weakref.ref(target), weakref.ref(target, callback), Kind(target), weakref.proxy(target, callback)
    kind.slot = Planted()
    return [("target", weak, target), ("target, with a callback", called, target), ("callback", called, callback),
            ("of a subclass", kind, target),
            ("slot of a subclass", kind, kind.slot), ("proxy", proxy, target)]


@exhibit
def small_holders():
    rows, cell = [Planted()], types.CellType(Planted())
    parts = slice(Planted(), Planted(), Planted())
    span = range(number(), number() + 1000, 1 << 66)
    space = types.SimpleNamespace(attribute=Planted())
    data = bytearray(b"exported")
    view = memoryview(data)
    inside = {"inside": Planted()}
    return (attributes(cell, "cell_contents") + attributes(parts, "start", "stop", "step") + attributes(span, "start", "stop", "step") +
            [("SimpleNamespace", space.__dict__, space.attribute), ("SimpleNamespace's dict", space, space.__dict__),
             ("memoryview's buffer", view, referent(view, "managedbuffer")),
             ("memoryview's object", referent(view, "managedbuffer"), data), ("mappingproxy", types.MappingProxyType(inside), inside)] +
            super_places(rows) + iterators_of_dict())


def super_places(rows):
    class Kind(list):
        pass

    one = Kind(rows)
    return attributes(super(Kind, one), "__self__", "__thisclass__", "__self_class__")


def iterators_of_dict():
    mapping = {text(): Planted()}
    return [("dict_keys", mapping.keys(), mapping), ("dict_items", mapping.items(), mapping)]


@exhibit
def aliases():
    class Made:
        pass

    alias = list[Made]
    alias.__parameters__
    places = attributes(alias, "__origin__", "__args__", "__parameters__") + [("argument", alias.__args__, Made)]
    if sys.version_info >= (3, 10):
        union = Made | int
        places += attributes(union, "__args__") + [("member of a union", union.__args__, Made)]
    return places


@exhibit
def type_parameters():
    names = {"Bound": Plain}
    exec("type Alias[T: Bound] = list[T]\ndef generic[S: (int, str)](x: S): pass\nclass Box[U]: pass", names)
    alias, generic = names["Alias"], names["generic"]
    bound, several = alias.__type_params__[0], generic.__type_params__[0]
    alias.__value__, bound.__bound__, several.__constraints__
    return (attributes(alias, "__type_params__", "__value__", "__name__") + attributes(bound, "__bound__",
                                                                                       "__name__") + attributes(several,
                                                                                                                "__constraints__") +
            attributes(generic, "__type_params__"))


@exhibit
def iterators():
    rows = [Planted(), Planted()]
    function = lambda *arguments: Planted()  # noqa: E731
    made = [iter(rows), iter(tuple(rows)), iter({1: 2}), iter({5}), enumerate(rows), zip(rows), map(function, rows),
            filter(function, rows), reversed(rows), iter(function, 5)]
    return [(type(one).__name__ + " to " + type(part).__name__, one,
             part) for one in made for part in gc.get_referents(one) if not isinstance(part, (type, int))]
