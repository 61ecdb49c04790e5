"""Asks heapsift about the core of a Python process, from Python.

    >>> import heapsift
    >>> core = heapsift.open("core.1234")
    >>> core.types(limit=3)                                  # rows: a list of dicts
    >>> core.objects(type="dict", where="retained>=10M")
    >>> core.why("app.CACHE['k']")                           # one answer: a dict
    >>> core.query("SELECT name, count FROM type_total ORDER BY count DESC LIMIT 5")
    >>> core.types().frame()                                 # a pandas.DataFrame, where pandas is installed

Nothing is computed here. Each method is a command of the program `heapsift`, which this package carries, and
its keyword arguments are that command's options: `core.types(sort="memory")` is `heapsift types --sort
memory`. The answer is the program's JSON, whose keys `heapsift` documents and keeps. What the first question
computes is kept in the core's index, so that the next ones take a moment.

An answer in part (the core is cut or damaged) is an answer: `answer.partial` says so, and `answer.warnings`
why. Only what is no answer is an exception: `heapsift.Error`, with the program's code, message and hint.

`heapsift.fleet(paths, client)` asks about many cores on a Dask cluster, where Dask is installed.

In IPython and Jupyter, `%load_ext heapsift` gives the line magic `%heapsift`.
"""

from heapsift._answer import Answer, Error, InputError, Rows, UsageError, AnswerWarning
from heapsift._core import Core, batch, open, version
from heapsift._fleet import Fleet, fleet
from heapsift._program import find_program

__all__ = ["Answer", "Core", "Error", "Fleet", "InputError", "Rows", "UsageError", "AnswerWarning", "batch", "find_program",
           "fleet", "load_ipython_extension", "open", "version"]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext heapsift`: IPython calls it."""
    from heapsift._magic import load
    load(shell)
