"""python -m heapsift: the program itself, which replaces this process."""

import os
import sys

from heapsift._answer import Error
from heapsift._program import find_program


def main() -> int:
    try:
        program = find_program()
    except Error as error:
        print(f"heapsift: {error}", file=sys.stderr)
        return 1
    os.execv(program, [program, *sys.argv[1:]])
    return 1


if __name__ == "__main__":
    sys.exit(main())
