#!/usr/bin/env python3
"""Objects of packages with code in C that keep the memory: lxml, Pillow, sqlite3.

    packages.py --heapsift build/dev/heapsift [--interpreter PATH …] [--packages lxml pil sqlite3] [--kinds kernel gcore]

Of a process in which one dict keeps most of the memory through such objects: the first sentence names the dict; what it retains in C code is what the
package itself says, within 5 %; of the memory in use at most 3 % is C code's and has no owner among Python's objects; what is in use is what the kernel
said, within 3 %. Packages that the interpreter does not have are named.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import cores
import harness
import native

_HOLDER = "main().keeper.kept"
_BYTES, _WITHOUT_OWNER, _IN_USE = 0.05, 0.03, 0.03
_HEADER = 8  # of malloc, in front of each block
_MODULES = {"lxml": "lxml.etree", "pil": "PIL.Image", "sqlite3": "sqlite3"}
_failures = []


def main():
    parser = harness.parser("compares what objects retain in C code with what their packages say")
    parser.add_argument("--packages", nargs="*", default=list(_MODULES), metavar="NAME")
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "packages")
    for interpreter in found:
        if interpreter.tree:
            print("%-24s not tested: without /proc in its tree a process cannot say what it uses" % interpreter.name)
            continue
        for package in options.packages:
            if subprocess.run([interpreter.path, "-c", "import " + _MODULES[package]], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode:
                print("%-24s not tested: it has no %s" % (interpreter.name, _MODULES[package]))
                continue
            for kind in kinds:
                run(options, interpreter, package, kind, work)
    return harness.end(failures + _failures)


def run(options, interpreter, package, kind, work):
    case = "%s, %s, %s" % (interpreter.name, package, kind)
    folder = tempfile.mkdtemp(prefix="heapsift-packages-", dir=work)
    try:
        for name in ("packages.py", "in_use.py", "standstill.py"):
            shutil.copy(os.path.join(cores.PROGRAMS, name), folder)
        core, _ = cores.take_at_rest(interpreter, ["packages.py", package], kind, folder, os.path.join(folder, "truth"), HEAPSIFT_TRUTH="truth")
        with open(os.path.join(folder, "truth"), encoding="ascii") as text:
            truth = json.load(text)
        faults = list(compare(lambda *question: native.answer(options.heapsift, core, interpreter, question), truth))
        print("%-44s %s" % (case, "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))
    finally:
        if options.keep:
            print("  kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def compare(ask, truth):
    headline = ask("overview")["headline"]
    if _HOLDER not in headline:
        yield "the first sentence does not name %s: %s" % (_HOLDER, headline)
    blocks = ask("native")["total"]
    retained = ask("show", _HOLDER, "--retained")["native"]
    if "bytes" in truth:
        said, counted = truth["bytes"], retained
    else:
        # Nearly all of C code's blocks are the document's.
        said, counted = truth["with_headers"], retained + _HEADER * blocks["count"]
    if abs(counted - said) > _BYTES * said:
        yield "%s retains %d bytes of C code, and the package says %d" % (_HOLDER, counted, said)
    in_use = ask("memory")["in_use"]
    without = blocks["bytes"] - blocks["from_python_bytes"]
    if without > _WITHOUT_OWNER * in_use:
        yield "%d of %d bytes in use are C code's and have no owner" % (without, in_use)
    kernel = sum(truth[name] for name in ("RssAnon", "RssShmem", "VmSwap"))
    if abs(in_use - kernel) > _IN_USE * kernel:
        yield "%d bytes are in use, and the kernel says %d" % (in_use, kernel)


if __name__ == "__main__":
    sys.exit(main())
