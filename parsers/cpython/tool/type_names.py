#!/usr/bin/env python3
"""Names of static types, for cores whose program files are not at hand.

A static type's name is a C string in read-only data, which the kernel leaves out of a core. Four things survive: where the type
lies in its module (the module's build-id is in the core), under which keys the modules' dictionaries hold it, since 3.12 its number among
the builtin types, and its shape (type_shape.cpp). All are read from a real interpreter, with the extension modules of its standard library
(and NumPy) loaded:

    python3.11 type_names.py read > names.3.11        once per build, with that build
    python3.11 type_names.py core                     the same modules; ends with SIGABRT, which leaves a core (ulimit -c unlimited)
    heapsift-type-shapes core > shapes.3.11
    python3.11 type_names.py write names.* shapes.* > ../layouts/type_name_tables.cpp

It runs on 2.7 as well, whose minor version is -1 in the tables: before all of 3.
"""

from __future__ import print_function

import binascii
import ctypes
import importlib
import os
import pkgutil
import re
import struct
import sys
import types

_SKIPPED = re.compile(r"test|idlelib|lib2to3|turtle|tkinter|antigravity|^this$|__main__|__phello__|ensurepip|xxlimited|xxsubtype|_curses|readline|msilib|distutils")
_HEAP_TYPE = 1 << 9
_OLD = sys.version_info < (3,)
_MINOR = -1 if _OLD else sys.version_info[1]
_BUILTINS = "__builtin__" if _OLD else "builtins"


def import_all():
    """Every module of the standard library that imports here, and NumPy. Returns the names of the library's."""
    standard = set(getattr(sys, "stdlib_module_names", None) or {module[1] for module in pkgutil.iter_modules([os.path.dirname(os.__file__)])})
    for name in sorted(set(sys.builtin_module_names) | set(standard) | {
            "xml.etree.ElementTree", "concurrent.futures", "multiprocessing.shared_memory", "unittest.mock", "email.message", "importlib.metadata",
            "numpy", "numpy.random", "numpy.ma", "asyncio", "logging.handlers", "http.client", "urllib.request"}):
        if _SKIPPED.search(name):
            continue
        try:
            importlib.import_module(name)
        except BaseException:  # not every module imports everywhere
            pass
    return standard


