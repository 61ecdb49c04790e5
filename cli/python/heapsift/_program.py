"""Finds and runs the program `heapsift`.

The wheel puts it where the environment's other commands are (`bin` of a venv, of ~/.local, or of the prefix
of pipx), and that is where it is looked for first: a program of the same name elsewhere on the PATH may be
another version. $HEAPSIFT_PROGRAM, or `program=` of `heapsift.open`, names it outright.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Iterator, List, NamedTuple, Optional, Sequence

from heapsift._answer import Error


def _places() -> Iterator[str]:
    yield os.path.join(os.path.dirname(sys.executable), "heapsift")
    yield os.path.join(sysconfig.get_path("scripts"), "heapsift")
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield os.path.join(sysconfig.get_path("scripts", user), "heapsift")
    # pip install --target FOLDER: FOLDER/bin, beside this package
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "heapsift")


def find_program(program: Optional[str] = None) -> str:
    """The path of the program: `program` if given, else $HEAPSIFT_PROGRAM, else this environment's, else the
    one on the PATH. Raises `heapsift.Error` ("no-program") if there is none.
    """
    named = program or os.environ.get("HEAPSIFT_PROGRAM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Error("no-program", f"{named} is no program", "name the heapsift to run")
        return found
    for place in _places():
        if os.access(place, os.X_OK) and os.path.isfile(place):
            return place
    found = shutil.which("heapsift")
    if found is None:
        raise Error("no-program", "the program heapsift was not found",
                    "install its wheel again, or set HEAPSIFT_PROGRAM")
    return found


class Run(NamedTuple):
    """What a run of the program left."""

    exit_code: int  # negative: ended by that signal
    output: bytes
    errors: str


def run(program: str, arguments: Sequence[str], *, keep_state: bool = False) -> Run:
    """Runs it to its end. Unless `keep_state`, it neither uses nor changes the core in use of the terminal:
    a library must not do that.
    """
    environment = dict(os.environ)
    if not keep_state:
        environment["HEAPSIFT_STATE"] = "off"
    command: List[str] = [program, *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, check=False)
    return Run(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
