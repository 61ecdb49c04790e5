#!/usr/bin/env python3
"""Native calls: what `heapsift threads --native` reads from a core must be what gdb reads from it.

    native_frames.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--interpreters 3.11 …]

For each interpreter: testdata/programs/native_calls.py is stopped by gcore, and crashes in C++: in the main thread, in another one, and
in a call through a null pointer. Thread by thread, each native frame must be gdb's: the same address, the same function (aliases of a
symbol are the same), inlined ones where debug information is at hand. Python's calls must stand where its interpreter's loop is. Without
the library's file its threads' lists must end there, with the reason, unless the core has its pages; with stacks that are overwritten there
must be an answer, soon.
Prints a line for each core; exit 1 unless all of it agrees.
"""

import argparse
import atexit
import contextlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import cores
import harness
import interpreters

_GDB = r'''
import gdb, json
gdb.execute("set backtrace past-main on")
said = []
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames, frame = [], gdb.newest_frame()
    while frame is not None and len(frames) < 5000:
        if frame.type() == gdb.TAILCALL_FRAME:  # of a function that jumped to the next one: it has no frame; gdb infers it
            frame = frame.older()
            continue
        inlined = frame.type() == gdb.INLINE_FRAME
        line = frame.find_sal().line if frame.find_sal().symtab else 0
        frames.append({"function": frame.name(), "pc": frame.pc(), "inlined": inlined, "handler": frame.type() == gdb.SIGTRAMP_FRAME, "line": line})
        frame = frame.older()
    said.append({"tid": thread.ptid[1] or thread.ptid[2], "frames": frames, "end": str(gdb.selected_frame().unwind_stop_reason())})
print("SAID " + json.dumps(said))
'''
_CRASHES = ("", "main", "thread", "nothing")
_PYTHON = {  # the calls that must be there, innermost first
    "sleeper": ["sleep_long"], "waiter": ["wait_for_lock"], "handler": ["wait_in_handler"], "generator": ["numbers", "add_up"],
    "worker": ["called", "key", "down", "down", "down", "down", "__init__", "<lambda>"]}


def main():
    options = parse()
    work = options.work or tempfile.mkdtemp(prefix="heapsift-native-frames-", dir="/var/tmp")
    os.makedirs(work, exist_ok=True)
    if not options.work:
        atexit.register(shutil.rmtree, work, True)
    trees = dict(pair.split("=", 1) for pair in options.tree)
    found = interpreters.find(trees, options.versions, options.interpreters)
    failures = ["Python %s is not at hand" % wanted for wanted in options.required
                if not any(interpreters.is_version(one, wanted) for one in found)]
    if not found:
        failures.append("no interpreter was found")
    for tool in ("gdb", "c++"):
        if not shutil.which(tool):
            sys.exit("%s is not installed" % tool)
    print("%-16s %-8s %8s %7s %8s %8s %9s   wrong" % ("interpreter", "crash", "threads", "frames", "inlined", "python", "seconds"))
    for interpreter in found:
        for crash in options.crashes:
            problem = (cores.why_no_kernel_cores() if crash else cores.why_no_gcore()) or run_one(options, interpreter, crash, work)
            if problem:
                failures.append("%s, %s: %s" % (interpreter.name, crash or "gcore", problem))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description="compares heapsift's native calls with gdb's")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--required", nargs="*", default=[], metavar="VERSION", help="fail where one of these is not at hand")
    parser.add_argument("--crashes", nargs="*", default=_CRASHES, choices=_CRASHES, help="'' is gcore")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="N more threads, for measuring")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    parser.add_argument("--keep", action="store_true", help="keep the cores")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    return options


def run_one(options, interpreter, crash, work):
    folder = harness.folder_for(interpreter, work, "heapsift-native-frames-")
    try:
        core = take(interpreter, crash, folder, options.threads)
        problem = compare_core(options, interpreter, crash, folder, core)
        if crash == "main" and not problem:
            problem = without_library(options, interpreter, folder, core) or overwritten(options, interpreter, core)
        if crash == "thread" and not problem:
            problem = by_pages_of_core(options, interpreter, folder, core)
        return problem
    except (cores.NoCore, OSError, subprocess.SubprocessError) as reason:
        return str(reason)
    finally:
        harness.leave(folder, options.keep)


