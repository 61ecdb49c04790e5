#!/usr/bin/env python3
"""Makes the wheel: heapsift-VERSION-py3-none-PLATFORM.whl, of what a build has made.

    cli/python/make_wheel.py --build build/release --output build/release

It needs nothing but Python 3.8 and its library, and no network. In the wheel are the program, the package
`heapsift` (cli/python/heapsift), man pages and completions. `_commands.py`, the methods of `heapsift.Core`, is
written here, from commands.json, which the program wrote of itself: a command is a method, its options are
keyword arguments, and its help is the docstring. So editors and type checkers know them, and they are those
of the very program in the wheel.

A program without an interpreter in its headers (static) runs on any x86-64 Linux, whatever its libc: it is
tagged manylinux2014 and musllinux_1_1, which every pip since 20.3 (Debian 11's) takes. Any other is bound to
this machine's libraries: linux_x86_64. The same input makes the same bytes: entries are sorted, and their time
is $SOURCE_DATE_EPOCH, or the version's day.

The format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import argparse
import base64
import calendar
import hashlib
import json
import keyword
import os
import struct
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
COLUMNS = 110

SUMMARY = "Shows what fills the memory of a Python process, from its core dump"


def is_static(program: bytes) -> bool:
    """No PT_INTERP among the program headers of an ELF file: no loader, so no libraries."""
    offset, = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    interpreter = 3
    return all(struct.unpack_from("<I", program, offset + size * i)[0] != interpreter for i in range(count))


def platform_tags(program: bytes) -> List[str]:
    if is_static(program):
        return ["manylinux2014_x86_64", "musllinux_1_1_x86_64"]
    return ["linux_x86_64"]


# _commands.py

# Whose data begin with rows is known when they are there (heapsift._answer.read_answer); these are the commands of
# which they never do, or do with some options. tests/beside/python_module.py holds every method to it.
ONE_ANSWER = ("overview", "show", "dominators", "doctor", "index", "export", "report")
EITHER = ("why", "memory")


def python_name(option: str) -> str:
    name = option.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def python_type(option: Dict[str, Any]) -> str:
    if option["kind"] == "flag":
        return "bool"
    if option["several"]:
        return "Union[str, Sequence[str], None]"
    if option["kind"] == "number":
        return "Union[int, str, None]"
    if option["kind"] == "choice":
        return "Optional[Literal[%s]]" % ", ".join(json.dumps(word) for word in option["words"])
    if option["kind"] in ("core", "file", "directory"):
        return "Optional[Path]"
    return "Optional[str]"


def own_options(command: Dict[str, Any]) -> List[Dict[str, Any]]:
    return [option for option in command["options"]
            if not option["common"] and option["name"] not in ("help", "format", "top")]


def docstring(command: Dict[str, Any]) -> str:
    lines = textwrap.wrap(command["summary"][0].upper() + command["summary"][1:] + ".", COLUMNS - 12) + [""]
    lines += textwrap.wrap(command["description"], COLUMNS - 12) + [""]
    entries = [(python_name(option["name"]), option["description"]) for option in own_options(command)]
    entries += [("limit", "rows at most (default: all)")] if command["table"] else []
    for name, meaning in entries:
        lines += textwrap.wrap(f"{name}: {meaning}", COLUMNS - 12, subsequent_indent="    ")
    lines += [""] if entries else []
    lines += [f"This is `heapsift {command['name']}`; options of every command too."]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(text, "        ").strip()


def method(command: Dict[str, Any]) -> str:
    """The source of one method."""
    name = python_name(command["name"])
    if command["addresses"]:
        first, passed = "*addresses: Address", "addresses=addresses, "
    elif command["address"]:
        first = "address: Optional[Address] = None"
        passed = "addresses=[] if address is None else [address], "
    elif command["paths"]:
        first, passed = "*paths: Path", "paths=paths, "
    elif command["sql"]:
        first, passed = "sql: str", "addresses=[sql], "
    else:
        first, passed = "", ""
    options = own_options(command)
    named = [f"{python_name(option['name'])}: {python_type(option)} = "
             + ("False" if option["kind"] == "flag" else "None") for option in options]
    if command["table"]:
        named.append("limit: Optional[int] = None")
    parameters = ["self"] + ([first] if first else [])
    if named and not first.startswith("*"):
        parameters.append("*")
    parameters += named + ["**common: Any"]
    answer = "Answer" if name in ONE_ANSWER else "Union[Rows, Answer]" if name in EITHER else "Rows"
    lines = [f"    def {name}(", *(f"            {parameter}," for parameter in parameters[:-1]),
             f"            {parameters[-1]}) -> {answer}:", f'        """{docstring(command)}', '        """']
    lines += ["        own: Dict[str, Any] = {", *(f"            {option['name']!r}: {python_name(option['name'])}," for option in options),
              "        }"] if options else ["        own: Dict[str, Any] = {}"]
    several = tuple(option["name"] for option in options if option["several"])
    common = "dict(common, limit=limit)" if command["table"] else "common"
    passed += f"several={several!r}, " if several else ""
    lines += [f"        found: {answer} = self._ask({command['name']!r}, own, {common}, {passed}".rstrip(", ") + ")",
              "        return found"]
    return "\n".join(lines) + "\n"


def commands_module(described: Dict[str, Any]) -> str:
    """The source of _commands.py."""
    # browse is for a person at a terminal
    methods = [command for command in described["commands"] if not command["topics"] and
               (command["core"] or command["name"] == "diff") and command["name"] != "browse"]
    common = sorted(option["name"].replace("-", "_") for option in described["commands"][0]["options"]
                    if option["common"] and option["name"] not in
                    ("core", "format", "json", "color", "progress", "bytes", "quiet", "verbose"))
    head = f'''"""The commands of heapsift {described["heapsift"]} as methods. Written by make_wheel.py: do not edit."""

import os
from typing import Any, Dict, Iterable, Literal, Optional, Sequence, Union

from heapsift._answer import Answer, Rows

Path = Union[str, "os.PathLike[str]"]
# A number, an expression ("app.CACHE['k']"), or an object of an answer.
Address = Union[int, str, Dict[str, Any]]

COMMON_OPTIONS = frozenset((
    {", ".join(map(repr, common[:5]))},
    {", ".join(map(repr, common[5:]))}))


class Commands:
    """One method a command."""

    def _ask(self, command: str, own: Dict[str, Any], common: Dict[str, Any], *,
             addresses: Iterable[Address] = (), paths: Optional[Iterable[Path]] = None,
             several: Iterable[str] = ()) -> Any:
        raise NotImplementedError
'''
    return head + "".join("\n" + method(command) for command in methods)


# The wheel


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def contents(build: Path, described: Dict[str, Any], program: bytes) -> Dict[str, Tuple[bytes, int]]:
    """What is in the wheel, but for its RECORD: name, bytes, mode."""
    version = described["heapsift"]
    info, data = f"heapsift-{version}.dist-info", f"heapsift-{version}.data"
    files: Dict[str, Tuple[bytes, int]] = {}
    for source in sorted((HERE / "heapsift").iterdir()):
        if source.suffix in (".py", ".typed"):
            files[f"heapsift/{source.name}"] = (source.read_bytes(), 0o644)
    files["heapsift/_commands.py"] = (commands_module(described).encode(), 0o644)
    files[f"{data}/scripts/heapsift"] = (program, 0o755)
    shared = [(page, f"man/man1/{page.name}") for page in sorted((build / "manual").glob("*.1"))]
    shared += [(build / "completions/bash/heapsift", "bash-completion/completions/heapsift"),
               (build / "completions/zsh/_heapsift", "zsh/site-functions/_heapsift"),
               (build / "completions/fish/heapsift.fish", "fish/vendor_completions.d/heapsift.fish")]
    for source, place in shared:
        files[f"{data}/data/share/{place}"] = (source.read_bytes(), 0o644)
    # Whose work is in the program, where the build has written it down.
    documents = build / "documents"
    for source in [documents / "copyright", *sorted((documents / "licenses").glob("*"))]:
        if source.is_file():
            files[f"{info}/licenses/{source.relative_to(documents)}"] = (source.read_bytes(), 0o644)
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform_tags(program))
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: heapsift {version}\n"
                              f"Root-Is-Purelib: false\n{tags}".encode(), 0o644)
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: heapsift\nVersion: {version}\n"
                                 f"Summary: {SUMMARY}\nRequires-Python: >=3.8\n"
                                 "Classifier: Operating System :: POSIX :: Linux\n"
                                 "Classifier: Topic :: Software Development :: Debuggers\n".encode(), 0o644)
    return files


def make_wheel(build: Path, program_path: Path, output: Path) -> Path:
    described = json.loads((build / "commands.json").read_text())
    program = program_path.read_bytes()
    version = described["heapsift"]
    files = contents(build, described, program)
    record = f"heapsift-{version}.dist-info/RECORD"
    lines = "".join(record_line(name, content) for name, (content, _) in sorted(files.items()))
    files[record] = (f"{lines}{record},,\n".encode(), 0o644)
    of_version = calendar.timegm(time.strptime(described["date"], "%Y-%m-%d"))
    day = int(os.environ.get("SOURCE_DATE_EPOCH") or of_version)
    moment = time.gmtime(max(day, 315532800))[:6]  # a zip's time begins in 1980
    wheel = output / f"heapsift-{version}-py3-none-{'.'.join(platform_tags(program))}.whl"
    for old in output.glob("heapsift-*.whl"):
        old.unlink()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # RECORD comes last, as installers like it.
        for name, (content, mode) in sorted(files.items(), key=lambda item: (item[0] == record, item[0])):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: modes count
            archive.writestr(entry, content, compresslevel=9)
    return wheel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, required=True, help="a build's folder, with commands.json")
    parser.add_argument("--program", type=Path, help="the executable (default: heapsift in that folder)")
    parser.add_argument("--output", type=Path, required=True, help="the folder for the wheel; others of heapsift's in it go")
    arguments = parser.parse_args()
    print(make_wheel(arguments.build, arguments.program or arguments.build / "heapsift", arguments.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
