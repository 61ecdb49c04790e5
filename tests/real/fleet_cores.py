"""Many small cores, as a fleet leaves them: each cause of testdata/programs/suspects.py taken several times, in processes that differ as those of
one program on many hosts do: number of entries, length of texts, arguments, host name, hash seed, version of Python.

A core is compressed as soon as it is there (zstd -3: some 26 MB become 1 to 3), so that a thousand need little room. Its name says what is in it
and decides nothing: CAUSE.INTERPRETER.NUMBER.core.zst.
"""

import dataclasses
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import cores
import harness

SIZES = (2800, 3000, 3300, 3700)  # of entries, and of bytes of each: 8 to 14 MB


@dataclasses.dataclass
class FleetCore:
    cause: str
    interpreter: object
    number: int
    path: str


def all_causes():
    """Those that every interpreter has. Of 3.6 and 3.7's atexit heapsift knows less, and of 3.13's executors (suspects.py says so)."""
    with open(os.path.join(cores.PROGRAMS, "suspects.py"), encoding="utf-8") as file:
        names = re.findall(r"^def leak_(\w+)\(\)", file.read(), re.M)
    return [name for name in names if name not in ("at_exit", "at_exit_methods", "executor_backlog")]


def take(interpreter, cause, number, work):
    """One core, in `work`. Raises cores.NoCore."""
    folder = harness.folder_for(interpreter, work, "heapsift-fleet-")
    try:
        for name in ("older.py", "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        with open(os.path.join(cores.PROGRAMS, "suspects.py"), encoding="utf-8") as file:
            program = re.sub(r"\b4000\b", str(SIZES[number % len(SIZES)]), file.read())
        with open(os.path.join(folder, "suspects.py"), "w", encoding="utf-8") as file:
            file.write(program)
        core, _ = cores.take_at_rest(interpreter, ["suspects.py", cause, "--worker", str(number)], "kernel", folder, os.path.join(folder, "truth.json"),
                                     HOSTNAME="host%02d.example" % (number % 7), PYTHONHASHSEED=str(number))
        path = os.path.join(work, "%s.%s.%d.core.zst" % (cause, interpreter.name.replace(" ", "-"), number))
        subprocess.run(["zstd", "-q", "-3", "--rm", "-o", path, core], check=True)
        return FleetCore(cause, interpreter, number, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def take_all(wanted, work, at_once=2):
    """(cores, what failed) of (interpreter, cause, number)."""
    def one(asked):
        try:
            return take(*asked, work)
        except (cores.NoCore, OSError, subprocess.SubprocessError) as reason:
            return "%s %s %d: %s" % (asked[0].name, asked[1], asked[2], reason)

    with ThreadPoolExecutor(at_once) as pool:
        done = list(pool.map(one, wanted))
    return [one for one in done if isinstance(one, FleetCore)], [one for one in done if isinstance(one, str)]
