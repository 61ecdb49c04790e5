"""What gc.collect() finds at the moment at which the core is taken, although the process itself collects nothing.

The process forks with libc's own `fork` (os.fork would run handlers and drop the other threads' frames). The child is an exact
copy: it sets DEBUG_SAVEALL, collects, and writes the address and type of everything that came into gc.garbage. The parent waits, and
then aborts (kernel core) or stops itself (for gcore). From the fork to the core the GIL is held (ctypes.PyDLL), and the other threads
are told beforehand not to ask for it: a thread that waits longer than the switch interval would get it in the parent; the child, which
does not have that thread, would wait for it for ever.

The question is what the collector finds before finalizers run. So the child marks every object that has a finalizer as finalized, by
the bit in the collector's header, and the collector does not call it. Otherwise a suspended generator would be closed, and its frame
would release what it holds. Callbacks of weak references do run.

The output is a JSON object: "found": [[address, "type"]], "garbage_before": what gc.garbage had, "own": [[address, "type"]], those of
this module's frames and objects that a collection could find; they are left out of "found".
"""

import ctypes
import gc
import json
import os
import signal
import sys
import time

_libc = ctypes.PyDLL(None)
_fork, _waitpid, _kill = _libc.fork, _libc.waitpid, _libc.kill
_without_gil = "t" in getattr(sys, "abiflags", "")


def record(path, **more):
    """Call it where the program stands still, or in the middle of its work. Does not return."""
    by_kernel = os.environ.get("HEAPSIFT_CORE_BY") == "kernel"
    sys.setswitchinterval(1000)
    time.sleep(0.05)  # those that wait by the old interval get it meanwhile
    if _without_gil:
        _libc.PyOS_BeforeFork()
    child = _fork()
    if child == 0:
        if _without_gil:
            _libc._PyParkingLot_AfterFork()  # the lists of those that wait: none of them is here
            _libc.PyOS_AfterFork_Parent()
        _write(path, more)
    _waitpid(child, None, 0)
    if by_kernel:
        os.abort()
    while True:
        _kill(os.getpid(), signal.SIGSTOP)


def _write(path, more):
    status = 1
    try:
        gc.disable()
        gc.callbacks.clear()
        before = len(gc.garbage)
        _mark_finalizers()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.unfreeze() if os.environ.get("HEAPSIFT_UNFREEZE") else None
        gc.collect()
        gc.set_debug(0)
        found = [[id(obj), type(obj).__name__] for obj in gc.garbage[before:]]
        own = [pair for pair in found if pair[0] in (id(more), id(record))]
        with open(path + ".part", "w") as out:
            json.dump({"found": found, "garbage_before": before, "own": own, **more}, out)
        os.rename(path + ".part", path)
        status = 0
    except BaseException as error:
        os.write(2, ("twin: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "backslashreplace"))
    finally:
        os._exit(status)


def _mark_finalizers():
    """Bit 0 of _gc_prev, the word before the object (pycore_gc.h); up to 3.7 of gc_refs, the third word of the header (objimpl.h). Without the GIL, bit 1 of
    ob_gc_bits (_PyGC_BITS_FINALIZED), the byte before ob_ref_local (object.h)."""
    header = sys.getsizeof([]) - [].__sizeof__()
    before = 8 if sys.version_info >= (3, 8) else header - 16
    with_finalizer = {}
    for obj in gc.get_objects():
        cls = type(obj)
        if cls not in with_finalizer:
            with_finalizer[cls] = hasattr(cls, "__del__")
        if with_finalizer[cls]:
            if _without_gil:
                ctypes.c_uint8.from_address(id(obj) + 11).value |= 2
            else:
                ctypes.c_size_t.from_address(id(obj) - before).value |= 1
