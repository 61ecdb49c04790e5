#!/usr/bin/env python3
"""Holds the packages that testdata/package.sh or cpack has made to what they promise: one executable that needs nothing.

    package.py --packages build/packages                    the .deb and the tarball that are there
    package.py --build build/static                         makes them of that build first, elsewhere (ctest, preset `static`)
    … --trees DIR…   also asks in each of these trees (chroot), as root

The executable has no interpreter and needs no library; it is stripped and below 15 MB; --version takes at most 5 ms; no path of this checkout or of
its builder's home is in it; it answers about a core from an empty root, where nothing is but itself and the core, and the answer is the one
from here without the files of its process. The .deb needs no package, its sums are right, and its tree is the tarball's. The copyright names every library that the
executable is known to have.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

import cores
import interpreters

HERE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
MOST_BYTES = 15_000_000
MOST_SECONDS = 0.005
LINKED = ("elfutils", "glibc", "llvm-toolchain-19", "lz4", "sqlite3", "xxhash", "xz-utils", "zlib", "fmtlib", "libzstd", "nlohmann-json3", "cli11", "ncurses")


def main():
    options = parse()
    work = tempfile.mkdtemp(prefix="heapsift-package-", dir="/var/tmp")
    failures = []
    try:
        folder = options.packages or made_of(options.build, os.path.join(work, "packages"))
        deb, tarball = one(folder, "heapsift_*.deb"), one(folder, "heapsift-*.tar.gz")
        of_deb, of_tarball = unpacked_deb(deb, work), unpacked_tarball(tarball, work)
        failures += trees_differ(of_deb, of_tarball) + deb_is_wrong(deb, of_deb)
        heapsift = os.path.join(of_tarball, "bin/heapsift")
        failures += executable_is_wrong(heapsift) + copyright_is_wrong(of_tarball)
        for path in (deb, tarball, heapsift):
            print("%-40s %.2f MB" % (os.path.basename(path), os.path.getsize(path) / 1e6))
        failures += answers_are_wrong(heapsift, work, options.trees)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--packages", metavar="DIR")
    what.add_argument("--build", metavar="DIR")
    parser.add_argument("--trees", nargs="*", default=[], metavar="DIR")
    return parser.parse_args()


def made_of(build, folder):
    subprocess.run(["cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def one(folder, pattern):
    found = glob.glob(os.path.join(folder, pattern))
    if len(found) != 1:
        sys.exit("%d files in %s are %s" % (len(found), folder, pattern))
    return found[0]


def unpacked_deb(deb, work):
    folder = os.path.join(work, "deb")
    subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
    return os.path.join(folder, "usr")


def unpacked_tarball(tarball, work):
    folder = os.path.join(work, "tarball")
    with tarfile.open(tarball) as file:
        file.extractall(folder)
    (top,) = os.listdir(folder)
    return os.path.join(folder, top)


def content(tree):
    return {os.path.relpath(os.path.join(folder, name), tree): open(os.path.join(folder, name), "rb").read()
            for folder, _, names in os.walk(tree) for name in names}


def trees_differ(one_tree, other_tree):
    ours, theirs = content(one_tree), content(other_tree)
    return ["%s: not the same in the .deb and in the tarball" % name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]


def deb_is_wrong(deb, tree):
    failures = []
    control = os.path.join(os.path.dirname(tree), "control")
    subprocess.run(["dpkg-deb", "-e", deb, control], check=True)
    fields = open(os.path.join(control, "control")).read()
    if re.search(r"^(Pre-)?Depends: *\S", fields, re.MULTILINE):
        failures.append("the .deb depends on something:\n" + fields)
    sums = dict(reversed(line.split("  ", 1)) for line in open(os.path.join(control, "md5sums")).read().splitlines())
    for name, bytes_ in content(tree).items():
        if sums.get("usr/" + name) != hashlib.md5(bytes_).hexdigest():
            failures.append("usr/%s: its sum in the .deb is not right" % name)
    return failures


def executable_is_wrong(path):
    failures = []
    with open(path, "rb") as file:
        bytes_ = file.read()
    segments, sections = segment_types(bytes_), section_types(bytes_)
    if 3 in segments:
        failures.append("it has an interpreter: it is not static")
    if "(NEEDED)" in subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout:
        failures.append("it needs a library")
    if 2 in sections:
        failures.append("it has symbols: it is not stripped")
    if len(bytes_) >= MOST_BYTES:
        failures.append("it has %d bytes" % len(bytes_))
    home = os.path.expanduser("~").encode()
    for place in {HERE.encode(), home if len(home) > 5 else HERE.encode()}:
        if place in bytes_:
            failures.append("%s is in it" % place.decode())
    seconds = min(timed([path, "--version"]) for _ in range(40))
    print("--version: %.1f ms" % (seconds * 1e3))
    if seconds > MOST_SECONDS:
        failures.append("--version takes %.1f ms" % (seconds * 1e3))
    return failures


def segment_types(elf):
    offset, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    return [struct.unpack_from("<I", elf, offset + i * size)[0] for i in range(count)]


def section_types(elf):
    offset, size, count = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 58)
    return [struct.unpack_from("<I", elf, offset + i * size + 4)[0] for i in range(count)]


def timed(command):
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def copyright_is_wrong(tree):
    text = open(os.path.join(tree, "share/doc/heapsift/copyright")).read()
    failures = [] if text.startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n") else ["the copyright is of no known format"]
    failures += ["the copyright says nothing of " + name for name in LINKED if not re.search(r"^Files: %s/\*$" % re.escape(name), text, re.MULTILINE)]
    if b"unicorn" in open(os.path.join(tree, "bin/heapsift"), "rb").read() and not re.search(r"^Files: unicorn.*/\*$", text, re.MULTILINE):
        failures.append("the copyright says nothing of Unicorn, which is in it")
    for name in sorted(set(re.findall(r"/usr/share/common-licenses/([A-Z][\w.-]*\w)", text))):
        if os.path.exists("/usr/share/common-licenses/" + name) and not os.path.exists(os.path.join(tree, "share/doc/heapsift/licenses", name)):
            failures.append("the text of %s is missing" % name)
    return failures


def answers_are_wrong(heapsift, work, trees):
    if os.geteuid() != 0:
        print("not tested here: an empty root (chroot needs root)")
        return []
    found = interpreters.find({}, None, ["/usr/bin/python3"])
    if not found:
        return ["no interpreter was found"]
    kind = "gcore" if cores.why_no_kernel_cores() else "kernel"
    taken = cores.take(found[0], "plain", kind, work)
    try:
        empty, nothing = os.path.join(work, "empty"), os.path.join(work, "nothing")
        os.makedirs(empty)
        os.makedirs(nothing)
        here = answer(heapsift, taken.core, nothing)
        failures = []
        for root in [empty] + trees:
            place = tempfile.mkdtemp(prefix="heapsift-", dir=root)
            try:
                shutil.copy(heapsift, place)
                shutil.copy(taken.core, os.path.join(place, "core"))
                os.makedirs(os.path.join(place, "nothing"))
                inside = "/" + os.path.basename(place)
                there = answer(inside + "/heapsift", inside + "/core", inside + "/nothing", root)
            finally:
                shutil.rmtree(place)
            print("in %-30s %d objects, %d types" % ("an empty root" if root == empty else root, there["objects"], len(there["types"])))
            failures += ["in %s: %d objects, not %d" % (root, there["objects"], here["objects"])] if there["objects"] != here["objects"] else []
        return failures
    finally:
        taken.delete()


def answer(heapsift, core, nothing, root=None):
    """How many objects of which types there are, for a core without the files of its process: these are looked for in the folder `nothing`."""
    command = [heapsift, "types", core, "--json", "--no-index", "--sysroot", nothing]
    done = subprocess.run(command, env={}, capture_output=True, text=True, preexec_fn=(lambda: (os.chroot(root), os.chdir("/"))) if root else None)
    if done.returncode not in (0, 3):
        raise SystemExit("failed: %s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr))
    said = json.loads(done.stdout)
    return {"objects": said["data"]["total"]["count"], "types": said["data"]["types"]}


if __name__ == "__main__":
    sys.exit(main())
