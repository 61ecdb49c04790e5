#!/usr/bin/env python3
"""Types lines into bash, zsh and fish, presses Tab, and looks at what the shell then has.

    tests/beside/completions.py --heapsift build/release/heapsift --completions build/release/completions
    tests/beside/completions.py --heapsift /usr/bin/heapsift --completions system        where a package has put them

After Tab the line is made into the arguments of a function `told` (Home, its name, Enter), which writes each between
marks. So what is compared is what the shell understood, after all of its quoting: a type with a hostile name must
come out as that very name, and nothing of it may have been run. It is told of a core in use that no index knows, too:
then Tab must offer nothing, and read nothing. A shell that is not installed is "not covered".
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))
from small_core import EVIL, make_core  # noqa: E402
from terminal import HOME, Terminal  # noqa: E402

SYSTEM = Path("system")
SLOWEST = 0.05  # seconds of a processor for one answer of the program; on a busy machine more may pass

# What is typed, and the words that the shell then has, but for the program's. The folder has core.1, data.db, notes.txt,
# and a folder more/.
LINES = [
    ("wh", ["why"]),
    ("susp", ["suspects"]),
    ("types --by-l", ["types", "--by-line"]),
    ("types --sort arr", ["types", "--sort", "array_data"]),
    ("types --sort=arr", ["types", "--sort=array_data"]),
    ("lines --sort reta", ["lines", "--sort", "reta"]),  # a key of another command
    ("types --format js", ["types", "--format", "json"]),
    ("types --color al", ["types", "--color", "always"]),
    ("diff --by ho", ["diff", "--by", "holder"]),
    ("why --exclude frame,tr", ["why", "--exclude", "frame,traceback"]),
    ("help addr", ["help", "address"]),
    ("help domin", ["help", "dominators"]),
    ("co", ["core.1"]),
    ("core.1 susp", ["core.1", "suspects"]),
    ("types co", ["types", "core.1"]),
    ("types da", ["types", "da"]),
    ("diff core.1 da", ["diff", "core.1", "data.db"]),
    ("query co", ["query", "core.1"]),
    ("query --timeo", ["query", "--timeout"]),
    ("types no", ["types", "no"]),
    ("types --core co", ["types", "--core", "core.1"]),
    ("types more/a", ["types", "more/a core"]),
    ("types --sysroot mo", ["types", "--sysroot", "more/"]),
    ("objects --type __main__.Se", ["objects", "--type", "__main__.Session"]),
    ("objects core.1 --type __main__.No", ["objects", "core.1", "--type", "__main__.Node"]),
    ("objects --type=__main__.No", ["objects", "--type=__main__.Node"]),
    ("objects --type pkg3", ["objects", "--type", "pkg3."]),
    ("capture 1 --when gro", ["capture", "1", "--when", "growth>"]),
    (r"capture 1 --when rss\>80%\|cg", ["capture", "1", "--when", "rss>80%|cgroup>"]),
    ("xapt", ["xapt"]),
]


def told(written: bytes) -> List[str]:
    """The words between the marks of `told`."""
    text = written.decode("utf-8", "surrogateescape")
    return [part.split("\x02")[0] for part in text.split("\x01")[1:]]


class Shell:
    """One shell on a terminal. `tab` types a line and returns the words it has afterwards."""

    end = b"ENDOFTOLD\r\n"

    def __init__(self, name: str, program: str, completions: Path, home: Path, work: Path) -> None:
        self.name = name
        environment = {"HOME": str(home), "PATH": f"{Path(program).parent}:{os.environ['PATH']}", "TERM": "xterm",
                       "LANG": "C.UTF-8", "XDG_CACHE_HOME": str(home / "cache"), "XDG_STATE_HOME": str(home / "state"),
                       "HISTFILE": ""}
        command, start = getattr(self, "_" + name)(completions, home)
        self.terminal = Terminal(command, environment, str(work))
        self.terminal.read_quiet(0.5)
        self.terminal.type(start.encode() + b"\r")
        self.terminal.read_until(b"READY\r\n", 60)  # on a busy machine zsh takes its time

    def _bash(self, completions: Path, _home: Path) -> "tuple[List[str], str]":
        common = "/usr/share/bash-completion/bash_completion"
        load = f". {common}; " if os.path.exists(common) else ""
        if completions != SYSTEM:
            load += f". {completions}/bash/heapsift; "
        return (["bash", "--norc", "--noprofile", "-i"],
                f"{load}bind 'set bell-style none'; PS1='> '; "
                r"told() { printf '\1%s\2' ""\"$@\"; echo ENDOF''TOLD; }; echo READ''Y")

    def _zsh(self, completions: Path, home: Path) -> "tuple[List[str], str]":
        return (["zsh", "-f", "-i"],
                f"{'' if completions == SYSTEM else f'fpath=({completions}/zsh $fpath); '}autoload -Uz compinit; compinit -u -d {home}/zcompdump; "
                r"PS1='> '; told() { printf '\1%s\2' ""\"$@\"; echo ENDOF''TOLD; }; echo READ''Y")

    def _fish(self, completions: Path, _home: Path) -> "tuple[List[str], str]":
        return (["fish", "-i"],
                f"{'' if completions == SYSTEM else f'source {completions}/fish/heapsift.fish; '}set -g fish_autosuggestion_enabled 0; "
                r"function told; printf '\1%s\2' $argv; echo ENDOF''TOLD; end; echo READ''Y")

    def tab(self, line: str) -> List[str]:
        """Shells complete before they read the next key: there is nothing to wait for."""
        self.terminal.type(("heapsift " + line).encode() + b"\t" + HOME + b"told \x05\r")
        return told(self.terminal.read_until(self.end))[1:]

    def listed(self, line: str) -> bytes:
        """What the shell shows when Tab is pressed twice."""
        self.terminal.type(("heapsift " + line).encode())
        self.terminal.read_quiet(0.1)
        self.terminal.type(b"\t\t")
        shown = self.terminal.read_quiet(0.5)
        self.terminal.type(b"\x03")
        self.terminal.read_quiet(0.1)
        return shown

    def close(self) -> None:
        self.terminal.type(b"\x03exit\r")
        self.terminal.read_quiet(0.1, 2)
        self.terminal.close()


class Check:
    """Counts, and tells what is not as it should be."""

    def __init__(self) -> None:
        self.done = self.wrong = 0
        self.slowest = 0.0

    def same(self, what: str, found: object, expected: object) -> None:
        self.done += 1
        if found != expected:
            self.wrong += 1
            print(f"WRONG: {what}: {found!r}, not {expected!r}")


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask(check: Check, program: str, words: List[str], environment: Dict[str, str]) -> bytes:
    """What the program answers to a shell."""
    before = processor_seconds()
    output = subprocess.run([program, "__complete", *words], env=environment, stdout=subprocess.PIPE, check=True).stdout
    check.slowest = max(check.slowest, processor_seconds() - before)
    return output


def prepare(program: str, work: Path, home: Path) -> Dict[str, str]:
    core = make_core(work)
    (work / "more").mkdir()
    shutil.copy(core, work / "more/a core")
    (work / "notes.txt").write_text("no core\n")
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"),
                   "XDG_STATE_HOME": str(home / "state")}
    for name in ("HEAPSIFT_CORE", "HEAPSIFT_STATE"):
        environment.pop(name, None)
    subprocess.run([program, "types", "--sort", "memory", "core.1"], cwd=work, env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([program, "export", "core.1", "-o", "data.db"], cwd=work, env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return environment


def check_cold(check: Check, program: str, work: Path, environment: Dict[str, str]) -> None:
    """A core that no index knows: nothing, at once, and nothing is written."""
    cold = {**environment, "XDG_CACHE_HOME": str(work / "cold"), "HEAPSIFT_CORE": str(work / "core.1")}
    check.same("types of a cold core", ask(check, program, ["fish", "objects", "--type", "ma"], cold), b"")
    check.same("what was written", (work / "cold").exists(), False)
    changed = work / "changed"
    shutil.copy(work / "core.1", changed)
    subprocess.run([program, "types", "--sort", "memory", str(changed)], check=True,
                   env={**environment, "HEAPSIFT_STATE": "off"},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    question = ["fish", "objects", str(changed), "--type", "__main__.No"]
    check.same("types of a warm core", ask(check, program, question, environment), b"__main__.Node\t\n")
    with open(changed, "ab") as file:
        file.write(b"x")
    check.same("types of a core that was changed", ask(check, program, question, environment), b"")
    changed.unlink()


def check_processes(check: Check, program: str, environment: Dict[str, str]) -> None:
    python = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        found = {line.split(b"\t")[0] for line in ask(check, program, ["fish", "capture", ""], environment).splitlines()}
        check.same("capture <Tab>: this process, and another", {str(os.getpid()).encode(), str(python.pid).encode()} <= found, True)
    finally:
        python.communicate()


def check_shell(check: Check, shell: Shell, home: Path) -> None:
    for line, words in LINES:
        check.same(f"{shell.name}: {line}<Tab>", shell.tab(line), words)
    for name in EVIL:
        if not name.isprintable():  # is never offered
            continue
        # The first character means no other name. What cannot be typed as it is stands behind an open quote.
        for start in ["evil." + name[0]] * name[0].isalpha() + ["'evil." + name[0]]:
            found = shell.tab(f"objects --type {start}")
            check.same(f"{shell.name}: --type {start}<Tab>", found, ["objects", "--type", "evil." + name])
    found = shell.tab('objects --type "evil.f')
    check.same(f"{shell.name}: an open double quote", found, ["objects", "--type", "evil.f g"])
    shown = shell.listed("objects --type evil.")
    check.same(f"{shell.name}: all of them are listed", b"k&l" in shown or b"k\\&l" in shown, True)
    pythons = [subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) for _ in range(2)]
    try:
        shown = shell.listed("types ")  # not "capture ": there the first Tab may type what all have in common
        check.same(f"{shell.name}: processes are listed", [str(one.pid).encode() in shown for one in pythons], [True, True])
        whole = str(pythons[0].pid)
        check.same(f"{shell.name}: a process", shell.tab(f"capture {whole}"), ["capture", whole])
    finally:
        for one in pythons:
            one.communicate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--heapsift", required=True)
    parser.add_argument("--completions", type=Path, required=True)
    parser.add_argument("--shells", nargs="*", default=["bash", "zsh", "fish"])
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.heapsift)
    completions = arguments.completions
    if completions != SYSTEM:
        completions = completions.resolve()
    check = Check()
    covered: List[str] = []
    with tempfile.TemporaryDirectory() as made:
        work, home = Path(made) / "work", Path(made) / "home"
        work.mkdir()
        home.mkdir()
        environment = prepare(program, work, home)
        check_cold(check, program, work, environment)
        check_processes(check, program, environment)
        for name in arguments.shells:
            if shutil.which(name) is None:
                print(f"not covered: {name} is not installed")
                continue
            shell: Optional[Shell] = None
            try:
                shell = Shell(name, program, completions, home, work)
                check_shell(check, shell, home)
            finally:
                if shell:
                    shell.close()
            covered.append(name)
        left = [str(path) for path in [*work.rglob("PWNED"), *home.rglob("PWNED")]]
        check.same("what names of types made shells do", left, [])
    print(f"{check.done} lines in {', '.join(covered)}: {check.wrong} wrong; slowest answer of the program "
          f"{check.slowest * 1000:.0f} ms")
    if check.slowest > SLOWEST:
        print(f"WRONG: an answer took longer than {SLOWEST} s")
        return 1
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
