#!/usr/bin/env python3
"""heapsift browse in a terminal (tmux), driven by keys as a person drives it.

From the first screen to the culprit of programs that leak in known ways, in at most eight keys; every list in 80x24 and in 200 columns; resized
while it draws; stopped and continued; ended by q and by signals, after which the terminal is set as before; without colour; where no
description of the terminal is; and refused, in one line, where there is no terminal.

    browse.py --heapsift build/dev/heapsift [--screens FOLDER]     --screens: every screen that was looked at, as text
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import cores
import harness

MOST_KEYS = 8
# The program; what is pressed; what must be on the last screen.
CASES = {
    "activations": (["case_activations.py", "--samples", "300"], ["Enter", "Enter", "Enter"], ["trees_app.train_data[", ".hActs1", "numpy.ndarray"]),
    "sessions": (["case_sessions.py"], ["Enter"], ["threadlocal(0x", ".stack", "sessions_library.Session"]),
    "cycles": (["hunts.py", "cycles"], ["Enter", "Enter"], ["__main__.Request", ".headers"]),
    "native": (["case_native.py"], ["Enter"], ["heapsift native", "shapes::Circle", "leaked"]),
    "views": (["case_views.py", "--rows", "150"], ["Enter"], ["local 'selected'", "list of 100", "func(), case_views.py"]),
}
_FIRST = {  # of the first screen: the line to change
    "activations": ["trees_app.train_data", "trees_app.py:"], "sessions": ["sessions_library", "clear it at the end"],
    "cycles": ["__main__.Request", "hunts.py:", "gc.enable()"], "native": ["60,000 blocks of 3,000 bytes", "leaked"], "views": ["'selected' of func()", "data[i].copy()"],
}
_PATIENCE = 30


class Wrong(Exception):
    pass


class Terminal:
    """tmux with one window, in which an interactive shell runs."""

    count = 0

    def __init__(self, heapsift, folder, columns, lines, **environment):
        Terminal.count += 1
        self.server = ["tmux", "-L", "heapsift-%d-%d" % (os.getpid(), Terminal.count), "-f", "/dev/null"]
        self.folder, self.heapsift = folder, heapsift
        kept = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "TERM": "xterm-256color", "XDG_CACHE_HOME": os.path.join(folder, "cache"),
                "HEAPSIFT_STATE": "off"}
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", folder, "bash --norc --noprofile -i", env=kept)
        try:
            self.wait("bash-")
        except Wrong:
            self.close()
            raise
        self.type("PS1='ready$ '")
        for name, value in environment.items():
            self.type("export %s=%s" % (name, value))
        self.type("clear")

    def tmux(self, *words, env=None):
        return subprocess.run([*self.server, *words], env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(0.1)

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def asked(self, what):
        return self.tmux("display-message", "-p", "#{%s}" % what).strip()

    def wait(self, *words, without=()):
        """The screen, once all words are on it."""
        end = time.monotonic() + _PATIENCE
        while True:
            screen = self.screen()
            if all(word in screen for word in words) and not any(word in screen for word in without):
                return screen
            if time.monotonic() > end:
                raise Wrong("not on the screen: %s\n%s" % (", ".join(word for word in words if word not in screen) or "gone: %s" % (without,), screen))
            time.sleep(0.05)

    def begin(self, core, *options):
        """Begins, with how the terminal was set in `before`, how it is set afterwards in `after`."""
        for name in ("before", "after", "pid"):
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))
        self.type("clear; stty -a > before")
        self.type("sh -c 'echo $$ > pid; exec %s browse %s'; echo \"code $?\"; stty -a > after" % (self.heapsift, " ".join([core, *options])))

    def browse(self, core, *options):
        self.begin(core, *options)
        return self.wait("1 suspects", "Enter open")

    def read(self, name):
        path, end = os.path.join(self.folder, name), time.monotonic() + _PATIENCE
        while not (os.path.exists(path) and os.path.getsize(path)):
            if time.monotonic() > end:
                raise Wrong("the shell did not come back:\n" + self.screen())
            time.sleep(0.05)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def ended(self, code):
        """What is wrong after the end."""
        after, before = (re.sub("rows [0-9]+; columns [0-9]+;", "", self.read(name)) for name in ("after", "before"))
        if after != before:
            yield "the terminal is set otherwise:\n%s\n%s" % (before, after)
        for flag, sane in (("alternate_on", "0"), ("mouse_any_flag", "0"), ("cursor_flag", "1"), ("keypad_cursor_flag", "0")):
            if self.asked(flag) != sane:
                yield "%s is %s" % (flag, self.asked(flag))
        if "code %d" % code not in self.wait("code "):
            yield "exit code other than %d:\n%s" % (code, self.screen())

    def close(self):
        self.tmux("kill-server")


def main():
    parser = harness.parser("browse, driven by keys in tmux", kinds=("kernel",))
    parser.add_argument("--screens", metavar="FOLDER")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    if shutil.which("tmux") is None:
        print("not tested here: there is no tmux")
        return 0
    if options.screens:
        os.makedirs(options.screens, exist_ok=True)
    work, found, kinds, failures = harness.begin(options, "browse")
    for interpreter in [one for one in found if not one.tree and not one.debug and one.numpy]:
        kept = {}
        for case in CASES:
            folder = harness.folder_for(interpreter, work, "heapsift-browse-%s-" % case)
            try:
                kept[case] = folder, core_of(interpreter, case, kinds[0], folder)
                faults = list(faults_of_case(options, case, *kept[case]))
            except (Wrong, cores.NoCore, OSError, subprocess.CalledProcessError) as reason:
                faults = [str(reason)]
            print("%-16s %-12s %s" % (interpreter.name, case, "wrong" if faults else "right"), flush=True)
            failures += ["%s %s: %s" % (interpreter.name, case, fault) for fault in faults]
        if "activations" in kept:
            for test in (lists_in_sizes, resized, signals, stopped, without_colour, without_description, typed_early, answers_slowly_read, refused):
                try:
                    faults = list(test(options, *kept["activations"]))
                except Wrong as reason:
                    faults = [str(reason)]
                print("%-16s %-20s %s" % (interpreter.name, test.__name__, "wrong" if faults else "right"), flush=True)
                failures += ["%s: %s" % (test.__name__, fault) for fault in faults]
        for folder, _ in kept.values():
            harness.leave(folder, options.keep)
        break  # what differs between interpreters is tested elsewhere
    else:
        failures.append("no interpreter with NumPy")
    return harness.end(failures)


def core_of(interpreter, case, kind, folder):
    for path in glob.glob(cores.PROGRAMS + "/*.py"):
        shutil.copy(path, folder)
    if case == "native":
        subprocess.run(["c++", "-shared", "-fPIC", "-O1", "-o", os.path.join(folder, "libnative_leak.so"), os.path.join(cores.PROGRAMS, "native_leak.cpp")], check=True)
    truth = os.path.join(folder, "truth.json")
    core, _ = cores.take_at_rest(interpreter, CASES[case][0], kind, folder, truth, HEAPSIFT_TRUTH="truth.json")
    named = os.path.join(folder, "core." + case)
    os.rename(core, named)
    return os.path.basename(named)


def keep(options, name, screen):
    if options.screens:
        with open(os.path.join(options.screens, name), "w", encoding="utf-8") as file:
            file.write(screen)


def faults_of_case(options, case, folder, core):
    _, keys, wanted = CASES[case]
    if len(keys) > MOST_KEYS:
        yield "%d keys" % len(keys)
    terminal = Terminal(options.heapsift, folder, 80, 24)
    try:
        first = terminal.browse(core)
        keep(options, case + ".first", first)
        said = " ".join(first.split())
        yield from ("the first screen lacks %s:\n%s" % (word, first) for word in _FIRST[case] if word not in said)
        for key in keys:
            terminal.keys(key)
        last = terminal.wait(*wanted)
        keep(options, case + ".last", last)
        terminal.keys("q")
        yield from terminal.ended(0)
    finally:
        terminal.close()


def widest(screen):
    return max(len(line) for line in screen.split("\n"))


def lists_in_sizes(options, folder, core):
    """Each list, each key that asks, on a small terminal and a wide one."""
    for columns, lines in ((80, 24), (200, 50), (40, 12)):
        terminal = Terminal(options.heapsift, folder, columns, lines)
        try:
            terminal.browse(core)
            for number, key, words in ((0, "2", ["module trees_app"]), (1, "Enter", ["inside"]), (2, "w", ["what keeps"]), (3, "BSpace", ["inside"]), (4, "r", ["what refers to"]),
                                       (5, "BSpace", ["inside"]), (6, "e", ["what "]), (7, "3", ["Node."]), (8, "4", ["objects of"]), (9, "t", []), (10, "5", ["MainThread"]),
                                       (11, "?", ["any key goes on"]), (12, "x", ["MainThread"]), (13, "1", ["[1 suspects]"]), (14, "y", ["heapsift", "why"])):
                terminal.keys(key)
                screen = terminal.wait(*words)
                keep(options, "%d.%02d" % (columns, number), screen)
                if widest(screen) > columns:
                    yield "%d columns: a line has %d after %s" % (columns, widest(screen), key)
            terminal.keys("x", "h", "q")
            yield from terminal.ended(0)
        finally:
            terminal.close()


def resized(options, folder, core):
    terminal = Terminal(options.heapsift, folder, 80, 24)
    try:
        terminal.browse(core)
        terminal.keys("Enter")
        for i in range(60):
            terminal.tmux("resize-window", "-x", str(20 + 37 * i % 181), "-y", str(2 + 17 * i % 59))
            terminal.tmux("send-keys", ("NPage", "Down", "3", "BSpace", "PPage", "4", "BSpace")[i % 7])
        terminal.tmux("resize-window", "-x", "100", "-y", "30")
        terminal.keys("1")
        lines = terminal.wait("[1 suspects]", "trees_app.train_data", "f filter").rstrip("\n").split("\n")
        if len(lines) != 30 or "Enter open" not in lines[-1] or "core.activations" not in lines[0]:
            yield "not drawn for 100x30:\n" + "\n".join(lines)
        terminal.keys("q")
        yield from terminal.ended(0)
    finally:
        terminal.close()


def signals(options, folder, core):
    terminal = Terminal(options.heapsift, folder, 80, 24)
    try:
        terminal.type("ulimit -c 0")
        for one, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGSEGV, 139), (signal.SIGABRT, 134), (signal.SIGQUIT, 131)):
            terminal.browse(core)
            os.kill(int(terminal.read("pid")), one)
            yield from ("%s: %s" % (one.name, fault) for fault in terminal.ended(code))
        terminal.browse(core)
        terminal.keys("C-c")
        yield from ("Ctrl-C: " + fault for fault in terminal.ended(130))
        terminal.browse(core)
        process = int(terminal.read("pid"))
    finally:
        terminal.close()  # and with it the terminal
    end = time.monotonic() + _PATIENCE
    while os.path.exists("/proc/%d" % process):
        if time.monotonic() > end:
            yield "it goes on without a terminal"
            os.kill(process, signal.SIGKILL)
            break
        time.sleep(0.05)


def stopped(options, folder, core):
    terminal = Terminal(options.heapsift, folder, 80, 24)
    try:
        terminal.browse(core)
        terminal.keys("Enter", "C-z")
        terminal.wait("Stopped")
        if terminal.asked("alternate_on") != "0" or terminal.asked("cursor_flag") != "1":
            yield "stopped, it keeps the screen"
        terminal.keys("Enter")
        terminal.type("clear; stty -a > stopped; echo asked")
        terminal.wait("asked")
        terminal.type("fg")
        terminal.wait("inside trees_app.train_data")
        terminal.keys("Down")
        terminal.wait("2/300")
        terminal.keys("q")
        terminal.wait("ready$", without=["inside"])
        if terminal.read("stopped") != terminal.read("before"):  # by bash, which has the terminal meanwhile
            yield "stopped, it leaves the terminal set otherwise"
        if terminal.asked("alternate_on") != "0":
            yield "after q the other screen is still shown"
    finally:
        terminal.close()


def without_colour(options, folder, core):
    for environment, words in (({"NO_COLOR": "1"}, ()), ({}, ("--color", "never")), ({}, ())):
        terminal = Terminal(options.heapsift, folder, 80, 24, **environment)
        try:
            terminal.browse(core, *words)
            coloured = re.search(r"\x1b\[(?:[0-9]+;)*(3[0-8]|4[0-8]|9[0-7])[;m]", terminal.screen("-e"))
            if bool(coloured) == bool(environment or words):
                yield "%s %s: %s" % (environment, words, "a colour" if coloured else "no colour")
            terminal.keys("q")
            yield from terminal.ended(0)
        finally:
            terminal.close()


def without_description(options, folder, core):
    """A terminal that no file describes, and a locale of ASCII alone."""
    for environment in ({"TERM": "xterm-of-nobody"}, {"TERM": "screen.of-nobody", "TERMINFO_DIRS": "/nowhere"}, {"TERM": "vt100"}, {"LANG": "C", "LC_ALL": "C"}):
        terminal = Terminal(options.heapsift, folder, 80, 24, **environment)
        try:
            terminal.browse(core)
            terminal.keys("Down", "Enter")
            terminal.wait("inside trees_app.train_data")
            terminal.keys("q")
            yield from ("%s: %s" % (environment, fault) for fault in terminal.ended(0))
        finally:
            terminal.close()


def typed_early(options, folder, core):
    """Keys that come while the core is read count; q ends that at once."""
    for pause in (0, 0.1, 0.3):
        terminal = Terminal(options.heapsift, folder, 80, 24)
        try:
            terminal.begin(core, "--no-index")
            time.sleep(pause)
            terminal.tmux("send-keys", "-l", "4/str")
            terminal.tmux("send-keys", "Enter", "j")
            terminal.wait("[4 types]", "Enter open")
            terminal.keys("q")
            yield from terminal.ended(0)
            terminal.type("clear")
            terminal.begin(core, "--no-index")
            time.sleep(pause)
            terminal.keys("q")
            yield from terminal.ended(0)
        finally:
            terminal.close()


def answers_slowly_read(options, folder, core):
    """Two hundred keys at once: all count."""
    terminal = Terminal(options.heapsift, folder, 80, 24)
    try:
        terminal.browse(core)
        terminal.keys("Enter")
        terminal.wait("1/300")
        terminal.tmux("send-keys", "-l", "j" * 200)
        terminal.wait("201/300")
        terminal.keys("q")
        yield from terminal.ended(0)
    finally:
        terminal.close()


def refused(options, folder, core):
    """Without a terminal, on a dumb one, and for a script."""
    for words in ([core], [core, "--json"]):
        done = subprocess.run([options.heapsift, "browse", *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                              env={"PATH": "/usr/bin:/bin", "HOME": folder, "HEAPSIFT_STATE": "off", "TERM": "xterm"})
        if done.returncode != 2 or (done.stdout if "--json" not in words else "") or ("--json" not in words and done.stderr.count("\n") != 1):
            yield "without a terminal: exit %d: %s%s" % (done.returncode, done.stdout, done.stderr)
    terminal = Terminal(options.heapsift, folder, 80, 24, TERM="dumb")
    try:
        terminal.type("%s browse %s; echo code $?" % (options.heapsift, core))
        if "TERM=dumb" not in terminal.wait("code 2"):
            yield "TERM=dumb: " + terminal.screen()
    finally:
        terminal.close()


if __name__ == "__main__":
    sys.exit(main())
