"""%heapsift in IPython and Jupyter.

    %load_ext heapsift
    %heapsift core.1234                  prints what heapsift prints
    %heapsift types --sort memory        later lines are about the same core
    rows = %heapsift --frame types       the answer as a pandas.DataFrame

What follows is a command line of heapsift, as in a terminal: words, options, and the core in use.
"""

import shlex
import sys
from typing import Any, List, Optional

from heapsift._answer import Error, read_answer
from heapsift._program import find_program, run


def heapsift_magic(line: str) -> Optional[Any]:
    """Runs `heapsift LINE`, prints what it prints, and returns nothing; with --frame, returns the answer as a
    frame.
    """
    try:
        words = shlex.split(line)
        if "--frame" not in words:
            _print(words)
            return None
        words.remove("--frame")
        done = run(find_program(), [*words, "--json"], keep_state=True)
        answer = read_answer(done.output, done.errors, done.exit_code)
        for warning in answer.warnings:
            print(f"heapsift: warning: {warning.message}", file=sys.stderr)
        return answer.frame()
    except ValueError as error:  # an open quote
        print(f"heapsift: {error}", file=sys.stderr)
    except Error as error:
        print(f"heapsift: {error}", file=sys.stderr)
    return None


def _print(words: List[str]) -> None:
    done = run(find_program(), [*words, "--progress=never"], keep_state=True)
    sys.stdout.write(done.output.decode("utf-8", "replace"))
    sys.stdout.flush()
    sys.stderr.write(done.errors)


def load(shell: Any) -> None:
    """Registers the magic."""
    shell.register_magic_function(heapsift_magic, "line", "heapsift")
