#!/usr/bin/env python3
"""Functions as real interpreters compile them, with what each does to a name: the rows of tests/program/code_uses_table.h.

    code_uses.py > rows.3.9        by each interpreter, 3.6 to 3.15
    code_uses.py --write rows.* > tests/program/code_uses_table.h

A function is written once; what it does to the name that is sought, and in which line (`def` is 1), is written beside it by hand.
"""

import sys

# title, sought ("name", "key", "cell", "local": and which), use, line, source; names of flags after the title
FUNCTIONS = [
    ("item", "name table", "adds", 3, """
def f(self, k, v):
    x = len(self.table)
    self.table[k] = v
"""),
    ("method", "name items", "adds", 4, """
def f(self, v):
    print(self.items)
    for one in self.items:
        self.items.append(v)
"""),
    ("by a local", "name table", "adds", 4, """
def f(self, k, v):
    table = self.table
    print(k, v)
    table.setdefault(k, []).append(v)
"""),
    ("bound method", "name items", "adds", 4, """
def f(self, v):
    add = self.items.append
    if v:
        add(v)
"""),
    ("function that adds", "name heap", "adds", 3, """
def f(self, v):
    first = self.heap[0]
    heapq.heappush(self.heap, (first, v))
"""),
    ("in place", "name items", "adds", 3, """
def f(self, v):
    if not self.items: return
    self.items += [v]
"""),
    ("in place, one item", "name counts", "adds", 2, """
def f(self, k):
    self.counts[k] += 1
"""),
    ("a slice", "name items", "adds", 2, """
def f(self, v):
    self.items[1:2] = v
"""),
    ("sets", "name items", "stores", 3, """
def f(self):
    x = self.items
    self.items = []
"""),
    ("sets a global", "name TABLE", "stores", 3, """
def f():
    global TABLE
    TABLE = {}
"""),
    ("adds to a global", "name TABLE", "adds", 3, """
def f(k, v):
    old = TABLE
    TABLE[k] = old
"""),
    ("returns", "name items", "reads", 2, """
def f(self):
    return self.items
"""),
    ("one of two", "name items", "adds", 2, """
def f(self, other, v):
    (other if v else self.items).append(v)
"""),
    ("either: what jumps lead to is not followed", "name items", "reads", 2, """
def f(self, other, v):
    (self.items or other).append(v)
"""),
    ("stars", "name add", "calls", 3, """
def f(self, a, k):
    x = self.add
    return self.add(*a, **k)
"""),
    ("by names", "name add", "calls", 2, """
def f(self, a, k):
    return self.add(a, key=k)
"""),
    ("handed on", "name items", "hands_on", 4, """
def f(self, a):
    x = len(self.items)
    str(self.items)
    fill(a, self.items)
"""),
    ("handed to a method", "name items", "hands_on", 3, """
def f(self, a):
    x = a.fill(self.items)
    self.fill(self.items, a)
"""),
    ("comparisons", "name items", "adds", 3, """
def f(self, a, b):
    if a < b < len(self.items): return
    self.items.add(a)
"""),
    ("swapped", "name items", "adds", 4, """
def f(self, a, b, c):
    a, b = b, self.items
    a, b, c = c, a, b
    c.append(1)
"""),
    ("assigned twice", "name table", "adds", 2, """
def f(self, a):
    x = self.table[a] = a
"""),
    ("unpacked", "name pair", "adds_apart", 3, """
def f(self, v):
    a, b = self.pair
    b.append(v)
"""),
    ("unpacked, filled within", "name pair", "adds", 3, """
def f(self, v):
    a = self.pair[0]
    a.append(v)
"""),
    ("filled within, apart", "name pair", "adds_apart", 2, """
def f(self, v):
    self.pair.append(v)
"""),
    ("super", "name items", "adds", 2, """
def f(self, v):
    super().items.append(v)
""", ),
    ("two locals", "name items", "adds", 3, """
def f(self, v, w):
    items, more = self.items, w
    more(items); items.extend(more); v = more
"""),
    ("not self's", "name items", "adds", 3, """
def f(self, node, v):
    self.items.append(v)
    node.items.append(v)
"""),
    ("self's alone, and not sought", "name items", "unused", 0, """
def f(self, v):
    self.items.append(v)
"""),
    ("a variable that is shared", "cell seen", "adds", 4, """
def outer(n):
    seen = []
    def f(v):
        seen.append(v)
    return f
"""),
    ("a shared variable that is set", "cell seen", "stores", 5, """
def outer(n):
    seen = []
    def f(v):
        nonlocal seen
        seen = v
    return f
"""),
    ("a local", "local kept", "adds", 5, """
def f(data):
    kept = []
    for i in range(9):
        x = data[i]
        kept.append(x)
    return len(kept)
"""),
    ("a local that is shared", "local kept", "adds", 4, """
def f(data):
    kept = []
    g = lambda: kept
    kept.append(data)
    return g
"""),
    ("a local that is set", "local data", "stores", 3, """
def f(n):
    print(n)
    data = bytes(n)
    return data[n]
"""),
    ("a local handed on", "local kept", "hands_on", 3, """
def f(n):
    kept = []
    fill(kept, n)
    return kept
"""),
    ("a comprehension", "local kept", "stores", 2, """
def f(n):
    kept = [x for x in n]
    return len(kept)
"""),
    ("a key", "key jobs", "adds", 3, """
def f(app, v):
    x = app['other']
    app['jobs'].append(v)
"""),
    ("a key that is set", "key jobs", "stores", 2, """
def f(app, v):
    app['jobs'] = v
"""),
    ("a key asked for by a method", "key jobs", "adds", 2, """
def f(app, v):
    app.get('jobs').append(v)
"""),
    ("taken out", "name table", "reads", 2, """
def f(self, k):
    del self.table[k]
    self.table.pop(k)
    self.table.copy().update(k)
"""),
    ("in a with, a try and a loop", "name items", "adds", 8, """
def f(self, v):
    try:
        with self.lock as lock:
            while v:
                if v in self.items:
                    raise ValueError(f"{v!r} {lock}")
                v -= 1
                self.items.insert(0, v)
    except (KeyError, OSError) as error:
        print(*self.items, sep=error)
    finally:
        assert v, self
    return {**v, 'k': [*v, 1], 'm': {1, *v}, 'n': (1, *v)}
"""),
    ("in a generator", "name items", "adds", 3, """
def f(self):
    got = yield self.items
    self.items.append(got)
    yield from self.items
"""),
    ("in a coroutine", "name items", "adds", 4, """
async def f(self, source):
    async with self.lock:
        async for one in source:
            self.items.append(await one)
"""),
    ("many names", "name items", "adds", 3, "\ndef f(self):\n    x = (%s)\n    self.items.append(x)\n" % ", ".join("n%d" % i for i in range(300))),
    ("displays", "name items", "reads", 2, """
def f(self, a, b):
    x = [a, self.items, (b, a), {a: b}, {a, b}, a[1:2:3], not a, -b, a if b else a and b, a is b, a in b]
    print(x, lambda y=a: y, [y for y in x if y], f"{a}{b:>{a}}")
    import os, os.path as p
    from os import sep as s, path
    class C(a, metaclass=b): pass
    return x[a], x[a:b], C, s, path, p
"""),
]
FLAGS = {"unpacked, filled within": "within", "filled within, apart": "within", "not self's": "others", "self's alone, and not sought": "others"}


