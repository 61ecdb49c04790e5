#!/usr/bin/env python3
"""A process of 70,000 mappings and one of 100 GiB, nearly all of it never touched: both must be answered in seconds.

    scale.py --heapsift build/dev/heapsift [--tree …]

Mappings: from 65,535 on, the number of program headers does not fit its field and is stored elsewhere (PN_XNUM), and work for each pair of
mappings would take minutes. The process splits one mapping into 70,000. If vm.max_map_count cannot be raised for that, the script says so
and gives the core of a plain process 70,000 more headers instead.

Size: a core is sparse where the process touched nothing. A sweep that read the holes would fault 26 million pages and fill the machine's
memory with zeros. The process maps 100 GiB and touches a page in each; gcore is not used, since it writes every zero.
"""

import argparse
import glob
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import cores
import damage

_MAPPINGS = 70000
_SECONDS = 20
_PAGE = 4096
_MANY = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
start = libc.mmap(None, %d * 4096, 3, 0x22, -1, 0)
for i in range(0, %d, 2):
    if libc.mprotect(start + i * 4096, 4096, 1):
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.c_long.from_address(start + (i + 1) * 4096).value = 1
kept = [object() for _ in range(1000)]
os.abort()
""" % (_MAPPINGS, _MAPPINGS)
_LARGE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 100 << 30
start = libc.mmap(None, size, 3, 0x4022, -1, 0)
for offset in range(0, size, 1 << 30):
    ctypes.c_long.from_address(start + offset).value = offset
kept = [object() for _ in range(1000)]
os.abort()
"""


def main():
    parser = argparse.ArgumentParser(description="cores of very many mappings, and of very much memory")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--tree", action="append", default=[], help="not used: one interpreter is enough")
    parser.add_argument("--work", metavar="DIR", default="/var/tmp", help="where cores are taken: a file system with sparse files")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="heapsift-scale-", dir=options.work)
    try:
        failures = many_mappings(os.path.abspath(options.heapsift), work) + large(os.path.abspath(options.heapsift), work)
    except cores.NoCore as reason:
        failures = [str(reason)]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def core_of(program, work, name):
    folder = os.path.join(work, name)
    os.mkdir(folder)

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    why = cores.why_no_kernel_cores()
    if why:
        raise cores.NoCore(why)
    done = subprocess.run(["/usr/bin/python3", "-c", program], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          preexec_fn=prepare, timeout=300)
    found = glob.glob(folder + "/core*")
    if done.returncode != -signal.SIGABRT or not found:
        raise cores.NoCore("%s: exit %d, %s" % (name, done.returncode, done.stderr.strip()[-200:]))
    return found[0]


def many_mappings(heapsift, work):
    limit = "/proc/sys/vm/max_map_count"
    with open(limit) as file:
        before = int(file.read())
    try:
        if before < _MAPPINGS + 1000:
            with open(limit, "w") as file:
                file.write("%d\n" % (_MAPPINGS + 5000))
        core, how = core_of(_MANY, work, "many"), "a process"
    except OSError as reason:
        core, how = with_more_headers(core_of("import os; os.abort()", work, "few"), work), "headers added, for %s" % reason
    finally:
        if before < _MAPPINGS + 1000 and os.access(limit, os.W_OK):
            try:
                with open(limit, "w") as file:
                    file.write("%d\n" % before)
            except OSError:
                pass
    return ask(heapsift, work, core, "%d mappings (%s)" % (_MAPPINGS, how), least_segments=65536)


def with_more_headers(core, work):
    """The same core with 70,000 more one-page segments far above the others, all from the same page of the file."""
    with open(core, "rb") as file:
        content = file.read()
    start, count = struct.unpack_from("<Q", content, 32)[0], struct.unpack_from("<H", content, 56)[0]
    headers = [content[start + 56 * i:start + 56 * (i + 1)] for i in range(count)]
    page = len(content) // _PAGE * _PAGE - _PAGE
    headers += [struct.pack("<IIQQQQQQ", 1, 6, page, 0x600000000000 + 2 * _PAGE * i, 0, _PAGE, _PAGE, _PAGE) for i in range(_MAPPINGS)]
    end = (len(content) + 7) // 8 * 8
    table = end + 64
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, len(headers), 0, 0)
    header = bytearray(content[:64])
    struct.pack_into("<QQ", header, 32, table, end)
    struct.pack_into("<HHHHH", header, 54, 56, 0xffff, 64, 1, 0)
    path = os.path.join(work, "many-headers")
    with open(path, "wb") as file:
        file.write(bytes(header) + content[64:].ljust(end - 64, b"\0") + section + b"".join(headers))
    os.remove(core)
    return path


def large(heapsift, work):
    core = core_of(_LARGE, work, "large")
    size, there = os.path.getsize(core), os.stat(core).st_blocks * 512
    if size < 100 << 30 or there > 4 << 30:
        return ["the core of 100 GiB has %d bytes, %d on the disk" % (size, there)]
    return ask(heapsift, work, core, "%d GiB, %d MiB on the disk" % (size >> 30, there >> 20))


def ask(heapsift, work, core, what, least_segments=0):
    failures = []
    for question in ("types", "overview", "doctor"):
        began = time.monotonic()
        answer = damage.Answer([heapsift, question, core, "--json"], work, 300, 1 << 60)
        seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print("%-40s %-9s exit %s, %.2f seconds, at most %d MiB of memory so far" % (what, question, answer.code, seconds, peak), flush=True)
        if answer.code != 0 or answer.faults:
            failures.append("%s: %s: exit %s %s %s" % (what, question, answer.code, answer.faults, answer.said[-300:] if answer.code else ""))
            continue
        if seconds > _SECONDS:
            failures.append("%s: %s took %.1f seconds" % (what, question, seconds))
        if question == "types":
            counts = {row["name"]: row["count"] for row in answer.document["data"]["types"]}
            if counts.get("object", 0) < 1000:
                failures.append("%s: %d of 1000 objects" % (what, counts.get("object", 0)))
        if question == "doctor" and least_segments:
            segments = answer.document["data"]["segments"]
            told = segments.get("segments", segments.get("count", 0)) if isinstance(segments, dict) else segments
            if told < least_segments:
                failures.append("%s: doctor tells of %s segments" % (what, told))
    return failures


if __name__ == "__main__":
    sys.exit(main())
