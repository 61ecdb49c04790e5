"""A process whose objects have expressions, and which says where each of them leads.

It writes places.jsonl (as places.py does) and then expressions.jsonl, with lines {"expression", "address"}, in the current directory,
and waits for its core to be taken.
"""

import collections
import json
import os
import sys
import threading
import time
import types

import older  # noqa: F401
import places
from places_language import Planted

EXPRESSIONS = []
LOCAL = threading.local()
READY = threading.Barrier(2)


def leads(expression, target):
    EXPRESSIONS.append({"expression": expression, "address": "%#x" % id(target)})


class Base:
    inherited = Planted()


class Node(Base):
    kind = Planted()

    def __init__(self, name):
        self.name = name
        self.rows = [Planted() for _ in range(40)]

    def run(self, argument):
        local, shared = Planted(), Planted()
        closure = lambda: shared  # noqa: E731
        leads("run().local", local)
        leads("Node.run().local", local)
        leads("run().self.rows[3]", self.rows[3])
        leads("run().argument", argument)
        leads("run().shared", shared)
        leads("run().closure", closure)
        leads("thread('worker').run().local", local)
        leads("thread(worker).run().argument", argument)
        leads("thread(%d).run().local" % threading.get_ident(), local)
        leads("thread(%d).run().local" % threading.get_native_id(), local)
        LOCAL.value = Planted()
        leads("threadlocal(%#x).value" % id(LOCAL.__dict__), LOCAL.value)
        leads("threadlocal(%#x).value" % id(LOCAL), LOCAL.value)
        READY.wait()
        time.sleep(1000)


class Slotted:
    __slots__ = ("left",)


CACHE = {"k": [Planted(), (Planted(),)], 3: Planted(), "3": Planted(), (1, "a"): Planted(), b"x": Planted(), 1.5: Planted(), None: Planted(), True: Planted(),
         "k" * 100: Planted(), "/api/x": Planted(), "it's": Planted(), 10 ** 400: Planted(), -(1 << 70): Planted(), "k\u00e4fer": Planted(),
         "word two": Planted(), "a]b": Planted(), "\u20ac" * 50: Planted(), b"b" * 100: Planted(), tuple(range(100)): Planted(), "5": Planted()}
LARGE = {"key %d" % i: [i] for i in range(20000)}
NODE = Node("node")
SLOTTED = Slotted()
SLOTTED.left = NODE
QUEUE = collections.deque([Planted(), Planted(), Planted()])
MATERIALISED = Node("dict")
MATERIALISED.__dict__["later"] = Planted()
MADE = types.ModuleType("made_module")
MADE.value = Planted()
sys.modules["made_module"] = MADE
sys.modules["made_module.part"] = types.ModuleType("made_module.part")


def keys():
    for key, text in (("k", "['k']"), ("k", '["k"]'), ("k", "[k]"), (3, "[3]"), (3, "[ 3 ]"), (3, "[0x3]"), ("3", "['3']"), ((1, "a"), "[(1,'a')]"),
                      ((1, "a"), "[1, 'a']"), ((1, "a"), "[(1,a)]"), (b"x", "[b'x']"), (1.5, "[1.5]"), (1.5, "[1.50]"), (None, "[None]"),
                      (True, "[True]"), (True, "[1]"), ("k" * 100, "['%s']" % ("k" * 100)), ("/api/x", "['/api/x']"), ("/api/x", "[/api/x]"),
                      ("it's", '["it\'s"]'), ("it's", "[it's]"), (10 ** 400, "[%d]" % 10 ** 400), (-(1 << 70), "[%d]" % -(1 << 70)),
                      ("k\u00e4fer", "['k\u00e4fer']"), ("k\u00e4fer", "['k\\xe4fer']"), ("word two", "[word two]"), ("a]b", "['a]b']"),
                      ("\u20ac" * 50, "['%s']" % ("\u20ac" * 50)), (b"b" * 100, "[%r]" % (b"b" * 100)), (tuple(range(100)), "[%r]" % (tuple(range(100)),)),
                      ("5", "[5]")):
        leads("CACHE" + text, CACHE[key])
        leads("__main__.CACHE" + text, CACHE[key])
        leads("%#x%s" % (id(CACHE), text), CACHE[key])


