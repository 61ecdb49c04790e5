#!/usr/bin/env python3
"""`heapsift capture` of processes that are at work: each must go on as if nothing had been, and its core must be whole.

    capture.py --heapsift build/release/heapsift [--interpreter PATH …] [--cases threads restless …] [--kills 100] [--rounds 20]

testdata/programs/captured.py notices what goes wrong in it (a wait that ends early, a lock that is lost, a child it did not make) and says so when
it is asked, after every capture. Both ways (with --fork and without), plain and compressed:

    threads     200 threads: all of them are in the core
    restless    forks, spawns, and ends threads all the while
    holes       3,000 pages with as many between them that were never touched: more pieces than the kernel tells at once
    stopped     by SIGSTOP, and so it stays until SIGCONT
    killed      capture is killed by SIGKILL at random moments: no file, no process and no child is left
    replaced    the same with -f over a file that is there: it is the old one or the new one, whole, and nothing else is in the folder
    exec        the process calls exec while it is copied: no core, or one of one program
    execs       300 threads, and it calls exec again and again: each capture ends, and the process goes on
    endings     .zst, .gz, .xz, .lz4, and standard output
    forms       cores of one stopped process, each way and compressed, unpacked again and copied without holes: `memory` says the same of all
    children    --children: a file for each
    namespace   in a PID and mount namespace of its own, as process 1 (root only)
    not_forked  --fork of what cannot be forked (a userfaultfd that is told of forks, a frozen control group, a limit on processes): a core by the
                other way, with a note, and the process goes on
    not_touched what the process never touched stays so: pages that a userfaultfd answers for, huge pages (where some are free)
    note        whose note of untouched pages was changed to name others, which have bytes: it says so, and answers in part
    secret      --full of a process with memory of memfd_secret: the mapping is named, and has no bytes
    huge_shared --full of huge pages that are shared (where some are free): those that were written, and no other
    first_thread whose first thread has ended while others go on: told, and captured by the number of another
    closed      without standard input, output and error: no other file takes their places
    refused     what cannot be captured, and a file that cannot be written: one line, exit 1, no file
"""

import ctypes
import glob
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

import harness
from capturing import SECONDS, WAYS, Captured, Wrong, ask, capture, captured, capturing_of, check_core, each_way, states, wait_until
from odd_processes import execs, frozen, huge_shared, not_forked, not_touched, secret, without_first_thread

def main():
    parser = harness.parser("captures processes that are at work")
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3, help="captures of the restless process, each way")
    parser.add_argument("--seed", type=int, default=random.randrange(10000))
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    options.kinds = ["capture"]
    work, found, _, failures = harness.begin(options, "capture")
    random.seed(options.seed)
    for interpreter in [one for one in found if not one.tree and not one.old]:
        for case in options.cases:
            began = time.monotonic()
            folder = harness.folder_for(interpreter, work, case + "-")
            try:
                said = CASES[case](options, interpreter, folder)
            except Wrong as wrong:
                failures.append("%s, %s: %s (--seed %d)" % (interpreter.name, case, wrong, options.seed))
                said = "FAILED: %s" % wrong
            finally:
                harness.leave(folder, options.keep)
            print("%-16s %-10s %5.1f s  %s" % (interpreter.name, case, time.monotonic() - began, said), flush=True)
    return harness.end(failures)


def threads(options, interpreter, folder):
    process = Captured(interpreter, folder, "threads", 200)
    try:
        tids = {int(tid) for tid in os.listdir("/proc/%d/task" % process.pid)}

        def check(core):
            found = ask(options, core, "threads")["data"]["threads"]
            if {thread["tid"] for thread in found} != tids or sum(1 for thread in found if thread["frames"]) != 201:
                raise Wrong("%d of %d threads are in the core" % (len({thread["tid"] for thread in found} & tids), len(tids)))
        return each_way(options, process, folder, check)
    finally:
        process.end()


def restless(options, interpreter, folder):
    process = Captured(interpreter, folder, "restless")
    try:
        return each_way(options, process, folder, rounds=options.rounds)
    finally:
        process.end()


def holes(options, interpreter, folder):
    count = 3000
    process = Captured(interpreter, folder, "holes", count)
    try:
        def check(path):
            plain = path
            if path.endswith(".zst"):
                plain = path[:-4] + ".plain"
                subprocess.run(["zstd", "-dqf", path, "-o", plain], check=True)
            with open(plain, "rb") as core:
                wrong = [n for n in range(count) if byte_at(core, process.children[0] + 2 * n * 4096) != 1 + n % 255
                         or byte_at(core, process.children[0] + (2 * n + 1) * 4096) != 0]
            if plain != path:
                os.remove(plain)
            if wrong:
                raise Wrong("%d of %d pages are wrong in %s, the first is %d" % (len(wrong), count, path, wrong[0]))
        return each_way(options, process, folder, check)
    finally:
        process.end()


