"""Puts questions to a core: `heapsift COMMAND … --json`, one process for each, and says what is wrong with an answer."""

import json
import os
import subprocess

_SECONDS = 600


class BadAnswer(Exception):
    """One line: what is wrong with it."""


class AskedCore:
    def __init__(self, heapsift, core, folder, sysroot=""):
        self.heapsift, self.core, self.folder, self.sysroot = heapsift, core, folder, sysroot
        self._answers = {}  # a question is put once
        self._warnings = {}

    def data(self, command, *arguments):
        """The `data` of the answer. Raises BadAnswer if the exit code is not 0, or the output is not JSON, or another command's."""
        question = (command, *arguments)
        if question not in self._answers:
            self._answers[question] = self._ask(command, *arguments)
        return self._answers[question]

    def warnings(self, command, *arguments):
        """What the same answer warned of: documents with code and message."""
        self.data(command, *arguments)
        return self._warnings[(command, *arguments)]

    def _ask(self, command, *arguments):
        done = self._run(command, *arguments, "--json")
        asked = "heapsift %s" % " ".join((command, *arguments))
        try:
            document = json.loads(done.stdout)
        except ValueError:
            document = None
        if done.returncode or not isinstance(document, dict):
            raise BadAnswer("%s: exit %d: %s" % (asked, done.returncode, _error_of(document) or _last_line(done.stderr)))
        if document.get("schema") != "heapsift.%s/1" % command:
            raise BadAnswer("%s: its schema is %s" % (asked, document.get("schema")))
        if not isinstance(document.get("data"), dict):
            raise BadAnswer("%s: no data" % asked)
        self._warnings[(command, *arguments)] = document["warnings"]
        return document["data"]

    def text(self, command, *arguments):
        done = self._run(command, *arguments, "--color", "never")
        if done.returncode:
            raise BadAnswer("heapsift %s: exit %d: %s" % (command, done.returncode, _last_line(done.stderr)))
        return done.stdout

    def _run(self, command, *arguments):
        line = [self.heapsift, command, *arguments, "--core", self.core] + (["--sysroot", self.sysroot] if self.sysroot else [])
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": self.folder}
        try:
            return subprocess.run(line, capture_output=True, text=True, errors="replace", env=environment, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise BadAnswer("heapsift %s: no answer in %d seconds" % (command, _SECONDS)) from None


def _error_of(document):
    error = document.get("error") if isinstance(document, dict) else None
    return error.get("message") if isinstance(error, dict) else None


def _last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing on standard error"


def first_path(why):
    """The first path in an answer to `why ADDRESS`. Raises BadAnswer if there is none, or it lacks what every path has."""
    paths = why.get("paths")
    if not paths:
        raise BadAnswer("no path")
    path = paths[0]
    root = path.get("root")
    if not isinstance(root, dict) or not root.get("kind"):
        raise BadAnswer("the root has no kind: %s" % root)
    if not isinstance(path.get("expression"), str) or not path["expression"]:
        raise BadAnswer("the path has no expression")
    return path


def chain_problem(path, target):
    """From the root's object to the target, each step must begin where the previous one ended. If the root is not an object, but a frame or
    a word of memory, its `address` may be that of what it holds, and a first step without a source leads there."""
    at = path["root"].get("address")
    for number, step in enumerate(path.get("steps") or ()):
        source, step_target = step.get("source"), step.get("target")
        if source != at and not (number == 0 and (source is None or at is None)):
            return "step %d starts at %s, and what is before it ends at %s" % (number, source, at)
        if not step.get("name") or not step.get("kind"):
            return "step %d has no name or no kind" % number
        if step.get("kind") == "weak":
            return "step %d is a weak reference" % number
        at = step_target
    return None if at == target else "the steps end at %s" % at


def address_of(node):
    """Of an OBJECT, or of an answer that has one under `object`."""
    return node.get("address") or (node.get("object") or {}).get("address")


class GroupsOfTree:
    """What the dominator tree says: the group above each object that it names."""

    def __init__(self, tree):
        self.group_of, self.groups = {}, []
        waiting = [(tree, None)]
        while waiting:
            node, group = waiting.pop()
            if node.get("group"):
                group = node["group"]
                self.groups.append(group)
            if address_of(node):
                self.group_of[address_of(node)] = group
            waiting.extend((child, group) for child in node.get("children") or ())
