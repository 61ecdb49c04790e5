"""A command whose cost is measured: its output goes nowhere, and it must have answered."""

import os
import resource
import signal
import sys


class OutOfTime(Exception):
    pass


def start(command, most_seconds=None, given=None):
    """The process's id. It may take so many CPU seconds, and reads the file `given`."""
    child = os.fork()
    if child == 0:
        if most_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds + 5))
        if given:
            os.dup2(os.open(given, os.O_RDONLY), 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(command[0], command)
    return child


def require_answer(command, status):
    """`status` as os.wait4 gives it. Exit 3 is an answer in part. Raises OutOfTime."""
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        raise OutOfTime
    if code not in (0, 3):
        sys.exit("%s: exit %d" % (" ".join(command), code))
