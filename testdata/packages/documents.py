#!/usr/bin/env python3
"""Writes what a package says of itself: its copyright, with everything that is linked into the executable, and its changelog.

    documents.py BUILD                 (run by the build, preset `static`; on Debian)

What is linked in, the linker knows: its map names the libraries, ninja the headers that were compiled. Which of Debian's packages
these belong to, dpkg knows, and each package has a file that says whose it is and under which licence. They are taken over word by word, one
paragraph each, in the format that Debian reads by machine:

    BUILD/documents/copyright           https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
    BUILD/documents/changelog.gz
    BUILD/documents/licenses/GPL-2 …    what those files say "see /usr/share/common-licenses" of: not every system has them
"""

import gzip
import os
import re
import subprocess
import sys
import time

NAME, AUTHORS = "heapsift", "the authors of heapsift, as the history of its repository names them"
COMMON_LICENSES = "/usr/share/common-licenses"
LICENSE = """\
No licence has been chosen for heapsift's own source yet: until its owner has chosen one, all rights are reserved, and nobody else may
pass this package on."""
COMMENT = """\
heapsift is linked statically: its executable has the libraries in it whose paragraphs follow, each as the file "copyright" of the
Debian package from which it was taken says, word by word. Their sources are those of Debian, in the version that is named:
apt-get source NAME=VERSION, or https://snapshot.debian.org"""
GPL_COMMENT = """\
Unicorn is under the GPL, version 2: whoever passes this executable on must do so under that licence as a whole, with the source of all of
it, heapsift's own included; that needs a licence of heapsift's which permits it. An executable without Unicorn is made by
-DHEAPSIFT_STATIC_EMULATION=OFF."""


def main():
    build = sys.argv[1]
    documents = os.path.join(build, "documents")
    os.makedirs(os.path.join(documents, "licenses"), exist_ok=True)
    packages = packages_of(files_linked(build))
    if not packages:
        sys.exit("no library of a Debian package was found in " + build)
    parts = [(sources, copyright_of(package)) for package, sources in packages]
    text = copyright_file(parts)
    write(os.path.join(documents, "copyright"), text.encode())
    for name in sorted(os.listdir(COMMON_LICENSES)):
        if re.search(r"%s/%s(?![-\w]|\.\d)" % (COMMON_LICENSES, re.escape(name)), text):
            with open(os.path.join(COMMON_LICENSES, name), "rb") as file:
                write(os.path.join(documents, "licenses", name), file.read())
    write(os.path.join(documents, "changelog.gz"), gzip.compress(changelog().encode(), 9, mtime=0))
    print("%d packages are linked into heapsift: %s" % (len(parts), ", ".join(sources[0] for sources, _ in parts)))


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def files_linked(build):
    """Libraries, from the linker's map; headers, from what ninja knows of the executable's objects and libraries; and a script."""
    found = set()
    with open(os.path.join(build, "heapsift.map")) as lines:
        for line in lines:
            if line.startswith("Discarded input sections") or line.startswith("Memory Configuration"):
                break
            match = re.match(r"(/.*\.(?:a|o))(?:\(|$)", line.strip())
            if match:
                found.add(os.path.realpath(match.group(1)))
    with open(os.path.join(build, "CMakeCache.txt")) as lines:  # what the pages that it writes have in them
        found.update(os.path.realpath(line.split("=", 1)[1].strip()) for line in lines if line.startswith("HEAPSIFT_D3_HIERARCHY:"))
    of_a_test = False
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("    /") and not of_a_test:
            found.add(os.path.realpath(line.strip()))
        elif line and not line.startswith(" "):
            of_a_test = line.startswith("tests/")
    return sorted(path for path in found if path.startswith("/usr/") or path.startswith("/lib"))


def packages_of(files):
    """(one of its packages, (source package, version)) for each source package that has one of the files."""
    said = subprocess.run(["dpkg", "-S"] + files, capture_output=True, text=True).stdout  # some are of no package: ld's own names
    names = set()
    for line in said.splitlines():
        owners, _, path = line.partition(": ")
        if path and not line.startswith("diversion"):
            names.update(owner.strip() for owner in owners.split(","))
    sources = {}
    for name in sorted(names):
        source, version = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", name], check=True, capture_output=True,
                                         text=True).stdout.split()
        sources.setdefault((source, version), name.partition(":")[0])
    return sorted((package, source) for source, package in sources.items())


def copyright_of(package):
    with open("/usr/share/doc/%s/copyright" % package, encoding="utf-8", errors="replace") as file:
        return file.read()


def copyright_file(parts):
    comment = COMMENT
    if any(source == "unicorn" or source == "unicorn-engine" for (source, _), _ in parts):
        comment += "\n.\n" + GPL_COMMENT
    text = field("Format", "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    text += field("Upstream-Name", NAME) + field("Comment", "\n" + comment)
    text += "\n" + field("Files", "*") + field("Copyright", AUTHORS) + field("License", "not-chosen\n" + LICENSE)
    for (source, version), said in parts:
        text += "\n" + field("Files", source + "/*") + field("Copyright", "as the text of its licence says")
        text += field("License", "of-%s\n%s" % (source, said.strip()))
        text += field("Comment", "Linked in: %s, of Debian's source package %s %s." % (source, source, version))
    return text


def field(name, value):
    first, *rest = value.split("\n")
    lines = [" " + line.rstrip() if line.strip() not in ("", ".") else " ." for line in rest]
    return "\n".join(["%s: %s" % (name, first) if first else name + ":"] + lines) + "\n"


def changelog():
    when = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return """%s (%s) unstable; urgency=medium

  * What has changed is told by the history of the repository.

 -- %s  %s
""" % (NAME, os.environ["HEAPSIFT_VERSION"], os.environ["HEAPSIFT_MAINTAINER"], time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(when)))


if __name__ == "__main__":
    main()
