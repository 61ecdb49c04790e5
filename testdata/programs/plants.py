"""A process that plants ten objects in every kind of place, and writes down what keeps them, what they retain, and whose they are.

Problem: nobody knows the right answers of `why`, `retained` and `dominators`, except for a heap made to plan.
Idea: behind each place hangs a list of ten objects that nothing else holds, so what the list retains is a sum of sys.getsizeof, and
the path to it is what a person would write.

    plants_ten.py   the ten and their table
    plants_app.py   the application that keeps them
    kept.c          a shared library that keeps some, compiled by the caller; without libkept.so those are left out

In the current directory it makes two modules of the program, plants_one.py and plants_two.py, and packages in site-packages/, and then
writes plants.json, a list of

    name, holder, objects   addresses of the list and the ten
    retained_size           bytes of the list and all that only it holds, by sys.getsizeof
    kinds                   the right kinds of root; none: no root reaches it
    groups                  the right groups of the dominator tree
    expressions             the right ones for objects[3]; if Python has none, also any that begins with one of `beginnings`

    plants.py --check       evaluates the expressions, where Python can, instead of standing still
"""

import ctypes
import gc
import os
import sys

gc.disable()  # one plant is garbage

import plants_app
import standstill
from plants_ten import MADE, ten

KEPT = ten("global of the program")
WHICH = 3  # of the ten: the one asked for
_SHARED = "shared by several groups"
EXPECTED = {}


def expect(name, kinds, groups, *expressions, beginnings=()):
    """Expressions of the list, as a person would write them; `{holder}` is its address."""
    EXPECTED[name] = {"kinds": kinds, "groups": groups, "expressions": expressions, "beginnings": beginnings}


def expect_in_app(name, *expressions, beginnings=()):
    expect(name, ["module"], ["plants_app"], *("plants_app." + expression for expression in expressions),
           beginnings=["plants_app." + beginning for beginning in beginnings])


def expect_in_frame(name, thread, function, local):
    expect(name, ["frame"], ["thread " + thread], "%s().%s" % (function, local), "thread('%s').%s().%s" % (thread, function, local))


def expectations():
    expect("global of the program", ["module"], ["__main__"], "KEPT", "__main__.KEPT")
    expect_in_app("module global", "REGISTRY")
    expect_in_app("instances in a module global", "INSTANCES")
    expect_in_app("nested containers", "NESTED['deep'][1]['objects']")
    expect_in_app("keys that are no identifiers", "KEYED[('a', 2)][7][\"it's\"]")
    expect_in_app("deque", "QUEUE[1]")
    expect_in_app("argument of a partial", "PARTIAL.args[0]")
    expect_in_app("attribute, with a dict", "WITH_DICT.kept")
    expect_in_app("attribute, inline", "WITH_VALUES.kept")
    expect_in_app("attribute, a slot", "WITH_SLOTS.kept")
    expect_in_app("bound method in a list of callbacks", "CALLBACKS[0].__self__.kept")
    expect_in_app("class attribute", "Keeper.kept")
    expect_in_app("closure", "CLOSING.__closure__[0].cell_contents")
    expect_in_app("default of a function", "with_default.__defaults__[0]")
    expect_in_app("keyword-only default", "with_keyword.__kwdefaults__['kept']")
    expect_in_app("local of a suspended generator", "GENERATOR.gi_frame.f_locals['kept']")
    expect_in_app("traceback of an exception", "FAILURE.__traceback__.tb_next.tb_frame.f_locals['kept']")
    expect_in_app("cache without bound", beginnings=["cached_for_ever"])
    expect_in_app("bounded cache", beginnings=["cached_for_a_while"])
    if plants_app.contextvars:
        expect_in_app("context held by a module", beginnings=["CONTEXT"])
    expect_in_app("task that a module keeps", "TASK._coro.cr_frame.f_locals['kept']", "TASK.get_coro().cr_frame.f_locals['kept']")
    expect_in_frame("local of another thread", "local-1", "hold_in_a_local", "kept")
    expect_in_frame("argument of a call", "argument-1", "hold_below", "kept")
    expect_in_frame("local of the main thread", "MainThread", "stand_still", "selected")
    # The loop is held by the frames that run it; whichever of them is named, the path ends in the coroutine. From 3.12 on the C module
    # _asyncio keeps the loop that runs in its own state as well.
    expect("task that its loop keeps", ["frame", "thread-local", "thread"], ["thread loop-1"] + ["shared by several groups"] * (
        sys.version_info >= (3, 12)), beginnings=[
        "run_until_complete()", "run_forever()", "_run_once()", "select()", "BaseEventLoop.", "BaseSelectorEventLoop.", "EpollSelector.",
        "hold_in_a_loop()", "thread('loop-1')", "threadlocal(0x", "coroutine(0x", "0x"])
    # The local's dict goes with the thread, and with the module's object: whoever names either is right.
    expect("thread-local", ["thread-local", "module"], ["thread thread-local-1", "plants_app"], "plants_app.LOCAL.kept", beginnings=[
        "threadlocal(0x", "thread('thread-local-1')", "plants_app.LOCAL"])
    if plants_app.contextvars:
        # Since 3.14 the Thread has its context too.
        groups = ["thread context-1"] + (["shared by several groups"] if sys.version_info >= (3, 14) else [])
        expect("context of a thread", ["context"], groups, beginnings=["context(0x", "thread('context-1')", "0x"])
    expect("garbage", [], ["unreachable"])


