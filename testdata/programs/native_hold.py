"""Objects that only memory of a C++ library holds: in a static vector, in a map, in a variable, in a block of which the pointer lies in a Python
object, by a pointer with a tag, in a block that leaked, on the stack of a thread, and by nothing at all.
"""

import ctypes
import os
import threading
import time

import standstill


class Thing:
    def __init__(self, name, data=None):
        self.name, self.data = name, data


class Owner(ctypes.Structure):
    """The pointer lies in the object, as in one of a C library."""
    _fields_ = [("entry", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


class Store:
    pass


STORE = Store()


def keep(library, address, name, *arguments, data=None):
    thing = Thing(name, data)
    address[name] = standstill.address(thing)
    return getattr(library, name)(*arguments, ctypes.py_object(thing))


def main():
    library, address = ctypes.PyDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libnative_hold.so")), {}
    for name in ("keep_for_owner", "keep_marked"):
        getattr(library, name).restype = ctypes.c_void_p
    for _ in range(6):
        keep(library, address, "keep_in_vector", data=bytearray(1_500_000))
    for key in range(20):
        keep(library, address, "keep_in_map", key)
    for name in ("keep_in_variable", "keep_and_leak", "lose_reference"):
        keep(library, address, name)
    STORE.owners = [Owner(keep(library, address, name), 7) for name in ("keep_for_owner", "keep_marked")]
    waiting = ctypes.CDLL(library._name)  # without the interpreter's lock
    waiting.keep_on_stack.argtypes = [ctypes.c_void_p]
    thing = Thing("keep_on_stack")
    address["keep_on_stack"] = standstill.address(thing)
    library.lose_reference(ctypes.py_object(thing))  # a count without the lock ends a debug build
    threading.Thread(target=waiting.keep_on_stack, args=(id(thing),), name="waiter", daemon=True).start()
    time.sleep(0.3)
    thing = None
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], address)


if __name__ == "__main__":
    main()
