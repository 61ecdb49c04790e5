"""A core, or a process, to which questions are put.

The methods of `Core` are in `_commands.py`, which `make_wheel.py` writes from the program's own list of
commands: one a command, with its options as keyword arguments and its help as docstring. So they cannot
differ from the program. Here is what they have in common: turning arguments into a command line, and the
document that comes back into a list or a dict.
"""

import json
import os
from typing import Any, Dict, Iterable, List, Optional, Union

from heapsift._answer import Error, InputError, read_answer
from heapsift._commands import COMMON_OPTIONS, Commands
from heapsift._program import find_program, run

Path = Union[str, "os.PathLike[str]"]


def _option(name: str, value: Any, several: bool) -> List[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if several and not isinstance(value, str):
        return [f"{flag}={one}" for one in value]
    return [f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]


def _address(value: Any) -> str:
    """An address: a number, an expression, or an object of an answer."""
    if isinstance(value, dict):
        value = value["address"]
    return hex(value) if isinstance(value, int) else str(value)


def _options(options: Dict[str, Any], several: Iterable[str]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        words += _option(name, value, name in several)
    return words


class Core(Commands):
    """A core that was opened with `heapsift.open`. Its methods are heapsift's commands."""

    def __init__(self, path: str, program: str, options: Dict[str, Any], is_process: bool = False) -> None:
        self.path = path
        self._is_process = is_process
        self._program = program
        self._common = options

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"heapsift.open({self.path!r})"

    def _ask(self, command: str, own: Dict[str, Any], common: Dict[str, Any], *,
             addresses: Iterable[Any] = (), paths: Optional[Iterable[Path]] = None,
             several: Iterable[str] = ()) -> Any:
        for name in common:
            if name not in COMMON_OPTIONS:
                raise TypeError(f"{command}() has no option {name!r}")
        options = {**self._common, **common}
        words = [command, "--json", "--color=never", "--progress=never", *_options(own, several),
                 *_options(options, ())]
        if paths is not None:  # cores, of which this is the first
            words += ["--", self.path, *(os.fspath(path) for path in paths)]
        elif self._is_process:
            words += ["--", self.path, *(_address(one) for one in addresses)]
        else:  # so that no word after it is taken for a file
            words += ["--core=" + self.path, "--", *(_address(one) for one in addresses)]
        done = run(self._program, words)
        return read_answer(done.output, done.errors, done.exit_code)


def open(core: Union[Path, int], *, program: Optional[Path] = None, **options: Any) -> Core:
    """The core at this path; or a living process, by its number, where the program can capture one.

    `options` go with every question: `sysroot`, `executable`, `debug_dir`, `index_dir`, `no_index`,
    `no_native`, `jobs`, `memory`, `redact`. `program` is the heapsift to run (`find_program`). Nothing is
    read before the first question, but a path at which nothing is raises `heapsift.InputError`
    ("no-such-file").
    """
    for name in options:
        if name not in COMMON_OPTIONS:
            raise TypeError(f"open() has no option {name!r}")
    path = str(core) if isinstance(core, int) else os.fspath(core)
    if not isinstance(core, int):
        if not os.path.exists(path):
            raise InputError("no-such-file", f"{path}: no such file", None, 1)
        path = os.path.abspath(path)
    return Core(path, find_program(None if program is None else os.fspath(program)), options,
                isinstance(core, int))


def batch(*paths: Path, program: Optional[Path] = None, **options: Any) -> List[Dict[str, Any]]:
    """One dict a core, for cores and folders of cores, as `heapsift batch` writes them: "path", "exit",
    "overview" or "error", "signature". `options`: `jobs`, `timeout`, and those of every command.
    """
    words = ["batch", "--progress=never", *_options(options, ()), "--", *(os.fspath(path) for path in paths)]
    done = run(find_program(None if program is None else os.fspath(program)), words)
    lines = [json.loads(line) for line in done.output.splitlines() if line.strip()]
    if not lines:
        said = done.errors.strip().splitlines()
        raise Error("no-answer", said[-1] if said else "no core was found", None, done.exit_code)
    return lines


def version(program: Optional[Path] = None) -> str:
    """Of the program: "0.1.0"."""
    done = run(find_program(None if program is None else os.fspath(program)), ["--version"])
    return done.output.decode().split()[-1]
