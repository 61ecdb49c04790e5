"""A process whose names are made to break a page: types, values, keys, a thread, a file; and secrets that --redact must keep in.

    hostile.py COUNT

Aborts. Everything that the program stores has "s3cret" in it, and so have its arguments' and folders' names where the caller says so; names of types,
attributes and functions have not, since --redact keeps them.
"""

import os
import sys
import threading

BREAKS = ('</script><script>window.broken=1</script>', '"><img src=x onerror=window.broken=1>', "' onfocus=window.broken=1 x='", "<!--", "]]>",
          "\u202egnippilf", "\x1b[2J\x07\x00\x7f", "&lt;b&gt;&#x41;", "{{7*7}}${7*7}`", "long" * 2500, "two\nlines\tand a tab", "\u2028\u2029")
kept = {}


def kind(name):
    return type(name.replace("\0", ""), (), {"__module__": "shop." + name.replace("\0", "")[:40]})


def hold(count):
    for number, name in enumerate(BREAKS):
        of_kind = kind(name)
        rows = []
        for i in range(count):
            row = of_kind()
            row.value = "s3cret " + name + " " + "x" * 400 + str(i)
            setattr(row, name, {"s3cret key " + name: i})
            rows.append(row)
        kept["s3cret %d %s" % (number, name)] = rows


def wait_in(ready, note):
    ready.set()
    threading.Event().wait()


def main():
    hold(int(sys.argv[1]))
    ready = threading.Event()
    threading.Thread(target=wait_in, args=(ready, "s3cret in a local"), name="s3cret " + BREAKS[0], daemon=True).start()
    ready.wait()
    # A file whose name breaks a page, and has a line in a traceback that is kept.
    code = compile("def fails():\n    note = 's3cret </script>'\n    raise ValueError('s3cret </script>')\n", "</script><b>.py", "exec")
    space = {}
    exec(code, space)
    try:
        space["fails"]()
    except ValueError as error:
        kept["s3cret error"] = error
    os.abort()


if __name__ == "__main__":
    main()
