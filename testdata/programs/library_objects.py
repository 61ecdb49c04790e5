"""Objects whose bytes are outside Python's count: files in memory, mappings, connections, and, where they are installed, images and XML documents.

Writes down what each says of itself. The file that it maps and the database lie beside the truth.
"""

import io
import mmap
import os
import sqlite3

import standstill

try:
    from PIL import Image
except ImportError:
    Image = None
try:
    from lxml import etree
except ImportError:
    etree = None


class Store:
    pass


def main():
    store, truth, folder = Store(), {}, os.path.dirname(os.path.abspath(os.environ["HEAPSIFT_TRUTH"]))

    def add(name, value, **said):
        setattr(store, name, value)
        truth[name] = said

    file = io.BytesIO()
    file.write(b"x" * 70_000)
    file.seek(10)
    add("bytes_io", file, bytes=file.getbuffer().nbytes)
    add("given_bytes_io", io.BytesIO(b"y" * 5_000), bytes=5_000, allocated=5_000)
    closed = io.BytesIO(b"z")
    closed.close()
    add("closed_bytes_io", closed, nothing=True)
    path = os.path.join(folder, "mapped.bin")
    with open(path, "wb") as out:
        out.write(b"m" * 20_000)
    with open(path, "rb") as mapped:
        add("mapped", mmap.mmap(mapped.fileno(), 0, access=mmap.ACCESS_READ), bytes=20_000, file=path)
    add("anonymous", mmap.mmap(-1, 1 << 16), bytes=1 << 16)
    path = os.path.join(folder, "a database.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t(a)")
    connection.commit()
    add("connection", connection, file=path)
    filled = sqlite3.connect(":memory:")
    filled.execute("CREATE TABLE t(a, b)")
    filled.executemany("INSERT INTO t VALUES(?, ?)", ((i, "x" * 80) for i in range(20_000)))
    filled.commit()
    pages, = filled.execute("PRAGMA page_count").fetchone()
    size, = filled.execute("PRAGMA page_size").fetchone()
    add("in_memory", filled, file=None, bytes=pages * size)
    add("empty_database", sqlite3.connect(":memory:"), file=None)
    closed = sqlite3.connect(":memory:")
    closed.close()
    add("closed_connection", closed, nothing=True)
    if Image:
        for mode in ("RGB", "L", "RGBA", "1", "F", "I;16", "CMYK"):
            image = Image.new(mode, (321, 123))
            # pixelsize of libImaging: 4 bytes but for these
            add("image_" + mode.replace(";", "_"), image, mode=mode, width=321, height=123, pixel={"L": 1, "1": 1, "I;16": 2}.get(mode, 4))
    if etree:
        path = os.path.join(folder, "document.xml")
        with open(path, "w", encoding="ascii") as out:
            out.write("<!-- first --><catalog>%s</catalog>" % "".join("<entry n='%d'>%s</entry>" % (i, "text " * 10) for i in range(3_000)))
        tree = etree.parse(path)
        add("element", tree.getroot()[17], tag="entry", file=path)
        add("root", etree.fromstring("<a:top xmlns:a='urn:x'/>"), tag="top", file=None)
    return store, truth


STORE, _truth = main()
standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], _truth)
