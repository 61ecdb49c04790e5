"""What a process knows of its arrays: every live ndarray, with what NumPy itself says of it, for tests/real/arrays.py.

No list has them all, as ndarray takes no part in collection. They are reached with gc.get_referents from what the collector knows, and
on through references that no traverse reports: the base of an array, of a record and of an iterator; the objects inside an object
array, read from memory as words so that looking makes no array; what a flags object belongs to. NumPy's own attributes are read, not
those of a subclass, which may have changed them.

An array's owner is the object whose bytes they are: the array itself if it owns its data, else the end of the chain of bases. A
memoryview leads to what it was made of, a record to its array, and NumPy's own holder of a window to the array behind it. None if the
chain ends at an array without a base: nobody in Python owns the bytes.
"""

import ctypes
import gc
import itertools

import numpy as np

_attributes = {name: np.ndarray.__dict__[name].__get__ for name in ("dtype", "shape", "strides", "nbytes", "base", "flags",
"__array_interface__")}
_RECORD_FLAGS, _RECORD_BASE, _FLAGS_ARRAY, _DATA = 40, 48, 16, 16  # offsets in NumPy's structs, for what Python cannot ask
_OWNDATA = 4


def every_array():
    """A description of each, by address. It holds none of them."""
    found = {id(obj): obj for obj in gc.get_objects()}
    waiting = list(found.values())
    while waiting:
        obj = waiting.pop()
        for referent in itertools.chain(gc.get_referents(obj), unreported(obj)):
            if id(referent) not in found:
                found[id(referent)] = referent
                waiting.append(referent)
    return [describe(obj) for _, obj in sorted(found.items()) if isinstance(obj, np.ndarray)]


def describe(array):
    """One array, as JSON can say it."""
    ask = {name: get(array) for name, get in _attributes.items()}
    owner = owner_of(array)
    document = {
        "address": id(array), "type": _name_of(type(array)), "dtype": _text_of(ask["dtype"]), "shape": ask["shape"], "strides": ask["strides"],
        "nbytes": ask["nbytes"], "data": ask["__array_interface__"]["data"][0], "owns_data": ask["flags"].owndata,
        "base": None if ask["base"] is None else id(ask["base"]), "owner": None if owner is None else id(owner),
        "owner_type": None if owner is None else _name_of(type(owner))}
    if ask["dtype"].hasobject and document["owns_data"] and ask["dtype"].char != "T":
        document["elements"] = [[name, word] for at, name, word in sorted(_elements(array))]
    return document


def _text_of(dtype):
    """dtype.str; since NumPy 2.4 that of StringDType is its repr."""
    return "|T%d" % dtype.itemsize if dtype.char == "T" else dtype.str


def owner_of(obj):
    while obj is not None:
        if isinstance(obj, np.ndarray):
            if _attributes["flags"](obj).owndata:
                return obj
            obj = _attributes["base"](obj)
        elif isinstance(obj, np.void):
            if _word(id(obj) + _RECORD_FLAGS) & _OWNDATA:
                return obj
            obj = _object(_word(id(obj) + _RECORD_BASE))
        elif isinstance(obj, memoryview) and obj.obj is not None:
            obj = obj.obj
        elif type(obj).__name__ == "DummyArray" and type(obj).__module__.startswith("numpy."):
            obj = obj.base
        else:
            return obj
    return None


def unreported(obj):
    """What an object holds and gc.get_referents does not say."""
    if isinstance(obj, np.ndarray):
        yield from (found for found in (_attributes["base"](obj), _attributes["dtype"](obj)) if found is not None)
        if _attributes["dtype"](obj).hasobject and _attributes["dtype"](obj).char != "T":
            for _, _, word in _elements(obj):
                yield _object(word)
    elif isinstance(obj, np.void):
        base = _object(_word(id(obj) + _RECORD_BASE))
        if base is not None:
            yield base
    elif isinstance(obj, np.flatiter):
        yield obj.base
    elif isinstance(obj, np.broadcast):
        yield from obj.iters
    elif isinstance(obj, np.nditer):
        yield from obj.operands
    elif type(obj).__name__ == "flagsobj":
        array = _object(_word(id(obj) + _FLAGS_ARRAY))
        if array is not None:
            yield array
    elif isinstance(obj, memoryview) and obj.obj is not None:
        yield obj.obj


def _word(address):
    return ctypes.c_uint64.from_address(address).value


def _object(address):
    return ctypes.cast(address, ctypes.py_object).value if address else None


def _elements(array):
    """(place in the data, Python's name for it, address) of each object in the array's elements."""
    data = _word(id(array) + _DATA)
    strides = _attributes["strides"](array)
    places = list(_places(_attributes["dtype"](array), 0, ""))
    for index in itertools.product(*map(range, _attributes["shape"](array))):
        start = sum(i * stride for i, stride in zip(index, strides))
        text = "[%s]" % ", ".join(map(str, index)) if index else "[()]"
        for offset, path in places:
            word = _word(data + start + offset)
            if word:
                yield start + offset, text + path, word


def _places(dtype, offset, path):
    """Where an element has objects, and what leads there from the element."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        for number, index in enumerate(itertools.product(*map(range, shape))):
            yield from _places(base, offset + number * base.itemsize, path + "[%s]" % ", ".join(map(str, index)))
    elif dtype.names is not None:
        for name in dtype.names:
            field = dtype.fields[name]
            if field[0].hasobject:
                yield from _places(field[0], offset + field[1], path + "[%r]" % name)
    elif dtype.hasobject:
        yield offset, path


def _name_of(cls):
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" or not isinstance(module, str) else module + "." + cls.__qualname__
