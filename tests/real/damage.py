"""What must hold for every answer about a damaged core, and how to ask for one.

Exit code 0, 1 or 3, no signal, no sanitizer's report, in good time; with --json one document on standard output and at most one line on
standard error; on 1 the error's code and message; on 3 a reason among the warnings; no number larger than the memory that there is.
"""

import json
import os
import subprocess
import time

ANSWERED, CANNOT_ANALYSE, IN_PART = 0, 1, 3


class Answer:
    """One run of heapsift."""

    def __init__(self, command, folder, timeout, mapped):
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder, "XDG_STATE_HOME": folder}
        environment.pop("HEAPSIFT_CORE", None)
        began = time.monotonic()
        self.document, self.faults = None, []
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.code, self.seconds = None, timeout
            self.faults.append("no answer in %.0f seconds" % timeout)
            return
        self.seconds = time.monotonic() - began
        self.code = done.returncode
        self.said = done.stderr.decode("utf-8", "replace")
        self._check_code()
        self._check_document(done.stdout, mapped)

    def _check_code(self):
        if self.code not in (ANSWERED, CANNOT_ANALYSE, IN_PART):
            self.faults.append("exit %d: %s" % (self.code, self.said.strip().replace("\n", " | ")[:2000]))
        elif self.said.count("\n") > 1:
            self.faults.append("%d lines on standard error: %s" % (self.said.count("\n"), self.said[:500]))

    def _check_document(self, text, mapped):
        try:
            self.document = json.loads(text)
        except ValueError as reason:
            self.faults.append("no JSON document: %s" % reason)
            return
        error = self.document.get("error")
        if self.code == CANNOT_ANALYSE and not (error and error["code"] and error["message"]):
            self.faults.append("exit 1 without a reason")
        if self.code == CANNOT_ANALYSE and not self.said.startswith("heapsift: "):
            self.faults.append("exit 1 without its line: %r" % self.said)
        if self.code == IN_PART and not self.document["warnings"]:
            self.faults.append("exit 3 without a warning")
        if self.code == IN_PART and (self.document["complete"] or self.document["certain"]):
            self.faults.append("exit 3, and complete or certain")
        if error and error["code"] == "internal-error":
            self.faults.append("internal error: %s" % error["message"])
        data = {key: value for key, value in (self.document.get("data") or {}).items() if key != "index"}  # not of the core's memory
        largest = max(_numbers(data), default=0)
        if largest > 2 * mapped and "memory-counted-twice" not in self.warnings():
            self.faults.append("a number larger than all memory: %d" % largest)

    def warnings(self):
        return {one["code"] for one in (self.document or {}).get("warnings", [])}


_SIZES = {"size", "memory", "array_data", "count", "bytes", "retained", "shown_memory"}


def _numbers(value, key=None):
    """All numbers that are sizes or counts."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, key)
    elif isinstance(value, int) and not isinstance(value, bool) and key in _SIZES:
        yield value


def mapped_bytes(core):
    """The sum of p_memsz over the segments."""
    import struct
    with open(core, "rb") as file:
        header = file.read(64)
        start, = struct.unpack_from("<Q", header, 32)
        count, = struct.unpack_from("<H", header, 56)
        file.seek(start)
        table = file.read(56 * count)
    headers = (struct.unpack_from("<IIQQQQQQ", table, 56 * i) for i in range(count))
    return sum(header[6] for header in headers if header[0] == 1)
