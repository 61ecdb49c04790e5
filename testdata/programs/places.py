"""A process that plants an object in every kind of place, and then says whether a name leads there.

Problem: heapsift names each reference as Python would reach it, `.fget`, `['key']`, `.gi_frame.f_locals['x']`; a name that looks right
but leads elsewhere is worse than none.
Idea: the process writes down who holds what, by address, and sleeps. gcore takes its core, so it lives on. The names that heapsift read
from the core come back, and the process itself evaluates each on the holder. A name is right if the result is the same object that
was planted.

    places_language.py   what the language has
    places_frames.py     generators, coroutines, frames, exceptions
    places_library.py    what the standard library and NumPy have

In the current directory it writes places.jsonl in one piece, a line for each place; waits for names.jsonl, with lines {"place": index of
the place, "name": text}; writes verdicts.jsonl, the same lines with "verdict", and ends:

    right        evaluates to the target
    key          is `key …`: the target is a key or an element of the holder, and equals the text if that is a literal
    other …      evaluates to something else, or is another key
    error …      does not evaluate
"""

import ast
import gc
import json
import os
import sys
import time
import types

import exhibits
import places_frames
import places_language
import places_library

PLACES = []  # (label, holder, target)


def plant():
    kept = {}
    exhibits.open_houses("places", (places_language, places_frames, places_library), kept)
    for name, places in kept.items():
        for detail, holder, target in places:
            PLACES.append(("%s: %s" % (name, detail), holder, target))


def write_lines(path, rows):
    with open(path + ".part", "w", encoding="ascii") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
    os.rename(path + ".part", path)


def verdict(holder, name, target):
    if name.startswith("key "):
        return _verdict_on_key(holder, name[4:], target)
    try:
        found = eval("holder" + name, {"holder": holder})
    except Exception as error:
        return "error %s: %s" % (type(error).__name__, error)
    return "right" if found is target or _shows(found, target) else "other: %s" % type(found).__name__


def _verdict_on_key(holder, text, target):
    try:
        if not any(key is target for key in holder):
            return "other: no such key"
    except Exception as error:
        return "error %s: %s" % (type(error).__name__, error)
    try:
        literal = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return "key"
    return "key" if literal == target and type(literal) is type(target) else "other: the key is not %s" % text


def _shows(found, target):
    """A class's __dict__ is shown by a proxy, which is a new object each time."""
    return isinstance(found, types.MappingProxyType) and gc.get_referents(found)[0] is target


def described(label, holder, target):
    return {"label": label, "holder": "%#x" % id(holder), "holder_type": type(holder).__name__, "target": "%#x" % id(target),
            "target_type": type(target).__name__}


def main():
    plant()
    write_lines("places.jsonl", (described(*place) for place in PLACES))
    while not os.path.exists("names.jsonl"):
        time.sleep(0.05)
    with open("names.jsonl", encoding="ascii") as names:
        rows = [json.loads(line) for line in names]
    for row in rows:
        _, holder, target = PLACES[row["place"]]
        row["verdict"] = verdict(holder, row["name"], target)
    write_lines("verdicts.jsonl", rows)


if __name__ == "__main__":
    status = 1
    try:
        main()
        status = 0
    except Exception as error:
        print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(status)  # what waits in the places need not be cleared away
