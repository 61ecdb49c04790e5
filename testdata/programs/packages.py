"""Objects of packages with code in C that keep most of a process's memory, each as a program may keep them by mistake.

    packages.py lxml|pil|sqlite3

What the package says of the bytes is written down: the pixels of images, sqlite3_memory_used; of lxml, which says nothing, by how much what malloc has in use
grew while the document was read.
"""

import ctypes
import gc
import io
import os
import sqlite3
import sys

import standstill
from in_use import kernel_says


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


class Keeper:
    """What is kept in `kept` is meant to be little, or to go soon."""

    def __init__(self):
        self.kept = {}


def malloc_in_use(libc):
    gc.collect()
    said = libc.mallinfo2()
    return said.uordblks + said.hblkhd


def keep_newest_entry(keeper):
    """Of a feed; but an element has its whole document."""
    from lxml import etree
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    entries = "".join("<entry id='%d' lang='en'><title>Title %d</title><body>%s</body></entry>" % (i, i, "word " * (i % 40)) for i in range(16_000))
    feed = ("<feed>" + entries + "</feed>").encode()
    keeper.kept["before"] = etree.parse(io.BytesIO(b"<feed><entry/></feed>")).getroot()[-1]
    before = malloc_in_use(libc)
    keeper.kept["news"] = etree.parse(io.BytesIO(feed)).getroot()[-1]
    return {"with_headers": malloc_in_use(libc) - before}


def keep_full_images(keeper):
    """Beside their thumbnails, which were meant."""
    from PIL import Image
    for number in range(20):
        image = Image.new("RGB", (640, 480), (number, 10, 20))
        keeper.kept[number] = (image, image.resize((64, 48)))
    return {"bytes": 20 * 4 * (640 * 480 + 64 * 48)}  # Pillow stores RGB in four bytes


def keep_page_cache(keeper):
    """Of a connection that may cache 64 MiB."""
    library = ctypes.CDLL("libsqlite3.so.0")
    library.sqlite3_memory_used.restype = ctypes.c_int64
    before = library.sqlite3_memory_used()
    connection = keeper.kept["app.db"] = sqlite3.connect("app.db")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("CREATE TABLE t(name, data)")
    connection.executemany("INSERT INTO t VALUES(?, ?)", (("name %d" % i, os.urandom(400)) for i in range(30_000)))
    connection.commit()
    connection.execute("SELECT sum(length(data)) FROM t").fetchall()
    return {"bytes": library.sqlite3_memory_used() - before}


def main():
    keeper = Keeper()
    truth = {"lxml": keep_newest_entry, "pil": keep_full_images, "sqlite3": keep_page_cache}[sys.argv[1]](keeper)
    gc.collect()
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], {**truth, **kernel_says()})


if __name__ == "__main__":
    main()
