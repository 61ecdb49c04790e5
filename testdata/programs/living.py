"""A process that is asked while it lives. It says `ready`, and then `alive` for each line on its standard input; with a number of
bytes a second as argument it grows by so much instead, after a first number of bytes at once, until it is killed; after a third argument `bursts`
once a second, after `children` in three child processes, whose end is its own.
"""

import os
import signal
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


def grow(at_once, speed, shape="steady"):
    while len(BLOCKS) * 65536 < at_once:
        BLOCKS.append(Block())
    say("ready")
    sys.stdin.readline()
    pid = os.getpid()
    if shape == "children":
        children = [os.fork() for _ in range(3) if os.getpid() == pid]
        if os.getpid() == pid:
            gone = os.wait()[0]  # the OOM killer has taken one
            for child in children:
                if child != gone:
                    os.kill(child, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
        speed //= 3
    start, before = time.time(), len(BLOCKS)
    while shape != "children" or os.getppid() == pid:
        while (len(BLOCKS) - before) * 65536 < (time.time() - start) * speed:
            BLOCKS.append(Block())
        time.sleep(1 if shape == "bursts" else 0.01)
    os._exit(0)


def say(word):
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if sys.argv[1:] == ["hide"]:
    hide()
elif sys.argv[1:]:
    grow(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
say("ready")
while sys.stdin.readline():
    say("alive")
