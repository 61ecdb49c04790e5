"""The library of `case_sessions.py`: graphs, operations, tensors, and sessions that make themselves the default of their thread.

Session() enters the context manager of the thread's stack, and only close() leaves it. Without close() the session stays on a list inside
a threading.local, and the manager's generator stays suspended; both hold the graph with all its tensors.
"""

import contextlib
import threading


class _Stack(threading.local):
    """One list a thread."""

    def __init__(self):
        self.stack = []

    @contextlib.contextmanager
    def controller(self, default):
        self.stack.append(default)
        try:
            yield default
        finally:
            self.stack.remove(default)


_default_sessions = _Stack()


class Tensor:
    def __init__(self, op, bytes_each):
        self.op = op
        self.value = bytes(bytes_each)


class Operation:
    def __init__(self, graph, name, bytes_each):
        self.graph, self.name = graph, name
        self.outputs = [Tensor(self, bytes_each)]


class Graph:
    def __init__(self):
        self.operations = []

    def add(self, name, bytes_each):
        self.operations.append(Operation(self, name, bytes_each))


class Session:
    def __init__(self, graph):
        self.graph = graph
        self._manager = _default_sessions.controller(self)
        self._manager.__enter__()

    def close(self):
        self._manager.__exit__(None, None, None)


@contextlib.contextmanager
def name_scope(graph, name):
    """Holds the graph in a local of its generator while it is open; on no stack."""
    yield name
    graph.add(name, 0)


# Two registries of the same jobs: neither alone retains them.

class Job:
    __slots__ = ("payload",)

    def __init__(self, payload):
        self.payload = payload


jobs_by_name = {}
jobs_by_number = {}


def register(name, number, payload):
    jobs_by_name[name] = jobs_by_number[number] = Job(payload)
