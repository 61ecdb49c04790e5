"""Processes that cannot be forked or frozen, or have memory that nobody else may read: cases of capture.py."""

import argparse
import contextlib
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from capturing import WAYS, Wrong, ask, capture, captured, capturing_of, states, wait_until
from cores import PROGRAMS


class Script:
    """A program that prints a line once it is ready, and then answers each line with its own."""

    def __init__(self, text, **popen):
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # that other users may run
        self.process = subprocess.Popen([python, "-c", _SCRIPT_BEGINS + text + _SCRIPT_ENDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, **popen)
        self.pid = self.process.pid
        self.said = self.process.stdout.readline().split()

    def answers(self, when):
        self.process.stdin.write("%s\n" % when)
        self.process.stdin.flush()
        if self.process.stdout.readline().rstrip("\n") != when:
            raise Wrong("%s: it does not answer" % when)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


_SCRIPT_BEGINS = """
import ctypes, mmap, os, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
word = "ready"
"""
_SCRIPT_ENDS = """
print(word, flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
"""
# userfaultfd(O_CLOEXEC); UFFDIO_API with UFFD_FEATURE_EVENT_FORK; UFFDIO_REGISTER, for missing pages; a thread of its own that reads
_TOLD_OF_FORKS = """
import fcntl
uffd = libc.syscall(323, 0o2000000)
memory = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
try:
    fcntl.ioctl(uffd, 0xc018aa3f, ctypes.create_string_buffer(struct.pack("QQQ", 0xaa, 2, 0), 24))
    fcntl.ioctl(uffd, 0xc020aa00, ctypes.create_string_buffer(struct.pack("QQQQ", memory, 1 << 20, 1, 0), 32))
except OSError:
    word = "impossible"
def read():
    while True:
        os.read(uffd, 32)
if word == "ready":
    threading.Thread(target=read, daemon=True).start()
"""
_SECRET = """
secret = libc.syscall(447, 0)
word = "impossible"
if secret >= 0:
    os.ftruncate(secret, 1 << 20)
    address = libc.mmap(None, 1 << 20, 3, 1, secret, 0)
    if address not in (None, (1 << 64) - 1):
        ctypes.memset(address, 65, 1 << 20)
        word = "ready %d" % address
"""

# A private mapping of a memfd, some of whose pages are in the page tables: for missing pages, or for such as only the file has (minor)
_ANSWERED = """
import fcntl
file = os.memfd_create("answered")
os.pwrite(file, b"D" * (100 << 12), 0)
memory = libc.mmap(None, 200 << 12, 3, %d, file, 0)
os.ftruncate(file, 200 << 12)
for page in range(0, 100, 6):
    ctypes.memset(memory + (page << 12), 65, 8)
uffd = libc.syscall(323, 0o2000000)
try:
    fcntl.ioctl(uffd, 0xc018aa3f, ctypes.create_string_buffer(struct.pack("QQQ", 0xaa, 0, 0), 24))
    fcntl.ioctl(uffd, 0xc020aa00, ctypes.create_string_buffer(struct.pack("QQQQ", memory, 200 << 12, %d, 0), 32))
except OSError:
    word = "impossible"
def read():
    os.read(uffd, 32)
    os._exit(3)  # somebody looked at a page that was not there
if word == "ready":
    threading.Thread(target=read, daemon=True).start()
"""
_HUGE = """
memory = libc.mmap(None, 8 << 21, 3, 0x40022, -1, 0)
word = "impossible"
if memory not in (None, (1 << 64) - 1):
    ctypes.memset(memory + (2 << 21), 65, 1 << 21)
    word = "ready %d" % memory
"""


def execs(options, interpreter, folder):
    program, beats = os.path.join(folder, "execs"), os.path.join(folder, "beats")
    subprocess.run(["cc", "-O1", "-pthread", "-o", program, os.path.join(PROGRAMS, "execs.c")], check=True)
    process = subprocess.Popen([program, "300", beats], stdin=subprocess.DEVNULL)
    counts = {}
    try:
        wait_until(lambda: os.path.exists(beats))
        for number in range(30):
            for name, more in (("core", []), ("core", ["--fork"])):
                try:
                    code, document = capture(options, process.pid, os.path.join(folder, name), "-f", *more, timeout=30)
                except subprocess.TimeoutExpired:
                    raise Wrong("capture %s number %d does not end" % (" ".join(more), number)) from None
                said = (document.get("error") or {}).get("code", "whole")
                if (code == 0) != (said == "whole") or said not in ("whole", "program-replaced"):
                    raise Wrong("capture %s: exit %d, %s" % (" ".join(more), code, document))
                counts[said] = counts.get(said, 0) + 1
                before = os.path.getsize(beats)
                wait_until(lambda: os.path.getsize(beats) > before)
        return "%s; it began anew %d times" % (", ".join("%d %s" % (counts[word], word) for word in sorted(counts)), os.path.getsize(beats))
    finally:
        process.kill()
        process.wait()


def without_fork(options, script, path, what, said, **popen):
    began = time.monotonic()
    code, document = capture(options, script.pid, path, "--fork", "-f", **popen)
    if code:
        raise Wrong("%s: exit %d: %s" % (what, code, document.get("error")))
    notes = [one["message"] for one in document["warnings"] if one["code"] == "no-fork"]
    if document["data"]["captures"][0]["method"] != "copy" or len(notes) != 1 or said not in notes[0]:
        raise Wrong("%s: %s, %s" % (what, document["data"]["captures"][0]["method"], document["warnings"]))
    if time.monotonic() - began > 30:
        raise Wrong("%s: it took %.0f s" % (what, time.monotonic() - began))


def not_forked(options, interpreter, folder):
    del interpreter
    path = os.path.join(folder, "core")
    done = []
    script = Script(_TOLD_OF_FORKS)
    try:
        if script.said == ["ready"]:
            without_fork(options, script, path, "a userfaultfd", "userfaultfd")
            script.answers("after a userfaultfd")
            done.append("userfaultfd")
    finally:
        script.end()
    script = Script("")
    try:
        with frozen(script.pid, 2) as group:
            if group:
                without_fork(options, script, path, "a frozen group", "frozen")
                done.append("frozen (version 2)")
        script.answers("after it was thawed")
        if capturing_of(script.pid):
            raise Wrong("it is still traced")
        if os.geteuid() == 0:
            own = tempfile.mkdtemp(prefix="heapsift-nobody-", dir="/var/tmp")
            shutil.copy(options.heapsift, own)
            os.chown(own, 65534, 65534)
            nobody = Script("", user=65534, group=65534, extra_groups=[])
            try:
                def one_process():
                    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
                    os.setgid(65534)
                    os.setuid(65534)
                theirs = argparse.Namespace(heapsift=os.path.join(own, os.path.basename(options.heapsift)))
                without_fork(theirs, nobody, os.path.join(own, "core"), "a limit on processes", "could not be started", preexec_fn=one_process)
                nobody.answers("after a limit")
                done.append("limit")
            finally:
                nobody.end()
                shutil.rmtree(own)
    finally:
        script.end()
    return ", ".join(done) or "not possible here"


@contextlib.contextmanager
def frozen(pid, version):
    """In a group that is frozen meanwhile; gives its folder, or None where that cannot be."""
    top = None
    with open("/proc/self/mountinfo") as mounts:
        for fields in (line.split() for line in mounts):
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            if kind == ("cgroup2" if version == 2 else "cgroup") and (version == 2 or "freezer" in options):
                top = fields[4]
    group = top and os.path.join(top, "heapsift-frozen-%d" % pid)
    name, on, off = ("cgroup.freeze", "1", "0") if version == 2 else ("freezer.state", "FROZEN", "THAWED")

    def write(file, text):
        with open(os.path.join(group, file), "w") as out:
            out.write(text)
    try:
        os.mkdir(group)
    except (OSError, TypeError):
        group = None
    try:
        if group and os.path.exists(os.path.join(group, name)):
            write("cgroup.procs", str(pid))
            write(name, on)
            time.sleep(0.2)
            yield group
            write(name, off)
        else:
            yield None
    finally:
        if group:
            if os.path.exists(os.path.join(group, name)):
                write(name, off)
            with open(os.path.join(top, "cgroup.procs"), "w") as out:
                try:
                    out.write(str(pid))
                except OSError:
                    pass
            time.sleep(0.1)
            os.rmdir(group)


def secret(options, interpreter, folder):
    del interpreter
    script = Script(_SECRET)
    try:
        if script.said[0] != "ready":
            return "not possible here"
        address = int(script.said[1])
        for name, more in WAYS:
            path = os.path.join(folder, name)
            captured(options, script.pid, path, "--full", "-f", *more)
            script.answers("after --full")
            plain = path
            if name.endswith(".zst"):
                plain = os.path.join(folder, "plain")
                with open(path, "rb") as packed, open(plain, "wb") as out:
                    subprocess.run(["zstd", "-dc"], stdin=packed, stdout=out, check=True)
            sizes = [(in_file, in_memory) for start, in_file, in_memory in segments_of(plain) if start == address]
            if sizes != [(0, 1 << 20)]:
                raise Wrong("%s %s: its segment has (in the file, in memory) %s" % (name, more, sizes))
        return "named, without bytes"
    finally:
        script.end()


# Its first thread ends; another answers, and says its number.
_WITHOUT_FIRST = """
def rest():
    print("ready", threading.get_native_id(), flush=True)
    for line in sys.stdin:
        print(line, end="", flush=True)
threading.Thread(target=rest).start()
libc.syscall(60, 0)
"""


def without_first_thread(options, interpreter, folder):
    del interpreter
    script = Script(_WITHOUT_FIRST)
    try:
        end = time.monotonic() + 10
        while states(script.pid) != {"Z", "S"} and time.monotonic() < end:
            time.sleep(0.01)
        path, tid = os.path.join(folder, "core"), script.said[1]
        code, document = capture(options, script.pid, path)
        if code != 1 or document["error"]["code"] != "first-thread-ended" or tid not in document["error"]["hint"]:
            raise Wrong("by the process's number: exit %d, %s" % (code, document.get("error")))
        for more in ([], ["--fork"]):
            captured(options, tid, path, "-f", *more)
            script.answers("after capture %s" % " ".join(more))
            threads = ask(options, path, "threads")["data"]["threads"]
            if not any(one["tid"] == int(tid) and one["frames"] for one in threads):  # Python does not know that the first has ended
                raise Wrong("capture %s: its threads are %s" % (" ".join(more), [one["tid"] for one in threads]))
        return "by the number of another"
    finally:
        script.end()


# Eight shared huge pages of which one was written.
_HUGE_SHARED = """
memory = libc.mmap(None, 8 << 21, 3, 0x40021, -1, 0)
word = "impossible"
if memory not in (None, (1 << 64) - 1):
    ctypes.memset(memory + (2 << 21), 65, 1 << 21)
    word = "ready %d" % memory
"""


def huge_shared(options, interpreter, folder):
    del interpreter
    script = Script(_HUGE_SHARED)
    try:
        if script.said[0] != "ready":
            return "not possible here"
        memory = int(script.said[1])
        for more in ([], ["--fork"]):
            path = os.path.join(folder, "core")
            captured(options, script.pid, path, "--full", "-f", *more)
            script.answers("after --full %s" % " ".join(more))
            found = [bytes_at(path, memory + (number << 21), 4) for number in (1, 2, 3)]
            if found != [b"\0" * 4, b"AAAA", b"\0" * 4]:
                raise Wrong("--full %s: its pages have %s" % (" ".join(more), found))
            if huge_kib(script.pid, "Shared_Hugetlb:", "Private_Hugetlb:") != 2048:
                raise Wrong("--full %s: it has more huge pages than before" % " ".join(more))
        return "those that were written are there"
    finally:
        script.end()


def bytes_at(core, address, count):
    with open(core, "rb") as file:
        header = file.read(64)
        at, entries = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<H", header, 56)[0]
        file.seek(at)
        table = file.read(56 * entries)
        for n in range(entries):
            kind, _, offset, start, _, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", table, 56 * n)
            if kind == 1 and start <= address < start + in_file:
                file.seek(offset + address - start)
                return file.read(count)
    return None


def not_touched(options, interpreter, folder):
    del interpreter
    done = []
    for name, script in (("missing pages", _ANSWERED % (2, 1)), ("minor faults", _ANSWERED % (1, 4)), ("huge pages", _HUGE)):
        script = Script(script)
        try:
            if script.said[0] != "ready":
                continue
            for core, more in WAYS:
                try:
                    captured(options, script.pid, os.path.join(folder, core), "-f", *more)
                    script.answers("after capture %s" % " ".join(more))
                except (OSError, Wrong, subprocess.TimeoutExpired) as error:
                    raise Wrong("%s, %s: %s" % (name, " ".join([core, *more]), error)) from None
                if name == "huge pages" and huge_kib(script.pid) != 2048:
                    raise Wrong("%s: it has %d KiB of huge pages" % (" ".join([core, *more]), huge_kib(script.pid)))
            done.append(name)
        finally:
            script.end()
    return ", ".join(done) or "not possible here"


def huge_kib(pid, *kinds):
    with open("/proc/%d/smaps" % pid) as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(kinds or "Private_Hugetlb:"))


def segments_of(core):
    """(start, bytes in the file, bytes of memory) of each."""
    with open(core, "rb") as file:
        header = file.read(64)
        at, count = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<H", header, 56)[0]
        file.seek(at)
        table = file.read(56 * count)
    for n in range(count):
        kind, _, _, start, _, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", table, 56 * n)
        if kind == 1:
            yield start, in_file, in_memory