# Two modules of the program and two packages, made as files, so that each has a __file__ where such files are.

def make_modules():
    here = os.getcwd()
    packages = os.path.join(here, "site-packages")
    for path in ("plants_one.py", "plants_two.py", "site-packages/pkgone/__init__.py", "site-packages/pkgone/inner.py",
                 "site-packages/pkgtwo/__init__.py", "site-packages/pkgsingle.py"):
        path = os.path.join(here, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as out:
            out.write('"""Made by plants.py."""\n')
    sys.path.extend([here, packages])


def plant_in_modules():
    import pkgone
    import pkgone.inner
    import pkgsingle
    import pkgtwo
    import plants_one
    import plants_two

    pkgone.OWN = ten("package")
    pkgone.inner.OWN = ten("module of a package")
    pkgsingle.OWN = ten("package of one file")
    pkgone.SHARED = pkgtwo.SHARED = ten("two packages")
    plants_one.SHARED = plants_two.SHARED = ten("two modules of the program")
    plants_one.WITH_PACKAGE = pkgtwo.WITH_PROGRAM = ten("a module of the program and a package")
    pkgone.BOTH = pkgone.inner.BOTH = ten("twice in one package")
    expect("package", ["module"], ["pkgone"], "pkgone.OWN")
    expect("module of a package", ["module"], ["pkgone"], "pkgone.inner.OWN")
    expect("package of one file", ["module"], ["pkgsingle"], "pkgsingle.OWN")
    expect("two packages", ["module"], [_SHARED], "pkgone.SHARED", "pkgtwo.SHARED")
    expect("two modules of the program", ["module"], [_SHARED], "plants_one.SHARED", "plants_two.SHARED")
    expect("a module of the program and a package", ["module"], [_SHARED], "plants_one.WITH_PACKAGE", "pkgtwo.WITH_PROGRAM")
    expect("twice in one package", ["module"], ["pkgone"], "pkgone.BOTH", "pkgone.inner.BOTH")


def plant_in_library():
    """The library takes a reference as C code does: it keeps a pointer, and adds one to the count."""
    path = os.path.abspath("libkept.so")
    if not os.path.exists(path):
        print("plants: left out here: what a C library keeps (no libkept.so)", file=sys.stderr, flush=True)
        return
    library = ctypes.PyDLL(path)
    plants_app.BESIDES = ten("C variable and a module global")
    for keep, kept in ((library.keep_alone, ten("C variable alone")), (library.keep_besides, plants_app.BESIDES)):
        keep.argtypes, keep.restype = (ctypes.py_object,), None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        keep(kept)
    expect("C variable alone", ["native"], ["native"], "{holder}")
    expect("C variable and a module global", ["module"], [_SHARED], "plants_app.BESIDES")


def document():
    if MADE.keys() != EXPECTED.keys():
        raise AssertionError("made and not expected, or expected and not made: %s" % sorted(MADE.keys() ^ EXPECTED.keys()))
    return [_described(made, EXPECTED[name]) for name, made in MADE.items()]


def _described(made, expected):
    holder = "%#x" % made["holder"]
    expressions = ["%s[%d]" % (expression.replace("{holder}", holder), WHICH) for expression in expected["expressions"]]
    return {**made, **expected, "holder": holder, "objects": ["%#x" % one for one in made["objects"]], "expressions": expressions}


def check():
    """Prints each expression with what it leads to; returns how many lead elsewhere."""
    wrong = 0
    for plant in document():
        for expression in plant["expressions"]:
            try:
                verdict = "right" if "%#x" % id(eval(expression, dict(globals(), **sys.modules))) == plant["objects"][WHICH] else "elsewhere"
            except (NameError, SyntaxError, AttributeError, TypeError) as error:
                verdict = "not for Python: %s" % error
            wrong += verdict == "elsewhere"
            print("%-40s %-70s %s" % (plant["name"], expression, verdict))
    return wrong


def rest():
    if "--check" in sys.argv:
        status = check()
        sys.stdout.flush()
        os._exit(status != 0)
    standstill.write_and_rest("plants.json", document())


def main():
    make_modules()
    plant_in_modules()
    plant_in_library()
    plants_app.start_threads()
    plants_app.leave_garbage()
    expectations()
    plants_app.stand_still(rest)


if __name__ == "__main__":
    main()