@contextlib.contextmanager
def filter_of_core(bits):
    """What a process that starts meanwhile leaves in its core: it inherits this one's /proc/PID/coredump_filter."""
    with open("/proc/self/coredump_filter", "r+") as file:
        before = file.read().strip()
        file.seek(0)
        file.write(bits)
    try:
        yield
    finally:
        with open("/proc/self/coredump_filter", "w") as file:
            file.write("0x" + before)


def take(interpreter, crash, folder, threads):
    library = os.path.join(folder, "libnativecalls.so")
    subprocess.run(["c++", "-shared", "-fPIC", "-g", "-O2", "-Wl,--build-id", "-pthread", "-o", library,
                    os.path.join(cores.PROGRAMS, "native_calls.cpp")], check=True)
    shutil.copy(os.path.join(cores.PROGRAMS, "native_calls.py"), folder)
    sign = os.path.join(folder, "sign")
    with filter_of_core("0x3f" if crash == "thread" else "0x33"):  # all, also the pages of program files; what the kernel saves by default
        process = cores.start(interpreter, ["native_calls.py"], folder, HEAPSIFT_LIBRARY=interpreter.inside(library),
                              HEAPSIFT_SIGN=interpreter.inside(sign), HEAPSIFT_CRASH=crash, HEAPSIFT_MORE_THREADS=str(threads))
    try:
        if crash:
            status = process.wait(60)
            if status != -signal.SIGSEGV:
                raise cores.NoCore("the program did not crash (exit %s): %s" % (status, cores.last_words(folder)))
            found = [name for name in os.listdir(folder) if name.startswith("core")]
            if not found:
                raise cores.NoCore("no core was left")
            return os.path.join(folder, found[0])
        end = time.monotonic() + 60
        while not os.path.exists(sign):
            if process.poll() is not None or time.monotonic() > end:
                raise cores.NoCore("the program did not come to rest: %s" % cores.last_words(folder))
            time.sleep(0.05)
        time.sleep(0.3)
        return cores.gcore(process.pid, os.path.join(folder, "core"))
    finally:
        process.kill()
        process.wait()


