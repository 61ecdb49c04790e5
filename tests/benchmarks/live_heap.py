"""What a tool inside the process does to know its heap: mixed_heap.py's records, and all objects found and measured as Pympler and guppy3 do.

    live_heap.py OBJECTS closure|muppy|asizeof|guppy

closure: gc.get_objects() closed over gc.get_referents, with sys.getsizeof of each, summed by type. The others call muppy.get_objects and
summary, asizeof.asizeof of the records, guppy's hpy().heap(). Prints the CPU seconds, the objects found, their bytes, and the kilobytes by
which the process grew; or "not there".
"""

import gc
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mixed_heap  # noqa: E402


def closure(_):
    """(objects, bytes)"""
    pending = gc.get_objects()
    own = {id(pending), id(sys._getframe())}
    seen = {id(one) for one in pending}
    types = {}
    while pending:
        following = []
        for one in pending:
            count_and_bytes = types.setdefault(type(one), [0, 0])
            count_and_bytes[0] += 1
            count_and_bytes[1] += sys.getsizeof(one)
            for referent in gc.get_referents(one):
                if id(referent) not in seen and id(referent) not in own:
                    seen.add(id(referent))
                    following.append(referent)
        pending = following
        own.add(id(pending))
    return sum(count for count, _ in types.values()), sum(size for _, size in types.values())


def by_muppy(_):
    from pympler import muppy, summary
    objects = muppy.get_objects(include_frames=True)
    rows = summary.summarize(objects)
    return sum(row[1] for row in rows), sum(row[2] for row in rows)


def by_asizeof(records):
    from pympler import asizeof
    sizer = asizeof.Asizer()
    return sizer.total, sizer.asizeof(records)


def by_guppy(_):
    from guppy import hpy
    heap = hpy().heap()
    return heap.count, heap.size


HOW = {"closure": closure, "muppy": by_muppy, "asizeof": by_asizeof, "guppy": by_guppy}


def own_peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def main():
    random.seed(11)
    records = [mixed_heap.make(number) for number in range(int(int(sys.argv[1]) / mixed_heap.OBJECTS_A_RECORD) + 1)]
    before, began = own_peak(), time.process_time()
    try:
        objects, size = HOW[sys.argv[2]](records)
    except ImportError:
        print("not there")
        return
    print(time.process_time() - began, objects, size, own_peak() - before)


main()
