"""What a Python process knows about itself, written down at the moment at which its core is taken.

Problem: a process that lists its own objects makes new ones in doing so, and the core would hold those too.
Idea: the process forks, with libc's own `fork` (os.fork would run handlers and drop the other threads' frames). The child is
an exact copy: it lists what it holds and writes the list. The parent only waits for it, and then raises SIGABRT (kernel core)
or sleeps in pause() (for gcore). So the parent's heap in the core is the heap that the child listed.

How the child's own objects are kept out. Its first action is gc.get_objects(), whose result goes straight into the arguments of
`_write_truth`. Everything made later is in the frames of `_write_truth` and of what it calls, and no object that existed at the
fork refers to those: a frame refers to its caller, never the other way round, and the collector does not visit the stack of a
running frame. So no list of exceptions is needed. Between the fork and gc.get_objects() no object is made that stays: fork's
result is tested and dropped.

In the parent no object differs. Temporary ones (fork's result, the tuple that waitpid returns) take a free block and give it back.
tests/real checks each line against the bytes of the core: the type pointer, and a count above 0. Reference counts differ by what
the child's own calls hold (None, small ints, the functions it calls), so the count here is only a hint. Three things would differ
but are prevented: sys.getsizeof makes a C type ready that was not; a function called often gets a cache (up to 3.10); a BytesIO no
longer counts its buffer if the listing refers to that.

A free object does not count: _asyncio keeps iterators of futures for later use, and its traverse reports them (3.12). So an object
whose only references are the listing's is left out.

Output, tab separated, one object a line:

    address  G|C  "type name"  size  refcount  tracked

G: gc.get_objects() returned it; C: found from those with gc.get_referents. The name is a JSON string: module.qualname, bare for
builtins. The size is sys.getsizeof(object); `P` if the type's __sizeof__ is not written in C; `-` if it raises. The count excludes
the references that the listing itself holds. Lines that start with `T` give the address of every type and its instances' type name;
lines that start with `#` are for people.

With HEAPSIFT_TRUTH_REFERENTS there follows a line for each object that refers to others, in hexadecimal without 0x:

    R  address  address address ...

what gc.get_referents(object) returns, in its order and as often: everything that the type's traverse reports. An object without such
a line reports nothing, such as one that the collector cannot hold (str, code, a static type). They are read before the file is made,
so that an import caused by open() is in none of them.

With HEAPSIFT_TRUTH_ATTRIBUTES there follows, of some objects of each type and for each of their attributes that a member or a getter
written in C shows,

    N  address  name  address

the address of getattr(object, name).

    HEAPSIFT_TRUTH=FILE          where to write; without it the program only prints its process id and sleeps
    HEAPSIFT_TRUTH_REFERENTS=1   the referents, too
    HEAPSIFT_TRUTH_ATTRIBUTES=1  the attributes, too
    HEAPSIFT_CORE_BY=kernel      raise SIGABRT afterwards; else sleep

It runs on 2.7 as well, where the builtins are in `__builtin__` and types have no __qualname__.
"""

from __future__ import print_function

import gc
import json
import os
import signal
import sys
import time
import types

# Both are referred to by this list alone: their real count is 1, and what is read above that is the reading's own.
_COUNT_MARKERS = [["tracked"], object()]

_MADE = ("__annotations__", "__self__")  # what these show may be made when it is asked for
_ASKED = 40  # objects of each type, for their attributes; of more, some

_METHOD_DESCRIPTOR = type(str.join)  # types.MethodDescriptorType, since 3.7
_PROXY = type(type.__dict__)  # types.MappingProxyType
_BUILTINS = "builtins" if sys.version_info >= (3,) else "__builtin__"

