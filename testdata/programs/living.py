"""A process that is asked while it lives. It says `ready`, and then `alive` for each line on its standard input; with a number of
bytes a second as argument it grows by so much instead, after a first number of bytes at once, until it is killed.
"""

import sys
import time


class Node(object):
    def __init__(self, value):
        self.value = value


class Block(object):
    """64 KiB that were touched."""

    def __init__(self):
        self.data = bytearray(b"x") * 65536


NODES = [Node(number) for number in range(1234)]
BLOCKS = []


def hide():
    """As a program does that guards a secret."""
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def grow(at_once, speed):
    while len(BLOCKS) * 65536 < at_once:
        BLOCKS.append(Block())
    say("ready")
    sys.stdin.readline()
    start, before = time.time(), len(BLOCKS)
    while True:
        while (len(BLOCKS) - before) * 65536 < (time.time() - start) * speed:
            BLOCKS.append(Block())
        time.sleep(0.01)


def say(word):
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if sys.argv[1:] == ["hide"]:
    hide()
elif sys.argv[1:]:
    grow(int(sys.argv[1]), int(sys.argv[2]))
say("ready")
while sys.stdin.readline():
    say("alive")
