"""A small core of this machine's Python, with types whose names are meant to harm a shell."""

import os
import resource
import subprocess
import sys
from pathlib import Path

# What a shell would act upon, if it were not quoted. Every name is a type's, in the module `evil`.
EVIL = ["a$(touch PWNED)", "b;touch PWNED", "c'q", 'd"q', "e`touch PWNED`", "f g", "g!x", "j\\k", "k&l", "l|m", "m*n",
        "n~", "o#p", "p{a,b}", "q<r>", "r:s=t", "[u]", "u]=1", "v(e)x", "$HOME", "~v", "ü", "-w", "x\ty", "z\nnl", "A\x1b[31m"]

PROGRAM = """
import os
class Node:
    def __init__(self):
        self.rows = [0] * 10
class Session:
    pass
CACHE = {i: Node() for i in range(2000)}
SESSIONS = [Session() for _ in range(30)]
evil = [type(name, (), {"__module__": "evil"})() for name in %r]
many = [type("T%%d" %% i, (), {"__module__": "pkg%%d.sub" %% (i %% 7)})() for i in range(800)]
os.abort()
"""


def make_core(folder: Path, name: str = "core.1", interpreter: str = sys.executable) -> Path:
    """Runs the program, which aborts, and moves the kernel's core to `folder`/`name`."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|"):
        raise RuntimeError(f"the kernel hands its cores to {pattern}")
    run_in = folder / "run"
    run_in.mkdir()

    def allow_core() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    process = subprocess.Popen([interpreter, "-c", PROGRAM % EVIL], cwd=run_in, preexec_fn=allow_core,
                               stderr=subprocess.DEVNULL)
    process.wait()
    written = [run_in / entry for entry in os.listdir(run_in)]
    if "/" in pattern:
        raise RuntimeError(f"the kernel writes its cores to {pattern}")
    if len(written) != 1:
        raise RuntimeError(f"{len(written)} cores were written, not one")
    core = folder / name
    written[0].rename(core)
    run_in.rmdir()
    return core
