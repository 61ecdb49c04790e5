#!/usr/bin/env python3
"""`heapsift capture` of processes that are at work: each must go on as if nothing had been, and its core must be whole.

    capture.py --heapsift build/release/heapsift [--interpreter PATH …] [--cases threads restless …] [--kills 100] [--rounds 20]

testdata/programs/captured.py notices what goes wrong in it (a wait that ends early, a lock that is lost, a child it did not make) and says so when
it is asked, after every capture. Both ways (with --fork and without), plain and compressed:

    threads     200 threads: all of them are in the core
    restless    forks, spawns, and ends threads all the while
    stopped     by SIGSTOP, and so it stays until SIGCONT
    killed      capture is killed by SIGKILL at random moments: no file, no process and no child is left
    children    --children: a file for each
    namespace   in a PID and mount namespace of its own, as process 1 (root only)
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
import subprocess
import sys
import time

import harness
from cores import PROGRAMS

WAYS = (("core", []), ("core.zst", []), ("core", ["--fork"]), ("core.zst", ["--fork"]))
_SECONDS = 120


class Wrong(Exception):
    """One line: what went wrong."""


class Captured:
    """A running testdata/programs/captured.py."""

    def __init__(self, interpreter, folder, mode, count=5, before=()):
        self.folder = folder
        self.process = subprocess.Popen([*before, interpreter.path, os.path.join(PROGRAMS, "captured.py"), mode, str(count)], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=interpreter.environment(), preexec_fn=os.setpgrp)
        words = self.process.stdout.readline().split()
        if not words or words[0] != "ready":
            raise Wrong("captured.py did not start")
        self.own_pid, self.children = int(words[1]), [int(word) for word in words[2:]]
        self.pid = self.process.pid
        self.asked = 0

    def answers(self, when):
        self.asked += 1
        try:
            self.process.stdin.write("%d\n" % self.asked)
            self.process.stdin.flush()
            words = self.process.stdout.readline().split(None, 2)
        except OSError as error:
            words = [str(error)]
        if words[:2] != [str(self.asked), "0"]:
            raise Wrong("%s: it answers: %s" % (when, " ".join(words) or "nothing: it has ended with %s" % self.process.poll()))

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


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


def capture(options, pid, path, *more, **popen):
    done = subprocess.run([options.heapsift, "capture", str(pid), "-o", path, "--json", *more], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=_SECONDS, **popen)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise Wrong("capture %s: exit %d, no JSON: %s" % (" ".join(more), done.returncode, done.stderr.strip())) from None
    return done.returncode, document


def captured(options, pid, path, *more):
    code, document = capture(options, pid, path, *more)
    if code:
        raise Wrong("capture %s: exit %d: %s" % (" ".join(more), code, document.get("error")))
    first = document["data"]["captures"][0]
    if "--fork" in more and first["method"] != "fork":
        raise Wrong("no fork was made: %s" % document["warnings"])
    return document["data"]["captures"]


def ask(options, core, *question):
    done = subprocess.run([options.heapsift, *question, "--json", "--no-index", "--core", core], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=_SECONDS, env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": os.path.dirname(core)})
    if done.returncode:
        raise Wrong("%s of the core: exit %d: %s" % (question[0], done.returncode, done.stderr.strip() or done.stdout[:300]))
    return json.loads(done.stdout)


def check_core(options, core, process):
    """It is whole, alive, of that process, and what the process keeps is in it. Returns the document of overview."""
    document = ask(options, core, "overview")
    said = document["data"]["process"]
    if not said["alive"] or not said.get("captured") or document["core"]["pid"] != process.own_pid:
        raise Wrong("the core says: %s" % said)
    kept = ask(options, core, "show", "__main__.KEEP[19999]['text']")
    if kept["data"].get("value") != "'text 19999'" and "text 19999" not in json.dumps(kept["data"]):
        raise Wrong("KEEP is not as it was")
    return document


def each_way(options, process, folder, check=None, rounds=1):
    stood = {}
    for _ in range(rounds):
        for name, more in WAYS:
            path = os.path.join(folder, name)
            result = captured(options, process.pid, path, *more)[0]
            process.answers("after capture %s" % " ".join(more))
            check_core(options, path, process)
            if check:
                check(path)
            stood.setdefault("fork" if more else "copy", []).append(result["stood_ns"] / 1e6)
            os.remove(path)
    return ", ".join("%s stood %.1f to %.1f ms" % (way, min(times), max(times)) for way, times in stood.items())


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


def states(pid):
    found = set()
    for path in glob.glob("/proc/%d/task/*/stat" % pid):
        with open(path) as file:
            found.add(file.read().rpartition(")")[2].split()[0])
    return found


def wait_until(truth):
    end = time.monotonic() + 10
    while not truth():
        if time.monotonic() > end:
            raise Wrong("waited in vain")
        time.sleep(0.01)


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
        for path in glob.glob(os.path.join(folder, ".core*")):
            os.remove(path)
        process.answers("in the end")
        return "%d of %d captures were killed" % (hits, options.kills)
    finally:
        process.end()


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


def capturing_of(pid):
    """The processes that capture it, the helper of --fork too, which ends what was begun."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if b"\0capture\0%d\0" % pid in file.read():
                    found.append(path)
        except OSError:
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
        open(path, "w").close()
        code, document = capture(options, process.pid, path)
        if code != 2 or document["error"]["code"] != "output-exists" or os.path.getsize(path):
            raise Wrong("a file that exists: exit %d" % code)
        left = [name for name in os.listdir(folder) if name != "core"]
        if left:
            raise Wrong("left behind: %s" % left)
        return "each with its line"
    finally:
        process.end()
        dead.wait()


CASES = {"threads": threads, "restless": restless, "stopped": stopped, "killed": killed, "children": children, "namespace": namespace, "refused": refused}

if __name__ == "__main__":
    sys.exit(main())
