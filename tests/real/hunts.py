#!/usr/bin/env python3
"""Small applications that leak (testdata/programs/hunts.py), and what a person sees who has nothing but the core.

The first screen, in terminals of 80x24 and 120x40, must fit, name the culprit, and say the fix or the command that says it; `suspects` must
have every culprit with its bytes, in order, and claim no more than was planted; `dominators` must leave next to nothing without an owner.

    hunts.py --heapsift build/dev/heapsift [--tree trixie=/var/cache/heapsift/trixie] [--versions DIR] [--programs mixed …]
    hunts.py --heapsift build/dev/heapsift --interpreter /usr/bin/python3.11 --screens tests/screens.md
"""

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import time

import cores
import harness
from asked import AskedCore, BadAnswer

PROGRAMS = {
    "mixed": "a shop's server in which seven things go wrong: closures subscribed to a bus, a cache without a bound, tracebacks, a WeakKeyDictionary, "
             "a MemoryHandler, a registry, thread-locals",
    "tasks": "an event loop whose tasks await what nobody sets",
    "views": "slices of the columns of DataFrames that are gone",
    "cycles": "requests and replies that refer to each other, the collector switched off",
    "singleton": "a catalog that a global and a class hold",
    "method": "a cached method, which keeps every self",
    "http": "a web server whose handler stores its replies in the class",
}
_SCREENS = ((24, 80, 1), (40, 120, 3))  # lines, columns, how many of the culprits must be named
_CLOSE = 0.05                           # of the bytes
_WITHOUT_OWNER = 0.01                   # of what dominators add up to
_LEAST_OF_CUT = 6                       # characters of a name that a narrow page leaves of a value
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


def main():
    parser = harness.parser("hunts leaks of small applications, from the first screen on", kinds=("kernel",))
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--screens", metavar="FILE", help="write the first screens there, as Markdown")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "hunts")
    shown = []
    if why_no_terminal():
        print("not tested here: the screens: %s" % why_no_terminal())
    found = [one for one in found if not one.debug]  # what pymalloc's debug hooks add is in no process's own account
    for interpreter in found:
        for kind in kinds:
            began, right, tried = time.monotonic(), 0, 0
            for program in options.programs:
                if program == "views" and not harness.has_pandas(interpreter):
                    continue
                faults = run_one(options, interpreter, program, kind, work, shown)
                tried, right = tried + 1, right + (not faults)
                failures += ["%s %s %s: %s" % (interpreter.name, program, kind, fault) for fault in faults]
            print("%-18s %-7s %d of %d right, %.1f s" % (interpreter.name, kind, right, tried, time.monotonic() - began), flush=True)
    if options.screens:
        write_screens(options.screens, shown)
    return harness.end(failures)


