"""What the cases of library_leaks.py share: texts, and how much is allocated."""

import ctypes
import os
import re
import sys
import tempfile

import packages


def text(number, length):
    """A str that nobody else has."""
    return ("%09d" % number * (length // 9 + 1))[:length]


def allocated():
    """Bytes in blocks of malloc and of Python's own allocator, by their own count: the second prints it on standard error."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = packages.Mallinfo
    by_malloc = packages.malloc_in_use(libc)
    with tempfile.TemporaryFile() as file:
        said = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(said, 2)
        os.close(said)
        file.seek(0)
        text_of_all = file.read()
    return by_malloc + int(re.search(rb"# bytes in allocated blocks *= *([0-9,]+)", text_of_all).group(1).replace(b",", b""))
