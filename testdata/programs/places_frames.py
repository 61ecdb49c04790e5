"""Places in what runs or was stopped: generators, coroutines, frames, exceptions. `places_language.py` says how a place is written."""

import gc
import sys
import types

from places_language import Planted, attributes, held, holder_among, number, text

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def generators():
    def counting(argument, count=3):
        local, other = Planted(), Planted()
        for item in [Planted()]:
            yield local, other, argument, item

    def with_a_cell(argument):
        local = Planted()
        yield lambda: (local, argument)

    def delegating(to):
        yield from to

    def on_the_stack():
        yield [Planted(), (yield), Planted()]

    argument = Planted()
    fresh, suspended, celled, stacked = counting(argument), counting(argument), with_a_cell(argument), on_the_stack()
    local, other, _, item = next(suspended)
    inner = counting(Planted())
    delegated = delegating(inner)
    next(delegated), next(stacked)
    closure = next(celled).__closure__
    suspended.__name__ = text()
    suspended.__qualname__ = text()
    places = [("argument before the start", fresh, argument), ("argument", suspended, argument), ("local", suspended, local),
              ("second local", suspended, other), ("loop variable", suspended, item), ("local in a cell: the cell", celled, closure[1]),
              ("argument in a cell: the cell", celled, closure[0]), ("delegated to", delegated, inner)]
    return by_frame(places, "gi_frame") + attributes(suspended, "gi_code", "__name__", "__qualname__")


def by_frame(places, name):
    """Up to 3.10 the frame of a generator is an object that holds its locals."""
    out = []
    for what, holder, target in places:
        frame = getattr(holder, name)
        out.append((what, holder_among(target, holder, frame), target))
        if sys.version_info < (3, 11):
            out.append((what + ": the frame", holder, frame))
    return out


@exhibit
def coroutines():
    @types.coroutine
    def pause(value):
        yield value

    async def waits(something, argument):
        local = Planted()
        await something
        return local

    async def streams(argument):
        local = Planted()
        yield local
        yield argument

    argument, awaited = Planted(), pause(5)
    waiting = waits(awaited, argument)
    waiting.send(None)
    stream = streams(argument)
    step = stream.__anext__()
    try:
        step.send(None)
    except StopIteration as stop:
        local = stop.value
    asleep, to_send = stream.asend(Planted()), Planted()
    sending = stream.asend(to_send)
    wrapped = waits(pause(6), Planted())
    return (by_frame([("coroutine's argument", waiting, argument), ("coroutine's local", waiting, waiting.cr_frame.f_locals["local"]),
                      ("awaited by a coroutine", waiting, awaited)], "cr_frame") +
            by_frame([("stream's argument", stream, argument), ("stream's local", stream, local)], "ag_frame") +
            [("step of a stream: the stream", asleep, stream), ("step of a stream: what is sent", sending, to_send),
             ("__await__: the coroutine", wrapped.__await__(), wrapped)] + attributes(stream, "ag_code"))


@exhibit
def frames():
    def inner(argument):
        local = Planted()
        shared = Planted()
        return sys._getframe(), local, shared, lambda: shared

    def outer():
        value = Planted()
        return inner(value) + (sys._getframe(),)

    frame, local, shared, closure, back = outer()
    generator_frame = (one for one in [Planted()]).gi_frame
    traced = inner(5)[0]
    traced.f_trace = Planted().__eq__
    return ([("local", frame, local), ("argument", frame, frame.f_locals["argument"]),
             ("local in a cell: the cell", frame, closure.__closure__[0]),
             ("f_trace", traced, traced.f_trace)] + attributes(frame, "f_code", "f_globals", "f_builtins") +
            ([("f_back", frame, back)] if frame.f_back is back else []) + [("of a generator: iterator", generator_frame,
                                                                            generator_frame.f_locals[".0"])])


@exhibit
def exceptions():
    def fails(error):
        local = Planted()
        if local:
            raise error

    def caught(error):
        try:
            fails(error)
        except BaseException as reason:
            return reason

    error, cause, context = caught(ValueError(Planted())), caught(KeyError(Planted())), caught(TypeError())
    error.__cause__, error.__context__ = cause, context
    error.attribute = Planted()
    places = attributes(error, "args", "__cause__", "__context__", "__traceback__") + [("argument", error.args, error.args[0]),
                                                                                       ("attribute", *held(error, "attribute")),
                                                                                      ("key", cause.args, cause.args[0])]
    trace = error.__traceback__
    places += attributes(trace, "tb_next", "tb_frame") + [("local in a traceback", trace.tb_next.tb_frame,
                                                           trace.tb_next.tb_frame.f_locals["local"])]
    if hasattr(error, "add_note"):
        error.add_note(text())
        places += [("notes", *held(error, "__notes__")), ("note", error.__notes__, error.__notes__[0])]
    return places


@exhibit
def exceptions_with_fields():
    system, two = OSError(number(), text(), text()), OSError(1, "x", text(), 0, text())
    syntax = SyntaxError(text(), (text(), number(), number(), text()))
    places = attributes(system, "errno", "strerror", "filename") + attributes(two, "filename2") + attributes(StopIteration(Planted()),
                                                                                                             "value")
    places += attributes(SystemExit(Planted()), "code") + attributes(ImportError(text(), name=text(), path=text()), "msg", "name", "path")
    places += attributes(syntax, "msg", "filename", "lineno", "offset", "text")
    places += attributes(UnicodeDecodeError(text(), b"planted %d" % 6, 0, 1, text()), "encoding", "object", "reason")
    places += attributes(UnicodeEncodeError(text(), text(), 0, 1, text()), "encoding", "object", "reason")
    places += attributes(UnicodeTranslateError(text(), 0, 1, text()), "object", "reason")
    return places


@exhibit
def exceptions_with_newer_fields():
    attribute = AttributeError("x", name=text(), obj=Planted())  # since 3.10
    return attributes(attribute, "name", "obj") + attributes(NameError("x", name=text()), "name")


@exhibit
def exception_groups():
    group = ExceptionGroup(text(), [ValueError(1)])  # noqa: F821, since 3.11
    return attributes(group, "message") + [("exceptions", group, _exceptions_of(group))]


def _exceptions_of(group):
    return [one for one in gc.get_referents(group) if type(one) is tuple and one and isinstance(one[0], Exception)][0]
