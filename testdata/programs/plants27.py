"""What plants.py is for Python 3: a process of 2.7 that plants ten objects in every kind of place, and writes down what keeps them.

The places are those that only 2.7 has, or has in another form: old-style classes and their instances, bound methods with a class, dicts
with open tables and keys of str, unicode and long, frames, other threads' frames, and gc.garbage. It writes plants.json; plants.py says
what is in it.
"""

import gc
import json
import os
import signal
import sys
import threading
import time

gc.disable()  # one plant is garbage

MADE, EXPECTED = {}, {}
WHICH = 3


def ten(name, kinds, groups, expressions, beginnings=()):
    """A list of ten, str and bytearrays in turn, whose sizes differ from those of every other plant."""
    first = 10000 + 64 * len(MADE)
    objects = [bytearray(first + 1000 * k) if k % 2 else "\0" * (first + 1000 * k) for k in range(10)]
    MADE[name] = {"name": name, "holder": "%#x" % id(objects), "objects": ["%#x" % id(one) for one in objects], "counted_twice": 0,
                  "retained_size": sys.getsizeof(objects) + sum(map(sys.getsizeof, objects)), "kinds": kinds, "groups": groups,
                  "expressions": ["%s[%d]" % (one, WHICH) for one in expressions], "beginnings": list(beginnings)}
    return objects


def in_main(name, *expressions):
    return ten(name, ["module"], ["__main__"], list(expressions) + ["__main__." + one for one in expressions])


class Old:
    entries = in_main("attribute of an old-style class", "Old.entries")

    def __init__(self, held):
        self.held = held

    def method(self):
        return self.held


class Derived(Old):
    pass


class New(object):
    entries = in_main("attribute of a class", "New.entries")

    def __init__(self, held):
        self.held = held

    def method(self):
        return self.held


class Slots(object):
    __slots__ = ("held",)


class WithDel:
    def __del__(self):
        pass


def closure_of(held):
    def inner():
        return held
    return inner


def with_default(held=in_main("default of an argument", "with_default.__defaults__[0]")):
    return held


def generating(held):
    yield 1
    yield held


def waiting(started):
    in_thread = ten("local of another thread", ["frame"], ["thread waiter"], ["waiting().in_thread", "thread('waiter').waiting().in_thread"])
    started.set()
    while True:
        time.sleep(60)
    return in_thread


def leave_garbage():
    first, second = WithDel(), WithDel()
    first.other, second.other = second, first
    first.held = ten("uncollectable garbage", ["interpreter", "native", "module"], ["native", "gc", "Python and its library", "shared by several groups"],
                     ["gc.garbage[0].held", "gc.garbage[1].held", "gc.garbage[0].other.held", "gc.garbage[1].other.held"])
    first = second = None
    gc.collect()
    loop = [ten("garbage", [], ["unreachable"], [])]
    loop.append(loop)


KEPT = in_main("global", "KEPT")
OLD = Old(in_main("old-style instance", "OLD.held"))
DERIVED = [Derived(in_main("instance of a derived old-style class", "DERIVED[0].held"))]
NEW = New(in_main("instance", "NEW.held"))
SLOTS = Slots()
SLOTS.held = in_main("slot", "SLOTS.held")
BOUND = Old(in_main("bound method of an old-style instance", "BOUND.__self__.held", "BOUND.im_self.held")).method
CLOSURE = closure_of(in_main("closure", "CLOSURE.__closure__[0].cell_contents", "CLOSURE.func_closure[0].cell_contents"))
GENERATOR = generating(in_main("frame of a generator", "GENERATOR.gi_frame.f_locals['held']"))
next(GENERATOR)
KEYED = {u"k\u20ac": {"it's": in_main("str and unicode keys", u"KEYED[u'k\u20ac'][\"it's\"]")}}
LONGS = {10 ** 20: in_main("long key", "LONGS[100000000000000000000L]"), 3: {(1, "b"): in_main("key that is a tuple", "LONGS[3][(1, 'b')]")}}
EMPTIED = dict.fromkeys(range(50))
for each in range(50):
    del EMPTIED[each]
EMPTIED["left"] = in_main("dict with deleted entries", "EMPTIED['left']")


def stand_still(argument):
    a_local = ten("local of a frame", ["frame"], ["thread MainThread"], ["stand_still().a_local", "thread('MainThread').stand_still().a_local"])
    with open("plants.json.part", "w") as out:
        json.dump(MADE.values(), out, indent=1)
    os.rename("plants.json.part", "plants.json")
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()
    return a_local


leave_garbage()
STARTED = threading.Event()
WAITER = threading.Thread(target=waiting, name="waiter", args=(STARTED,))
WAITER.daemon = True
WAITER.start()
STARTED.wait()
time.sleep(0.1)
stand_still([1])
