"""What each interpreter of subinterpreters.py does: runs in it."""

import _thread
import gc
import os
import sys
import threading
import time
import types

import exhibits
import truth
import zoo_language

KEPT = {}
_LARGE = ("binary", "dicts", "lists_and_tuples", "numbers", "sets")  # once is enough


class Node:
    def __init__(self, number):
        self.number, self.other, self.payload = number, None, [number] * 50


def _wait(reading):
    a_local = ["held by a thread of interpreter", KEPT["number"]]
    os.read(reading, 1)
    return a_local


def _list():
    time.sleep(0.2)
    truth.write_now(_without_text(gc.get_objects()), KEPT["path"])


def _without_text(collected):
    """Without the GIL, code lives on until the next collection, so the text that called list_soon has left some."""
    if sys.version_info < (3, 13) or sys._is_gil_enabled():
        return collected
    made = set()
    for one in collected:
        if type(one) is types.CodeType and one.co_names == ("inside", "list_soon"):
            made.update((id(one), id(one.co_names), id(one.co_consts)))
    return [one for one in collected if id(one) not in made]


def list_soon():
    _thread.start_new_thread(_list, ())


def fill(number, path):
    KEPT["number"] = number
    KEPT["path"] = "%s.%d" % (path, number)
    if number:
        zoo_language.MANY = 500  # of what is common
        if number > 1:
            zoo_language.EXHIBITS[:] = [one for one in zoo_language.EXHIBITS if one.__name__ not in _LARGE]
        exhibits.open_houses("interpreter %d" % number, (zoo_language,), KEPT)
    KEPT["nodes"] = [Node(one) for one in range(2000)]
    for one in range(50):  # garbage that waits
        first, second = Node(one), Node(-one)
        first.other, second.other = second, first
    truth.warm_up()
    if number == 2 and sys.version_info >= (3, 12):
        reading, KEPT["writing"] = os.pipe()
        KEPT["thread"] = threading.Thread(target=_wait, args=(reading,), name="of interpreter 2")
        KEPT["thread"].start()
