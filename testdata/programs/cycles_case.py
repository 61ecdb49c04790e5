"""Two objects of classes with __del__ that refer to each other, then dropped: since 3.4 they wait for the next collection."""

import ctypes
import gc
import os

import twin


class Function:
    def __del__(self):
        os.write(FREED, b"x")


class Space:
    def __del__(self):
        os.write(FREED, b"x")


def drop():
    function, space = Function(), Space()
    function.space, space.function = space, function
    return [id(function), id(space)]


def collected_in_a_twin():
    """Does a collection free both?"""
    fork, waitpid = ctypes.PyDLL(None).fork, os.waitpid
    child = fork()
    if child == 0:
        gc.collect()
        os._exit(0)
    waitpid(child, 0)
    os.set_blocking(READ, False)
    try:
        return len(os.read(READ, 10)) == 2
    except BlockingIOError:
        return False


READ, FREED = os.pipe()
gc.collect()
pair = drop()
twin.record("found.json", pair=pair, collected=collected_in_a_twin())
