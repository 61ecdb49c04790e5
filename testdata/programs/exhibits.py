"""How the zoo and the workshop are filled: houses are modules with a list EXHIBITS of functions, which return what to keep."""

import sys


def open_houses(what, houses, kept):
    """`kept`: name of the exhibit -> what it returned. One that cannot be made here is named on standard error and left out."""
    skipped = []
    for house in houses:
        for exhibit in house.EXHIBITS:
            try:
                kept[exhibit.__name__] = exhibit()
            except (ImportError, AttributeError, NotImplementedError, SyntaxError) as reason:
                skipped.append("%s (%s)" % (exhibit.__name__, reason))
            except Exception as reason:
                skipped.append("%s (%s: %s)" % (exhibit.__name__, type(reason).__name__, reason))
    print("%s: left out here: %s" % (what, ", ".join(skipped) or "nothing"), file=sys.stderr, flush=True)
