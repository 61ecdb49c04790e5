"""Threads in native calls: blocked in the system, in a signal's handler, in C++ that was called from Python and calls it back, and two that
Python did not make. Then it stands still, for gcore, or crashes in C++ (HEAPSIFT_CRASH: main, thread, nothing).

HEAPSIFT_LIBRARY is native_calls.cpp, compiled; the file HEAPSIFT_SIGN appears when all threads are where they stay.
"""

import ctypes
import os
import sys
import threading
import time

library = ctypes.CDLL(os.environ["HEAPSIFT_LIBRARY"])
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
lock = threading.Lock()
lock.acquire()


def sleep_long():
    time.sleep(10000)


def wait_for_lock():
    lock.acquire()


def wait_in_handler():
    library.wait_in_handler()


def numbers():
    yield 1
    time.sleep(10000)
    yield 2


def add_up():
    return sum(numbers())


class Work:
    def __init__(self, depth):
        self.value = self.down(depth)

    def down(self, depth):
        if depth:
            return self.down(depth - 1)
        return sorted([1, 2], key=self.key)

    def key(self, number):
        return library.call_back(2, self.called)

    @CALLBACK
    def called(depth):
        time.sleep(10000)
        return 0


@CALLBACK
def called_by_c(depth):
    wait_for_lock()
    return 0


@CALLBACK
def end(depth):
    how = os.environ.get("HEAPSIFT_CRASH", "")
    with open(os.environ["HEAPSIFT_SIGN"], "w") as file:
        file.write("there")
    if how == "main":
        library.write_to(None)
    elif how == "thread":
        crash.set()
        time.sleep(10000)
    elif how == "nothing":
        library.call_nothing(None)
    else:
        time.sleep(10000)
    return 0


def crash_later():
    crash.wait()
    library.write_to(ctypes.c_void_p(0x1230))


def recurse(depth):
    return recurse(depth - 1) if depth else library.call_back(1, end)


crash = threading.Event()
threads = []
for name, run in sorted({"sleeper": sleep_long, "waiter": wait_for_lock, "handler": wait_in_handler, "generator": add_up,
                         "worker": lambda: Work(3), "crasher": crash_later}.items()):
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    threads.append(thread)
for number in range(int(os.environ.get("HEAPSIFT_MORE_THREADS", "0"))):
    threading.Thread(target=sleep_long, daemon=True).start()
library.start_alone()
library.start_caller(called_by_c)
time.sleep(1)
sys.setswitchinterval(1000)
recurse(5)