def modules():
    leads("__main__", sys.modules["__main__"])
    leads("json", json)
    leads("json.decoder", json.decoder)
    leads("json.decoder.JSONDecoder", json.decoder.JSONDecoder)
    leads("os.path", os.path)
    leads("os.path.join", os.path.join)
    leads("collections.abc", sys.modules["collections.abc"])
    leads("places_language.Planted", Planted)
    leads("made_module.value", MADE.value)
    leads("made_module.part", sys.modules["made_module.part"])
    leads("__main__.__dict__['CACHE']", CACHE)
    leads("sys.modules['json'].decoder", json.decoder)
    leads("len", len)
    leads("ValueError", ValueError)


def attributes():
    leads("NODE", NODE)
    leads("NODE.rows", NODE.rows)
    leads("NODE.rows[39]", NODE.rows[39])
    leads("NODE.rows[-1]", NODE.rows[-1])
    leads("NODE.rows[-40]", NODE.rows[0])
    leads("NODE.kind", Node.kind)
    leads("NODE.inherited", Base.inherited)
    leads("NODE.run", Node.__dict__["run"])
    leads("NODE.__class__", Node)
    leads("Node.kind", Node.kind)
    leads("Node.inherited", Base.inherited)
    leads("Node.__mro__[1]", Base)
    leads("SLOTTED.left.rows[5]", NODE.rows[5])
    leads("MATERIALISED.later", MATERIALISED.later)
    leads("MATERIALISED.rows[0]", MATERIALISED.rows[0])
    leads("MATERIALISED.__dict__['later']", MATERIALISED.later)
    leads("CACHE['k'][1][0]", CACHE["k"][1][0])
    leads("CACHE['k'][-1]", CACHE["k"][-1])
    leads("QUEUE[0]", QUEUE[0])
    leads("QUEUE[-1]", QUEUE[-1])
    leads("LARGE['key 19999'][0]", LARGE["key 19999"][0])
    leads("int.__dict__['bit_length']", int.__dict__["bit_length"])
    leads("int.bit_length", int.__dict__["bit_length"])
    leads("Node.run.__code__", Node.run.__code__)
    leads("<__main__.Node object at %#x>.rows[7]" % id(NODE), NODE.rows[7])
    leads("%d.rows[7]" % id(NODE), NODE.rows[7])


def generators():
    def counting(argument):
        local, shared = Planted(), Planted()
        closure = lambda: shared  # noqa: E731
        yield local, shared, closure

    async def waits(argument):
        local = Planted()
        await pause()
        return local

    @types.coroutine
    def pause():
        yield

    argument, first = Planted(), counting(Planted())
    suspended, waiting, fresh = counting(argument), waits(argument), counting(argument)
    local, shared, closure = next(suspended)
    waiting.send(None)
    leads("generator(%#x)" % id(suspended), suspended)
    leads("generator(%#x).local" % id(suspended), local)
    leads("generator(%#x).argument" % id(suspended), argument)
    leads("generator(%#x).shared" % id(suspended), shared)
    leads("generator(%#x).closure" % id(suspended), closure)
    leads("generator(%#x).argument" % id(fresh), argument)
    leads("generator(%#x).gi_frame.f_locals['local']" % id(suspended), local)
    leads("generator(%#x).argument" % id(waiting), argument)
    leads("generator(%#x).cr_code" % id(waiting), waits.__code__)
    return first, suspended, waiting, fresh, closure


def outer(selected):
    shared = Planted()

    def inner():
        local = [Planted(), shared]
        leads("inner().local[0]", local[0])
        leads("outer.<locals>.inner().local", local)
        leads("outer().selected[37]", selected[37])
        leads("outer().shared", shared)
        leads("outer().inner", inner)
        leads("thread('MainThread').outer().selected", selected)
        leads("<module>().CACHE", CACHE)
        leads("main().kept", sys._getframe(2).f_locals["kept"])
        rest()

    inner()


def rest():
    with open("expressions.part", "w", encoding="ascii") as out:
        out.writelines(json.dumps(row) + "\n" for row in EXPRESSIONS)
    os.rename("expressions.part", "expressions.jsonl")
    time.sleep(1000)


def main():
    places.plant()
    places.write_lines("places.jsonl", (places.described(*place) for place in places.PLACES))
    keys(), modules(), attributes()
    kept = generators()
    worker = threading.Thread(target=NODE.run, args=(Planted(),), name="worker", daemon=True)
    worker.start()
    READY.wait()
    time.sleep(0.5)  # the worker sleeps then
    outer([Planted() for _ in range(50)])
    return kept


if __name__ == "__main__":
    main()
