"""Objects that own memory of C code: trees of blocks behind ctypes structures and behind handles that are ints, zlib's compressors, a connection of sqlite3.

Beside them are kept 10,000 ints, 10,000 floats and an array of numbers that are the addresses of blocks, which own nothing.
Writes down how many bytes malloc has for each owner (malloc_usable_size), and addresses of blocks.
"""

import array
import ctypes
import os
import sqlite3
import struct
import zlib

import standstill

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.malloc_usable_size.restype = ctypes.c_size_t
_libc.malloc_usable_size.argtypes = [ctypes.c_void_p]
_all = []


class Document(ctypes.Structure):
    """The pointer lies in the object, as in one of a C library."""
    _fields_ = [("root", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


class Handle:
    """The pointer is an int, as ctypes gives it."""
    def __init__(self, pointer):
        self._pointer = pointer


class Store:
    pass


def block(size, text):
    address = _libc.malloc(size)
    # To its end: what an earlier owner left behind what was asked for may lead anywhere, and no core tells it from a field.
    ctypes.memset(address, 0, _libc.malloc_usable_size(address))
    ctypes.memmove(address + 48, text, min(len(text), size - 48))
    _all.append(address)
    return address


def put(address, offset, value):
    ctypes.c_uint64.from_address(address + offset).value = value


def tree(number, bytes_of):
    """A root with 20 elements in a list that is linked both ways; each leads to the root, and has a text of some size. Returns the root."""
    root, previous = block(184, b"document %d" % number), 0
    blocks = [root]
    for i in range(20):
        element, text = block(120, b"element"), block(200 + 97 * i, b"text %d " % i * 40)
        blocks += [element, text]
        put(element, 0, root)
        put(element, 8, text)
        put(element, 16, previous)
        put(element, 32, 4_000_000_000 + 13 * i)
        if previous:
            put(previous, 24, element)
        else:
            put(root, 8, element)
        previous = element
    put(root, 16, previous)
    bytes_of.append(sum(map(_libc.malloc_usable_size, blocks)))
    return root


def main():
    store, truth = Store(), {}
    for name, count in (("left", 300), ("right", 100), ("pair", 1)):
        bytes_of = []
        documents = [Document(tree(number, bytes_of), 7) for number in range(count)]
        setattr(store, name, documents)
        truth[name] = sum(bytes_of)
    bytes_of = []
    store.handles = [Handle(tree(number, bytes_of)) for number in range(100)]
    truth["handles"] = sum(bytes_of)
    store.pair.append(Document(store.pair[0].root, 8))  # neither of both owns it
    truth["block"], truth["shared_block"] = hex(store.left[0].root), hex(store.pair[0].root)
    numbers = (_all * (10_000 // len(_all) + 1))[:10_000]
    store.ints = [number + 0 for number in numbers]
    store.floats = [struct.unpack("d", struct.pack("Q", number))[0] for number in numbers]
    store.array = array.array("Q", numbers)
    store.compressors = [zlib.compressobj(9, zlib.DEFLATED, 15, 9) for _ in range(20)]
    for compressor in store.compressors:
        compressor.compress(os.urandom(1 << 16))
    truth["compressors"] = 20 * ((1 << 17) + (1 << 18))  # zconf.h: (1 << (windowBits+2)) + (1 << (memLevel+9))
    try:
        library = ctypes.CDLL("libsqlite3.so.0")
        library.sqlite3_memory_used.restype = ctypes.c_int64
        before = library.sqlite3_memory_used()
        store.connection = sqlite3.connect(":memory:")
        store.connection.execute("CREATE TABLE t(a, b)")
        store.connection.executemany("INSERT INTO t VALUES(?, ?)", ((i, "x" * 200) for i in range(20_000)))
        store.connection.commit()
        truth["connection"] = library.sqlite3_memory_used() - before
    except OSError:
        pass
    return store, truth


STORE, _said = main()
standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], _said)
