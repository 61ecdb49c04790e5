#!/usr/bin/env python3
"""Questions about processes that live, and cores taken before the memory ends.

    live.py --heapsift build/dev/heapsift --interpreter /usr/bin/python3.11
    live.py … --cases when --times 100          a hundred times, at speeds up to a tenth of the limit a second, in seven SHAPES

As root, as the same user, without permission, of no Python, of a zombie, in namespaces; what is left is nothing: no core in use, no
index, no file. `when` lets a program grow in a control group of its own until the OOM killer ends it: the core must be there before,
whole, and heapsift must answer from it. What cannot be made here (control groups, user namespaces, other users) is named.
"""

import concurrent.futures
import ctypes
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import harness
from memory_groups import Group

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "programs", "living.py")
NODES = 1234
ANSWERED, CANNOT_ANALYSE, WRONG_USAGE = 0, 1, 2
NOBODY = 65534
MIB = 1 << 20
_failures = []
_not_covered = []


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=["asked", "refused", "namespaces", "watch", "sidecar", "when"])
    parser.add_argument("--times", type=int, default=len(SHAPES))
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    options.kinds = []
    work = os.path.abspath(options.work or tempfile.mkdtemp(prefix="heapsift-live-", dir="/var/tmp"))
    os.makedirs(work, exist_ok=True)
    os.chmod(work, 0o755)
    found = harness.interpreters.find(dict(tree.split("=", 1) for tree in options.tree), options.versions, options.interpreters)
    if not found:
        fail("interpreters", "none was found")
    # Another user must be able to run it.
    heapsift = os.path.join(work, "heapsift")
    shutil.copy(options.heapsift, heapsift)
    try:
        for interpreter in found:
            if "asked" in options.cases:
                asked(heapsift, interpreter, work)
        for case in (refused, namespaces, watch, sidecar):
            if case.__name__ in options.cases and found:
                case(heapsift, found[0], work)
        if "when" in options.cases and found:
            when(heapsift, found[0], work, options.times, options.at_once)
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    for line in _not_covered:
        print("not covered here: " + line)
    print("failed: %d" % len(_failures) if _failures else "all as promised")
    return 1 if _failures else 0


