#!/usr/bin/env python3
"""How long heapsift browse takes for each key: until the last byte that the key makes it draw has arrived.

    browse.py HEAPSIFT CORE [--keys Enter w r …] [--columns 120] [--lines 40] [--aim 50] [--index-dir DIR]

`heapsift index CORE` comes first. A key above the aim (milliseconds) has a mark; so has one that drew nothing, with -.
"""

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

KEYS = ["Down", "Enter", "Down", "PgDn", "End", "Home", "w", "Back", "r", "Back", "e", "Back", "t", "End", "2", "Enter", "Enter", "Enter", "Down", "w", "Back", "r", "Back", "3",
        "Down", "Enter", "Back", "s", "4", "PgDn", "End", "s", "s", "s", "Home", "Enter", "PgDn", "Back", "/", "d", "Esc", "f", "l", "i", "Esc", "5", "Down", "Enter", "h", "Home", "m", "M", "y", "x",
        "?", "x", "1"]
CODES = {"Enter": "\r", "Back": "\x7f", "Down": "\x1bOB", "Up": "\x1bOA", "PgDn": "\x1b[6~", "PgUp": "\x1b[5~", "End": "\x1bOF", "Home": "\x1bOH", "Esc": "\x1b"}
_QUIET = 0.25  # seconds without output: it has drawn what it draws
_FIRST = 60


class Screen:
    def __init__(self, command, columns, lines):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm-256color", HEAPSIFT_STATE="off")
            os.execv(command[0], command)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, first, until=None):
        """(when the last byte came, what came)"""
        last, said, patience = None, b"", first
        while select.select([self.terminal], [], [], patience)[0]:
            try:
                said += os.read(self.terminal, 1 << 16)
            except OSError:
                break
            last = time.monotonic()
            patience = first if until and until not in said else _QUIET
        return last, said

    def press(self, key):
        began = time.monotonic()
        os.write(self.terminal, CODES.get(key, key).encode())
        last, said = self.read(3)
        while b"Esc: stop" in said and b"Enter" not in said:  # it works, and says how far it is
            more, rest = self.read(_FIRST, b"Enter")
            last, said = more or last, rest
            if not rest:
                break
        return None if last is None else 1000 * (last - began)


def main():
    parser = argparse.ArgumentParser(description="milliseconds for each key of browse")
    parser.add_argument("heapsift", type=os.path.abspath)
    parser.add_argument("core")
    parser.add_argument("--keys", nargs="*", default=KEYS)
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--aim", type=float, default=50)
    parser.add_argument("--index-dir", metavar="DIR")
    options = parser.parse_args()
    where = ["--index-dir", options.index_dir] if options.index_dir else []
    subprocess.run([options.heapsift, "index", options.core, *where], check=True, stdout=subprocess.DEVNULL)
    began = time.monotonic()
    screen = Screen([options.heapsift, "browse", options.core, *where], options.columns, options.lines)
    last, _ = screen.read(_FIRST, b"quit")
    print("first screen %8.1f ms" % (1000 * (last - began)))
    above = 0
    for key in options.keys:
        took = screen.press(key)
        above += took is not None and took > options.aim
        print("%-12s %s" % (key, "       -" if took is None else "%8.1f ms%s" % (took, "  above" if took > options.aim else "")), flush=True)
    os.kill(screen.process, signal.SIGTERM)
    os.waitpid(screen.process, 0)
    print("%d of %d above %g ms" % (above, len(options.keys), options.aim))
    return 0


if __name__ == "__main__":
    sys.exit(main())