def byte_at(core, address):
    """Of a plain core, by its program headers; None where it has none."""
    core.seek(0)
    header = core.read(64)
    start, = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    core.seek(start)
    table = core.read(size * count)
    for at in range(0, size * count, size):
        kind, _, offset, memory, _, saved = struct.unpack_from("<IIQQQQ", table, at)
        if kind == 1 and memory <= address < memory + saved:
            core.seek(offset + address - memory)
            return core.read(1)[0]
    return None


def stopped(options, interpreter, folder):
    process = Captured(interpreter, folder, "plain")
    try:
        for name, more in WAYS[1:3]:
            os.kill(process.pid, signal.SIGSTOP)
            wait_until(lambda: states(process.pid) == {"T"})
            path = os.path.join(folder, name)
            captured(options, process.pid, path, *more)
            time.sleep(0.1)
            if states(process.pid) != {"T"}:
                raise Wrong("it was stopped, and is %s after capture %s" % (states(process.pid), " ".join(more)))
            check_core(options, path, process)
            os.kill(process.pid, signal.SIGCONT)
            process.answers("after SIGCONT")
            os.remove(path)
        return "stays stopped"
    finally:
        process.end()


def killed(options, interpreter, folder):
    process = Captured(interpreter, folder, "plain", 12)
    try:
        longest = {}
        for name, more in WAYS:
            began = time.monotonic()
            captured(options, process.pid, os.path.join(folder, name), *more)
            os.remove(os.path.join(folder, name))
            longest[name, bool(more)] = time.monotonic() - began
        hits = 0
        for number in range(options.kills):
            name, more = WAYS[number % len(WAYS)]
            path = os.path.join(folder, name)
            capturing = subprocess.Popen([options.heapsift, "capture", str(process.pid), "-o", path, *more], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            began = time.monotonic()
            try:
                capturing.wait(random.uniform(0, longest[name, bool(more)]))
                longest[name, bool(more)] = time.monotonic() - began  # it is faster now
            except subprocess.TimeoutExpired:
                capturing.kill()
            hits += capturing.wait() == -signal.SIGKILL
            wait_until(lambda: not capturing_of(process.pid))
            process.answers("after SIGKILL number %d" % (number + 1))
            if os.path.exists(path):
                check_core(options, path, process)  # whole, or not there
                os.remove(path)
        left = left_in(folder)
        if left and has_nameless_files(folder):
            raise Wrong("left behind: %s" % left)
        process.answers("in the end")
        return "%d of %d captures were killed" % (hits, options.kills)
    finally:
        process.end()


def left_in(folder):
    """Hidden files too; but for the cache of those who asked the core."""
    return sorted(set(os.listdir(folder)) - {"heapsift"})


def has_nameless_files(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
        return True
    except OSError:
        return False


def replaced(options, interpreter, folder):
    if not has_nameless_files(folder):
        return "not tested here: %s knows no file without a name" % folder
    process = Captured(interpreter, folder, "plain", 12)
    path = os.path.join(folder, "core")
    try:
        old = b"not a core" * 1000
        began = time.monotonic()
        captured(options, process.pid, path)
        longest = time.monotonic() - began
        hits = new = 0
        for number in range(options.kills):
            with open(path, "wb") as file:
                file.write(old)
            more = WAYS[number % len(WAYS)][1]
            capturing = subprocess.Popen([options.heapsift, "capture", str(process.pid), "-o", path, "-f", *more], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                capturing.wait(random.uniform(0, longest * 1.2))
            except subprocess.TimeoutExpired:
                capturing.kill()
            hits += capturing.wait() == -signal.SIGKILL
            wait_until(lambda: not capturing_of(process.pid))
            if left_in(folder) != ["core"]:
                raise Wrong("in the folder: %s" % left_in(folder))
            with open(path, "rb") as file:
                is_old = file.read(len(old) + 1) == old
            if not is_old:
                check_core(options, path, process)
                new += 1
            elif capturing.returncode == 0:
                raise Wrong("a capture that was not killed left the old file")
        process.answers("in the end")
        return "%d of %d captures were killed, %d files were new" % (hits, options.kills, new)
    finally:
        process.end()


def is_looked_at(capturing, pid):
    """Whether a capture has begun: it holds the memory of its process open."""
    for path in glob.glob("/proc/%d/fd/*" % capturing.pid):
        try:
            if os.readlink(path) == "/proc/%d/mem" % pid:
                return True
        except OSError:
            pass
    return capturing.poll() is not None


def exec_meanwhile(options, interpreter, folder):
    process = Captured(interpreter, folder, "large")
    counts = {}
    try:
        for name, more in WAYS:
            path = os.path.join(folder, name)
            began = time.monotonic()
            captured(options, process.pid, path, *more)
            longest = time.monotonic() - began
            os.remove(path)
            for number in range(options.rounds * 4):
                capturing = subprocess.Popen([options.heapsift, "capture", str(process.pid), "-o", path, "--json", *more], stdin=subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                wait_until(lambda: is_looked_at(capturing, process.pid))
                time.sleep(longest * number / (options.rounds * 4))
                process.exec()
                document = json.loads(capturing.communicate(timeout=SECONDS)[0])
                code = (document.get("error") or {}).get("code", "whole")
                if code == "whole":
                    try:
                        check_core(options, path, process)
                    except Wrong as wrong:  # of the new program, before it came to its __main__
                        if not any(words in str(wrong) for words in ("__main__ was not found", "was the process still starting", "has nothing called .KEEP")):
                            raise
                        code = "starting"
                    os.remove(path)
                elif code != "program-replaced" or capturing.returncode != 1:
                    raise Wrong("exec during capture %s: exit %d: %s" % (" ".join(more), capturing.returncode, document["error"]))
                if left_in(folder) and has_nameless_files(folder):
                    raise Wrong("left behind: %s" % left_in(folder))
                counts[code] = counts.get(code, 0) + 1
                wait_until(lambda: not capturing_of(process.pid))
                # The kernel tells a program of the end of each child that its process had before its exec, the copy too.
                process.answers("after an exec and capture %s" % " ".join(more), "signal 17" if more else None)
        if not counts.get("program-replaced"):
            raise Wrong("no exec fell into a capture: %s" % counts)
        return "%d cores whole, %d of a program that starts, %d refused" % (counts.get("whole", 0), counts.get("starting", 0), counts["program-replaced"])
    finally:
        process.end()


def endings(options, interpreter, folder):
    process = Captured(interpreter, folder, "plain")
    sizes = []
    try:
        for ending, magic in ((".zst", b"\x28\xb5\x2f\xfd"), (".gz", b"\x1f\x8b"), (".xz", b"\xfd7zXZ\0"), (".lz4", b"\x04\x22\x4d\x18")):
            for more in ([], ["--fork"]):
                path = os.path.join(folder, "core" + ending)
                captured(options, process.pid, path, *more)
                with open(path, "rb") as file:
                    if not file.read(8).startswith(magic):
                        raise Wrong("%s is written otherwise" % ending)
                check_core(options, path, process)
                size = os.path.getsize(path)
                os.remove(path)
            sizes.append("%s %.1f MiB" % (ending, size / 2**20))
        path = os.path.join(folder, "piped")
        for more in ([], ["--fork"], ["--when", "rss>1M"]):
            with open(path, "wb") as out:
                piped = subprocess.Popen([options.heapsift, "capture", str(process.pid), "-o", "-", *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE)
                shutil.copyfileobj(piped.stdout, out)
                said = piped.communicate(timeout=SECONDS)[1].decode()
            if piped.returncode or "standard output" not in said:
                raise Wrong("-o - %s: exit %d: %s" % (" ".join(more), piped.returncode, said))
            check_core(options, path, process)
            if subprocess.run(["zstd", "-tq", path], stderr=subprocess.DEVNULL).returncode if shutil.which("zstd") else 0:
                raise Wrong("-o -: zstd finds something wrong in it")
            os.remove(path)
        for more in (["--json"], ["--children"], ["--every", "1s"]):
            done = subprocess.run([options.heapsift, "capture", str(process.pid), "-o", "-", *more], stdin=subprocess.DEVNULL, capture_output=True)
            if done.returncode != 2 or b"ELF" in done.stdout:
                raise Wrong("-o - %s: exit %d" % (more[0], done.returncode))
        if os.path.exists("-") or left_in(folder):
            raise Wrong("left behind: %s" % left_in(folder))
        process.answers("in the end")
        return ", ".join(sizes)
    finally:
        process.end()


def forms(options, interpreter, folder):
    process = Captured(interpreter, folder, "holes", 300)
    os.kill(process.pid, signal.SIGSTOP)
    wait_until(lambda: states(process.pid) == {"T"})
    in_folder = lambda name: os.path.join(folder, name)
    copies = {"core.zst": ("zstd-d", ["zstd", "-q", "-d"]), "core": ("dense", ["cp", "--sparse=never"]), "forked": ("holes", ["cp", "--sparse=always"])}
    try:
        said = {}
        for name, more in (("core", []), ("forked", ["--fork"]), ("core.zst", []), ("forked.zst", ["--fork"]), ("core.lz4", [])):
            captured(options, process.pid, in_folder(name), *more)
            made = [name]
            if name in copies and shutil.which(copies[name][1][0]):
                made.append(copies[name][0])
                subprocess.run([*copies[name][1], in_folder(name), *(["-o"] if name == "core.zst" else []), in_folder(made[1])], check=True)
            for one in made:
                said[one] = [ask(options, in_folder(one), *question)["data"] for question in (["memory"], ["memory", "--regions"])]
            for one in made:
                os.unlink(in_folder(one))
        # Before Linux 6.7 a fork's page of zeros of its own cannot be told from one that was never touched.
        like = {name: "forked" if name in ("forked", "holes", "forked.zst") and kernel() < (6, 7) else "core" for name in said}
        different = [name for name in said if said[name] != said[like[name]]]
        if different:
            name = different[0]
            raise Wrong("memory says something else of %s: %s" % (different, [pair for pair in zip(flat(said[like[name]]), flat(said[name])) if pair[0] != pair[1]][:5]))
        os.kill(process.pid, signal.SIGCONT)
        process.answers("in the end")
        return "the same of " + ", ".join(said)
    finally:
        process.end()


def note(options, interpreter, folder):
    process = Captured(interpreter, folder, "holes", 300)
    path = os.path.join(folder, "core")
    try:
        captured(options, process.pid, path)
        whole = ask(options, path, "memory")
        with open(path, "r+b") as core:
            head = core.read(1 << 20)
            at = head.index(b"heapsift\0\0\0\0\1") + 12  # its owner, and the form of its content
            numbers, place = [], at + 1
            while len(numbers) < 2:  # the gap before the first stretch, and its pages: that begins a page earlier
                size = next(n for n in range(9) if head[place + n] < 128) + 1
                numbers.append((place, head[place:place + size]))
                place += size
            (place, gap), _ = numbers
            core.seek(place)
            core.write(bytes([gap[0] - 1]) + gap[1:] if gap[0] & 127 else bytes([gap[0] + 1]) + gap[1:])
        done = subprocess.run([options.heapsift, "memory", "--json", "--no-index", path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=SECONDS, env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder})
        document = json.loads(done.stdout)
        said = [one["message"] for one in document["warnings"] if one["code"] == "notes-damaged"]
        if done.returncode != 3 or len(said) != 1 or "that have bytes" not in said[0]:
            raise Wrong("exit %d, %s" % (done.returncode, document["warnings"]))
        if whole["data"]["in_use"] > document["data"]["in_use"] + (64 << 20):
            raise Wrong("in use: %d, and %d before" % (document["data"]["in_use"], whole["data"]["in_use"]))
        return said[0]
    finally:
        process.end()


def kernel():
    return tuple(int(number) for number in os.uname().release.split("-")[0].split(".")[:2])


def flat(value, place=""):
    """All that a document says, a line each."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [line for key, part in parts for line in flat(part, "%s.%s" % (place, key))] if isinstance(value, (dict, list)) else ["%s: %s" % (place, value)]


def children_of(pid):
    """All of them, the dead too."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(path)
        except (OSError, IndexError):
            pass
    return found


def children(options, interpreter, folder):
    process = Captured(interpreter, folder, "children", 1)
    try:
        path = os.path.join(folder, "core.zst")
        files = captured(options, process.pid, path, "--children")
        if sorted(one["pid"] for one in files) != sorted([process.pid, *process.children]):
            raise Wrong("captured: %s" % [one["pid"] for one in files])
        for one in files:
            name = os.path.basename(one["path"])
            if one["pid"] != process.pid and not (name.startswith("core.") and name.endswith(".%d.zst" % one["pid"])):
                raise Wrong("a child's file is named %s" % name)
            if ask(options, one["path"], "overview")["core"]["pid"] != one["pid"]:
                raise Wrong("%s is of another process" % name)
        process.answers("after --children")
        return "%d files" % len(files)
    finally:
        process.end()


def namespace(options, interpreter, folder):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "not tested here: it takes root and unshare"
    before = ["unshare", "--pid", "--mount", "--fork", "--mount-proc"]
    if subprocess.run([*before, "true"], stderr=subprocess.DEVNULL).returncode != 0:  # in a chroot that is no mount
        return "not tested here: unshare is not allowed"
    process = Captured(interpreter, folder, "plain", 5, before=before)
    try:
        wait_until(lambda: children_of(process.pid))
        outer = process.pid
        process.pid = int(children_of(outer)[0].split("/")[2])
        if process.own_pid != 1:
            raise Wrong("it is process %d there" % process.own_pid)
        return each_way(options, process, folder)
    finally:
        process.end()


def closed(options, interpreter, folder):
    process = Captured(interpreter, folder, "plain")
    path = os.path.join(folder, "core")
    try:
        for streams in ("<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"):
            for way in (["capture"], ["capture", "--fork"]):
                done = subprocess.run(["sh", "-c", 'exec "$@" ' + streams, "sh", options.heapsift, way[0], str(process.pid), "-o", path, "-f", *way[1:]],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                if done.returncode != (1 if ">&-" in streams.split() else 0) or (done.stderr.strip() and "standard output cannot be written" not in done.stderr):
                    raise Wrong("%s %s: exit %d: %s" % (" ".join(way), streams, done.returncode, done.stderr))
                process.answers("after %s %s" % (" ".join(way), streams))
                if check_core(options, path, process)["data"]["process"]["captured"]["method"] != ("fork" if way[1:] else "copy"):
                    raise Wrong("%s %s: made another way" % (" ".join(way), streams))
        return "the core is whole"
    finally:
        process.end()


def refused(options, interpreter, folder):
    path = os.path.join(folder, "core")
    dead = subprocess.Popen(["true"])
    wait_until(lambda: states(dead.pid) == {"Z"})
    process = Captured(interpreter, folder, "plain")
    libc = ctypes.CDLL(None, use_errno=True)

    def expect(pid, code, exit_code=1, *more, **popen):
        got, document = capture(options, pid, path, *more, **popen)
        error = document.get("error") or {}
        if (got, error.get("code")) != (exit_code, code) or not error.get("message") or os.path.exists(path):
            raise Wrong("capture of %s, %s: exit %d, %s" % (pid, code, got, error))

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    try:
        for more in ([], ["--fork"]):
            expect(dead.pid, "zombie", 1, *more)
            expect(4194303, "no-such-process", 1, *more)
            expect(process.pid, "cannot-write", 1, *more, preexec_fn=small_files)
            process.answers("after a file that cannot be written")
            expect("x", "not-a-process", 2, *more)
            if libc.ptrace(0x4206, process.pid, None, None) == 0:  # PTRACE_SEIZE
                expect(process.pid, "traced", 1, *more)
                libc.ptrace(0x4207, process.pid, None, None)  # PTRACE_INTERRUPT
                os.waitpid(process.pid, 0x40000000)
                libc.ptrace(17, process.pid, None, None)  # PTRACE_DETACH
            process.answers("after a tracer")
        with frozen(process.pid, 1) as group:
            if group:
                expect(process.pid, "frozen", 1)
                expect(process.pid, "frozen", 1, "--fork")
        process.answers("after it was thawed")
        code, document = capture(options, process.pid, path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6)))
        if code != 1 or document["error"]["code"] != "too-many-files" or os.path.exists(path):
            raise Wrong("with six descriptors: exit %d, %s" % (code, document.get("error")))
        os.mkfifo(path + ".pipe")
        code, document = capture(options, process.pid, path + ".pipe")
        if code != 2 or document["error"]["code"] != "not-a-file" or "-o - >" not in document["error"]["hint"]:
            raise Wrong("a pipe: exit %d, %s" % (code, document))
        os.unlink(path + ".pipe")
        open(path, "w").close()
        code, document = capture(options, process.pid, path)
        if code != 2 or document["error"]["code"] != "output-exists" or os.path.getsize(path):
            raise Wrong("a file that exists: exit %d" % code)
        code, document = capture(options, process.pid, path, "--when", "rss>100GiB")  # at once, not when it is needed
        if code != 2 or document["error"]["code"] != "output-exists":
            raise Wrong("a file that exists, with --when: exit %d" % code)
        left = [name for name in os.listdir(folder) if name != "core"]
        if left:
            raise Wrong("left behind: %s" % left)
        return "each with its line"
    finally:
        process.end()
        dead.wait()


CASES = {"threads": threads, "restless": restless, "holes": holes, "stopped": stopped, "killed": killed, "replaced": replaced,
         "exec": exec_meanwhile, "execs": execs, "endings": endings, "forms": forms, "children": children, "namespace": namespace, "not_forked": not_forked, "not_touched": not_touched, "note": note, "secret": secret,
         "huge_shared": huge_shared, "closed": closed, "first_thread": without_first_thread, "refused": refused}

if __name__ == "__main__":
    sys.exit(main())
