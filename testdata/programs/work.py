"""A process at work: objects that refer to others in every way, each in the middle of what it does.

Problem: a new object refers to little. A reader of references goes wrong over what it refers to while it works (an iterator half
consumed, a task that waits, a parser in the middle of its text, a statement that still has rows).
Idea: the workshop has what the zoo lacks, a few of each kind, half done; and it stands still in the middle of things: within an except
clause, called back from C, below a running generator.

    work_language.py   iterators, generators, frames, exceptions, descriptors, weak references, typing
    work_library.py    the standard library's C types
    work_system.py     compressed data, digests, the system, profilers
    work_services.py   processes, threads, event loops, connections; NumPy
"""

import os

import exhibits
import truth
import work_language
import work_library
import work_services
import work_system

KEPT = {}


def reap():
    """No child that has ended may be left: record() waits for the first one that does."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Workshop:
    __slots__ = ("name", "rows")

    def __init__(self):
        self.name, self.rows = "the workshop", [["a row"]]

    def called_back(self, argument):
        free_variable = [argument]
        try:
            raise LookupError("while nobody looks")
        except LookupError as handled:
            with memoryview(bytearray(b"held by a with statement")) as view:
                for row in self.rows:
                    (lambda: truth.record())()
                    free_variable.append(lambda: (free_variable, row, view))
            return handled

    def running(self):
        for one in map(self.called_back, iter([("the first", 1), ("the second", 2)])):
            yield one


def stand_still(*arguments, **named):
    a_local_set = {"held", "by", "a frame"}
    running = Workshop().running()
    sorted([[1], [2]], key=lambda row: next(running))
    return a_local_set


exhibits.open_houses("work", (work_services, work_language, work_library, work_system), KEPT)
reap()
stand_still(1, [2], named={"three": 3})
