"""A process that is captured while it works, and notices whatever that does to it.

    captured.py MODE [COUNT]        threads: COUNT threads that wait and work; restless: it forks, spawns, and ends threads all the while;
                                    plain; children: two child processes besides; large: 96 MiB of memory besides; holes: COUNT pages besides, each
                                    with its number, and as many between them that were never touched; it says where they begin. Besides
                                    guards, and a file's mapping that goes beyond the file, which have pages that nobody can read

On a line `exec` it becomes another process of the same program, by exec, and says `ready` again. It answers each other line of standard input with the same line, the number of things that went wrong so far, and the first of them. Wrong is: a sum
that is not what it must be, a wait that ended early or with an error, a lock that was lost, a signal that nobody sent, a child that it did not make.
"""

import ctypes
import errno
import hashlib
import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # that it forks with threads is what it is for
WALL = 0x40000000  # __WALL: children without a signal at their end too
wrong = []
lock = threading.Lock()
held = {"by": 0}
KEEP = [{"number": n, "text": "text %d" % n} for n in range(20000)]
DIGEST = hashlib.sha256(b"x" * 5000).hexdigest()


def expect(what, truth):
    if not truth:
        wrong.append(what)


def work(number):
    reader, writer = os.pipe()
    while True:
        began = time.monotonic()
        kind = number % 5
        if kind == 0:
            time.sleep(0.02)
            expect("a sleep ended early", time.monotonic() - began >= 0.02)
        elif kind == 1:
            expect("select found what is not there", select.select([reader], [], [], 0.02) == ([], [], []))
            expect("select ended early", time.monotonic() - began >= 0.0199)
        elif kind == 2:
            expect("an event came", not threading.Event().wait(0.02))
        elif kind == 3:
            os.write(writer, b"%d" % number)
            expect("a pipe lost its bytes", os.read(reader, 20) == b"%d" % number)
            time.sleep(0.01)
        else:
            expect("a digest is wrong", hashlib.sha256(b"x" * 5000).hexdigest() == DIGEST)
            expect("a sum is wrong", sum(range(3000)) == 4498500 and sum(n * 0.5 for n in range(100)) == 2475.0)
            time.sleep(0.005)
        with lock:
            expect("a lock is held by two", held["by"] == 0)
            held["by"] = number + 1
            expect("a lock is held by two", held["by"] == number + 1)
            held["by"] = 0


def guarded(number):
    try:
        work(number)
    except BaseException as error:
        wrong.append("a thread failed: %r" % error)


def come_and_go():
    while True:
        thread = threading.Thread(target=lambda: time.sleep(0.001))
        thread.start()
        thread.join(10)
        expect("a thread did not end", not thread.is_alive())


def have_children():
    while True:
        child = os.fork()
        if child == 0:
            os._exit(7)
        expect("a child ended otherwise", os.waitpid(child, 0) == (child, 7 << 8))
        expect("a command failed", subprocess.call(["true"]) == 0)


def written_pages(count):
    pages = mmap.mmap(-1, 2 * count * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    for number in range(count):
        pages[2 * number * mmap.PAGESIZE] = 1 + number % 255
    return pages


def unreadable_pages():
    guard, page = 102, mmap.PAGESIZE  # MADV_GUARD_INSTALL, Linux 6.13; of files' mappings 6.15
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    own = libc.mmap(None, 3000 * page, 3, 0x22, -1, 0)
    ctypes.memset(own, 7, 3000 * page)
    libc.madvise(own + 100 * page, 2800 * page, guard)
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * (40 * page + 100))
        file.flush()
        for guards in ((), (12, 33), (20, 499), (250, 499)):  # page numbers, where a search for the file's end may look
            start = libc.mmap(None, 500 * page, 3, 2, file.fileno(), 0)
            ctypes.memset(start + page, 7, page)
            for number in guards:
                libc.madvise(start + number * page, page, guard)


def no_unknown_child():
    try:
        found = os.waitpid(-1, os.WNOHANG | WALL)
    except OSError as error:
        expect("waitpid failed", error.errno == errno.ECHILD)
    else:
        wrong.append("a child that it did not make: %s" % (found,))


def main():
    mode, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for number in list(signal.valid_signals()) if hasattr(signal, "valid_signals") else [signal.SIGCHLD, signal.SIGUSR1, signal.SIGTRAP]:
        if number in (signal.SIGCHLD, signal.SIGTRAP, signal.SIGUSR1, signal.SIGHUP, signal.SIGCONT) and (mode != "restless" or number != signal.SIGCHLD):
            signal.signal(number, lambda got, _: got != signal.SIGCONT and wrong.append("signal %d" % got))
    for number in range(count if mode != "holes" else 0):
        threading.Thread(target=guarded, args=(number,), daemon=True).start()
    if mode == "restless":
        for target in (come_and_go, come_and_go, have_children):
            threading.Thread(target=target, daemon=True).start()
    children = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]) for _ in range(2)] if mode == "children" else []
    ballast = bytearray(os.urandom(1 << 16) * (96 << 4)) if mode == "large" else b""
    pages = written_pages(count) if mode == "holes" else None
    if mode == "holes":
        unreadable_pages()
    where = [ctypes.addressof(ctypes.c_char.from_buffer(pages))] if pages else []
    print("ready", os.getpid(), *[child.pid for child in children], *where, flush=True)
    while True:
        line = sys.stdin.readline()
        if not line:
            break
        if line.strip() == "exec":
            os.execv(sys.executable, [sys.executable] + sys.argv)
        if mode in ("plain", "threads", "large"):
            no_unknown_child()
        expect("its memory is lost", mode != "large" or len(ballast) == 96 << 20)
        print(line.strip(), len(wrong), wrong[0] if wrong else "", flush=True)
    for child in children:
        child.kill()
        child.wait()
    os._exit(0)


main()
