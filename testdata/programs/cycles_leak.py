"""A thousand objects that the collector tracks and a thousand that it does not, each with one reference too many; and clean ones."""

import ctypes
import gc

import twin


class Thing:
    def __init__(self, number):
        self.number = number


def main():
    library = ctypes.PyDLL("./libleak.so")
    library.leak.argtypes = [ctypes.py_object]
    things = [Thing(number) for number in range(1000)]
    texts = ["text %d" % number for number in range(1000)]
    clean = [[Thing(-number), {"key": [number]}, {number, "x"}] for number in range(1000)]
    for each in things + texts:
        library.leak(each)
    del each
    gc.collect()
    twin.record("found.json", tracked=[id(thing) for thing in things], untracked=[id(text) for text in texts], clean=[id(part) for parts in clean for part in parts + [parts]])


main()
