"""Garbage, and the collector set up in one of several ways (HEAPSIFT_SETTING)."""

import gc
import os

import twin


class Pair:
    pass


def drop():
    one, other = Pair(), Pair()
    one.other, other.one = other, one
    return [id(one), id(other)]


setting = os.environ.get("HEAPSIFT_SETTING")
gc.collect()
if setting == "saveall":
    pair = drop()
    gc.set_debug(gc.DEBUG_SAVEALL | gc.DEBUG_UNCOLLECTABLE)
    gc.collect()
elif setting == "frozen" and hasattr(gc, "freeze"):  # 3.7
    pair = drop()
    gc.freeze()
else:
    pair = drop()
if setting == "disabled":
    gc.disable()
if setting == "thresholds":
    gc.set_threshold(100000, 50, 0)
flags = {"SAVEALL": gc.DEBUG_SAVEALL, "UNCOLLECTABLE": gc.DEBUG_UNCOLLECTABLE}
state = {"enabled": gc.isenabled(), "debug_flags": sorted(name for name in flags if gc.get_debug() & flags[name])[::-1],
         "thresholds": list(gc.get_threshold()), "frozen": gc.get_freeze_count() if hasattr(gc, "freeze") else 0, "garbage_count": len(gc.garbage)}
twin.record("found.json", pair=pair, state=state)
