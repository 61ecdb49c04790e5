"""Ten objects of known size that nobody else holds, and the table of what was made. `plants.py` says what for."""

import sys

MADE = {}  # name of the plant -> addresses and bytes; nothing in it refers to an object


class Slotted:
    """An object whose size does not depend on who asks, only on the version."""
    __slots__ = ("payload",)

    def __init__(self, payload):
        self.payload = payload


def ten(name):
    """A list of ten: bytes and bytearrays in turn. Their sizes differ from those of every other plant."""
    first = 10000 + 64 * len(MADE)
    objects = [(bytes, bytearray)[k % 2](first + 1000 * k) for k in range(10)]
    return _noted(name, objects, objects)


def ten_instances(name):
    """A list of ten instances, each with its bytes."""
    first = 10000 + 64 * len(MADE)
    objects = [Slotted(bytes(first + 1000 * k)) for k in range(10)]
    return _noted(name, objects, objects + [one.payload for one in objects])


def _noted(name, holder, members):
    if name in MADE:
        raise ValueError("two plants are called %s" % name)
    # Since 3.15 a bytearray has its bytes in an object, which counts for itself as well.
    hidden = [bytes(len(one)) for one in members if isinstance(one, bytearray)] if sys.version_info >= (3, 15) else []
    MADE[name] = {"name": name, "holder": id(holder), "objects": [id(one) for one in holder],
                  "retained_size": sys.getsizeof(holder) + sum(map(sys.getsizeof, members + hidden)),
                  "counted_twice": sum(map(sys.getsizeof, hidden))}
    return holder
