"""A shell on a terminal of its own, into which keys are typed."""

import fcntl
import os
import pty
import select
import struct
import termios
import time
from typing import Dict, List

HOME = b"\x01"  # Ctrl-A


class Terminal:
    """Starts `command` on a new terminal of 24 lines and 200 columns."""

    def __init__(self, command: List[str], environment: Dict[str, str], folder: str) -> None:
        self.pid, self.number = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.number, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.text = b""

    def type(self, keys: bytes) -> None:
        os.write(self.number, keys)

    def read_until(self, mark: bytes, most: float = 10) -> bytes:
        """Reads until `mark`; returns what was read with it. Raises TimeoutError with what there is."""
        end = time.monotonic() + most
        while mark not in self.text:
            if not self._read(end - time.monotonic()):
                raise TimeoutError(f"no {mark!r} in {self.text!r}")
        at = self.text.index(mark) + len(mark)
        read, self.text = self.text[:at], self.text[at:]
        return read

    def read_quiet(self, quiet: float, most: float = 10) -> bytes:
        """Reads until nothing has come for `quiet` seconds."""
        end = time.monotonic() + most
        while time.monotonic() < end and self._read(quiet):
            pass
        read, self.text = self.text, b""
        return read

    def _read(self, most: float) -> bool:
        if most <= 0 or not select.select([self.number], [], [], most)[0]:
            return False
        try:
            read = os.read(self.number, 1 << 16)
        except OSError:
            return False
        # What fish asks of the terminal before it shows a prompt.
        if b"\x1b[c" in read or b"\x1b[0c" in read:
            os.write(self.number, b"\x1b[?62;c")
        self.text += read
        return bool(read)

    def close(self) -> None:
        os.close(self.number)
        os.waitpid(self.pid, 0)
