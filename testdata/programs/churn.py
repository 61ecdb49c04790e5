"""A process that made and freed more than a million blocks of every size from 1 to 2000 bytes, and kept few, so that ghosts would show.

Freed memory still holds headers that read as objects: in pymalloc's and malloc's free blocks, in the interpreter's own free lists,
in the tails of buffers that moved when they grew. None of it may appear as an object.
"""

import array
import random

import truth

BLOCKS = 1002000
SLOTS = 30000
KEEP = 500


class Plain:
    pass


class Slotted:
    __slots__ = ("a", "b", "c", "d", "__weakref__")


def make_plain(size):
    one = Plain()
    for number in range(size // 100):
        setattr(one, "attribute_%d" % number, number)
    return one


def make_grown_list(size):
    """Grown by appending: its array moves through several blocks, each a copy of the previous references."""
    grown = []
    for number in range(size // 8):
        grown.append(number)
    return grown


def make_grown_bytes(size):
    grown = bytearray()
    while len(grown) < size:
        grown += b"0123456789abcdef" * (1 + len(grown) // 64)
    return grown


def make_grown_text(size):
    grown = ""
    while len(grown) < size:
        grown += "text that grows " * (1 + len(grown) // 64)
    return grown


def make_closure(size):
    return lambda: size


def make_generator(size):
    generator = (number for number in (size, size))
    next(generator)
    return generator


def make_exception(size):
    try:
        raise ValueError(size)
    except ValueError as error:
        return error


CHEAP = (bytes, lambda size: b"x" * size, bytearray, lambda size: "a" * size, lambda size: "\u20ac" * (size // 2),
         lambda size: "\U0001f600" * (size // 4), lambda size: 1 << (8 * size), lambda size: [None] * (size // 8),
         lambda size: (size,) * (size // 8), lambda size: float(size), lambda size: Slotted(), lambda size: array.array("b", bytes(size)),
         lambda size: complex(size, size), lambda size: slice(size, None), lambda size: range(size), lambda size: iter((size,)), make_closure)
DEAR = (make_plain, make_grown_list, make_grown_bytes, make_grown_text, make_generator, make_exception,
        lambda size: dict.fromkeys(range(size // 32)), lambda size: set(range(size // 32)), lambda size: {str(size): [size]},
        lambda size: frozenset((size, str(size))))


def churn():
    chance = random.Random(11)
    sizes = list(range(1, 2001))
    slots = [None] * SLOTS
    made = 0
    while made < BLOCKS:
        chance.shuffle(sizes)
        for size in sizes:
            kinds = CHEAP if made % 4 else DEAR
            slots[int(chance.random() * SLOTS)] = kinds[made % len(kinds)](size)
            made += 1
    chance.shuffle(slots)
    return slots[:KEEP]


kept = churn()
truth.record()
