#!/usr/bin/env python3
"""Objects of well-known types in real cores: `show` says of each what the object said of itself in the process.

    library_objects.py --heapsift build/dev/heapsift [--tree SUITE=FOLDER …] [--interpreter PATH …] [--kinds kernel gcore]

io.BytesIO, mmap.mmap and sqlite3.Connection with every interpreter; Pillow's images and lxml's elements where they are installed, which the line of each
interpreter says. Closed objects say nothing. With --redact no directory, no name of a tag is printed.
"""

import os
import subprocess
import sys

import cores
import harness
import native

_failures = []


def main():
    parser = harness.parser("compares what heapsift says of library objects with what they said of themselves", kinds=("kernel",))
    options = parser.parse_args()
    work, found, kinds, failures = harness.begin(options, "library-objects")
    for interpreter in found:
        for kind in kinds:
            run(options, interpreter, kind, work)
    return harness.end(failures + _failures)


def run(options, interpreter, kind, work):
    case = "%s, %s" % (interpreter.name, kind)
    try:
        with native.at_rest(options, interpreter, "library_objects.py", kind, work, "heapsift-library-") as (ask, expected):
            faults = [fault for name, said in expected.items() for fault in faults_of(ask, name, said)]
        print("%-30s %2d objects, %s Pillow, %s lxml: %s" % (case, len(expected), "with" if "image_L" in expected else "without",
                                                          "with" if "element" in expected else "without", "right" if not faults else "WRONG"), flush=True)
        _failures.extend("%s: %s" % (case, fault) for fault in faults)
    except (cores.NoCore, subprocess.SubprocessError) as reason:
        _failures.append("%s: %s" % (case, reason))


def faults_of(ask, name, said):
    told = ask("show", "STORE." + name)["library"]
    if said.get("nothing"):
        if told is not None:
            yield "%s is closed, and told as %s" % (name, told)
        return
    if told is None:
        yield "nothing is told of %s" % name
        return
    for field in ("bytes", "allocated", "file", "mode", "width", "height"):
        if field in said and told.get(field) != said[field]:
            yield "%s: %s is %s, not %s" % (name, field, told.get(field), said[field])
    if "tag" in said and told.get("tag") != said["tag"]:
        yield "%s: the tag is %s, not %s" % (name, told.get("tag"), said["tag"])
    if name == "bytes_io" and told["allocated"] < said["bytes"]:
        yield "bytes_io: its buffer has %s bytes" % told["allocated"]
    if "pixel" in said:
        least = said["width"] * said["height"] * said["pixel"]
        if not least <= told["bytes"] <= least + 8 * said["height"]:
            yield "%s has %d bytes, not %d" % (name, told["bytes"], least)
    hidden = ask("show", "STORE." + name, "--redact")["library"]
    if said.get("file") and hidden["file"] != os.path.basename(said["file"]):
        yield "%s: --redact leaves the file %s" % (name, hidden["file"])
    if "tag" in said and said["tag"] in hidden["tag"]:
        yield "%s: --redact leaves the tag %s" % (name, hidden["tag"])


if __name__ == "__main__":
    sys.exit(main())