class Living:
    """The program, until the end of the block. `before`: a command that starts it (unshare …)."""

    def __init__(self, interpreter, *arguments, before=(), user=0, enter=None):
        def prepare():
            if enter:
                enter()
            if interpreter.tree:
                os.chroot(interpreter.tree)
            os.chdir("/")
            if user:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
        # Where it can be read: by another user, and in the interpreter's tree.
        self.folder = tempfile.mkdtemp(prefix="heapsift-living-", dir=interpreter.tree + "/var/tmp")
        os.chmod(self.folder, 0o755)
        shutil.copy(PROGRAM, self.folder)
        program = os.path.join(self.folder, os.path.basename(PROGRAM))[len(interpreter.tree):]
        self.process = subprocess.Popen([*before, interpreter.path, program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=interpreter.environment(), preexec_fn=prepare, text=True)
        self.ready = self.process.stdout.readline().strip() == "ready"
        self.pid = self.process.pid

    def python(self):
        """Its process id where `before` has forked."""
        for _ in range(100):
            below = descendants(self.process.pid)
            if below:
                return below[-1]
            time.sleep(0.05)
        return self.process.pid

    def answers(self):
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip() == "alive"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in descendants(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def descendants(pid):
    found = []
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return found
    for child in children:
        found.append(child)
        found += descendants(child)
    return found


def run(heapsift, work, arguments, before=(), user=0, **environment):
    """heapsift's exit code, output and errors."""
    state = tempfile.mkdtemp(prefix="state-", dir=work)
    os.chmod(state, 0o777)

    def prepare():
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
    names = {"XDG_CACHE_HOME": state + "/cache", "XDG_STATE_HOME": state + "/state", "TMPDIR": state, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment}
    answer = subprocess.run([*before, heapsift, *arguments], env=names, cwd=state, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            errors="replace", timeout=300, preexec_fn=prepare)
    answer.left = [path for path in glob.glob(state + "/**", recursive=True) if os.path.isfile(path)]
    shutil.rmtree(state, ignore_errors=True)
    return answer


def asked(heapsift, interpreter, work):
    """Every way to ask answers, and leaves nothing behind."""
    case = "asked of %s" % interpreter.name
    with Living(interpreter) as living:
        if not living.ready:
            return fail(case, "the program did not start")
        pid = str(living.pid)
        for arguments in (["types", pid, "--json"], [pid, "types", "--json"], ["types", "--json", "--redact", pid]):
            answer = run(heapsift, work, arguments)
            check_types(case, answer, living)
        answer = run(heapsift, work, [pid])
        if answer.returncode != ANSWERED or "process %s" % pid not in answer.stdout:
            fail(case, "the first screen: exit %d: %s %s" % (answer.returncode, answer.stdout[:200], answer.stderr))
        if not any(line.startswith("next: ") and (" %s " % pid in line + " ") for line in answer.stdout.splitlines()):
            fail(case, "no hint names the process: %s" % answer.stdout[-300:])
        if answer.stderr.count("\n") != 1 or "stood" not in answer.stderr:
            fail(case, "not one line on standard error that says how long it stood: %r" % answer.stderr)
        answer = run(heapsift, work, ["why", "--type", "__main__.Node", pid])
        if answer.returncode != ANSWERED or "NODES" not in answer.stdout:
            fail(case, "why --type: exit %d: %s %s" % (answer.returncode, answer.stdout[:200], answer.stderr))
        kept = os.path.join(work, "kept.core")
        answer = run(heapsift, work, ["types", pid, "--json", "--keep", kept])
        check_types(case, answer, living, kept)
        if os.path.exists(kept):
            check_types(case, run(heapsift, work, ["types", "--json", kept]), None)
            again = run(heapsift, work, ["types", pid, "--keep", kept])
            if again.returncode != WRONG_USAGE or "exists" not in again.stderr:
                fail(case, "--keep of a file that is there: exit %d: %s" % (again.returncode, again.stderr))
            os.remove(kept)
        refused = run(heapsift, work, ["types", pid, "--keep", kept + ".gz"])
        if refused.returncode != WRONG_USAGE or "not compressed" not in refused.stderr:
            fail(case, "--keep of a compressed file: exit %d: %s" % (refused.returncode, refused.stderr))
        old = os.path.join(work, "old.core")
        run(heapsift, work, ["capture", pid, "-o", old])
        answer = run(heapsift, work, ["diff", old, pid, "--objects", "--json"])
        head = (json.loads(answer.stdout) if answer.stdout else {}).get("data") or {}
        if answer.returncode != ANSWERED or not head.get("cores") or head["cores"][-1].get("pid") != living.pid:
            fail(case, "diff OLD PID: exit %d: %s %s" % (answer.returncode, json.dumps(head)[:300], answer.stderr))
        for words, code in ((["diff", old, "4194303"], CANNOT_ANALYSE), (["diff", pid], WRONG_USAGE)):
            if run(heapsift, work, words).returncode != code:
                fail(case, "%s: not exit %d" % (" ".join(words), code))
        os.remove(old)
        answer = run(heapsift, work, ["index", pid])
        if answer.returncode != WRONG_USAGE:
            fail(case, "index of a living process: exit %d" % answer.returncode)
        if not living.answers():
            fail(case, "the process does not answer any more")
    print("      %-30s %s" % (case, answer_times(answer) or "answered"), flush=True)
    return None


def answer_times(answer):
    lines = [line for line in answer.stderr.splitlines() if "stood" in line]
    return lines[0].replace("heapsift: ", "") if lines else ""


def check_types(case, answer, living, kept=None):
    try:
        document = json.loads(answer.stdout)
        rows = {row["name"]: row["count"] for row in document["data"]["types"]}
    except (ValueError, KeyError, TypeError):
        return fail(case, "no document: exit %d: %s %s" % (answer.returncode, answer.stdout[:300], answer.stderr))
    if answer.returncode != ANSWERED or rows.get("__main__.Node") != NODES:
        fail(case, "exit %d, %s Nodes" % (answer.returncode, rows.get("__main__.Node")))
    core = document["core"]
    if living is not None:
        if core.get("live") is not True or core["chosen_by"] != "argument" or core["path"] != kept or not core["stood_ns"] > 0 or core["live_pid"] != living.pid:
            fail(case, "the document's core is %s" % core)
        if answer.left:
            fail(case, "something is left: %s" % answer.left)
    return None


def expect(heapsift, work, case, arguments, code, *words, **how):
    """One line with all `words`, plain and with --json."""
    answer = run(heapsift, work, arguments, **how)
    line = answer.stderr.rstrip("\n")
    if answer.returncode != code or answer.stdout or "\n" in line or not line.startswith("heapsift: "):
        fail(case, "exit %d, not %d, and %r, %r" % (answer.returncode, code, answer.stdout[:100], line))
    for word in words:
        if word not in line:
            fail(case, "the line does not say '%s': %s" % (word, line))
    document = run(heapsift, work, [*arguments, "--json"], **how)
    try:
        if json.loads(document.stdout)["data"] is not None:
            fail(case, "with --json there is data")
    except (ValueError, KeyError):
        fail(case, "with --json: no document: %s" % document.stdout[:200])
    print("      %-30s %s" % (case, line), flush=True)


def refused(heapsift, interpreter, work):
    """Without permission, of no Python, of what has no memory."""
    def is_alone(pid):
        return str(pid)

    with open("/proc/sys/kernel/pid_max") as file:
        none = file.read().strip()  # the first number that no process can have
    expect(heapsift, work, "no such process", [none], CANNOT_ANALYSE, "no process " + none)
    sleep = subprocess.Popen(["/bin/sleep", "100"])
    expect(heapsift, work, "no Python", [is_alone(sleep.pid)], CANNOT_ANALYSE, "sleep", "Python")
    sleep.kill()
    time.sleep(0.1)
    expect(heapsift, work, "a zombie", [is_alone(sleep.pid)], CANNOT_ANALYSE, "zombie", str(os.getpid()))
    sleep.wait()
    kernel = kernel_thread()
    if kernel:
        expect(heapsift, work, "a kernel thread", [is_alone(kernel)], CANNOT_ANALYSE, "kernel")
    else:
        _not_covered.append("a thread of the kernel: none can be seen")
    if os.geteuid() != 0:
        _not_covered.append("other users: this is not root")
        return
    with Living(interpreter) as living:
        pid = str(living.pid)
        expect(heapsift, work, "another user's", [pid, "types"], CANNOT_ANALYSE, "belongs to root", "sudo", pid + " types", user=NOBODY)
        # Root without capabilities may read what belongs to root too, unless that has them.
        expect(heapsift, work, "more capabilities", [pid], CANNOT_ANALYSE, "capabilities", "SYS_PTRACE", before=without_ptrace())
    with Living(interpreter, user=NOBODY) as living:
        pid = str(living.pid)
        check_types("the same user's", run(heapsift, work, ["types", "--json", pid], user=NOBODY), living)
        check_types("a user's, by root", run(heapsift, work, ["types", "--json", pid]), living)
        expect(heapsift, work, "root without the capability", [pid], CANNOT_ANALYSE, "SYS_PTRACE", "--cap-add", before=without_ptrace())
        if not living.answers():
            fail("the same user's", "the process does not answer any more")
    with Living(interpreter, "hide", user=NOBODY) as living:
        pid = str(living.pid)
        expect(heapsift, work, "a protected process", [pid], CANNOT_ANALYSE, "protected", "sudo", user=NOBODY)
        check_types("a protected process, by root", run(heapsift, work, ["types", "--json", pid]), living)
        inside = ["unshare", "-U", "-r"]
        if possible(inside):
            expect(heapsift, work, "outside the user namespace", [pid], CANNOT_ANALYSE, "outside the user namespace", before=inside)
        else:
            _not_covered.append("user namespaces: unshare -U is not allowed")
    scope = "/proc/sys/kernel/yama/ptrace_scope"
    if os.path.exists(scope) and os.access(scope, os.W_OK):
        with open(scope) as file:
            before = file.read()
        try:
            with open(scope, "w") as file:
                file.write("1")
            with Living(interpreter, user=NOBODY) as living:
                expect(heapsift, work, "ptrace_scope 1", [str(living.pid)], CANNOT_ANALYSE, "ptrace_scope is 1", "sudo", user=NOBODY)
        finally:
            with open(scope, "w") as file:
                file.write(before)
    else:
        _not_covered.append("kernel.yama.ptrace_scope: this kernel has no Yama, or it is not ours to set")


def without_ptrace():
    return ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]


def kernel_thread():
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        if int(text.rsplit(")", 1)[1].split()[6]) & 0x00200000:
            return int(text.split()[0])
    return None


def possible(command):
    return subprocess.run([*command, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def namespaces(heapsift, interpreter, work):
    """Of a process in PID, mount and user namespaces of its own: from outside, and from inside."""
    shapes = [("pid and mount", ["unshare", "-p", "-f", "-m", "--mount-proc"]), ("pid, mount and user", ["unshare", "-U", "-r", "-p", "-f", "-m", "--mount-proc"])]
    for name, command in shapes:
        if not possible(command):
            _not_covered.append("namespaces (%s): unshare is not allowed" % name)
            continue
        with Living(interpreter, before=command) as living:
            pid = living.python()
            if pid == living.pid or not living.ready:
                fail("namespaces (%s)" % name, "the program did not start")
                continue
            living.pid = pid
            answer = run(heapsift, work, ["types", "--json", str(pid)])
            check_types("from outside (%s)" % name, answer, living)
            core = json.loads(answer.stdout or "{}").get("core") or {}
            if core.get("pid") != 1:
                fail("from outside (%s)" % name, "the process id inside is %s" % core.get("pid"))
            if not all_files_found(heapsift, work, pid):
                fail("from outside (%s)" % name, "program files were not found")
            # Inside, with the program copied in: /tmp of that mount namespace.
            enter = ["nsenter", "-t", str(pid), "-p", "-m"] + (["-U", "--preserve-credentials"] if "-U" in command else [])
            living.pid = 1
            check_types("from inside (%s)" % name, run(heapsift, work, ["types", "--json", "1"], before=enter), living)
            if not living.answers():
                fail("namespaces (%s)" % name, "the process does not answer any more")
            print("      %-30s process %d, 1 inside: answered from both sides" % (name, pid), flush=True)
    other_root(heapsift, interpreter, work)


def other_root(heapsift, interpreter, work):
    """Its files lie where no path of ours leads: a copy of the interpreter and its library in a tree of its own."""
    command = ["unshare", "-m"]
    if not possible(command):
        return
    tree = os.path.join(work, "tree")
    hidden = "/var/tmp"  # what the process sees there is mounted over in its namespace
    script = "mount -t tmpfs none %s && mkdir %s/bin && cp %s %s/bin/python && exec %s/bin/python %s" % (
        tree, tree, interpreter.path, tree, tree, os.path.abspath(PROGRAM))
    os.makedirs(tree, exist_ok=True)
    del hidden
    if interpreter.tree:
        return
    process = subprocess.Popen([*command, "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=interpreter.environment(PYTHONHOME=python_home(interpreter)))
    try:
        if process.stdout.readline().strip() != "ready":
            return fail("files of another mount namespace", "the program did not start: %s" % process.stderr.readline())
        if os.path.exists(tree + "/bin/python"):
            return fail("files of another mount namespace", "the file is seen from here")
        if not all_files_found(heapsift, work, process.pid):
            fail("files of another mount namespace", "program files were not found")
        subprocess.run(["nsenter", "-t", str(process.pid), "-m", "rm", tree + "/bin/python"], check=True)
        if not all_files_found(heapsift, work, process.pid):
            fail("a file that was deleted", "it was not found")
        print("      %-30s found, and found when they were deleted" % "files of another namespace", flush=True)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()
    return None


def python_home(interpreter):
    return subprocess.run([interpreter.path, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True).stdout.strip()


def all_files_found(heapsift, work, pid):
    answer = run(heapsift, work, ["doctor", "--missing", str(pid)])
    return answer.returncode == ANSWERED and not answer.stdout.strip()


LIMIT = 160 * MIB
OWN_LIMIT = 40 * MIB  # a fourth of what is captured


# How it grows, and what becomes of its group meanwhile: it grows once a second and not between; its children grow; the limit is of the group above;
# the group gets another name (version 1), or its limit, while it is waited; the process is moved to another
SHAPES = ("steady", "bursts", "children", "nested", "renamed", "lowered", "moved")


def when(heapsift, interpreter, work, times, at_once):
    """A program that grows to the limit of its group: its core is there before the OOM killer ends it."""
    probe = Group.make("probe", LIMIT)
    if not probe:
        _not_covered.append("--when at a limit: no control group with memory can be made here")
        return
    probe.remove()
    print("      control groups of version %d" % probe.version)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(lambda number: grow_to_the_limit(heapsift, interpreter, work, number), range(times)))
    good = [result[0] for result in results if result]
    print("      %d of %d cores were there before the kill, %.1f to %.1f s" % (len(good), times, min(good, default=0), max(good, default=0)), flush=True)
    peaks = [result[1] for result in results if result and result[1]]
    if peaks:
        print("      in a group of its own capture took %.1f to %.1f MiB" % (min(peaks) / MIB, max(peaks) / MIB), flush=True)


def grow_to_the_limit(heapsift, interpreter, work, number):
    """How long before the end of the process its core was there, in seconds, and what capture took in a group of its own; None if none was in time."""
    case = "--when, %d" % number
    choice = random.Random(number)
    speed = choice.uniform(0.02, 0.095) * LIMIT
    shape = SHAPES[number % len(SHAPES)]
    condition = choice.choice(["rss>80%", "cgroup>80%", "rss>80%|2GiB", "growth>1GiB|cgroup>85%"] if shape != "children" else ["cgroup>80%"])
    case += ", " + shape
    group = Group.make("when-%d" % number, 4 * LIMIT if shape == "moved" else None if shape == "lowered" else LIMIT)
    last = group.below("app") if shape == "nested" else group
    narrow = Group.make("narrow-%d" % number, LIMIT) if shape == "moved" else None
    # What waits and captures is in a group of its own, or beside the program in the same.
    own = None if number // len(SHAPES) % 2 else Group.make("own-%d" % number, OWN_LIMIT)
    core = os.path.join(work, "when.%d" % number)
    try:
        at_once = {"children": 0.1, "moved": 0.2}.get(shape, 0.6)
        with Living(interpreter, int(at_once * LIMIT), int(speed), shape, enter=last.enter) as living:
            if not living.ready:
                return fail(case, "the program did not start")
            watcher = subprocess.Popen([heapsift, "capture", str(living.pid), "-o", core, "--when", condition], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=(own or last).enter)
            line = watcher.stderr.readline()  # it watches
            if "waiting for" not in line or (group.folder not in line and shape != "lowered"):
                fail(case, "it does not say the limit that it waits for: %s" % line)
            if shape == "lowered":
                group.limit(LIMIT)
            elif shape == "moved":
                narrow.enter(living.pid)
            elif shape == "renamed" and not group.rename() and group.version == 1:
                fail(case, "it cannot be renamed")
            living.process.stdin.write("grow\n")
            living.process.stdin.flush()
            ended = []
            waiting = threading.Thread(target=lambda: ended.append((living.process.wait(120), time.time())))
            waiting.start()
            _, errors = watcher.communicate(timeout=120)
            waiting.join()
            end, when_it_ended = ended[0]
            if watcher.returncode != 0 or not os.path.exists(core) or os.stat(core).st_ctime >= when_it_ended:
                return fail(case, "%s at %.1f MiB/s: exit %d, %s: %s" % (condition, speed / MIB, watcher.returncode,
                                                                       "core too late" if os.path.exists(core) else "no core", errors))
            seconds = when_it_ended - os.stat(core).st_ctime
            if end != -signal.SIGKILL:
                fail(case, "the process was not killed at its limit, but ended with %d" % end)  # the limit must be a real one
        answer = run(heapsift, work, ["types", "--json", core])
        check_types(case, answer, None)
        return seconds, own and own.peak()
    finally:
        if os.path.exists(core):
            os.remove(core)
        for one in (last, group, narrow, own):
            if one and os.path.exists(one.folder):
                one.remove()


def watch(heapsift, interpreter, work):
    """--every and --keep; the end of the process, and of the watcher."""
    with Living(interpreter) as living:
        pattern = os.path.join(work, "every.%p.%n")
        mine = os.path.join(work, "every.%d.mine" % living.pid)
        open(mine, "w").close()
        watcher = subprocess.Popen([heapsift, "capture", str(living.pid), "-o", pattern, "--every", "1s", "--keep", "2"], stderr=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE)
        fourth = os.path.join(work, "every.%d.4" % living.pid)
        until(lambda: os.path.exists(fourth))
        time.sleep(0.2)
        there = sorted(os.path.basename(path).split(".")[-1] for path in glob.glob(os.path.join(work, "every.*")))
        if there != ["3", "4", "mine"]:
            fail("--every --keep", "the files are %s" % there)
        if not living.answers():
            fail("--every --keep", "the process does not answer any more")
        living.process.kill()
        living.process.wait()
        answer, errors = watcher.communicate(timeout=30)
        if watcher.returncode != 0 or "has ended" not in errors or "2 cores are there" not in answer:
            fail("--every, the end", "exit %d: %s%s" % (watcher.returncode, errors, answer))
        if (answer + errors).count(" stood ") != 4:
            fail("--every", "each of 4 cores is to be told once: %s%s" % (errors, answer))
    print("      %-30s 4 cores, 2 kept" % "--every --keep", flush=True)
    for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
        with Living(interpreter) as living:
            core = os.path.join(work, "never")
            watcher = subprocess.Popen([heapsift, "capture", str(living.pid), "-o", core, "--when", "rss>100GiB"], stderr=subprocess.PIPE, text=True)
            watcher.stderr.readline()
            watcher.send_signal(how)
            watcher.communicate(timeout=30)
            if watcher.returncode != code or os.path.exists(core) or not living.answers():
                fail("a signal", "%s: exit %d" % (how, watcher.returncode))
    with Living(interpreter) as living:
        core = os.path.join(work, "once")
        answer = run(heapsift, work, ["capture", str(living.pid), "-o", core, "--when", "rss>1M"])
        if answer.returncode != ANSWERED or (answer.stdout + answer.stderr).count(" stood ") != 1 or not os.path.exists(core):
            fail("--when", "told once: exit %d: %s%s" % (answer.returncode, answer.stderr, answer.stdout))
        os.remove(core)
        for condition, words in (("rss>80", "rss>80%"), ("growth>80", "growth>80MiB")):
            answer = run(heapsift, work, ["capture", str(living.pid), "-o", core, "--when", condition])
            if answer.returncode != WRONG_USAGE or words not in answer.stderr:
                fail("--when %s" % condition, "exit %d: %s" % (answer.returncode, answer.stderr))
    with Living(interpreter) as living:
        watcher = subprocess.Popen([heapsift, "capture", str(living.pid), "-o", os.path.join(work, "never"), "--when", "rss>100GiB"], stderr=subprocess.PIPE,
                                   text=True)
        watcher.stderr.readline()
        living.process.kill()
        living.process.wait()
        _, errors = watcher.communicate(timeout=30)
        if watcher.returncode != CANNOT_ANALYSE or "has ended before there was a core" not in errors:
            fail("the process ends", "exit %d: %s" % (watcher.returncode, errors))
    print("      %-30s said; Ctrl-C 130" % "the end of the process", flush=True)


def sidecar(heapsift, interpreter, work):
    """Two containers that share their process ids only: the watcher must find the limit of the other one's group, not its own."""
    own, other = Group.make("own", 64 * MIB), Group.make("other", 200 * MIB)
    inside = ["unshare", "-C", "-m", "sh", "-c", 'umount "$0" && mount -t %s "$0" && exec "$@"']
    try:
        if not own or not other:
            return _not_covered.append("a sidecar: no control group with memory can be made here")
        root = os.path.dirname(own.folder)
        inside[-1] %= "cgroup -o memory none" if own.version == 1 else "cgroup2 none"
        if not possible([*inside, root]):
            return _not_covered.append("a sidecar: control groups cannot be mounted in a namespace here")
        with Living(interpreter, before=[*inside, root], enter=other.enter) as living:
            if not living.ready:
                return fail("a sidecar", "the program did not start")
            watcher = subprocess.Popen([*inside, root, heapsift, "capture", str(living.pid), "-o", os.path.join(work, "never"), "--when", "cgroup>90%"],
                                       stderr=subprocess.PIPE, text=True, preexec_fn=own.enter)
            line = watcher.stderr.readline()
            watcher.send_signal(signal.SIGINT)
            watcher.communicate(timeout=30)
            if "100 % is 200.0 MiB" not in line or "/proc/%d/root" % living.pid not in line:
                fail("a sidecar", "it waits for %s" % line)
            print("      %-30s %s" % ("a sidecar", line.strip().split("now; ")[-1]), flush=True)
    finally:
        for group in (own, other):
            if group:
                group.remove()
    return None


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def fail(case, what):
    _failures.append(case)
    print("FAIL  %s: %s" % (case, what), flush=True)


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what unshare leaves behind is ended too
    sys.exit(main())