_module_of = type.__dict__["__module__"].__get__
_qualname_of = type.__dict__["__qualname__" if sys.version_info >= (3,) else "__name__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__


def record(others=()):
    """Call it where the program stands still. Does not return. `others`: functions that make another interpreter of the process list what it
    holds, with `write_now`, into the file that they are given."""
    import ctypes  # not every interpreter can, and only the main one forks
    path = os.environ.get("HEAPSIFT_TRUTH")
    if not path:
        print(os.getpid())
        sys.stdout.flush()
        while True:
            time.sleep(60)
    by_kernel = os.environ.get("HEAPSIFT_CORE_BY") == "kernel"
    fork = ctypes.PyDLL(None).fork  # PyDLL: the GIL stays held, no other thread runs
    get_objects, waitpid, abort, pause = gc.get_objects, os.waitpid, os.abort, signal.pause
    warm_up()
    gc.disable()
    time.sleep(0.1)  # threads come to rest; a collection that was due is over
    last = path if not others else path + ".0"
    if not fork():
        _write_truth(get_objects(), last)
    waitpid(-1, 0)
    if others:
        for number, list_other in enumerate(others):
            if not fork():
                _end_after(list_other, "%s.%d" % (path, number + 1))
            waitpid(-1, 0)
        if not fork():
            _end_after(_join, path, len(others) + 1)
        waitpid(-1, 0)
        number = list_other = None
    if by_kernel:
        abort()
    while True:
        pause()


def warm_up():
    """Up to 3.10 a function called 1024 times gets a cache, which its code's size counts: to be called in each interpreter, so that it is not in the child."""
    for _ in range(2000):
        _size_of(warm_up, {})


def write_now(collected, path):
    """In a copy of the process, in another interpreter than the one that made the copy: lists `collected` and all that it refers to."""
    _write(collected, path)


def _write_truth(collected, path):
    """In the child: lists `collected` and all that it refers to, and ends the process."""
    _end_after(_write, collected, path)


def _end_after(function, *arguments):
    status = 1
    try:
        function(*arguments)
        status = 0
    except BaseException as error:
        text = "truth: %s: %s\n" % (type(error).__name__, error)
        os.write(2, text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace"))
    finally:
        os._exit(status)


def _join(path, count):
    """Makes one list of the lists of several interpreters. What more than one of them lists stands in it once."""
    seen = set()
    with open(path + ".part", "w") as out:
        for number in range(count):
            with open("%s.%d" % (path, number)) as lines:
                for line in lines:
                    fields = line.split("\t", 3)
                    key = fields[0] if line.startswith("0x") else tuple(fields[:3 if fields[0] == "N" else 2])
                    if line.startswith("#"):
                        if number and not line.startswith("# c"):
                            continue
                    elif key in seen:
                        continue
                    seen.add(key)
                    out.write(line)
    os.rename(path + ".part", path)


def _write(collected, path):
    get_count, get_referents, is_tracked = sys.getrefcount, gc.get_referents, gc.is_tracked
    instead_of_size = {}
    # Sizes first: some depend on the reference count of a part (BytesIO), which the closure below raises.
    sizes = [_size_of(obj, instead_of_size) for obj in collected]
    counts = [get_count(obj) for obj in collected]
    tracked = [is_tracked(obj) for obj in collected]  # before the file is made: what that imports may fill a dict
    seen = set(map(id, collected))
    closure = []
    for source in (collected, closure):
        for obj in source:  # `closure` grows under its own loop, until nothing new is found
            for referent in get_referents(obj):
                if id(referent) not in seen:
                    seen.add(id(referent))
                    closure.append(referent)
    obj = referent = None
    counts_before = len(counts)
    sizes.extend([_size_of(obj, instead_of_size) for obj in closure])
    counts.extend([get_count(obj) for obj in closure])
    tracked.extend([is_tracked(obj) for obj in closure])

    own = {"G": 0, "C": 0}
    for kind, objects, first in (("G", collected, 0), ("C", closure, counts_before)):
        for index, obj in enumerate(objects):
            if obj is _COUNT_MARKERS[kind == "C"]:
                own[kind] = counts[first + index] - 1
    free = {id(obj) for index, obj in enumerate(closure) if counts[counts_before + index] == own["C"]}
    referents = _referents(collected, closure, free) if os.environ.get("HEAPSIFT_TRUTH_REFERENTS") == "1" else ()
    attributes = _attributes(collected, closure, free) if os.environ.get("HEAPSIFT_TRUTH_ATTRIBUTES") == "1" else ()

    names = {}  # address of a type: its name as a JSON string
    with open(path + ".part", "w") as out:  # ASCII, as JSON is
        _write_head(out, len(collected), len(closure) - len(free))
        for kind, objects, first in (("G", collected, 0), ("C", closure, counts_before)):
            for index, obj in enumerate(objects):
                if id(obj) in free:
                    continue
                cls = type(obj)
                name = names.get(id(cls))
                if name is None:
                    name = names[id(cls)] = json.dumps(_name_of(cls))
                count = counts[first + index]
                if count < 1 << 29:  # not immortal
                    count -= own[kind]
                out.write("%#x\t%s\t%s\t%s\t%d\t%d\n" % (id(obj), kind, name, sizes[first + index], count, tracked[first + index]))
        for cls in _types_of(collected, closure):
            out.write("T\t%#x\t%s\n" % (id(cls), json.dumps(_name_of(cls))))
        for lines in referents:
            out.write(lines)
        out.writelines(attributes)
    os.rename(path + ".part", path)


def _referents(collected, closure, free):
    """The lines R, a text for each 10,000 objects. A list of referents is dropped before the next is made: no address but those of
    objects that the listing found."""
    get_referents = gc.get_referents
    texts, lines = [], []
    for source in (collected, closure):
        for obj in source:
            addresses = ["%x" % id(referent) for referent in get_referents(obj) if id(referent) not in free]
            if addresses and id(obj) not in free:
                lines.append("R\t%x\t%s\n" % (id(obj), " ".join(addresses)))
            if len(lines) == 10000:
                texts.append("".join(lines))
                del lines[:]
    texts.append("".join(lines))
    return texts


def _attributes(collected, closure, free):
    """The lines N. Getters may do anything to the process, so this is the last that is asked; `x` may fill `_x`, so that is asked
    before, of all objects."""
    asked, shown, some = {}, {}, []
    for source in (collected, closure):
        for obj in source:
            cls = type(obj)
            count = asked[id(cls)] = asked.get(id(cls), 0) + 1
            if (count <= _ASKED or not count & (count - 1)) and id(obj) not in free:
                if id(cls) not in shown:
                    shown[id(cls)] = _shown_by_c(cls)
                some.append(obj)
    lines = []
    for private in (True, False):
        for obj in some:
            for name in shown[id(type(obj))]:
                if name.startswith("_") is not private:
                    continue
                try:
                    value = getattr(obj, name)
                except Exception:
                    continue
                if type(value) is not _PROXY:  # made for whoever asks
                    lines.append("N\t%x\t%s\t%x\n" % (id(obj), name, id(value)))
    return lines


def _shown_by_c(cls):
    """Names that mean a member or a getter of a type made by C."""
    found = {}
    for base in _mro_of(cls) or ():
        for name, value in _dict_of(base).items():
            found.setdefault(name, value)
    if isinstance(found.get("__getattribute__"), types.FunctionType):
        return []
    return [name for name, value in found.items()
            if isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)) and isinstance(name, str) and name not in _MADE]


