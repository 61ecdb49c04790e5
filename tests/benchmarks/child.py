"""A command whose cost is measured: its output goes nowhere, and it must have answered."""

import os
import sys


def start(command):
    """The process's id."""
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(command[0], command)
    return child


def require_answer(command, status):
    """`status` as os.wait4 gives it. Exit 3 is an answer in part."""
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 3):
        sys.exit("%s: exit %d" % (" ".join(command), code))