def read():
    standard = import_all()
    found = {}
    walk(object, found)
    for one in more_types():
        found.setdefault(id(one), one)
    images = read_images()
    for address, one in sorted(found.items()):
        if one.__flags__ & _HEAP_TYPE:
            continue
        name = tp_name(one)
        for start, end, base, build_id in images:
            if start <= address < end:
                print("B %s %x %s" % (build_id, address - base, name))
        index = builtin_index(one)
        if index:
            print("I %d %d %s" % (_MINOR, index, name))
    for module_name, module in sorted(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or module_name.split(".")[0] not in standard | set(sys.builtin_module_names) | {"numpy"}:
            continue
        for key, value in sorted(vars(module).items(), key=lambda item: str(item[0])):
            if isinstance(key, str) and isinstance(value, type) and not value.__flags__ & _HEAP_TYPE:
                plain = key if module_name == _BUILTINS else module_name + "." + key
                if plain != tp_name(value):
                    print("A %d %s %s" % (_MINOR, plain, tp_name(value)))


def walk(base, found):
    found[id(base)] = base
    for derived in type.__subclasses__(base):
        if id(derived) not in found:
            walk(derived, found)


def more_types():
    """Types that object.__subclasses__ may not lead to, because only an instance made them ready."""
    for one in ((), [], {}, set(), "", b"", range(0), bytearray(), {}.items(), {}.values()):
        yield type(iter(one))
    yield type(reversed([]))
    yield type(memoryview(b""))
    yield type(iter(int, 1))
    if _OLD:
        for one in ({}.iterkeys(), {}.itervalues(), {}.iteritems(), iter(xrange(0)), iter(__import__("collections").deque()),
                    reversed(__import__("collections").deque())):
            yield type(one)


def builtin_index(one):
    """Since 3.12 tp_subclasses of a static builtin type is its number in the interpreter, from 1: the same in all builds of a minor."""
    # Static types of extension modules (datetime's) are numbered apart.
    if sys.version_info < (3, 12) or not one.__flags__ & 2 or type.__dict__["__module__"].__get__(one) == "datetime":
        return 0
    return struct.unpack("<Q", ctypes.string_at(id(one) + 360, 8))[0]


def tp_name(one):
    module = type.__dict__["__module__"].__get__(one)
    name = type.__dict__["__name__" if _OLD else "__qualname__"].__get__(one)
    return name if module == _BUILTINS else "%s.%s" % (module, name)


def read_images():
    """(start, end, load bias, build-id) of each mapped ELF image, its .bss included."""
    images, files = [], {}
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                start, end = (int(part, 16) for part in fields[0].split("-"))
                files.setdefault(fields[5].strip(), []).append((start, int(fields[2], 16)))
    for path, rows in files.items():
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        if data[:4] != b"\x7fELF":
            continue
        offset, = struct.unpack_from("<Q", data, 32)
        count, = struct.unpack_from("<H", data, 56)
        headers = [struct.unpack_from("<IIQQQQQQ", data, offset + 56 * index) for index in range(count)]
        loads = [header for header in headers if header[0] == 1]
        first = min(start for start, file_offset in rows if file_offset == 0) if any(file_offset == 0 for _, file_offset in rows) else None
        if first is None or not loads:
            continue
        bias = first - (loads[0][3] & -4096)
        build_id = ""
        for header in headers:
            if header[0] == 4:
                build_id = build_id or build_id_of(data[header[2]:header[2] + header[5]])
        images.append((first, max(header[3] + header[6] for header in loads) + bias, bias, build_id))
    return [image for image in images if image[3]]


def build_id_of(notes):
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name_end = at + 12 + (name_size + 3) // 4 * 4
        if kind == 3 and notes[at + 12:at + 16] == b"GNU\0":
            return binascii.hexlify(notes[name_end:name_end + size]).decode()
        at = name_end + (size + 3) // 4 * 4
    return ""


_HEAD = '''// Names of static types, read by tool/type_names.py from real interpreters: do not edit.
// Builds: those whose build-ids stand below (Debian's 2.7, 3.9, 3.11, 3.13, 3.14 and 3.15, and plain builds of 2.7 and 3.6 to 3.13, with NumPy where it was there).

#include "parsers/cpython/type_name_tables.h"

// Written by a program, not by clang-format.
// clang-format off

namespace heapsift {

'''


def write(paths):
    builds, aliases, numbers, shapes = {}, {}, {}, {}
    for path in paths:
        with open(path) as file:
            for line in file:
                kind, first, second, name = line.rstrip("\n").split(" ", 3)
                if kind == "B":
                    builds[first, int(second, 16)] = name
                elif kind == "S":
                    shapes.setdefault((int(second, 16), int(first)), set()).add(name)
                elif kind == "A":
                    aliases[second, int(first)] = name
                else:
                    numbers[int(first), int(second)] = name
    out = [_HEAD, "static constexpr TypeNameAt names_by_place[] = {\n"]
    out += ['    {"%s", 0x%x, "%s"},\n' % (build_id, offset, name) for (build_id, offset), name in sorted(builds.items())]
    out.append("};\n\nstatic constexpr TypeAlias aliases[] = {\n")
    out += ['    {"%s", %d, "%s"},\n' % (plain, minor, name) for (plain, minor), name in sorted(aliases.items())]
    out.append("};\n\nstatic constexpr TypeNumber numbers[] = {\n")
    out += ['    {%d, %d, "%s"},\n' % (minor, number, name) for (minor, number), name in sorted(numbers.items())]
    out.append("};\n\nstatic constexpr TypeShape shapes[] = {\n")
    out += ['    {0x%016x, %d, "%s"},\n' % (shape, minor, name) for shape, minor, name in without_repeats(shapes)]
    out.append("};\n\nstd::span<const TypeNameAt> type_names_by_place() { return names_by_place; }\n\n"
               "std::span<const TypeAlias> type_aliases() { return aliases; }\n\n"
               "std::span<const TypeNumber> type_numbers() { return numbers; }\n\n"
               "std::span<const TypeShape> type_shapes() { return shapes; }\n\n}  // namespace heapsift\n")
    sys.stdout.write("".join(out))


def without_repeats(shapes):
    """(shape, minor, name), sorted: no shape that has several names in its minor; one row where all minors agree on the name."""
    unique = {key: next(iter(names)) for key, names in shapes.items() if len(names) == 1}
    ambiguous = {shape for (shape, _), names in shapes.items() if len(names) > 1}
    named = {}
    for (shape, _), name in unique.items():
        named.setdefault(shape, set()).add(name)
    written = set()
    for (shape, minor), name in sorted(unique.items()):
        alone = len(named[shape]) == 1 and shape not in ambiguous
        if not alone or shape not in written:
            written.add(shape)
            yield shape, minor, name


if __name__ == "__main__":
    if sys.argv[1:2] == ["core"]:
        import_all()
        os.abort()
    elif sys.argv[1:2] == ["read"]:
        read()
    elif sys.argv[1:2] == ["write"] and len(sys.argv) > 2:
        write(sys.argv[2:])
    else:
        sys.exit(__doc__)
