"""A process that is captured while it is at work, and its core: for capture.py and its neighbours."""

import glob
import json
import os
import signal
import subprocess
import time

from cores import PROGRAMS

WAYS = (("core", []), ("core.zst", []), ("core", ["--fork"]), ("core.zst", ["--fork"]))
SECONDS = 120


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

    def exec(self):
        """Returns when the new program is ready."""
        self.process.stdin.write("exec\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().split()[:1] != ["ready"]:
            raise Wrong("after its exec it does not start: %s" % self.process.poll())

    def answers(self, when, but_for=None):
        """Raises Wrong if it does not, or something went wrong in it; `but_for`: other than that."""
        self.asked += 1
        try:
            self.process.stdin.write("%d\n" % self.asked)
            self.process.stdin.flush()
            words = self.process.stdout.readline().split(None, 2)
        except OSError as error:
            words = [str(error)]
        if words[:2] != [str(self.asked), "0"] and (words[:2] != [str(self.asked), "1"] or not but_for or words[2].strip() != but_for):
            raise Wrong("%s: it answers: %s" % (when, " ".join(words) or "nothing: it has ended with %s" % self.process.poll()))

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def capture(options, pid, path, *more, **popen):
    done = subprocess.run([options.heapsift, "capture", str(pid), "-o", path, "--json", *more], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          **{"timeout": SECONDS, **popen})
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
                          timeout=SECONDS, env={**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": os.path.dirname(core)})
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
            before = priorities(process.pid)
            result = captured(options, process.pid, path, *more)[0]
            process.answers("after capture %s" % " ".join(more))
            after = priorities(process.pid)
            changed = [tid for tid in before if after.get(tid, before[tid]) != before[tid]]
            if changed:
                raise Wrong("after capture %s threads have another priority: %s" % (" ".join(more), changed))
            check_core(options, path, process)
            if check:
                check(path)
            stood.setdefault("fork" if more else "copy", []).append(result["stood_ns"] / 1e6)
            os.remove(path)
    return ", ".join("%s stood %.1f to %.1f ms" % (way, min(times), max(times)) for way, times in stood.items())


def priorities(pid):
    """Of each thread: nice value, real-time priority, policy."""
    found = {}
    for path in glob.glob("/proc/%d/task/*/stat" % pid):
        try:
            with open(path) as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        found[int(path.split("/")[4])] = (words[16], words[37], words[38])
    return found


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