def ask_gdb(interpreter, core, folder):
    script = os.path.join(folder, "ask.py")
    with open(script, "w") as file:
        file.write(_GDB)
    command = ["gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]
    if interpreter.tree:
        command += ["-iex", "set sysroot %s" % interpreter.tree]
    binary = os.path.realpath((interpreter.tree or "") + interpreter.path)
    command += [binary, core, "-x", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    for line in done.stdout.splitlines():
        if line.startswith("SAID "):
            return json.loads(line[5:])
    raise cores.NoCore("gdb: %s" % (done.stderr.strip().splitlines() or ["said nothing"])[-1])


def ask_heapsift(options, interpreter, core, *more):
    command = [options.heapsift, "threads", "--native", core, "--json", *more]
    if interpreter.tree:
        command += ["--sysroot", interpreter.tree]
    start = time.monotonic()
    done = subprocess.run(command, env={**os.environ, "HEAPSIFT_STATE": "off"}, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 3):
        raise cores.NoCore("heapsift: exit %d: %s" % (done.returncode, done.stderr.strip()))
    return json.loads(done.stdout)["data"], time.monotonic() - start


def without_library(options, interpreter, folder, core):
    library = os.path.join(folder, "libnativecalls.so")
    os.rename(library, library + ".away")
    try:
        data, _ = ask_heapsift(options, interpreter, core)
    finally:
        os.rename(library + ".away", library)
    waits = [thread for thread in data["threads"] if thread["name"] == "handler"]
    if [thread["native_end"] for thread in waits] != ["no-unwind-tables"]:
        return "without the library, the list ends: %s" % [thread["native_end"] for thread in waits]
    if "wait_in_handler" not in [frame["function"] for frame in waits[0]["frames"] if frame["kind"] == "python"]:
        return "without the library, Python's calls are lost"
    return None


def by_pages_of_core(options, interpreter, folder, core):
    """The library's unwind tables are in the core: without its file the frames are the same, but for names."""
    def addresses():
        data, _ = ask_heapsift(options, interpreter, core, "--no-index")
        return [(thread["tid"], thread["native_end"], [frame["address"] for frame in thread["frames"] if frame["kind"] == "native" and not frame["inlined"]])
                for thread in data["threads"]]

    library = os.path.join(folder, "libnativecalls.so")
    with_file = addresses()
    os.rename(library, library + ".away")
    try:
        without_file = addresses()
    finally:
        os.rename(library + ".away", library)
    for one, other in zip(with_file, without_file):
        if one != other:
            return "by the core's own unwind tables: thread %d ends '%s' after %d frames, not '%s' after %d" % (
                one[0], other[1], len(other[2]), one[1], len(one[2]))
    return None


def overwritten(options, interpreter, core):
    """Answers about stacks that are overwritten with their own words in any order, and with any bytes."""
    random.seed(16)
    told = False
    with open(core, "rb") as file:
        whole = bytearray(file.read())
    for round in range(4):
        damaged = bytearray(whole)
        for start, end in stacks(whole):
            words = [whole[i : i + 8] for i in range(start, end, 8)]
            for place in range(0, len(words), 2 + round):
                words[place] = random.choice(words) if random.random() < 0.8 else random.randbytes(8)
            damaged[start:end] = b"".join(words)[: end - start]
        with open(core + ".damaged", "wb") as file:
            file.write(damaged)
        start_time = time.monotonic()
        data, _ = ask_heapsift(options, interpreter, core + ".damaged", "--no-index")
        if time.monotonic() - start_time > 60:
            return "with overwritten stacks it takes %d seconds" % (time.monotonic() - start_time)
        # Every fifth word of a short stack may be one that no frame needs.
        told = told or any(thread["native_end"] not in ("outermost", None) for thread in data["threads"])
    return None if told else "no stack that was overwritten is told to be damaged"


def stacks(core):
    """For each thread: where in the file its stack pointer's bytes begin, and the end of up to 64 KiB."""
    headers, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    table = [struct.unpack_from("<IIQQQQQQ", core, headers + 56 * i) for i in range(count)]
    found = []
    for kind, _, offset, _, _, size, _, _ in table:
        at = offset
        while kind == 4 and at + 12 <= offset + size:
            name_size, data_size, note = struct.unpack_from("<III", core, at)
            data = at + 12 + (name_size + 3) // 4 * 4
            if note == 1:
                pointer = struct.unpack_from("<Q", core, data + 112 + 19 * 8)[0]
                found += [(place + pointer - start, min(place + saved, place + pointer - start + 65536))
                          for load, _, place, start, _, saved, _, _ in table if load == 1 and start <= pointer < start + saved]
            at = data + (data_size + 3) // 4 * 4
    return found


class Aliases:
    """Whether two names are of one symbol."""

    def __init__(self, root):
        self.root, self.tables = root, {}

    def same(self, module, one, other):
        if one == other or re.sub(r"\.\d+$", "", one or "") == other:  # gdb leaves out the number of a part of a function
            return True
        table = self._table(module)
        return one in table and other in table and table[one] == table[other]

    def _table(self, module):
        if module not in self.tables:
            self.tables[module] = table = {}
            path = self.root + module if os.path.exists(self.root + module) else module  # gcore's paths are those outside the chroot
            for flags in ("-D", ""):
                done = subprocess.run(["nm", *flags.split(), "--defined-only", path], capture_output=True, text=True)
                for line in done.stdout.splitlines():
                    parts = line.split()
                    if len(parts) == 3:
                        table[re.sub("@.*", "", parts[2])] = parts[0]
        return self.tables[module]


def compare_core(options, interpreter, crash, folder, core):
    said = ask_gdb(interpreter, core, folder)
    data, seconds = ask_heapsift(options, interpreter, core)
    threads = {thread["tid"]: thread for thread in data["threads"]}
    aliases = Aliases(interpreter.tree)
    wrong, frames, inlined = [], 0, 0
    if sorted(threads) != sorted(thread["tid"] for thread in said):
        wrong.append("threads: gdb has %s, heapsift %s" % (sorted(thread["tid"] for thread in said), sorted(threads)))
    for thread in said:
        if thread["tid"] in threads:
            read = [frame for frame in threads[thread["tid"]]["frames"] if frame["kind"] == "native"]
            wrong += compare_frames("thread %d" % thread["tid"], thread["frames"], read, aliases)
            if thread["frames"] and threads[thread["tid"]]["native_end"] != "outermost":
                wrong.append("thread %d: the list ends: %s" % (thread["tid"], threads[thread["tid"]]["native_end"]))
            frames += len(thread["frames"])
            inlined += sum(frame["inlined"] for frame in thread["frames"])
    python = [frame for thread in data["threads"] for frame in thread["frames"] if frame["kind"] == "python"]
    wrong += compare_python(data["threads"])
    wrong += compare_signal(crash, data)
    print("%-16s %-8s %8d %7d %8d %8d %9.2f   %d" % (interpreter.name, crash or "gcore", len(said), frames, inlined, len(python), seconds, len(wrong)),
          flush=True)
    for one in wrong[:20]:
        print("    " + one)
    return "%d differences" % len(wrong) if wrong else None


def compare_frames(where, said, read, aliases):
    wrong = []
    for number, (gdb, ours) in enumerate(zip(said, read)):
        place = "%s, frame %d" % (where, number)
        name = (ours["function"] or "").split("(")[0] or None
        gdb_name = (gdb["function"] or "").split("(")[0] or None
        if gdb["handler"] or ours["signal_handler"]:
            if gdb["handler"] != ours["signal_handler"]:
                wrong.append("%s: gdb: signal's handler %s, heapsift %s" % (place, gdb["handler"], ours["signal_handler"]))
        elif name != gdb_name and not aliases.same(ours["module"], name, gdb_name):
            wrong.append("%s: gdb says %s at %#x, heapsift %s at %s" % (place, gdb_name, gdb["pc"], name, ours["address"]))
        if not gdb["inlined"] and gdb["pc"] != int(ours["address"], 16):
            wrong.append("%s: gdb is at %#x, heapsift at %s" % (place, gdb["pc"], ours["address"]))
        if gdb["inlined"] != ours["inlined"]:
            wrong.append("%s: %s: inlined: gdb %s, heapsift %s" % (place, name, gdb["inlined"], ours["inlined"]))
        if wrong:
            return wrong
    if len(said) != len(read):
        wrong.append("%s: gdb has %d frames, heapsift %d" % (where, len(said), len(read)))
    return wrong


def compare_python(threads):
    """Each run of Python's calls stands just inside the loop that runs them, and every loop of a thread has some."""
    wrong = []
    for thread in threads:
        frames = thread["frames"]
        for inner, outer in zip(frames, frames[1:]):
            if inner["kind"] == "python" and outer["kind"] == "native" and not (outer["function"] or "").startswith("_PyEval_EvalFrameDefault"):
                if not outer["inlined"]:
                    wrong.append("%s: %s() stands inside %s" % (thread["name"], inner["function"], outer["function"]))
        loops = [number for number, frame in enumerate(frames) if frame["kind"] == "native"
                 and (frame["function"] or "").startswith("_PyEval_EvalFrameDefault")]
        for loop in loops:
            before = loop - 1
            if before < 0 or frames[before]["kind"] != "python":
                wrong.append("%s: a call of the loop runs nothing" % thread["name"])
        functions = [frame["function"].split(".")[-1] for frame in frames if frame["kind"] == "python"]
        expected = _PYTHON.get(thread["name"])
        if expected is not None and functions[: len(expected)] != expected and functions[1 : len(expected) + 1] != expected:
            wrong.append("%s: calls are %s, not %s" % (thread["name"], functions, expected))
    return wrong


def compare_signal(crash, data):
    place = data["signal"]
    if not crash:
        return [] if place is None else ["a signal is told of a process that lives: %s" % place]
    function = {"main": "write_to", "thread": "write_to", "nothing": None}[crash]
    fault = {"main": "0x0", "thread": "0x1230", "nothing": "0x0"}[crash]
    if place is None:
        return ["no signal is told"]
    wrong = []
    if (place["name"], place["function"], int(place["fault_address"] or "0x1", 16)) != ("SIGSEGV", function, int(fault, 16)):
        wrong.append("signal: %s" % place)
    got = [thread for thread in data["threads"] if thread["got_signal"]]
    if len(got) != 1 or got[0]["name"] != ("crasher" if crash == "thread" else "MainThread") or got[0]["tid"] != place["tid"]:
        wrong.append("got the signal: %s" % [(thread["name"], thread["tid"]) for thread in got])
    names = [(frame["function"] or "").split("(")[0] for thread in got for frame in thread["frames"]]
    if crash == "nothing" and "call_nothing" not in names[:3]:
        wrong.append("who called nothing is not told: %s" % names[:5])
    return wrong


if __name__ == "__main__":
    sys.exit(main())
