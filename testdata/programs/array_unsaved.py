"""Arrays whose data a core leaves out, for tests/real/arrays.py: 3 GiB of which little was touched, excluded with MADV_DONTDUMP.

Of one array the page with malloc's header is saved, of the others nothing: the kernel's core has a segment without bytes for it, gcore's
has none at all. There are also data that is saved, a view of each array, an anonymous mapping, and a file's pages. `unsaved` in the
output: the owner's address, and how many bytes of its data the core must lack.
"""

import ctypes
import mmap
import os
import tempfile

import numpy as np

import array_truth
import standstill

_DONTDUMP, _PAGE = 16, 4096
KEPT, UNSAVED = [], {}


def exclude(start, end):
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if madvise(start, end - start, _DONTDUMP):
        raise OSError(ctypes.get_errno(), "madvise")


def make(count, dtype, whole):
    """An array without its pages in the core; `whole`: also without the page on which its data begins, after malloc's header."""
    made = np.empty(count, dtype)
    data = made.__array_interface__["data"][0]
    start = data // _PAGE * _PAGE + (0 if whole else _PAGE)
    end = (data + made.nbytes) // _PAGE * _PAGE if not whole else -(-(data + made.nbytes) // _PAGE) * _PAGE
    for place in (0, 1 << 20, made.size // 2, -1):
        made[place] = 1
    exclude(start, end)
    UNSAVED["%#x" % id(made)] = min(end, data + made.nbytes) - max(start, data)
    KEPT.extend([made, made[100:200], made[::-7], made.reshape(-1, 64).T[3:], memoryview(made)[5:], np.asarray(memoryview(made)[5:])])


def main():
    make(3 << 30, "u1", False)
    make(40 << 20, "f8", True)
    saved = np.ones(1 << 18)
    KEPT.append([saved, saved[5:], np.arange(10)])
    anonymous = mmap.mmap(-1, 64 << 20)
    over = np.frombuffer(anonymous, "f4")
    exclude(over.__array_interface__["data"][0], over.__array_interface__["data"][0] + (64 << 20))
    file = tempfile.TemporaryFile()
    file.truncate(8 << 20)
    KEPT.append([over, over[7:], np.memmap(file, "f8", "r"), np.memmap(file, "f8", "r")[::3]])
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], {"numpy": np.__version__, "arrays": array_truth.every_array(), "holders": [], "unsaved": UNSAVED})


main()
