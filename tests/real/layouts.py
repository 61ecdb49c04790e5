#!/usr/bin/env python3
"""Wrong debug information with the right build-id: heapsift must notice, say so, and still read the core.

    layouts.py --heapsift build/dev/heapsift [--tree trixie=DIR] [--versions DIR] [--interpreters 3.11 …]

A layout is read from the file that ran, or from its separate debug file, if the built-in table is of another build: that is so for debug
builds (package python3-dbg) and pyenv's. Each such file is copied with one member of a struct renamed, or two exchanged, and the core is
analysed again with the copy given by --executable or --debug-dir. The answer must be that of the original file, to the byte, with a warning
`layout-damaged` (a member is missing) or `layout-differs` (it is elsewhere).

How: a member's name is a string in .debug_str, to which .debug_info refers by its offset. To rename it, the string is overwritten; to exchange
two, each offset in .debug_info is replaced by the other.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys

import cores
import harness

_DAMAGED, _DIFFERS = "layout-damaged", "layout-differs"
_RENAMED = ("freeblock", "_gc_prev", "ob_type", "tp_flags", "ma_keys", "threads", "arenaindex")
_SWAPPED = (("freeblock", "nextpool"), ("_gc_next", "_gc_prev"), ("ma_keys", "ma_values"), ("tp_basicsize", "tp_itemsize"))
_SECONDS = 60


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "layouts")
    if not kinds:
        return harness.end(failures)
    tested = 0
    print("%-20s %-28s %-16s %s" % ("interpreter", "members", "warning", "objects"), flush=True)
    for interpreter in found:
        try:
            taken = cores.take(interpreter, "plain", kinds[0], work)
        except cores.NoCore as reason:
            failures.append("%s: %s" % (interpreter.name, reason))
            continue
        try:
            tester = Tester(options.heapsift, interpreter, taken.core, work)
            if tester.file:
                tested += 1
                failures += tester.run()
            else:
                print("%-20s its layout is read from no file" % interpreter.name)
        finally:
            taken.delete()
    if not tested:
        failures.append("no interpreter whose layout is read from a file: install python3-dbg")
    return harness.end(failures)


def parse():
    parser = argparse.ArgumentParser(description="damages debug information")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--interpreters", nargs="*", default=[], metavar="VERSION|PATH", help="only these; default: all at hand")
    parser.add_argument("--tree", action="append", default=[], metavar="SUITE=DIR", help="a debootstrap tree, entered with chroot")
    parser.add_argument("--versions", metavar="DIR", help="a folder of interpreters as pyenv makes it")
    parser.add_argument("--work", metavar="DIR", help="where cores are taken")
    options = parser.parse_args()
    options.required, options.kinds, options.keep = (), ("kernel", "gcore"), False
    options.heapsift = os.path.abspath(options.heapsift)
    return options


class Tester:
    def __init__(self, heapsift, interpreter, core, work):
        self.heapsift, self.name, self.core, self.work = heapsift, interpreter.name, core, work
        self.sysroot = ["--sysroot", interpreter.tree] if interpreter.tree else []
        source = self.ask("doctor", [])["data"]["layout"]["source"] or ""
        told = re.search(r"debug information of (\S+)$", source)
        self.file = told.group(1) if told else ""

    def run(self):
        whole = self.ask("types", [])
        problems = [] if not codes(whole) & {_DAMAGED, _DIFFERS} else ["%s: the whole file: %s" % (self.name, codes(whole))]
        debug = DebugFile(self.file, self.work)
        for members, warning in [((one,), _DAMAGED) for one in _RENAMED] + [(two, _DIFFERS) for two in _SWAPPED]:
            if not debug.damage(members):
                problems.append("%s: %s not in %s" % (self.name, " or ".join(members), self.file))
                continue
            answer = self.ask("types", debug.options())
            here = answer["data"]["total"]["count"] if answer.get("data") else 0
            print("%-20s %-28s %-16s %d of %d" % (self.name, " <-> ".join(members), ", ".join(codes(answer) & {_DAMAGED, _DIFFERS}), here,
                                                  whole["data"]["total"]["count"]), flush=True)
            if answer.get("data") != whole["data"]:
                problems.append("%s: %s: another answer: %s" % (self.name, " <-> ".join(members), answer.get("error")))
            if not codes(answer) & {warning, _DAMAGED}:
                problems.append("%s: %s: no warning %s, but %s" % (self.name, " <-> ".join(members), warning, codes(answer)))
            if answer["code"] != whole["code"]:
                problems.append("%s: %s: exit %d" % (self.name, " <-> ".join(members), answer["code"]))
        return problems

    def ask(self, command, options):
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": self.work}
        done = subprocess.run([self.heapsift, command, "--core", self.core, "--json", *self.sysroot, *options], env=environment, timeout=_SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode not in (0, 1, 3):
            return {"code": done.returncode, "warnings": [], "error": done.stderr.decode("utf-8", "replace")[-300:]}
        return {**json.loads(done.stdout), "code": done.returncode}


def codes(answer):
    return {warning["code"] for warning in answer["warnings"]}


class DebugFile:
    """Copies of an ELF file, with changes in its debug information."""

    def __init__(self, path, work):
        self.folder = os.path.join(work, "damaged")
        os.makedirs(self.folder, exist_ok=True)
        whole = os.path.join(self.folder, "whole")
        subprocess.run(["objcopy", "--decompress-debug-sections", path, whole], check=True)
        with open(whole, "rb") as file:
            self.bytes = file.read()
        self.sections = {name: (start, size) for name, start, size in sections(self.bytes)}
        found = re.search(r"\.build-id/(\w\w)/(\w+\.debug)$", path)
        self.copy = os.path.join(self.folder, *([".build-id", *found.groups()] if found else ["interpreter"]))
        os.makedirs(os.path.dirname(self.copy), exist_ok=True)
        self.is_separate = bool(found)

    def options(self):
        return ["--debug-dir", self.folder] if self.is_separate else ["--executable", self.copy]

    def damage(self, members):
        """Writes the copy; false where a member is not there."""
        start, size = self.sections[".debug_str"]
        strings = [self.bytes.find(member.encode() + b"\0", start, start + size) for member in members]
        whole = [self.bytes.find(b"\0" + member.encode() + b"\0", start, start + size) for member in members]
        strings = [at + 1 if at >= 0 else tail for at, tail in zip(whole, strings)]
        if min(strings) < 0:
            return False
        changed = bytearray(self.bytes)
        if len(members) == 1:
            name = members[0].encode()  # also as the end of a longer one, which it may share
            changed[start:start + size] = self.bytes[start:start + size].replace(name + b"\0", b"x" * len(name) + b"\0")
        else:
            first, second = (struct.pack("<I", at - start) for at in strings)
            begin, length = self.sections[".debug_info"]
            information = bytes(changed[begin:begin + length])
            parts = [part.replace(second, first) for part in information.split(first)]
            changed[begin:begin + length] = second.join(parts)
        with open(self.copy, "wb") as file:
            file.write(changed)
        os.chmod(self.copy, 0o755)
        return True


def sections(elf):
    """Name, offset in the file and size of each."""
    table = struct.unpack_from("<Q", elf, 40)[0]
    entry, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + entry * i) for i in range(count)]
    for name, _, _, _, start, size in headers:
        at = headers[names][4] + name
        yield elf[at:elf.index(b"\0", at)].decode(), start, size


if __name__ == "__main__":
    sys.exit(main())