def run_one(options, interpreter, program, kind, work, shown):
    folder = harness.folder_for(interpreter, work, "heapsift-hunts-%s-" % program)
    try:
        for name in ("hunts.py", "older.py", "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        truth_path = os.path.join(folder, "truth.json")
        taken, _ = cores.take_at_rest(interpreter, ["hunts.py", program], kind, folder, truth_path)
        core = os.path.join(folder, "core." + program)
        os.rename(taken, core)
        with open(truth_path, encoding="ascii") as file:
            culprits = json.load(file)["culprits"]
        terminal = Terminal(options.heapsift, core, folder, interpreter.tree)
        asked = AskedCore(options.heapsift, core, folder, interpreter.tree)
        faults = []
        for lines, columns, named in _SCREENS if not why_no_terminal() else ():
            screen = terminal.type(lines, columns)
            shown.append((interpreter, program, terminal.typed(), lines, columns, screen))
            faults += ["%dx%d: %s" % (columns, lines, fault) for fault in faults_of_screen(screen, lines, columns, culprits[:named], terminal)]
        for question in (faults_of_suspects, faults_of_sum, faults_of_dominators):
            faults += question(asked, culprits)
        return faults
    except (cores.NoCore, BadAnswer, OSError, KeyError, TypeError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


def why_no_terminal():
    """None if there are pseudo-terminals: a chroot has them where /dev/pts is mounted."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as reason:
        return str(reason)
    return None


class Terminal:
    """A terminal of a given size, in the folder of the core, where `heapsift` is on the PATH."""

    def __init__(self, heapsift, core, folder, sysroot):
        self.name, self.folder, self.sysroot = os.path.basename(core), folder, sysroot
        programs = os.path.join(folder, "bin")
        os.makedirs(programs)
        os.symlink(heapsift, os.path.join(programs, "heapsift"))
        self.environment = {"PATH": programs + ":/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1", "XDG_CACHE_HOME": folder}

    def typed(self, *arguments):
        return ["heapsift", *arguments, self.name] + (["--sysroot", self.sysroot] if self.sysroot else [])

    def type(self, lines, columns, *arguments):
        """Its lines, those of standard error among them."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        process = subprocess.Popen(self.typed(*arguments), cwd=self.folder, env=self.environment, stdin=its, stdout=its, stderr=its, start_new_session=True)
        os.close(its)
        said = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                more = b""
            if not more:
                break
            said += more
        os.close(ours)
        if process.wait():
            raise BadAnswer("%s: exit %d: %s" % (" ".join(self.typed(*arguments)), process.returncode, said.decode("utf-8", "replace").strip()[-300:]))
        text = _CONTROL.sub("", said.decode("utf-8", "replace")).replace("\r\n", "\n")
        return [line.rsplit("\r", 1)[-1].rstrip() for line in text.rstrip("\n").split("\n")]  # what a progress line left is overwritten


def flat(lines):
    return " ".join(" ".join(lines).split())


def faults_of_screen(screen, lines, columns, culprits, terminal):
    if len(screen) > lines:
        yield "%d lines" % len(screen)
    for line in screen:
        if len(line) > columns:
            yield "%d columns: %s" % (len(line), line)
    said = flat(screen)
    for culprit in culprits:
        for word in culprit["owner"]:
            if word not in said:
                yield "%s: %r is not on the screen" % (culprit["name"], word)
    culprit = culprits[0]
    if not any(word in said for word in culprit["fix"]) and not any(proves(terminal, command, culprit) for command in next_commands(screen)):
        yield "%s: neither the screen nor the next commands say the fix, one of %s" % (culprit["name"], culprit["fix"])
    for command in list(next_commands(screen))[:1]:
        shows = flat(terminal.type(lines, columns, *command))
        for word in [culprit["owner"][0], *culprit["proof"]]:
            if (word[:_LEAST_OF_CUT] if columns == 80 else word) not in shows:
                yield "%s: the command to try next, %s, does not say %r" % (culprit["name"], shlex.join(command), word)


def next_commands(screen):
    """The arguments of each command after `next:`."""
    for line in screen:
        found = re.match(r"next: heapsift (.*?)(?:   *|$)", line)
        if found:
            yield shlex.split(found.group(1))


def proves(terminal, command, culprit):
    said = flat(terminal.type(24, 80, *command))
    return all(word in said for word in culprit["owner"]) and any(word in said for word in culprit["fix"])


def words_of(suspect):
    return " ".join(str(suspect[key]) for key in ("sentence", "cause", "fix", "expression", "also_held_by"))


def faults_of_suspects(asked, culprits):
    suspects, last = asked.data("suspects")["suspects"], -1
    for culprit in culprits:
        rows = [row for row in suspects if culprit["owner"][0] in words_of(row)]
        if not rows:
            yield "suspects: %s, %d bytes, is not among them" % (culprit["name"], culprit["bytes"])
            continue
        if suspects.index(rows[0]) < last:
            yield "suspects: %s stands before what is larger" % culprit["name"]
        last = suspects.index(rows[0])
        yield from faults_of_rows(rows, culprit)


def faults_of_rows(rows, culprit):
    said, taken = " ".join(map(words_of, rows)), sum(row["bytes"] for row in rows)
    if abs(taken - culprit["bytes"]) > _CLOSE * culprit["bytes"]:
        yield "suspects: %s: %d bytes (%+.1f %%); the fix frees %d" % (culprit["name"], taken, 100 * (taken / culprit["bytes"] - 1), culprit["bytes"])
    for word in culprit["owner"]:
        if word not in said:
            yield "suspects: %s: %r is not said: %s" % (culprit["name"], word, said)
    if not any(word in row["fix"] for word in culprit["fix"] for row in rows):
        yield "suspects: %s: the fix says none of %s: %s" % (culprit["name"], culprit["fix"], rows[0]["fix"])
    if culprit["line"] and not re.search(r"hunts\.py(:|, now at line )%d\b" % culprit["line"], said):
        yield "suspects: %s: line %d is not said: %s" % (culprit["name"], culprit["line"], said)
    functions = [place["function"] for row in rows for place in row["used_in"]]
    if culprit["used_in"] and culprit["used_in"] not in functions:
        yield "suspects: %s: %s fills it, and is not among %s" % (culprit["name"], culprit["used_in"], functions)


def faults_of_sum(asked, culprits):
    claimed = sum(row["bytes"] for row in asked.data("suspects")["suspects"])
    planted, in_use = sum(culprit["bytes"] for culprit in culprits), asked.data("memory")["in_use"]
    if not 0.6 <= claimed / planted <= 1 + _CLOSE:
        yield "suspects claim %d bytes, %.0f %% of the %d planted" % (claimed, 100 * claimed / planted, planted)
    if claimed > in_use:
        yield "suspects claim %d bytes, and %d are in use" % (claimed, in_use)


def faults_of_dominators(asked, _):
    """Without an owner: what is shared by several groups and not said to be held jointly, what is held by what was not found, and rows of the program
    that only their address names. (Garbage has none.)"""
    tree, without = asked.data("dominators")["tree"], []
    for group in tree["children"]:
        name, joint = group["group"], [one for one in group["joint"] if all(map(is_named, one["holders"]))]
        if name.startswith("shared"):
            without.append((name, group["retained"] - sum(one["held"] for one in joint)))
        elif name.startswith("held by what was not found"):
            without.append((name, group["retained"]))
        elif name == "__main__" or name.startswith("thread "):  # of a library it is enough to know which one it is
            examples = [one["example"] for one in joint]
            without += [("%s: %s %s" % (name, row["type"], row["value"]), row["retained"])
                        for row in group["children"] if not is_named(row) and row["address"] not in examples]
    total = sum(size for _, size in without)
    if total > _WITHOUT_OWNER * tree["retained"]:
        without.sort(key=lambda one: -one[1])
        yield "dominators: %d bytes, %.1f %%, have no owner: %s" % (total, 100 * total / tree["retained"], "; ".join("%s, %d" % one for one in without[:3]))


def is_named(holder):
    """Has a name in Python, or of a group or a running function; an address alone is none."""
    expression = holder.get("expression") or ""
    return bool(holder.get("group") or holder.get("frame") or holder.get("name") or (expression and not expression.startswith("0x")))


def write_screens(path, shown):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# First screens\n\nWhat `heapsift CORE` prints in terminals of two sizes, of the programs of `testdata/programs/hunts.py`. Written by\n"
                  "`tests/real/hunts.py --interpreter /usr/bin/python3.11 --screens tests/screens.md`; process ids and addresses differ from run to run.\n")
        last = None
        for interpreter, program, typed, lines, columns, screen in shown:
            if (interpreter, program) != last:
                out.write("\n## %s: %s\n\nPython %s\n" % (program, PROGRAMS[program], interpreter.name))
                last = (interpreter, program)
            out.write("\n%d columns, %d lines:\n\n```\n$ %s\n%s\n```\n" % (columns, lines, " ".join(typed), "\n".join(screen)))


if __name__ == "__main__":
    sys.exit(main())
