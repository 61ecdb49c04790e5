"""A process with objects whose types' code does harm if somebody runs it on a core: libharmful.so beside it (harmful.c), which tests make.

HEAPSIFT_TRUTH: the file to write: for each type the addresses of some objects and of the two that each refers to, and the victim, a file that
must stay. With HEAPSIFT_CORE_BY=kernel it aborts then; else it sleeps.
"""

import ctypes
import gc
import json
import os
import time

COUNT = 400  # of each type
KEPT = {}


class Target:
    pass


def main():
    gc.disable()
    library = ctypes.PyDLL(os.path.abspath("libharmful.so"))
    library.type_at.restype = ctypes.py_object
    library.fill.argtypes = [ctypes.py_object] * 3
    truth = {"types": {}, "victim": os.path.abspath("victim")}
    for index in range(library.type_count()):
        kind = library.type_at(index)
        rows = []
        for number in range(COUNT):
            made, one, two = kind(), Target(), ["text %d" % number]
            library.fill(made, one, two)
            assert set(map(id, gc.get_referents(made))) - {id(kind)} == {id(one), id(two)} and made.one is one and made.two is two
            rows.append(made)
        KEPT[kind.__name__] = rows
        truth["types"]["harm." + kind.__name__] = [[id(row), id(row.one), id(row.two)] for row in rows]
    with open(truth["victim"], "w") as victim:
        victim.write("alive")
    path = ctypes.c_char_p(truth["victim"].encode())
    library.begin_harm(path)
    with open(os.environ["HEAPSIFT_TRUTH"] + ".part", "w") as out:
        json.dump(truth, out)
    os.rename(os.environ["HEAPSIFT_TRUTH"] + ".part", os.environ["HEAPSIFT_TRUTH"])
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    time.sleep(600)


main()
