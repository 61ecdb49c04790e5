"""A process with a heap of about the given number of objects, of the kinds that fill real heaps; its core is then taken.

    mixed_heap.py OBJECTS in-order|aged

A record is an instance with a str, an int, a float, a tuple, a list and a second str; some have a dict, a slotted instance, bytes, a
set, an int of many digits, a NumPy array. `in-order`: neighbours in memory are neighbours in the program. `aged`: twice, a random half
of the records dies and is made again, so that lists and dicts lead from one end of the heap to the other, and every pool has holes.
Measurements of the first alone say little about a process that ran for a week.

HEAPSIFT_CORE_BY=kernel: abort; else sleep. The file `ready` says that the heap is made (tests/real/cores.py waits for it).
"""

import os
import random
import signal
import sys

try:
    import numpy
except ImportError:
    numpy = None

OBJECTS_A_RECORD = 8.2  # about: what heapsift finds, by the records made


class Record:
    pass


class Place:
    __slots__ = ("row", "column")


def make(number):
    record = Record()
    record.name = "record %d" % number
    record.number = number + 1000000
    record.weight = number * 0.5
    record.pair = (record.name, record.number)
    record.tags = ["tag %d" % number, record.weight, None]
    if number % 2 == 0:
        place = Place()
        place.row, place.column = record.number, number % 100
        record.place = place
    if number % 3 == 0:
        record.options = {"name": record.name, "size": number % 200, "pair": record.pair}
    if number % 4 == 0:
        record.raw = b"%032d" % number
    if number % 16 == 0:
        record.seen = {number % 250, record.name, "other"}
    if number % 64 == 0:
        record.digits = 10 ** (20 + number % 400)
    if number % 256 == 0:
        record.text = "\u017ee\u017e %d" % number
    if number % 4096 == 0 and numpy is not None:
        record.samples = numpy.arange(number % 2000, dtype="float32")
    return record


def age(records, made):
    random.shuffle(records)
    del records[len(records) // 2:]
    records.extend([make(made + number) for number in range(len(records))])
    return made + len(records)


def main():
    objects, how = int(sys.argv[1]), sys.argv[2]
    random.seed(11)
    count = int(objects / OBJECTS_A_RECORD) + 1
    records = [make(number) for number in range(count)]
    if how == "aged":
        made = age(records, count)
        age(records, made)
    with open("ready", "w"):
        pass
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
