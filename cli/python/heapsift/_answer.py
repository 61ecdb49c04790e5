"""What heapsift answers: a document, as the list or the dict that one works with.

The program writes an envelope (`complete`, `certain`, `warnings`, `core`) around its data. The rows of a table
come first in the data (cli/write/json.cpp): then these are the list, and whatever else there is (`total`, for
one) is in `rows.data`. Any other answer is a dict: the data themselves. Either has the envelope's facts as
attributes.
"""

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union


class Error(Exception):
    """There is no answer. `code` is stable, for programs; `message` and `hint` are for people."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None,
                 exit_code: Optional[int] = None) -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.code = code
        self.message = message
        self.hint = hint
        self.exit_code = exit_code

    def __reduce__(self) -> Any:
        """So that an error is the same after it was sent to another process, as Dask sends those of its tasks."""
        return type(self), (self.code, self.message, self.hint, self.exit_code)


class InputError(Error):
    """The input cannot be analysed: no core, or not of an interpreter that heapsift knows (exit code 1)."""


class UsageError(Error):
    """The question is wrong: an option, an address, the name of a type (exit code 2)."""


@dataclass(frozen=True)
class AnswerWarning:
    """What is missing from an answer, or uncertain in it."""

    code: str
    message: str
    count: int


class _Document:
    """The envelope of an answer."""

    def __init__(self, document: Dict[str, Any], exit_code: int) -> None:
        self.document = document
        self.exit_code = exit_code

    @property
    def data(self) -> Dict[str, Any]:
        """All that the program answered, as `heapsift COMMAND --json` has it below "data"."""
        data: Dict[str, Any] = self.document["data"]
        return data

    @property
    def core(self) -> Optional[Dict[str, Any]]:
        """Whose core it is: path, process, command, interpreter."""
        return self.document.get("core")

    @property
    def warnings(self) -> List[AnswerWarning]:
        """What the program had to say besides the answer."""
        return [AnswerWarning(one["code"], one["message"], one.get("count", 1))
                for one in self.document.get("warnings", [])]

    @property
    def complete(self) -> bool:
        """False if the core is cut, or damaged: sizes and counts are then lower bounds."""
        return bool(self.document.get("complete", True))

    @property
    def certain(self) -> bool:
        """False if what objects retain, and what reaches them, is uncertain."""
        return bool(self.document.get("certain", True))

    @property
    def partial(self) -> bool:
        """Answered in part (exit code 3)."""
        return self.exit_code == 3

    @property
    def exceeded(self) -> bool:
        """A limit of growth that was set is exceeded (`diff`, exit code 4)."""
        return self.exit_code == 4


class Rows(List[Dict[str, Any]], _Document):
    """A table: a list of dicts, one a row."""

    def __init__(self, rows: List[Dict[str, Any]], document: Dict[str, Any], exit_code: int) -> None:
        list.__init__(self, rows)
        _Document.__init__(self, document, exit_code)

    @property
    def total(self) -> Optional[Dict[str, Any]]:
        """What all rows come to, also those that a limit cut off; None where the table has no total."""
        return self.data.get("total")

    def frame(self) -> Any:
        """The rows as a pandas.DataFrame. What is nested has names with a dot: "largest.address"."""
        return frame_of(list(self))


class Answer(Dict[str, Any], _Document):
    """An answer that is no table: a dict."""

    def __init__(self, document: Dict[str, Any], exit_code: int) -> None:
        dict.__init__(self, document["data"])
        _Document.__init__(self, document, exit_code)

    def frame(self, key: Optional[str] = None) -> Any:
        """The list below `key` as a pandas.DataFrame: of `show`, `answer.frame("referents")`. Without a key,
        the answer's only list of rows, or else a frame of one row.
        """
        lists = [name for name, value in self.items()
                 if isinstance(value, list) and value and isinstance(value[0], dict)]
        if key is None and len(lists) == 1:
            key = lists[0]
        return frame_of(self[key] if key is not None else [dict(self)])


def frame_of(rows: List[Dict[str, Any]]) -> Any:
    """A pandas.DataFrame. Raises `heapsift.Error` ("no-pandas") where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise Error("no-pandas", "frames need pandas, which is not installed") from None
    return pandas.json_normalize(rows)


def _raise(error: Dict[str, Any], exit_code: int) -> None:
    kind = {1: InputError, 2: UsageError}.get(exit_code, Error)
    raise kind(error["code"], error["message"], error.get("hint"), exit_code)


def _different(names: List[str]) -> List[str]:
    """The names of a query's columns; of one that occurs again, x, the next is x_2."""
    found: List[str] = []
    for name in names:
        number, one = 2, name
        while one in found:
            number, one = number + 1, f"{name}_{number}"
        found.append(one)
    return found


def read_answer(output: bytes, errors: str, exit_code: int) -> "Union[Rows, Answer]":
    """The answer in what the program wrote: `Rows` if its data begin with rows, else `Answer`.

    Raises `heapsift.Error`: the document's own, or "no-answer" if there is no document (the program was
    killed).
    """
    try:
        document = json.loads(output)
    except ValueError:
        said = errors.strip().splitlines()
        raise Error("no-answer", said[-1] if said else f"heapsift ended with code {exit_code}", None,
                    exit_code) from None
    data = document.get("data")
    if data is None:
        _raise(document["error"], exit_code)
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    if isinstance(first, list) and "columns" in data:
        names = _different(data["columns"])
        return Rows([dict(zip(names, row)) for row in first], document, exit_code)
    if isinstance(first, list):
        return Rows(first, document, exit_code)
    return Answer(document, exit_code)
