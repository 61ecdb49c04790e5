#!/usr/bin/env python3
"""Everything that people give heapsift instead of a core of CPython: exit code, and one line that helps.

    errors.py --heapsift build/dev/heapsift [--versions DIR]

Each case runs twice: plain (standard output empty, one line on standard error that starts with `heapsift: `) and with --json (one
line on standard output: a document whose data is null, with the error's code, message and hint). A signal must never end it.
"""

import argparse
import glob
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

import cores
import interpreters

CANNOT_ANALYSE, WRONG_USAGE = 1, 2
_failures = []


def main():
    parser = argparse.ArgumentParser(description="checks exit codes and one-line messages")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--versions", metavar="DIR", default=os.path.expanduser("~/.pyenv/versions"), help="for a Python too old")
    options = parser.parse_args()
    heapsift = os.path.abspath(options.heapsift)
    folder = tempfile.mkdtemp(prefix="heapsift-errors-", dir="/var/tmp")
    try:
        check_files(heapsift, folder)
        check_other_processes(heapsift, folder, options.versions)
        check_command_line(heapsift, folder)
        check_program_name(heapsift, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("failed: %d" % len(_failures) if _failures else "all as promised")
    return 1 if _failures else 0


def check_files(heapsift, folder):
    """Files that are no core of a 64-bit process."""
    def made(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    expect(heapsift, folder, "no such file", [folder + "/missing"], CANNOT_ANALYSE, "missing", "no such file")
    expect(heapsift, folder, "a directory", [folder], CANNOT_ANALYSE, "directory")
    expect(heapsift, folder, "an empty file", [made("empty", b"")], CANNOT_ANALYSE, "empty")
    expect(heapsift, folder, "a text file", [made("text", b"some text\nand more\n")], CANNOT_ANALYSE, "text", "core")
    expect(heapsift, folder, "an executable", ["/bin/ls"], CANNOT_ANALYSE, "/bin/ls", "executable")
    expect(heapsift, folder, "a 32-bit core", [made("core32", elf32_core())], CANNOT_ANALYSE, "32-bit")
    expect(heapsift, folder, "an ELF header alone", [made("header", b"\x7fELF\x02\x01\x01" + bytes(9))], CANNOT_ANALYSE, "header")
    expect(heapsift, folder, "random bytes", [made("noise", bytes(range(256)) * 64)], CANNOT_ANALYSE, "noise")


def elf32_core():
    """The header of an i386 core with one program header of memory."""
    ident = b"\x7fELF" + bytes((1, 1, 1)) + bytes(9)
    header = struct.pack("<HHIIIIIHHHHHH", 4, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack("<IIIIIIII", 1, 4096, 0x8048000, 0, 4096, 4096, 6, 4096)
    return (ident + header + segment).ljust(4096, b"\0") + bytes(4096)


def check_other_processes(heapsift, folder, versions):
    cores_folder = os.path.join(folder, "processes")
    os.mkdir(cores_folder)
    try:
        core = cores.take_of_command(["/bin/sleep", "60"], cores_folder)
    except cores.NoCore as reason:
        return fail("a core of sleep", "no core to test with: %s" % reason)
    expect(heapsift, folder, "a core of sleep", [core], CANNOT_ANALYSE, "sleep", "not of CPython")
    os.remove(core)
    for python in sorted(glob.glob(versions + "/*/bin/python")):
        core = cores.take_of_command([python, "-c", "import time; time.sleep(60)"], cores_folder)
        known = run(heapsift, folder, ["types", core]).returncode == 0
        if not known:
            expect(heapsift, folder, "a Python not supported (%s)" % python.split("/")[-3], [core], CANNOT_ANALYSE, "CPython")
        os.remove(core)
        if not known:
            return None
    print("not tested here: a Python that heapsift does not support (none in %s)" % versions)
    return None


def check_command_line(heapsift, folder):
    """Wrong words around a good core."""
    pythons = interpreters.find({}, None, [])
    if not pythons:
        return fail("a core of Python", "no /usr/bin/python3.N to take one of")
    kind = "kernel" if cores.why_no_kernel_cores() is None else "gcore"
    core = cores.take(pythons[0], "plain", kind, folder).core
    answered = run(heapsift, folder, ["types", core])
    if answered.returncode != 0:
        fail("a good core", "exit %d: %s" % (answered.returncode, answered.stderr.strip()))
    expect(heapsift, folder, "an address of nothing", ["show", "0x10", core], WRONG_USAGE, "0x10")
    expect(heapsift, folder, "no address", ["show", "0xyz", core], WRONG_USAGE, "0xyz")
    expect(heapsift, folder, "an address of 65 bits", ["show", "18446744073709551616", core], WRONG_USAGE, "18446744073709551616")
    expect(heapsift, folder, "a depth without end", ["dominators", "--depth", "100000", core], WRONG_USAGE, "--depth", "400")
    expect(heapsift, folder, "an unknown option", ["types", "--nonsense", core], WRONG_USAGE, "--nonsense")
    expect(heapsift, folder, "an unknown command", ["tpyes", core], WRONG_USAGE, "tpyes", "types")
    expect(heapsift, folder, "a process id of none", [no_process()], CANNOT_ANALYSE, "no process " + no_process())
    expect(heapsift, folder, "two cores", ["types", core, core], WRONG_USAGE, "two cores")
    expect(heapsift, folder, "no core", ["types"], WRONG_USAGE, "core")
    return None


def no_process():
    with open("/proc/sys/kernel/pid_max") as file:
        return file.read().strip()  # the first number that none can have


def check_program_name(heapsift, folder):
    """The command in a hint must run the same file that gave the hint."""
    links = os.path.join(folder, "my programs")
    os.mkdir(links)
    os.symlink(heapsift, os.path.join(links, "heapsift"))
    os.symlink(heapsift, os.path.join(links, "hs"))
    quoted = shlex.quote(os.path.join(links, "heapsift"))
    for typed, path, name in (
            (heapsift, "/nowhere", heapsift), (heapsift, None, heapsift), (heapsift, os.path.dirname(heapsift), "heapsift"),
            ("my programs/heapsift", "/nowhere", "'my programs/heapsift'"), (os.path.join(links, "heapsift"), "/nowhere", quoted),
            ("./my programs/hs", links, "heapsift"), ("hs", links, "heapsift"), ("", "/nowhere", heapsift), ("gone", "/nowhere", heapsift),
            ("\033[2J", "/nowhere", heapsift)):
        case = "called %s, PATH %s" % (ascii(typed).replace(folder + "/", ""), path and path.replace(folder + "/", ""))
        environment = {**os.environ, "HEAPSIFT_STATE": "off"}
        environment.pop("PATH")
        if path:
            environment["PATH"] = path
        for arguments in (["0x10"], ["0x10", "--json"]):
            answer = subprocess.run([typed, *arguments], executable=heapsift, cwd=folder, env=environment, capture_output=True, text=True)
            hint = json.loads(answer.stdout)["error"]["hint"] if answer.stdout else answer.stderr.rstrip("\n").split("; ", 1)[-1]
            expected = "did you mean: %s show 0x10" % name
            if hint != expected:
                fail(case, "the hint is %s, not %s" % (ascii(hint), expected))
        print("      %-60s %s" % (case, hint.replace(folder + "/", "")), flush=True)


def run(heapsift, folder, arguments):
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder, "XDG_STATE_HOME": folder}
    environment.pop("HEAPSIFT_CORE", None)
    return subprocess.run([heapsift, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True, errors="replace",
                          capture_output=True, timeout=120)


def expect(heapsift, folder, case, arguments, code, *words):
    """The line must contain all `words`."""
    before = len(_failures)
    plain = run(heapsift, folder, arguments)
    line = plain.stderr.rstrip("\n")
    if plain.returncode != code:
        fail(case, "exit %d, not %d" % (plain.returncode, code))
    if plain.stdout:
        fail(case, "standard output is not empty")
    if "\n" in line or not line.startswith("heapsift: ") or line.endswith("."):
        fail(case, "not one line in the form `heapsift: …`: %r" % line)
    for word in words:
        if word not in line:
            fail(case, "the line does not say '%s': %s" % (word, line))
    check_document(case, run(heapsift, folder, arguments + ["--json"]), code)
    print("%-5s %-28s %s" % ("ok" if len(_failures) == before else "FAIL", case, line.replace(folder + "/", "")), flush=True)


def check_document(case, answer, code):
    if answer.returncode != code:
        fail(case, "with --json: exit %d, not %d" % (answer.returncode, code))
    if answer.stdout.count("\n") != 1:
        fail(case, "with --json: %d lines on standard output" % answer.stdout.count("\n"))
    if answer.stderr.count("\n") > 1:
        fail(case, "with --json: %d lines on standard error" % answer.stderr.count("\n"))
    try:
        document = json.loads(answer.stdout)
        error = document["error"]
        if document["data"] is not None or not error["code"] or not error["message"] or "hint" not in error:
            fail(case, "with --json: %s" % answer.stdout.strip())
    except (ValueError, KeyError, TypeError) as reason:
        fail(case, "with --json: no document with data and error (%s: %s)" % (type(reason).__name__, reason))


def fail(case, what):
    _failures.append(case)
    print("FAIL  %s: %s" % (case, what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
