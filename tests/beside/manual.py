#!/usr/bin/env python3
"""The man pages that a build made: without a complaint of man or mandoc, and within 80 columns.

    tests/beside/manual.py --manual build/release/manual

man-db's groff and mandoc read the same pages differently, so both are asked; one that is not installed is "not
covered".
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

COLUMNS = 80


def complaints_of_man(page: Path) -> List[str]:
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(page)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "MANWIDTH": str(COLUMNS), "MANPAGER": "cat", "PAGER": "cat",
                               "MAN_KEEP_FORMATTING": "", "LANG": "C.UTF-8", "MANROFFSEQ": ""})
    found = done.stderr.decode().splitlines()
    found += [f"wider than {COLUMNS} columns: {line}" for line in done.stdout.decode().splitlines() if len(line) > COLUMNS]
    return found + ([] if done.returncode == 0 else [f"man ended with {done.returncode}"])


def complaints_of_mandoc(page: Path) -> List[str]:
    done = subprocess.run(["mandoc", "-T", "lint", str(page)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.stdout.decode().splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--manual", type=Path, required=True)
    arguments = parser.parse_args()
    pages = sorted(arguments.manual.glob("*.1"))
    wrong: List[str] = []
    if len(pages) < 20:
        wrong.append(f"only {len(pages)} pages in {arguments.manual}")
    readers = {"man": complaints_of_man, "mandoc": complaints_of_mandoc}
    for name, complaints in readers.items():
        if shutil.which(name) is None:
            print(f"not covered: {name} is not installed")
            continue
        for page in pages:
            wrong += [f"{name}: {page.name}: {line}" for line in complaints(page)]
    for line in wrong:
        print("WRONG:", line)
    print(f"{len(pages)} pages, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