def function_in(code):
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            if constant.co_name == "f":
                return constant
            found = function_in(constant)
            if found:
                return found
    return None


def place(code, kind, name):
    """(table, place) as instructions have it."""
    since_3_11 = sys.version_info >= (3, 11)
    if kind == "name":
        return "names", code.co_names.index(name)
    if kind == "key":
        return "constants", code.co_consts.index(name)
    local = list(code.co_varnames)
    if since_3_11:
        every = local + [one for one in code.co_cellvars if one not in local] + list(code.co_freevars)
        return ("locals" if kind == "local" else "cells"), every.index(name)
    shared = list(code.co_cellvars) + list(code.co_freevars)
    return ("cells", shared.index(name)) if name in shared else ("locals", local.index(name))


def quoted(data):
    return '"%s"' % "".join("%02x" % byte for byte in bytearray(data))


def rows():
    for title, sought, use, line, source in FUNCTIONS:
        code = function_in(compile(source.strip("\n"), "app.py", "exec"))
        table, at = place(code, *sought.split())
        lines = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        yield '    {%d, "%s", "%s", "%s", UsedByCode::Table::%s, %d, "%s", %d, %d, "%s",\n     %s,\n     %s},' % (
            sys.version_info[1], title, FLAGS.get(title, ""), " ".join(code.co_names), table, at, use, line, code.co_firstlineno,
            sys.version.split()[0], quoted(code.co_code), quoted(lines))


HEAD = """#pragma once

// Functions as real interpreters compiled them (tests/program/tool/code_uses.py, which made this file).

#include "analysis/suspects/code_uses.h"

namespace heapsift::test {

struct CompiledUse {
    int minor;                // of 3.minor
    const char* title;
    const char* flags;        // "within": UsedByCode::filled_within; "others": not of_self
    const char* names;        // co_names
    UsedByCode::Table table;  // of what is sought
    std::uint32_t place;
    const char* use;          // the likeliest, by its name
    std::int32_t line, first_line;
    const char* compiled_by;
    const char *code, *lines;  // hexadecimal
};

// clang-format off
inline constexpr CompiledUse compiled_uses[] = {"""


def main():
    if sys.argv[1:2] != ["--write"]:
        print("\n".join(rows()))
        return
    print(HEAD)
    for name in sys.argv[2:]:
        with open(name) as file:
            print(file.read().rstrip("\n"))
    print("};\n// clang-format on\n\n}  // namespace heapsift::test")


if __name__ == "__main__":
    main()
