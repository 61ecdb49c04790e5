"""Takes a core of a program of testdata/programs, together with the truth that the process wrote about itself.

Four kinds: the kernel's, after SIGABRT (if core_pattern leaves it in the current directory); and of the sleeping process, from outside
its chroot, gdb's gcore, `heapsift capture` and `heapsift capture --fork` (capture, capture-fork; the script's --heapsift takes them).
`truth.py` says how the process stands still.

Several tests use the same cores. If HEAPSIFT_CORES names a folder, as under ctest, a core that several of them want is taken once,
kept there under what made it (interpreter, program, kind, environment, and the programs' own text), and lent as a hard link; call
`own()` before writing into one. ctest empties the folder before and after.
"""

import dataclasses
import fcntl
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "programs")
KINDS = ("kernel", "gcore")  # that tests ask for by themselves
ALL_KINDS = KINDS + ("capture", "capture-fork")
_PATIENCE = 300  # seconds
_SHARED = {(program, "kernel") for program in ("plain", "zoo", "work")}  # of the rest, one test alone has use


class NoCore(Exception):
    """Why there is no core, in one line."""


@dataclasses.dataclass
class TakenCore:
    core: str
    truth: str
    folder: str
    notes: str  # what the program said

    def delete(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def own(self):
        """To be called before the core's bytes are changed: from then on nobody else shares them."""
        if os.stat(self.core).st_nlink > 1:
            subprocess.run(["cp", "--reflink=auto", "--sparse=always", self.core, self.core + ".own"], check=True)
            os.replace(self.core + ".own", self.core)


def why_no_kernel_cores():
    """None if the kernel leaves cores in the current directory."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith("|"):
        return "the kernel pipes cores to %s" % pattern[1:].split()[0]
    if "/" in pattern or not pattern:
        return "core_pattern is '%s'" % pattern
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard != resource.RLIM_INFINITY and os.geteuid() != 0:
        return "the hard limit of ulimit -c is %d" % hard
    return None


def why_no_gcore():
    return None if shutil.which("gcore") else "gcore is not installed (package gdb)"


def why_no_capture():
    return None if _heapsift() else "--heapsift is not given, and it takes these cores"


def why_not(kind):
    """Why no core of that kind can be had; None if it can."""
    return {"kernel": why_no_kernel_cores, "gcore": why_no_gcore}.get(kind, why_no_capture)()


def _heapsift():
    """What the script was given: every one that takes cores has this option."""
    words = sys.argv
    for word, following in zip(words, words[1:] + [""]):
        if word == "--heapsift":
            return os.path.abspath(following)
        if word.startswith("--heapsift="):
            return os.path.abspath(word.split("=", 1)[1])
    return None


def take(interpreter, program, kind, work, **environment):
    """Runs testdata/programs/<program>.py on `interpreter`, with `environment` added, and takes its core. Raises NoCore."""
    store = os.environ.get("HEAPSIFT_CORES")
    if store and (program, kind) in _SHARED:
        return _borrow(store, interpreter, program, kind, work, environment)
    return _take_now(interpreter, program, kind, work, environment)


def _take_now(interpreter, program, kind, work, environment):
    parent = os.path.join(interpreter.tree, "var/tmp") if interpreter.tree else work
    folder = tempfile.mkdtemp(prefix="heapsift-%s-%s-" % (program, kind), dir=parent)
    try:
        for path in glob.glob(PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        return _take(interpreter, program, kind, folder, environment)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _borrow(store, interpreter, program, kind, work, environment):
    environment = {**environment, "HEAPSIFT_TRUTH_REFERENTS": "1"}  # whoever comes first writes for all
    shelf = os.path.join(store, _name_in_store(interpreter, program, kind, environment))
    os.makedirs(store, exist_ok=True)
    with open(shelf + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(shelf):
            _keep(_take_now(interpreter, program, kind, work, environment), shelf)
    folder = tempfile.mkdtemp(prefix="heapsift-%s-%s-" % (program, kind), dir=work)
    for name in ("core", "truth.tsv", "said"):
        _link(os.path.join(shelf, name), os.path.join(folder, name))
    return TakenCore(os.path.join(folder, "core"), os.path.join(folder, "truth.tsv"), folder, _read(os.path.join(folder, "said")))


def _name_in_store(interpreter, program, kind, environment):
    made_by = hashlib.sha256(json.dumps([interpreter.name, interpreter.path, interpreter.tree, interpreter.environment(**environment, **extra_environment)],
                                        sort_keys=True).encode())
    for path in sorted(glob.glob(PROGRAMS + "/*.py")):
        made_by.update(os.path.basename(path).encode() + _read(path).encode())
    return "%s-%s-%s-%s" % (interpreter.name.replace(" ", "-"), program, kind, made_by.hexdigest()[:16])


def _keep(taken, shelf):
    try:
        os.makedirs(shelf + ".part", exist_ok=True)
        for path, name in ((taken.core, "core"), (taken.truth, "truth.tsv"), (os.path.join(taken.folder, "said"), "said")):
            shutil.move(path, os.path.join(shelf + ".part", name))
        os.rename(shelf + ".part", shelf)
    finally:
        taken.delete()


def _link(source, path):
    try:
        os.link(source, path)
    except OSError:  # on another file system
        shutil.copyfile(source, path)


def take_of_command(command, folder):
    """The core of any program, half a second after its start: the kernel's, else gcore's. Raises NoCore."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, preexec_fn=prepare)
    try:
        time.sleep(0.5)
        if why_no_kernel_cores() is not None:
            return gcore(process.pid, os.path.join(folder, "core"))
        process.send_signal(signal.SIGABRT)
        process.wait(_PATIENCE)
        return _core_in(folder)
    finally:
        process.kill()
        process.wait()


extra_environment = {}  # of every process that is started: PYTHONMALLOC=debug, say


def start(interpreter, arguments, folder, **environment):
    """Starts the interpreter with `arguments`, in `folder`, allowed to dump a core of any size."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        interpreter.enter(folder)

    with open(os.path.join(folder, "said"), "w") as said:
        return subprocess.Popen([interpreter.path, *arguments], env=interpreter.environment(**environment, **extra_environment), preexec_fn=prepare,
                                stdin=subprocess.DEVNULL, stdout=said, stderr=said)


def _take(interpreter, program, kind, folder, environment):
    truth = os.path.join(folder, "truth.tsv")
    core, said = take_at_rest(interpreter, [program + ".py"], kind, folder, truth, HEAPSIFT_TRUTH="truth.tsv", **environment)
    return TakenCore(core, truth, folder, said)


def take_at_rest(interpreter, arguments, kind, folder, sign, **environment):
    """The core of a program that writes the file `sign` when it stands still (and aborts then, for the kernel's kind), and what it
    said. Raises NoCore."""
    program = os.path.basename(arguments[0])
    process = start(interpreter, arguments, folder, HEAPSIFT_CORE_BY=kind, **environment)
    try:
        if kind == "kernel":
            process.wait(_PATIENCE)
        else:
            wait_for(sign, process)
            of_living(kind, process.pid, os.path.join(folder, "core"))
    except subprocess.TimeoutExpired:
        raise NoCore("%s did not come to rest in %d seconds" % (program, _PATIENCE)) from None
    finally:
        process.kill()
        status = process.wait()
    said = _read(os.path.join(folder, "said"))
    if not os.path.exists(sign):
        raise NoCore("%s wrote no %s (exit %s): %s" % (program, os.path.basename(sign), status, _last_line(said)))
    if kind == "kernel" and status != -signal.SIGABRT:
        raise NoCore("%s did not dump core (exit %s): %s" % (program, status, _last_line(said)))
    return _core_in(folder), said


def _core_in(folder):
    """core, core.PID: whatever core_pattern and gcore make of it."""
    found = [path for path in glob.glob(os.path.join(folder, "core*")) if os.path.basename(path).split(".")[-1] != "py"]
    if not found:
        raise NoCore("no core was left in %s" % folder)
    return found[0]


def wait_for(path, process):
    end = time.monotonic() + _PATIENCE
    while not os.path.exists(path) and process.poll() is None:
        if time.monotonic() > end:
            raise subprocess.TimeoutExpired(path, _PATIENCE)
        time.sleep(0.05)
    time.sleep(0.2)  # the writer, a child, ends; its parent sleeps


def of_living(kind, pid, prefix):
    if kind == "gcore":
        gcore(pid, prefix)
    else:
        capture(_heapsift(), pid, "%s.%d" % (prefix, pid), *(["--fork"] if kind == "capture-fork" else []))


def capture(heapsift, pid, path, *options):
    """Writes `path`; returns the JSON's `data`. Raises NoCore."""
    done = subprocess.run([heapsift, "capture", str(pid), "-o", path, "--json", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=_PATIENCE, env={**os.environ, "HEAPSIFT_STATE": "off"})
    if done.returncode:
        raise NoCore("capture ended with %d: %s" % (done.returncode, _last_line(done.stderr)))
    document = json.loads(done.stdout)
    if "--fork" in options and document["data"]["captures"][0]["method"] != "fork":
        raise NoCore("capture made no fork: %s" % document["warnings"])
    return document["data"]


def gcore(pid, prefix):
    """Writes <prefix>.<pid>."""
    environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    done = subprocess.run(["gcore", "-o", prefix, str(pid)], env=environment, timeout=_PATIENCE, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    path = "%s.%d" % (prefix, pid)
    if not os.path.exists(path):
        raise NoCore("gcore: %s" % _last_line(done.stdout))
    return path


def last_words(folder):
    """The last line that the program of `start` said."""
    return _last_line(_read(os.path.join(folder, "said")))


def _read(path):
    with open(path, errors="replace") as file:
        return file.read()


def _last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
