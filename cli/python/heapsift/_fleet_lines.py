"""The lines that `heapsift batch` writes: one of a core that has none, files of them, and what is asked again."""

import fcntl
import json
import os
import re
import stat
import warnings
from typing import Any, Dict, Iterable, Iterator, Optional, Set, Tuple

from heapsift._answer import UsageError

Line = Dict[str, Any]

SCHEMA = "heapsift.batch/1"
FIRST_OF_LINE = b'{"schema":"heapsift.batch/'
DEFAULT_TIMEOUT = 1800  # seconds, of batch
# No fault of the core: it may go well elsewhere.
ACCIDENTS = ("killed", "not-started", "worker-lost", "not-copied")
TOO_LITTLE = ("out-of-memory", "too-little-memory")


def error_line(path: str, code: str, message: str, hint: Optional[str] = None) -> Line:
    """The line of a core for which the program wrote none."""
    path, message = path_in_line(path), path_in_line(message)
    columns = ("host", "boot", "container", "pid", "started", "stored", "command", "interpreter", "packages", "ended",
               "signal", "threads", "mapped", "in_use", "objects", "object_memory", "array_data", "garbage", "headline",
               "suspects", "complete", "certain")
    return {"schema": SCHEMA, "path": path, "identity": None, "exit": 1,
            "error": {"code": code, "message": message, "hint": hint}, "signature": f"not analysed: {code}",
            **dict.fromkeys(columns), "warnings": [], "limits": {"timeout": None, "max_memory": None}, "seconds": None}


def line_text(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def path_in_line(path: str) -> str:
    """As the program writes it: bytes that are not UTF-8 as \\xff."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_unfinished(text: bytes) -> bool:
    """Whether it is the beginning of a line, and not all of it."""
    if not text.startswith(FIRST_OF_LINE[:len(text)]):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False


class LinesFile:
    """A file of lines that grows, and is gone on with. Only one process at a time writes it."""

    def __init__(self, path: str, goes_on: bool) -> None:
        try:
            self._file = open(path, "a+b", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))
        except OSError as reason:
            raise UsageError("cannot-create", f"{path}: {reason.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UsageError("output-in-use", f"{path}: another process writes it") from None
        facts = os.fstat(self._file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            self._file.close()
            raise UsageError("not-a-file", f"{path}: is no file")
        size = facts.st_size
        if size and not goes_on:
            self._file.close()
            raise UsageError("output-exists", f"{path}: exists", f"resume={path!r} goes on with it")
        end = size
        while end:
            start = max(end - (1 << 16), 0)
            at = os.pread(self._file.fileno(), end - start, start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end == size:
            return
        if _is_unfinished(os.pread(self._file.fileno(), size - end, end)):
            os.ftruncate(self._file.fileno(), end)
        else:  # of an editor that writes no end of the last line
            self._file.write(b"\n")

    def write(self, line: Line) -> None:
        self._file.write(line_text(line).encode("utf-8", "replace"))

    def close(self) -> None:
        self._file.close()


def _bytes(size: Any) -> Optional[int]:
    """Of "3G" as of a number; None if it is neither."""
    if isinstance(size, int):
        return size
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(size), re.IGNORECASE)
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else None


def is_worth_more(line: Line, timeout: Any = None, max_memory: Any = None) -> bool:
    """Whether the core of this line is asked again, with these options of `fleet`: the program was killed over it, or a
    limit ended it that is larger now.
    """
    error, limits = line.get("error"), line.get("limits")
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(limits, dict):
        limits = {}

    def is_larger(then: Any, now: Optional[int]) -> bool:
        return isinstance(then, int) and not isinstance(then, bool) and then >= 0 and now is not None and (now == 0 or now > then)
    if code == "timed-out":
        return is_larger(limits.get("timeout"), DEFAULT_TIMEOUT if timeout is None else _bytes(timeout))
    if code in TOO_LITTLE:
        return is_larger(limits.get("max_memory"), 0 if max_memory is None else _bytes(max_memory))
    return code in ACCIDENTS


def read_answered(files: Iterable[str], timeout: Any = None,
                  max_memory: Any = None) -> Tuple[Set[str], Dict[str, str]]:
    """The identities of the cores that have a line, and by path ("" where a line has none); not those that are asked
    again. Lines that are none of a batch's, as where a person wrote something, are skipped, with one warning. Raises
    `UsageError` ("no-lines") for what is no file of lines.
    """
    identities: Set[str] = set()
    paths: Dict[str, str] = {}
    skipped = 0
    for name in files:
        for line in _lines_of(name):
            if line is None:
                skipped += 1
                continue
            if is_worth_more(line, timeout, max_memory):
                continue
            identity, path = line.get("identity"), line.get("path")
            identity = identity if isinstance(identity, str) else ""
            if isinstance(path, str):
                paths[path] = identity
            if identity:
                identities.add(identity)
    if skipped:
        warnings.warn(f"resume: {skipped} of the lines skipped, no line of a batch", stacklevel=3)
    return identities, paths


def _lines_of(name: str) -> Iterator[Optional[Line]]:
    """None for what is no line; nothing of a file that is not there, nor of a last line that was begun."""
    try:
        kind = os.stat(name).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(kind) or stat.S_ISBLK(kind) or stat.S_ISCHR(kind) and name != os.devnull:
        raise UsageError("no-lines", f"{name}: is no file of lines")
    try:
        file = open(name, "rb")
    except OSError as reason:
        raise UsageError("no-lines", f"{name}: {reason.strerror}") from None
    with file:
        for text in file:
            if not text.strip() or not text.endswith(b"\n") and _is_unfinished(text):
                continue
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            yield line if isinstance(line, dict) and line.get("schema") == SCHEMA else None