def _size_of(obj, instead_of_size):
    """`instead_of_size`: address of a type -> what stands for its instances' size, or ""."""
    cls = type(obj)
    instead = instead_of_size.get(id(cls))
    if instead is None:
        instead = instead_of_size[id(cls)] = _instead_of_size(cls)
    if instead:
        return instead
    try:
        return sys.getsizeof(obj)
    except Exception:
        return "-"


def _write_head(out, collected, closure):
    numpy = sys.modules.get("numpy")
    out.write("# pid %d\n" % os.getppid())
    out.write("# python %d.%d.%d\n" % sys.version_info[:3])
    if getattr(sys, "abiflags", "").find("t") >= 0:
        out.write("# free-threaded\n")
    out.write("# numpy %s\n" % (numpy.__version__ if numpy else "-"))
    out.write("# collected %d\n" % collected)
    out.write("# closure %d\n" % closure)


def _types_of(collected, closure):
    """Every type listed, and every type of an object listed: nothing that is listed need refer to a static type."""
    found = {}
    for objects in (collected, closure):
        for obj in objects:
            found[id(type(obj))] = type(obj)
            if type in (_mro_of(type(obj)) or ()):
                found[id(obj)] = obj
    return found.values()


def _instead_of_size(cls):
    """`P` where the first __sizeof__ along the mro is not written in C; the types' own dicts are read: no metaclass has a say. `-`
    for a C type that was never made ready (lru_cache's elements, up to 3.10): sys.getsizeof would make it so, and new objects."""
    for base in _mro_of(cls) or ():
        found = _dict_of(base).get("__sizeof__")
        if found is not None:
            return "" if isinstance(found, _METHOD_DESCRIPTOR) else "P"
    return "-"


def _name_of(cls):
    """module.qualname; bare for builtins and where __module__ is not text. Read past any metaclass."""
    qualname = _qualname_of(cls)
    try:
        module = _module_of(cls)
    except AttributeError:
        return qualname
    if not isinstance(module, str) or module == _BUILTINS:
        return qualname
    return module + "." + qualname
