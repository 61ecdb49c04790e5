#!/usr/bin/env python3
"""References that objects' own code tells: what an emulated tp_traverse visits must be what gc.get_referents returned in the process.

    emulation.py --heapsift build/dev/heapsift --traverse build/dev/tests/real/heapsift-emulated-traverse [--interpreter PATH …]

For each interpreter, of objects of the types that Python and its library have (zoo), and of extension modules that are at hand (foreign):

  - the traverse of every object, also of those whose references heapsift has written down, in order, and as often;
  - heapsift's own references of all objects, three in a thousand of which may be guessed;
  - the same without emulation: fewer are exact, and these are right;
  - the same after a package's files were replaced by another build's: they are named and not used, and what is called exact is right;
  - names: where a reference is called .name, and getattr(object, name) was asked in the process, it returned what the reference leads to;
    with emulation, fewer fields are nameless.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cores
import harness
from compare import load_truth
from reference_graph import BadExport, Comparison, Graph

PROGRAMS = ("zoo", "foreign")
_MOST_GUESSED = 0.003  # of the objects that take part in garbage collection
_MOST_FAILED = 0.001   # of the calls
_SECONDS = 300
_SWAPPED = "lxml"  # a package


def main():
    parser = harness.parser("compares emulated tp_traverse with gc.get_referents", kinds=("kernel",))
    parser.add_argument("--traverse", required=True, metavar="PATH")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS)
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "emulation")
    for interpreter in found:
        for program in options.programs:
            if program == "foreign" and interpreter.debug:  # extension modules are not made for it
                continue
            for kind in kinds:
                which = "%s, %s, %s" % (interpreter.name, program, kind)
                try:
                    faults = list(run(options, interpreter, program, kind, work, which))
                except (cores.NoCore, BadExport, subprocess.SubprocessError) as reason:
                    faults = [str(reason)]
                failures += ["%s: %s" % (which, fault) for fault in faults]
    return harness.end(failures)


def run(options, interpreter, program, kind, work, which):
    packages = tempfile.mkdtemp(prefix="packages-", dir=work)
    package = copied_package(interpreter, packages) if program == "foreign" else None
    taken = cores.take(interpreter, program, kind, work, HEAPSIFT_TRUTH_REFERENTS="1", HEAPSIFT_TRUTH_ATTRIBUTES="1",
                       **({"PYTHONPATH": packages} if package else {}))
    try:
        truth = load_truth(taken.truth, with_referents=True)
        yield from compare_traverse(options, interpreter, taken, truth, which)
        exact, nameless = {}, {}
        for emulation in ("on", "off"):
            result, names, exact[emulation] = compare_references(options, interpreter, taken, truth, emulation)
            nameless[emulation] = sum(map(len, names.nameless.values()))
            print("%-40s emulation %-3s %7d references named as in the process, %d not; %d fields of %d types have no name" % (
                which, emulation, names.right, len(names.wrong), nameless[emulation], len(names.nameless)), flush=True)
            for source, name in names.wrong[:5]:
                yield "emulation %s: .%s of %#x, a %s, is something else in the process" % (emulation, name, source, truth.objects[source].type)
            if len(names.wrong) > 5 or not names.right:
                yield "emulation %s: %d names are wrong, %d right" % (emulation, len(names.wrong), names.right)
            written, guessed = result.total(result.written), result.total(result.guessed)
            print("%-40s emulation %-3s %7d objects' references exact, %7d of them told, %7d right; %6d guessed" % (
                which, emulation, exact[emulation], written.objects, written.right, guessed.objects), flush=True)
            if written.right != written.objects:
                yield "emulation %s: %d objects' references are called exact, and are not" % (emulation, written.objects - written.right)
            if emulation == "on" and guessed.objects > _MOST_GUESSED * written.objects:
                yield "%d objects' references are guessed" % guessed.objects
        if package:
            yield from compare_swapped(options, interpreter, taken, truth, exact["on"], package, which)
        if exact["on"] <= exact["off"]:
            yield "no reference is known by emulation"
        if nameless["on"] >= nameless["off"] > 0:
            yield "no field is named by emulation"
    finally:
        if options.keep:
            print("  kept: " + taken.folder)
        else:
            taken.delete()
            shutil.rmtree(packages, ignore_errors=True)


def compare_traverse(options, interpreter, taken, truth, which):
    """Every object's, not only of unknown types."""
    command = [options.traverse, taken.core] + ([interpreter.tree] if interpreter.tree else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        yield "the emulated traverse ended with %d: %s" % (done.returncode, done.stderr.strip())
        return
    right = failed = 0
    wrong, met = [], set()
    for line in done.stdout.splitlines():
        what, address, told = line.split("\t")
        address = int(address, 16)
        met.add(address)
        if address not in truth.objects:
            continue
        if what == "F":
            failed += 1
        elif [int(text, 16) for text in told.split()] == list(truth.referents.get(address, ())):
            right += 1
        else:
            wrong.append(address)
    missing = [address for address in truth.referents if address not in met]
    print("%-40s tp_traverse of %7d objects, %7d right, %d did not finish" % (which, right + failed + len(wrong), right, failed), flush=True)
    for name, addresses in (("visit something else", wrong), ("were not run", missing)):
        if addresses:
            yield "%d objects %s, first %#x, a %s" % (len(addresses), name, addresses[0], truth.objects[addresses[0]].type)
    if failed > _MOST_FAILED * right or not right:
        yield "%d calls did not finish, %d did" % (failed, right)


def copied_package(interpreter, folder):
    """A copy of lxml that a process can import, so that its files may be changed afterwards; None where there is none."""
    package = os.path.join("/usr/lib/python3/dist-packages", _SWAPPED)
    if interpreter.tree or not os.path.isdir(package):
        return None
    return shutil.copytree(package, os.path.join(folder, _SWAPPED))


def compare_swapped(options, interpreter, taken, truth, exact, package, which):
    """As if the package had been upgraded under the process: other build-ids, and functions that return at once."""
    for path in glob.glob(os.path.join(package, "*.so")):
        with open(path, "rb") as file:
            content = bytearray(file.read())
        note = content.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")  # NT_GNU_BUILD_ID, of 20 bytes
        content[note + 16] ^= 0xFF
        with open(path, "wb") as file:
            file.write(content.replace(b"\xf3\x0f\x1e\xfa", b"\x31\xc0\xc3\x90"))  # endbr64: xor eax, eax; ret
    warnings = []
    result, _, left = compare_references(options, interpreter, taken, truth, "on", warnings)
    written, guessed = result.total(result.written), result.total(result.guessed)
    print("%-40s %s swapped: %7d objects' references exact, %7d of them told, %7d right; %6d guessed" % (
        which, _SWAPPED, left, written.objects, written.right, guessed.objects), flush=True)
    if not any(package in line and "another build" in line for line in warnings):
        yield "files of another build are not named: %s" % warnings
    if left >= exact:
        yield "with files of another build as many references are exact"
    if written.right != written.objects:
        yield "with files of another build %d objects' references are called exact, and are not" % (written.objects - written.right)


def compare_references(options, interpreter, taken, truth, emulation, warnings=None):
    path = os.path.join(taken.folder, "graph.jsonl")
    command = [options.heapsift, "export", taken.core, "-o", "-", "--format", "jsonl", "--no-index"] + (["--sysroot", interpreter.tree] if interpreter.tree else [])
    environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": taken.folder, "HEAPSIFT_EMULATION": emulation}
    with open(path, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, timeout=_SECONDS, check=False)
    if done.returncode:
        raise BadExport("heapsift ended with %d: %s" % (done.returncode, done.stderr.strip()))
    if warnings is not None:
        warnings += done.stderr.splitlines()
    graph = Graph(path)
    names = Names(path, truth)
    os.remove(path)
    return Comparison(truth, graph), names, sum(row.exact for row in graph.rows.values())


class Names:
    """The names of references in an export, compared with what getattr returned."""

    def __init__(self, path, truth):
        self.right = 0
        self.wrong = []                               # (source, name)
        self.nameless = collections.defaultdict(set)  # type -> offsets of fields
        # Millions of lines, of which a few are of interest: they are not read as JSON.
        line_of = re.compile(r'\{"table":"reference","source":"0x([0-9a-f]+)","target":"0x([0-9a-f]+)","name":"(\.\w+|<\+\d+>)","kind":"(?!weak)')
        asked = {source for source, _ in truth.attributes}
        self.shown = {(source, value) for (source, _), value in truth.attributes.items()}
        with open(path, encoding="utf-8") as file:
            for line in file:
                if found := line_of.match(line):
                    source, target, name = int(found[1], 16), int(found[2], 16), found[3]
                    if name.startswith("<"):
                        if source in truth.objects:
                            self.nameless[truth.objects[source].type].add(name)
                    elif source in asked:
                        self._compare(source, name[1:], target, truth)

    def _compare(self, source, name, target, truth):
        value = truth.attributes.get((source, name))
        if value == target:
            self.right += 1
        elif value is not None and (source, target) not in self.shown:  # else another name showed it, and was asked before it was made anew
            self.wrong.append((source, name))


if __name__ == "__main__":
    sys.exit(main())
