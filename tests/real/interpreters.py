"""Finds the Python interpreters of which cores can be taken.

Three places: this machine's /usr/bin/python3.N, and its debug build python3.Nd; the trees that debootstrap makes (each a chroot with one
Debian suite); a folder of interpreters as pyenv lays them out (NAME/bin/python3). Each is asked for its version and its NumPy. Versions
before 3.6 are not used, but for 2.7; some programs run there too.
"""

import dataclasses
import glob
import os
import re
import subprocess

_OLDEST = (3, 6)
_OLD = (2, 7)  # asked for by name only: most programs need 3
_ASK = """
import sys
try:
    import numpy
    numpy = numpy.__version__
except Exception:
    numpy = "-"
print("%d.%d.%d %s %s" % (sys.version_info[:3] + (numpy, "t" if "t" in getattr(sys, "abiflags", "") else "")))
"""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    name: str       # for the table: "3.11.2 system", "3.13.5 trixie"
    path: str       # of the binary, as seen inside the tree
    version: tuple
    numpy: str      # its version, or ""
    tree: str = ""  # root of its chroot, or ""

    @property
    def old(self):
        """2.7, for which some programs have a version of their own: plants27.py."""
        return self.version[:2] == _OLD

    def program(self, name):
        return name + "27" if self.old else name

    @property
    def debug(self):
        return self.path.endswith("d")

    @property
    def free_threaded(self):
        return self.name.split()[0].rstrip("d").endswith("t")

    def environment(self, **more):
        """A small environment, the same everywhere: what a process inherits is in its core."""
        return {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "5", **more}

    def enter(self, directory):
        """Runs in the new process, before it becomes the interpreter: enters the tree, and `directory` as seen from outside."""
        if self.tree:
            os.chroot(self.tree)
        os.chdir(self.inside(directory))

    def inside(self, path):
        return "/" + os.path.relpath(path, self.tree) if self.tree else path


def _ask(where, path, tree=""):
    candidate = Interpreter(where, path, (), "", tree)
    try:
        answer = subprocess.run([path, "-c", _ASK], env=candidate.environment(), timeout=60, check=True, text=True, capture_output=True,
                                preexec_fn=lambda: candidate.enter(tree or "/")).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    version = tuple(map(int, answer[0].split(".")))
    if version < _OLDEST and version[:2] != _OLD:
        return None
    return Interpreter("%s%s%s %s" % (answer[0], "".join(answer[2:]), "d" if candidate.debug else "", where), path, version, answer[1].strip("-"), tree)


def _debian_pythons(folder):
    return [path for path in sorted(glob.glob(folder + "/python[23].*")) if re.fullmatch(r"python(2\.7|3\.\d+d?)", os.path.basename(path))]


def find(trees, versions, wanted):
    """`trees`: {suite: folder}; `versions`: folder or None; `wanted`: versions such as "3.11" or paths, empty for all."""
    found = [_ask("system", path) for path in _debian_pythons("/usr/bin")]
    for suite, folder in sorted(trees.items()):
        found += [_ask(suite, "/" + os.path.relpath(path, folder), folder) for path in _debian_pythons(folder + "/usr/bin")]
    if versions:
        found += [_ask("versions", path) for path in sorted(glob.glob(versions + "/*/bin/python3") + glob.glob(versions + "/*/bin/python2.7"))]
    found = [one for one in found if one]
    known = {one.path for one in found if not one.tree}
    found += [one for one in (_ask("named", path) for path in wanted if "/" in path and path not in known) if one]
    if wanted:
        found = [one for one in found if one.path in wanted or any(is_version(one, text) for text in wanted)]
    return [one for one in found if wanted or not one.old]


def is_version(interpreter, text):
    """3.11 means every 3.11.x."""
    if not re.fullmatch(r"\d+(\.\d+)*", text):
        return False
    asked = tuple(map(int, text.split(".")))
    return interpreter.version[: len(asked)] == asked
