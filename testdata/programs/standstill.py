"""How a program that knows what heapsift must find comes to rest: it writes that down in one piece, as JSON, and stands still.

The document has addresses and numbers, never the objects themselves, so that writing it holds nothing. HEAPSIFT_CORE_BY says what the
program does then: `kernel` raises SIGABRT; otherwise it sleeps, for gcore.
"""

import json
import os
import signal


def write_and_rest(path, document):
    """Does not return."""
    write(path, document)
    document = None
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.abort()
    while True:
        signal.pause()


def write(path, document):
    with open(path + ".part", "w", encoding="ascii") as out:
        json.dump(document, out, indent=1)
        out.write("\n")
    os.rename(path + ".part", path)


def address(obj):
    return "%#x" % id(obj)


def line_of(file, mark):
    """The number of the line of `file` that ends with the comment `mark`: a frame's position. Asking the frame would make an object of it."""
    with open(file, encoding="utf-8") as lines:
        number, = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("# " + mark)]
    return number
